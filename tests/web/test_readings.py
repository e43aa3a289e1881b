"""POST /api/readings: photos in, readings out, and every kind of bad upload."""

from __future__ import annotations

import base64
import io
import logging
import os
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient
from PIL import Image
from werkzeug.test import TestResponse

from companion.reading import Expectation, Reading
from tests.web.fakes import HAND, SampleReader
from vision.load import Photo
from vision.model import ModelError
from vision.reader import Reader
from web import create_app
from web.photos import GIVEN_WAY

SAMPLE = Path(__file__).parents[2] / "web" / "static" / "samples" / "sichuan-hand.jpg"
HEIC = Path(__file__).parents[1] / "data" / "photos" / "turned-6.heic"


def send(client: FlaskClient, data: bytes, name: str = "hand.jpg", **fields: str) -> TestResponse:
    return client.post("/api/readings", data={"photo": (io.BytesIO(data), name), **fields})


def test_a_photo_is_read_and_shown_upright(client: FlaskClient, photo: bytes) -> None:
    answer = send(client, photo)
    assert answer.status_code == 200
    document = answer.get_json()
    assert document["photo"] == "hand.jpg"
    assert [piece["piece"] for piece in document["pieces"][: len(HAND)]] == list(HAND)
    assert document["melds"] == [{"kind": "pung", "pieces": "222p", "concealed": False}]
    kind, _, data = document["preview"].partition(";base64,")
    assert kind == "data:image/jpeg"
    assert Image.open(io.BytesIO(base64.b64decode(data))).size == (320, 240)


def test_a_heic_photo_gets_a_preview_that_browsers_can_show(client: FlaskClient) -> None:
    document = send(client, HEIC.read_bytes(), "IMG_1.HEIC").get_json()
    picture = Image.open(io.BytesIO(base64.b64decode(document["preview"].partition(",")[2])))
    assert picture.format == "JPEG"
    assert picture.size == (document["width"], document["height"])


def test_the_preview_of_a_large_photo_is_small(client: FlaskClient) -> None:
    file = io.BytesIO()
    Image.new("RGB", (4000, 3000)).save(file, "JPEG")
    document = send(client, file.getvalue()).get_json()
    assert (document["width"], document["height"]) == (4000, 3000)
    picture = Image.open(io.BytesIO(base64.b64decode(document["preview"].partition(",")[2])))
    assert picture.size == (1600, 1200)


@pytest.mark.parametrize(
    "data", [b"", b"hello, I am a text", b"%PDF-1.7 ...", b"\xff\xd8\xff\xe0" + bytes(40)]
)
def test_what_is_no_photo_is_refused_with_a_reason(
    client: FlaskClient, reader: SampleReader, data: bytes
) -> None:
    answer = send(client, data)
    assert answer.status_code == 415
    error = answer.get_json()["error"]
    assert error["message"] and error["where"] == "photo"
    assert reader.photos == 0


def test_a_cut_photo_is_refused_and_the_next_one_is_read(client: FlaskClient, photo: bytes) -> None:
    assert send(client, photo[: len(photo) // 3]).status_code == 415
    assert send(client, photo).status_code == 200


def test_a_missing_photo_an_unknown_deck_and_too_much_are_refused(photo: bytes) -> None:
    client = create_app(SampleReader(), {"MAX_CONTENT_LENGTH": 100_000}).test_client()
    assert client.post("/api/readings").get_json()["error"]["where"] == "photo"
    assert client.post("/api/readings", data="x", content_type="multipart/form-data").status_code == 400
    assert client.post("/api/readings", data={"photo": "text"}).status_code == 400
    assert send(client, photo, deck="tarot").get_json()["error"]["where"] == "deck"
    answer = send(client, b"\0" * 200_000)
    assert answer.status_code == 413
    assert "98 kB" in answer.get_json()["error"]["message"]


def test_the_game_tells_which_deck_to_look_for_first(
    client: FlaskClient, reader: SampleReader, photo: bytes
) -> None:
    assert send(client, photo).status_code == 200
    assert (reader.deck, reader.expectation) == ("auto", None)
    assert send(client, photo, rules="guangshui").status_code == 200
    assert reader.deck == "auto" and reader.expectation is not None
    assert (reader.expectation.deck, reader.expectation.sizes) == ("four-color", (30, 31))
    assert "Kr" in reader.expectation.pieces and "1j" not in reader.expectation.pieces
    assert send(client, photo, rules="sichuan", deck="four-color").status_code == 200
    assert reader.deck == "four-color"
    assert reader.expectation == Expectation(sizes=(13, 14), deck="mahjong")
    refused = send(client, photo, rules="whist")
    assert refused.status_code == 400
    assert refused.get_json()["error"] == {
        "message": "there are no rules 'whist'; known: sichuan, fujian, guangshui",
        "where": "rules",
    }
    assert reader.photos == 3


def test_house_rules_and_facts_tell_what_the_deck_holds(
    client: FlaskClient, reader: SampleReader, photo: bytes
) -> None:
    def expected(**fields: str) -> Expectation:
        assert send(client, photo, rules="fujian", **fields).status_code == 200
        assert reader.expectation is not None
        return reader.expectation

    plain = expected()
    assert (plain.copies, plain.sizes, "1j" in plain.pieces) == (4, (20, 21), True)
    long = expected(options='{"copies": 5, "hand_size": 26}', context='{"jokers": false}')
    assert (long.copies, long.sizes, long.pieces) == (5, (25, 26), plain.pieces - {f"{n}j" for n in "12345"})


@pytest.mark.parametrize(
    ("fields", "where"),
    [
        ({"rules": "fujian", "options": "{"}, "options"),
        ({"rules": "fujian", "options": "[]"}, "options"),
        ({"rules": "fujian", "options": '{"copies": [5]}'}, "options"),
        ({"rules": "fujian", "options": '{"copies": 6}'}, "options.copies"),
        ({"rules": "fujian", "context": '{"joker": true}'}, "context"),
        ({"context": '{"jokers": true}'}, "rules"),
    ],
)
def test_settings_that_the_game_does_not_know_are_refused(
    client: FlaskClient, reader: SampleReader, photo: bytes, fields: dict[str, str], where: str
) -> None:
    answer = send(client, photo, **fields)
    assert (answer.status_code, answer.get_json()["error"]["where"]) == (400, where)
    assert reader.photos == 0


class SlowReader(SampleReader):
    """Reads only when told to."""

    def __init__(self) -> None:
        super().__init__()
        self.entered = threading.Semaphore(0)
        self.go = threading.Event()

    def read(self, photo: Photo, deck: str = "auto", expectation: Expectation | None = None) -> Reading:
        self.entered.release()
        assert self.go.wait(60)
        return super().read(photo, deck, expectation)


def test_only_a_few_photos_are_read_at_once(photo: bytes) -> None:
    reader = SlowReader()
    app = create_app(reader, {"READINGS_AT_ONCE": 1, "READING_WAIT_S": 0.05})
    first: list[int] = []
    thread = threading.Thread(target=lambda: first.append(send(app.test_client(), photo).status_code))
    thread.start()
    assert reader.entered.acquire(timeout=60)
    busy = send(app.test_client(), photo)
    reader.go.set()
    thread.join()
    assert busy.status_code == 503
    assert busy.headers["Retry-After"]
    assert first == [200]
    assert send(app.test_client(), photo).status_code == 200


class WatchedReader(SampleReader):
    """Knows how `nice` the thread that reads is."""

    nice: int | None = None

    def read(self, photo: Photo, deck: str = "auto", expectation: Expectation | None = None) -> Reading:
        self.nice = os.getpriority(os.PRIO_PROCESS, threading.get_native_id())
        return super().read(photo, deck, expectation)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lets one thread stand back")
def test_photos_give_way_to_phones_that_follow_a_table(photo: bytes) -> None:
    reader, before = WatchedReader(), os.getpriority(os.PRIO_PROCESS, 0)
    assert send(create_app(reader).test_client(), photo).status_code == 200
    assert reader.nice == min(before + GIVEN_WAY, 19)
    assert os.getpriority(os.PRIO_PROCESS, 0) == before


class BrokenReader:
    def read(self, photo: Photo, deck: str = "auto") -> Any:
        raise RuntimeError("no such tile")


def test_a_fault_of_the_program_is_told_without_its_inside(
    photo: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO):
        answer = send(create_app(BrokenReader()).test_client(), photo, "holiday-with-anna.jpg")
    assert answer.status_code == 500
    assert "no such tile" not in answer.get_data(as_text=True)
    assert "no such tile" in caplog.text  # the operator finds it
    assert "anna" not in caplog.text


def test_without_models_photos_are_refused_and_typed_hands_judged(
    photo: bytes, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def missing() -> Reader:
        raise ModelError("model x is missing from the installation: /home/anna/x.onnx")

    monkeypatch.setattr(Reader, "default", staticmethod(missing))
    client = create_app().test_client()
    answer = send(client, photo)
    assert answer.status_code == 503
    assert "anna" not in answer.get_data(as_text=True)
    assert "x.onnx" in caplog.text
    assert client.post("/api/analyses", json={"rules": "sichuan", "concealed": "11m"}).status_code == 200


def test_where_opencv_cannot_load_photos_are_refused_and_all_else_goes_on(
    client: FlaskClient, photo: bytes, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    for module in ("vision", "vision.load", "vision.sets", "vision.lesson"):
        monkeypatch.setitem(sys.modules, module, None)  # importing it fails
    lesson = {"photo": (io.BytesIO(photo), "set.jpg")}
    for answer in (send(client, photo), client.post("/api/lessons", data=lesson)):
        assert answer.status_code == 503
        assert answer.get_json()["error"]["message"].startswith("This computer cannot read photos")
    assert "vision" in caplog.text
    assert client.get("/api/tables/none").status_code == 404
    assert client.post("/api/analyses", json={"rules": "sichuan", "concealed": "11m"}).status_code == 200


@pytest.mark.parametrize("game", [{}, {"rules": "sichuan"}, {"rules": "fujian"}])
def test_the_shipped_reader_reads_the_sample_photo_whatever_is_played(game: dict[str, str]) -> None:
    document = send(create_app().test_client(), SAMPLE.read_bytes(), SAMPLE.name, **game).get_json()
    assert document["deck"] == "mahjong"
    assert document["hand"] == "56788m 234678p"
    assert [meld["pieces"] for meld in document["melds"]] == ["222p"]
