"""A running server and a phone-sized Chromium page on it.

What these tests wait for must come on any machine, and must not be something that passes by. To see whether
it does, `COMPANION_SLOW_PHONE=8` makes Chromium eight times slower, and `COMPANION_SLOW_SERVER=800` lets each
answer of the API wait up to so many milliseconds before it is worked out and after it, so that answers
overtake one another.
"""

from __future__ import annotations

import os
import random
import shutil
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from flask import Flask
from waitress.server import create_server

from tests.web.fakes import SampleReader
from web import create_app

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Playwright

PHONE = {"width": 390, "height": 844}
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PATIENCE_MS = 60_000  # a busy machine is slow; nothing waits for longer than it must
SLOW_PHONE = float(os.environ.get("COMPANION_SLOW_PHONE", "1"))
SLOW_SERVER_MS = float(os.environ.get("COMPANION_SLOW_SERVER", "0"))


@contextmanager
def served(app: Flask) -> Iterator[str]:
    """The address of the application, running on a port of its own."""
    server = create_server(hesitant(app) if SLOW_SERVER_MS else app, host="127.0.0.1", port=0, threads=8)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.effective_port}/"
    server.close()
    thread.join(5)


def hesitant(app: Flask) -> Callable[[dict[str, Any], Any], Iterable[bytes]]:
    """The application with an API that takes its time: a different one for each answer."""
    rng = random.Random(1)

    def answer(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        slow_s = SLOW_SERVER_MS / 1000 if environ["PATH_INFO"].startswith("/api/") else 0.0
        time.sleep(rng.uniform(0, slow_s))
        told = app(environ, start_response)
        time.sleep(rng.uniform(0, slow_s))
        return told

    return answer


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    """The page's address, with a reader that needs no models behind it."""
    with served(create_app(SampleReader())) as address:
        yield address


@pytest.fixture(scope="session")
def playwright() -> Iterator[Playwright]:
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as started:
        yield started


@pytest.fixture(scope="session")
def browser(playwright: Playwright, chromium: str) -> Iterator[Browser]:
    started = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
    yield started
    started.close()


@contextmanager
def visit(browser: Browser, address: str) -> Iterator[Page]:
    """The page, freshly opened by a newcomer; whatever it complains about in the console fails the test."""
    context = browser.new_context(viewport=PHONE, device_scale_factor=2, has_touch=True, is_mobile=True)  # type: ignore[arg-type]
    context.set_default_timeout(PATIENCE_MS)
    opened = context.new_page()
    complaints: list[str] = []
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    opened.on(
        "console",
        # What the network refuses is logged by the browser itself; tests of that look at the page instead.
        lambda message: (
            complaints.append(message.text)
            if message.type == "error" and "Failed to load resource" not in message.text
            else None
        ),
    )
    if SLOW_PHONE > 1:
        context.new_cdp_session(opened).send("Emulation.setCPUThrottlingRate", {"rate": SLOW_PHONE})
    opened.goto(address)
    opened.wait_for_selector("body:not(.is-starting)")
    yield opened
    context.close()
    assert complaints == []


@pytest.fixture
def page(browser: Browser, address: str) -> Iterator[Page]:
    """The page as `visit` opens it."""
    with visit(browser, address) as opened:
        yield opened


@pytest.fixture
def shoot(page: Page, tmp_path: Path) -> Callable[[str], Path]:
    """Save what the screen shows; copies go to the folder that COMPANION_SCREENSHOTS names."""

    def shoot(name: str) -> Path:
        picture = tmp_path / f"{name}.png"
        page.screenshot(path=picture, animations="disabled")
        if folder := os.environ.get("COMPANION_SCREENSHOTS"):
            Path(folder).mkdir(parents=True, exist_ok=True)
            shutil.copy(picture, folder)
        return picture

    return shoot
