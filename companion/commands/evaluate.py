"""`companion evaluate`: measure the reading against labelled photos."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from companion.pieces import DECKS


def add_parser(subparsers: Any) -> None:
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "evaluate",
        help="measure the reading against labelled photos",
        description="Read every photo of a labelled folder of tiles or of cards, and say how many pieces are "
        "found and read right, how many of the errors are marked as doubtful, and how many whole hands are "
        "right, for each source and each table or layout.",
        epilog="Exit status 1 when a photo could not be read, 2 when nothing could be measured.",
    )
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="photos and their labels (*.json)")
    only = parser.add_argument_group("which photos (each may be repeated)")
    only.add_argument("--source", action="append", default=[], help="only this list of labels")
    only.add_argument("--group", action="append", default=[], help="only this table of groups.json")
    only.add_argument("--fold", action="append", default=[], help="only this fold of groups.json")
    only.add_argument("--limit", type=int, metavar="N", help="only N photos, evenly chosen")
    parser.add_argument(
        "--roles", action="store_true", help="tell how labelled roles were read, if there are any"
    )
    parser.add_argument(
        "--set", metavar="NAME", help="read with what `companion teach NAME` learned about this tile set"
    )
    parser.add_argument(
        "--deck",
        choices=("auto", *DECKS),
        default="auto",
        help="what the reader is told of what lies in the photos (default: %(default)s)",
    )
    parser.add_argument(
        "--models",
        type=Path,
        metavar="FOLDER",
        help="read with the models of this folder, not the shipped ones",
    )
    parser.add_argument(
        "--keep", type=Path, metavar="FILE", help="write how each photo was read, for a later --before (JSON)"
    )
    parser.add_argument(
        "--before",
        type=Path,
        metavar="FILE",
        help="list the hands that were right when FILE was kept and are lost now, and those gained",
    )
    parser.add_argument("--json", action="store_true", help="print the figures as one JSON document")
    parser.add_argument(
        "--sheet",
        type=Path,
        metavar="FILE",
        default=Path("mistakes.jpg"),
        help="where to write pictures of the mistakes: .jpg, .png or .webp (default: %(default)s)",
    )
    parser.add_argument(
        "--no-sheet", dest="sheet", action="store_const", const=None, help="write no pictures of the mistakes"
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    # Here, not at the top: `companion score` must start without OpenCV. Vision first: it says what to install
    # where that cannot load.
    import vision  # noqa: F401
    from datasets import evaluate

    return evaluate.run(args)
