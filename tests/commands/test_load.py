"""`companion load`, small: phones that play are told what is kept, also when the server is killed."""

from __future__ import annotations

import json

import pytest

from companion.cli import main
from tests.table.conftest import postgres_url  # noqa: F401 - a fixture


@pytest.mark.parametrize("kill", [False, True])
def test_nothing_is_lost_or_doubled(kill: bool, capsys: pytest.CaptureFixture[str]) -> None:
    main(
        ["load", "--tables", "2", "--seconds", "8", "--photos", "0", "--json", *(["--kill"] if kill else [])]
    )
    told = json.loads(capsys.readouterr().out)
    assert (told["phones"], told["errors"], told["lost_or_doubled"]) == (8, 0, 0), told
    assert told["polls"] >= 8 and told["rounds"] > 0 and told["other_requests"] > told["rounds"]
    assert bool(told["broken_connections"]) == kill


def test_two_processes_share_a_database(postgres_url: str, capsys: pytest.CaptureFixture[str]) -> None:  # noqa: F811
    options = ["--tables", "2", "--seconds", "8", "--photos", "0", "--processes", "2", "--json"]
    main(["load", *options, "--database", postgres_url])
    told = json.loads(capsys.readouterr().out)
    assert (told["processes"], told["errors"], told["lost_or_doubled"]) == (2, 0, 0), told
    assert told["rounds"] > 0


def test_nonsense_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["load", "--tables", "0"])
    assert "a number from 1 to 10000" in capsys.readouterr().err
