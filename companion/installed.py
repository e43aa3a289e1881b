"""What this installation can do: the decks that photos are read of are those whose models came with it."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from companion.pieces import DECKS

PARTS = ("locator", "reader")
"""The models of a deck: `models/<deck>-<part>.onnx`, each with a manifest beside it."""


def readable_decks(folder: Path | None = None) -> tuple[str, ...]:
    """Names of the decks whose models lie in a folder, or in the installed package `models`."""
    place = resources.files("models") if folder is None else folder
    return tuple(deck for deck in DECKS if all((place / f"{deck}-{part}.onnx").is_file() for part in PARTS))
