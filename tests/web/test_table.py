"""The live table over HTTP: the whole way of an evening, and everything that must be refused."""

from __future__ import annotations

import csv
import io
import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from PIL import Image
from werkzeug.test import TestResponse

from companion.table.actions import MOST_BYTES
from companion.table.store import MOST_TRIES
from tests.table.conftest import postgres_url, url  # noqa: F401 - fixtures
from tests.table.evenings import FLUSH
from tests.web.fakes import SampleReader
from tests.web.test_openapi import check
from web import create_app

_keys = (f"key-of-a-test-{number:06}" for number in itertools.count())

SICHUAN = {"rules": "sichuan", "players": ["", "", "", ""], "name": "Friday"}


def won(text: str, piece: str, source: str = "discard") -> dict[str, Any]:
    return {"rules": "sichuan", "concealed": text, "winning": {"piece": piece, "from": source}}


def win(seat: int, payer: int | None, number: int = 1) -> dict[str, Any]:
    hand = won(FLUSH, "7m", "wall" if payer is None else "discard")
    return {
        "type": "record",
        "round": number,
        "event": {"type": "win", "hands": {str(seat): hand}, "payer": payer},
    }


class Phone:
    """A visitor with cookies of their own."""

    def __init__(self, app: Flask) -> None:
        self.client: FlaskClient = app.test_client()
        self.table = ""
        self.version = 0

    def post(self, path: str, document: dict[str, Any], **more: Any) -> TestResponse:
        return self.client.post(path, json=document, **more)

    def create(self, name: str = "Anna", **more: Any) -> dict[str, Any]:
        answer = self.post(
            "/api/tables", {"key": next(_keys), "create": SICHUAN | more, "me": {"name": name, "seat": 0}}
        )
        return self._at(answer)

    def join(self, code: str, name: str, seat: int | None) -> dict[str, Any]:
        answer = self.post(
            "/api/tables/join", {"key": next(_keys), "code": code, "me": {"name": name, "seat": seat}}
        )
        return self._at(answer)

    def _at(self, answer: TestResponse) -> dict[str, Any]:
        assert answer.status_code == 200, answer.get_json()
        document: dict[str, Any] = answer.get_json()
        self.table = document["id"]
        return document

    def do(self, action: dict[str, Any], key: str = "", since: int = 0) -> TestResponse:
        document = {"key": key or next(_keys), "action": action, "since": since}
        return self.post(f"/api/tables/{self.table}/actions", document)

    def see(self, since: int = 0) -> dict[str, Any]:
        document: dict[str, Any] = self.client.get(f"/api/tables/{self.table}?since={since}").get_json()
        return document


@pytest.fixture
def app(url: str) -> Iterator[Flask]:  # noqa: F811 - the fixture
    app = create_app(SampleReader(), {"DATABASE_URL": url})
    yield app
    app.extensions["tables"].store.close()


@pytest.fixture
def anna(app: Flask) -> Phone:
    phone = Phone(app)
    phone.create()
    return phone


@pytest.fixture
def bo(app: Flask, anna: Phone) -> Phone:
    phone = Phone(app)
    phone.join(anna.see()["code"], "Bo", 1)
    return phone


def fault(answer: TestResponse, status: int) -> str:
    assert answer.status_code == status, answer.get_data(as_text=True)[:300]
    message: str = answer.get_json()["error"]["message"]
    return message


def test_an_evening(app: Flask, anna: Phone, bo: Phone) -> None:
    code = anna.see()["code"]
    seen = anna.client.post("/api/tables/look", json={"code": code}).get_json()
    assert (seen["id"], seen["names"], seen["joined"]) == (anna.table, ["Anna", "Bo", "", ""], True)
    eve = Phone(app)
    assert eve.join(code.lower(), "Eve", None)["watching"] == ["Eve"]

    tried = bo.post(f"/api/tables/{bo.table}/previews", {"action": win(1, 0)}).get_json()
    (event,) = tried["round"]["events"]
    assert tried["points"] == [-8, 8, 0, 0] and event["outcome"]["results"]["1"]["score"]["base"] == 8
    version = anna.see()["version"]
    told = bo.do(win(1, 0)).get_json()
    assert told["points"] == [-8, 8, 0, 0] and told["open"] == 1 and told["me"]["seat"] == 1

    news = anna.see(version)
    assert news["rounds_from"] == 1 and news["version"] == version + 1
    assert news["rounds"][0]["events"][0]["outcome"]["transfers"][0]["amount"] == 8
    assert anna.see(news["version"]) == {"version": news["version"]}
    assert news["undo"]["number"] == news["version"] and news["undo"]["by"] == "Bo"

    undone = anna.do({"type": "undo", "entry": news["undo"]["number"]}).get_json()
    assert undone["points"] == [0, 0, 0, 0] and undone["rounds"] == [] and undone["redo"] == undone["version"]
    assert anna.do({"type": "undo", "entry": undone["redo"]}).get_json()["points"] == [-8, 8, 0, 0]
    lines = eve.client.get(f"/api/tables/{eve.table}/journal").get_json()["entries"]
    assert [(line["by"], line["type"], line["counts"]) for line in lines][-3:] == [
        ("Bo", "record", True), ("Anna", "undo", False), ("Anna", "undo", True),
    ]  # fmt: skip
    evening = eve.client.get(f"/api/tables/{eve.table}/evening").get_json()
    assert evening["standings"][0] == {"seat": 1, "points": 8, "gain": 8}
    assert evening["settlement"] == [{"payer": 0, "payee": 1, "amount": 8}]
    assert evening["statistics"]["biggest"][0]["earned"] == 8
    (listed,) = eve.client.get("/api/tables").get_json()["evenings"]
    assert (listed["id"], listed["name"], listed["finished"]) == (anna.table, "Friday", False)


def test_files_go_out_and_come_back(app: Flask, anna: Phone, bo: Phone) -> None:
    bo.do(win(1, 0))
    exported = bo.client.get(f"/api/tables/{bo.table}/export.json")
    assert "attachment" in exported.headers["Content-Disposition"]
    rows = list(
        csv.reader(io.StringIO(bo.client.get(f"/api/tables/{bo.table}/export.csv").get_data(as_text=True)))
    )
    assert rows[1][-9:-4] == ["win", "Anna", "Bo", "8", "win: all-pungs, full-flush"]
    eve = Phone(app)
    path = f"/api/tables/import?key={next(_keys)}&name=Eve"
    data, kind = exported.get_data(), "application/json"
    brought = eve.client.post(path, data=data, content_type=kind).get_json()
    assert brought["id"] != bo.table and brought["points"] == [-8, 8, 0, 0] and brought["me"]["host"]
    assert eve.client.post(path, data=data, content_type=kind).get_json()["id"] == brought["id"]
    # What stands in the file opens no doors: neither its members nor its keys.
    stolen = json.loads(data)["entries"][0]["key"]
    again = eve.post("/api/tables", {"key": stolen, "create": SICHUAN, "me": {"name": "Eve"}}).get_json()
    assert again["id"] not in (bo.table, brought["id"])
    for data in (b"{}", b"[", b"\xff" * 100):
        fault(
            eve.client.post(f"/api/tables/import?key={next(_keys)}&name=Eve", data=data, content_type=kind),
            400,
        )
    huge = b"[" * (9 * 1024 * 1024)
    fault(eve.client.post(path, data=huge, content_type=kind), 413)


def test_a_request_that_comes_twice_counts_once(app: Flask) -> None:
    phone = Phone(app)
    document = {"key": next(_keys), "create": SICHUAN, "me": {"name": "Anna", "seat": 2}}
    first = phone.post("/api/tables", document).get_json()
    lost = Phone(app)  # the answer, and the cookie in it, never arrived
    assert lost.post("/api/tables", document).get_json() == first
    phone.table, once = first["id"], next(_keys)
    told = phone.do(win(1, 0), once).get_json()
    assert phone.do(win(1, 0), once).get_json()["version"] == told["version"]
    assert "something else" in fault(phone.do(win(2, 0), once), 409)


def test_the_qr_code_leads_to_the_table(app: Flask, anna: Phone) -> None:
    code = anna.see()["code"]
    assert anna.see()["join"] == f"http://localhost/table#{code}"
    answer = anna.client.get(f"/api/tables/{anna.table}/qr.svg")
    assert (
        answer.mimetype == "image/svg+xml"
        and b"<svg" in answer.get_data()
        and b"style" not in answer.get_data()
    )
    app.config["LAN_ADDRESS"] = "http://192.0.2.7:8000/"
    assert anna.see()["join"] == f"http://192.0.2.7:8000/table#{code}"


def test_answers_are_as_described(app: Flask, anna: Phone, bo: Phone) -> None:
    description = anna.client.get("/api/openapi.json").get_json()
    code, path = anna.see()["code"], "/api/tables/{table}"
    acted = bo.do({"type": "deal", "round": 1, "facts": {"exchange": "left"}, "seats": {"0": {"void": "s"}}})
    end = {
        "type": "wall-end",
        "hands": {str(seat): {"rules": "sichuan", "concealed": "1s"} for seat in (0, 2, 3)},
    }
    for told, method, answer in (
        (f"{path}/actions", "post", acted),
        (f"{path}/previews", "post", bo.post(f"/api/tables/{bo.table}/previews", {"action": win(1, 0)})),
        (f"{path}/actions", "post", bo.do(win(1, 0))),
        (f"{path}/actions", "post", bo.do({"type": "record", "round": 1, "event": end})),
        (f"{path}/actions", "post", bo.do(win(1, 1))),
        ("/api/tables", "get", anna.client.get("/api/tables")),
        ("/api/tables/look", "post", anna.post("/api/tables/look", {"code": code})),
        ("/api/tables/look", "post", anna.post("/api/tables/look", {"code": "AAAAAA"})),
        (path, "get", anna.client.get(f"/api/tables/{anna.table}")),
        (path, "get", anna.client.get(f"/api/tables/{anna.table}?since={anna.see()['version']}")),
        (path, "get", anna.client.get("/api/tables/none")),
        (f"{path}/journal", "get", anna.client.get(f"/api/tables/{anna.table}/journal")),
        (f"{path}/evening", "get", anna.client.get(f"/api/tables/{anna.table}/evening")),
        (f"{path}/photos", "get", anna.client.get(f"/api/tables/{anna.table}/photos")),
        (f"{path}/export.json", "get", anna.client.get(f"/api/tables/{anna.table}/export.json")),
        (path, "delete", anna.client.delete(f"/api/tables/{anna.table}")),
    ):
        check(description, told, method, answer)


# ---- what is refused ----


def test_nobody_reads_or_changes_a_foreign_table(app: Flask, anna: Phone) -> None:
    stranger = Phone(app)
    stranger.create("Sam")
    own, stranger.table = stranger.table, anna.table
    paths = ("", "/journal", "/evening", "/export.json", "/export.csv", "/qr.svg", "/photos", "/photos/x.jpg")
    for path in paths:
        missing = fault(stranger.client.get(f"/api/tables/none{path}"), 404)
        assert fault(stranger.client.get(f"/api/tables/{anna.table}{path}"), 404) == missing  # tells nothing
    before = anna.see()
    for answer in (
        stranger.do(win(1, 0)),
        stranger.do({"type": "join", "member": "x", "name": "X"}),
        stranger.post(f"/api/tables/{anna.table}/previews", {"action": win(1, 0)}),
        stranger.client.delete(f"/api/tables/{anna.table}"),
        stranger.client.delete(f"/api/tables/{anna.table}/photos"),
        stranger.client.delete(f"/api/tables/{anna.table}/photos/x"),
        stranger.client.post(f"/api/tables/{anna.table}/photos", data={"photo": (io.BytesIO(b"x"), "x.jpg")}),
    ):
        fault(answer, 404)
    assert anna.see() == before
    assert own != anna.table


def test_a_forged_cookie_is_no_cookie(app: Flask, anna: Phone) -> None:
    cookie = anna.client.get_cookie("tables")
    assert cookie is not None and cookie.http_only and cookie.same_site == "Lax"
    payload, signature = cookie.value.rsplit(".", 1)
    for forged in (f"{payload}.{signature[:-2]}AA", payload, f"{payload[:-4]}AAAA.{signature}", "x", ""):
        stranger = Phone(app)
        stranger.table = anna.table
        stranger.client.set_cookie("tables", forged)
        fault(stranger.do(win(1, 0)), 404)
    thief = Phone(app)  # the whole cookie is the right to act, so scripts cannot read it
    thief.table = anna.table
    thief.client.set_cookie("tables", cookie.value)
    assert thief.do(win(1, 0)).status_code == 200


def test_only_the_host_may_do_the_hosts_things(anna: Phone, bo: Phone) -> None:
    (anna_is,) = [each["member"] for each in anna.see()["people"] if each["name"] == "Anna"]
    for answer in (
        bo.do({"type": "finish"}),
        bo.do({"type": "host", "member": "x"}),
        bo.do({"type": "describe", "name": "Mine"}),
        bo.client.delete(f"/api/tables/{bo.table}"),
        bo.client.delete(f"/api/tables/{bo.table}/photos"),
    ):
        assert "host" in fault(answer, 403)
    (me,) = [each for each in anna.see()["people"] if each["name"] == "Bo"]
    assert bo.see()["people"] == []
    bo_is = bo.do({"type": "join", "member": me["member"], "name": "Bob", "seat": 1}).get_json()
    assert bo_is["names"][1] == "Bob"
    assert not anna.do({"type": "host", "member": me["member"]}).get_json()["me"]["host"]
    assert "host" in fault(anna.do({"type": "finish"}), 403)
    assert bo.do({"type": "host", "member": anna_is}).get_json()["host"] == "Anna"
    assert anna.do({"type": "finish"}).get_json()["finished"]
    assert anna.client.delete(f"/api/tables/{anna.table}").status_code == 200
    fault(bo.client.get(f"/api/tables/{bo.table}"), 404)


def test_codes_cannot_be_guessed(app: Flask, anna: Phone) -> None:
    code = anna.see()["code"]
    guesser = app.test_client()

    def guess(text: Any, address: str = "192.0.2.9") -> TestResponse:
        return guesser.post("/api/tables/look", json={"code": text}, environ_base={"REMOTE_ADDR": address})

    for _ in range(MOST_TRIES):
        assert "No table has this code" in fault(guess("AAAAAA"), 404)
    assert "Too many" in fault(guess("AAAAAA"), 429)
    assert "Too many" in fault(guess(code), 429)
    assert guess(code, "192.0.2.10").status_code == 200
    fault(guess({"$gt": ""}, "192.0.2.11"), 400)


def test_nobody_fills_the_disk(app: Flask, anna: Phone, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("web.table.MOST_OPENED", 2)
    monkeypatch.setattr("web.table.MOST_PHOTOS", 1)
    away = {"REMOTE_ADDR": "192.0.2.77"}
    opening = {"create": SICHUAN, "me": {"name": "Anna", "seat": 0}}
    client = app.test_client()
    answers = [
        client.post("/api/tables", json=opening | {"key": next(_keys)}, environ_base=away) for _ in range(3)
    ]
    assert [answer.status_code for answer in answers] == [200, 200, 429]
    form = {"round": "1", "seat": "0"}
    path = f"/api/tables/{anna.table}/photos"
    assert anna.client.post(path, data=form | {"photo": (picture(), "a.jpg")}).status_code == 200
    assert "delete some" in fault(anna.client.post(path, data=form | {"photo": (picture(), "a.jpg")}), 400)


def test_other_sites_cannot_act_for_a_visitor(anna: Phone) -> None:
    before = anna.see()["version"]
    path = f"/api/tables/{anna.table}/actions"
    document = {"key": next(_keys), "action": win(1, 0), "since": 0}
    for headers in (
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ):
        assert "Only the page" in fault(anna.post(path, document, headers=headers), 403)
    # A form can send text, but no JSON.
    fault(anna.client.post(path, data=json.dumps(document), content_type="text/plain"), 400)
    fault(anna.client.post(path, data={"key": "x" * 20}), 400)
    fault(
        anna.client.post(f"/api/tables/import?key={'k' * 20}&name=E", data="{}", content_type="text/plain"),
        400,
    )
    assert anna.see()["version"] == before
    assert anna.post(path, document, headers={"Origin": "http://localhost"}).status_code == 200


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"key": "short", "action": {}}, "key"),
        ({"key": "k" * 20}, "action is missing"),
        ({"key": "k" * 20, "action": {"type": "bribe"}}, "type"),
        (
            {"key": "k" * 20, "action": {"type": "create", "rules": "sichuan", "players": ["", ""]}},
            "one table only",
        ),
        ({"key": "k" * 20, "action": win(1, 1)}, "cannot pay itself"),
        ({"key": "k" * 20, "action": {"type": "undo", "entry": 10**9}}, "Entry"),
        ({"key": "k" * 20, "action": {"type": "describe", "name": "x" * MOST_BYTES}}, ""),
    ],
)
def test_wrong_actions_are_told(anna: Phone, document: dict[str, Any], message: str) -> None:
    answer = anna.post(f"/api/tables/{anna.table}/actions", document)
    assert answer.status_code in (400, 413)
    assert message in answer.get_json()["error"]["message"]
    fault(
        anna.client.post(f"/api/tables/{anna.table}/actions", data=b"{", content_type="application/json"), 400
    )


def test_pages_are_served_without_inline_code(anna: Phone) -> None:
    for path in ("/table", f"/table/{anna.table}", "/table/none"):
        page = anna.client.get(path)
        assert page.status_code == 200
        assert "default-src 'none'" in page.headers["Content-Security-Policy"]
        text = page.get_data(as_text=True)
        assert " style=" not in text and "onclick" not in text and "<script>" not in text


# ---- photos ----


def picture(size: tuple[int, int] = (320, 240)) -> io.BytesIO:
    file = io.BytesIO()
    image = Image.new("RGB", size, (30, 90, 60))
    exif = image.getexif()
    exif[0x010F] = "A camera"
    image.save(file, "JPEG", exif=exif)
    file.seek(0)
    return file


def test_photos_of_rounds_are_kept_by_choice_and_deletable(anna: Phone, bo: Phone) -> None:
    path = f"/api/tables/{bo.table}/photos"
    form = {"photo": (picture(), "../../etc/passwd"), "round": "1", "seat": "1"}
    kept = bo.client.post(path, data=form).get_json()["id"]
    assert anna.client.get(path).get_json() == {"photos": [{"id": kept, "round": 1, "seat": 1}]}
    shown = anna.client.get(f"{path}/{kept}.jpg")
    assert shown.mimetype == "image/jpeg" and b"A camera" not in shown.get_data()
    assert Image.open(io.BytesIO(shown.get_data())).size == (320, 240)
    assert bo.client.delete(f"{path}/{kept}").get_json() == {"photos": []}
    key = next(_keys)
    sent = [
        bo.client.post(path, data={"photo": (picture(), "a.jpg"), "round": "1", "key": key}) for _ in range(2)
    ]
    assert sent[0].get_json() == sent[1].get_json() != {"id": kept}
    assert len(anna.client.get(path).get_json()["photos"]) == 1
    assert anna.client.delete(path).get_json() == {"photos": []}


def test_photos_that_are_none_are_refused(app: Flask, anna: Phone, tmp_path: Path) -> None:
    path = f"/api/tables/{anna.table}/photos"

    def send(data: bytes, **more: Any) -> TestResponse:
        return anna.client.post(path, data={"photo": (io.BytesIO(data), "x.jpg"), "round": "1", **more})

    fault(send(b"no photo"), 415)
    fault(send(b"\xff\xd8" + b"0" * (9 * 1024 * 1024)), 413)
    bomb = io.BytesIO()
    Image.new("1", (30_000, 30_000)).save(bomb, "PNG")
    assert bomb.tell() < 2_000_000
    fault(send(bomb.getvalue()), 415)
    fault(send(picture().getvalue(), round="99"), 400)
    fault(send(picture().getvalue(), seat="7"), 400)
    fault(send(picture().getvalue(), key="short"), 400)
    fault(anna.client.post(path, data={}), 400)
    eve = Phone(app)
    eve.join(anna.see()["code"], "Eve", None)
    fault(eve.client.post(path, data={"photo": (picture(), "x.jpg"), "round": "1"}), 403)
    for name in ("..%2f..%2fetc%2fpasswd", "%00", "x" * 300):
        assert anna.client.get(f"{path}/{name}.jpg").status_code == 404


def test_a_database_that_fails_is_told_without_its_address(caplog: pytest.LogCaptureFixture) -> None:
    app = create_app(SampleReader(), {"DATABASE_URL": "postgresql://u:secret@127.0.0.1:1/x"})
    answer = app.test_client().get("/api/tables")
    assert "cannot keep tables" in fault(answer, 503)
    assert "secret" not in answer.get_data(as_text=True) + caplog.text
