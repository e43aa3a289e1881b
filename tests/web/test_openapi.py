"""The API's description is valid, and what the API answers is what the description says."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]
from openapi_spec_validator import validate
from werkzeug.test import TestResponse

from tests.web.test_analyses import HAND
from tests.web.test_teach import TaughtReader
from web import create_app


@pytest.fixture
def description(client: FlaskClient) -> dict[str, Any]:
    document: dict[str, Any] = client.get("/api/openapi.json").get_json()
    return document


def check(description: dict[str, Any], path: str, method: str, answer: TestResponse) -> None:
    """The answer's status is described and its document fits the schema."""
    told = description["paths"][path][method]["responses"][str(answer.status_code)]
    schema = told["content"]["application/json"]["schema"]
    Draft202012Validator({**schema, "components": description["components"]}).validate(answer.get_json())


def routes(app: Flask) -> Iterator[tuple[str, str]]:
    """Every call under `/api/`, whatever feature answers it: path in OpenAPI's form, and method."""
    for rule in app.url_map.iter_rules():
        if rule.rule.startswith("/api/"):
            for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}:
                yield re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", rule.rule), method.lower()


def test_the_description_is_valid_and_complete(app: Flask, description: dict[str, Any]) -> None:
    validate(description)
    described = {(path, method) for path, operations in description["paths"].items() for method in operations}
    assert described == set(routes(app)) - {("/api/openapi.json", "get")}
    names = [one["operationId"] for path in description["paths"].values() for one in path.values()]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize(
    "hand",
    [
        HAND,
        {"rules": "sichuan", "concealed": "1112345678999m"},
        {"rules": "sichuan", "concealed": "147m 258p 369s 1122m 5p"},
        {"rules": "sichuan", "concealed": "111222333m 11p", "melds": [{"kind": "kong", "pieces": "9999p"}]},
        {"rules": "sichuan", "concealed": "11z"},
        {"rules": "sichuan", "concealed": "11m", "winning": None},
        {"rules": "sichuan", "concealed": "1x"},
        {"concealed": "11m"},
    ],
)
def test_analyses_are_as_described(
    client: FlaskClient, description: dict[str, Any], hand: dict[str, Any]
) -> None:
    check(description, "/api/analyses", "post", client.post("/api/analyses", json=hand))


def test_hands_are_as_described(description: dict[str, Any]) -> None:
    body = description["paths"]["/api/analyses"]["post"]["requestBody"]
    schema = body["content"]["application/json"]["schema"]
    Draft202012Validator({**schema, "components": description["components"]}).validate(HAND)


def test_readings_are_as_described(client: FlaskClient, description: dict[str, Any], photo: bytes) -> None:
    for data in (photo, b"no photo"):
        answer = client.post("/api/readings", data={"photo": (io.BytesIO(data), "hand.jpg")})
        check(description, "/api/readings", "post", answer)


def test_frames_are_as_described(client: FlaskClient, description: dict[str, Any], photo: bytes) -> None:
    for data, at in ((photo, "1"), (photo, "now"), (b"no photo", "1")):
        answer = client.post("/api/frames", data={"frame": (io.BytesIO(data), "frame.jpg"), "at": at})
        check(description, "/api/frames", "post", answer)


def test_the_rest_is_as_described(client: FlaskClient, description: dict[str, Any]) -> None:
    check(description, "/api/rules", "get", client.get("/api/rules"))
    check(description, "/api/pieces", "get", client.get("/api/pieces?text=123m"))
    check(description, "/api/pieces", "get", client.get("/api/pieces?text=1x"))


def test_teaching_is_as_described(description: dict[str, Any], photo: bytes, tmp_path: Path) -> None:
    client = create_app(TaughtReader(), {"COMPANION_HOME": tmp_path}).test_client()

    def ask(method: str, path: str, told: str, status: int = 200, **sent: Any) -> Any:
        answer = client.open(path, method=method, **sent)
        assert answer.status_code == status, answer.get_json()
        check(description, told, method.lower(), answer)
        return answer.get_json()

    def upload(name: str) -> Any:
        return {name: (io.BytesIO(photo), "a.jpg")}

    key = ask("POST", "/api/sets", "/api/sets", json={"name": "mine"})["key"]
    at, told = f"/api/sets/{key}", "/api/sets/{key}"
    ask("POST", "/api/sets", "/api/sets", 400, json={"name": ""})
    found = ask("POST", "/api/lessons", "/api/lessons", data=upload("photo"))
    ask("POST", "/api/lessons", "/api/lessons", 415, data={})
    tiles = [{"piece": tile["label"], "quad": tile["quad"]} for tile in found["tiles"]]
    schema = description["paths"][told + "/lessons"]["post"]["requestBody"]["content"]["multipart/form-data"]
    sent = schema["schema"]["properties"]["tiles"]["contentSchema"]
    Draft202012Validator({**sent, "components": description["components"]}).validate(tiles)
    lesson = upload("photo") | {"tiles": json.dumps(tiles)}
    ask("POST", at + "/lessons", told + "/lessons", data=lesson)
    ask("POST", at + "/lessons", told + "/lessons", 400, data=upload("photo") | {"tiles": "[]"})
    correction = json.dumps({"piece": "9s", "quad": [[10, 10], [60, 10], [60, 80], [10, 80]], "photo": "a"})
    corrected = upload("picture") | {"correction": correction}
    picture = ask("POST", at + "/corrections", told + "/corrections", data=corrected)["picture"]
    pictures = ask("GET", at + "/pictures", told + "/pictures")["pictures"]
    assert pictures[0]["key"] == picture and pictures[0]["source"] == "correction"
    shown = client.get(f"{at}/pictures/{picture}.png")
    assert (
        shown.mimetype
        in description["paths"][told + "/pictures/{picture}.png"]["get"]["responses"]["200"]["content"]
    )
    ask("GET", f"{at}/pictures/none.png", told + "/pictures/{picture}.png", 404)
    ask("DELETE", f"{at}/pictures/{picture}", told + "/pictures/{picture}")
    ask("DELETE", f"{at}/pictures/{picture}", told + "/pictures/{picture}", 400)
    ask("PUT", at + "/switch", told + "/switch", json={"on": False})
    ask("PUT", at + "/switch", told + "/switch", 403, json={"on": True}, headers={"Origin": "http://evil"})
    ask("POST", at + "/undo", told + "/undo")
    ask("DELETE", at + "/pictures", told + "/pictures")
    ask("GET", "/api/sets", "/api/sets")
    ask("DELETE", at, told)
    ask("DELETE", at, told, 400)
