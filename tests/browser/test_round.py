"""What people do with the page on a phone: photograph, correct, say what no photo shows, read the score."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

pytest.importorskip("playwright.sync_api", reason="playwright is not installed: no browser tests")
from playwright.sync_api import Error, Page, Route, expect

from companion.reading import Reading

Shoot = Callable[[str], Path]


def open_sample(page: Page) -> None:
    page.get_by_role("button", name="Try the sample photo").click()
    expect(page.locator("#photo .mark")).to_have_count(16)


def status(page: Page, title: str) -> None:
    expect(page.locator("#status b")).to_have_text(title)


def tiles(page: Page) -> list[str]:
    """Names of the hand's loose pieces as they stand on the page."""
    names: list[str] = page.locator("#tiles .tile[data-piece]").evaluate_all(
        "all => all.map(one => one.dataset.piece)"
    )
    return names


def type_hand(page: Page, text: str) -> None:
    page.locator("#text").fill(text)


def later_answer(page: Page) -> None:
    """Wait for an answer that was asked for now: whatever was answered before has reached the page, too."""
    page.evaluate("fetch('/api/rules', { cache: 'no-store' }).then(answer => answer.json())")


def test_a_photo_without_tiles_says_what_to_do(page: Page, shoot: Shoot) -> None:
    reading = Reading("wood.jpg", None, 800, 600, warnings=("No tile was found in the photo.",)).to_document()
    page.route("**/api/readings", lambda route: route.fulfill(json=reading | {"preview": None}))
    page.get_by_role("button", name="Try the sample photo").click()
    expect(page.locator("#warnings li")).to_have_text("No tile was found in the photo.")
    expect(page.locator("#photo-nothing")).to_contain_text("Lay the tiles in a row")
    expect(page.locator(".legend")).to_be_hidden()
    shoot("1-nothing")


def test_from_the_sample_photo_to_the_score(page: Page, shoot: Shoot) -> None:
    shoot("1-start")
    open_sample(page)
    expect(page.locator(".mark-hand")).to_have_count(11)
    expect(page.locator(".mark-meld")).to_have_count(3)
    expect(page.locator(".mark-doubtful text")).to_have_text(["7m?", "4p?"])
    expect(page.get_by_role("button", name="4 of dots, doubtful, 55 % sure")).to_be_visible()
    status(page, "Ready")
    shoot("2-photo")

    # The doubtful pieces one after the other: the first is right, the second is not.
    page.get_by_role("button", name="Check 2 doubtful pieces").click()
    expect(page.get_by_role("heading", name="7 of characters")).to_be_visible()
    page.get_by_role("button", name="7 of characters, 71 %").click()
    expect(page.get_by_role("heading", name="4 of dots")).to_be_visible()
    expect(page.locator(".sheet .crop image")).to_have_count(1)
    shoot("3-correct")
    page.get_by_role("button", name="5 of dots, 41 %").click()
    expect(page.locator("#sheet")).to_be_hidden()
    expect(page.locator(".mark-doubtful")).to_have_count(0)
    assert tiles(page) == ["2m", "3m", "4m", "5m", "6m", "7m", "8m", "8m", "3p", "4p", "5p"]

    page.get_by_role("button", name="bamboo").click()
    page.get_by_role("button", name="Name it").click()
    page.locator("#tiles [data-piece='3p']").click()
    page.locator("#winning").get_by_role("button", name="Drawn").click()
    status(page, "Won")
    shoot("4-won")
    page.locator("#status").click()
    result = page.locator("#result")
    expect(result.locator(".score")).to_contain_text("Base points1")
    expect(result).to_contain_text("Each of 3 players pays 2")
    expect(result).to_contain_text("The winner gets6")
    expect(result.locator(".house")).to_contain_text("MahJongo table")
    expect(result.locator(".sets").first.locator(".set-name")).to_have_text(
        ["pung", "chow", "chow", "chow", "pair"]
    )
    expect(result.locator(".score")).to_be_in_viewport()  # the page rolls there
    shoot("5-score")

    page.locator("#winning").get_by_role("button", name="Discard").click()
    expect(result).to_contain_text("The discarder pays 1")


def test_what_is_set_apart_wins_and_a_hidden_kong_is_named_at_once(page: Page, shoot: Shoot) -> None:
    """The sample's last tile set apart, and four tiles face down in place of its pung."""

    def set_apart(route: Route) -> None:
        reading = route.fetch().json()
        kong = [11, 12, 13, 15]
        for k in kong:
            back = {"piece": "back", "confidence": 0.99}
            reading["pieces"][k] |= back | {"candidates": [back], "role": "back", "group": None}
        route.fulfill(json=reading | {"melds": [], "winning": 10, "unnamed": [kong]})

    page.route("**/api/readings", set_apart)
    open_sample(page)
    winning = page.locator("#winning")
    expect(winning.locator("[data-piece='4p']")).to_be_visible()
    expect(winning.get_by_role("button", name="Discard")).to_have_attribute("aria-pressed", "true")
    expect(page.locator(".mark-winning text")).to_have_text("★4p?")
    assert len(tiles(page)) == 10
    meld = page.get_by_role("group", name="Meld 1: concealed kong")
    expect(meld).to_contain_text("tap one of its pieces and say what they are")
    status(page, "Cannot be judged")
    meld.scroll_into_view_if_needed()
    shoot("9-hidden-kong")
    meld.get_by_role("button", name="Face-down tile").first.click()
    page.locator("#sheet").get_by_role("button", name="2 of dots", exact=True).click()
    named = page.get_by_role("group", name="Meld 1: kong")
    expect(named.get_by_role("button", name="2 of dots")).to_have_count(4)
    expect(named.get_by_role("button", name="concealed")).to_have_attribute("aria-pressed", "true")
    winning.get_by_role("button", name="Not won yet").click()
    assert len(tiles(page)) == 11
    expect(page.locator("#status b")).not_to_have_text("Cannot be judged")


def test_a_reload_loses_nothing(page: Page) -> None:
    open_sample(page)
    page.locator("#tiles [data-piece='4p']").last.click()
    page.get_by_role("button", name="5 of dots, 41 %").click()
    page.get_by_role("button", name="bamboo").click()
    status(page, "Won")
    page.reload()
    expect(page.locator("#photo .mark")).to_have_count(16)
    expect(page.locator("#photo image")).to_have_count(1)
    status(page, "Won")
    expect(page.get_by_role("button", name="bamboo")).to_have_attribute("aria-pressed", "true")
    # Undo goes on where it was, back to the piece as it was read.
    page.get_by_role("button", name="Undo").click()
    page.get_by_role("button", name="Undo").click()
    assert tiles(page)[-1] == "4p"
    # A new tab finds the hand too, as after a phone has closed the old one.
    other = page.context.new_page()
    other.goto(page.url)
    expect(other.locator("#photo image")).to_have_count(1)


def test_a_hand_is_typed_without_a_photo(page: Page, shoot: Shoot) -> None:
    type_hand(page, "1223344555678m")
    status(page, "Ready")
    expect(page.locator("#status")).to_contain_text("waits for")
    shoot("6-waits")
    page.get_by_role("button", name="Win with 9 of characters").click()
    status(page, "Won")
    expect(page.locator("#result")).to_contain_text("Full flush")
    page.get_by_role("button", name="New hand").click()
    status(page, "No pieces yet")

    # The tile keyboard.
    page.get_by_role("button", name="Type a hand").click()
    for name in ("1 of dots", "1 of dots", "2 of dots"):
        page.locator("#sheet").get_by_role("button", name=name, exact=True).click()
    expect(page.locator("#sheet").get_by_role("status")).to_have_text("3 pieces")
    shoot("7-keyboard")
    page.get_by_role("button", name="Delete").click()
    page.get_by_role("button", name="Done").click()
    assert tiles(page) == ["1p", "1p"]
    expect(page.locator("#text")).to_have_value("11p")


def test_what_is_still_being_typed_does_not_come_into_the_next_hand(page: Page) -> None:
    type_hand(page, "123m")
    expect(page.locator("#tiles [data-piece]")).to_have_count(3)
    held: list[Route] = []
    page.route("**/api/pieces?*", lambda route: held.append(route))
    with page.expect_request("**/api/pieces?*"):
        type_hand(page, "123m 456p")
    page.get_by_role("button", name="New hand").click()
    page.unroute("**/api/pieces?*")
    for route in held:
        with suppress(Error):  # the page has hung up already, which is as good
            route.continue_()
    later_answer(page)
    status(page, "No pieces yet")
    assert tiles(page) == []


def test_typed_notation_at_fault_is_shown_at_its_place(page: Page) -> None:
    type_hand(page, "123m")
    status(page, "Not a hand yet")
    type_hand(page, "123m 5x")
    fault = page.locator("#text-fault")
    expect(fault).to_contain_text("position 6")
    expect(fault.locator("mark")).to_have_text("5x")
    expect(page.locator("#text")).to_have_attribute("aria-invalid", "true")
    assert tiles(page) == ["1m", "2m", "3m"]  # what was right stays
    type_hand(page, "123m 5p")
    expect(fault).to_be_hidden()
    expect(page.locator("#tiles [data-piece='5p']")).to_have_count(1)


def test_flowers_and_honours_are_shown_and_named(page: Page) -> None:
    type_hand(page, "123m 1z 5f")
    expect(page.get_by_role("button", name="East wind, not a piece of Sichuan")).to_be_visible()
    expect(page.locator("#result .notes")).to_contain_text("1z")
    page.get_by_role("button", name="Lay aside").click()
    expect(page.locator("#bonus [data-piece='5f']")).to_be_visible()
    assert tiles(page) == ["1m", "2m", "3m", "1z"]


def test_pieces_move_between_hand_and_melds(page: Page) -> None:
    type_hand(page, "2222m 5556789p 44s 99s")
    page.locator("#tiles [data-piece='2m']").first.click()
    page.get_by_role("button", name="Lay down as kong").click()
    expect(page.get_by_role("group", name="Meld 1: kong")).to_be_visible()
    page.get_by_role("button", name="concealed").click()
    expect(page.get_by_role("button", name="concealed")).to_have_attribute("aria-pressed", "true")
    # A meld built piece by piece is told to be unfinished until it is one.
    page.locator("#tiles [data-piece='5p']").first.click()
    page.get_by_role("button", name="New meld").click()
    status(page, "Cannot be judged")
    for _ in range(2):
        page.locator("#tiles [data-piece='5p']").first.click()
        page.get_by_role("button", name="Meld 2", exact=True).click()
    expect(page.get_by_role("group", name="Meld 2: pung")).to_be_visible()
    expect(page.locator("#status b")).not_to_have_text("Cannot be judged")
    page.get_by_role("group", name="Meld 2: pung").get_by_role("button", name="Back to the hand").click()
    expect(page.locator("#tiles [data-piece='5p']")).to_have_count(3)
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("group", name="Meld 2: pung")).to_be_visible()


def test_contradicting_facts_are_told_where_they_are(page: Page) -> None:
    type_hand(page, "123456m3467899p")
    page.get_by_role("button", name="Win with 2 of dots").click()
    page.get_by_role("switch", name="After a kong", exact=True).check()
    status(page, "Cannot be judged")
    expect(page.locator("#context .has-fault .fault")).to_be_visible()
    page.get_by_role("switch", name="After a kong", exact=True).uncheck()
    status(page, "Won")
    expect(page.locator("#context .fault")).to_have_count(0)


def test_house_rules_stay_for_the_next_hand(page: Page) -> None:
    type_hand(page, "1223344555678m")
    page.locator(".house-card summary").click()
    page.get_by_role("button", name="Chengdu").click()
    page.get_by_role("button", name="no cap").click()
    expect(page.locator("#options-now")).to_have_text("Chengdu, 1 changed")
    page.get_by_role("button", name="New hand").click()
    type_hand(page, "1223344555678m")
    page.get_by_role("button", name="Win with 9 of characters").click()
    expect(page.locator(".house")).to_contain_text("Chengdu")
    expect(page.locator(".house")).to_contain_text("no cap")


def test_what_is_no_photo_is_told_and_the_hand_stays(page: Page, tmp_path: Path, shoot: Shoot) -> None:
    type_hand(page, "123m")
    expect(page.locator("#tiles [data-piece]")).to_have_count(3)
    letter = tmp_path / "letter.jpg"
    letter.write_text("Dear Anna")
    page.locator("footer input[type=file]").set_input_files(letter)
    expect(page.locator("#upload-message")).to_contain_text("not a photo")
    shoot("8-refused")
    page.get_by_role("button", name="Close").first.click()
    assert tiles(page) == ["1m", "2m", "3m"]


def test_without_a_connection_nothing_is_lost(page: Page) -> None:
    type_hand(page, "1223344555678m")
    status(page, "Ready")
    page.context.set_offline(True)
    page.get_by_role("button", name="bamboo").click()
    status(page, "No answer · retry")
    expect(page.locator("#tiles [data-piece]")).to_have_count(13)
    page.context.set_offline(False)
    status(page, "Ready")


def test_a_lost_upload_is_tried_again(page: Page) -> None:
    page.route("**/api/readings", lambda route: route.abort())
    page.get_by_role("button", name="Try the sample photo").click()
    expect(page.locator("#upload-message")).to_contain_text("does not answer")
    page.unroute("**/api/readings")
    page.locator("#upload-retry").click()
    expect(page.locator("#photo .mark")).to_have_count(16)


def test_a_late_answer_does_not_overtake_a_newer_one(page: Page) -> None:
    held: list[Route] = []

    def hold_the_first(route: Route) -> None:
        if not held:
            held.append(route)
        else:
            route.continue_()

    page.route("**/api/analyses", hold_the_first)
    with page.expect_request("**/api/analyses"):
        type_hand(page, "123m")
    type_hand(page, "1223344555678m")
    status(page, "Ready")
    stale = {"status": "won", "shanten": -1, "waits": [], "advice": [], "arrangement": [], "legal_melds": []}
    (late,) = held
    with suppress(Error):  # the page has hung up already, which is as good
        late.fulfill(json={**stale, "score": None, "notes": []})
    later_answer(page)
    status(page, "Ready")


def test_one_photo_gives_one_hand_however_often_it_is_tapped(page: Page) -> None:
    page.evaluate(
        "for (let i = 0; i < 3; i++) document.querySelector('[data-do=sample]').click()",
    )
    expect(page.locator("#photo .mark")).to_have_count(16)
    later_answer(page)
    assert len(tiles(page)) == 11
    expect(page.get_by_role("button", name="Undo")).to_be_enabled()
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("button", name="Undo")).to_be_disabled()


def test_the_keyboard_alone_corrects_a_piece(page: Page) -> None:
    open_sample(page)
    page.locator("#tiles [data-piece='4p']").last.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="4 of dots")).to_be_visible()
    page.locator("[data-key='is-5p']").focus()
    page.keyboard.press("Space")
    expect(page.locator("#sheet")).to_be_hidden()
    expect(page.locator(":focus")).to_have_attribute("aria-label", "5 of dots")
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")
    expect(page.locator("#sheet")).to_be_hidden()


SMALL_TARGETS = """() => {
  const targets = "button, summary, select, label.button, label.icon-button, #text";
  return [...document.querySelectorAll(targets)]
    .map((one) => [one.textContent.trim().slice(0, 20), one.getBoundingClientRect()])
    .filter(([, box]) => box.width > 0 && (box.width < 43.9 || box.height < 43.9))
    .map(([text, box]) => `${text} ${box.width}x${box.height}`);
}"""
UNNAMED = """() => {
  const named = (one) =>
    one.getAttribute("aria-label") || one.textContent.trim() || one.labels?.[0]?.textContent.trim();
  return [...document.querySelectorAll("button, input, select")]
    .filter((one) => !named(one) && !one.getAttribute("aria-labelledby"))
    .map((one) => one.outerHTML);
}"""


def test_everything_is_large_enough_to_touch_and_has_a_name(page: Page) -> None:
    open_sample(page)
    status(page, "Ready")
    for opened in ("", "#tiles .tile", "#tiles .tile-add"):
        if opened:
            page.locator(opened).first.click()
        assert page.evaluate(SMALL_TARGETS) == []
        assert page.evaluate(UNNAMED) == []
        if opened:
            page.keyboard.press("Escape")
            expect(page.locator("#sheet")).to_be_hidden()


@pytest.mark.parametrize("width", [320, 390, 1280])
def test_nothing_is_wider_than_the_screen(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 740})
    open_sample(page)
    status(page, "Ready")
    page.locator(".house-card summary").click()
    page.locator("#tiles .tile").first.click()
    for part in ("html", "#sheet-body"):
        wide, seen = page.locator(part).evaluate("one => [one.scrollWidth, one.clientWidth]")
        assert wide <= seen, part


def test_a_full_store_loses_the_picture_but_no_piece(page: Page) -> None:
    page.evaluate(
        """() => {
            Storage.prototype.setItem = function () { throw new DOMException("full", "QuotaExceededError"); };
        }"""
    )
    open_sample(page)
    assert len(tiles(page)) == 11
    assert json.loads(page.evaluate("JSON.stringify(sessionStorage.getItem('companion.hand'))")) is None
