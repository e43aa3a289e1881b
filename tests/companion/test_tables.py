"""The shipped table is what its generator makes, and says what a slow look at every target says."""

from __future__ import annotations

import random
import zlib
from pathlib import Path

from companion.rules import suits, tables
from tests.companion.brute import suit_costs


def test_shipped_table_is_the_generated_one() -> None:
    shipped = zlib.decompress(Path(tables.__file__).with_name("suits.bin").read_bytes())
    assert tables.make() == shipped


def test_costs_of_suits_with_own_pungs_and_kongs() -> None:
    rng = random.Random(5)
    for _ in range(150):
        symbols, pieces = [], 0
        for _ in range(9):
            symbol = rng.choice((0, 0, 0, 1, 1, 2, 3, 4, suits.PUNG, suits.PUNG + 1, suits.KONG))
            if pieces + tables.SYMBOLS[symbol][2] > 14:
                symbol = 0
            pieces += tables.SYMBOLS[symbol][2]
            symbols.append(symbol)
        have = tuple(tables.SYMBOLS[symbol][0] for symbol in symbols)
        room = tuple(tables.SYMBOLS[symbol][1] for symbol in symbols)
        cost = suits.read(symbols)
        expected = suit_costs(have, room, 4)
        for sets in range(5):
            for pair in range(2):
                assert suits.missing(cost, sets, pair) == expected.get((sets, pair), tables.FAR)
