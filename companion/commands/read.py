"""`companion read`: say what pieces lie in photos."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from companion.reading import Reading

DOUBTFUL = 0.9
"""A piece read with less confidence is marked with `?` and listed with what else it may be."""

READABLE_DECKS = ("mahjong",)
"""Decks that the shipped models read; the other names of `--deck` are refused with a clear word."""


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
        choices=("auto", "mahjong", "four-color"),
        default="auto",
        help="what kind of pieces to look for (default: %(default)s)",
    )
    parser.add_argument("--json", action="store_true", help="one JSON document a line for each photo")
    parser.add_argument(
        "--debug", metavar="FOLDER", type=Path, help="leave pictures of each stage of the reading in FOLDER"
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    if args.deck not in ("auto", *READABLE_DECKS):
        print(
            f"companion read: the {args.deck} deck cannot be read yet; "
            f"this version reads {', '.join(READABLE_DECKS)}.",
            file=sys.stderr,
        )
        return 2
    # Here, not at the top: `companion score` must start without OpenCV.
    from vision.load import PhotoError, load_photo
    from vision.reader import Reader

    reader = Reader.default()
    status = 0
    for name in args.photos:
        try:
            photo = load_photo(name)
        except PhotoError as error:
            status = 1
            if args.json:
                print(json.dumps({"photo": name, "error": str(error)}), flush=True)
            else:
                sys.stdout.flush()  # keeps the order of messages when both streams go to one place
                print(f"{name}: {error}", file=sys.stderr, flush=True)
            continue
        reading = reader.read(photo, deck=args.deck, debug=args.debug)
        print(json.dumps(reading.to_document()) if args.json else describe(reading), flush=True)
    return status


def describe(reading: Reading) -> str:
    """The reading as text for a person."""
    return reading.hand
