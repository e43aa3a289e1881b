"""How far the pieces of numbered suits are from sets and a pair: exact, by table.

`read` walks one suit of nine kinds and gives a cost number, `join` adds another suit to it, and `missing`
tells how many pieces a cost lacks for so many sets and a pair. The table is `suits.bin`, made and explained
by `companion.rules.tables`; it is loaded with this module, in some twenty milliseconds.

>>> missing(read([1, 1, 1, 0, 2, 0, 0, 0, 0]), sets=1)  # 123 55: one set and a pair
0
>>> missing(read([0, 0, 0, 4, 0, 0, 0, 0, 0]), sets=2, pair=0)  # 4444: a pung, and 56 beside the fourth
2
"""

from __future__ import annotations

import sys
import zlib
from array import array
from collections.abc import Iterable
from pathlib import Path

PUNG = 5
"""Symbol of a kind in an own pung with none of it held; one held is `PUNG` + 1. Other kinds: pieces held,
0-4."""

KONG = 7
"""Symbol of a kind in an own kong."""


def load() -> tuple[list[int], list[int], int, list[int], int]:
    """The table's parts: steps; sums and how many make a row; missing pieces and how many make a row."""
    data = zlib.decompress(Path(__file__).with_name("suits.bin").read_bytes())
    words = array("H", data[: len(data) // 2 * 2])
    if sys.byteorder == "big":
        words.byteswap()
    inner, states, symbols, suit_costs, costs, sets = words[:6]
    middle = 6 + inner * symbols
    end = 6 + states * symbols
    # A state is known by the place of its row, which saves a multiplication at every step.
    steps = [state * symbols for state in words[6:middle]] + list(words[middle:end])
    sums = list(words[end : end + costs * suit_costs])
    return steps, sums, suit_costs, list(data[-costs * 2 * sets :]), 2 * sets


_STEPS, _SUMS, _SUIT_COSTS, _MISSING, _WIDTH = load()

NOTHING = _SUIT_COSTS
"""The cost of no suit at all, to begin joining with. (A suit without pieces can still be built in.)"""


def read(symbols: Iterable[int]) -> int:
    """The cost of one suit, given the symbols of its nine kinds, 1 to 9."""
    a, b, c, d, e, f, g, h, i = symbols
    steps = _STEPS  # the walk written out: a loop takes twice as long, and everything waits for this
    return steps[steps[steps[steps[steps[steps[steps[steps[steps[a] + b] + c] + d] + e] + f] + g] + h] + i]


def join(cost: int, suit: int) -> int:
    """The cost of what `cost` stands for (no suit, one or several) together with one more suit."""
    return _SUMS[cost * _SUIT_COSTS + suit]


def missing(cost: int, sets: int, pair: int = 1) -> int:
    """How many pieces are missing for so many sets (0-4) and one pair (1) or none (0)."""
    return _MISSING[cost * _WIDTH + 2 * sets + pair]
