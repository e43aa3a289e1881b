"""The vision half of `companion bench`, with a reader that only waits a little."""

from __future__ import annotations

import time

import cv2
import numpy as np

from companion.reading import Expectation, Reading
from vision.bench import ANY_DECK, CARDS, FRAME, PHONE, SMALL, measure
from vision.load import Photo


class SlowFirst:
    """Says that the first photo of each size took long, and then 4 ms."""

    def __init__(self) -> None:
        self.sizes: list[tuple[int, int]] = []
        self.told: list[str | None] = []  # the deck that each photo was expected to show

    def read(self, photo: Photo, deck: str = "auto", expectation: Expectation | None = None) -> Reading:
        size = (photo.width, photo.height)
        self.told.append(None if expectation is None else expectation.deck)
        locating = 4.0 if size in self.sizes else 999.0
        self.sizes.append(size)
        time.sleep(0.006)  # more than 5 ms, however times are rounded
        return Reading(photo.name, None, *size, ms={"locate": locating, "total": locating})


def test_all_sizes_are_measured_warm() -> None:
    sample = cv2.imencode(".jpg", np.full((300, 400, 3), 90, np.uint8))[1].tobytes()
    reader = SlowFirst()
    phone, small, frame, cards, any_deck = measure(sample, reader, repeats=2, cards=sample)
    assert (phone.size, phone.width * phone.height // 100_000) == (PHONE, 121)
    assert phone.bytes > 1_000_000
    assert (small.size, small.width, small.height) == (SMALL, 1280, 960)
    assert (frame.size, frame.width, frame.height) == (FRAME, 960, 720)
    assert (cards.size, cards.width, cards.goal_ms) == (CARDS, 1280, 200)
    assert (any_deck.size, any_deck.width, any_deck.goal_ms) == (ANY_DECK, 1280, 200)
    assert reader.told[-6:] == ["four-color"] * 3 + [None] * 3
    assert len(reader.sizes) == 15
    for timing in (phone, small, frame, cards, any_deck):
        assert timing.ms["locate"] == 4.0
        assert timing.ms["load"] + 5 <= timing.ms["total"] <= timing.ms["worst"]
        assert list(timing.ms) == ["load", "locate", "total", "worst"]
    assert small.to_document()["goal_ms"] == 120
