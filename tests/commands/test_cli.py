"""The frame of the command line: help, what is loaded when, and how a run may end."""

from __future__ import annotations

import argparse
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from companion import cli

ROOT = Path(__file__).parents[2]
HEAVY = ("cv2", "onnxruntime", "flask", "torch", "PIL", "pydantic")


def companion(*words: str, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run the command in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "companion", *words],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        **options,
    )


def with_command(monkeypatch: pytest.MonkeyPatch, run: Any) -> None:
    """A command `act` that does `run`, in place of the real ones."""

    def add_parser(subparsers: Any) -> None:
        parser: argparse.ArgumentParser = subparsers.add_parser("act")
        parser.set_defaults(run=run)

    monkeypatch.setattr(cli, "COMMANDS", ("act",))
    monkeypatch.setitem(sys.modules, "companion.commands.act", SimpleNamespace(add_parser=add_parser))


def raising(error: BaseException) -> Any:
    def run(args: argparse.Namespace) -> int:
        raise error

    return run


def test_version() -> None:
    assert companion("--version").stdout == f"companion {version('table-companion')}\n"


def test_without_a_command_the_help_lists_them_all(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([]) == 2
    text = capsys.readouterr().out
    for command in cli.COMMANDS:
        assert f"\n    {command} " in text


@pytest.mark.parametrize("command", cli.COMMANDS)
def test_every_command_explains_itself(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        cli.main([command, "--help"])
    assert end.value.code == 0
    assert f"usage: companion {command}" in capsys.readouterr().out


def test_the_command_line_and_scoring_load_nothing_heavy() -> None:
    script = (
        "import sys, companion.cli as cli; cli.build_parser(); "
        "cli.main(['score', '--rules', 'sichuan', '123m 456m 789m 11p 234p']); "
        f"print([name for name in {HEAVY} if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "[]"


def test_a_fault_of_the_program_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("COMPANION_DEBUG", raising=False)
    with_command(monkeypatch, raising(RuntimeError("two\nlines")))
    assert cli.main(["act"]) == 70
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "RuntimeError: two lines" in error
    monkeypatch.setenv("COMPANION_DEBUG", "1")
    with pytest.raises(RuntimeError):
        cli.main(["act"])


def test_ctrl_c_ends_quietly(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    with_command(monkeypatch, raising(KeyboardInterrupt()))
    assert cli.main(["act"]) == 130
    assert capsys.readouterr() == ("", "")


@pytest.mark.skipif(sys.platform == "win32", reason="pipes break differently on Windows")
def test_a_reader_that_goes_away_is_no_error() -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "companion", "--help"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode in (0, 1)


@pytest.mark.parametrize("command", ["read", "evaluate"])
def test_where_opencv_cannot_load_the_message_says_what_to_install(tmp_path: Path, command: str) -> None:
    (tmp_path / "cv2.py").write_text(
        "raise ImportError('libGL.so.1: cannot open shared object file: No such file or directory')"
    )
    done = companion(command, "photo.jpg", env={"PYTHONPATH": str(tmp_path), "PATH": ""})
    assert done.returncode == 69
    assert done.stderr.count("\n") == 1
    for word in ("libGL.so.1", "apt install libgl1 libglib2.0-0", "opencv-python-headless"):
        assert word in done.stderr
