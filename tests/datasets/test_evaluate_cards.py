"""Measuring the reading of cards, against labels with places and against plain lists of cards."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from companion.cli import build_parser
from companion.hand import Meld
from companion.pieces import parse_pieces
from companion.reading import Candidate, Quad, Reading, Role, Sighting
from datasets.evaluate import run
from datasets.evaluate_cards import CardOutcome, Figures, measure
from datasets.scenes import Label, Scene, load_scenes
from vision.load import Photo

WIDE, HIGH, LONG = 40.0, 48.0, 180.0


def end(left: float, top: float, turned: bool = False, wide: float = WIDE) -> Quad:
    a, b, c, d = (left, top), (left + wide, top), (left + wide, top + HIGH), (left, top + HIGH)
    return (c, d, a, b) if turned else (a, b, c, d)


def labelled(
    names: list[str],
    row: int = 0,
    role: Role = "hand",
    group: int | None = None,
    first: int = 0,
    wide: float = WIDE,
) -> tuple[list[Label], list[Label]]:
    """Cards side by side, of which the lower end of every second one is covered: ends, and whole cards."""
    ends, cards = [], []
    for place, name in enumerate(names):
        left, top = 60.0 * place, 400.0 * row
        for turned in (False, True):
            quad = end(left, top + (LONG - HIGH) * turned, turned, wide)
            visible = 0.1 if turned and place % 2 else 1.0
            box = (left, min(y for _, y in quad), wide, HIGH)
            ends.append(Label(name, box, quad, role, visible, first + place, group))
        box = (left, top, wide, LONG)
        cards.append(Label(name, box, None, role, 1.0, None, group, row, place))
    return ends, cards


def scene(layout: str = "row", *parts: tuple[list[Label], list[Label]], pieces: str = "") -> Scene:
    ends = tuple(each for part in parts for each in part[0])
    cards = tuple(each for part in parts for each in part[1])
    named = tuple(map(str, parse_pieces(pieces)))
    return Scene(
        "a.jpg",
        Path("a.jpg"),
        "a",
        1000,
        800,
        ends,
        cards=cards,
        pieces=named,
        layout=layout,
        deck="four-color",
    )


def seen(
    name: str, place: int, row: int = 0, role: Role = "hand", group: int | None = None, turned: bool = False
) -> Sighting:
    quad = end(60.0 * place, 400.0 * row + (LONG - HIGH) * turned, turned)
    return Sighting(quad, (Candidate(name, 0.99),), role, row, group)


def reading(sightings: list[Sighting], melds: tuple[Meld, ...] = ()) -> Reading:
    return Reading("a.jpg", "four-color" if sightings else None, 1000, 800, tuple(sightings), melds)


HAND = ["Kr", "Ar", "Er", "Py"]


def hand(spoil: Callable[[list[Sighting]], None] = lambda _: None) -> CardOutcome:
    sightings = [seen(name, place, turned=place == 2) for place, name in enumerate(HAND)]
    spoil(sightings)
    return measure(scene("row", labelled(HAND)), reading(sightings))


def test_cards_are_found_at_either_end_and_hands_are_whole() -> None:
    outcome = hand()
    assert [match.right for match in outcome.faces] == [True] * 4
    assert (outcome.whole, outcome.ordered, outcome.told, outcome.extra) == (True, True, True, ())


def test_rank_and_colour_are_counted_apart() -> None:
    def spoil(sightings: list[Sighting]) -> None:
        sightings[0], sightings[1] = seen("Kg", 0), seen("Pr", 1)
        del sightings[3]

    outcome = hand(spoil)
    figures = Figures.of([outcome])
    assert (figures.cards, figures.found, figures.read, figures.rank, figures.colour) == (4, 3, 1, 2, 2)
    assert outcome.whole is False and outcome.ordered is None


def test_a_card_seen_twice_is_one_too_many() -> None:
    outcome = hand(lambda sightings: sightings.append(seen("Kr", 0, turned=True)))
    assert len(outcome.extra) == 1 and outcome.whole is False


def test_a_row_may_be_read_from_either_end_but_a_fan_may_not() -> None:
    turned = [seen(name, place) for place, name in enumerate(HAND)][::-1]
    for layout, ordered in (("row", True), ("fan", False), ("scatter", None)):
        outcome = measure(scene(layout, labelled(HAND)), reading(turned))
        assert (outcome.whole, outcome.ordered) == (True, ordered)


def test_melds_are_right_when_their_cards_are_together() -> None:
    parts = labelled(["Hg"] * 3, 0, "meld", 0), labelled(["Kr", "Ar", "Er"], 1, "meld", 1, first=3)
    melds = (Meld("pung", parse_pieces("HHHg")), Meld("chow", parse_pieces("KAEr")))
    together = [seen("Hg", place, 0, "meld", 0) for place in range(3)]
    together += [seen(name, place, 1, "meld", 1) for place, name in enumerate(["Kr", "Ar", "Er"])]
    outcome = measure(scene("melds", *parts), reading(together, melds))
    assert (outcome.groups, outcome.groups_right, outcome.whole) == (2, 2, True)
    apart = [*together[:5], seen("Er", 2, 1)]
    outcome = measure(scene("melds", *parts), reading(apart, melds))
    assert (outcome.groups, outcome.groups_right, outcome.whole) == (2, 1, True)


def test_a_glyph_that_nobody_could_read_does_not_count() -> None:
    outcome = measure(scene("row", labelled(HAND, wide=14.0)), reading([]))
    assert (outcome.faces, outcome.whole, outcome.told) == ((), None, None)


def test_lists_of_cards_are_matched_as_well_as_can_be() -> None:
    outcome = measure(
        scene("fan", pieces="KAr HHw Py 2j"),
        reading([seen(name, k) for k, name in enumerate(["Hw", "Kr", "Cr", "Cw", "1j", "Kg", "Kg"])]),
    )
    assert sorted((m.label.piece, m.sighting and m.sighting.piece) for m in outcome.faces) == [
        ("2j", "1j"),
        ("Ar", "Cr"),
        ("Hw", "Cw"),
        ("Hw", "Hw"),
        ("Kr", "Kr"),
        ("Py", "Kg"),
    ]
    figures = Figures.of([outcome])
    assert (figures.read, figures.colour, figures.extra, outcome.whole) == (2, 5, 1, False)


class Reads:
    """Reads every photo the same way."""

    def __init__(self, names: str) -> None:
        self.names = list(map(str, parse_pieces(names)))

    def read(self, photo: Photo) -> Reading:
        sightings = [seen(name, place) for place, name in enumerate(self.names)]
        return Reading(photo.name, "four-color", photo.width, photo.height, tuple(sightings))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two photos of which only the cards are told."""
    import cv2

    documents = []
    for name, layout in (("one.jpg", "fan"), ("two.jpg", "row")):
        cv2.imwrite(str(tmp_path / name), np.full((80, 120, 3), 90, np.uint8))
        documents.append({"file": name, "pieces": ["Kr", "Ar", "Py"], "layout": layout})
    (tmp_path / "labels.json").write_text(json.dumps(documents))
    return tmp_path


def test_the_command_reports_cards(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kept = folder / "kept.json"
    arguments = ["evaluate", str(folder), "--json", "--sheet", str(folder / "sheet.png"), "--keep", str(kept)]
    assert run(build_parser().parse_args(arguments), Reads("KAr Pw")) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["total"]["cards"], report["total"]["read"], report["total"]["rank"]) == (6, 0.6667, 1.0)
    assert set(report["by_layout"]) == {"fan", "row"} and report["total"]["whole_hands"] == 0
    assert report["confusions"] == [{"label": "Py", "read": "Pw", "count": 2}]
    assert (folder / "sheet.png").is_file()
    assert json.loads(kept.read_text())["photos"]["one.jpg"]["labelled"] == "Py KAr"
    again = build_parser().parse_args(["evaluate", str(folder), "--no-sheet", "--before", str(kept)])
    assert run(again, Reads("KAr Py")) == 0
    printed = capsys.readouterr().out
    assert "hands gained: 2" in printed and "Most frequent mistakes" not in printed


def test_tiles_and_cards_in_one_folder_are_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tile = {"file": "one.jpg", "width": 120, "height": 80, "tiles": [{"label": "1m", "bbox": [1, 1, 9, 9]}]}
    (folder / "tiles.json").write_text(json.dumps([tile]))
    assert run(build_parser().parse_args(["evaluate", str(folder)]), Reads("Kr")) == 2
    assert "--source chooses" in capsys.readouterr().err
    assert len(load_scenes(folder, sources=["labels"])) == 2
