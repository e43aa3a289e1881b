"""Teaching a tile set on a phone: make it, photograph, check, save, undo; and learning from a correction."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

pytest.importorskip("playwright.sync_api", reason="playwright is not installed: no browser tests")
from playwright.sync_api import Page, expect

from tests.browser.conftest import served
from tests.web.test_teach import TaughtReader
from vision.sets import TileSets, source_of
from web import create_app

SAMPLE = Path(__file__).parents[2] / "web" / "static" / "samples" / "sichuan-hand.jpg"


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder where this module's server keeps what it is taught."""
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def address(kept: Path) -> Iterator[str]:
    with served(create_app(TaughtReader(), {"COMPANION_HOME": kept})) as address:
        yield address


def test_a_set_is_taught_used_corrected_and_forgotten(
    page: Page, kept: Path, shoot: Callable[[str], Path]
) -> None:
    page.get_by_role("link", name="Teach my tiles").click()
    page.get_by_label("New set").fill("Grandma's")
    page.get_by_role("button", name="Add it").click()
    expect(page.get_by_role("heading", name="Teach Grandma's")).to_be_visible()

    page.locator("input[type=file]").last.set_input_files(SAMPLE)
    expect(page.locator("#photo .mark")).to_have_count(15)
    expect(page.locator(".lesson-tile")).to_have_count(15)
    page.locator(".lesson-tile").first.click()
    page.locator("#sheet").get_by_role("button", name="7 of bamboo").click()
    page.locator(".lesson-tile").last.click()
    page.locator("#sheet").get_by_role("button", name="Leave this one out").click()
    shoot("teach-1-check")
    page.get_by_role("button", name="Learn these tiles").click()
    expect(page.locator("#gain-text")).to_contain_text("of 14")
    expect(page.locator(".picture")).to_have_count(14)
    shoot("teach-2-gain")
    page.locator("#gain").get_by_role("button", name="Undo the last lesson").click()
    expect(page.locator(".picture")).to_have_count(0)

    # A correction on the main page is kept once the hand is left alone, and taken back with it.
    page.get_by_label("Learn from my corrections").check()
    page.get_by_role("link", name="To the hand").click()
    page.get_by_role("button", name="Try the sample photo").click()
    expect(page.locator("#photo .mark")).to_have_count(16)
    tile_set = TileSets(kept).get("Grandma's")
    with page.expect_response("**/corrections") as sent:
        page.locator("#tiles [data-piece='4p']").last.click()
        page.get_by_role("button", name="5 of dots, 41 %").click()
    assert sent.value.ok
    (one,) = tile_set.kept()
    assert one.piece == "5p" and source_of(one)[0] == "correction"
    with page.expect_response("**/pictures/*") as gone:
        page.get_by_role("button", name="Undo", exact=True).click()
    assert gone.value.ok and tile_set.kept() == []

    # The same from the reading itself: the switch is there, and the way to the set.
    learn = page.get_by_role("switch", name="Learn from my corrections")
    expect(learn).to_be_checked()
    expect(page.locator("#learn-note")).to_contain_text("“Grandma's”")
    learn.scroll_into_view_if_needed()
    shoot("teach-3-reading")
    page.locator("#photo-card").get_by_role("link", name="Teach my tiles").click()
    page.on("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Forget this set").click()
    expect(page.get_by_role("button", name="Grandma's")).to_have_count(0)
    assert TileSets(kept).all() == []


def test_corrections_teach_without_a_set_being_named_first(page: Page, kept: Path) -> None:
    page.get_by_role("button", name="Try the sample photo").click()
    expect(page.locator("#photo .mark")).to_have_count(16)
    learn = page.get_by_role("switch", name="Learn from my corrections")
    expect(learn).not_to_be_checked()
    page.locator("#tiles [data-piece='4p']").last.click()
    page.get_by_role("button", name="5 of dots, 41 %").click()
    with page.expect_response("**/corrections") as sent:
        learn.check()
    assert sent.value.ok
    expect(page.locator("#learn-note")).to_contain_text("“My tiles”")
    tile_set = TileSets(kept).get("My tiles")
    assert [one.piece for one in tile_set.kept()] == ["5p"]
    learn.uncheck()
    expect(page.locator("#learn-note")).to_contain_text("Read with what “My tiles” was taught")
    tile_set.forget()
