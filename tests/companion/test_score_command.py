"""`companion score` and the engine half of `companion bench`, as a user runs them."""

from __future__ import annotations

import io
import json
import random
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from companion.cli import main
from companion.commands.bench import CARD_GOALS_US, GOALS_US, won_hand

GOOD = {"rules": "sichuan", "concealed": "123456m3467899p", "winning": {"piece": "2p", "from": "discard"}}


def lines_of(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def test_lines_in_lines_out_in_order(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good = json.dumps(GOOD).encode()
    bad = [
        (b"\xff\xfe", "line 2", "not UTF-8: byte 1"),
        (b"nothing", "line 3", "not JSON: Expecting value, column 1"),
        (b"[1]", "line 4", "an object expected, not a list"),
        (b"NaN", "line 5", "not JSON: NaN"),
        (b'{"rules": "sichuan", "concealed": "1m", "concealed": "2m"}', "line 6", "'concealed' stands twice"),
        (b"[" * 100_000, "line 7", "nested too deeply"),
        (b'{"rules": ' + b"9" * 10_000 + b"}", "line 8", "too long"),
        (b'{"rules": "sichuan", "concealed": "12x"}', "concealed, position 1", "'12x' at position 1"),
        (b'{"rules": "sichuan", "concealed": 7}', "concealed", "not 7"),
        (b"{}", "line 11", "rules is missing"),
    ]
    file = tmp_path / "hands.jsonl"
    file.write_bytes(b"\n".join([b"\xef\xbb\xbf" + good, *(line for line, _, _ in bad), b"", good, b""]))
    assert main(["score", str(file)]) == 1
    answers = lines_of(capsys.readouterr().out)
    assert len(answers) == len(bad) + 2
    assert answers[0] == answers[-1]
    assert (answers[0]["status"], answers[0]["score"]["total"]) == ("won", 0)
    for (_, where, message), answer in zip(bad, answers[1:-1], strict=True):
        assert list(answer) == ["error"]
        assert answer["error"]["where"] == where
        assert message in answer["error"]["message"]


def test_standard_input_and_a_clean_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stdin = SimpleNamespace(buffer=io.BytesIO(json.dumps(GOOD).encode() + b"\n"))
    monkeypatch.setattr(sys, "stdin", stdin)
    assert main(["score", "-"]) == 0
    assert lines_of(capsys.readouterr().out)[0]["status"] == "won"


def test_files_that_cannot_be_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for path in (tmp_path / "missing", tmp_path):
        assert main(["score", str(path)]) == 1
        assert str(path) in capsys.readouterr().err
    assert main(["score", "one", "two"]) == 2


def test_a_thousand_hands_take_seconds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rng = random.Random(1)
    file = tmp_path / "hands.jsonl"
    file.write_text("".join(json.dumps(won_hand(rng).to_document()) + "\n" for _ in range(1000)))
    started = time.process_time()
    assert main(["score", str(file)]) == 0
    assert time.process_time() - started < 60  # a third of a second on a common computer
    assert all(answer["status"] == "won" for answer in lines_of(capsys.readouterr().out))


@pytest.mark.parametrize(
    "concealed", ["1" * 100_000 + "m", "123456789m" * 10_000, "1m" * 50_000 + "7z" * 50_000]
)
def test_a_hundred_thousand_pieces_are_judged_like_any_wrong_hand(
    concealed: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "hands.jsonl"
    file.write_text(json.dumps({"rules": "sichuan", "concealed": concealed}))
    started = time.process_time()
    assert main(["score", str(file)]) == 0
    assert time.process_time() - started < 120  # one second; growing with the square it would be an hour
    assert lines_of(capsys.readouterr().out)[0]["status"] == "invalid"


def test_a_typed_hand_for_people(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["score", "--rules", "sichuan", "22456m", "99p", "--meld", "pung 333m"]
    words += ["--meld", "concealed kong 5555p", "--win", "2m", "--from", "wall", "--void", "s"]
    words += ["--option", "preset=sbr", "--option", "cap=4", "--context", "after_kong=true"]
    assert main(words) == 0
    out = capsys.readouterr().out
    assert out.startswith("Won: 2 fan\n")
    for text in (
        "(root)",
        "(after-kong)",
        "base 4",
        "each pays 5",
        "winner gets 15",
        "222m",
        "wall_end sbr",
        "cap 4",
    ):
        assert text in out
    assert main([*words, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["score"]["winner_gets"] == 15
    assert answer["arrangement"][1] == {"kind": "kong", "pieces": "5555p", "concealed": True}


@pytest.mark.parametrize(
    ("concealed", "shown"),
    [
        ("123456m34678p99p", ["Ready", "waits for 2p (2 of dots): 0 fan, 4 pieces left"]),
        ("123456m34678p99p1m", ["Ready", "discard 1m: ready, "]),
        ("147m258m369m1471p", ["Building, "]),
        ("11111m", ["Invalid", "Note: 5 times 1m"]),
    ],
)
def test_what_people_are_told(concealed: str, shown: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["score", "--rules", "sichuan", concealed, "--void", "s"]) == 0
    out = capsys.readouterr().out
    for text in shown:
        assert text in out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["12x"], "concealed, position 1"),
        (["1m", "--meld", "pung"], "melds[0].pieces"),
        (["1m", "--meld", ""], "melds[0].kind"),
        (["1m", "--win", "12m"], "winning.piece: one piece expected"),
        (["1m", "--option", "cap=5"], "options.cap: unknown value '5'; known: 3, 4, 'none'"),
        (["1m", "--option", "cap"], "options: NAME=VALUE expected"),
        (["1m", "--option", "colour=red"], "options: unknown name 'colour'"),
        (["1m", "--context", "last_tile=maybe"], "context.last_tile: unknown value 'maybe'"),
        (["1m", "--bonus", "1m"], "bonus: 1m is no flower"),
    ],
)
def test_typed_mistakes(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["score", "--rules", "sichuan", *words]) == 1
    assert message in capsys.readouterr().err
    assert main(["score", "--json", "--rules", "sichuan", *words]) == 1
    error = json.loads(capsys.readouterr().out)["error"]
    assert message in f"{error['where']}: {error['message']}"


def test_bench_measures_the_engine(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "engine", "--hands", "20", "--json"]) == 0
    measured = json.loads(capsys.readouterr().out)["engine"]
    assert [row["what"] for row in measured["rows"]] == [*GOALS_US, "whole analysis"]
    assert {row["rules"] for row in measured["cards"]} == set(CARD_GOALS_US)
    for row in [*measured["rows"], *measured["cards"]]:
        for run in ("cold", "warm"):
            assert 0 < row[run]["median_us"] <= row[run]["p95_us"]
    assert main(["bench", "engine", "--hands", "20"]) == 0
    assert "waits with value" in capsys.readouterr().out
    assert main(["bench", "engines"]) == 2
    assert main(["bench", "--hands", "0"]) == 2
