"""Four-color cards on a phone: choose the game, tap the cards in, correct them, see what they are worth."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("playwright.sync_api", reason="playwright is not installed: no browser tests")
from playwright.sync_api import Page, Route, expect

from companion.hand import Meld
from companion.pieces import DECKS, parse_pieces
from companion.reading import Candidate, Quad, Reading, Sighting

Shoot = Callable[[str], Path]

PHOTO = Path(__file__).parents[1] / "data" / "cards" / "photos" / "melds.jpg"


@pytest.fixture(autouse=True)
def readable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Photos of cards are let in, whether or not this checkout has models for them."""
    monkeypatch.setattr("web.api.readable_decks", lambda: tuple(DECKS))


TWENTY = "RRRRr HHHHr CCCCg AAAw EEy Ky Kr 1j"


def play(page: Page, game: str) -> None:
    page.locator("#games").get_by_role("button", name=game).click()


def status(page: Page, title: str) -> None:
    expect(page.locator("#status b")).to_have_text(title)


def cards(page: Page, where: str = "#tiles") -> list[str]:
    """Names of the cards as they stand in a part of the page."""
    names: list[str] = page.locator(f"{where} .tile[data-piece]").evaluate_all(
        "all => all.map(one => one.dataset.piece)"
    )
    return names


def test_cards_are_tapped_in_corrected_and_scored(page: Page, shoot: Shoot) -> None:
    play(page, "Fujian")
    expect(page.get_by_role("button", name="Try the sample photo")).to_be_visible()
    expect(page.get_by_role("link", name="Teach my tiles")).to_be_hidden()
    expect(page.get_by_role("link", name="Rules explained")).to_be_visible()
    page.get_by_role("button", name="Type a hand").click()
    sheet = page.locator("#sheet")
    for name in ("red general", "yellow soldier", "duke joker"):
        sheet.get_by_role("button", name=name, exact=True).click()
    expect(sheet.locator(".keyboard-strip .face-card img")).to_have_count(3)
    shoot("cards-1-keyboard")
    sheet.get_by_role("button", name="Done").click()
    assert cards(page) == ["Py", "Kr", "1j"]

    # Rank and colour are corrected apart, each with one tap.
    page.locator("#tiles [data-piece='Py']").click()
    sheet.get_by_role("group", name="Its rank").get_by_role("button", name="yellow horse").click()
    expect(sheet.get_by_role("heading", name="yellow horse")).to_be_visible()
    sheet.get_by_role("group", name="Its colour").get_by_role("button", name="green horse").click()
    shoot("cards-2-correct")
    sheet.get_by_role("button", name="Done").click()
    assert cards(page) == ["Kr", "Hg", "1j"]

    page.locator("#text").fill(TWENTY)
    status(page, "Ready")
    expect(page.locator(".recount")).to_contain_text("All 20 cards stand in melds, 1 too few")
    expect(page.locator(".recount")).to_contain_text("count the cards again")
    page.get_by_role("button", name="Win with yellow elephant: 2 left, 33 points").click()
    status(page, "Won")
    expect(page.locator(".recount")).to_have_count(0)
    score = page.locator("#result .score")
    expect(score).to_contain_text("Kong, dealt × 3")
    expect(score.locator("tfoot")).to_contain_text("33 points")
    shoot("cards-3-won")

    # Each item is explained, with hands to open.
    score.get_by_role("link", name="Pung, claimed").click()
    expect(page).to_have_url(re.compile("/rules/fujian#pung-claimed$"))
    example = page.locator("#pung-claimed ~ .example").first
    expect(example).to_contain_text("Won: 9 points")
    expect(page.locator(".is-here")).to_contain_text(["yes", "21", "4", "no"])
    shoot("cards-5-rules")
    example.get_by_role("link", name="Open this hand").click()
    status(page, "Won")
    expect(page.locator("#status")).to_contain_text("9 points")
    expect(page.get_by_role("group", name="Meld 1: pung")).to_be_visible()


def test_a_guangshui_hand_tells_level_and_worth_and_what_misses_the_minimum(page: Page, shoot: Shoot) -> None:
    play(page, "Guangshui")
    page.locator("#text").fill("KKAAEEg AAAAr PyPrPw RHCr RHw Ky Cw HHHHHHHHHr")
    status(page, "Not a hand yet")
    page.locator("#text").fill("KKAAEEg AAAAr PyPrPw RHHHHCr RHHHHw HHHy KyKrKw")
    for horse in ("Hw", "Hr", "Hy"):
        page.locator(f"#tiles [data-piece='{horse}']").first.click()
        page.get_by_role("button", name="Lay down as pung").click()
    expect(page.get_by_role("group", name="Meld 3: pung")).to_be_visible()
    status(page, "Ready")
    page.get_by_role("button", name="Win with white cannon: 4 left, 48 hu").click()
    status(page, "Won")
    expect(page.locator("#status")).to_contain_text("48 hu · Level 一牌 · Worth 1")
    expect(page.locator("#result .set", has_text="dealt").first).to_be_visible()
    # A pung of own cards is worth more: 子.
    page.get_by_role("group", name="Meld 1: pung").get_by_role("button", name="dealt").click()
    expect(page.locator("#status")).to_contain_text("50 hu")
    shoot("cards-4-guangshui")
    page.locator(".house-card summary").click()
    expect(page.locator("#readings")).to_contain_text("Steps are claimed pungs only")


def test_a_wait_below_the_minimum_says_so(page: Page) -> None:
    play(page, "Guangshui")
    page.locator("#text").fill("KKAAEEg AAAAr PyPrPw EEr RHHHHCr RHHHHw HHHy Ky")
    for horse in ("Hw", "Hr", "Hy"):
        page.locator(f"#tiles [data-piece='{horse}']").first.click()
        page.get_by_role("button", name="Lay down as pung").click()
    expect(page.get_by_role("button", name="Win with white cannon: 4 left, 46 hu, no win")).to_be_visible()


def test_the_game_is_kept_on_the_phone(page: Page) -> None:
    play(page, "Guangshui")
    page.locator("#text").fill("KKAAr")
    expect(page.locator("#tiles .tile[data-piece]")).to_have_count(4)
    other = page.context.new_page()
    other.goto(page.url)
    expect(other.locator("#game")).to_have_value("guangshui")
    # The other game of the same deck takes the cards over; tiles are another deck.
    page.locator("#game").select_option("fujian")
    assert cards(page) == ["Kr", "Kr", "Ar", "Ar"]
    page.locator("#game").select_option("sichuan")
    expect(page.locator("#tiles [data-piece]")).to_have_count(0)
    page.get_by_role("button", name="Undo").click()
    assert cards(page) == ["Kr", "Kr", "Ar", "Ar"]


def test_facts_of_the_game_last_and_those_of_the_hand_do_not(page: Page) -> None:
    answered(page)
    play(page, "Fujian")
    jokers = page.get_by_role("switch", name="Jokers in the game")
    dealt = page.get_by_role("switch", name="As dealt")
    page.locator("#text").fill("KKAAr")
    expect(page.locator("#tiles .tile[data-piece]")).to_have_count(4)
    jokers.uncheck()
    dealt.check()
    page.locator("footer input[type=file]").set_input_files(PHOTO)
    expect(page.locator("#photo .mark")).to_have_count(len(FAN) + len(LAID))
    expect(jokers).not_to_be_checked()
    expect(dealt).not_to_be_checked()
    # An example from the rule pages is judged by its own facts, and changes nothing for the hands after it.
    page.goto(page.url + '#hand={"rules":"fujian","concealed":"1j"}')
    page.reload()
    expect(page.locator("#tiles .tile[data-piece]")).to_have_count(1)
    expect(jokers).to_be_checked()
    page.get_by_role("button", name="New hand").click()
    play(page, "Sichuan")
    play(page, "Fujian")
    page.locator("#text").fill("KKAAr")
    expect(page.locator("#tiles .tile[data-piece]")).to_have_count(4)
    expect(jokers).not_to_be_checked()


def test_house_rules_of_another_version_are_told_and_dropped_and_block_nothing(
    page: Page, shoot: Shoot
) -> None:
    stray = {"fujian": {"copies": 7, "gold": "yes", "discarder_pays_all": True}}
    page.evaluate("stray => localStorage.setItem('companion.house', JSON.stringify(stray))", stray)
    play(page, "Fujian")
    page.locator("#text").fill(TWENTY)
    page.get_by_role("button", name="Win with yellow elephant").click()
    status(page, "Won")
    told = page.locator("#strays")
    expect(told).to_contain_text('that count for nothing: copies 7, gold "yes".')
    expect(page.locator("#options-now")).to_have_text("as usual, 1 changed")
    told.scroll_into_view_if_needed()
    shoot("cards-8-strays")
    told.get_by_role("button", name="Drop what is not known").click()
    expect(told).to_be_hidden()
    kept = page.evaluate("JSON.parse(localStorage.getItem('companion.house')).fujian")
    assert kept == {"discarder_pays_all": True}
    status(page, "Won")


def test_a_photo_of_cards_that_fails_the_checksum_points_at_the_least_certain_card(page: Page) -> None:
    def seen(place: int, name: str, confidence: float) -> Sighting:
        left = 40.0 + 70 * place
        quad: Quad = ((left, 100), (left + 50, 100), (left + 50, 300), (left, 300))
        return Sighting(quad, (Candidate(name, confidence), Candidate("Ky", 0.02)))

    names = [*map(str, parse_pieces(TWENTY.replace("1j", "")))]
    sightings = [
        seen(at, name, 0.93 if at == 14 else 0.99) for at, name in enumerate([*names, "Kw", "Kg", "Kw"])
    ]
    reading = Reading("fan.jpg", "four-color", 1600, 400, tuple(sightings)).to_document()
    page.route("**/api/readings", lambda route: route.fulfill(json=reading | {"preview": None}))
    page.get_by_role("button", name="Try the sample photo").click()
    expect(page.locator("#game")).to_have_value("fujian")
    assert len(cards(page)) == 22
    expect(page.locator(".recount")).to_contain_text("All 22 cards stand in melds, 1 too many")
    expect(page.locator(".recount")).to_contain_text("white advisor (93 %)")
    page.get_by_role("button", name="Look at it").click()
    page.get_by_role("button", name="Remove this piece").click()
    expect(page.locator(".recount")).to_have_count(0)


FAN = ("Cr", "Kr", "Ay", "Ew", "Ew", "Rg")
LAID = ("Hg", "Hg", "Hg")


def answered(page: Page) -> list[tuple[str, str]]:
    """Answer each photo with a fan, one card in doubt, and a pung before it; lists the decks asked for,
    and the games told."""

    def seen(place: int, candidates: dict[str, float], laid: bool = False) -> Sighting:
        left = 40.0 + 70 * place
        quad: Quad = ((left, 100), (left + 50, 100), (left + 50, 300), (left, 300))
        ranked = tuple(Candidate(name, chance) for name, chance in candidates.items())
        return Sighting(quad, ranked, "meld" if laid else "hand", int(laid), 0 if laid else None)

    doubt = {"Ay": 0.6, "Ar": 0.3, "Ey": 0.1}
    sightings = [seen(k, doubt if name == "Ay" else {name: 0.99}) for k, name in enumerate(FAN)]
    sightings += [seen(len(FAN) + k, {name: 0.99}, laid=True) for k, name in enumerate(LAID)]
    melds = (Meld("pung", parse_pieces("HHHg")),)
    reading = Reading("fan.jpg", "four-color", 1600, 400, tuple(sightings), melds).to_document()
    asked: list[tuple[str, str]] = []

    def answer(route: Route) -> None:
        form = (route.request.post_data_buffer or b"").decode("latin-1")
        deck, game = (re.findall(rf'name="{name}"\r\n\r\n([a-z-]+)', form) for name in ("deck", "rules"))
        asked.extend(zip(deck, game, strict=True))
        route.fulfill(json=reading | {"preview": None})

    page.route("**/api/readings", answer)
    return asked


@pytest.mark.parametrize("game", ["Fujian", "Guangshui"])
def test_a_photographed_fan_keeps_its_order_and_its_melds(page: Page, shoot: Shoot, game: str) -> None:
    asked = answered(page)
    play(page, game)
    shoot(f"cards-6-{game.lower()}")
    page.get_by_role("button", name="Try the sample photo").click()
    expect(page.locator("#photo .mark")).to_have_count(len(FAN) + len(LAID))
    assert asked == [("four-color", game.lower())]
    assert cards(page) == list(FAN)
    expect(page.get_by_role("group", name="Meld 1: pung")).to_be_visible()
    expect(page.locator(".mark-doubtful")).to_have_count(1)
    expect(page.get_by_text("Tiles misread?")).to_be_hidden()
    # One tap each puts rank and colour right.
    page.get_by_role("button", name="Check 1 doubtful piece").click()
    sheet = page.locator("#sheet")
    sheet.get_by_role("group", name="Its colour").get_by_role("button", name="white advisor").click()
    sheet.get_by_role("group", name="Its rank").get_by_role("button", name="white general").click()
    shoot("cards-7-doubt")
    sheet.get_by_role("button", name="Done").click()
    assert cards(page)[2] == "Kw"
    expect(page.locator(".mark-doubtful")).to_have_count(0)


def test_an_own_photo_is_told_apart_unless_a_table_wants_it(page: Page) -> None:
    asked = answered(page)
    page.locator("footer input[type=file]").set_input_files(PHOTO)
    expect(page.locator("#game")).to_have_value("fujian")  # what lies in the photo chose the game
    errand: dict[str, Any] = {
        "back": "/table",
        "title": "Anna's hand",
        "rules": "guangshui",
        "source": "wall",
    }
    errand["options"] = {"lou_doubles": True}
    page.evaluate("errand => sessionStorage.setItem('companion.errand', JSON.stringify(errand))", errand)
    page.goto(page.url + "?errand")
    expect(page.locator("#game")).to_have_value("guangshui")
    for choice in ("#game", "#games"):  # the table's game is played, no other
        expect(page.locator(choice)).to_be_hidden()
    with page.expect_request("**/api/readings") as sent:
        page.locator("footer input[type=file]").set_input_files(PHOTO)
    expect(page.locator("#photo .mark")).to_have_count(len(FAN) + len(LAID))
    assert asked == [("auto", "sichuan"), ("four-color", "guangshui")]
    assert b'name="options"\r\n\r\n{"lou_doubles":true}' in (sent.value.post_data_buffer or b"")


def test_a_game_whose_cards_cannot_be_read_offers_no_photo(
    page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("web.api.readable_decks", lambda: ("mahjong",))
    page.reload()
    play(page, "Fujian")
    expect(page.get_by_text("Take a photo", exact=True)).to_be_hidden()
    expect(page.get_by_text("Tap in your cards.")).to_be_visible()


ROOM_FOR_ALL = """(list) => {
  const alone = list.cloneNode(true);
  alone.style.cssText = "position: absolute; flex: none";
  list.parentNode.append(alone);
  const room = list.getBoundingClientRect().width - alone.getBoundingClientRect().width;
  alone.remove();
  return room;
}"""
"""Pixels that a list has more than its longest choice needs; below 0 it is cut."""


@pytest.mark.parametrize("width", [320, 360, 390])
def test_nothing_is_wider_than_the_screen(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 844})
    play(page, "Fujian")
    page.locator("#text").fill(TWENTY)
    expect(page.locator("#tiles .tile[data-piece]")).to_have_count(20)
    status(page, "Ready")
    game = page.locator("#game")
    assert game.evaluate(ROOM_FOR_ALL) >= 0
    for opened in ("#tiles .tile", "#tiles .tile-add"):
        page.locator(opened).first.click()
        for part in ("html", "#sheet-body"):
            wide, visible = page.locator(part).evaluate("one => [one.scrollWidth, one.clientWidth]")
            assert wide <= visible, part
        page.keyboard.press("Escape")
        expect(page.locator("#sheet")).to_be_hidden()
