"""The API's description is valid, and what the API answers is what the description says."""

from __future__ import annotations

import io
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]
from openapi_spec_validator import validate
from werkzeug.test import TestResponse

from tests.web.test_analyses import HAND


@pytest.fixture
def description(client: FlaskClient) -> dict[str, Any]:
    document: dict[str, Any] = client.get("/api/openapi.json").get_json()
    return document


def check(description: dict[str, Any], path: str, method: str, answer: TestResponse) -> None:
    """The answer's status is described and its document fits the schema."""
    told = description["paths"][path][method]["responses"][str(answer.status_code)]
    schema = told["content"]["application/json"]["schema"]
    Draft202012Validator({**schema, "components": description["components"]}).validate(answer.get_json())


def test_the_description_is_valid_and_complete(app: Flask, description: dict[str, Any]) -> None:
    validate(description)
    routes = {rule.rule for rule in app.url_map.iter_rules() if rule.endpoint.startswith("api.")}
    assert set(description["paths"]) == routes - {"/api/openapi.json", "/api/<path:path>"}


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
