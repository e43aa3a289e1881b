"""Frames of a camera, steadied: synthetic hands that tremble, flicker and move, and real pictures."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest

from companion.hand import Meld
from companion.pieces import Piece, parse_pieces
from companion.reading import Candidate, Expectation, Reading, Sighting
from vision import steady
from vision.load import Photo, load_photo
from vision.quality import Quality
from vision.reader import Reader
from vision.steady import Steady, View, after

PHOTOS = Path(__file__).parents[1] / "data" / "photos"
HAND = ("1m", "2m", "3m", "4p", "5p", "6p", "7s", "7s", "7s", "9m", "9m", "1p", "2p", "3p")
WIDTH, HEIGHT, WIDE, HIGH = 960, 720, 50.0, 68.0
STEP_S = 0.2
GOOD = Quality(0.7, 0.0, 0.3)


def tile(name: str, x: float, y: float, confidence: float = 0.97, other: str = "1s") -> Sighting:
    quad = ((x, y), (x + WIDE, y), (x + WIDE, y + HIGH), (x, y + HIGH))
    candidates = (Candidate(name, confidence), Candidate(other, round(0.99 - confidence, 3)))
    return Sighting(quad, candidates, "hand", 0)


def frame(
    names: Sequence[str] = HAND, shift: tuple[float, float] = (0, 0), rng: random.Random | None = None
) -> Reading:
    """A row of tiles; with `rng` every one trembles by some pixels."""
    row = []
    for i, name in enumerate(names):
        dx, dy = (rng.gauss(0, 1.5), rng.gauss(0, 1.5)) if rng else (0.0, 0.0)
        row.append(tile(name, 100 + 53 * i + shift[0] + dx, 300 + shift[1] + dy))
    return Reading("frame", "mahjong", WIDTH, HEIGHT, tuple(row))


def without(reading: Reading, *places: int) -> Reading:
    return replace(reading, sightings=tuple(s for i, s in enumerate(reading.sightings) if i not in places))


def renamed(reading: Reading, place: int, name: str, confidence: float = 0.97) -> Reading:
    changed = list(reading.sightings)
    (x, y), *_ = changed[place].quad
    changed[place] = tile(name, x, y, confidence, changed[place].piece)
    return replace(reading, sightings=tuple(changed))


def play(readings: Iterable[Reading], quality: Quality | None = GOOD, step: float = STEP_S) -> list[View]:
    views: list[View] = []
    for i, reading in enumerate(readings):
        views.append(after(views[-1].state if views else None, reading, 100 + step * i, quality))
    return views


def kinds(views: Iterable[View]) -> list[str]:
    return [view.advice.kind for view in views]


def test_a_steady_hand_is_taken_after_some_frames() -> None:
    rng = random.Random(1)
    views = play(frame(rng=rng) for _ in range(5))
    assert kinds(views) == ["hold", "hold", "hold", "sure", "sure"]
    assert [view.progress for view in views[:4]] == [0.25, 0.5, 0.75, 1.0]
    assert views[3].reading.hand == "12399m 123456p 777s"
    assert views[0].advice.text == "14 of 14 tiles, a moment"


def test_thirteen_may_be_fourteen_so_they_take_longer() -> None:
    views = play(frame(HAND[:13]) for _ in range(9))
    assert kinds(views).index("sure") == 7
    assert views[0].advice.text == "13 of 14 tiles, a moment"


def test_a_wrong_name_in_one_of_five_frames_changes_nothing() -> None:
    rng = random.Random(2)
    readings = [frame(rng=rng) for _ in range(12)]
    readings = [renamed(r, 3, "8p") if i % 5 == 4 else r for i, r in enumerate(readings)]
    views = play(readings)
    assert {view.reading.hand for view in views} == {"12399m 123456p 777s"}
    assert all(view.sure for view in views[3:])


def test_a_flickering_tile_is_named_and_no_shot_taken() -> None:
    views = play(renamed(frame(), 9, "8m" if i % 2 else "9m", 0.7) for i in range(12))
    assert not any(view.sure for view in views)
    assert views[-1].advice.kind == "doubtful"
    assert set(views[-1].advice.pieces) <= {"8m", "9m", "1s"}
    assert views[-1].advice.text.startswith("one tile is doubtful: ")


def test_a_tile_lost_for_a_frame_stays_and_a_ghost_never_comes() -> None:
    readings = [frame() for _ in range(10)]
    readings[3] = without(readings[3], 6)
    readings[6] = replace(readings[6], sightings=(*readings[6].sightings, tile("5z", 100 + 53 * 14, 300)))
    views = play(readings)
    assert {len(view.reading.sightings) for view in views} == {14}
    assert all(view.sure for view in views[3:])


def test_flowers_in_the_row_are_in_no_count_and_hold_nothing_up() -> None:
    """One that is misread now and then, one that is never certain and touches the edge of the frame."""
    readings = []
    for i in range(6):
        seen = frame(("1f", "5f", *HAND))
        doubted = Candidate("5f" if i % 2 else "8f", 0.5)
        edge = tuple((x - 100, y) for x, y in seen.sightings[0].quad)
        flowers = (
            replace(seen.sightings[0], quad=edge),  # type: ignore[arg-type]
            replace(seen.sightings[1], candidates=(doubted, Candidate("7f", 0.3))),
        )
        readings.append(replace(seen, sightings=(*flowers, *seen.sightings[2:])))
    views = play(readings)
    assert kinds(views)[:4] == ["hold", "hold", "hold", "sure"]
    assert {view.advice.count for view in views} == {14} and views[-1].advice.flowers == 2
    assert views[0].advice.text == "14 of 14 tiles + 2 flowers, a moment"
    assert views[3].state.hand == "12399m 123456p 777s"
    thirteen = play(frame(("1f", *HAND[:12])) for _ in range(2))[-1]
    assert (thirteen.advice.kind, thirteen.advice.text) == ("few", "12 of 13 or 14 tiles + 1 flower")


def test_a_missing_tile_is_counted() -> None:
    views = play(without(frame(), 3, 8) for _ in range(4))
    assert kinds(views) == ["few"] * 4
    assert views[-1].advice.text == "12 of 13 or 14 tiles"
    views = play(frame((*HAND, "5s", "6s")) for _ in range(3))
    assert views[-1].advice.text == "16 tiles; a hand has 13 or 14"


def test_the_camera_moves_and_the_tiles_are_still_the_same() -> None:
    """Each frame is half a tile further: by place alone, tiles would be taken for their neighbours."""
    rng = random.Random(3)
    readings = [renamed(frame(shift=(28 * i, 9 * i), rng=rng), 3, "8p" if i == 4 else "4p") for i in range(6)]
    views = play(readings)
    assert {view.reading.hand for view in views} == {"12399m 123456p 777s"}
    assert "moving" in kinds(views) and not any(view.sure for view in views)
    rest = play([*readings, *[frame(shift=(28 * 5, 9 * 5), rng=rng) for _ in range(6)]])
    assert rest[-1].sure


def test_zoom_and_turn_are_followed() -> None:
    readings = []
    for i in range(6):
        matrix = cv2.getRotationMatrix2D((480, 330), 1.5 * i, 1 - 0.03 * i)
        turned = [
            replace(s, quad=tuple(map(tuple, np.array(s.quad) @ matrix[:, :2].T + matrix[:, 2])))  # type: ignore[arg-type]
            for s in frame().sightings
        ]
        readings.append(replace(frame(), sightings=tuple(turned)))
    views = play(readings)
    assert all(len(view.state.tracks) == 14 for view in views)
    assert views[-1].sure


def test_another_scene_starts_anew() -> None:
    other = ("2s", "3s", "4s", "5s", "6s", "8s", "8s", "1m", "2m", "3m", "7p", "8p", "9p", "9s")
    views = play([*[frame() for _ in range(4)], *[frame(other, (7, 170)) for _ in range(4)]])
    assert views[3].sure and not views[4].sure and views[7].sure
    assert views[4].reading.hand == "123m 789p 23456889s"
    assert len(views[4].reading.sightings) == 14


def test_a_long_gap_or_a_clock_that_runs_back_starts_anew() -> None:
    view = play(frame() for _ in range(3))[-1]
    for at in (view.state.at + steady.GAP_S + 1, view.state.at - 1):
        assert after(view.state, frame(), at, GOOD).progress == 0.25


@pytest.mark.parametrize(
    ("quality", "kind"),
    [
        (Quality(0.06, 0.0, 0.3), "dark"),
        (Quality(0.95, 0.9, 0.3), "glare"),
        (Quality(0.5, 0.0, 0.02), "blurred"),
        (GOOD, "doubtful"),
        (None, "doubtful"),
    ],
)
def test_the_cause_is_told_before_the_effect(quality: Quality | None, kind: str) -> None:
    doubtful = replace(frame(), sightings=tuple(tile(s.piece, *s.quad[0], 0.6) for s in frame().sightings))
    assert play([doubtful] * 3, quality)[-1].advice.kind == kind
    # What is read for sure is taken, whatever the light.
    assert play([frame()] * 4, quality)[-1].sure


def test_distance_and_edge_are_told() -> None:
    def scaled(factor: float, shift: float = 0.0) -> Reading:
        quads = [tuple((x * factor + shift, y * factor) for x, y in s.quad) for s in frame().sightings]
        doubted = [tile(s.piece, 0, 0, 0.6) for s in frame().sightings]
        pieces = (replace(s, quad=quad) for s, quad in zip(doubted, quads, strict=True))  # type: ignore[arg-type]
        return replace(frame(), sightings=tuple(pieces))

    assert play([scaled(0.2)] * 2)[-1].advice.kind == "far"
    assert play([scaled(1, -101)] * 2)[-1].advice.kind == "edge"
    near = replace(scaled(6, -500), sightings=scaled(6, -500).sightings[:3], height=2600, width=960)
    assert play([near] * 2)[-1].advice.kind in ("close", "edge")
    # Thirteen surely read at the edge may be fourteen.
    assert play([without(frame(shift=(-101, 0)), 13)] * 9)[-1].advice.kind == "edge"


def test_nothing_in_sight_is_told_with_its_cause() -> None:
    empty = Reading("frame", None, WIDTH, HEIGHT)
    assert kinds(play([empty] * 2)) == ["nothing"] * 2
    assert play([empty] * 2, Quality(0.03, 0.0))[-1].advice.kind == "dark"
    views = play([empty, empty, *[frame()] * 4])
    assert views[-1].sure


def test_one_odd_frame_does_not_change_the_words() -> None:
    views = play([*[without(frame(), 3, 8)] * 3, replace(frame(), sightings=()), without(frame(), 3, 8)])
    assert kinds(views) == ["few"] * 5


def test_the_state_survives_a_way_as_json() -> None:
    view = play(frame(rng=random.Random(4)) for _ in range(3))[-1]
    text = json.dumps(view.state.to_document())
    again = Steady.from_document(json.loads(text))
    assert after(again, frame(), view.state.at + STEP_S, GOOD).sure
    assert len(text) < 6000


def filmed(
    path: Path, count: int, worse: Callable[[np.ndarray], np.ndarray] = lambda image: image
) -> list[Photo]:
    """Frames of a hand-held camera: small shifts, turns and zooms, noise, JPEG."""
    rng = np.random.default_rng(5)
    image = load_photo(path).image
    height, width = image.shape[:2]
    frames = []
    for _ in range(count):
        matrix = cv2.getRotationMatrix2D(
            (width / 2, height / 2), rng.normal(0, 0.4), 1 + rng.normal(0, 0.004)
        )
        matrix[:, 2] = matrix[:, 2] + rng.normal(0, 2, 2)
        moved = worse(cv2.warpAffine(image, matrix, (width, height), borderMode=cv2.BORDER_REPLICATE))
        noisy = np.clip(moved + rng.normal(0, 4, moved.shape), 0, 255).astype(np.uint8)
        jpeg = cv2.imencode(".jpg", noisy, [cv2.IMWRITE_JPEG_QUALITY, 80])[1]
        frames.append(Photo("frame", np.asarray(cv2.imdecode(jpeg, cv2.IMREAD_COLOR)), width, height))
    return frames


def watch(reader: Reader, frames: list[Photo]) -> list[View]:
    views: list[View] = []
    for i, photo in enumerate(frames):
        views.append(steady.see(reader.read, photo, 1 + STEP_S * i, views[-1].state if views else None))
    return views


def test_a_filmed_hand_is_read_as_its_photo(shipped_reader: Reader) -> None:
    views = watch(shipped_reader, filmed(PHOTOS / "one-row.jpg", 8))
    assert views[-1].reading.hand == "678m 11345p 55789s"
    assert views[-1].sure


def test_a_hand_filmed_in_the_dark_is_not_taken(shipped_reader: Reader) -> None:
    views = watch(
        shipped_reader, filmed(PHOTOS / "one-row.jpg", 3, lambda image: (image * 0.03).astype(np.uint8))
    )
    assert views[-1].advice.kind in ("dark", "nothing")
    assert not views[-1].sure


# Cards

FAN = tuple(str(piece) for piece in parse_pieces("KAERHCy KAERHCr KPPPw Kg 1j HHHg"))
FUJIAN = Expectation.of_full((21,), "four-color")


def fan(
    names: Sequence[str] = FAN, laid: int = 3, shift: float = 0.0, other: str = "Cg", **doubts: float
) -> Reading:
    """Cards side by side, the last `laid` of them a meld; those in `doubts` are so sure."""

    def card(place: int, name: str) -> Sighting:
        x, y = 20 + 42.0 * place + shift, 300.0
        quad = ((x, y), (x + 36, y), (x + 36, y + 60), (x, y + 60))
        sure = doubts.get(name, 0.97)
        candidates = (Candidate(name, sure), Candidate(other, round(0.99 - sure, 3)))
        if place < len(names) - laid:
            return Sighting(quad, candidates, "hand", 0)
        return Sighting(quad, candidates, "meld", 1, 0)

    meld = Meld("kong" if laid == 4 else "pung", tuple(map(Piece.parse, names[-laid:])))
    sightings = tuple(card(place, name) for place, name in enumerate(names))
    return Reading("frame", "four-color", WIDTH, HEIGHT, sightings, (meld,))


def deal(*readings: Reading, before: Steady | None = None) -> list[View]:
    views: list[View] = []
    for i, reading in enumerate(readings):
        views.append(after(views[-1].state if views else before, reading, 100 + i * STEP_S, GOOD, FUJIAN))
    return views


def test_cards_keep_their_places_and_are_taken_after_some_frames() -> None:
    views = deal(*(fan(shift=shift) for shift in (0, 2, 1, 3)))
    assert [view.advice.kind for view in views] == ["hold", "hold", "hold", "sure"]
    assert views[-1].advice.text == "21 cards, sure"
    reading = views[-1].reading
    assert (reading.deck, reading.hand) == ("four-color", fan().hand)
    assert [s.piece for s in reading.sightings] == list(FAN)
    assert [str(meld) for meld in reading.melds] == ["pung HHHg"]
    assert {s.group for s in reading.sightings[-3:]} == {0}
    assert Steady.from_document(json.loads(json.dumps(views[-1].state.to_document()))).deck == "four-color"


def test_one_frame_that_misreads_cards_changes_nothing() -> None:
    misread = fan((FAN[0], "Rg", *FAN[2:-3], "Ew", "Ew", "Ew"), other="2j", Rg=0.6, Ew=0.6)
    views = deal(fan(), fan(), misread, fan())
    assert [view.state.hand for view in views] == [f"{fan().hand}; pung HHHg"] * 4


def test_what_a_hand_of_cards_lacks_is_told() -> None:
    assert deal(fan(FAN[2:]))[-1].advice.text == "19 of 20 or 21 cards"
    four = (*FAN[1:-3], *["Hg"] * 4)
    assert deal(fan(four, 4))[-1].advice.count == 21  # of cards a kong counts four
    told = deal(*[fan(Ay=0.7)] * 3)[-1].advice
    assert (told.kind, told.text) == ("doubtful", "one card is doubtful: Ay or Cg")
    assert deal(Reading("frame", None, WIDTH, HEIGHT))[-1].advice.text == "no card in sight"


def test_where_another_deck_is_looked_for_nothing_is_taken_over() -> None:
    tiles = play([frame()] * 4)[-1]
    assert deal(fan(), before=tiles.state)[-1].progress == 0.25
