"""Who gives whom how much at the end, in the fewest transfers there can be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Settling:
    """One transfer of the settlement: `payer` gives `payee` the amount."""

    payer: int
    payee: int
    amount: int


def settle(balances: Sequence[int]) -> tuple[Settling, ...]:
    """The fewest transfers that bring every balance to zero; the balances sum to zero.

    A group whose balances sum to zero needs one transfer less than it has members, so the fewest transfers
    come from the most such groups. All groupings are looked at: exact, and quick for a table's few players.

    >>> settle([-30, 10, 20])
    (Settling(payer=0, payee=2, amount=20), Settling(payer=0, payee=1, amount=10))
    >>> len(settle([5, -3, 3, -5]))  # two pairs, not a chain of three
    2
    """
    if sum(balances):
        raise ValueError(f"balances sum to {sum(balances)}, not to zero")
    seats = [seat for seat, balance in enumerate(balances) if balance]
    whole = (1 << len(seats)) - 1
    sums = [0] * (whole + 1)
    for mask in range(1, whole + 1):
        low = mask & -mask
        sums[mask] = sums[mask ^ low] + balances[seats[low.bit_length() - 1]]
    # The most groups within each set of seats that sums to zero, and one of these groups.
    most: list[tuple[int, int]] = [(0, 0)] * (whole + 1)
    for mask in range(1, whole + 1):
        if sums[mask]:
            continue
        best = (1, mask)
        group = (mask - 1) & mask
        while group:
            if not sums[group]:
                best = max(best, (1 + most[mask ^ group][0], group), key=lambda each: each[0])
            group = (group - 1) & mask
        most[mask] = best
    settled: list[Settling] = []
    rest = whole
    while rest:
        group = most[rest][1]
        settled += _chain({seat: balances[seat] for at, seat in enumerate(seats) if group >> at & 1})
        rest ^= group
    return tuple(sorted(settled, key=lambda each: (-each.amount, each.payer, each.payee)))


def _chain(left: dict[int, int]) -> list[Settling]:
    """Settles one group; each transfer brings one member to zero, the last one two."""
    settled = []
    while any(left.values()):
        payer = min(left, key=lambda seat: (left[seat], seat))
        payee = max(left, key=lambda seat: (left[seat], -seat))
        amount = min(-left[payer], left[payee])
        settled.append(Settling(payer, payee, amount))
        left[payer] += amount
        left[payee] -= amount
    return settled
