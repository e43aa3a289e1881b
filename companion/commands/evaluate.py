"""`companion evaluate`: measure the reading against labelled photos."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any


def add_parser(subparsers: Any) -> None:
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "evaluate",
        help="measure the reading against labelled photos",
        description="Read every photo of a labelled folder and say how much was found and read right.",
    )
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="photos and their labels (*.json)")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    raise NotImplementedError
