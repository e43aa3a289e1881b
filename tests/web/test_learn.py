"""The rule pages: every rule has one, what they tell is what the engine answers, and docs hold the same."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from companion.pieces import format_pieces
from companion.rules import RULE_SETS
from companion.rules.fujian import POINTS
from companion.rules.guangshui import (
    CLEAR,
    COMBINATIONS,
    FAT_WAGON,
    HEAVEN_EARTH,
    IN_WAGON,
    LONG_WAGON,
    MELDS,
    PLAIN_WAGON,
    STEPS,
)
from companion.rules.sichuan import FAN
from web.learn import docs
from web.learn.book import Example, RulePage, page_of

NAMES = list(RULE_SETS)


def page(name: str) -> RulePage:
    found = page_of(name)
    assert found is not None, f"no page tells the rules of {name}"
    return found


EXAMPLES = [
    pytest.param(example, id=f"{name}-{number}")
    for name in NAMES
    for number, example in enumerate(page(name).examples, 1)
]


@pytest.mark.parametrize("example", EXAMPLES)
def test_examples_show_what_they_are_meant_to(example: Example) -> None:
    assert example.expect
    assert example.unmet() == []
    assert example.marked <= {format_pieces(meld.pieces) for meld in example.melds}


def test_an_example_that_is_wrong_says_what_the_engine_answers() -> None:
    document = {
        "caption": "",
        "hand": {"concealed": "RRr"},
        "expect": {"status": "won", "items": {"chow": 1}},
    }
    assert Example.from_document(document, "fujian").unmet() == [
        "status: invalid, not won",
        "items: {'chow': 0}, not {'chow': 1}",
    ]


@pytest.mark.parametrize("name", NAMES)
def test_every_item_of_a_score_is_told_and_pictured(name: str) -> None:
    told = page(name)
    assert set(told.rules.item_names) <= set(told.sections)
    pictured = {item for example in told.examples for item in example.expect.get("items", ())}
    assert pictured >= set(told.rules.item_names)
    linked = re.findall(r"\]\(#([\w-]+)\)", told.source)
    assert linked and set(linked) <= set(told.sections)


def rows(name: str) -> dict[str, list[int]]:
    """The numbers in the tables of a page, by the section that a line links to."""
    lines = re.findall(r"^\| \[[^]]*\]\(#([\w-]+)\)(.*)$", page(name).source, re.MULTILINE)
    return {section: [int(number) for number in re.findall(r"\d+", rest)] for section, rest in lines}


def test_tables_hold_the_numbers_that_the_rules_count_by() -> None:
    fujian = rows("fujian")
    assert {each.name: fujian[each.name] for each in POINTS} == {each.name: [each.points] for each in POINTS}
    assert fujian["pair"] == [0]
    assert rows("sichuan") == {each.name: [each.fan] for each in FAN}
    guangshui = rows("guangshui")
    for meld in MELDS:
        assert guangshui[meld.name] == [meld.plain, meld.fat]
    assert guangshui["plain-wagon"] == list(PLAIN_WAGON)
    assert guangshui["fat-wagon"] == list(FAT_WAGON)
    assert guangshui["long-wagon"] == list(LONG_WAGON)
    assert guangshui["clear"] == list(CLEAR.values())
    assert guangshui["heaven-earth"] == [HEAVEN_EARTH]
    assert guangshui["steps"] == list(STEPS.values())
    assert guangshui["generals-in-wagon"] == [IN_WAGON]


def test_every_way_to_a_level_is_told() -> None:
    source = page("guangshui").source
    levels = source[source.index("{#levels}") : source.index("{#worth}")]
    pai = re.findall(r"^- ", levels[: levels.index("{#jia}")], re.MULTILINE)
    assert len(pai) + 1 == sum(level == "pai" for level, _ in COMBINATIONS)  # 48 hu stand before the list
    jia = levels[levels.index("{#jia}") :]
    xiao, da = jia[: jia.index("**大甲**")], jia[jia.index("**大甲**") :]
    for level, parts in COMBINATIONS:
        text = {"xiao-jia": xiao, "da-jia": da}.get(level, "")
        if "hu" in parts and text:
            lou = {None: "", 1: "one 樓 with ", 2: "two 樓 with ", 3: "three 樓 with "}[parts.get("lou")]
            assert f"{lou}{parts['hu']}" in text, (level, parts)
    assert len(re.findall(r"^- ", jia, re.MULTILINE)) - 1 == sum(
        level == "xiao-jia" and "hu" not in parts for level, parts in COMBINATIONS
    )


@pytest.mark.parametrize("name", NAMES)
def test_docs_hold_the_same(name: str) -> None:
    file = docs.DOCS / f"{name}.md"
    assert file.read_text("utf-8") == docs.document(page(name)), "run `python -m web.learn.docs`"
    pictures = set(re.findall(r'src="([^"]+)"', file.read_text("utf-8")))
    assert pictures and all((docs.DOCS / picture).is_file() for picture in pictures)


@pytest.mark.parametrize("name", NAMES)
def test_the_app_shows_the_page(client: FlaskClient, name: str) -> None:
    answer = client.get(f"/rules/{name}")
    text = answer.get_data(as_text=True)
    assert answer.status_code == 200
    assert not re.search(r"<script(?![^>]* src=)|<style| style=| on[a-z]+=", text)
    told = page(name)
    for section in told.sections:
        assert f'id="{section}"' in text
    assert text.count('<figure class="example">') == len(told.examples)
    for option in told.rules.options:
        assert f"<code>{option.name}</code>" in text
    for link in set(re.findall(r'(?:src|href)="(/[^"#]+)"', text)):
        assert client.get(link).status_code == 200, link
    assert f'href="/rules/{name}"' in client.get("/rules").get_data(as_text=True)


def test_other_games_are_not_found(client: FlaskClient) -> None:
    for name in ("poker", "..%2fbook", "fujian.md"):
        assert client.get(f"/rules/{name}").status_code == 404


def test_pages_name_no_file_that_is_missing() -> None:
    assert {path.stem for path in (Path(docs.__file__).parent / "pages").glob("*.md")} <= set(NAMES)
