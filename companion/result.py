"""What the engine says about a hand: the `Result`, and its document form.

Pieces in it play as themselves; `Result.to_document` gives exactly the result document of the notation.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from companion.hand import Meld
from companion.pieces import Piece, format_pieces

Status = Literal["won", "not-allowed", "ready", "building", "invalid"]


@dataclass(frozen=True, slots=True)
class Wait:
    """A piece that completes the hand, of which `left` copies are not in it; judged as won by its discard."""

    piece: Piece
    left: int
    status: Status
    total: int

    def to_document(self) -> dict[str, Any]:
        return {"piece": str(self.piece), "left": self.left, "status": self.status, "total": self.total}


@dataclass(frozen=True, slots=True)
class Advice:
    """What to discard: the `shanten` after it, and the pieces (with copies left) that then help."""

    discard: Piece
    shanten: int
    pieces: tuple[tuple[Piece, int], ...]

    @property
    def left(self) -> int:
        """How many copies of all improving pieces together are not in the hand."""
        return sum(left for _, left in self.pieces)

    def to_document(self) -> dict[str, Any]:
        pieces = [{"piece": str(piece), "left": left} for piece, left in self.pieces]
        return {"discard": str(self.discard), "shanten": self.shanten, "pieces": pieces}


@dataclass(frozen=True, slots=True)
class Item:
    """One line of the score: how often it was found and its points, all `count` together."""

    name: str
    count: int
    value: int

    def to_document(self) -> dict[str, Any]:
        return {"name": self.name, "count": self.count, "value": self.value}


def amount(total: int, unit: str) -> str:
    """So many of a unit, for people; fan and hu have no plural.

    >>> amount(41, "point"), amount(1, "point"), amount(3, "fan")
    ('41 points', '1 point', '3 fan')
    """
    return f"{total} {unit}{'s' if unit == 'point' and total != 1 else ''}"


@dataclass(frozen=True, slots=True)
class Score:
    """An itemised score; `extra` holds what the rule set adds (such as `base` or `level`) in its order."""

    unit: str
    total: int
    items: tuple[Item, ...]
    extra: Mapping[str, int | str] = field(default_factory=dict)

    def to_document(self) -> dict[str, Any]:
        items = [item.to_document() for item in self.items]
        return {"unit": self.unit, "total": self.total, "items": items, **self.extra}


@dataclass(frozen=True, slots=True)
class Result:
    """The full answer to a hand.

    shanten: pieces to exchange until ready, 0 ready, -1 complete, None when no exchange leads there or it is
    invalid. arrangement: the best way to stand the pieces in melds, loose pieces as melds of kind ``loose``.
    legal_melds: every distinct meld within the concealed pieces and the winning piece. score: given for a
    complete hand. extra: what the rule set adds to the result.
    """

    status: Status
    shanten: int | None
    waits: tuple[Wait, ...] = ()
    advice: tuple[Advice, ...] = ()
    arrangement: tuple[Meld, ...] = ()
    legal_melds: tuple[Meld, ...] = ()
    score: Score | None = None
    notes: tuple[str, ...] = ()
    extra: Mapping[str, Any] = field(default_factory=dict)

    def to_document(self) -> dict[str, Any]:
        """The result document, ready for JSON."""
        return {
            "status": self.status,
            "shanten": self.shanten,
            "waits": [wait.to_document() for wait in self.waits],
            "advice": [advice.to_document() for advice in self.advice],
            "arrangement": [meld.to_document() for meld in self.arrangement],
            "legal_melds": [
                {"kind": meld.kind, "pieces": format_pieces(meld.pieces)} for meld in self.legal_melds
            ],
            "score": self.score.to_document() if self.score else None,
            "notes": list(self.notes),
            **self.extra,
        }
