"""The live preview in Chromium, whose camera shows a film made of the sample photo."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import cv2
import numpy as np
import pytest

pytest.importorskip("playwright.sync_api", reason="playwright is not installed: no browser tests")
from playwright.sync_api import Browser, Page, Playwright, expect

from companion.installed import readable_decks
from tests.browser.conftest import FLAGS, PATIENCE_MS, served, visit
from vision.load import load_photo
from vision.reader import Reader
from web import create_app

SAMPLES = Path(__file__).parents[2] / "web" / "static" / "samples"


def film(path: Path, sample: str, frames: int = 6) -> None:
    """A film of a sample photo, held by hand: each frame some pixels off."""
    image = load_photo(SAMPLES / f"{sample}-hand.jpg").image
    rng = np.random.default_rng(3)
    width, height = 1280, 960
    small = cv2.resize(image, (width, height), interpolation=cv2.INTER_AREA)
    with path.open("wb") as file:
        file.write(f"YUV4MPEG2 W{width} H{height} F10:1 Ip A1:1 C420mpeg2\n".encode())
        for _ in range(frames):
            shift = np.eye(2, 3, dtype=np.float32)
            shift[:, 2] = rng.normal(0, 1, 2)
            moved = cv2.warpAffine(small, shift, (width, height), borderMode=cv2.BORDER_REPLICATE)
            file.write(b"FRAME\n" + cv2.cvtColor(moved, cv2.COLOR_BGR2YUV_I420).tobytes())


@contextmanager
def filming(playwright: Playwright, chromium: str, folder: Path, sample: str) -> Iterator[Browser]:
    """Chromium with a camera that shows the film of a sample."""
    path = folder / f"{sample}.y4m"
    film(path, sample)
    flags = (
        *FLAGS,
        "--use-fake-ui-for-media-stream",
        "--use-fake-device-for-media-stream",
        f"--use-file-for-fake-video-capture={path}",
    )
    started = playwright.chromium.launch(executable_path=chromium, args=flags)
    yield started
    started.close()


@pytest.fixture(scope="module")
def camera(
    playwright: Playwright, chromium: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Browser]:
    """Chromium with a camera that shows a hand of tiles."""
    with filming(playwright, chromium, tmp_path_factory.mktemp("film"), "sichuan") as started:
        yield started


@pytest.fixture(scope="module")
def real_address(shipped_reader: Reader) -> Iterator[str]:
    """The page with the shipped reader behind it."""
    with served(create_app(shipped_reader)) as address:
        yield address


def keep(page: Page, name: str) -> None:
    """What the screen shows, in the folder that COMPANION_SCREENSHOTS names."""
    if folder := os.environ.get("COMPANION_SCREENSHOTS"):
        Path(folder).mkdir(parents=True, exist_ok=True)
        page.screenshot(path=Path(folder) / f"{name}.png", animations="disabled")


def camera_is_released(page: Page) -> None:
    """The dialog hides first; the event that follows releases the camera."""
    expect(page.locator("#camera")).to_be_hidden()
    page.wait_for_function("() => document.getElementById('camera-video').srcObject === null")


def watch(page: Page) -> None:
    """Keep what the preview says and outlines: the shot may be taken before anyone looks."""
    page.evaluate(
        """() => {
            window.advised = [];
            window.outlined = {};
            new MutationObserver((changes) => {
                // Also what was replaced before anyone was told of it.
                for (const { addedNodes } of changes)
                    for (const node of addedNodes) window.advised.push(node.textContent);
                for (const mark of document.querySelectorAll("#camera-marks .mark"))
                    for (const name of mark.classList)
                        window.outlined[name] = document.querySelectorAll(`#camera-marks .${name}`).length;
            }).observe(document.getElementById("camera"), { childList: true, subtree: true });
        }"""
    )


def test_the_shot_is_taken_by_itself_and_the_hand_appears(camera: Browser, real_address: str) -> None:
    with visit(camera, real_address) as page:
        watch(page)
        page.get_by_role("button", name="Live: point and wait").click()
        page.wait_for_function("() => outlined.mark > 0")
        keep(page, "live-1-looking")
        expect(page.locator("#photo .mark-hand")).to_have_count(11, timeout=2 * PATIENCE_MS)
        expect(page.locator("#photo .mark-meld")).to_have_count(3)
        camera_is_released(page)
        expect(page.locator("#tiles .tile[data-piece='8m']")).to_have_count(2)
        keep(page, "live-2-hand")


def test_a_hand_of_cards_is_taken_too(
    playwright: Playwright, chromium: str, tmp_path: Path, real_address: str
) -> None:
    if "four-color" not in readable_decks():
        pytest.skip("no models of cards are installed")
    with (
        filming(playwright, chromium, tmp_path, "fujian") as camera,
        visit(camera, real_address) as page,
    ):
        page.locator("[data-key=game-fujian]").click()
        watch(page)
        page.get_by_role("button", name="Live: point and wait").click()
        page.wait_for_function("() => outlined['mark-meld'] === 3")
        page.wait_for_function("() => advised.includes('21 of 21. Hold still')")
        keep(page, "live-4-cards")
        expect(page.locator("#photo .mark-hand")).to_have_count(18, timeout=2 * PATIENCE_MS)
        expect(page.locator("#photo .mark-meld")).to_have_count(3)
        camera_is_released(page)
        expect(page.locator("#tiles .tile[data-piece='Pw']")).to_have_count(3)
        keep(page, "live-5-fan")


def test_a_doubtful_tile_is_named_and_the_shutter_takes_the_shot(camera: Browser, address: str) -> None:
    with visit(camera, address) as page:
        page.get_by_role("button", name="Live: point and wait").click()
        advice = page.locator("#camera-advice")
        expect(advice).to_have_text("One tile is doubtful: 4 of dots or 5 of dots?")
        expect(page.locator("#camera-marks .mark")).to_have_count(16)
        expect(page.locator("#camera-marks .mark-doubtful text")).to_have_text(["7m?", "4p?"])
        keep(page, "live-3-doubtful")
        page.get_by_role("button", name="Take the photo now").click()
        expect(page.locator("#photo .mark")).to_have_count(16)
        expect(page.locator("#camera")).to_be_hidden()
        # The photo was taken in full.
        kept = page.evaluate("JSON.parse(sessionStorage.getItem('companion.hand')).state.photo")
        assert (kept["width"], kept["height"]) == (1280, 960)


def test_stopping_releases_the_camera(camera: Browser, address: str) -> None:
    with visit(camera, address) as page:
        for stop in ("button", "Escape"):
            page.locator("[data-do=live]").first.click()
            expect(page.locator("#camera-marks .mark").first).to_be_visible()
            track = page.evaluate_handle(
                "document.getElementById('camera-video').srcObject.getVideoTracks()[0]"
            )
            if stop == "button":
                page.get_by_role("button", name="Stop the camera").click()
            else:
                page.keyboard.press(stop)
            camera_is_released(page)
            assert page.evaluate("track => track.readyState", track) == "ended"


def refuse_camera(page: Page, fault: str) -> None:
    """Whatever camera this computer has, the page gets none, for this reason."""
    page.evaluate(
        """fault => {
            navigator.mediaDevices.getUserMedia = async () => {
                throw new DOMException("No.", fault);
            };
        }""",
        fault,
    )


def test_no_camera_is_told(page: Page) -> None:
    refuse_camera(page, "NotFoundError")
    page.locator("[data-do=live]").first.click()
    expect(page.locator("#camera-message")).to_have_text("No camera was found.")
    expect(page.get_by_role("button", name="Take the photo now")).to_be_disabled()
    page.get_by_role("button", name="Stop the camera").click()
    expect(page.locator("#camera")).to_be_hidden()


def test_without_permission_the_way_out_is_told(page: Page) -> None:
    refuse_camera(page, "NotAllowedError")
    page.locator("[data-do=live]").first.click()
    expect(page.locator("#camera-message")).to_contain_text("may not use the camera")


def test_a_lost_connection_is_told_and_the_preview_goes_on(camera: Browser, address: str) -> None:
    with visit(camera, address) as page:
        page.route(
            "**/api/frames", lambda route: route.fulfill(status=503, json={"error": {"message": "Busy."}})
        )
        page.locator("[data-do=live]").first.click()
        expect(page.locator("#camera-advice")).to_have_text("Busy.")
        page.unroute("**/api/frames")
        expect(page.locator("#camera-marks .mark")).to_have_count(16)
