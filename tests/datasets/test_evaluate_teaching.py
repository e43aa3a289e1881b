"""What teaching gains is counted face by face."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from companion.reading import Candidate, Reading, Sighting
from datasets.evaluate_teaching import LEAST_SIDE, Shot, Tally, _label, report
from datasets.render import SceneTile
from datasets.scenes import Label, Scene
from vision.load import Photo

TRUTH = ("1m", "2m", "3m", "4m")


def shot() -> Shot:
    labels = tuple(Label(piece, (100.0 * i, 0.0, 80.0, 100.0)) for i, piece in enumerate(TRUTH))
    scene = Scene("a.jpg", Path("a.jpg"), "test", 400, 100, labels)
    return Shot(Photo("a.jpg", np.zeros((100, 400, 3), np.uint8), 400, 100), scene)


def reading(*pieces: str) -> Reading:
    sightings = []
    for i, piece in enumerate(pieces):
        left, right = 100.0 * i, 100.0 * i + 80
        quad = ((left, 0.0), (right, 0.0), (right, 100.0), (left, 100.0))
        sightings.append(Sighting(quad, (Candidate(piece, 0.9),)))
    return Reading("a.jpg", "mahjong", 400, 100, tuple(sightings))


def test_gains_losses_and_taught_faces_are_told_apart() -> None:
    tally = Tally()
    tally.add(shot(), reading("1m", "9m", "9m", "4m"), reading("1m", "2m", "9m", "8m"), {"1m", "2m"})
    assert (tally.tiles, tally.before, tally.after, tally.worse) == (4, 2, 2, 1)
    assert (tally.taught_tiles, tally.taught_before, tally.taught_after) == (2, 1, 0)
    total = Tally()
    total += tally
    total += tally
    assert (total.tiles, total.before, total.worse) == (8, 4, 2)
    line = report({"mine": total}).splitlines()[1]
    assert line.split() == ["mine", "8", "4", "4", "2", "0", "2", "0"]


def test_faces_that_are_not_found_count_for_nothing() -> None:
    tally = Tally()
    tally.add(shot(), reading("1m", "9m", "9m"), reading("1m", "2m", "9m"), {"1m", "2m"})
    assert (tally.tiles, tally.before, tally.after, tally.missed) == (3, 2, 1, 1)


def test_rendered_faces_that_are_too_small_do_not_count() -> None:
    square = np.array([(0, 0), (1, 0), (1, 1), (0, 1)], np.float64)
    large = _label(SceneTile("1m", square * LEAST_SIDE, 1.0, "hand", None))
    small = _label(SceneTile("1m", square * (LEAST_SIDE - 1), 1.0, "hand", None))
    assert (large.visible, small.visible) == (1.0, 0.0)
