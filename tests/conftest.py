"""What tests of several rooms need."""

from __future__ import annotations

import os
import shutil
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from pytest import TestReport

if TYPE_CHECKING:
    from vision.reader import Reader

ROOT = Path(__file__).parents[1]


def shared_folder() -> Path | None:
    """The folder of rules and data beside the project, if this computer has it."""
    folder = Path(os.environ.get("COMPANION_SHARED", ROOT.parent / "shared"))
    return folder if folder.is_dir() else None


def chromium_path() -> str | None:
    """The system's Chromium (or Chrome), if it has one; `COMPANION_CHROMIUM` names another."""
    names = (os.environ.get("COMPANION_CHROMIUM", ""), "chromium", "chromium-browser", "google-chrome")
    return next((found for name in names if name and (found := shutil.which(name))), None)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(call: pytest.CallInfo[None]) -> Generator[None, TestReport, TestReport]:
    """All tests that a fixture of this file skips are told in one line, not in one each."""
    report = yield
    if report.skipped and call.excinfo is not None and isinstance(report.longrepr, tuple):
        for entry in call.excinfo.traceback:
            if entry.path == Path(__file__):
                report.longrepr = (str(entry.path), entry.lineno + 1, report.longrepr[2])
    return report


@pytest.fixture(scope="session", autouse=True)
def own_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Tests and the servers that they start neither see nor touch what belongs to who runs them."""
    with pytest.MonkeyPatch.context() as patched:
        home = tmp_path_factory.mktemp("home")
        patched.setenv("COMPANION_HOME", str(home))
        patched.delenv("COMPANION_DATABASE_URL", raising=False)
        yield home


@pytest.fixture(scope="session")
def shared() -> Path:
    """The shared folder; a test that asks for it is skipped where there is none."""
    if (folder := shared_folder()) is None:
        pytest.skip("no shared folder beside the project (COMPANION_SHARED names another place)")
    return folder


@pytest.fixture(scope="session")
def chromium() -> str:
    """The path of a system Chromium; a test that asks for it is skipped where there is none."""
    if (path := chromium_path()) is None:
        pytest.skip("no Chromium on this computer: the page is not tested in a browser")
    return path


@pytest.fixture(scope="session")
def shipped_reader() -> Reader:
    """The reader with the models of this checkout."""
    from vision.reader import Reader

    return Reader.default()
