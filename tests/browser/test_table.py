"""An evening at the live table on two phones: open, join, play, undo, lose the connection, settle."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("playwright.sync_api", reason="playwright is not installed: no browser tests")
from playwright.sync_api import Page, expect

from tests.browser.conftest import served, visit
from tests.web.fakes import SampleReader
from web import create_app

if TYPE_CHECKING:
    from playwright.sync_api import Browser

Shoot = Callable[[str], Path]

FLUSH = "1113335557799m"
WIDTH = "img => img.decode().then(() => img.naturalWidth)"  # once it is loaded; fails when it cannot be


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The page's address, with a database of its own behind it."""
    file = tmp_path_factory.mktemp("tables") / "tables.sqlite"
    with served(create_app(SampleReader(), {"DATABASE_URL": f"sqlite:///{file}"})) as address:
        yield address


@pytest.fixture
def other(browser: Browser, address: str) -> Iterator[Page]:
    """Somebody else's phone."""
    with visit(browser, f"{address}table") as opened:
        yield opened


def open_table(page: Page, address: str) -> str:
    """A new table with Anna at its first seat; gives its code."""
    page.goto(f"{address}table")
    page.locator("#name-0").fill("Anna")
    page.locator("#name-2").fill("Chen")
    page.get_by_role("button", name="Open the table").click()
    page.wait_for_url(re.compile(r"/table/\w+$"))
    expect(page.locator("#invite")).to_contain_text("Invite")
    return page.locator("#invite").inner_text().split()[-1]


def join(other: Page, address: str, code: str) -> None:
    other.goto(f"{address}table#{code}")
    expect(other.locator("#found")).to_contain_text("Who are you?")
    other.locator("#join-name").fill("Bo")
    other.get_by_role("button", name="Join", exact=True).click()
    other.wait_for_url(re.compile(r"/table/\w+$"))
    expect(other.locator(".seat.is-me")).to_contain_text("Bo")


def win_with(page: Page, who: str, text: str, piece: str, payer: str | None) -> None:
    """Tell a win, with a typed hand, up to its preview."""
    page.get_by_role("button", name="Somebody won").click()
    sheet = page.locator("#sheet")
    for chosen in sheet.locator("[data-key^=winner-][aria-pressed=true]").all():
        chosen.click()
    sheet.locator("[data-key^=winner-]", has_text=who).click()
    if payer is None:
        sheet.get_by_role("button", name="Drawn").click()
    else:
        sheet.locator("[data-key^=payer-]", has_text=payer).click()
    sheet.get_by_role("button", name="Photograph or type it").click()
    expect(page.locator("#errand")).to_contain_text(f"{who}’s winning hand")
    page.locator("#text").fill(text + piece)
    page.get_by_role("button", name="Name it").click()
    page.locator(f"#tiles [data-piece='{piece}']").first.click()
    expect(page.locator("#status b")).to_have_text("Won")
    page.get_by_role("button", name="Use this hand").click()
    expect(page.locator("#preview")).to_contain_text("What it comes to")


def points(page: Page, *expected: str) -> None:
    expect(page.locator(".seat-points")).to_have_text([re.compile(rf"^{each}★?$") for each in expected])


def test_an_evening_on_two_phones(page: Page, other: Page, address: str, shoot: Shoot) -> None:
    page.goto(f"{address}table")
    shoot("table-1-home")
    code = open_table(page, address)
    page.locator("#invite").click()
    expect(page.locator(".big-code")).to_have_text(code)
    expect(page.locator(".qr")).to_be_visible()
    assert page.locator(".qr").evaluate(WIDTH) > 0
    shoot("table-2-invite")
    page.locator("#sheet-close").click()
    join(other, address, code)
    expect(page.locator(".seat-name")).to_have_text(["Anna", "Bo", "Chen", "Seat 4"])

    # Before play: exchange and void suits.
    page.get_by_role("button", name="Dealer, exchange, void suits").click()
    page.locator("#sheet").get_by_role("button", name="to the left").click()
    page.locator("[data-key='void-0-s']").click()
    page.get_by_role("button", name="Done").click()
    expect(other.locator("#round")).to_contain_text("to the left")

    # Round 1: Anna wins on Bo's discard, seen by both phones.
    win_with(page, "Anna", FLUSH, "7m", "Bo")
    expect(page.locator("#preview .arrow")).to_have_text(["Bo8 →Anna"])
    expect(page.locator("#preview .score")).to_contain_text("Full flush")
    shoot("table-3-preview")
    page.get_by_role("button", name="Record it").click()
    points(page, "8", "-8", "0", "0")
    points(other, "8", "-8", "0", "0")

    # A mistake, taken back by the other phone and told again.
    win_with(other, "Bo", "123456m3467899p", "2p", "Chen")
    other.get_by_role("button", name="Record it").click()
    points(page, "8", "-7", "-1", "0")
    other.get_by_role("button", name="Undo").click()
    points(page, "8", "-8", "0", "0")
    page.get_by_role("button", name="Redo").click()
    points(other, "8", "-7", "-1", "0")
    points(page, "8", "-7", "-1", "0")

    # The wall's end closes the round: Chen shows nothing, seat 4 neither.
    page.get_by_role("button", name="Wall’s end").click()
    page.get_by_role("button", name="Record it").click()
    expect(page.locator("#round-title")).to_have_text("Round 2, Anna deals")

    # Round 2: nobody wins. Round 3 is told without a connection, and sent when it is back.
    page.get_by_role("button", name="Kong", exact=True).click()
    page.get_by_role("button", name="Record it").click()
    expect(page.locator("#round")).to_contain_text("Anna: kong, concealed")
    page.get_by_role("button", name="Wall’s end").click()
    page.get_by_role("button", name="Record it").click()
    expect(page.locator("#round-title")).to_have_text("Round 3, Anna deals")
    page.context.set_offline(True)
    page.get_by_role("button", name="Wall’s end").click()
    page.get_by_role("button", name="Record it").click()
    expect(page.locator("#status")).to_contain_text("1 thing is kept here")
    shoot("table-4-offline")
    page.context.set_offline(False)
    expect(page.locator("#round-title")).to_have_text("Round 4, Anna deals")
    expect(other.locator(".round-line")).to_have_count(3)
    expect(page.locator("#evening .chart polyline")).to_have_count(4)
    shoot("table-5-table")

    # A round deleted, seen struck through, and brought back.
    other.locator("[data-key=round-1]").click()
    shoot_other = other.locator("#sheet")
    expect(shoot_other).to_contain_text("Full flush")
    shoot_other.get_by_role("button", name="Delete the round").click()
    points(page, "0", "0", "0", "0")
    expect(page.locator(".round-line.is-deleted")).to_have_count(1)
    other.get_by_role("button", name="Undo").click()
    points(page, "8", "-7", "-1", "0")

    # Told anew: without Bo's win.
    page.locator("[data-key=round-1]").click()
    page.locator("#sheet").get_by_role("button", name="Edit").click()
    page.locator("[data-key=remove-1]").click()
    page.get_by_role("button", name="Save the round").click()
    expect(page.locator("#fault")).to_contain_text("hands of the seats still in are needed")
    page.get_by_role("button", name="Close").first.click()
    # With Bo at the wall's end in its place it is a round again.
    page.locator("[data-key=round-1]").click()
    page.locator("#sheet").get_by_role("button", name="Edit").click()
    for _ in range(2):
        page.locator("[data-key=remove-1]").click()
    page.get_by_role("button", name="Add the wall’s end").click()
    page.get_by_role("button", name="Put it into the round").click()
    page.get_by_role("button", name="Save the round").click()
    points(other, "8", "-8", "0", "0")
    page.get_by_role("button", name="Undo").click()
    points(other, "8", "-7", "-1", "0")

    settlement = page.locator("#evening .arrows .arrow")
    expect(settlement).to_have_text(["Bo7 →Anna", "Chen1 →Anna"])
    page.locator("#evening").scroll_into_view_if_needed()
    page.get_by_text("Statistics").click()
    shoot("table-6-evening")
    page.get_by_role("button", name="Journal").click()
    expect(page.locator(".journal li").first).to_contain_text("undo")
    shoot("table-7-journal")
    page.locator("#sheet-close").click()
    with page.expect_download() as download:
        page.get_by_role("link", name="JSON").click()
    saved = download.value.path().read_bytes()
    page.goto(f"{address}table")
    expect(page.locator(".evening")).to_have_count(1)
    page.locator("#bring").set_input_files(
        {"name": "e.json", "mimeType": "application/json", "buffer": saved}
    )
    page.wait_for_url(re.compile(r"/table/\w+$"))
    points(page, "8", "-7", "-1", "0")


def test_what_the_server_never_takes_is_told_and_can_be_dropped(
    page: Page, address: str, shoot: Shoot
) -> None:
    open_table(page, address)
    broken = {"error": {"message": "Something went wrong in the program itself.", "where": ""}}
    page.route("**/actions", lambda route: route.fulfill(status=500, json=broken))
    for button in ("Kong", "Wall’s end"):
        page.get_by_role("button", name=button, exact=True).click()
        page.get_by_role("button", name="Record it").click()
        expect(page.locator("#sheet")).to_be_hidden()
    waiting = page.locator("#waiting-card")
    for _ in range(3):  # what waits is tried again at once when a connection comes back
        with page.expect_response("**/actions"):
            page.evaluate("dispatchEvent(new Event('online'))")
    expect(waiting).to_contain_text("Something went wrong in the program itself.")
    expect(waiting.locator("li")).to_contain_text(
        ["Round 1: Anna: kong, concealed", "Round 1: The wall is out"]
    )
    expect(page.locator("#status")).to_have_text("2 things are kept here: the server fails to take them")
    shoot("table-13-stuck")
    page.once("dialog", lambda dialog: dialog.dismiss())
    waiting.get_by_role("button", name="Drop").first.click()
    expect(waiting.locator("li")).to_have_count(2)
    page.once("dialog", lambda dialog: dialog.accept())
    waiting.get_by_role("button", name="Drop").first.click()
    expect(waiting.locator("li")).to_have_count(1)
    page.unroute("**/actions")  # the server is well again: what is left is taken
    page.evaluate("dispatchEvent(new Event('online'))")
    expect(page.locator("#round-title")).to_have_text("Round 2, Anna deals")
    expect(waiting).to_be_hidden()
    page.locator("[data-key=round-1]").click()
    expect(page.locator("#sheet")).not_to_contain_text("kong")


def test_what_went_wrong_in_a_round_is_told_anew(page: Page, address: str, shoot: Shoot) -> None:
    open_table(page, address)
    sheet = page.locator("#sheet")
    page.get_by_role("button", name="Dealer, exchange, void suits").click()
    page.locator("[data-key='void-0-s']").click()
    page.get_by_role("button", name="Done").click()
    page.get_by_role("button", name="Kong", exact=True).click()
    page.get_by_role("button", name="Record it").click()
    expect(page.locator("#round")).to_contain_text("Anna: kong, concealed")

    # In the round that is being played: what kind of kong it was.
    page.get_by_role("button", name="Edit or delete this round").click()
    sheet.get_by_role("button", name="Edit").click()
    page.locator("[data-key=change-0]").click()
    page.locator("[data-key=kong-promoted]").click()
    page.get_by_role("button", name="Put it into the round").click()
    expect(page.locator(".edit-line")).to_have_text([re.compile("Anna: kong, added to a pung")])
    shoot("table-12-edit")
    page.get_by_role("button", name="Save the round").click()
    expect(page.locator("#round")).to_contain_text("Anna: kong, added to a pung")

    # In one that is over: how Anna stood at the wall's end, and her void suit.
    page.get_by_role("button", name="Wall’s end").click()
    page.locator("[data-key='end-0-void']").click()
    expect(page.locator("#preview .standings")).to_contain_text("Anna void tiles left: 1s")
    page.get_by_role("button", name="Record it").click()
    page.locator("[data-key=round-1]").click()
    sheet.get_by_role("button", name="Edit").click()
    page.locator("[data-key='void-0-p']").click()
    page.locator("[data-key=change-1]").click()
    page.locator("[data-key='end-0-not']").click()
    expect(page.locator("#preview .standings")).to_contain_text("Anna not ready")
    page.get_by_role("button", name="Put it into the round").click()
    page.get_by_role("button", name="Save the round").click()
    page.locator("[data-key=round-1]").click()
    expect(sheet).to_contain_text("Anna: dots")
    expect(sheet.locator(".standings li").first).to_have_text("Anna not ready")
    page.locator("#sheet-close").click()

    # One that shall not be at all.
    page.get_by_role("button", name="Kong", exact=True).click()
    page.get_by_role("button", name="Record it").click()
    page.get_by_role("button", name="Edit or delete this round").click()
    sheet.get_by_role("button", name="Delete the round").click()
    expect(page.locator("#round-title")).to_have_text("Round 3, Anna deals")
    expect(page.locator(".round-line.is-deleted")).to_have_count(1)

    # A hand that came without the piece it was won with.
    page.get_by_role("button", name="Somebody won").click()
    sheet.get_by_role("button", name="Drawn").click()
    sheet.get_by_role("button", name="Photograph or type it").click()
    page.locator("#text").fill(FLUSH + "7m")
    expect(page.locator("#status b")).to_have_text("Won")
    page.get_by_role("button", name="Use this hand").click()
    expect(sheet).to_contain_text("Which piece was it won with?")
    expect(page.locator("#confirm")).to_be_disabled()


def test_what_lies_open_follows_the_table(page: Page, other: Page, address: str) -> None:
    """One phone has a sheet open while the other tells something."""
    join(other, address, open_table(page, address))
    page.get_by_role("button", name="Somebody won").click()
    page.locator("[data-key=payer-1]").click()
    expect(page.locator("[data-key=winner-0]")).to_have_attribute("aria-pressed", "true")
    win_with(other, "Anna", FLUSH, "7m", None)
    other.get_by_role("button", name="Record it").click()
    expect(page.locator("[data-key=winner-0]")).to_have_count(0)  # she has won, and is out
    expect(page.locator("[data-key=winner-1]")).to_have_attribute("aria-pressed", "false")
    page.locator("#sheet-close").click()
    page.get_by_role("button", name="Edit or delete this round").click()
    other.get_by_role("button", name="Kong", exact=True).click()
    other.get_by_role("button", name="Record it").click()
    expect(page.locator("#sheet")).to_contain_text("Bo: kong, concealed")
    # What was looked at may be changed: it is as it is now.
    page.locator("#sheet").get_by_role("button", name="Delete the round").click()
    expect(other.locator("#round-title")).to_have_text("Round 2, Anna deals")


def test_a_stranger_is_sent_to_the_door(page: Page, address: str) -> None:
    page.goto(f"{address}table/0123456789abcdef01234567")
    expect(page.get_by_role("heading", name="You are not at this table")).to_be_visible()
    page.get_by_role("link", name="Join a table").click()
    page.locator("#code").fill("AAAAAA")
    page.get_by_role("button", name="Look").click()
    expect(page.locator("#fault")).to_have_text("No table has this code.")


def test_a_card_table(page: Page, address: str, shoot: Shoot) -> None:
    page.locator("[data-key=game-guangshui]").click()
    page.goto(f"{address}table")
    expect(page.locator("#rules")).to_have_value("guangshui")  # the game played last
    page.get_by_role("button", name="Open the table").click()
    expect(page.locator("#name-0")).to_be_focused()  # who opens it is asked for a name
    page.locator("#name-0").fill("Anna")
    page.get_by_text("House rules, stake").click()
    page.locator("#stake").fill("5")
    page.get_by_role("button", name="Open the table").click()
    page.wait_for_url(re.compile(r"/table/\w+$"))
    expect(page.locator(".seat")).to_have_count(3)
    expect(page.get_by_role("button", name="Kong", exact=True)).to_have_count(0)
    page.get_by_role("button", name="No winner").click()
    page.get_by_role("button", name="Record it").click()
    expect(page.locator("#round-title")).to_contain_text("Round 2")
    expect(page.locator(".round-told")).to_have_text("The stock is out")
    shoot("table-8-cards")


def test_a_hand_with_a_concealed_kong_goes_back_to_the_table(page: Page) -> None:
    kong = {"kind": "kong", "pieces": "1111p", "concealed": True}
    hand = {"rules": "sichuan", "concealed": "123456m 45677p", "melds": [kong]}
    errand = {"back": "/table", "title": "Anna's hand", "rules": "sichuan", "options": {}, "source": "wall"}
    errand["hand"] = hand
    page.evaluate("errand => sessionStorage.setItem('companion.errand', JSON.stringify(errand))", errand)
    page.goto(page.url + "?errand")
    page.get_by_role("button", name="Use this hand").click()
    page.wait_for_url("**/table")
    done = page.evaluate("JSON.parse(sessionStorage.getItem('companion.errand')).done")
    assert [(meld["kind"], meld["concealed"]) for meld in done["melds"]] == [("kong", True)]


FULL = """(() => {
  const set = Storage.prototype.setItem;
  Storage.prototype.setItem = function (name, value) {
    if (this === localStorage && value.length > 5000) throw new DOMException("full", "QuotaExceededError");
    set.call(this, name, value);
  };
})()"""


@pytest.mark.parametrize("full", [False, True], ids=["room", "no-room"])
def test_a_photographed_hand_is_kept_with_its_round_by_choice(
    page: Page, address: str, shoot: Shoot, full: bool
) -> None:
    """full: the device has no room for the photo while it waits for the connection."""
    open_table(page, address)
    page.get_by_role("button", name="Somebody won").click()
    sheet = page.locator("#sheet")
    sheet.get_by_role("button", name="Drawn").click()
    sheet.get_by_role("button", name="Photograph or type it").click()
    shoot("table-9-errand")
    page.get_by_role("button", name="Try the sample photo").click()
    expect(page.locator("#photo .mark")).to_have_count(16)
    page.locator("#tiles [data-piece='4p']").last.click()
    page.get_by_role("button", name="5 of dots, 41 %").click()
    page.get_by_role("button", name="bamboo").click()
    page.get_by_role("button", name="Name it").click()
    page.locator("#tiles [data-piece='3p']").click()
    page.locator("#winning").get_by_role("button", name="Drawn").click()
    expect(page.locator("#status b")).to_have_text("Won")
    page.reload()  # nothing is lost on the way
    shoot("table-10-errand-won")
    page.get_by_role("button", name="Use this hand").click()
    expect(page.locator("#preview .arrow")).to_have_text(["Seat 22 →Anna", "Chen2 →Anna", "Seat 42 →Anna"])
    page.get_by_text("Keep the photo with the round").click()
    page.context.set_offline(True)  # the photo waits with its round
    if full:
        page.evaluate(FULL)
    page.get_by_role("button", name="Record it").click()
    expect(page.locator("#status")).to_contain_text("1 thing is kept here")
    waits = page.evaluate("localStorage.getItem(`companion.queue.${document.body.dataset.table}`)")
    assert ('"record"' in waits, '"photos"' in waits) == (True, not full)
    page.context.set_offline(False)
    points(page, "6", "-2", "-2", "-2")

    page.get_by_role("button", name="Wall’s end").click()
    page.locator("[data-key='end-1-hand']").click()
    page.locator("[data-key='end-1-not']").click()
    page.get_by_role("button", name="Record it").click()
    page.locator("[data-key=round-1]").click()
    photo = sheet.get_by_role("img", name="Anna’s hand")
    expect(photo).to_be_visible()
    assert photo.evaluate(WIDTH) > 0
    shoot("table-11-photo")
    page.on("dialog", lambda dialog: dialog.accept())
    sheet.get_by_role("button", name="Delete this photo").click()
    expect(photo).to_have_count(0)
