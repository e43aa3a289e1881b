"""`companion watch`: read what lies before a webcam, and take the shot when the reading is sure."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from companion import analyse, rules
from companion.commands.score import report, typed_settings
from companion.hand import Hand, HandError, Winning
from companion.installed import readable_decks
from companion.pieces import Piece, format_pieces
from companion.reading import BACK, Reading

if TYPE_CHECKING:
    from vision.load import Photo
    from vision.steady import View

PICTURES = (".jpg", ".jpeg", ".png", ".webp")
"""Kinds of file that a shot can be saved as."""


def add_parser(subparsers: Any) -> None:
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "watch",
        help="read what lies before a webcam, and take the shot when sure",
        description="Read what lies before a webcam, several frames a second. Says what is wrong (too dark, "
        "too far, 12 of 13 or 14 tiles, 19 of 20 or 21 cards); when the reading is sure, prints the hand and "
        "what it is worth.",
        epilog="Stop it with Ctrl-C. With --once: exit status 1 when the frames ended without a shot.",
    )
    parser.add_argument(
        "--camera", type=int, default=0, metavar="N", help="which camera (default: %(default)s, the first)"
    )
    parser.add_argument(
        "--source", metavar="PATH", help="a video, a folder of frames or a pattern, in its place"
    )
    parser.add_argument(
        "--rules", default="sichuan", metavar="NAME", help=f"rule set: {', '.join(rules.RULE_SETS)}"
    )
    parser.add_argument("--option", action="append", default=[], metavar="NAME=VALUE", help="a house rule")
    parser.add_argument(
        "--set", metavar="NAME", help="read with what `companion teach NAME` learned about this tile set"
    )
    parser.add_argument("--json", action="store_true", help="one JSON document a line for each change")
    parser.add_argument("--once", action="store_true", help="stop after the first shot")
    parser.add_argument(
        "--save", metavar="FILE", type=Path, help="keep the picture of the shot there (the newest one stays)"
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    try:
        rule_set = rules.get(args.rules)
        options = typed_settings(args.option, rule_set.options, "options")
        rule_set.check_settings(options, {})
    except HandError as error:
        return _refused(error.message)
    if rule_set.deck not in readable_decks():
        return _refused(f"this version cannot read the {rule_set.deck} deck of {args.rules}")
    if args.save is not None and args.save.suffix.lower() not in PICTURES:
        return _refused(f"--save takes a file that ends in {', '.join(PICTURES)}, not {args.save}")
    if args.save is not None and not args.save.absolute().parent.is_dir():
        return _refused(f"--save: there is no folder {args.save.parent}")
    # Here, not at the top: `companion score` must start without OpenCV.
    from vision.frames import FramesError, from_camera, from_source
    from vision.model import ModelError
    from vision.reader import Reader
    from vision.sets import SetError, TileSets
    from vision.steady import see, told_of

    try:
        reader = Reader.default()
        how: dict[str, Any] = {} if args.set is None else {"tile_set": TileSets().get(args.set)}
    except (ModelError, SetError) as error:
        return _refused(str(error))
    expectation = rule_set.expectation(options, {})
    read: Callable[[Photo], Reading] = partial(reader.read, **told_of(expectation), **how)
    state, told, shot = None, "", ""
    try:
        for at, photo in from_camera(args.camera) if args.source is None else from_source(args.source):
            view = see(read, photo, at, state, expectation)
            state = view.state
            line = _told(view, args.json)
            if line != told:
                print(line, flush=True)
                told = line
            if not view.sure or state.hand == shot:
                continue
            shot = state.hand
            if not _save(photo, args.save):
                print(f"companion watch: {args.save} cannot be written", file=sys.stderr)
                return 1
            for line in _shot(view.reading, args.rules, options, args.save, args.json):
                print(line, flush=True)
            if args.once:
                return 0
    except FramesError as error:
        print(f"companion watch: {error}", file=sys.stderr)
        return 1
    if args.once:
        print("companion watch: the frames ended before a reading was sure", file=sys.stderr)
        return 1
    return 0


def _refused(message: str) -> int:
    print(f"companion watch: {message}", file=sys.stderr)
    return 2


def _told(view: View, as_json: bool) -> str:
    """What is seen and what to do, in one line."""
    reading, advice = view.reading, view.advice
    if not as_json:
        melds = "".join(f" | {meld}" for meld in reading.melds)
        return f"{advice.text:<32} {reading.hand}{melds}".rstrip()
    document = {
        "advice": advice.to_document(),
        "progress": round(view.progress, 2),
        "hand": reading.hand,
        "melds": [meld.to_document() for meld in reading.melds],
    }
    return json.dumps(document)


def hand_of(reading: Reading, rules_name: str, options: Mapping[str, Any]) -> Hand:
    """The hand of a reading: flowers are laid aside, a piece set apart has won it, taken for a discard.

    Raises `HandError` when the rules know no such hand.
    """
    apart = None if reading.winning is None else reading.sightings[reading.winning]
    held = [s for s in reading.sightings if s.role == "hand" and s.piece != BACK and s is not apart]
    pieces = [Piece.parse(s.piece) for s in held]
    return Hand(
        rules_name,
        tuple(piece for piece in pieces if piece.suit != "f"),
        reading.melds,
        None if apart is None else Winning(Piece.parse(apart.piece), "discard"),
        bonus=tuple(piece for piece in pieces if piece.suit == "f"),
        options=options,
    )


def _shot(
    reading: Reading, rules_name: str, options: Mapping[str, Any], saved: Path | None, as_json: bool
) -> Iterator[str]:
    """The hand and what it is worth."""
    document: dict[str, Any] = {"shot": reading.to_document()}
    if saved is not None:
        document["saved"] = str(saved)
    try:
        hand = hand_of(reading, rules_name, options)
        result = analyse(hand)
    except HandError as error:
        document["error"] = {"message": error.message, "where": error.where}
        lines = [f"  {error}"]
    else:
        document |= {"hand": hand.to_document(), "result": result.to_document()}
        lines = [f"  {line}" for line in report(hand, result)]
    if as_json:
        yield json.dumps(document)
        return
    melds = "".join(f' --meld "{meld.kind} {format_pieces(meld.pieces)}"' for meld in reading.melds)
    yield f"Shot: {reading.hand}{melds}" + (f", saved as {saved}" if saved else "")
    yield from lines


def _save(photo: Photo, file: Path | None) -> bool:
    """Keep the picture; False when that is not possible."""
    if file is None:
        return True
    import cv2

    done, data = cv2.imencode(file.suffix.lower(), photo.image)
    try:
        file.write_bytes(data.tobytes())
    except OSError:
        return False
    return bool(done)
