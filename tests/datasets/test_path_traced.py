"""Path-traced cards: they rest on each other, and lie in the picture where the truth says."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from datasets import path_traced
from datasets.card_layouts import THICKNESS, PlacedCard, SceneCard, Tabletop, card_points, true_cards
from datasets.cards import PIECES, WIDTH, CardDeck
from datasets.path_traced import (
    PathTracingError,
    card_sheets,
    load_mitsuba,
    random_room,
    settled,
    trace,
)
from datasets.render import Camera
from datasets.scenes import load_scenes
from tests.decks import plain_deck


@pytest.fixture(scope="module")
def mitsuba() -> Any:
    try:
        return load_mitsuba("scalar_rgb")  # starts at once: there is nothing to compile
    except PathTracingError as error:
        pytest.skip(str(error))


def marked_deck(length: float = 3.0, radius: float = 0.2) -> CardDeck:
    """A deck whose glyph, an F, looks different when it is turned or mirrored; it needs no fonts."""
    mark = np.zeros((60, 60), np.uint8)
    cv2.putText(mark, "F", (8, 54), cv2.FONT_HERSHEY_SIMPLEX, 2.2, 255, 8)
    return replace(plain_deck(length), glyphs=dict.fromkeys(PIECES, mark), radius=radius)


def test_cards_rest_on_each_other() -> None:
    pytest.importorskip("scipy")
    deck = marked_deck()
    flat, across, beside = (
        PlacedCard("Kr", 0, 0, 0, 0),
        PlacedCard("Ag", 0, 0, np.pi / 2, 1),
        PlacedCard("Pw", 4, 0, 0, 2),
    )
    first, second, third = settled([flat, across, beside], deck)
    assert (first.lift, second.lift, third.lift) == pytest.approx((THICKNESS, 2 * THICKNESS, THICKNESS))
    # A card half over another leans on its edge and touches the table beyond.
    _, leaning = settled([flat, PlacedCard("Ag", 0.7, 0, 0, 1)], deck)
    assert leaning.lift is not None and 1.5 * THICKNESS < leaning.lift < 2 * THICKNESS
    assert leaning.lift + 0.5 * leaning.lean[0] == pytest.approx(THICKNESS)
    assert leaning.lean[1] == pytest.approx(0, abs=1e-6)
    # Nowhere through the one beneath, be they curled or not.
    rng = np.random.default_rng(4)
    cards = [
        PlacedCard("Kr", rng.normal(0, 0.5), rng.normal(0, 0.5), rng.normal(0, 1), level, rng.normal(0, 0.1))
        for level in range(6)
    ]
    resting = settled(cards, deck)
    spots = rng.uniform(0, 1, (400, 2)) * (1, deck.length)
    for level, card in enumerate(resting):
        x, y, z = card_points(card, deck, spots).T
        for other in resting[:level]:
            height = path_traced._height(other, deck, x, y)
            assert (z > height).all()


def test_sheets_have_the_outline_of_cards_and_look_up() -> None:
    pytest.importorskip("scipy")
    deck = marked_deck(radius=0.3)
    cards = settled([PlacedCard("Kr", 0, 0, 0.4, 0, 0.2), PlacedCard("Ag", 1, 0, 0, 1, -0.2)], deck)
    faces, edges = card_sheets(cards, deck)
    assert len(faces.triangles) == 2 * faces.per_card and faces.normals is not None
    a, b, c = (faces.vertices[faces.triangles[:, k]] for k in range(3))
    ways = np.cross(b - a, c - a)
    area = np.linalg.norm(ways, axis=1)
    agree = (ways / area[:, None] * faces.normals[faces.triangles[:, 0]]).sum(1)
    assert agree.min() > 0.99
    rounded = deck.length - (4 - np.pi) * deck.radius**2
    assert ways[:, 2].sum() / 2 == pytest.approx(2 * rounded, rel=0.01)
    assert np.ptp(faces.texture, 0) == pytest.approx((1, 1), abs=0.05)
    # The edges look away from the card that they are of.
    a, b, c = (edges.vertices[edges.triangles[: edges.per_card, k]] for k in range(3))
    outward = np.cross(b - a, c - a)
    assert ((outward * ((a + b + c) / 3 - (0, 0, a[:, 2].mean()))).sum(1) > -1e-9).all()


def ends_of(mitsuba: Any, cards: Sequence[PlacedCard], deck: CardDeck) -> tuple[np.ndarray, list[SceneCard]]:
    """The cards by path-traced light, 8-bit BGR without a camera's doings, and the truth about them."""
    camera = Camera.looking((0.4, 0.2, 0), 7, np.radians(60), 0.3, 0.1, 1.1, 256, 192)
    table = Tabletop(np.full((40, 40, 3), (60, 90, 60), np.uint8), 6.0, 0.3)
    rng = np.random.default_rng(1)
    room = random_room(camera, np.zeros(3), rng)
    light, owner = trace(mitsuba, cards, deck, camera, table, room, rng, samples=4)
    assert light.shape == (192, 256, 3) and np.isfinite(light).all()
    picture = np.clip(light / np.quantile(light, 0.98), 0, 1) ** (1 / 2.2) * 255
    return picture[..., ::-1].astype(np.uint8), true_cards(cards, deck, camera, owner)


def test_true_quads_lie_on_the_printed_frames(mitsuba: Any) -> None:
    deck = marked_deck()
    cards = settled([PlacedCard("Kw", 0, 0, 0.2, 0, 0.1), PlacedCard("Ay", 0.5, -0.1, -0.1, 1, 0.1)], deck)
    picture, truth = ends_of(mitsuba, cards, deck)
    covering = truth[1]
    assert min(end.visible for end in covering.ends) > 0.9 > 0.75 > truth[0].ends[1].visible > 0.1
    printed = deck.picture("Ay", np.random.default_rng(0))
    (left, top), (_, low) = deck.end_quads()[0][[0, 2]] * WIDTH
    frame = cv2.cvtColor(printed[round(top) : round(low), round(left) :, :3], cv2.COLOR_BGR2GRAY)
    height, width = frame.shape
    corners = np.array([[0, 0], [width, 0], [width, height], [0, height]], np.float32)
    for end in covering.ends:
        warp = cv2.getPerspectiveTransform(end.quad.astype(np.float32), corners)
        seen = cv2.cvtColor(cv2.warpPerspective(picture, warp, (width, height)), cv2.COLOR_BGR2GRAY)
        alike = [
            float(np.corrcoef(way.ravel(), frame.ravel())[0, 1])
            for way in (seen, seen[::-1], seen[:, ::-1], seen[::-1, ::-1])
        ]
        assert alike[0] > 0.85 and alike[0] > max(alike[1:]) + 0.2
        # It lies there to a pixel, not just about: shifted by a tenth it fits less.
        for shift in ((width // 10, 0), (-width // 10, 0), (0, width // 10), (0, -width // 10)):
            moved = np.roll(seen, shift, (1, 0))
            assert float(np.corrcoef(moved.ravel(), frame.ravel())[0, 1]) < alike[0] - 0.05


def test_scenes_are_written_in_the_labelled_format(mitsuba: Any, shared: Path, tmp_path: Path) -> None:
    words = [str(tmp_path), "--data", str(shared / "data"), "--size", "160", "--samples", "1"]
    assert path_traced.main([*words, "--count", "1", "--seed", "3", "--variant", "scalar_rgb"]) == 0
    (scene,) = load_scenes(tmp_path)
    picture = cv2.imread(str(scene.path))
    assert picture is not None and sorted(picture.shape[:2]) == [120, 160]
    assert scene.complete and len(scene.cards) >= 5
    assert json.loads((tmp_path / "rendered.json").read_text())[0]["layout"] == "fan"


def test_what_is_missing_is_told(mitsuba: Any, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    with pytest.raises(SystemExit):
        path_traced.main([str(tmp_path), "--variant", "rainbow"])
    assert "rainbow" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        path_traced.main([str(tmp_path), "--data", str(tmp_path / "nowhere")])
    assert "no training data" in capsys.readouterr().err
