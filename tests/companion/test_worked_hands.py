"""Hands worked out by hand, in `tests/data/hands`: those of the rule texts by name, `more.jsonl` ours."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from companion import Hand, analyse
from companion.rules import RULE_SETS
from tests.conftest import shared_folder

FOLDER = Path(__file__).parents[1] / "data" / "hands"


def cases() -> list[Any]:
    files = sorted(FOLDER.glob("*.jsonl"))
    if shared := shared_folder():
        files += [shared / "rules" / "examples" / f"{name}.jsonl" for name in RULE_SETS]
    found = {}
    for file in files:
        for line in file.read_text("utf-8").splitlines():
            found[line] = json.loads(line)
    return [pytest.param(case, id=case["id"]) for case in found.values()]


def answered(result: dict[str, Any], key: str) -> Any:
    """What the result says about a key of `expect`."""
    if key in ("status", "shanten"):
        return result[key]
    if key == "items":
        return {item["name"]: item["value"] for item in result["score"]["items"]}
    if key.startswith("wait"):
        part = {"waits": "piece", "wait_status": "status", "wait_total": "total"}[key]
        return [wait[part] for wait in result["waits"]]
    return result["score"][key]


@pytest.mark.parametrize("case", cases())
def test_worked_hand(case: dict[str, Any]) -> None:
    result = analyse(Hand.from_document(case["hand"])).to_document()
    for key, expected in case["expect"].items():
        answer = answered(result, key)
        if key == "waits":  # in any order
            answer, expected = sorted(answer), sorted(expected)
        assert answer == expected or (key == "status" and answer in expected), (key, case["note"])
    if result["score"]:
        assert sum(item["value"] for item in result["score"]["items"]) == result["score"]["total"]
