"""What happens in a round that money hangs on, and who pays whom: input and output of a rule set's `play`
and `payments`.

Seats are counted from 0 in turn order. Events stand in the order they happened. They can be hashed, so that
a round's payments can be remembered.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from companion.hand import Hand
from companion.pieces import Piece
from companion.result import Result

STRICT = {"extra": "forbid", "strict": True}
"""How pydantic takes the documents of events: exact types, no unknown keys. `type` tells them apart there."""


@dataclass(frozen=True, slots=True)
class Win:
    """One piece wins for one player or several: their hands by seat, `winning` named in each.

    payer: the seat whose discard or robbed kong was won on; None for a self-draw.
    """

    hands: Mapping[int, Hand]
    payer: int | None = None
    type: Literal["win"] = "win"
    __pydantic_config__ = STRICT

    def __hash__(self) -> int:
        return hash((tuple(sorted(self.hands)), tuple(self.hands[seat] for seat in sorted(self.hands))))


@dataclass(frozen=True, slots=True)
class Kong:
    """A kong laid down: four own pieces (``concealed``), three and a discard (``discard``, by seat `payer`),
    or a fourth piece added to a pung: the one just drawn (``promoted``) or one held longer
    (``promoted-later``)."""

    seat: int
    kind: Literal["concealed", "discard", "promoted", "promoted-later"]
    payer: int | None = None
    type: Literal["kong"] = "kong"
    __pydantic_config__ = STRICT


@dataclass(frozen=True, slots=True)
class WallEnd:
    """The wall is out: the hands, by seat, of all players still in.

    Who shows nothing has an empty hand and is not ready; one that holds only the void tiles left shows these.
    """

    hands: Mapping[int, Hand]
    type: Literal["wall-end"] = "wall-end"
    __pydantic_config__ = STRICT

    def __hash__(self) -> int:
        return hash((tuple(sorted(self.hands)), tuple(self.hands[seat] for seat in sorted(self.hands))))


@dataclass(frozen=True, slots=True)
class Draw:
    """The round ends and nobody pays. reason: one of the rule set's `draws`. hands: what was shown to prove
    it, by seat."""

    reason: str
    hands: Mapping[int, Hand] = field(default_factory=dict)
    type: Literal["draw"] = "draw"
    __pydantic_config__ = STRICT

    def __hash__(self) -> int:
        return hash((self.reason, tuple(sorted(self.hands))))


Event = Win | Kong | WallEnd | Draw


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


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one event led to: the payments in order, the winners' results by seat, and at the wall's end how
    everyone still in stands."""

    transfers: tuple[Transfer, ...] = ()
    results: Mapping[int, Result] = field(default_factory=dict)
    standings: tuple[Standing, ...] = ()


@dataclass(frozen=True, slots=True)
class Played:
    """A round as far as it was told: each event's outcome, the seats still in, whether the round is over, and
    who deals the next one (None: the same dealer again)."""

    outcomes: tuple[Outcome, ...]
    still_in: tuple[int, ...]
    over: bool
    next_dealer: int | None = None


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
