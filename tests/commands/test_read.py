"""`companion read`, with a reader that sees the same tiles in every photo."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from PIL import Image

from companion.cli import main
from companion.commands.read import picture_names
from companion.hand import Meld
from companion.pieces import parse_pieces
from companion.reading import Candidate, Reading, Role, Sighting
from vision.load import Photo
from vision.model import ModelError


def sighting(names: str, confidence: float = 0.99, role: Role = "hand", place: int | None = 0) -> Sighting:
    """A piece with its candidates, best first, such as `"5p 6p"`."""
    candidates = tuple(Candidate(name, confidence / 2**i) for i, name in enumerate(names.split()))
    quad = ((0.0, 0.0), (10.0, 0.0), (10.0, 14.0), (0.0, 14.0))
    row, group = (None, place) if role == "meld" else (place, None)
    return Sighting(quad, candidates, role, row, group)


TABLE = (
    *(sighting(name) for name in ("1m", "2m", "3m")),
    sighting("5p 6p 8p", 0.6, place=1),
    sighting("0p", place=1),
    *[sighting("2s", role="meld")] * 3,
    sighting("7z", role="other", place=None),
    *[sighting("back", role="back", place=None)] * 2,
)


class FakeReader:
    """Sees `sightings` in each photo and remembers how it was asked."""

    def __init__(self, *sightings: Sighting) -> None:
        self.sightings = sightings
        self.asked: list[dict[str, Any]] = []
        self.winning: int | None = None
        self.deck = "mahjong"

    def read(self, photo: Photo, **how: Any) -> Reading:
        self.asked.append(how)
        melds = (Meld("pung", parse_pieces("222s")),) if self.sightings else ()
        warnings = () if self.sightings else ("no tile was found",)
        deck = self.deck if self.sightings else None
        return Reading(
            photo.name,
            deck,
            photo.width,
            photo.height,
            self.sightings,
            melds,
            warnings,
            {"locate": 7.0, "total": 9.0},
            self.winning,
        )


@pytest.fixture
def reader(monkeypatch: pytest.MonkeyPatch) -> FakeReader:
    fake = FakeReader(*TABLE)
    module = SimpleNamespace(Reader=SimpleNamespace(default=lambda: fake))
    monkeypatch.setitem(sys.modules, "vision.reader", module)
    return fake


@pytest.fixture
def photo(tmp_path: Path) -> str:
    path = tmp_path / "my table.png"
    Image.fromarray(np.zeros((48, 64, 3), np.uint8)).save(path)
    return str(path)


def test_json_gives_one_document_a_photo_and_goes_on_after_bad_ones(
    reader: FakeReader, photo: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["read", "--json", "nowhere.jpg", photo, "--deck", "mahjong"]) == 1
    bad, good = map(json.loads, capsys.readouterr().out.splitlines())
    assert bad == {"photo": "nowhere.jpg", "error": "there is no such file"}
    assert good["photo"] == photo
    assert (good["deck"], good["width"], good["height"]) == ("mahjong", 64, 48)
    assert good["hand"] == "123m 05p"
    assert good["melds"] == [{"kind": "pung", "pieces": "222s", "concealed": False}]
    assert len(good["pieces"]) == len(TABLE)
    assert good["pieces"][3]["candidates"][1] == {"piece": "6p", "confidence": 0.3}
    assert good["pieces"][-1]["piece"] == "back"
    assert good["ms"]["total"] == 9.0
    assert reader.asked == [{"deck": "mahjong", "debug": None}]


def test_a_photo_without_tiles_is_no_error(
    reader: FakeReader, photo: str, capsys: pytest.CaptureFixture[str]
) -> None:
    reader.sightings = ()
    assert main(["read", "--json", photo]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["deck"], document["pieces"], document["hand"]) == (None, [], "")
    assert document["warnings"] == ["no tile was found"]
    assert main(["read", photo]) == 0
    text = capsys.readouterr().out
    assert "0 pieces" in text
    assert "no tile was found" in text
    assert "companion score" not in text


def test_a_person_reads_rows_doubts_and_the_next_step(
    reader: FakeReader, photo: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["read", photo]) == 0
    title, *lines = capsys.readouterr().out.splitlines()
    assert title.startswith(f"{photo}: 9 pieces, ")
    assert lines == [
        "  row 1     1m 2m 3m",
        "  row 2     5p? 0p",
        "  meld 1    2s 2s 2s",
        "  others    7z",
        "  face down 2",
        "  doubtful  row 2, piece 1: 5p 60% (or 6p 30%, 8p 15%)",
        '  next      companion score --rules sichuan "123m 05p" --meld "pung 222s"',
    ]


def test_the_game_tells_what_can_lie_there_and_how_to_go_on(
    reader: FakeReader, photo: str, capsys: pytest.CaptureFixture[str]
) -> None:
    reader.deck = "four-color"
    reader.sightings = (sighting("Kr"),)
    game = ["--rules", "fujian", "--option", "copies=5", "--context", "jokers=false"]
    assert main(["read", photo, *game]) == 0
    expectation = reader.asked[0]["expectation"]
    assert (expectation.deck, expectation.copies) == ("four-color", 5)
    assert "Kr" in expectation.pieces and "1j" not in expectation.pieces
    following = [line for line in capsys.readouterr().out.splitlines() if line.startswith("  next")]
    typed = "--option copies=5 --context jokers=false"
    assert following == [
        f'  next      companion score --rules fujian "Kr" --meld "pung 222s" {typed}',
    ]
    reader.deck = "mahjong"  # another deck lies there than the game is played with
    assert main(["read", photo, *game]) == 0
    assert "--rules sichuan" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("game", "fault"),
    [
        (["--rules", "whist"], "there are no rules 'whist'; known: sichuan, fujian, guangshui"),
        (["--rules", "fujian", "--option", "copies=7"], "options.copies: unknown value '7'; known: 4, 5"),
        (["--rules", "fujian", "--option", "speed=7"], "unknown name 'speed'; known: lock_dealt, "),
        (["--option", "copies=5"], "name it with --rules"),
    ],
)
def test_a_game_that_is_not_known_is_refused(
    reader: FakeReader, photo: str, capsys: pytest.CaptureFixture[str], game: list[str], fault: str
) -> None:
    assert main(["read", photo, *game]) == 2
    assert fault in capsys.readouterr().err
    assert reader.asked == []


def test_a_piece_set_apart_is_the_winning_one_of_the_next_step(
    reader: FakeReader, photo: str, capsys: pytest.CaptureFixture[str]
) -> None:
    reader.winning = 2
    assert main(["read", photo]) == 0
    assert capsys.readouterr().out.splitlines()[-1].endswith('"12m 05p" --meld "pung 222s" --win 3m')
    assert main(["read", "--json", photo]) == 0
    assert json.loads(capsys.readouterr().out)["winning"] == 2


def test_errors_for_a_person_go_to_stderr(
    reader: FakeReader, photo: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["read", "nowhere.jpg", photo]) == 1
    output = capsys.readouterr()
    assert output.err == "nowhere.jpg: there is no such file\n"
    assert output.out.startswith(photo)


def test_debug_makes_its_folder(reader: FakeReader, photo: str, tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "debug"
    assert main(["read", photo, "--debug", str(folder)]) == 0
    assert folder.is_dir()
    assert reader.asked[0]["debug"] == folder / Path(photo).stem


def test_photos_of_one_name_leave_pictures_of_their_own() -> None:
    photos = ["a/hand.jpg", "/b/hand.jpg", "b/HAND.jpg", "a/hand.heic", "hand.png", "a/hand.jpg"]
    assert list(picture_names(photos).items()) == [
        ("a/hand.jpg", "hand"),
        ("/b/hand.jpg", "b-hand"),
        ("b/HAND.jpg", "HAND-2"),
        ("a/hand.heic", "a-hand"),
        ("hand.png", "hand-3"),
    ]


def test_debug_where_no_folder_can_be_is_refused(
    reader: FakeReader, photo: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["read", photo, "--debug", photo + "/debug"]) == 2
    assert "no folder" in capsys.readouterr().err


def test_a_missing_model_is_named(
    photo: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def default() -> None:
        raise ModelError("model mahjong-reader is missing")

    module = SimpleNamespace(Reader=SimpleNamespace(default=default))
    monkeypatch.setitem(sys.modules, "vision.reader", module)
    assert main(["read", photo]) == 2
    assert capsys.readouterr().err == "companion read: model mahjong-reader is missing\n"


def test_a_deck_without_models_is_refused(
    photo: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("companion.commands.read.readable_decks", lambda: ("mahjong",))
    assert main(["read", "--deck", "four-color", photo]) == 2
    assert "cannot read the four-color deck; it reads mahjong" in capsys.readouterr().err
