"""The store of tile sets: whole or not at all, safe between processes, nothing left behind."""

from __future__ import annotations

import multiprocessing
import os
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from vision import sets
from vision.adapt import FRAME
from vision.sets import Measure, SetError, Taught, TileSets, home, source_of

LABELS: tuple[str, ...] = ("1m", "2m", "3m", "reject")


class Blocks:
    """A "network" whose embedding is the crop made small, and which reads every face as 1m."""

    labels = LABELS

    def __init__(self, sha256: str = "a") -> None:
        self.sha256, self.calls = sha256, 0

    def embed(self, crops: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        self.calls += 1
        n, side = len(crops), crops.shape[1] // 8
        small = crops.reshape(n, 8, side, 8, side, 3).mean((2, 4)).reshape(n, -1) / 255
        return small, np.tile([2.0, 0, 0, 0], (n, 1))


def face(piece: str, seed: int = 0, photo: str = "") -> Taught:
    """A crop whose picture depends on the piece, with a little noise."""
    rng = np.random.default_rng(LABELS.index(piece))
    blocks = np.kron(rng.integers(0, 220, (8, 8, 3)), np.ones((FRAME // 8, FRAME // 8, 1)))
    noise = np.random.default_rng(seed).integers(0, 30, blocks.shape)
    return Taught((blocks + noise).astype(np.uint8), piece, photo)


@pytest.fixture
def store(tmp_path: Path) -> TileSets:
    return TileSets(tmp_path)


def test_a_set_is_taught_read_back_and_undone(store: TileSets) -> None:
    assert store.all() == []
    tile_set = store.make("  Oma's   Steine 麻 ")
    assert tile_set.name == "Oma's Steine 麻" and tile_set.on
    tile_set.teach([face("1m", 1, "a.jpg"), face("2m", 2, "a.jpg")])
    tile_set.teach([face("3m", 3, "/home/anna/b.jpg")], "correction")
    again = TileSets(store.folder.parent).get("oma's steine 麻")
    assert [kept.piece for kept in again.kept()] == ["1m", "2m", "3m"]
    assert source_of(again.kept()[2]) == ("correction", "b.jpg")
    assert again.undo() == 1 and again.undo() == 2 and again.undo() == 0
    assert again.kept() == []


def test_single_crops_all_crops_and_the_set_are_deleted(store: TileSets) -> None:
    tile_set = store.make("mine")
    tile_set.teach([face("1m"), face("2m"), face("3m")])
    tile_set.delete(tile_set.kept()[1].key)
    assert [kept.piece for kept in tile_set.kept()] == ["1m", "3m"]
    for key in ("nothing", "../../x", tile_set.folder.name):
        with pytest.raises(SetError):
            tile_set.delete(key)
    assert tile_set.clear() == 2
    tile_set.forget()
    tile_set.forget()
    assert store.all() == [] and list(store.folder.iterdir()) == []
    with pytest.raises(SetError, match="no tile set 'mine'"):
        store.get("mine")
    with pytest.raises(SetError):
        tile_set.teach([face("1m")])
    for key in ("..", "", "0123456789abcdef"):
        with pytest.raises(SetError):
            store.by_key(key)


@pytest.mark.parametrize("name", ["", " \n", "x" * 61, "a\0b"])
def test_names_that_are_none_are_refused(store: TileSets, name: str) -> None:
    with pytest.raises(SetError, match="needs a name"):
        store.make(name)


def test_what_was_learned_is_made_once_for_a_model_and_its_crops(store: TileSets) -> None:
    tile_set, network = store.make("mine"), Blocks()
    assert tile_set.adaptation(network) is None
    tile_set.teach([face("2m"), face("3m")])
    first = tile_set.adaptation(network)
    assert first is not None and network.calls == 1
    assert tile_set.adaptation(network) is first
    sets._cached.clear()  # as another process sees it
    saved = tile_set.adaptation(network)
    assert saved is not None and network.calls == 1
    assert np.array_equal(saved.weights, first.weights)
    # A retrained model, a new crop, a deleted one: each is learned anew from the crops.
    other = Blocks("b")
    fresh = tile_set.adaptation(other)
    assert fresh is not None and fresh.model == "b" and other.calls == 1
    tile_set.teach([face("1m")])
    longer = tile_set.adaptation(network)
    assert longer is not None and len(longer.weights) > len(first.weights)
    tile_set.undo()
    back = tile_set.adaptation(network)
    assert back is not None and np.array_equal(back.weights, first.weights)


def test_a_damaged_file_is_made_again_or_left_out(store: TileSets) -> None:
    tile_set, network = store.make("mine"), Blocks()
    tile_set.teach([face("2m"), face("3m")])
    assert tile_set.adaptation(network) is not None
    saved = tile_set.folder / "learned.npz"
    saved.write_bytes(saved.read_bytes()[:90])
    sets._cached.clear()
    assert tile_set.adaptation(network) is not None
    tile_set.kept()[0].path.write_bytes(b"no picture")
    assert tile_set.measure(network).tiles == 1
    (tile_set.folder / "set.json").write_bytes(b"{")
    assert tile_set.on and tile_set.name == tile_set.key


def test_a_set_that_is_switched_off_teaches_nothing(store: TileSets) -> None:
    tile_set, network = store.make("mine"), Blocks()
    tile_set.teach([face("2m")])
    tile_set.switch(False)
    assert not store.get("mine").on and tile_set.adaptation(network) is None
    tile_set.switch(True)
    assert tile_set.adaptation(network) is not None


def test_photos_are_measured_by_each_other(store: TileSets) -> None:
    tile_set, network = store.make("mine"), Blocks()
    assert tile_set.measure(network) == Measure(0, 0, 0, False)
    tile_set.teach([face(piece, 1, "a.jpg") for piece in ("1m", "2m", "3m")])
    assert tile_set.measure(network) == Measure(3, 1, 3, False)
    tile_set.teach([face(piece, 2, "b.jpg") for piece in ("1m", "2m")])
    assert tile_set.measure(network).held_out
    # 3m was in the first photo alone: no other photo taught it.
    assert tile_set.measure(network) == Measure(5, 2, 4, True)


def test_a_failure_in_the_middle_leaves_no_half_lesson(
    store: TileSets, monkeypatch: pytest.MonkeyPatch
) -> None:
    tile_set = store.make("mine")
    tile_set.teach([face("1m")])
    write, left = sets._write, [2]

    def full_disk(path: Path, data: bytes) -> None:
        left[0] -= 1
        if left[0] < 0:
            raise OSError(28, "No space left on device")
        write(path, data)

    monkeypatch.setattr(sets, "_write", full_disk)
    with pytest.raises(SetError, match="No space left"):
        tile_set.teach([face("2m"), face("3m"), face("1m")])
    assert [kept.piece for kept in tile_set.kept()] == ["1m"]


def test_a_write_that_is_stopped_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "set.json"
    sets._write(path, b"old")

    def stopped(handle: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", stopped)
    with pytest.raises(KeyboardInterrupt):
        sets._write(path, b"new")
    assert path.read_bytes() == b"old" and list(tmp_path.iterdir()) == [path]


def _teach(folder: Path, number: int) -> str:
    tile_set = TileSets(folder).make("shared")
    return tile_set.teach([face("1m", number), face("2m", number)])


def test_several_processes_teach_one_set(tmp_path: Path) -> None:
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:
        lessons = set(pool.map(_teach, [tmp_path] * 6, range(6)))
    tile_set = TileSets(tmp_path).get("shared")
    assert len(lessons) == 6 and {kept.lesson for kept in tile_set.kept()} == lessons
    assert len(tile_set.kept()) == 12 and len(TileSets(tmp_path).all()) == 1
    assert [path.name for path in tile_set.folder.iterdir() if path.name.startswith(".")] == []


def test_where_sets_are_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("COMPANION_HOME", str(tmp_path / "here"))
    assert home() == tmp_path / "here" and TileSets().folder == tmp_path / "here" / "sets"
    assert not (tmp_path / "here").exists()
    monkeypatch.delenv("COMPANION_HOME")
    assert home().is_absolute()


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "sets").write_text("a file")
    with pytest.raises(SetError, match="cannot be kept"):
        TileSets(tmp_path).make("mine")
    assert TileSets(tmp_path).all() == []
