"""The page and its files: complete, without inline code, and safe to serve."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import get_args

import pytest
from flask.testing import FlaskClient

from companion.pieces import DECKS
from companion.rules import RULE_SETS
from vision.steady import Kind
from web.api.frames import AdviceKind

WEB = Path(__file__).parents[2] / "web"
SCRIPTS = sorted(WEB.glob("**/static/**/*.js"))


@pytest.fixture(scope="module")
def texts() -> dict[str, object]:
    document: dict[str, object] = json.loads((WEB / "translations" / "en.json").read_text("utf-8"))
    return document


def test_the_page_needs_nothing_from_elsewhere(client: FlaskClient) -> None:
    answer = client.get("/")
    page = answer.get_data(as_text=True)
    assert answer.status_code == 200
    assert not re.search(r"https?://", page)
    assert not re.search(r"<script(?![^>]* src=)|<style| style=| on[a-z]+=", page)
    policy = answer.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy and "unsafe" not in policy
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    for link in re.findall(r'(?:src|href)="(/[^"]+)"', page):
        assert client.get(link).status_code == 200, link


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.name)
def test_what_scripts_import_is_served_as_script(client: FlaskClient, script: Path) -> None:
    base = "/static/js/" if script.parent.name == "js" else "/capture/"
    for name in re.findall(r'from "([^"]+)"', script.read_text("utf-8")):
        answer = client.get(name if name.startswith("/") else base + name.removeprefix("./"))
        assert answer.status_code == 200, name
        assert "javascript" in answer.headers["Content-Type"]


def test_every_text_that_scripts_and_templates_ask_for_exists(texts: dict[str, object]) -> None:
    sources = [*SCRIPTS, *WEB.glob("**/templates/**/*.html")]
    asked = {
        key for file in sources for key in re.findall(r"\bt\([\"']([\w.-]+)[\"']", file.read_text("utf-8"))
    }
    assert len(asked) > 50
    assert asked <= set(texts)


def test_every_piece_has_a_picture_and_a_name(client: FlaskClient, texts: dict[str, object]) -> None:
    pictures = [f"tiles/{piece}.webp" for piece in DECKS["mahjong"].pieces]
    pictures += [f"cards/{piece}.svg" for piece in DECKS["four-color"].pieces]
    for picture in pictures:
        assert client.get(f"/static/{picture}").status_code == 200, picture
    for piece in map(str, DECKS["mahjong"].pieces):
        for kind in ("piece", "short"):
            assert f"{kind}.{piece}" in texts or f"{kind}.suit.{piece[-1]}" in texts


def test_cards_are_named_by_colour_and_rank(texts: dict[str, object]) -> None:
    for piece in DECKS["four-color"].pieces:
        text = texts.get(f"piece.{piece}")
        if text is None:
            place = str(texts["piece.card"])
            text = place.format(colour=texts[f"suit.{piece.suit}"], rank=texts[f"card.{piece.rank}"])
        assert text == piece.name


def test_units_kinds_and_score_fields_of_the_rules_have_texts(texts: dict[str, object]) -> None:
    for rules in RULE_SETS.values():
        assert f"unit.{rules.unit}" in texts
        assert {f"rules.{rules.name}", f"meld.concealed.{rules.deck}", f"text.help.{rules.deck}"} <= set(
            texts
        )
        assert {f"kind.{kind}" for kind in rules.meld_kinds} <= set(texts)


def test_every_advice_of_the_live_preview_has_a_text(texts: dict[str, object]) -> None:
    kinds = get_args(Kind)
    assert kinds == get_args(AdviceKind)
    assert {f"camera.advice.{kind}" for kind in kinds} <= set(texts)


def test_unknown_languages_and_pages_are_not_found(client: FlaskClient) -> None:
    assert client.get("/translations/en.json").status_code == 200
    assert client.get("/translations/xx.json").status_code == 404
    assert client.get("/translations/..%2fcapture%2fx.json").status_code == 404
    assert client.get("/nothing").status_code == 404
