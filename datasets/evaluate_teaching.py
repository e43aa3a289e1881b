"""Measure what one photo of a tile set teaches: errors before and after, on photos that taught nothing.

    python -m datasets.evaluate_teaching --photos ../shared/data/mahjong
    python -m datasets.evaluate_teaching --rendered 3

`--photos`: every table of the folder's fold `sets_never_seen` (or of `--group`). Hands show a few faces only,
so each photo is read twice: taught by one tile of each face, taken from the other photos of its table (what
a photo of the whole set would show), and taught by one other photo alone.
`--rendered N`: drawn sets that training never saw, one body a set. One photo shows the set laid out in order;
then N other photos are read. `--bodies` repeats that with other bodies, lights and tables.

Only faces that are found count: teaching changes what a face is taken for, not whether it is seen.

Both read with `Reader.read(tile_set=...)`, the way everything else does. `elsewhere` counts faces of other
sets read with what was taught about this one: what a player sees who forgets to switch it off.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from companion.reading import Reading
from datasets.art import FaceSet, data_folder
from datasets.evaluate import measure
from datasets.layouts import load_material, random_body, random_scene, set_filter
from datasets.render import SceneTile
from datasets.scenes import Label, Scene, load_scenes
from vision.lesson import cut
from vision.load import Photo, load_photo
from vision.reader import Reader
from vision.sets import Taught, TileSet, TileSets

SEED = 20
SIZE = (1600, 1200)
LEAST_SIDE = 32
"""Pixels; smaller rendered faces do not count: blurred ones of that size are no question of artwork."""

LAYOUTS = ("row", "game", "grid", "row")
"""How the tiles of the rendered photos lie, in turn."""


@dataclass(frozen=True)
class Shot:
    """A photo and its truth."""

    photo: Photo
    scene: Scene


@dataclass
class Tally:
    """Faces read: how many there are, and how many are wrong before and after teaching; and how many of them
    show a face that was taught. worse: right before and wrong after. missed: faces not found, in no other
    count.
    """

    tiles: int = 0
    before: int = 0
    after: int = 0
    taught_tiles: int = 0
    taught_before: int = 0
    taught_after: int = 0
    worse: int = 0
    missed: int = 0

    def add(self, shot: Shot, plain: Reading, adapted: Reading, faces: set[str]) -> None:
        first, second = measure(shot.scene, plain).faces, measure(shot.scene, adapted).faces
        for a, b in zip(first, second, strict=True):
            if not (a.found and b.found):
                self.missed += 1
                continue
            known = a.label.piece in faces
            self.tiles += 1
            self.before += not a.right
            self.after += not b.right
            self.taught_tiles += known
            self.taught_before += known and not a.right
            self.taught_after += known and not b.right
            self.worse += a.right and not b.right

    def __iadd__(self, other: Tally) -> Tally:
        for name, count in vars(other).items():
            setattr(self, name, getattr(self, name) + count)
        return self


class Lessons:
    """Teaches sets in a folder that is gone afterwards."""

    def __init__(self, reader: Reader, folder: Path) -> None:
        self.reader, self.sets, self.made = reader, TileSets(folder), 0
        self.plain: dict[str, Reading] = {}

    def read(self, shot: Shot, tile_set: TileSet | None = None) -> Reading:
        if tile_set is not None:
            return self.reader.read(shot.photo, tile_set=tile_set)
        if shot.scene.file not in self.plain:
            self.plain[shot.scene.file] = self.reader.read(shot.photo)
        return self.plain[shot.scene.file]

    def taught(self, shot: Shot) -> list[Taught]:
        """What the labelled tiles of a photo teach, as far as they are found."""
        pairs = [m for m in measure(shot.scene, self.read(shot)).faces if m.sighting is not None]
        quads = np.array([m.sighting.quad for m in pairs if m.sighting], np.float32).reshape(-1, 4, 2)
        return cut(shot.photo, quads, [m.label.piece for m in pairs])

    def set_of(self, taught: Sequence[Taught]) -> TileSet:
        self.made += 1
        tile_set = self.sets.make(f"set {self.made}")
        tile_set.teach(taught)
        return tile_set


def rendered(
    data: Path, count: int, only: Sequence[str], seed: int = SEED
) -> Iterator[tuple[str, Shot, list[Shot]]]:
    """For each drawn set that training never saw: its name, the photo that teaches, the photos to be read."""
    material = load_material(data, set_filter("held-out"), photos=False)
    for number, art in enumerate(material.sets):
        if only and art.name.split("/")[-1] not in only and art.name not in only:
            continue
        rng = np.random.default_rng([seed, number])
        # A real set has one picture a face, however many the art offers.
        one: FaceSet = replace(art, faces={face: [art.pick(face, rng)] for face in sorted(art.faces)})
        body, indexed = random_body(rng), bool(art.inset and rng.random() < 0.4)
        shots = []
        for k in range(count + 1):
            layout = "catalogue" if k == 0 else LAYOUTS[(k - 1) % len(LAYOUTS)]
            drawn = random_scene(
                material, np.random.default_rng([seed, number, k]), *SIZE, layout, one, body, indexed
            )
            labels = tuple(_label(tile) for tile in drawn.tiles)
            height, width = drawn.image.shape[:2]
            name = f"{art.name}-{k}.jpg"
            scene = Scene(
                name, Path(name), "rendered", width, height, labels, False, art.name, None, True, False, True
            )
            shots.append(Shot(Photo(name, drawn.image, width, height), scene))
        yield art.name, shots[0], shots[1:]


def _label(tile: SceneTile) -> Label:
    """The label of a rendered tile; one that is too small does not count, as if it were covered."""
    (left, top), (right, bottom) = tile.quad.min(0), tile.quad.max(0)
    box = (float(left), float(top), float(right - left), float(bottom - top))
    side = float(np.linalg.norm(tile.quad - np.roll(tile.quad, 1, axis=0), axis=1).min())
    role: Any = tile.role
    return Label(tile.label, box, None, role, tile.visible if side >= LEAST_SIDE else 0.0)


def _rendered(lessons: Lessons, args: argparse.Namespace) -> dict[str, Tally]:
    tallies: dict[str, Tally] = {}
    for seed in range(SEED, SEED + args.bodies):
        lessons.plain.clear()  # the photos of another body bear the same names
        for name, teacher, shots in rendered(data_folder(args.data), args.rendered, args.group, seed):
            taught = lessons.taught(teacher)
            tile_set = lessons.set_of(taught)
            faces = {one.piece for one in taught}
            tally = tallies.setdefault(name, Tally())
            for shot in shots:
                tally.add(shot, lessons.read(shot), lessons.read(shot, tile_set), faces)
    return tallies


def _photos(lessons: Lessons, args: argparse.Namespace) -> dict[str, Tally]:
    folds = [] if args.group else ["sets_never_seen"]
    tables: dict[str, list[Shot]] = {}
    for scene in load_scenes(args.photos, args.group, folds, []):
        tables.setdefault(scene.group or "", []).append(Shot(load_photo(scene.path), scene))
    tallies: dict[str, Tally] = {}
    first: dict[str, TileSet] = {}
    for table, shots in sorted(tables.items()):
        shots = shots[: args.limit]
        whole = tallies[f"{table}: one tile of each face"] = Tally()
        alone = tallies[f"{table}: one photo of a hand"] = Tally()
        taught = [lessons.taught(shot) for shot in shots]
        for number, shot in enumerate(shots):
            one_each: dict[str, Taught] = {}
            for k in range(1, len(shots)):
                for tile in taught[(number + k) % len(shots)]:
                    one_each.setdefault(tile.piece, tile)
            if not one_each:
                continue
            tile_set = lessons.set_of(list(one_each.values()))
            first.setdefault(table, tile_set)
            whole.add(shot, lessons.read(shot), lessons.read(shot, tile_set), set(one_each))
            other = (number + 1) % len(shots)
            if taught[other]:
                faces = {tile.piece for tile in taught[other]}
                alone.add(shot, lessons.read(shot), lessons.read(shot, lessons.set_of(taught[other])), faces)
    for table, tile_set in sorted(first.items()):
        elsewhere = tallies[f"{table}: elsewhere"] = Tally()
        for name, shots in sorted(tables.items()):
            if name != table:
                for shot in shots[:2]:
                    elsewhere.add(shot, lessons.read(shot), lessons.read(shot, tile_set), set())
    return tallies


def report(tallies: dict[str, Tally]) -> str:
    """A table for people."""
    head = f"{'faces':>7}{'wrong':>7}{'then':>6}{'taught faces wrong':>20}{'then':>6}{'new':>5}{'missed':>8}"
    lines = [f"{'':44}{head}"]
    for name, t in tallies.items():
        lines.append(
            f"{name:44}{t.tiles:7}{t.before:7}{t.after:6}{t.taught_before:20}{t.taught_after:6}{t.worse:5}"
            f"{t.missed:8}"
        )
    return "\n".join(lines)


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument(
        "--photos", type=Path, metavar="FOLDER", help="labelled photos, sorted by groups.json"
    )
    parser.add_argument("--rendered", type=int, metavar="N", help="render N photos of each drawn set")
    parser.add_argument(
        "--bodies", type=int, default=1, metavar="N", help="render each set with N bodies (default: 1)"
    )
    parser.add_argument("--data", type=Path, help="folder of training data, for the art")
    parser.add_argument("--group", action="append", default=[], help="only this table or drawn set")
    parser.add_argument("--limit", type=int, help="only the first photos of each table")
    parser.add_argument("--json", action="store_true", help="print the counts as one JSON document")
    args = parser.parse_args(argv)
    if (args.photos is None) == (args.rendered is None):
        parser.error("give --photos or --rendered")
    with tempfile.TemporaryDirectory() as folder:
        lessons = Lessons(Reader.default(), Path(folder))
        tallies = _photos(lessons, args) if args.photos is not None else _rendered(lessons, args)
    totals: dict[str, Tally] = {}
    for name, tally in tallies.items():
        kind = name.partition(": ")[2] or "rendered"
        total = totals.setdefault(f"all: {kind}", Tally())
        total += tally
    tallies |= totals
    if args.json:
        document: dict[str, Any] = {name: vars(tally) for name, tally in tallies.items()}
        print(json.dumps(document, ensure_ascii=False))
    else:
        print(report(tallies))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
