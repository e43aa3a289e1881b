"""Stand-ins without models: a reader of the sample photo, one piece misread and two in doubt; a network."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from companion.hand import Meld
from companion.pieces import parse_pieces
from companion.reading import Candidate, Expectation, Point, Quad, Reading, Sighting
from vision.lesson import FACES
from vision.load import Photo

WIDTH, HEIGHT = 1600, 1200
HAND = ("2m", "3m", "4m", "5m", "6m", "7m", "8m", "8m", "3p", "4p", "4p")
"""The hand's row as it is read; the last piece is a 5p in truth."""
DOUBTS = {
    5: (Candidate("7m", 0.71), Candidate("1m", 0.16)),
    10: (Candidate("4p", 0.55), Candidate("5p", 0.41), Candidate("6p", 0.03)),
}


def _along(start: Point, end: Point, part: float) -> Point:
    return start[0] + part * (end[0] - start[0]), start[1] + part * (end[1] - start[1])


def _row(corners: Quad, count: int) -> list[Quad]:
    """A row of equal pieces between four corners of the photo."""
    left_top, right_top, right_bottom, left_bottom = corners
    cuts = [
        (_along(left_top, right_top, i / count), _along(left_bottom, right_bottom, i / count))
        for i in range(count + 1)
    ]
    return [(a[0], b[0], b[1], a[1]) for a, b in pairwise(cuts)]


class SampleReader:
    """Gives the same reading for every photo, counts the photos it was given, and keeps what was told of the
    last one."""

    def __init__(self) -> None:
        self.photos = 0
        self.deck: str | None = None
        self.expectation: Expectation | None = None

    def read(self, photo: Photo, deck: str = "auto", expectation: Expectation | None = None) -> Reading:
        self.photos += 1
        self.deck, self.expectation = deck, expectation
        x, y = photo.width / WIDTH, photo.height / HEIGHT

        def scaled(quad: Quad) -> Quad:
            a, b, c, d = ((px * x, py * y) for px, py in quad)
            return a, b, c, d

        hand = _row(((131, 720), (1125, 704), (1140, 813), (108, 829)), len(HAND))
        meld = _row(((1236, 702), (1505, 697), (1535, 806), (1249, 806)), 3)
        discard: Quad = ((560, 150), (630, 50), (740, 75), (700, 130))
        back: Quad = ((265, 362), (345, 362), (336, 447), (251, 447))
        sightings = [
            Sighting(scaled(quad), DOUBTS.get(i, (Candidate(name, 0.99), Candidate("1s", 0.004))), "hand", 0)
            for i, (name, quad) in enumerate(zip(HAND, hand, strict=True))
        ]
        sightings += [Sighting(scaled(quad), (Candidate("2p", 0.98),), "meld", 0, 0) for quad in meld]
        sightings.append(Sighting(scaled(discard), (Candidate("8s", 0.97),), "other", 1))
        sightings.append(Sighting(scaled(back), (Candidate("back", 0.99),), "back"))
        return Reading(
            photo=photo.name,
            deck="mahjong",
            width=photo.width,
            height=photo.height,
            sightings=tuple(sightings),
            melds=(Meld("pung", parse_pieces("222p")),),
            ms={"locate": 20.0, "classify": 10.0, "arrange": 1.0, "total": 31.0},
        )


class Network:
    """Reads every face as 1m; its embedding is the crop made small."""

    labels: tuple[str, ...] = (*FACES, "reject")
    sha256 = "0123"

    def embed(self, crops: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        small = crops.reshape(len(crops), 8, 8, 8, 8, 3).mean((2, 4)).reshape(len(crops), -1) / 255
        logits = np.zeros((len(crops), len(self.labels)))
        logits[:, 0] = 2
        return small, logits
