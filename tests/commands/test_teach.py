"""`companion teach` and `companion read --set`, with a reader that sees laid out tiles in every photo."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from PIL import Image

from companion.cli import main
from companion.reading import Candidate, Reading, Sighting
from tests.web.fakes import Network
from vision.lesson import FACES
from vision.load import Photo
from vision.sets import TileSets


class FakeReader:
    """Sees `rows` of tiles in each photo and remembers the tile sets it was asked to use."""

    def __init__(self, rows: list[int]) -> None:
        self.rows, self.classifier = rows, Network()
        self.asked: list[Any] = []

    def read(self, photo: Photo, deck: str = "auto", debug: Any = None, tile_set: Any = None) -> Reading:
        self.asked.append(tile_set)
        quads = [(20 + 40 * c, 20 + 60 * r) for r, count in enumerate(self.rows) for c in range(count)]
        sightings = tuple(
            Sighting(((x, y), (x + 36, y), (x + 36, y + 50), (x, y + 50)), (Candidate("1m", 0.6),))
            for x, y in quads
        )
        return Reading(photo.name, "mahjong", photo.width, photo.height, sightings)


@pytest.fixture
def reader(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> FakeReader:
    fake = FakeReader([9, 9, 9, 7])
    monkeypatch.setenv("COMPANION_HOME", str(tmp_path / "home"))
    monkeypatch.setitem(
        sys.modules, "vision.reader", SimpleNamespace(Reader=SimpleNamespace(default=lambda: fake))
    )
    return fake


@pytest.fixture
def photo(tmp_path: Path) -> str:
    path = tmp_path / "tiles.png"
    pixels = np.kron(np.random.default_rng(2).integers(0, 255, (30, 40, 3)), np.ones((10, 10, 1)))
    Image.fromarray(pixels.astype(np.uint8)).save(path)
    return str(path)


def test_a_whole_set_in_order_is_learned_and_used(
    reader: FakeReader, photo: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["teach", "my set", photo]) == 0
    out = capsys.readouterr().out
    assert "34 tiles in rows of 9, 9, 9, 7" in out
    assert "row 4, tile 7: read as 1m, now known as 7z" in out
    assert "my set: 34 tiles learned, 34 tiles in all" in out
    assert "read right before: 1 of 34, now: 34 of 34 (the very tiles" in out
    assert [kept.piece for kept in TileSets().get("My Set").kept()] == list(FACES)
    assert main(["read", "--set", "my set", photo]) == 0
    assert reader.asked[-1].name == "my set"


def test_labels_say_what_lies_there(
    reader: FakeReader, photo: str, capsys: pytest.CaptureFixture[str]
) -> None:
    reader.rows = [3, 2]
    assert main(["teach", "mine", photo, photo, "--labels", "123p 55z", "--labels", "789s 11z"]) == 0
    assert [k.piece for k in TileSets().get("mine").kept()] == [
        "1p", "2p", "3p", "5z", "5z", "7s", "8s", "9s", "1z", "1z",
    ]  # fmt: skip
    capsys.readouterr()
    assert main(["teach", "mine", photo, "--labels", "123p"]) == 1
    assert "5 tiles in rows of 3, 2, but 3 labels. Nothing was learned." in capsys.readouterr().err
    assert main(["teach", "mine", photo]) == 1
    assert "say what lies there with --labels" in capsys.readouterr().err
    assert main(["teach", "mine", photo, photo, photo, "--labels", "1p", "--labels", "2p"]) == 2
    assert main(["teach", "mine", photo, "--labels", "1x"]) == 2
    assert main(["teach", "mine", "nowhere.jpg"]) == 1
    assert "Traceback" not in capsys.readouterr().err
    assert len(TileSets().get("mine").kept()) == 10


def test_undo_off_on_forget_and_list(
    reader: FakeReader, photo: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["teach", "--list"]) == 0
    assert "No tile set was taught yet" in capsys.readouterr().out
    assert main(["teach", "a", photo]) == 0
    assert main(["teach", "a", photo]) == 0
    capsys.readouterr()
    assert main(["teach", "--undo", "a"]) == 0
    assert main(["teach", "--off", "a"]) == 0
    assert main(["teach", "--list"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "a: 34 tiles forgotten, 34 tiles left",
        "a is not used any more, but kept",
        "a: 34 tiles, 34 faces, not used",
    ]
    assert main(["teach", "--on", "a"]) == 0 and TileSets().get("a").on
    assert main(["teach", "--forget", "a"]) == 0 and TileSets().all() == []
    assert main(["teach", "--undo", "a"]) == 2
    assert main(["read", "--set", "a", photo]) == 2
    assert main(["teach"]) == 2
    assert main(["teach", "a"]) == 2
    assert "there is no tile set 'a'; known: none yet" in capsys.readouterr().err
