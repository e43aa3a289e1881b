"""What happens in a round that money hangs on, and who pays whom: input and output of a rule set's
`payments`.

Seats are counted from 0 in turn order. Events stand in the order they happened.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from companion.hand import Hand
from companion.pieces import Piece


@dataclass(frozen=True, slots=True)
class Win:
    """One piece wins for one player or several: their hands by seat, `winning` named in each.

    payer: the seat whose discard or robbed kong was won on; None for a self-draw.
    """

    hands: Mapping[int, Hand]
    payer: int | None = None


@dataclass(frozen=True, slots=True)
class Kong:
    """A kong laid down: four own pieces (``concealed``), three and a discard (``discard``, by seat `payer`),
    or a fourth piece added to a pung: the one just drawn (``promoted``) or one held longer
    (``promoted-later``)."""

    seat: int
    kind: Literal["concealed", "discard", "promoted", "promoted-later"]
    payer: int | None = None


@dataclass(frozen=True, slots=True)
class WallEnd:
    """The wall is out: the hands, by seat, of all players still in."""

    hands: Mapping[int, Hand]


Event = Win | Kong | WallEnd


@dataclass(frozen=True, slots=True)
class Standing:
    """A player still in at the wall's end: void-suit pieces left, ready or not, best base of the waits."""

    seat: int
    void_left: tuple[Piece, ...]
    ready: bool
    best_base: int


@dataclass(frozen=True, slots=True)
class Transfer:
    """One payment: `amount` goes from one seat to another, and the reason for people."""

    payer: int
    payee: int
    amount: int
    reason: str


def net(transfers: Iterable[Transfer], seats: int) -> list[int]:
    """What each seat gains by the transfers; always sums to zero.

    >>> net([Transfer(0, 2, 4, "win"), Transfer(1, 2, 1, "kong")], 4)
    [-4, -1, 5, 0]
    """
    gains = [0] * seats
    for transfer in transfers:
        gains[transfer.payer] -= transfer.amount
        gains[transfer.payee] += transfer.amount
    return gains
