"""Read folders of labelled photos.

A folder holds `<source>.json` files (in itself or in its subfolder `scenes`), each a list of scenes
``{"file", "width", "height", "augmented", "tiles": [{"label", "bbox": [x, y, w, h]}]}`` in pixels of the
photo, `file` relative to the folder of the JSON file. Scenes may say more: per tile `quad` (corners from its
own top-left, clockwise), `role` (as in a reading) and `visible` (share of its face that is not covered); per
scene `complete` (every face in sight is labelled). In scenes of four-color cards a tile is one end of a card;
the scene then has `cards`, whole cards in the form of tiles with `row` and `place` in it, and per tile `card`
(which of them it is an end of). Cards that are none (`title`, `blank`, `back`) stand among the cards alone.
Scenes may have `pieces` in place of `tiles`: the names of all pieces of the hand, without saying where they
lie. `layout` tells how a rendered scene is laid out.

`groups.json`, in the folder or beside it, sorts scenes into tables, says which of them show hands, proposes
folds and names the scenes with some discards labelled beside the hand.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from companion.pieces import NotationError, Piece
from companion.reading import BACK, Point, Quad, Role

GROUPS = "groups.json"
NO_CARDS = frozenset({BACK, "title", "blank"})
"""Names of cards that bear no piece."""


class ScenesError(ValueError):
    """A folder that holds no labelled photos, or labels that make no sense; the message is for people."""


@dataclass(frozen=True, slots=True)
class Label:
    """One labelled piece.

    box: x, y, width and height of the upright rectangle around it, in pixels of the photo. quad, role: None
    where the labels do not tell. visible: share of the face in sight, 1 where the labels do not tell. card:
    for an end of a card, which of the scene's cards. group: the declared meld it lies in. row, place: for a
    whole card, which row, fan or column it belongs to and its place there.
    """

    piece: str
    box: tuple[float, float, float, float]
    quad: Quad | None = None
    role: Role | None = None
    visible: float = 1.0
    card: int | None = None
    group: int | None = None
    row: int = 0
    place: int = 0

    def scaled(self, x: float, y: float) -> Label:
        """The label for the photo stretched by x and y."""
        left, top, width, height = self.box
        quad: Any = None if self.quad is None else tuple((px * x, py * y) for px, py in self.quad)
        return replace(self, box=(left * x, top * y, width * x, height * y), quad=quad)


@dataclass(frozen=True, slots=True)
class Scene:
    """One labelled photo.

    file: its name in the labels, such as ``source/photo.jpg``. path: where it lies. source: name of the list.
    group, fold: the table it shows and the fold proposed for it, None without `groups.json`.
    shows_hand: it shows the hand of a player and nothing else is labelled, except in scenes that are
    `partly_boxed` (some discards are labelled too). complete: every face in sight is labelled. cards: whole
    cards, of which `labels` are the ends; a card that is none is called `title`, `blank` or `back`. pieces:
    those of the hand, where the labels do not tell their places. layout: how they lie, None where that is not
    told. deck: of the pieces, None where there are none and nothing tells it.
    """

    file: str
    path: Path
    source: str
    width: int
    height: int
    labels: tuple[Label, ...]
    augmented: bool = False
    group: str | None = None
    fold: str | None = None
    shows_hand: bool = False
    partly_boxed: bool = False
    complete: bool = False
    cards: tuple[Label, ...] = ()
    pieces: tuple[str, ...] = ()
    layout: str | None = None
    deck: str | None = None


@dataclass(frozen=True, slots=True)
class _Group:
    name: str
    fold: str | None
    hands: bool
    complete: bool


def load_scenes(
    folder: Path, groups: Iterable[str] = (), folds: Iterable[str] = (), sources: Iterable[str] = ()
) -> tuple[Scene, ...]:
    """The labelled photos of a folder, those of the given groups, folds and sources only (of all when empty).

    Raises `ScenesError` when there are none, when the labels cannot be understood, or when a group, fold or
    source is not there (the message lists those that are).
    """
    if not folder.is_dir():
        raise ScenesError(f"{folder} is no folder")
    root = folder / "scenes" if (folder / "scenes").is_dir() and not _lists(folder) else folder
    lists = _lists(root)
    if not lists:
        raise ScenesError(f"{folder} holds no lists of labelled photos (<source>.json)")
    known, partly = _read_groups([folder / GROUPS, root / GROUPS, root.parent / GROUPS])
    scenes = [
        _scene(document, root, name, known, partly)
        for name, documents in lists.items()
        for document in documents
    ]
    for what, wanted, attribute in (
        ("group", groups, "group"),
        ("fold", folds, "fold"),
        ("source", sources, "source"),
    ):
        names = set(wanted)
        present = {getattr(scene, attribute) for scene in scenes} - {None}
        if names - present:
            raise ScenesError(
                f"there is no {what} {', '.join(sorted(names - present))} in {folder}; "
                f"there are: {', '.join(sorted(present)) or 'none'}"
            )
        if names:
            scenes = [scene for scene in scenes if getattr(scene, attribute) in names]
    return tuple(scenes)


def _lists(folder: Path) -> dict[str, list[Any]]:
    """The lists of scenes right in the folder, by source; other JSON files are passed over."""
    lists = {}
    for path in sorted(folder.glob("*.json")):
        document = _read_json(path)
        if (
            isinstance(document, list)
            and document
            and all(isinstance(d, dict) and ("tiles" in d or "pieces" in d) for d in document)
        ):
            lists[path.stem] = document
    return lists


def _read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ScenesError(f"{path} cannot be read as JSON: {error}") from error


def _read_groups(paths: Sequence[Path]) -> tuple[dict[str, _Group], frozenset[str]]:
    """Group of each file, and the files with some discards labelled, from the first path that exists."""
    path = next((path for path in paths if path.is_file()), None)
    if path is None:
        return {}, frozenset()
    document = _read_json(path)
    try:
        fold_of = {name: fold for fold, names in document.get("folds", {}).items() for name in names}
        known: dict[str, _Group] = {}
        for name, entry in document["groups"].items():
            # Where no hand is shown all tiles were labelled, except where the description says otherwise.
            complete = not entry["hands"] and "unboxed" not in entry.get("about", "")
            group = _Group(name, fold_of.get(name), bool(entry["hands"]), complete)
            known |= dict.fromkeys(entry["files"], group)
        return known, frozenset(document.get("partly_boxed_discards", ()))
    except (AttributeError, KeyError, TypeError) as error:
        raise ScenesError(f"{path} does not sort scenes into groups: {error!r}") from error


def _scene(document: Any, root: Path, source: str, known: dict[str, _Group], partly: frozenset[str]) -> Scene:
    try:
        file = str(document["file"])
        labels = tuple(_label(tile) for tile in document.get("tiles", ()))
        pieces = tuple(str(Piece.parse(str(piece))) for piece in document.get("pieces", ()))
        group = known.get(file)
        roles = {label.role for label in labels}
        if None not in roles and labels:
            shows_hand, complete = "hand" in roles, document.get("complete", True)
        elif group is not None:
            shows_hand, complete = group.hands, document.get("complete", group.complete)
        else:
            shows_hand, complete = True, document.get("complete", False)
        return Scene(
            file=file,
            path=root / file,
            source=source,
            width=int(document["width"] if labels else document.get("width", 0)),
            height=int(document["height"] if labels else document.get("height", 0)),
            labels=labels,
            augmented=bool(document.get("augmented", False)),
            group=None if group is None else group.name,
            fold=None if group is None else group.fold,
            shows_hand=shows_hand,
            partly_boxed=file in partly,
            complete=bool(complete),
            cards=tuple(_label(card, NO_CARDS) for card in document.get("cards", ())),
            pieces=pieces,
            layout=document.get("layout"),
            deck=document.get("deck", _deck_of([*pieces, *(label.piece for label in labels)])),
        )
    except (KeyError, TypeError, ValueError) as error:
        name = document.get("file", "a scene without a file")
        raise ScenesError(f"{source}.json, {name}: {_words(error)}") from error


def _deck_of(names: Iterable[str]) -> str | None:
    return next((Piece.parse(name).deck for name in names if name != BACK), None)


def _label(tile: Any, names: frozenset[str] = frozenset({BACK})) -> Label:
    """A label; `names` are those that no piece has."""
    piece = str(tile["label"])
    if piece not in names:
        Piece.parse(piece)
    x, y, width, height = map(float, tile["bbox"])
    quad: Any = None
    if tile.get("quad") is not None:
        corners: tuple[Point, ...] = tuple((float(px), float(py)) for px, py in tile["quad"])
        if len(corners) != 4:
            raise ValueError(f"a quad of {len(corners)} corners")
        quad = corners
    role = tile.get("role")
    if role not in (None, "hand", "meld", "other", "back"):
        raise ValueError(f"unknown role {role!r}")
    card, group = tile.get("card"), tile.get("group")
    return Label(
        piece,
        (x, y, width, height),
        quad,
        role,
        float(tile.get("visible", 1.0)),
        None if card is None else int(card),
        None if group is None else int(group),
        int(tile.get("row", 0)),
        int(tile.get("place", 0)),
    )


def _words(error: Exception) -> str:
    if isinstance(error, KeyError):
        return f"{error} is missing"
    return f"the label {error}" if isinstance(error, NotationError) else str(error)
