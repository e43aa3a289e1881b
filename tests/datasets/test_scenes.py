"""Folders of labelled photos."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from datasets.scenes import Label, ScenesError, load_scenes
from tests.conftest import shared_folder

QUAD = [[10, 20], [40, 21], [41, 61], [11, 60]]


def scene(file: str, *labels: str, **more: Any) -> dict[str, Any]:
    tiles = [{"label": label, "bbox": [10 + 40 * k, 20, 30, 40]} for k, label in enumerate(labels)]
    return {"file": file, "width": 640, "height": 480, "augmented": False, "tiles": tiles, **more}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two sources: `a/1.jpg` of a table that shows hands, `a/2.jpg` of one without, `b/1.jpg` of no table."""
    scenes = tmp_path / "scenes"
    scenes.mkdir()
    first, second = scene("a/1.jpg", "1m", "2m"), scene("a/2.jpg", "3m", augmented=True)
    (scenes / "a.json").write_text(json.dumps([first, second]))
    drawn = scene("b/1.jpg", "5p")
    drawn["tiles"] = [
        {"label": "0p", "bbox": [10, 20, 30, 40], "quad": QUAD, "role": "hand", "visible": 0.7},
        {"label": "back", "bbox": [50, 20, 30, 40], "role": "back"},
    ]
    (scenes / "b.json").write_text(json.dumps([drawn]))
    (scenes / "notes.json").write_text('{"not": "a list of scenes"}')
    groups = {
        "groups": {
            "green": {"about": "hands", "hands": True, "files": ["a/1.jpg"]},
            "tray": {"about": "all tiles of a tray", "hands": False, "files": ["a/2.jpg"]},
        },
        "folds": {"train": ["tray"], "new": ["green"]},
        "partly_boxed_discards": ["a/1.jpg"],
    }
    (tmp_path / "groups.json").write_text(json.dumps(groups))
    return tmp_path


@pytest.mark.parametrize("inner", ["", "scenes"])
def test_a_folder_and_its_scenes_folder_are_the_same(folder: Path, inner: str) -> None:
    first, second, third = load_scenes(folder / inner)
    assert first.path == folder / "scenes/a/1.jpg"
    assert [(s.file, s.source, s.group, s.fold) for s in (first, second, third)] == [
        ("a/1.jpg", "a", "green", "new"),
        ("a/2.jpg", "a", "tray", "train"),
        ("b/1.jpg", "b", None, None),
    ]
    assert [(s.shows_hand, s.partly_boxed, s.complete) for s in (first, second, third)] == [
        (True, True, False),
        (False, False, True),
        (True, False, True),
    ]
    assert [s.augmented for s in (first, second, third)] == [False, True, False]
    assert first.labels[1] == Label("2m", (50, 20, 30, 40))
    assert third.labels[0].quad == tuple(map(tuple, QUAD))
    assert [(lb.piece, lb.role, lb.visible) for lb in third.labels] == [
        ("0p", "hand", 0.7),
        ("back", "back", 1.0),
    ]


def test_filters(folder: Path) -> None:
    assert [s.file for s in load_scenes(folder, groups=["tray"])] == ["a/2.jpg"]
    assert [s.file for s in load_scenes(folder, folds=["new"])] == ["a/1.jpg"]
    assert [s.file for s in load_scenes(folder, sources=["a"], folds=["train"])] == ["a/2.jpg"]
    with pytest.raises(ScenesError, match=r"no fold old in .*; there are: new, train"):
        load_scenes(folder, folds=["old"])


def test_without_groups_the_labels_are_the_hand(tmp_path: Path) -> None:
    (tmp_path / "own.json").write_text(json.dumps([scene("1.jpg", "1m")]))
    (only,) = load_scenes(tmp_path)
    assert (only.group, only.fold, only.shows_hand, only.complete) == (None, None, True, False)


def test_labels_follow_a_photo_of_another_size() -> None:
    label = Label("1m", (10, 20, 30, 40), ((10, 20), (40, 20), (40, 60), (10, 60)))
    assert label.scaled(2, 0.5) == Label("1m", (20, 10, 60, 20), ((20, 10), (80, 10), (80, 30), (20, 30)))


@pytest.mark.parametrize(
    ("tile", "words"),
    [
        (
            {"label": "1x", "bbox": [0, 0, 1, 1]},
            "a/1.jpg: the label '1x' at position 1: there is no suit 'x'",
        ),
        ({"label": "1m"}, "a/1.jpg: 'bbox' is missing"),
        ({"label": "1m", "bbox": [0, 0, 1, 1], "role": "mine"}, "a/1.jpg: unknown role 'mine'"),
        ({"label": "1m", "bbox": [0, 0, 1, 1], "quad": QUAD[:3]}, "a/1.jpg: a quad of 3 corners"),
    ],
)
def test_senseless_labels_are_named(tmp_path: Path, tile: dict[str, Any], words: str) -> None:
    (tmp_path / "a.json").write_text(json.dumps([{**scene("a/1.jpg"), "tiles": [tile]}]))
    with pytest.raises(ScenesError) as caught:
        load_scenes(tmp_path)
    assert words in str(caught.value)


def test_folders_that_hold_none(tmp_path: Path) -> None:
    with pytest.raises(ScenesError, match="is no folder"):
        load_scenes(tmp_path / "nowhere")
    with pytest.raises(ScenesError, match="no lists of labelled photos"):
        load_scenes(tmp_path)
    (tmp_path / "a.json").write_text("[{")
    with pytest.raises(ScenesError, match=r"a\.json cannot be read as JSON"):
        load_scenes(tmp_path)


def test_the_shared_photos() -> None:
    shared = shared_folder()
    if shared is None or not (shared / "data/mahjong/groups.json").is_file():
        pytest.skip("the shared photos are not on this computer")
    scenes = load_scenes(shared / "data/mahjong")
    assert (len(scenes), sum(len(s.labels) for s in scenes)) == (647, 12773)
    assert all(s.group and s.fold and s.path.is_file() for s in scenes)
    assert {s.file for s in scenes} == {s.file for s in load_scenes(shared / "data/mahjong/scenes")}
    assert sum(s.partly_boxed for s in scenes) == 12
