"""Whole evenings of 40 rounds: after every step the totals are those of an independent ledger, and sum to
what the table began with (`Evening.do` holds both against each other)."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest

from companion.table.actions import TableError
from companion.table.export import from_json, to_csv, to_json
from companion.table.replay import State
from companion.table.settle import settle
from companion.table.statistics import statistics
from companion.table.view import evening_document, journal_document, round_document, table_document
from tests.table.evenings import ROUNDS, cards, ledger, sichuan


@pytest.fixture(
    scope="module",
    params=[
        ("sichuan", {}),
        ("sichuan", {"preset": "sbr"}),
        ("sichuan", {"preset": "chengdu"}),
        ("fujian", {}),
        ("fujian", {"discarder_pays_all": True}),
        ("guangshui", {}),
    ],
    ids=lambda each: "-".join([each[0], *map(str, each[1].values())]),
)
def evening(request: pytest.FixtureRequest) -> State:
    rules, options = request.param
    return sichuan(options, 1) if rules == "sichuan" else cards(rules, options, 2)


def test_forty_rounds_add_up(evening: State) -> None:
    assert len(evening.rounds) == ROUNDS
    assert len(evening.counted) == ROUNDS - 4
    assert all(round_.over for round_ in evening.rounds)
    assert list(evening.points) == ledger(to_json(evening))
    assert len(set(evening.points)) > 1
    total = [evening.create.start] * evening.seats
    for round_ in evening.counted:
        total = [before + gain for before, gain in zip(total, round_.gains(evening.seats), strict=True)]
        assert list(round_.points) == total


def test_it_comes_back_from_its_file(evening: State) -> None:
    again = from_json(to_json(evening))
    assert again == evening
    assert to_json(again) == to_json(evening)


def test_a_spreadsheet_has_every_payment(evening: State) -> None:
    head, *rows = csv.reader(io.StringIO(to_csv(evening)))
    at = head.index("amount")
    gains = dict.fromkeys(evening.names, 0)
    for row in rows:
        if int(row[at]):
            gains[row[at - 2]] -= int(row[at])
            gains[row[at - 1]] += int(row[at])
    assert [evening.create.start + gains[name] for name in evening.names] == list(evening.points)
    assert {int(row[0]) for row in rows} == {round_.number for round_ in evening.counted}


def test_what_pages_are_told_is_json_and_agrees(evening: State) -> None:
    documents: list[Any] = [table_document(evening), journal_document(evening), evening_document(evening)]
    rounds = [round_document(evening, round_) for round_ in evening.rounds]
    assert json.loads(json.dumps(documents + rounds)) == documents + rounds
    for round_, document in zip(evening.rounds, rounds, strict=True):
        paid = [0] * evening.seats
        for event in document["events"]:
            for transfer in event["outcome"]["transfers"]:
                paid[transfer["payer"]] -= transfer["amount"]
                paid[transfer["payee"]] += transfer["amount"]
        assert round_.deleted or paid == document["gains"]


def test_the_settlement_brings_everyone_to_the_start(evening: State) -> None:
    balances = [points - evening.create.start for points in evening.points]
    for each in settle(balances):
        balances[each.payer] += each.amount
        balances[each.payee] -= each.amount
    assert balances == [0] * evening.seats


def test_statistics_count_what_counts(evening: State) -> None:
    told = statistics(evening)
    assert told.rounds == ROUNDS - 4
    assert sum(seat.wins for seat in told.seats) >= told.rounds - told.unpaid > 0
    assert sum(seat.wins - seat.self_draws for seat in told.seats) == sum(
        seat.paid_for for seat in told.seats
    )
    assert told.biggest[0].earned == max(hand.earned for hand in told.biggest)
    assert told.items


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda text: text[:-10], "no JSON"),
        (lambda text: text.replace("table-companion/table-1", "other"), "no evening"),
        (lambda text: text.replace('"number": 7,', '"number": 8,'), "Entry 7 of the journal has number 8"),
        (lambda text: text.replace('"key": "k5"', '"key": "k6"'), "same key"),
        (lambda text: text.replace('"stake": 5', '"stake": 0'), "stake is not right"),
        (lambda text: text.replace("+00:00", "", 1), "time zone"),
        (lambda text: text.replace("2026-11-30T19:00", "yesterday", 1), "date and a time"),
        (lambda text: text.replace('"round": 7', '"round": 7, "rund": 7', 1), "rund is no known key"),
        (lambda text: "[" * 100_000, "no JSON"),
    ],
)
def test_a_damaged_file_is_refused(damage: Any, message: str, exported: str) -> None:
    with pytest.raises(TableError, match=message):
        from_json(damage(exported))


@pytest.fixture(scope="module")
def exported() -> str:
    return to_json(cards("fujian", {}, 3))
