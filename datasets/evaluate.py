"""Measure the reading of photos against labels: what is found, what is read right, which hands are whole.

`python -m datasets.evaluate FOLDER` (or `companion evaluate FOLDER`) for a folder as `datasets.scenes` reads
it.

- A labelled piece is **found** when a sighting lies on it: its centre inside the labelled box and its
bounding box
  neither three times larger nor smaller. Each sighting serves for one label, those that overlap best first.
- It is **read** when it is found and its first candidate plays as the label (a red five counts as a five).
Both are
  shares of all labelled faces, so a missed one counts as misread.
- A **whole hand** has all pieces of the hand and its melds, and nothing else: the pieces with role `hand` or
`meld`
  are just the labelled ones. It is measured where the labels show one hand and nothing else.
- **Extra** are pieces taken for the hand that no label knows; **left out** are labelled ones of the hand that
were
  found, but taken for something else; **false** are faces that no label knows, in photos where all faces are
  labelled.
- **ECE**, the expected calibration error: how far the certainty of the faces that were found and the share
of them that is right lie apart.
- **Marked** are the found faces that are `Sighting.doubtful`, which is what the page and every command mark;
`of errors` says how many of the found faces that were misread are among them. A missed face cannot bear a
mark; it is counted by `found`.
- Faces less than 60 % in sight are neither counted nor held against the reading.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

import cv2
import numpy as np

from companion.reading import BACK, Reading, Sighting
from datasets import evaluate_cards, measuring
from datasets.measuring import (
    IN_SIGHT,
    MESSY,
    OWN,
    SLANTED,
    Match,
    Outcome,
    calibration_error,
    draw_sheet,
    hand_text,
    kind_of,
    percent,
    share,
    split,
)
from datasets.outcomes import Comparison, OutcomesError, compare, kept, load, save
from datasets.scenes import Label, Scene, ScenesError, load_scenes
from vision.load import Photo, PhotoError, load_photo
from vision.quality import asks_again

if TYPE_CHECKING:
    from vision.reader import Reader
    from vision.sets import TileSet

SIZE_RATIO = 3.0
"""How much larger or smaller than its label a sighting may be."""


CARDS = "four-color"


class PhotoReader(Protocol):
    """What reads photos: `vision.reader.Reader`, or a stand-in in tests."""

    def read(self, photo: Photo) -> Reading: ...


@dataclass(frozen=True)
class _Told:
    """A reader that is told what deck lies in the photos, and what was learned about one tile set."""

    reader: Reader
    deck: str
    tile_set: TileSet | None

    def read(self, photo: Photo) -> Reading:
        return self.reader.read(photo, deck=self.deck, tile_set=self.tile_set)


# Matching


def match(labels: Sequence[Label], sightings: Sequence[Sighting]) -> list[int | None]:
    """For each label the index of the sighting on it, or None."""
    if not labels or not sightings:
        return [None] * len(labels)
    quads = np.array([s.quad for s in sightings])
    low, high, centre = quads.min(1), quads.max(1), quads.mean(1)
    box = np.array([label.box for label in labels])
    left_top, right_bottom = box[:, None, :2], box[:, None, :2] + box[:, None, 2:]
    inside = np.all((centre >= left_top) & (centre <= right_bottom), axis=2)
    overlap = np.prod(np.maximum(np.minimum(right_bottom, high) - np.maximum(left_top, low), 0), axis=2)
    mine, theirs = np.prod(box[:, None, 2:], axis=2), np.prod(high - low, axis=1)
    ratio = np.maximum(mine, 1e-9) / np.maximum(theirs, 1e-9)
    share = overlap / np.maximum(mine + theirs - overlap, 1e-9)
    share[~inside | (ratio > SIZE_RATIO) | (ratio < 1 / SIZE_RATIO)] = -1
    result: list[int | None] = [None] * len(labels)
    taken: set[int] = set()
    for k in np.argsort(-share, axis=None, kind="stable"):
        label, sighting = divmod(int(k), len(sightings))
        if share[label, sighting] <= 0:
            break
        if result[label] is None and sighting not in taken:
            result[label] = sighting
            taken.add(sighting)
    return result


def measure(scene: Scene, reading: Reading) -> Outcome:
    """Compare a reading with the labels of its scene."""
    if scene.deck == CARDS:
        return evaluate_cards.measure(scene, reading)
    labels = scene.labels
    if scene.width and scene.height and (reading.width, reading.height) != (scene.width, scene.height):
        labels = tuple(lb.scaled(reading.width / scene.width, reading.height / scene.height) for lb in labels)
    indices = match(labels, reading.sightings)
    sightings = reading.sightings
    pairs = [Match(lb, None if i is None else sightings[i]) for lb, i in zip(labels, indices, strict=True)]
    matched = {i for i in indices if i is not None}
    unlabelled = tuple(s for i, s in enumerate(sightings) if i not in matched and s.piece != BACK)
    faces = tuple(pair for pair in pairs if pair.label.piece != BACK and pair.label.visible >= IN_SIGHT)
    own = [pair for pair in pairs if pair.label.piece != BACK and pair.label.role in (None, *OWN)]
    whole: bool | None = None
    if scene.shows_hand and not scene.partly_boxed and all(pair.label.visible >= IN_SIGHT for pair in own):
        said = Counter(kind_of(s.piece) for s in sightings if s.role in OWN and s.piece != BACK)
        whole = said == Counter(kind_of(pair.label.piece) for pair in own)
    located = [(pair.label, pair.sighting) for pair in pairs if pair.sighting is not None]
    left_out = sum(pair.sighting is not None and pair.sighting.role not in OWN for pair in own)
    return Outcome(
        scene=scene,
        faces=faces,
        unlabelled=unlabelled,
        whole=whole,
        left_out=0 if scene.partly_boxed else left_out,
        roles=tuple((label.role, sighting.role) for label, sighting in located if label.role is not None),
        hand=hand_text(reading),
        ms=reading.ms.get("total"),
        again=asks_again(reading.warnings),
    )


def evaluate(
    scenes: Iterable[Scene], reader: PhotoReader, progress: Callable[[int], None] | None = None
) -> list[Outcome]:
    """Read every scene and measure it; a photo that cannot be read counts as one where nothing was found."""
    outcomes = []
    for number, scene in enumerate(scenes, 1):
        try:
            photo = load_photo(scene.path)
            start = time.perf_counter()
            reading = reader.read(photo)
            if "total" not in reading.ms:
                reading = reading.with_ms(total=1000 * (time.perf_counter() - start))
            outcomes.append(measure(scene, reading))
        except (PhotoError, OSError) as error:
            nothing = measure(scene, Reading(scene.file, None, scene.width, scene.height))
            outcomes.append(replace(nothing, error=str(error)))
        if progress is not None:
            progress(number)
    return outcomes


# Figures


@dataclass(frozen=True, slots=True)
class Figures:
    """Counts over some scenes.

    marked: found faces marked as doubtful. errors, errors_marked: found faces that were misread, and those of
    them that are marked. calibration: expected calibration error of the found faces, 0-1, None without any.
    hands, whole: hands measured, and those exactly right. not_measured: scenes that show a hand, but whose
    labels hold more or less than the hand. complete, false: scenes in which all faces are labelled, and the
    unlabelled faces read there. ms: median of the whole reading of a photo.
    """

    scenes: int
    tiles: int
    found: int
    read: int
    marked: int
    errors: int
    errors_marked: int
    calibration: float | None
    hands: int
    whole: int
    not_measured: int
    extra: int
    left_out: int
    complete: int
    false: int
    ms: float | None

    @classmethod
    def of(cls, outcomes: Sequence[Outcome]) -> Figures:
        times = [o.ms for o in outcomes if o.ms is not None]
        errors = [m.sighting for o in outcomes for m in o.mistakes if m.sighting is not None]
        return cls(
            scenes=len(outcomes),
            tiles=sum(len(o.faces) for o in outcomes),
            found=sum(m.found for o in outcomes for m in o.faces),
            read=sum(m.right for o in outcomes for m in o.faces),
            marked=sum(m.sighting is not None and m.sighting.doubtful for o in outcomes for m in o.faces),
            errors=len(errors),
            errors_marked=sum(sighting.doubtful for sighting in errors),
            calibration=calibration_error(outcomes),
            hands=sum(o.whole is not None for o in outcomes),
            whole=sum(o.whole is True for o in outcomes),
            not_measured=sum(o.scene.shows_hand and o.whole is None for o in outcomes),
            extra=sum(len(o.extra) for o in outcomes),
            left_out=sum(o.left_out for o in outcomes),
            complete=sum(o.scene.complete for o in outcomes),
            false=sum(len(o.unlabelled) for o in outcomes if o.scene.complete),
            ms=statistics.median(times) if times else None,
        )

    def to_document(self) -> dict[str, Any]:
        """The counts and the shares made of them, JSON-ready; a share of nothing is null."""
        return {
            "scenes": self.scenes,
            "tiles": self.tiles,
            "found": share(self.found, self.tiles),
            "read": share(self.read, self.tiles),
            "calibration_error": None if self.calibration is None else round(self.calibration, 4),
            "marked": share(self.marked, self.found),
            "misread": self.errors,
            "misread_marked": self.errors_marked,
            "share_of_misread_marked": share(self.errors_marked, self.errors),
            "hands": self.hands,
            "whole_hands": share(self.whole, self.hands),
            "hands_not_measured": self.not_measured,
            "extra": self.extra,
            "left_out": self.left_out,
            "complete_scenes": self.complete,
            "false": self.false,
            "median_ms": None if self.ms is None else round(self.ms, 1),
        }


def report_document(outcomes: Sequence[Outcome], change: Comparison | None = None) -> dict[str, Any]:
    """Everything measured, JSON-ready; with what changed since earlier outcomes, if that was asked."""
    parts = {by: _figures(outcomes, by) for by in ("fold", "group", "source", "hard", "again")}
    return measuring.report_document(outcomes, Figures.of(outcomes), parts, change)


def report_text(outcomes: Sequence[Outcome], roles: bool = False) -> str:
    """Everything measured, as a table for people; `roles` adds how often each role was read as which."""
    head = (
        "", "photos", "tiles", "found", "read", "ECE", "marked", "of errors", "hands", "whole", "extra",
        "left out", "false", "ms",
    )  # fmt: skip
    lines: list[tuple[str, ...]] = [head]
    for attribute, title in (
        ("source", "by source"),
        ("group", "by table"),
        ("fold", "by fold"),
        ("hard", "hard ones"),
        ("again", "photos"),
    ):
        if parts := _figures(outcomes, attribute):
            lines += [(title,), *(_line(f"  {name}", figures) for name, figures in parts.items())]
    total = Figures.of(outcomes)
    lines.append(_line("total", total))
    legend = [
        "found, read: of all labelled faces; a red five counts as a five. whole: of the hands measured.",
        "ECE: how far the certainty of the faces found and the share of them that is right lie apart.",
        "marked: of the faces found, those that are doubtful wherever a reading is shown. of errors: how",
        "many of those misread bear that mark; faces that were missed cannot, they count in `found`.",
        f"hard ones: rows that run {SLANTED:.0f} degrees or more from the photo's sides; tables with",
        f"{MESSY} or more other pieces in sight. There only faces of the hand and its melds count.",
        measuring.AGAIN,
    ]
    remarks = []
    if total.not_measured:
        remarks.append(
            f"Hands not measured, their labels being more or less than the hand: {total.not_measured}."
        )
    if total.complete:
        remarks.append(
            f"false: faces that no label knows, in the {total.complete} photos with all faces labelled."
        )
    return measuring.report_text(outcomes, lines, legend, remarks, roles)


def _figures(outcomes: Sequence[Outcome], attribute: str) -> dict[str, Figures]:
    return {name: Figures.of(part) for name, part in split(outcomes, attribute).items()}


def _line(name: str, f: Figures) -> tuple[str, ...]:
    return (
        name,
        str(f.scenes),
        str(f.tiles),
        percent(f.found, f.tiles),
        percent(f.read, f.tiles),
        "-" if f.calibration is None else percent(f.calibration, 1),
        percent(f.marked, f.found),
        f"{f.errors_marked} of {f.errors}" if f.errors else "-",
        str(f.hands),
        percent(f.whole, f.hands),
        str(f.extra),
        str(f.left_out),
        str(f.false) if f.complete else "-",
        "-" if f.ms is None else f"{f.ms:.0f}",
    )


# The command


def run(args: argparse.Namespace, reader: PhotoReader | None = None) -> int:
    """Measure and print; `companion.commands.evaluate` describes the arguments.

    Returns 0, 1 when a photo could not be read, 2 when nothing could be measured.
    """
    if args.limit is not None and args.limit < 1:
        return _failed("--limit must be 1 or more")
    if args.sheet is not None and (args.sheet.suffix.lower() not in (".jpg", ".jpeg", ".png", ".webp")):
        return _failed(f"--sheet {args.sheet}: the name must end in .jpg, .png or .webp")
    if args.keep is not None and not args.keep.absolute().parent.is_dir():
        return _failed(f"--keep: there is no folder {args.keep.parent}")
    try:
        before = None if args.before is None else load(args.before)
    except OutcomesError as error:
        return _failed(f"--before {error}")
    try:
        scenes: Sequence[Scene] = load_scenes(args.folder, args.group, args.fold, args.source)
    except ScenesError as error:
        return _failed(str(error))
    if args.limit is not None and args.limit < len(scenes):
        scenes = [scenes[k * len(scenes) // args.limit] for k in range(args.limit)]
    if not scenes:
        return _failed("no photo is left to measure")
    decks = {scene.deck for scene in scenes} - {None}
    if len(decks) > 1:
        return _failed("the folder holds tiles and cards; --source chooses one list of labels")
    if reader is None:
        from vision.model import ModelError  # late: --help and wrong folders need no models
        from vision.reader import AUTO, Reader
        from vision.sets import SetError, TileSets

        try:
            shipped = Reader(args.models)
            for deck in shipped.decks if args.deck == AUTO else (args.deck,):
                shipped.of(deck)
            tile_set = None if args.set is None else TileSets().get(args.set)
            reader = _Told(shipped, args.deck, tile_set)
        except (ModelError, SetError) as error:
            return _failed(str(error))
    progress = None
    if sys.stderr.isatty():

        def progress(number: int) -> None:
            print(f"\r{number} of {len(scenes)} photos", end="", file=sys.stderr, flush=True)

    outcomes = evaluate(scenes, reader, progress)
    if progress is not None:
        print(file=sys.stderr)
    now = kept(outcomes)
    if args.keep is not None:
        try:
            save(args.keep, now)
        except OSError as error:
            return _failed(f"--keep {args.keep}: {error.strerror}")
    change = None if before is None else compare(before, now)
    as_document, as_text = report_document, report_text
    if decks == {CARDS}:
        as_document, as_text = evaluate_cards.report_document, evaluate_cards.report_text
    if args.json:
        print(json.dumps(as_document(outcomes, change), ensure_ascii=False))
    else:
        print(as_text(outcomes, args.roles))
        if change is not None:
            print(f"\n{change.text()}")
    if args.sheet is not None:
        sheet = draw_sheet(outcomes)
        if sheet is None:
            print("No mistakes, so no sheet of them.", file=sys.stderr)
        else:
            try:
                args.sheet.write_bytes(cv2.imencode(args.sheet.suffix, sheet)[1].tobytes())
                print(f"Pictures of the mistakes: {args.sheet}", file=sys.stderr)
            except OSError as error:
                return _failed(f"--sheet {args.sheet}: {error.strerror}")
    return 1 if any(o.error is not None for o in outcomes) else 0


def _failed(message: str) -> int:
    print(f"companion evaluate: {message}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    from companion.cli import main  # the arguments are described there, where --help must not wait for OpenCV

    raise SystemExit(main(["evaluate", *sys.argv[1:]]))
