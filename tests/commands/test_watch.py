"""`companion watch` on folders and videos of frames, with a reader that counts tiles by brightness."""

from __future__ import annotations

import json
import sys
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import cv2
import numpy as np
import pytest

from companion.cli import main
from companion.hand import Meld
from companion.pieces import parse_pieces
from companion.reading import Candidate, Reading, Sighting
from vision import frames
from vision.load import Photo, load_photo

WON = ("2m", "3m", "4m", "5m", "6m", "7m", "8m", "8m", "3p", "4p", "5p")


class FakeReader:
    """Sees a won hand with a meld, without its last pieces in frames darker than half."""

    def __init__(self) -> None:
        self.read_frames = 0
        self.asked: dict[str, Any] = {}
        self.flower = ""
        """A flower that lies left of the row, read with little confidence."""

    def read(self, photo: Photo, **how: Any) -> Reading:
        self.read_frames += 1
        self.asked = how
        names = WON if photo.image.mean() > 128 else WON[:8]

        def tile(name: str, x: float, y: float, group: int | None = None) -> Sighting:
            quad = ((x, y), (x + 40, y), (x + 40, y + 54), (x, y + 54))
            return Sighting(quad, (Candidate(name, 0.98),), "hand" if group is None else "meld", 0, group)

        hand = [tile(name, 80 + 41 * i, 300) for i, name in enumerate(names)]
        if self.flower:
            hand.append(replace(tile("", 39, 300), candidates=(Candidate(self.flower, 0.6),)))
        meld = [tile("2p", 660 + 41 * i, 300, 0) for i in range(3)]
        melds = (Meld("pung", parse_pieces("222p")),)
        return Reading(photo.name, "mahjong", photo.width, photo.height, (*hand, *meld), melds, (), {})


@pytest.fixture
def reader(monkeypatch: pytest.MonkeyPatch) -> FakeReader:
    fake = FakeReader()
    module = SimpleNamespace(Reader=SimpleNamespace(default=lambda: fake))
    monkeypatch.setitem(sys.modules, "vision.reader", module)
    return fake


def picture(level: int) -> np.ndarray:
    """About this bright, and sharp everywhere."""
    grains = np.random.default_rng(1).integers(level - 40, level + 40, (300, 400, 1))
    return grains.repeat(2, 0).repeat(2, 1).repeat(3, 2).astype(np.uint8)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three frames with tiles missing, seven with all of them."""
    at = tmp_path / "frames"
    at.mkdir()
    for number, level in enumerate([60] * 3 + [200] * 7):
        cv2.imwrite(str(at / f"{number:02}.png"), picture(level))
    (at / "notes.txt").write_text("no frame")
    return at


def test_it_says_what_is_missing_and_then_takes_the_shot(
    reader: FakeReader, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["watch", "--source", str(folder), "--once"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("8 of 13 or 14 tiles")
    shot = next(i for i, line in enumerate(lines) if line.startswith("Shot: "))
    assert lines[shot - 1].split("  ")[0] == "14 tiles, sure"
    assert lines[shot] == 'Shot: 23456788m 345p --meld "pung 222p"'
    assert lines[shot + 1].startswith("  Won")
    assert 7 <= reader.read_frames < 10  # it stops then


def test_flowers_beside_the_row_do_not_hold_up_the_shot(
    reader: FakeReader, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    reader.flower = "6f"
    assert main(["watch", "--source", str(folder), "--once"]) == 0
    lines = capsys.readouterr().out.splitlines()
    shot = next(i for i, line in enumerate(lines) if line.startswith("Shot: "))
    assert lines[0].startswith("8 of 13 or 14 tiles + 1 flower")
    assert lines[shot - 1].split("  ")[0] == "14 tiles + 1 flower, sure"
    assert lines[shot] == 'Shot: 23456788m 345p 6f --meld "pung 222p"'
    assert lines[shot + 1].startswith("  Won")


def test_cards_are_watched_as_their_game_allows(
    reader: FakeReader, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    names = [str(piece) for piece in parse_pieces("KAERHCy KAERHCr KAERHCw KKKg")]

    def read(photo: Photo, **how: Any) -> Reading:
        reader.asked = how
        row = [
            Sighting(((x, 300), (x + 30, 300), (x + 30, 350), (x, 350)), (Candidate(name, 0.98),), "hand", 0)
            for x, name in zip(range(40, 775, 35), names, strict=True)
        ]
        return Reading(photo.name, "four-color", photo.width, photo.height, tuple(row))

    monkeypatch.setattr(reader, "read", read)
    game = ["--rules", "fujian", "--option", "copies=5"]
    assert main(["watch", "--source", str(folder), "--once", *game]) == 0
    assert (reader.asked["deck"], reader.asked["expectation"].copies) == ("four-color", 5)
    lines = capsys.readouterr().out.splitlines()
    shot = next(i for i, line in enumerate(lines) if line.startswith("Shot: "))
    assert lines[shot - 1].startswith("21 cards, sure")
    assert lines[shot] == "Shot: KAERHCy KAERHCr KAERHCw KKKg"
    assert lines[shot + 1].startswith("  Won")
    assert "copies 5" in lines[-2]


def test_json_gives_a_document_for_each_change_and_the_shot_is_saved(
    reader: FakeReader, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    saved = tmp_path / "shot.png"
    assert main(["watch", "--source", str(folder / "*.png"), "--json", "--save", str(saved)]) == 0
    documents = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    shots = [document for document in documents if "shot" in document]
    assert len(shots) == 1  # the same hand is taken once
    assert shots[0]["result"]["status"] == "won"
    assert shots[0]["hand"]["melds"] == [{"kind": "pung", "pieces": "222p", "concealed": False}]
    assert shots[0]["saved"] == str(saved)
    assert load_photo(saved).image.mean() > 128
    told = [document["advice"]["kind"] for document in documents if "advice" in document]
    assert told[0] == "few" and told[-1] == "sure"


def test_a_video_is_watched_at_a_few_frames_a_second(reader: FakeReader, tmp_path: Path) -> None:
    video = tmp_path / "look.avi"
    writer = cv2.VideoWriter(str(video), cv2.VideoWriter.fourcc(*"MJPG"), 30, (800, 600))
    for _ in range(30):
        writer.write(picture(200))
    writer.release()
    assert main(["watch", "--source", str(video), "--once"]) == 0
    assert reader.read_frames == 4
    times = [at for at, _ in frames.from_source(str(video))]
    assert times == pytest.approx([i / 6 for i in range(6)])


def test_frames_that_end_too_early_are_told(
    reader: FakeReader, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["watch", "--source", str(folder / "0[0-4].png"), "--once"]) == 1
    assert "before a reading was sure" in capsys.readouterr().err


def test_what_cannot_be_watched_is_told_in_one_line(
    reader: FakeReader, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    letter = tmp_path / "letter.txt"
    letter.write_text("Dear Anna")
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "1.jpg").write_text("no photo")
    for arguments, status, word in (
        (["--source", str(tmp_path / "nothing")], 1, "no frames there"),
        (["--source", str(letter)], 1, "neither a video"),
        (["--source", str(broken)], 1, "not a photo"),
        (["--camera", "99"], 1, "no camera 99"),
        (["--rules", "poker"], 2, "no rules 'poker'"),
        (["--rules", "fujian", "--option", "copies=6"], 2, "known: 4, 5"),
        (["--save", "shot.txt"], 2, "--save takes"),
        (["--save", str(tmp_path / "none" / "shot.jpg")], 2, "no folder"),
    ):
        assert main(["watch", *arguments]) == status
        error = capsys.readouterr().err
        assert word in error and error.count("\n") == 1, arguments


def test_a_camera_gives_its_newest_frame(monkeypatch: pytest.MonkeyPatch) -> None:
    """Frames that waited in the buffer are passed over."""
    now = [0.0]
    grabbed = [0]

    class Camera:
        def isOpened(self) -> bool:
            return True

        def set(self, *_: object) -> bool:
            return True

        def grab(self) -> bool:
            grabbed[0] += 1
            now[0] += 0.001 if grabbed[0] < 4 else 0.03
            return grabbed[0] < 6

        def retrieve(self) -> tuple[bool, np.ndarray]:
            return True, picture(10 * grabbed[0] + 40)

        def release(self) -> None:
            grabbed.append(-1)

    monkeypatch.setattr(cv2, "VideoCapture", lambda index: Camera())
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    seen = []
    with pytest.raises(frames.FramesError, match="no more pictures"):
        for _, photo in frames.from_camera(0):
            seen.append(round(photo.image.mean() / 10))
    assert seen == [8, 9]
    assert grabbed[-1] == -1  # released
