"""POST /api/frames: a live preview, frame by frame, whose state the browser carries."""

from __future__ import annotations

import io
import json
import threading
from pathlib import Path
from typing import Any, ClassVar

import cv2
import numpy as np
import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from companion.pieces import parse_pieces
from companion.reading import Candidate, Expectation, Reading, Sighting
from tests.web.fakes import HAND, SampleReader
from tests.web.test_readings import SlowReader, send
from vision.load import Photo
from vision.sets import TileSet, TileSets
from vision.steady import FRAMES_FULL, FRAMES_SHORT
from web import create_app


class SureReader(SampleReader):
    """The sample hand without a doubt."""

    def read(self, photo: Photo, deck: str = "auto", expectation: Expectation | None = None) -> Reading:
        reading = super().read(photo, deck, expectation)
        sure = tuple(
            type(s)(s.quad, (Candidate(s.piece, 0.99),), s.role, s.row, s.group) for s in reading.sightings
        )
        return Reading(
            reading.photo, reading.deck, reading.width, reading.height, sure, reading.melds, (), {}
        )


@pytest.fixture(scope="module")
def frame() -> bytes:
    """A bright and sharp frame."""
    grains = np.random.default_rng(1).integers(90, 220, (360, 480, 1)).repeat(2, 0).repeat(2, 1).repeat(3, 2)
    return cv2.imencode(".jpg", grains.astype(np.uint8), [cv2.IMWRITE_JPEG_QUALITY, 80])[1].tobytes()


def show(client: FlaskClient, data: bytes, at: Any = 1.0, state: str = "", **fields: str) -> TestResponse:
    fields = {"at": str(at), "state": state, "rules": "sichuan", **fields}
    return client.post("/api/frames", data={"frame": (io.BytesIO(data), "frame.jpg"), **fields})


def test_some_frames_that_agree_make_a_shot_whichever_process_reads_them(frame: bytes) -> None:
    state, told = "", []
    for number in range(FRAMES_FULL):
        client = create_app(SureReader()).test_client()  # each time another one
        document = show(client, frame, 1 + number / 5, state).get_json()
        told.append((document["advice"]["kind"], document["sure"], document["progress"]))
        state = document["state"]
    assert told == [("hold", False, 0.25), ("hold", False, 0.5), ("hold", False, 0.75), ("sure", True, 1.0)]
    assert [piece["piece"] for piece in document["pieces"][: len(HAND)]] == list(HAND)
    assert document["melds"] == [{"kind": "pung", "pieces": "222p", "concealed": False}]
    assert (document["width"], document["height"]) == (960, 720)
    assert len(state) < 10_000


def test_a_doubtful_piece_is_named(client: FlaskClient, frame: bytes) -> None:
    state = ""
    for number in range(FRAMES_FULL + 2):
        document = show(client, frame, 1 + number / 5, state).get_json()
        state = document["state"]
    assert document["advice"]["kind"] == "doubtful" and not document["sure"]
    assert document["advice"]["pieces"] == ["4p", "5p"]


def test_frames_are_read_with_the_taught_set_in_use(frame: bytes, tmp_path: Path) -> None:
    class TaughtReader(SampleReader):
        asked: ClassVar[list[str | None]] = []

        def read(
            self,
            photo: Photo,
            deck: str = "auto",
            expectation: Expectation | None = None,
            tile_set: TileSet | None = None,
        ) -> Reading:
            self.asked.append(tile_set.name if tile_set else None)
            return super().read(photo, deck, expectation)

    client = create_app(TaughtReader(), {"COMPANION_HOME": tmp_path}).test_client()
    key = TileSets(tmp_path).make("Grandma's").key
    for chosen in (key, "", "gone"):
        assert show(client, frame, set=chosen).status_code == 200
    assert TaughtReader.asked == ["Grandma's", None, None]


class CardReader(SampleReader):
    """Sees the twenty cards that lie in one row."""

    def read(self, photo: Photo, deck: str = "auto", expectation: Expectation | None = None) -> Reading:
        super().read(photo, deck, expectation)
        names = [str(piece) for piece in parse_pieces("KAERHCy KAERHCr KAERHCw Kg 1j")]
        row = [
            Sighting(((x, 300), (x + 36, 300), (x + 36, 360), (x, 360)), (Candidate(name, 0.99),), "hand", 0)
            for x, name in zip(range(20, 860, 42), names, strict=True)
        ]
        return Reading("frame", "four-color", photo.width, photo.height, tuple(row))


def test_cards_are_looked_for_where_a_game_of_cards_is_played(frame: bytes) -> None:
    reader, state = CardReader(), ""
    for number in range(FRAMES_SHORT):
        client = create_app(reader).test_client()
        game = {"rules": "fujian", "options": '{"hand_size": 21}', "context": '{"jokers": true}'}
        document = show(client, frame, 1 + number / 5, state, **game).get_json()
        state = document["state"]
    assert document["sure"] and document["hand"] == "KAERHCy KAERHCr KAERHCw Kg 1j"
    assert (document["advice"]["count"], document["advice"]["text"]) == (20, "20 cards, sure")
    assert reader.deck == "four-color" and reader.expectation is not None
    assert (reader.expectation.sizes, "1j" in reader.expectation.pieces) == ((20, 21), True)


def test_the_dark_is_told(client: FlaskClient) -> None:
    black = cv2.imencode(".jpg", np.zeros((720, 960, 3), np.uint8))[1].tobytes()
    assert show(client, black).get_json()["advice"]["kind"] == "dark"


def track(**changes: Any) -> dict[str, Any]:
    return {"quad": [[0, 0], [9, 0], [9, 9], [0, 9]], "logs": {"1m": -0.1, "": -7}, "seen": 1.0} | changes


def state_of(*tracks: Any, **changes: Any) -> str:
    plain = {"frames": 1.0, "at": 1.0, "hand": "", "held": 0, "told": "few", "due": "few"}
    return json.dumps({"tracks": tracks, **plain} | changes)


@pytest.mark.parametrize(
    "state",
    [
        "nonsense",
        "[]",
        "{}",
        "null",
        state_of(None),
        state_of(track(logs={"<b>": -1})),
        state_of(track(logs={})),
        state_of(track(logs={"1m": 1e308})),
        state_of(track(quad=[[0, 0]])),
        state_of(track(quad=[[0, 0], [9, 0], [1e300, 9], [0, 9]])),
        state_of(track(seen=float("nan"))),
        state_of(told="rich"),
        state_of(*[track()] * 201),
        state_of(frames="many"),
        state_of(track(logs={"Kr": -0.1})),
        state_of(track(), deck="four-color"),
        state_of(deck="tarot"),
    ],
)
def test_a_state_of_nobodys_making_is_refused(client: FlaskClient, frame: bytes, state: str) -> None:
    answer = show(client, frame, state=state)
    assert answer.status_code == 400
    assert answer.get_json()["error"]["where"] == "state"


@pytest.mark.parametrize(
    "state",
    [
        state_of(),
        state_of(track(quad=[[5, 5]] * 4)),
        state_of(track(quad=[[0, 0], [9, 9], [9, 0], [0, 9]], seen=0)),
        state_of(track(logs={"": -1000}), frames=0),
        state_of(*[track(quad=[[-1e4, 0], [1e4, 0], [1e4, 1e4], [0, 1e4]], seen=100)] * 200),
    ],
)
def test_a_state_that_makes_no_sense_does_no_harm(client: FlaskClient, frame: bytes, state: str) -> None:
    assert show(client, frame, state=state).status_code == 200


def test_other_bad_fields_are_told_with_their_place(client: FlaskClient, frame: bytes) -> None:
    assert client.post("/api/frames", data={"at": "1"}).get_json()["error"]["where"] == "frame"
    for at in ("", "now", "nan", "inf", "-1"):
        assert show(client, frame, at).get_json()["error"]["where"] == "at", at
    assert show(client, frame, rules="poker").get_json()["error"]["where"] == "rules"
    assert show(client, frame, options='{"cap": 9}').get_json()["error"]["where"] == "options.cap"
    answer = show(client, b"no picture")
    assert (answer.status_code, answer.get_json()["error"]["where"]) == (415, "frame")
    large = cv2.imencode(".jpg", np.zeros((40, 2200, 3), np.uint8))[1].tobytes()
    assert show(client, large).status_code == 415
    assert show(client, b"\0" * 3_000_000).status_code == 413


def test_frames_leave_a_turn_to_photos(frame: bytes, photo: bytes) -> None:
    """Two previews and a photo on a server with two turns: one preview waits, the photo does not."""
    reader = SlowReader()
    app = create_app(reader)
    answers: dict[str, int] = {}

    def ask(name: str) -> None:
        client = app.test_client()
        answer = send(client, photo) if name == "photo" else show(client, frame)
        answers[name] = answer.status_code

    threads = {name: threading.Thread(target=ask, args=(name,)) for name in ("first", "second", "photo")}
    threads["first"].start()
    assert reader.entered.acquire(timeout=60)
    threads["second"].start()
    threads["second"].join()
    assert answers == {"second": 503}
    threads["photo"].start()
    assert reader.entered.acquire(timeout=60)
    reader.go.set()
    for thread in threads.values():
        thread.join()
    assert answers == {"first": 200, "second": 503, "photo": 200}
