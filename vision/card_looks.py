"""Where it is worth looking once more for ends of four-color cards, or at them another way, as the ends
around tell: what `vision.gaps` is for tiles.

Quads are (n, 4, 2) pixels, as in `vision.ends`.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from vision.ends import (
    ASTRIDE,
    BESIDE,
    COLUMN,
    ONE_SIZE,
    PARALLEL,
    Floats,
    Shape,
    in_own_measure,
    next_to,
    seen_from,
)

TELLS_WAY = 0.8
"""An end that is so sure tells others around it which way up they are."""
STEP, GAP = (0.3, 5.0), (0.9, 1.5)
"""How far below an end of a column the next one that was seen stands, heights; and where it stands so many
heights below it, and so many times as far as ends usually do there, others may stand between."""
AROUND, BETWEEN = 6, 3
"""How many steps nearby tell what is usual; and how many ends are looked for in a gap at most."""
LONGEST = 2.0
"""Where steps are usually so many heights long, rows lie above each other: no column goes on."""


def among(places: Floats, quads: Floats, least: int) -> NDArray[np.int64]:
    """Which places (m, 4, 2), by number, lie beside, above or below so many of the ends (n, 4, 2) at `least`
    and are as large as those, whichever way they look.
    """
    if not len(places) or not len(quads):
        return np.zeros(0, np.int64)
    there, shape = Shape.of(places), Shape.of(quads)
    near = next_to(shape, there.centre) & (np.abs(there.sizes[:, None] - shape.sizes) < ONE_SIZE)
    return np.flatnonzero(near.sum(1) >= least)


def gaps_in_columns(quads: Floats) -> tuple[Floats, Floats]:
    """Where ends of cards that lie in columns were perhaps not seen: places (m, 4, 2) between ends that stand
    below each other, further apart than others there; and places (k, 4, 2) where a column of three or more
    may go on.
    """
    upper, lower, steps = _steps(quads)
    between, beyond = [], []
    if len(steps) > 1:
        centre = quads.mean(1)
        middle = (centre[upper] + centre[lower]) / 2
        for one, other, step in zip(upper, lower, steps, strict=True):
            off = np.linalg.norm(middle - (centre[one] + centre[other]) / 2, axis=1)
            usual = float(np.median(steps[np.argsort(off)[1 : AROUND + 1]]))
            if step >= max(GAP[0], GAP[1] * usual):
                parts = min(max(round(step / usual), 2), BETWEEN + 1)
                way = (quads[other] - quads[one]) / parts
                between += [quads[one] + way * part for part in range(1, parts)]
            if usual < LONGEST:
                way = (centre[other] - centre[one]) * usual / step
                if one in lower and other not in upper:
                    beyond.append(quads[other] + way)
                if other in upper and one not in lower:
                    beyond.append(quads[one] - way)
    return np.array(between).reshape(-1, 4, 2), np.array(beyond).reshape(-1, 4, 2)


def _steps(quads: Floats) -> tuple[NDArray[np.int64], NDArray[np.int64], Floats]:
    """Which ends stand next below which others in columns, (m,) each, and how many heights."""
    if not len(quads):
        return np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0)
    shape = Shape.of(quads)
    below, across = (each.T for each in seen_from(shape, shape.centre))  # by the upper one, then the lower
    column = (below > STEP[0]) & (below < STEP[1]) & (across < ASTRIDE)
    column &= shape.up @ shape.up.T > math.cos(PARALLEL)
    steps = np.where(column, below, np.inf)
    under, over = steps.argmin(1), steps.argmin(0)
    every = np.arange(len(quads))
    upper = np.flatnonzero((over[under] == every) & np.isfinite(steps[every, under]))
    return upper, under[upper], steps[upper, under[upper]]


def turned_from_others(quads: Floats, belief: Floats) -> dict[int, Floats]:
    """Ends (n, 4, 2) that look another way than all those that are sure beside, above and below them, which
    look the same way: by number, turned by quarters so that they look that way too. belief: (n,) 0-1.
    """
    shape = Shape.of(quads)
    below, across = in_own_measure(quads)
    beside = (np.abs(below) < BESIDE[0]) & (across < BESIDE[1] / 2)
    near = beside | (np.abs(below) < COLUMN[1]) & (across < ASTRIDE)
    near &= (belief >= TELLS_WAY)[:, None] & ~np.eye(len(quads), dtype=bool)
    near &= np.abs(shape.sizes[:, None] - shape.sizes) < ONE_SIZE
    turned = {}
    for end in range(len(quads)):
        ups = shape.up[near[:, end]]
        if len(ups) < 2 or (ups @ ups.T).min() < math.cos(PARALLEL):
            continue
        ways = [np.roll(quads[end], -first, axis=0) for first in range(4)]
        looks = Shape.of(np.array(ways)).up @ ups.mean(0)
        if (best := int(np.argmax(looks))) and looks[0] < math.cos(math.pi / 4):
            turned[end] = ways[best]
    return turned
