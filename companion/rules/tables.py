"""Makes `suits.bin`, the table behind `companion.rules.suits`: ``python -m companion.rules.tables``.

One numbered suit is read kind by kind, from 1 to 9, by a finite automaton. Before each kind it stands on a
plan: the fewest pieces still missing for every (chows begun one kind ago, chows begun two kinds ago, sets so
far, pair or not). Plans that no later piece can tell apart are one state, which leaves some 15,000 states; at
the end only 200 different outcomes are left. An outcome, called a cost, lists the pieces missing for 0-4 sets
without and with a pair. Adding up two suits gives a cost again, and all sums of three suits are just 331
different ones: so three walks and two look-ups give the exact distance of a hand.

A kind is read as a symbol that says how many pieces of it stand in the hand and how many a finished hand may
hold: a kind in an own pung leaves one, a kind in an own kong none. That makes four-of-a-kind traps exact.
"""

from __future__ import annotations

import zlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

FILE = Path(__file__).with_name("suits.bin")

SETS = 5
"""Costs are kept for 0 to 4 sets."""

SYMBOLS = (*((held, 4, held) for held in range(5)), (0, 1, 3), (1, 1, 4), (0, 0, 3))
"""What each symbol says: pieces held, the most a finished hand may hold, what they take of a hand of 14 (a
pung or kong three). Symbols 0-4: a kind held so often; 5, 6: a kind in an own pung, held not or once; 7: one
in a kong."""

FAR = 15
"""Stands for 'cannot be reached': more than any hand of 14 can miss."""

HAND = 14


def _step(plans: NDArray[np.int8], held: int, room: int, starts: bool) -> NDArray[np.int8]:
    """Every plan after one more kind; `starts` is whether a chow can begin at it. Shapes (n, 3, 3, SETS,
    2)."""
    after = np.full(plans.shape, FAR, np.int8)
    # Three equal chows are three pungs, so two chows beginning at one kind are enough.
    for one_ago, two_ago, chows, pungs, pairs in np.ndindex(3, 3, 3 if starts else 1, 2, 2):
        used = one_ago + two_ago + chows + 3 * pungs + 2 * pairs
        sets = chows + pungs
        if used > room or sets >= SETS:
            continue
        cost = plans[:, one_ago, two_ago, : SETS - sets, : 2 - pairs] + np.int8(max(used - held, 0))
        target = after[:, chows, one_ago, sets:, pairs:]
        np.minimum(target, cost, out=target)
    return after


def _automaton() -> tuple[list[NDArray[np.int64]], NDArray[np.int8]]:
    """Transitions (states, symbols) of every kind, the last kind's to outcomes, and their costs (n, SETS,
    2)."""
    plans = np.full((1, 3, 3, SETS, 2), FAR, np.int8)
    plans[0, 0, 0, 0, 0] = 0
    spent = np.zeros(1, np.int64)  # fewest pieces of a hand that lead to each plan: no hand has more than 14
    levels = []
    for kind in range(9):
        afters, spents, sources, symbols = [], [], [], []
        for symbol, (held, room, pieces) in enumerate(SYMBOLS):
            source = np.flatnonzero(spent + pieces <= HAND)
            afters.append(_step(plans[source], held, room, starts=kind < 7))
            spents.append(spent[source] + pieces)
            sources.append(source)
            symbols.append(np.full(len(source), symbol))
        after = np.concatenate(afters).reshape(-1, 9 * SETS * 2)
        distinct, inverse = _distinct(after)
        spent = np.full(len(distinct), HAND + 1)
        np.minimum.at(spent, inverse, np.concatenate(spents))
        levels.append((len(plans), np.concatenate(sources), np.concatenate(symbols), inverse))
        plans = distinct.reshape(-1, 3, 3, SETS, 2)
    costs, following = _distinct(plans[:, 0, 0].reshape(-1, SETS * 2))
    # Backwards: states with equal followers are one.
    tables: list[NDArray[np.int64]] = []
    for count, source, symbol, after_index in reversed(levels):
        table = np.zeros((count, len(SYMBOLS)), np.int64)
        table[source, symbol] = following[after_index]
        table, following = _distinct(table)
        tables.insert(0, table)
    return tables, costs.reshape(-1, SETS, 2)


def _sums(left: NDArray[np.int8], right: NDArray[np.int8]) -> NDArray[np.int8]:
    """Costs of every pair of costs taken together: (len(left) * len(right), SETS, 2)."""
    total = np.full((len(left), len(right), SETS, 2), FAR, np.int8)
    for sets in range(SETS):
        for pair, other in ((0, 0), (0, 1), (1, 0)):
            both = left[:, None, sets, pair, None] + right[None, :, : SETS - sets, other]
            target = total[:, :, sets:, pair + other]
            np.minimum(target, both, out=target)
    return total.reshape(-1, SETS, 2)


def _distinct(rows: NDArray) -> tuple[NDArray, NDArray[np.int64]]:  # type: ignore[type-arg]
    distinct, inverse = np.unique(rows, axis=0, return_inverse=True)
    return distinct, inverse.reshape(-1)


def make() -> bytes:
    """The table, not yet compressed, in the form `companion.rules.suits` reads."""
    tables, costs = _automaton()
    first = 0
    for table in tables[:-1]:  # number the states of all kinds through
        first += len(table)
        table += first
    steps = np.concatenate(tables)
    suit_costs = len(costs)
    nothing = np.full((SETS, 2), FAR, np.int8)  # the sum over no suit at all
    nothing[0, 0] = 0
    every = [*costs, nothing]
    known = {cost.tobytes(): index for index, cost in enumerate(every)}
    done = 0
    sums: list[int] = []
    while done < len(every):
        for total in _sums(np.array(every[done:]), costs):
            index = known.setdefault(total.tobytes(), len(every))
            if index == len(every):
                every.append(total)
            sums.append(index)
        done = len(sums) // suit_costs
    sizes = [first, len(steps), len(SYMBOLS), suit_costs, len(every), SETS]
    words = np.concatenate([sizes, steps.reshape(-1), sums]).astype("<u2")
    return words.tobytes() + np.array(every).astype(np.uint8).tobytes()


if __name__ == "__main__":
    FILE.write_bytes(zlib.compress(make(), 9))
