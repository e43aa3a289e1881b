"""Agreement with checks made by other programs: the shared folder's, and full counts that need no folder."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from companion import Hand, Piece, analysis, parse_pieces
from companion.rules.suits import NOTHING, join, missing, read

CHARACTERS = parse_pieces("123456789m")


def one_suit(size: int, kinds: int = 9) -> Iterator[tuple[int, ...]]:
    """Every hand of one suit, as counts of its nine kinds."""
    if kinds == 1:
        if size <= 4:
            yield (size,)
        return
    for count in range(min(size, 4) + 1):
        for rest in one_suit(size - count, kinds - 1):
            yield (count, *rest)


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        (1, {0: 9}),
        (2, {-1: 9, 0: 36}),
        (4, {0: 249, 1: 246}),
        (5, {-1: 135, 0: 1032, 1: 111}),
        (7, {0: 2406, 1: 3600, 2: 24}),
        (8, {-1: 996, 0: 8656, 1: 1733}),
        (10, {0: 12533, 1: 19338, 2: 340}),
        (11, {-1: 4475, 0: 36861, 1: 7483, 2: 60}),
        (13, {0: 40070, 1: 52678, 2: 852}),
        (14, {-1: 13259, 0: 91065, 1: 14386, 2: 90}),
    ],
)
def test_distance_of_every_one_suit_hand(size: int, expected: dict[int, int]) -> None:
    sets = size // 3
    empty = read([0] * 9)
    others = join(empty, empty)
    assert Counter(missing(join(others, read(hand)), sets) - 1 for hand in one_suit(size)) == expected


def test_win_test_of_all_118800_full_hands_of_one_suit() -> None:
    hands = wins = 0
    for counts in one_suit(14):
        pieces = tuple(piece for piece, count in zip(CHARACTERS, counts, strict=True) for _ in range(count))
        hands += 1
        wins += analysis.is_complete(Hand("sichuan", pieces))
    assert (hands, wins) == (118_800, 15_349)


def test_shared_sichuan_hands(shared: Path) -> None:
    lines = (shared / "data" / "engine" / "sichuan_shanten.jsonl").read_text().splitlines()
    for line in lines:
        row = json.loads(line)
        pieces = parse_pieces(row["hand"])
        assert distance(pieces, 4 - row["melds"]) == row["standard"], row
        if row["melds"] == 0:  # the kinds of the melds are not told
            hand = Hand("sichuan", pieces)
            assert analysis.shanten(hand) == row["best_sichuan"], row
            if "waits" in row:
                assert {wait.piece for wait in analysis.waits(hand)} == set(parse_pieces(row["waits"])), row
        elif "waits" in row:
            waits = {
                piece for piece in kinds_left(pieces) if distance((*pieces, piece), 4 - row["melds"]) < 0
            }
            assert waits == set(parse_pieces(row["waits"])), row
    assert len(lines) == 8000


@pytest.mark.parametrize(("name", "least"), [("kobalab_full_flush.json", 300), ("kobalab_mixed.json", 300)])
def test_shared_kobalab_hands(shared: Path, name: str, least: int) -> None:
    judged = 0
    for row in json.loads((shared / "data" / "engine" / name).read_text()):
        pieces = [Piece.parse(tile[1] + tile[0]) for tile in row["q"]]
        if all(piece.suit != "z" for piece in pieces):
            assert distance(tuple(pieces), 4) == row["x"][0], row
            judged += 1
    assert judged >= least


def distance(pieces: tuple[Piece, ...], sets: int) -> int:
    """Shanten of the standing pieces alone, by sets and a pair."""
    counts = Counter(piece.plays_as for piece in pieces)
    cost = NOTHING
    for suit in "mps":
        cost = join(cost, read(counts[Piece.parse(f"{rank}{suit}")] for rank in range(1, 10)))
    return missing(cost, sets) - 1


def kinds_left(pieces: tuple[Piece, ...]) -> list[Piece]:
    return [p for p in parse_pieces("123456789m123456789p123456789s") if pieces.count(p) < 4]
