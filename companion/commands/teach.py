"""`companion teach`: make the reader know a tile set of one's own."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from companion.pieces import NotationError, parse_pieces
from companion.reading import Sighting

if TYPE_CHECKING:
    from vision.sets import Measure, Taught, TileSet, TileSets


def add_parser(subparsers: Any) -> None:
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "teach",
        help="make the reader know your tile set",
        description="Learn from photos of your own tiles, laid out face up in rows, and say how much better "
        "they are read. Without --labels the tiles lie in the standard order: 1-9 characters, 1-9 dots, 1-9 "
        "bamboo, winds and dragons (1-7z), then the flowers (1-8f) if there are any; or one suit alone. "
        "What was learned stays on this computer.",
        epilog="Then: companion read --set SET PHOTO. Exit status 1 when a photo taught nothing.",
    )
    parser.add_argument("set", nargs="?", metavar="SET", help="the name you give to the tile set")
    parser.add_argument("photos", nargs="*", metavar="PHOTO", help="a photo of tiles laid out in order")
    parser.add_argument(
        "--labels",
        action="append",
        default=[],
        metavar="PIECES",
        help='what lies there, row by row, such as "123456789m 1122z"; once for all photos, or once for each',
    )
    other = parser.add_mutually_exclusive_group()
    other.add_argument("--list", action="store_true", help="list the tile sets")
    other.add_argument("--undo", metavar="SET", help="take back what was learned last")
    other.add_argument("--off", metavar="SET", help="read as if the set had not been taught, but keep it")
    other.add_argument("--on", metavar="SET", help="use what was learned again")
    other.add_argument("--forget", metavar="SET", help="delete the set and all its pictures")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    # Here, not at the top: `companion score` must start without OpenCV.
    from vision.lesson import LessonError
    from vision.load import PhotoError
    from vision.model import ModelError
    from vision.sets import SetError, TileSets

    try:
        return _run(args, TileSets())
    except (SetError, NotationError, ModelError) as error:
        print(f"companion teach: {error}", file=sys.stderr)
        return 2
    except (LessonError, PhotoError) as error:
        print(f"companion teach: {error}. Nothing was learned.", file=sys.stderr)
        return 1


def _run(args: argparse.Namespace, sets: TileSets) -> int:
    if args.list:
        return _list(sets)
    if args.undo is not None:
        tile_set = sets.get(args.undo)
        count = tile_set.undo()
        print(f"{tile_set.name}: {_tiles(count)} forgotten, {_tiles(len(tile_set.kept()))} left")
        return 0
    if args.forget is not None:
        tile_set = sets.get(args.forget)
        name = tile_set.name
        tile_set.forget()
        print(f"{name} is forgotten, with all its pictures")
        return 0
    if args.on is not None or args.off is not None:
        tile_set = sets.get(args.on if args.on is not None else args.off)
        tile_set.switch(args.on is not None)
        print(f"{tile_set.name} is {'used' if tile_set.on else 'not used any more, but kept'}")
        return 0
    if args.set is None or not args.photos:
        print('companion teach: name the set and its photos: companion teach "my set" a.jpg', file=sys.stderr)
        return 2
    if len(args.labels) not in (0, 1, len(args.photos)):
        print(
            f"companion teach: {len(args.photos)} photos, but --labels {len(args.labels)} times: "
            "give it once for all of them, or once for each",
            file=sys.stderr,
        )
        return 2
    return _teach(args, sets)


def _teach(args: argparse.Namespace, sets: TileSets) -> int:
    from vision.reader import Reader

    reader = Reader.default()
    labels = [[str(piece) for piece in parse_pieces(text, "mahjong")] for text in args.labels]
    taught: list[Taught] = []
    for number, name in enumerate(args.photos):
        given = labels[number % len(labels)] if labels else None
        taught += _lesson(reader, name, given)
    tile_set = sets.make(args.set)
    tile_set.teach(taught)
    total = len(tile_set.kept())
    print(f"{tile_set.name}: {_tiles(len(taught))} learned, {_tiles(total)} in all")
    print(f"  {told(tile_set.measure(reader.classifier))}")
    print(f'  next      companion read --set "{tile_set.name}" PHOTO')
    print(f'  take back companion teach --undo "{tile_set.name}"')
    return 0


def _lesson(reader: Any, name: str, given: Sequence[str] | None) -> list[Taught]:
    """What one photo teaches; says what it showed. Raises LessonError when labels and tiles do not match."""
    from vision.lesson import ORDERS, LessonError, guess, laid_out, lesson
    from vision.load import load_photo

    photo = load_photo(name)
    rows = laid_out(reader.read(photo))
    tiles = [sighting for row in rows for sighting in row]
    in_rows = f"{_tiles(len(tiles))} in rows of {', '.join(str(len(row)) for row in rows)}"
    if not tiles:
        raise LessonError(f"{name}: no tile was found")
    if given is None and len(tiles) not in {len(order) for order in ORDERS}:
        raise LessonError(
            f"{name}: {in_rows}. That is no whole set or suit: say what lies there with --labels, "
            "or take the photo again so that every tile is in full view"
        )
    labels = tuple(given) if given is not None else guess(rows)
    if len(labels) != len(tiles):
        raise LessonError(f"{name}: {in_rows}, but {len(labels)} labels")
    print(f"{name}: {in_rows}")
    for place, text in _differences(rows, labels):
        print(f"  {place}: {text}")
    return lesson(photo, tiles, labels)


def _differences(rows: Sequence[Sequence[Sighting]], labels: Sequence[str]) -> list[tuple[str, str]]:
    """Where the reading said something else, for the person to see a slip in the order."""
    known = iter(labels)
    found = []
    for r, row in enumerate(rows, 1):
        for t, (sighting, label) in enumerate(zip(row, known, strict=False), 1):
            if sighting.piece != label:
                found.append((f"row {r}, tile {t}", f"read as {sighting.piece}, now known as {label}"))
    return found


def told(measure: Measure) -> str:
    """What a measure says, and what it does not.

    >>> from vision.sets import Measure
    >>> told(Measure(34, 30, 34, False))
    'read right before: 30 of 34, now: 34 of 34 (the very tiles it learned from; a second photo tells more)'
    """
    how = (
        "each photo read with what the others taught"
        if measure.held_out
        else "the very tiles it learned from; a second photo tells more"
    )
    of = f"of {measure.tiles}"
    return f"read right before: {measure.before} {of}, now: {measure.after} {of} ({how})"


def _list(sets: TileSets) -> int:
    for tile_set in sets.all():
        print(_line(tile_set))
    if not sets.all():
        print('No tile set was taught yet: companion teach "my set" PHOTO')
    return 0


def _line(tile_set: TileSet) -> str:
    kept = tile_set.kept()
    faces = len({k.piece for k in kept})
    return f"{tile_set.name}: {_tiles(len(kept))}, {faces} faces{'' if tile_set.on else ', not used'}"


def _tiles(count: int) -> str:
    return f"{count} tile{'' if count == 1 else 's'}"
