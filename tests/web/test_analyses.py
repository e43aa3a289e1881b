"""POST /api/analyses, GET /api/pieces and /api/rules."""

from __future__ import annotations

import json
from typing import Any

import pytest
from flask.testing import FlaskClient
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from companion.pieces import DECKS

KEYS = [
    "rules",
    "concealed",
    "melds",
    "winning",
    "context",
    "options",
    "kind",
    "pieces",
    "piece",
    "from",
    "void",
]

HAND: dict[str, Any] = {
    "rules": "sichuan",
    "concealed": "3445568899m",
    "melds": [{"kind": "pung", "pieces": "222m", "concealed": False}],
    "winning": {"piece": "8m", "from": "discard"},
    "context": {"void": "s"},
    "options": {"preset": "mahjongo"},
}


def test_a_won_hand_is_scored(client: FlaskClient) -> None:
    answer = client.post("/api/analyses", json=HAND)
    assert answer.status_code == 200
    result = answer.get_json()
    assert result["status"] == "won"
    assert result["score"]["items"] == [{"name": "full-flush", "count": 1, "value": 2}]
    assert result["score"]["winner_gets"] == 4


def test_every_hand_that_the_page_may_send_is_judged(client: FlaskClient) -> None:
    empty = {"rules": "sichuan", "concealed": "", "melds": [], "bonus": "", "context": {}, "options": {}}
    assert client.post("/api/analyses", json=empty).status_code == 200
    honours = {"rules": "sichuan", "concealed": "123m 456p 11z 5f", "bonus": "1f", "context": {"void": None}}
    result = client.post("/api/analyses", json=honours).get_json()
    assert result["status"] == "invalid"
    assert any("1z" in note for note in result["notes"])


@pytest.mark.parametrize(
    ("body", "where"),
    [
        ("", ""),
        ("{", ""),
        ("[]", ""),
        ("null", ""),
        ("[" * 50_000, ""),
        ('{"rules": "sichuan", "concealed": "\\ud800"}', ""),
        ('{"rules": "sichuan"}', "concealed"),
        ('{"rules": "sichuan", "concealed": 5}', "concealed"),
        ('{"rules": "sichuan", "concealed": "12x"}', "concealed, position 1"),
        ('{"rules": "sichuan", "concealed": "", "hat": 1}', "hat"),
        ('{"rules": "mars", "concealed": ""}', "rules"),
        ('{"rules": "riichi", "concealed": ""}', "rules"),
        ('{"concealed": "", "rules": "sichuan", "melds": [{"kind": "pung"}]}', "melds[0].pieces"),
        (
            '{"concealed": "", "rules": "sichuan", "melds": [{"kind": "pung", "pieces": "12m"}]}',
            "melds[0].pieces",
        ),
        (
            '{"concealed": "", "rules": "sichuan", "melds": [{"kind": "chow", "pieces": "123m"}]}',
            "melds[0].kind",
        ),
        ('{"rules": "sichuan", "concealed": "", "winning": {"piece": "5m"}}', "winning.from"),
        (
            '{"rules": "sichuan", "concealed": "", "winning": {"piece": "55m", "from": "wall"}}',
            "winning.piece",
        ),
        ('{"rules": "sichuan", "concealed": "", "context": {"void": "x"}}', "context.void"),
        ('{"rules": "sichuan", "concealed": "", "context": {"void": []}}', "context.void"),
        ('{"rules": "sichuan", "concealed": "", "options": {"cap": true}}', "options.cap"),
        ('{"rules": "sichuan", "concealed": "", "options": {"colour": 1}}', "options"),
    ],
)
def test_a_bad_hand_is_refused_with_its_place(client: FlaskClient, body: str, where: str) -> None:
    answer = client.post("/api/analyses", data=body, content_type="application/json")
    assert answer.status_code == 400
    error = answer.get_json()["error"]
    assert error["where"] == where
    assert error["message"]


JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["11m", "wall", "s"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=3),
    max_leaves=8,
)
PIECES = st.lists(st.sampled_from([str(piece) for piece in DECKS["mahjong"].pieces]), max_size=20).map(
    "".join
)
MELDS = st.fixed_dictionaries({"kind": st.sampled_from(["pung", "kong"]), "pieces": PIECES})
HANDS = st.fixed_dictionaries(
    {"rules": st.just("sichuan"), "concealed": PIECES},
    optional={
        "melds": st.lists(MELDS, max_size=4) | JSON_VALUES,
        "winning": st.fixed_dictionaries({"piece": PIECES, "from": st.just("wall")}) | JSON_VALUES,
        "bonus": PIECES | JSON_VALUES,
        "context": st.dictionaries(
            st.sampled_from(["void", "last_tile", "robbed_kong"]), JSON_VALUES, max_size=2
        ),
        "options": st.dictionaries(st.sampled_from(["cap", "preset"]), JSON_VALUES, max_size=2) | JSON_VALUES,
    },
)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(document=HANDS | JSON_VALUES)
def test_no_hand_whatever_it_holds_is_a_fault_of_the_program(client: FlaskClient, document: Any) -> None:
    answer = client.post("/api/analyses", data=json.dumps(document), content_type="application/json")
    assert answer.status_code in (200, 400), answer.get_data(as_text=True)
    assert answer.get_json()


def test_a_body_of_megabytes_is_refused(client: FlaskClient) -> None:
    body = json.dumps(HAND | {"bonus": " " * 1_000_000})
    answer = client.post("/api/analyses", data=body, content_type="application/json")
    assert answer.status_code == 413


def test_notation_is_taken_apart(client: FlaskClient) -> None:
    document = client.get("/api/pieces", query_string={"text": "0p1z 3m", "deck": "mahjong"}).get_json()
    assert document["text"] == "3m 0p 1z"
    assert document["pieces"][0] == {"piece": "0p", "name": "red 5 of dots"}
    assert client.get("/api/pieces").get_json() == {"text": "", "pieces": []}


def test_notation_at_fault_is_told_with_its_position(client: FlaskClient) -> None:
    answer = client.get("/api/pieces", query_string={"text": "123m 5x", "deck": "mahjong"})
    assert answer.status_code == 400
    error = answer.get_json()["error"]
    assert (error["where"], error["position"]) == ("text", 6)
    wrong_deck = client.get("/api/pieces", query_string={"text": "1m", "deck": "tarot"})
    assert wrong_deck.get_json()["error"]["where"] == "deck"


def test_rules_tell_what_the_page_needs(client: FlaskClient) -> None:
    document = client.get("/api/rules").get_json()
    sichuan = document["rules"][0]  # the page starts with the first
    assert sichuan["name"] == "sichuan"
    assert "void" in [setting["name"] for setting in sichuan["context"]]
    assert {piece["piece"] for piece in document["decks"]["mahjong"]} > set(sichuan["pieces"])


def test_what_is_not_there_is_told_as_json(client: FlaskClient) -> None:
    assert client.get("/api/nothing").status_code == 404
    assert client.get("/api/nothing").get_json()["error"]["message"]
    answer = client.get("/api/analyses")
    assert answer.status_code == 405
    assert answer.get_json()["error"]["message"]
