"""`companion read`: say what pieces lie in photos."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, count
from pathlib import Path
from typing import Any

from companion import rules
from companion.commands.score import typed_settings
from companion.hand import HandError
from companion.installed import readable_decks
from companion.pieces import DECKS, Piece, format_pieces
from companion.reading import BACK, Expectation, Reading, Sighting
from companion.rules import RULE_SETS


def add_parser(subparsers: Any) -> None:
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "read",
        help="say what pieces lie in photos",
        description="Read photos (JPEG, PNG, WebP, HEIC, AVIF, GIF, BMP) and say what pieces lie in them.",
        epilog="Exit status 1 when a photo could not be read; the others are read all the same.",
    )
    parser.add_argument("photos", nargs="+", metavar="PHOTO", help="a photo")
    parser.add_argument(
        "--deck",
        choices=("auto", *DECKS),
        default="auto",
        help="what lies in the photos: tiles or cards; auto tells them apart (default: %(default)s)",
    )
    parser.add_argument(
        "--set", metavar="NAME", help="read with what `companion teach NAME` learned about this tile set"
    )
    parser.add_argument(
        "--rules",
        metavar="NAME",
        help=f"the game that is played: {', '.join(RULE_SETS)}. Its deck is looked for first, and read as "
        "its cards allow: how many are equal, whether jokers are in it",
    )
    parser.add_argument(
        "--option", action="append", default=[], metavar="NAME=VALUE", help="a house rule of that game"
    )
    parser.add_argument(
        "--context", action="append", default=[], metavar="NAME=VALUE", help="a fact, such as jokers=false"
    )
    parser.add_argument("--json", action="store_true", help="one JSON document a line for each photo")
    parser.add_argument(
        "--debug", metavar="FOLDER", type=Path, help="leave pictures of each stage of the reading in FOLDER"
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    if args.deck not in ("auto", *readable_decks()):
        known = ", ".join(readable_decks())
        print(
            f"companion read: this version cannot read the {args.deck} deck; it reads {known}",
            file=sys.stderr,
        )
        return 2
    try:
        game = _game(args)
    except HandError as error:
        print(f"companion read: {error}", file=sys.stderr)
        return 2
    if args.debug is not None:
        try:
            args.debug.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            print(f"companion read: no folder {args.debug} can be made: {error.strerror}", file=sys.stderr)
            return 2
    # Here, not at the top: `companion score` must start without OpenCV.
    from vision.load import PhotoError, load_photo
    from vision.model import ModelError
    from vision.reader import Reader
    from vision.sets import SetError, TileSets

    how: dict[str, Any] = {} if game is None else {"expectation": game.expectation}
    try:
        reader = Reader.default()
        if args.set is not None:
            how["tile_set"] = TileSets().get(args.set)
    except (ModelError, SetError) as error:
        print(f"companion read: {error}", file=sys.stderr)
        return 2
    status = 0
    pictures = picture_names(args.photos)
    for name in args.photos:
        try:
            photo = load_photo(name)
        except PhotoError as error:
            status = 1
            if args.json:
                print(json.dumps({"photo": name, "error": str(error)}), flush=True)
            else:
                sys.stdout.flush()  # keeps the order of messages where both streams end in one place
                print(f"{name}: {error}", file=sys.stderr, flush=True)
            continue
        debug = None if args.debug is None else args.debug / pictures[name]
        try:
            reading = reader.read(photo, deck=args.deck, debug=debug, **how)
        except ModelError as error:
            print(f"companion read: {error}", file=sys.stderr)
            return 2
        print(json.dumps(reading.to_document()) if args.json else describe(reading, game), flush=True)
    return status


def picture_names(photos: Sequence[str]) -> dict[str, str]:
    """How the names of each photo's debug pictures begin: as the file's own, with as much of its folder in
    front as tells it from the photos before.

    >>> picture_names(["monday/hand.jpg", "tuesday/hand.jpg"])
    {'monday/hand.jpg': 'hand', 'tuesday/hand.jpg': 'tuesday-hand'}
    """
    names: dict[str, str] = {}
    taken: set[str] = set()
    for photo in dict.fromkeys(photos):
        path = Path(photo)
        folders = [folder for folder in path.parent.parts if folder != path.anchor]
        tails = ("-".join([*folders[at:], path.stem]) for at in range(len(folders), -1, -1))
        numbered = (f"{path.stem}-{number}" for number in count(2))
        # Some disks take names that differ by capitals for one.
        names[photo] = next(name for name in chain(tails, numbered) if name.lower() not in taken)
        taken.add(names[photo].lower())
    return names


@dataclass(frozen=True, slots=True)
class Game:
    """The game that is played: its name, what a photo of it can show, and what was typed of its settings, as
    `companion score` takes it.
    """

    rules: str
    expectation: Expectation
    typed: str


def _game(args: argparse.Namespace) -> Game | None:
    """The game that is named, if any; raises `HandError` for one that is not known, nor its settings."""
    if args.rules is None:
        if args.option or args.context:
            raise HandError("--option and --context tell of a game: name it with --rules", "")
        return None
    rule_set = rules.get(args.rules)
    options = typed_settings(args.option, rule_set.options, "options")
    context = typed_settings(args.context, rule_set.context, "context")
    rule_set.check_settings(options, context)
    typed = [f" --option {text}" for text in args.option] + [f" --context {text}" for text in args.context]
    return Game(rule_set.name, rule_set.expectation(options, context), "".join(typed))


def describe(reading: Reading, game: Game | None = None) -> str:
    """The reading as a person wants it: the rows as they lie, what is doubtful, and how to go on."""
    seen = [s for s in reading.sightings if s.role != "back"]
    lines = [f"{reading.photo}: {_count(len(seen), 'piece')}, {reading.ms.get('total', 0):.0f} ms"]
    for title, sightings in _parts(reading):
        lines.append(f"  {title:<9} {' '.join(_marked(s) for s in sightings)}")
    if backs := len(reading.sightings) - len(seen):
        lines.append(f"  {'face down':<9} {backs}")
    for title, sightings in _parts(reading):
        for place, sighting in enumerate(sightings, start=1):
            if sighting.doubtful:
                others = ", ".join(f"{c.piece} {c.confidence:.0%}" for c in sighting.candidates[1:4])
                text = f"{title}, piece {place}: {sighting.piece} {sighting.confidence:.0%}"
                lines.append(f"  doubtful  {text}{f' (or {others})' if others else ''}")
    lines += [f"  warning   {warning}" for warning in reading.warnings]
    if reading.hand or reading.melds:
        held = [s for s in reading.sightings if s.role == "hand" and s.piece != BACK]
        winning = None if reading.winning is None else reading.sightings[reading.winning]
        hand = format_pieces(Piece.parse(s.piece) for s in held if s is not winning)
        melds = "".join(f' --meld "{meld.kind} {format_pieces(meld.pieces)}"' for meld in reading.melds)
        win = "" if winning is None else f" --win {winning.piece}"
        games = [name for name, rule_set in RULE_SETS.items() if rule_set.deck == reading.deck]
        played = game if game is not None and game.rules in games else None
        for name in games if played is None else [played.rules]:
            told = "" if played is None else played.typed
            lines.append(f'  next      companion score --rules {name} "{hand}"{melds}{win}{told}')
    return "\n".join(lines)


def _parts(reading: Reading) -> list[tuple[str, list[Sighting]]]:
    """What lies together, under its title: rows of the hand, declared melds, other faces."""
    parts: dict[tuple[str, int], list[Sighting]] = {}
    for sighting in reading.sightings:
        if sighting.role == "back":
            continue
        place = {"hand": sighting.row, "meld": sighting.group}.get(sighting.role)
        parts.setdefault((sighting.role, 0 if place is None else place), []).append(sighting)
    titles = {"hand": "row", "meld": "meld", "other": "others"}
    in_order = sorted(parts.items(), key=lambda part: (list(titles).index(part[0][0]), part[0][1]))
    return [
        (titles[role] if role == "other" else f"{titles[role]} {number + 1}", sightings)
        for (role, number), sightings in in_order
    ]


def _marked(sighting: Sighting) -> str:
    return sighting.piece + ("?" if sighting.doubtful else "")


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
