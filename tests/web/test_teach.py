"""The teaching page and its calls: what is kept, what is refused, what a reading is asked to use."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flask.testing import FlaskClient
from PIL import Image
from werkzeug.test import TestResponse

from companion.reading import Expectation, Reading
from tests.web.fakes import Network, SampleReader
from vision.load import Photo
from vision.sets import TileSets
from web import create_app


class TaughtReader(SampleReader):
    """Remembers the tile sets it was asked to use."""

    def __init__(self) -> None:
        super().__init__()
        self.classifier, self.asked = Network(), []  # type: ignore[var-annotated]

    def read(
        self,
        photo: Photo,
        deck: str = "auto",
        expectation: Expectation | None = None,
        tile_set: Any = None,
    ) -> Reading:
        self.asked.append(tile_set and tile_set.name)
        return super().read(photo, deck, expectation)


@pytest.fixture
def taught() -> TaughtReader:
    return TaughtReader()


@pytest.fixture
def client(taught: TaughtReader, tmp_path: Path) -> FlaskClient:
    return create_app(taught, {"COMPANION_HOME": tmp_path}).test_client()


@pytest.fixture
def photo() -> bytes:
    pixels = np.kron(np.random.default_rng(2).integers(0, 255, (60, 80, 3)), np.ones((10, 10, 1)))
    file = io.BytesIO()
    Image.fromarray(pixels.astype(np.uint8)).save(file, "PNG")
    return file.getvalue()


def lesson(client: FlaskClient, key: str, photo: bytes, tiles: Any) -> TestResponse:
    data = {"photo": (io.BytesIO(photo), "a.png"), "tiles": json.dumps(tiles)}
    return client.post(f"/api/sets/{key}/lessons", data=data)


def make(client: FlaskClient, name: str = "mine") -> str:
    key: str = client.post("/api/sets", json={"name": name}).get_json()["key"]
    return key


def test_from_a_photo_to_a_set_in_use(client: FlaskClient, taught: TaughtReader, photo: bytes) -> None:
    assert client.get("/api/sets").get_json() == {"sets": []}
    key = make(client)
    found = client.post("/api/lessons", data={"photo": (io.BytesIO(photo), "a.png")}).get_json()
    assert len(found["tiles"]) == 15 and found["preview"].startswith("data:image/jpeg")
    assert {"quad", "row", "label", "piece"} <= set(found["tiles"][0])
    tiles = [{"piece": tile["label"], "quad": tile["quad"]} for tile in found["tiles"]]
    tiles[0]["piece"] = "9s"
    told = lesson(client, key, photo, tiles).get_json()
    assert (told["name"], told["tiles"], told["on"]) == ("mine", 15, True)
    assert told["measure"]["tiles"] == 15 and not told["measure"]["held_out"]
    assert told["measure"]["after"] > told["measure"]["before"]

    data = {"photo": (io.BytesIO(photo), "b.png"), "set": key}
    assert client.post("/api/readings", data=data).get_json()["warnings"] == []
    assert taught.asked == [None, "mine"]
    assert client.post(f"/api/sets/{key}/undo").get_json()["tiles"] == 0
    assert client.delete(f"/api/sets/{key}").get_json() == {"sets": []}
    data = {"photo": (io.BytesIO(photo), "b.png"), "set": key}
    (warning,) = client.post("/api/readings", data=data).get_json()["warnings"]
    assert "not kept any more" in warning and taught.asked[-1] is None


def test_corrections_are_kept_listed_shown_and_deleted(
    client: FlaskClient, photo: bytes, tmp_path: Path
) -> None:
    key = make(client)
    correction = {"piece": "5p", "quad": [[20, 20], [60, 20.5], [60, 80], [20, 80]], "photo": "k3-1"}
    for _ in range(2):
        data = {"picture": (io.BytesIO(photo), "piece.png"), "correction": json.dumps(correction)}
        told = client.post(f"/api/sets/{key}/corrections", data=data).get_json()
    assert told["tiles"] == 2
    listed = client.get(f"/api/sets/{key}/pictures").get_json()["pictures"]
    assert [(one["piece"], one["source"]) for one in listed] == [("5p", "correction")] * 2
    assert listed[0]["key"] == told["picture"]
    shown = client.get(f"/api/sets/{key}/pictures/{told['picture']}.png")
    assert shown.mimetype == "image/png" and Image.open(io.BytesIO(shown.data)).size == (80, 80)
    shown.close()
    assert client.delete(f"/api/sets/{key}/pictures/{told['picture']}").get_json()["tiles"] == 1
    assert client.delete(f"/api/sets/{key}/pictures/{told['picture']}").status_code == 400
    assert client.delete(f"/api/sets/{key}/pictures").get_json()["tiles"] == 0
    assert client.get(f"/api/sets/{key}/pictures/{told['picture']}.png").status_code == 404
    # Photos themselves are kept nowhere.
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["set.json"]


def test_a_set_is_switched_off_and_on(client: FlaskClient, tmp_path: Path) -> None:
    key = make(client)
    assert client.put(f"/api/sets/{key}/switch", json={"on": False}).get_json()["on"] is False
    assert not TileSets(tmp_path).get("mine").on
    assert client.put(f"/api/sets/{key}/switch", json={"on": True}).get_json()["on"] is True
    assert client.put(f"/api/sets/{key}/switch", json={"on": "no"}).status_code == 400


@pytest.mark.parametrize("tiles", [None, [], "x", [{"piece": "1m"}], [{"piece": "1x", "quad": [[0, 0]] * 4}],
    [{"piece": "1m", "quad": [[0, 0], [1, 0], [1, 1], [1e300, 1]]}]])  # fmt: skip
def test_lessons_that_make_no_sense_are_refused(client: FlaskClient, photo: bytes, tiles: Any) -> None:
    key = make(client)
    answer = lesson(client, key, photo, tiles)
    assert answer.status_code == 400 and answer.get_json()["error"]["message"]
    assert client.get("/api/sets").get_json()["sets"][0]["tiles"] == 0


def test_bad_requests_get_a_reason_and_no_traceback(client: FlaskClient, photo: bytes) -> None:
    key = make(client)
    tile = {"piece": "1m", "quad": [[0, 0], [9, 0], [9, 9], [0, 9]]}
    assert lesson(client, key, b"no photo", [tile]).status_code == 415
    assert lesson(client, "0" * 16, photo, [tile]).status_code == 400
    assert lesson(client, "..", photo, [tile]).status_code in (400, 404)
    assert client.post(f"/api/sets/{key}/lessons").status_code == 400
    assert client.post("/api/lessons").status_code == 415
    assert client.post("/api/sets", json={"name": " "}).status_code == 400
    assert client.post("/api/sets", data=b"{").status_code == 400
    assert client.post("/api/sets", json={"name": "x" * 9000}).status_code == 413
    assert client.get("/api/sets/nothing/pictures").status_code == 400
    # A quad without any area shows nothing, and breaks nothing.
    assert lesson(client, key, photo, [{"piece": "1m", "quad": [[5, 5]] * 4}]).status_code in (200, 400)


def test_other_web_sites_are_refused(client: FlaskClient) -> None:
    elsewhere = {"Origin": "https://elsewhere.example"}
    assert client.post("/api/sets", json={"name": "x"}, headers=elsewhere).status_code == 403
    assert (
        client.post("/api/sets", json={"name": "x"}, headers={"Origin": "http://localhost"}).status_code
        == 200
    )


def test_the_page_needs_nothing_from_elsewhere(client: FlaskClient) -> None:
    import re

    answer = client.get("/teach")
    page = answer.get_data(as_text=True)
    assert answer.status_code == 200 and "Learn from my corrections" in page
    assert not re.search(r"https?://|<script(?![^>]* src=)|<style| style=| on[a-z]+=", page)
    for link in re.findall(r'(?:src|href)="(/[^"]+)"', page):
        assert client.get(link).status_code == 200, link
