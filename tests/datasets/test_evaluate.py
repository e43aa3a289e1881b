"""Measuring, with readers whose mistakes are known."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from companion.cli import build_parser, main
from companion.reading import BACK, Candidate, Reading, Role, Sighting
from datasets.evaluate import Figures, evaluate, match, measure, run
from datasets.measuring import (
    calibration_error,
    confusions,
    draw_sheet,
    limit_that_covers,
    slant,
    split,
)
from datasets.scenes import Label, Scene, load_scenes
from vision.load import Photo
from vision.quality import REMEDIES

HAND = ["1m", "2m", "3m", "5p", "9s"]


def sighting(
    piece: str, x: float, y: float = 100, size: float = 1.0, role: Role = "hand", sure: float = 0.9
) -> Sighting:
    """A tile of 30 x 40 pixels around (x, y)."""
    dx, dy = 15 * size, 20 * size
    corners = ((x - dx, y - dy), (x + dx, y - dy), (x + dx, y + dy), (x - dx, y + dy))
    return Sighting(corners, (Candidate(piece, sure),), role)


def label(piece: str, x: float, y: float = 100, **more: Any) -> Label:
    return Label(piece, (x - 15, y - 20, 30, 40), **more)


def a_scene(labels: Sequence[Label], **more: Any) -> Scene:
    given: dict[str, Any] = {"shows_hand": True, **more}
    return Scene("a/1.jpg", Path("a/1.jpg"), "a", 400, 200, tuple(labels), **given)


def a_reading(sightings: Sequence[Sighting], ms: float = 20.0) -> Reading:
    return Reading("a/1.jpg", "mahjong", 400, 200, tuple(sightings), ms={"total": ms})


ROW = [label(piece, 40 + 40 * k) for k, piece in enumerate(HAND)]
SEEN = [sighting(piece, 40 + 40 * k) for k, piece in enumerate(HAND)]


def test_a_sighting_serves_one_label_and_lies_on_it() -> None:
    labels = [label("1m", 40), label("2m", 80)]
    assert match(labels, [sighting("2m", 82), sighting("1m", 38)]) == [1, 0]
    assert match(labels, [sighting("1m", 40), sighting("1m", 43)]) == [0, None]
    assert match(labels, [sighting("1m", 57), sighting("1m", 40, size=1.9)]) == [None, None]
    assert match(labels, []) == [None, None]
    assert match([], [sighting("1m", 40)]) == []


def test_a_perfect_reading() -> None:
    outcome = measure(a_scene(ROW), a_reading(SEEN))
    assert outcome.whole is True and not outcome.mistakes and not outcome.unlabelled
    figures = Figures.of([outcome]).to_document()
    assert (figures["found"], figures["read"], figures["whole_hands"], figures["median_ms"]) == (1, 1, 1, 20)


@pytest.mark.parametrize(
    ("change", "found", "read", "whole", "extra", "left_out"),
    [
        (lambda seen: seen[1:], 4, 4, False, 0, 0),
        (lambda seen: [sighting("4m", 40), *seen[1:]], 5, 4, False, 0, 0),
        (lambda seen: [sighting("2m", 40), sighting("1m", 80), *seen[2:]], 5, 3, True, 0, 0),
        (lambda seen: [*seen, sighting("7z", 300)], 5, 5, False, 1, 0),
        (lambda seen: [*seen, sighting("7z", 300, role="other")], 5, 5, True, 0, 0),
        (lambda seen: [*seen, sighting(BACK, 300, role="back")], 5, 5, True, 0, 0),
        (lambda seen: [replace(seen[0], role="other"), *seen[1:]], 5, 5, False, 0, 1),
        (lambda seen: [replace(seen[0], role="meld"), *seen[1:]], 5, 5, True, 0, 0),
        (lambda seen: [*seen[:3], sighting("0p", 160), seen[4]], 5, 5, True, 0, 0),
        (lambda seen: [sighting(BACK, 40, role="back"), *seen[1:]], 5, 4, False, 0, 1),
    ],
    ids=["missed", "misread", "swapped", "extra", "other", "back", "left out", "meld", "red five", "as back"],
)
def test_each_kind_of_mistake(
    change: Callable[[list[Sighting]], list[Sighting]],
    found: int,
    read: int,
    whole: bool,
    extra: int,
    left_out: int,
) -> None:
    outcome = measure(a_scene(ROW), a_reading(change(list(SEEN))))
    figures = Figures.of([outcome])
    assert (figures.found, figures.read, outcome.whole, figures.extra, figures.left_out) == (
        found, read, whole, extra, left_out,
    )  # fmt: skip


def test_whole_hands_only_where_the_labels_are_one_hand() -> None:
    reading = a_reading(SEEN[1:])
    no_hand = measure(a_scene(ROW, shows_hand=False), reading)
    partly = measure(a_scene(ROW, partly_boxed=True), reading)
    covered = measure(a_scene([replace(ROW[0], visible=0.3), *ROW[1:]]), reading)
    assert (no_hand.whole, partly.whole, covered.whole) == (None, None, None)
    assert len(covered.faces) == 4 and not covered.mistakes
    figures = Figures.of([no_hand, partly, covered])
    assert (figures.hands, figures.not_measured, figures.tiles, figures.found) == (0, 2, 14, 12)


def test_labelled_roles_part_the_hand_from_the_rest() -> None:
    roles: list[Role] = ["hand", "hand", "hand", "meld", "other"]
    labels = [replace(lb, role=role) for lb, role in zip(ROW, roles, strict=True)] + [
        label(BACK, 300, role="back")
    ]
    seen = [*SEEN[:4], replace(SEEN[4], role="other"), sighting(BACK, 300, role="back")]
    outcome = measure(a_scene(labels, complete=True), a_reading(seen))
    assert outcome.whole is True and len(outcome.faces) == 5
    assert outcome.roles == (*[("hand", "hand")] * 3, ("meld", "hand"), ("other", "other"), ("back", "back"))
    assert measure(a_scene(labels), a_reading(SEEN)).whole is False


def test_false_faces_count_where_all_faces_are_labelled() -> None:
    seen = [*SEEN, sighting("1z", 300, role="other"), sighting(BACK, 340, role="back")]
    figures = Figures.of([measure(a_scene(ROW, complete=c), a_reading(seen)) for c in (True, False)])
    assert (figures.complete, figures.false, figures.extra) == (1, 1, 0)


def test_labels_follow_a_photo_of_another_size() -> None:
    seen = [replace(s, quad=tuple((2 * x, 2 * y) for x, y in s.quad)) for s in SEEN]  # type: ignore[arg-type]
    assert measure(a_scene(ROW), replace(a_reading(seen), width=800, height=400)).whole is True


@pytest.mark.parametrize("turn", [0, 7, 30, 52, 90, 140])
def test_a_row_is_as_slanted_as_it_runs(turn: int) -> None:
    along = np.radians(turn)
    row = [label("1m", 400 + 40 * k * np.cos(along), 400 + 40 * k * np.sin(along)) for k in range(9)]
    # Discards do not tell how the hand lies.
    heap = [label("2p", 40 * k, 33 * k * k, role="other") for k in range(12)]
    assert slant([*row, *heap]) == pytest.approx(min(turn % 90, 90 - turn % 90))
    assert slant(row[:3]) == 0


def test_photos_that_are_to_be_taken_again_are_told_apart() -> None:
    dark = replace(a_reading(SEEN), warnings=("14 tiles.", REMEDIES["dark"]))
    parts = split([measure(a_scene(ROW), a_reading(SEEN)), measure(a_scene(ROW), dark)], "again")
    assert {name: len(part) for name, part in parts.items()} == {"good enough": 1, "to be taken again": 1}


def test_hard_scenes_are_told_apart() -> None:
    assert measure(a_scene(ROW), a_reading(SEEN)).hard == ()
    discards = [sighting("9p", 20 + 40 * k, 20, role="other") for k in range(8)]
    assert measure(a_scene(ROW), a_reading([*SEEN, *discards])).hard == ("messy",)
    # Of a table with all faces labelled only those of the hand count, as where only they are labelled.
    heap = [label("9p", 20 + 40 * k, 20, role="other") for k in range(8)]
    own = [replace(one, role="hand") for one in ROW]
    (messy,) = split([measure(a_scene([*own, *heap]), a_reading(SEEN))], "hard")["messy"]
    assert Figures.of([messy]).tiles == len(ROW)
    stairs = [label(piece, 40 + 40 * k, 60 + 12 * k) for k, piece in enumerate(HAND)]
    outcome = measure(a_scene(stairs), a_reading([]))
    assert outcome.hard == ("slanted",)
    assert list(split([outcome], "hard")) == ["slanted"] and split([outcome], "fold") == {}


def test_confusions_and_calibration() -> None:
    seen = [sighting("4m", 40, sure=0.75), sighting("2m", 80, sure=0.75), *SEEN[2:4]]
    outcome = measure(a_scene(ROW), a_reading(seen))
    assert confusions([outcome]) == {("1m", "4m"): 1, ("9s", "missed"): 1}
    # 0.75 said and half of two right; 0.9 said and both of two right.
    assert calibration_error([outcome]) == pytest.approx((abs(1.5 - 1) + abs(1.8 - 2)) / 4)
    assert calibration_error([]) is None


def test_what_the_marks_cover() -> None:
    certain = [0.995, 0.6, 0.98, 0.96, 0.99]
    seen = [sighting(s.piece, s.quad[0][0] + 15, sure=p) for s, p in zip(SEEN, certain, strict=True)]
    seen[1], seen[2] = sighting("4m", 80, sure=0.6), sighting("4m", 120, sure=0.98)
    outcome = measure(a_scene([*ROW, label("7z", 300)]), a_reading(seen))
    figures = Figures.of([outcome])
    # Marked: 2m > 4m at 0.6 and 5p at 0.96. Not marked: 3m > 4m at 0.98. Missed, and so neither: 7z.
    assert (figures.found, figures.marked, figures.errors, figures.errors_marked) == (5, 2, 2, 1)
    assert figures.calibration == calibration_error([outcome])
    document = figures.to_document()
    assert (document["marked"], document["share_of_misread_marked"]) == (0.4, 0.5)
    limit = limit_that_covers([outcome])
    assert limit is not None and (limit.below, limit.marked, limit.covered) == (0.99, 0.6, 1.0)
    half = limit_that_covers([outcome], cover=0.5)
    assert half is not None and (half.below, half.marked) == (0.61, 0.2)
    assert limit_that_covers([measure(a_scene(ROW), a_reading(SEEN))]) is None


def test_a_red_five_that_may_be_a_five_is_no_doubt() -> None:
    five = replace(SEEN[3], candidates=(Candidate("0p", 0.6), Candidate("5p", 0.39)))
    figures = Figures.of([measure(a_scene(ROW[3:4]), a_reading([five]))])
    assert (figures.read, figures.marked) == (1, 0)
    assert figures.calibration == pytest.approx(0.01)


# The command


class FakeReader:
    """Says the truth but for what `spoil` makes of it."""

    def __init__(
        self, folder: Path, spoil: Callable[[Scene, list[Sighting]], list[Sighting]] = lambda _, seen: seen
    ):
        self._scenes = {scene.path.name: scene for scene in load_scenes(folder)}
        self._spoil = spoil

    def read(self, photo: Photo) -> Reading:
        scene = self._scenes[Path(photo.name).name]
        seen = [sighting(lb.piece, lb.box[0] + 15, lb.box[1] + 20) for lb in scene.labels]
        return Reading(photo.name, "mahjong", photo.width, photo.height, tuple(self._spoil(scene, seen)))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Four photos of five tiles: two of table `old`, one of table `new`, one of a tray that shows no hand."""
    (tmp_path / "s").mkdir()
    tiles = [{"label": lb.piece, "bbox": list(lb.box)} for lb in ROW]
    names = ["old-1", "old-2", "new-1", "tray-1"]
    scenes = [{"file": f"s/{name}.png", "width": 400, "height": 200, "tiles": tiles} for name in names]
    for name in names:
        cv2.imwrite(str(tmp_path / f"s/{name}.png"), np.full((200, 400, 3), 90, np.uint8))
    (tmp_path / "s.json").write_text(json.dumps(scenes))
    groups = {
        "old": {"hands": True, "files": ["s/old-1.png", "s/old-2.png"]},
        "new": {"hands": True, "files": ["s/new-1.png"]},
        "tray": {"hands": False, "files": ["s/tray-1.png"]},
    }
    folds = {"train": ["old", "tray"], "unseen": ["new"]}
    (tmp_path / "groups.json").write_text(json.dumps({"groups": groups, "folds": folds}))
    return tmp_path


def spoiled(scene: Scene, seen: list[Sighting]) -> list[Sighting]:
    """Misses one tile of `old-1`, misreads one of `new-1`, sees one too many in the tray."""
    if scene.file == "s/old-1.png":
        return seen[1:]
    if scene.file == "s/new-1.png":
        return [*seen[:4], sighting("8s", 200)]
    return [*seen, sighting("7z", 300)] if scene.group == "tray" else seen


def command(folder: Path, *arguments: str) -> int:
    quiet = () if "--sheet" in arguments else ("--no-sheet",)
    args = build_parser().parse_args(["evaluate", str(folder), *quiet, *arguments])
    return run(args, FakeReader(folder, spoiled))


def test_the_json_report(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command(folder, "--json") == 0
    report = json.loads(capsys.readouterr().out)
    total = report["total"]
    assert (total["scenes"], total["tiles"], total["found"], total["read"]) == (4, 20, 0.95, 0.9)
    assert (total["hands"], total["whole_hands"], total["extra"], total["false"]) == (
        3,
        round(1 / 3, 4),
        1,
        1,
    )
    assert total["median_ms"] is not None
    assert {name: part["read"] for name, part in report["by_group"].items()} == {
        "new": 0.8,
        "old": 0.9,
        "tray": 1.0,
    }
    assert {name: part["whole_hands"] for name, part in report["by_fold"].items()} == {
        "train": 0.5,
        "unseen": 0.0,
    }
    assert list(report["by_source"]) == ["s"]
    assert report["confusions"] == [
        {"label": "1m", "read": "missed", "count": 1},
        {"label": "9s", "read": "8s", "count": 1},
    ]


def test_the_table_for_people(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command(folder) == 0
    printed = capsys.readouterr().out
    rows = {line.split()[0]: line.split()[1:-1] for line in printed.splitlines() if line.strip()}
    # All are read with 0.9, which is doubtful; 18 of 19 are right.
    total = ["4", "20", "95.0%", "90.0%", "4.7%", "100.0%", "1", "of", "1", "3", "33.3%", "1", "0", "1"]
    assert rows["total"] == total
    assert rows["new"][4:9] == ["10.0%", "100.0%", "1", "of", "1"]
    assert rows["tray"] == ["1", "5", "100.0%", "100.0%", "10.0%", "100.0%", "-", "0", "-", "1", "0", "1"]
    assert "those less certain than 0.91 must be marked: 100.0% of all." in printed
    assert "1m > missed 1, 9s > 8s 1" in printed


def test_filters_and_limit(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cases = [(["--fold", "unseen"], 1), (["--group", "old", "--group", "new"], 3), (["--limit", "2"], 2)]
    for arguments, scenes in [*cases, (["--limit", "9"], 4)]:
        assert command(folder, "--json", *arguments) == 0
        assert json.loads(capsys.readouterr().out)["total"]["scenes"] == scenes


def test_the_sheet_shows_each_mistake(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sheet = folder / "mistakes.png"
    assert command(folder, "--sheet", str(sheet)) == 0
    # Missed, misread and extra: three squares beside each other, each with three lines of text.
    drawn = cv2.imread(str(sheet))
    assert drawn is not None and drawn.shape == (128 + 46, 3 * 128, 3)
    perfect = evaluate(load_scenes(folder), FakeReader(folder))
    assert draw_sheet(perfect) is None


def test_a_photo_that_cannot_be_read_counts_as_missed(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "s/old-2.png").write_text("no photo")
    (folder / "s/tray-1.png").unlink()
    assert command(folder, "--json") == 1
    report = json.loads(capsys.readouterr().out)
    assert (report["total"]["tiles"], report["total"]["found"]) == (20, 0.45)
    assert [entry["photo"] for entry in report["unreadable"]] == ["s/old-2.png", "s/tray-1.png"]


def test_two_readings_are_compared(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kept = folder / "kept.json"
    args = build_parser().parse_args(["evaluate", str(folder), "--no-sheet", "--keep", str(kept)])
    assert run(args, FakeReader(folder)) == 0
    capsys.readouterr()
    assert command(folder, "--before", str(kept)) == 0
    printed = capsys.readouterr().out
    assert "hands lost: 2" in printed and "hands gained: 0" in printed
    assert "faces right: 0 more in 0 photos, 2 fewer in 2" in printed
    assert command(folder, "--before", str(kept), "--json") == 0
    change = json.loads(capsys.readouterr().out)["change"]
    assert [(lost["photo"], lost["now"]["hand"]) for lost in change["lost"]] == [
        ("s/new-1.png", "123m 5p 8s"),
        ("s/old-1.png", "23m 5p 9s"),
    ]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nowhere"], "nowhere is no folder"),
        ([".", "--fold", "night"], "there is no fold night"),
        ([".", "--limit", "0"], "--limit must be 1 or more"),
        ([".", "--sheet", "mistakes.txt"], "must end in .jpg, .png or .webp"),
        ([".", "--before", "kept.json"], "kept.json: No such file or directory"),
        ([".", "--keep", "nowhere/kept.json"], "there is no folder nowhere"),
    ],
)
def test_what_cannot_be_measured_is_said(
    folder: Path,
    arguments: list[str],
    words: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(folder)
    assert main(["evaluate", *arguments]) == 2
    assert words in capsys.readouterr().err
