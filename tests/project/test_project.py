"""The project as a whole: the wheel is complete, names do not clash, CI runs the README's command."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
ROOMS = ("companion", "vision", "models", "datasets", "web")


@pytest.fixture(scope="module")
def tracked() -> list[str]:
    """Every file that git tracks here."""
    if not (ROOT / ".git").exists() or shutil.which("git") is None:
        pytest.skip("no git checkout, so nothing says which files belong to the project")
    names = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    return [name for name in names.split("\0") if name and (ROOT / name).is_file()]


@pytest.fixture(scope="module")
def installed(tracked: list[str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what the wheel holds, built from the tracked files alone."""
    pytest.importorskip("setuptools", reason="setuptools is not installed: no wheel is built")
    source, built, target = (tmp_path_factory.mktemp(name) for name in ("source", "built", "installed"))
    for name in tracked:
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, source / name)
    script = f"from setuptools import build_meta; build_meta.build_wheel({str(built)!r})"
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=source, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    (wheel,) = built.glob("table_companion-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(target)
    return target


def test_the_wheel_holds_every_file_of_the_rooms(tracked: list[str], installed: Path) -> None:
    ours = {name for name in tracked if name.split("/")[0] in ROOMS}
    held = {path.relative_to(installed).as_posix() for path in installed.rglob("*") if path.is_file()}
    assert ours - held == set()
    assert {name for name in held - ours if ".dist-info/" not in name} == set()


def test_what_the_wheel_installs_runs_by_itself(installed: Path, tmp_path: Path) -> None:
    script = (
        "import companion; print(companion.__file__); from companion.cli import main; main(['--version'])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        env={"PYTHONPATH": str(installed)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    where, answer = done.stdout.splitlines()
    assert Path(where).is_relative_to(installed)
    assert answer.startswith("companion ")


def test_what_the_wheel_installs_reads_its_sample_photo(installed: Path, tmp_path: Path) -> None:
    sample = installed / "web" / "static" / "samples" / "sichuan-hand.jpg"
    done = subprocess.run(
        [sys.executable, "-m", "companion", "read", "--json", str(sample)],
        cwd=tmp_path,
        env={"PYTHONPATH": str(installed)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    reading = json.loads(done.stdout)
    assert reading["deck"] == "mahjong"
    assert len([piece for piece in reading["pieces"] if piece["role"] in ("hand", "meld")]) in (13, 14)


def dependencies() -> Iterator[Distribution]:
    """Every distribution that table-companion needs, directly or not, extras included where installed."""
    waiting, known = ["table-companion"], {"table-companion"}
    while waiting:
        try:
            found = distribution(waiting.pop())
        except PackageNotFoundError:  # of an extra that is not installed
            continue
        if found.name != "table-companion":
            yield found
        for requirement in map(Requirement, found.requires or ()):
            if requirement.name not in known:
                known.add(requirement.name)
                waiting.append(requirement.name)


def test_no_dependency_brings_a_package_of_our_names() -> None:
    names = set()
    for found in dependencies():
        names.add(found.name)
        clash = {file.parts[0] for file in found.files or () if len(file.parts) > 1} & set(ROOMS)
        assert not clash, f"{found.name} brings {clash}"
    assert {"flask", "numpy"} <= {name.lower() for name in names}


def test_no_path_of_a_machine_is_tracked(tracked: list[str]) -> None:
    private = re.compile(r"/(work|root|farm)/|/tmp/[a-z]|" + re.escape(f"{ROOT}/"))
    found = [
        f"{name}: {match.group()}"
        for name in tracked
        if not name.startswith(".ci/")
        and b"\0" not in (content := (ROOT / name).read_bytes())
        and (match := private.search(content.decode(errors="replace")))
    ]
    assert found == []


def test_the_readme_begins_with_the_commands_that_run_and_test() -> None:
    fence, run, test = (ROOT / "README.md").read_text().splitlines()[:3]
    assert fence.startswith("```")
    assert run.endswith("companion serve")
    assert test.endswith("python -m pytest")
    assert test in map(str.strip, (ROOT / ".ci" / "run").read_text().splitlines())


def test_without_chromium_all_browser_tests_are_skipped_in_one_line(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/browser/test_teach.py"],
        cwd=ROOT,
        env={**os.environ, "PATH": str(tmp_path), "COMPANION_CHROMIUM": ""},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout
    assert re.findall("^SKIPPED.*", done.stdout, re.MULTILINE) == [
        next(line for line in done.stdout.splitlines() if "no Chromium on this computer" in line)
    ]
