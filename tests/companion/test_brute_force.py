"""The engine against the slow way, on random hands with melds and void suits, many full of traps."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator

import pytest

from companion import Hand, Meld, Piece, Winning, analyse, analysis
from tests.companion import brute
from tests.companion.brute import MeldOf, Tile


def piece(tile: Tile) -> Piece:
    return Piece.parse(f"{tile[1]}{tile[0]}")


def make(
    tiles: list[Tile],
    melds: list[MeldOf],
    void: str | None = None,
    winner: Tile | None = None,
    golden: str = "any",
) -> Hand:
    laid = tuple(Meld(kind, (piece(tile),) * (4 if kind == "kong" else 3)) for kind, tile in melds)
    return Hand(
        "sichuan",
        tuple(map(piece, tiles)),
        laid,
        Winning(piece(winner), "discard") if winner else None,
        context={"void": void},
        options={"golden_wait": golden},
    )


def deals(seed: int, count: int, size: int) -> Iterator[tuple[list[Tile], list[MeldOf], str | None]]:
    """Random hands of `size` (melds as three), from walls of few kinds so that four of a kind are common."""
    rng = random.Random(seed)
    while count:
        kinds = rng.sample(brute.ALL, rng.choice((5, 6, 7, 9, 14, 27)))
        if rng.random() < 0.5:
            start = rng.randrange(19)
            kinds = brute.ALL[start : start + rng.choice((5, 6, 7, 8))]
        wall = [tile for tile in kinds for _ in range(4)]
        rng.shuffle(wall)
        melds: list[MeldOf] = []
        for tile in rng.sample(kinds, rng.choice((0, 0, 1, 2, 3, 4))):
            kind = rng.choice(("pung", "pung", "kong"))
            melds.append((kind, tile))
            for _ in range(4 if kind == "kong" else 3):
                wall.remove(tile)
        need = size - 3 * len(melds)
        if len(wall) < need:
            continue
        void = rng.choice((None, None, *brute.SUITS))
        yield sorted(wall[:need]), melds, void
        count -= 1


@pytest.mark.parametrize("size", [13, 14])
def test_shanten_and_completeness(size: int) -> None:
    for tiles, melds, void in deals(size, 300, size):
        hand = make(tiles, melds, void)
        far = brute.missing(tiles, melds, void)
        void_meld = any(tile[0] == void for _, tile in melds)
        expected = None if void_meld and far else far - 1
        assert analysis.shanten(hand) == expected, hand.to_document()
        whole = size == 14 and brute.complete(tiles, melds) and all(tile[0] != void for tile in tiles)
        assert analysis.is_complete(hand) == whole == (far == 0), hand.to_document()


def test_waits_and_their_value() -> None:
    ready = 0
    for tiles, melds, void in deals(3, 1000, 13):
        if any(tile[0] == void for _, tile in melds):
            continue
        hand = make(tiles, melds, void)
        waits = {str(wait.piece): wait for wait in analysis.waits(hand)}
        held = brute.used(tiles, melds)
        expected = {}
        if all(tile[0] != void for tile in tiles):
            for tile in brute.ALL:
                if held[tile] < 4 and tile[0] != void and brute.complete(sorted([*tiles, tile]), melds):
                    expected[str(piece(tile))] = tile
        assert waits.keys() == expected.keys(), hand.to_document()
        assert (analysis.shanten(hand) == 0) == bool(waits), hand.to_document()
        for name, tile in expected.items():
            wait = waits[name]
            assert wait.left == 4 - held[tile]
            assert wait.total == brute.fan([*tiles, tile], melds, tile)[0], (hand.to_document(), name)
            suits = {suit for suit, _ in [*held, tile]}
            assert wait.status == ("not-allowed" if len(suits) == 3 else "won")
        ready += bool(waits)
    assert ready > 100


@pytest.mark.parametrize("golden", ["any", "exposed", "pungs"])
def test_items_and_arrangement_of_complete_hands(golden: str) -> None:
    rng = random.Random(golden)
    won = 0
    while won < 200:
        suits = rng.sample(brute.SUITS, rng.choice((1, 2, 2, 3)))
        groups = []
        for _ in range(4):
            low = rng.randint(1, 7)
            ranks = rng.choice(((low,) * 3, (low, low + 1, low + 2)))
            suit = rng.choice(suits)
            groups.append([(suit, rank) for rank in ranks])
        pair = (rng.choice(suits), rng.randint(1, 9))
        pungs = [group for group in groups if group[0] == group[1]]
        melds = [(rng.choice(("pung", "pung", "kong")), group[0]) for group in pungs if rng.random() < 0.5]
        down = [tile for _, tile in melds]
        kept = [group for group in groups if group not in pungs or group[0] not in down]
        tiles = sorted([*(tile for group in kept for tile in group), pair, pair])
        if len(tiles) + 3 * len(melds) != 14 or max(brute.used(tiles, melds).values()) > 4:
            continue
        won += 1
        winner = rng.choice(tiles)
        tiles.remove(winner)
        hand = make(tiles, melds, None, winner, golden)
        result = analyse(hand)
        total, ways = brute.fan([*tiles, winner], melds, winner, golden)
        assert result.score
        assert result.score.total == total
        assert {item.name: item.value for item in result.score.items} in ways
        assert result.score.extra["base"] == 2 ** min(total, 3)
        three = len({suit for suit, _ in brute.used([*tiles, winner], melds)}) == 3
        assert result.status == ("not-allowed" if three else "won")
        laid = Counter(each for meld in result.arrangement for each in meld.pieces)
        assert laid == Counter(map(piece, [*tiles, winner])) + Counter(
            p for m in hand.melds for p in m.pieces
        )
        arrangements = analysis.arrangements(hand)
        assert arrangements[0] == result.arrangement
        read = {
            tuple(sorted(tuple(sorted(g)) for g in groups))
            for groups in brute.readings([*tiles, winner], melds)
        }
        ours = {
            tuple(
                sorted(
                    tuple(sorted((p.suit, int(p.rank)) for p in m.pieces)) for m in arrangement[len(melds) :]
                )
            )
            for arrangement in arrangements
        }
        assert ours == read


def test_advice_is_what_each_discard_leaves() -> None:
    for tiles, melds, void in deals(8, 15, 14):
        hand = make(tiles, melds, void)
        advice = analysis.advice(hand)
        if analysis.shanten(hand) in (None, -1):
            assert not advice
            continue
        assert {(each.discard.suit, int(each.discard.rank)) for each in advice} == set(tiles)
        assert advice[0].shanten == analysis.shanten(hand)
        assert [each.shanten for each in advice] == sorted(each.shanten for each in advice)
        for each in advice:
            rest = tiles.copy()
            rest.remove((each.discard.suit, int(each.discard.rank)))
            far = brute.missing(rest, melds, void)
            assert each.shanten == far - 1
            held = brute.used(rest, melds)
            improving = {
                piece(tile): 4 - held[tile]
                for tile in brute.ALL
                if held[tile] < 4 and brute.missing(sorted([*rest, tile]), melds, void) < far
            }
            assert dict(each.pieces) == improving, hand.to_document()
