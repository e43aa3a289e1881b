"""A player's hand: the pieces held, the melds laid down, the piece it was won with, and the facts beside
them.

A `Hand` that exists is well formed: its pieces belong to the rule set's deck, its options and context are
known and do not contradict each other. Whether its *pieces* make sense (five of a kind, a wrong size) is not
asked here but answered by `companion.analyse`, as the result's status.

>>> hand = Hand.from_document({"rules": "sichuan", "concealed": "3445568899m",
...     "melds": [{"kind": "pung", "pieces": "222m"}], "winning": {"piece": "8m", "from": "discard"}})
>>> hand.melds[0].kind, str(hand.winning.piece), len(hand.concealed)
('pung', '8m', 10)
>>> Hand.from_document(hand.to_document()) == hand
True
>>> Hand.from_document({"rules": "sichuan", "concealed": "12x"})
Traceback (most recent call last):
...
companion.hand.HandError: concealed, position 1: '12x' at position 1: there is no suit 'x'
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from operator import attrgetter
from types import MappingProxyType
from typing import Any, Literal

from companion.pieces import NotationError, Piece, format_pieces, parse_pieces

Source = Literal["wall", "discard"]
SOURCES: tuple[Source, ...] = ("wall", "discard")

MELD_KINDS = ("single", "pair", "chow", "pung", "kong", "soldiers")
"""Kinds of melds a hand document may hold; which of them a game lays down is the rule set's to say."""

LOOSE = "loose"
"""The kind of a piece that an arrangement leaves in no meld."""

_SIZES = {
    LOOSE: (1,),
    "single": (1,),
    "pair": (2,),
    "chow": (3,),
    "pung": (3,),
    "kong": (4,),
    "soldiers": (3, 4),
}
_CARD_CHOWS = ("KAE", "RHC")


class HandError(ValueError):
    """A hand that is not well formed: `message` says why, `where` which part (such as
    ``melds[0].pieces``)."""

    def __init__(self, message: str, where: str) -> None:
        self.message = message
        self.where = where
        super().__init__(f"{where}: {message}" if where else message)

    def within(self, outer: str) -> HandError:
        """The same error seen from outside: `where` begins with `outer`."""
        return HandError(self.message, f"{outer}.{self.where}" if self.where else outer)


@dataclass(frozen=True, slots=True)
class Meld:
    """Pieces that stand together, kept sorted; `concealed` when made of own pieces alone.

    Raises `HandError` when the pieces do not make a meld of that kind.

    >>> str(Meld("chow", parse_pieces("645m")))
    'chow 456m'
    >>> Meld("chow", parse_pieces("457m"))
    Traceback (most recent call last):
    ...
    companion.hand.HandError: pieces: 457m is no chow
    """

    kind: str
    pieces: tuple[Piece, ...]
    concealed: bool = False

    def __post_init__(self) -> None:
        if self.kind not in _SIZES:
            raise HandError(f"unknown kind {self.kind!r}; known: {', '.join(MELD_KINDS)}", "kind")
        object.__setattr__(self, "pieces", _sorted(self.pieces))
        if len(self.pieces) not in _SIZES[self.kind] or not _FITS[self.kind](self.pieces):
            text = format_pieces(self.pieces[:8]) + (" ..." if len(self.pieces) > 8 else "")
            raise HandError(f"{text or 'nothing'} is no {self.kind}", "pieces")

    def __str__(self) -> str:
        return f"{self.kind} {format_pieces(self.pieces)}"

    @staticmethod
    def from_document(document: Any, deck: str | None = None) -> Meld:
        """A meld of the hand document: ``{"kind", "pieces", "concealed": false}``."""
        fields = _object(document, ("kind", "pieces", "concealed"), ("kind", "pieces"))
        kind, concealed = fields["kind"], fields.get("concealed", False)
        if kind not in MELD_KINDS:
            raise HandError(f"unknown kind {shown(kind)}; known: {', '.join(MELD_KINDS)}", "kind")
        if not isinstance(concealed, bool):
            raise HandError(f"true or false expected, not {shown(concealed)}", "concealed")
        return Meld(kind, _pieces(fields["pieces"], "pieces", deck), concealed)

    def to_document(self) -> dict[str, Any]:
        return {"kind": self.kind, "pieces": format_pieces(self.pieces), "concealed": self.concealed}


@dataclass(frozen=True, slots=True)
class Winning:
    """The piece a hand was won with, and whether it came from the own draw or from another player."""

    piece: Piece
    source: Source

    @staticmethod
    def from_document(document: Any, deck: str | None = None) -> Winning:
        """The winning piece of the hand document: ``{"piece", "from"}``."""
        fields = _object(document, ("piece", "from"), ("piece", "from"))
        pieces = _pieces(fields["piece"], "piece", deck)
        if len(pieces) != 1:
            raise HandError(f"one piece expected, found {len(pieces)}", "piece")
        if fields["from"] not in SOURCES:
            raise HandError(f"unknown source {shown(fields['from'])}; known: {', '.join(SOURCES)}", "from")
        return Winning(pieces[0], fields["from"])

    def to_document(self) -> dict[str, Any]:
        return {"piece": str(self.piece), "from": self.source}


@dataclass(frozen=True, slots=True)
class Hand:
    """A hand under a rule set, as the hand document tells it (`concealed` without the winning piece, kept
    sorted).

    `context` holds what a photo cannot show, `options` the house rules by name; both only what was said,
    defaults are the rule set's. Raises `HandError` for anything the rule set does not know.
    """

    rules: str
    concealed: tuple[Piece, ...]
    melds: tuple[Meld, ...] = ()
    winning: Winning | None = None
    bonus: tuple[Piece, ...] = ()
    context: Mapping[str, Any] = field(default_factory=dict, hash=False)
    options: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        from companion import rules  # the rule sets are written in terms of hands

        object.__setattr__(self, "concealed", _sorted(self.concealed))
        object.__setattr__(self, "melds", tuple(self.melds))
        object.__setattr__(self, "bonus", _sorted(self.bonus))
        object.__setattr__(self, "context", MappingProxyType(dict(self.context)))
        object.__setattr__(self, "options", MappingProxyType(dict(self.options)))
        rules.get(self.rules).check(self)

    @property
    def held(self) -> tuple[Piece, ...]:
        """The concealed pieces and the winning one."""
        return (*self.concealed, self.winning.piece) if self.winning else self.concealed

    def __reduce__(self) -> tuple[object, ...]:
        # Read-only mappings cannot be copied or pickled; the document can.
        return Hand.from_document, (self.to_document(),)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        """Inside documents that pydantic reads and writes, a hand is its hand document."""
        from pydantic_core import core_schema  # plain use needs no pydantic

        return core_schema.no_info_plain_validator_function(
            lambda value: value if isinstance(value, Hand) else Hand.from_document(value),
            serialization=core_schema.plain_serializer_function_ser_schema(Hand.to_document),
        )

    @staticmethod
    def from_document(document: Any) -> Hand:
        """The hand of a hand document (parsed JSON); raises `HandError` that says what is wrong and where."""
        from companion import rules

        known = ("rules", "concealed", "melds", "winning", "bonus", "context", "options")
        fields = _object(document, known, ("rules", "concealed"))
        if not isinstance(fields["rules"], str):
            raise HandError(f"the name of a rule set expected, not {shown(fields['rules'])}", "rules")
        deck = rules.get(fields["rules"]).deck
        concealed = _pieces(fields["concealed"], "concealed", deck)
        melds = fields.get("melds", [])
        if not isinstance(melds, list):
            raise HandError(f"a list expected, not {shown(melds)}", "melds")
        read: list[Meld] = []
        for index, meld in enumerate(melds):
            try:
                read.append(Meld.from_document(meld, deck))
            except HandError as error:
                raise error.within(f"melds[{index}]") from None
        winning = fields.get("winning")
        try:
            won = None if winning is None else Winning.from_document(winning, deck)
        except HandError as error:
            raise error.within("winning") from None
        context, options = (_object(fields.get(name, {}), None, (), name) for name in ("context", "options"))
        bonus = _pieces(fields.get("bonus", ""), "bonus", None)
        return Hand(fields["rules"], concealed, tuple(read), won, bonus, context, options)

    def to_document(self) -> dict[str, Any]:
        """The hand document; keys that say nothing are left out."""
        document: dict[str, Any] = {"rules": self.rules, "concealed": format_pieces(self.concealed)}
        if self.melds:
            document["melds"] = [meld.to_document() for meld in self.melds]
        if self.winning:
            document["winning"] = self.winning.to_document()
        if self.bonus:
            document["bonus"] = format_pieces(self.bonus)
        if self.context:
            document["context"] = dict(self.context)
        if self.options:
            document["options"] = dict(self.options)
        return document


def _sorted(pieces: Iterable[Piece]) -> tuple[Piece, ...]:
    return tuple(sorted(pieces, key=attrgetter("order")))


def _equal(pieces: tuple[Piece, ...]) -> bool:
    return len({piece.plays_as for piece in pieces}) == 1


def _is_chow(pieces: tuple[Piece, ...]) -> bool:
    first = pieces[0]
    if len({piece.suit for piece in pieces}) > 1:
        return False
    if first.deck == "mahjong":
        low = int(first.plays_as.rank)
        return first.suit in "mps" and [int(piece.plays_as.rank) for piece in pieces] == [
            low,
            low + 1,
            low + 2,
        ]
    return "".join(piece.rank for piece in pieces) in _CARD_CHOWS


def _is_soldiers(pieces: tuple[Piece, ...]) -> bool:
    return all(piece.rank == "P" for piece in pieces) and len({piece.suit for piece in pieces}) == len(pieces)


_FITS = {kind: lambda pieces: True for kind in (LOOSE, "single")}
_FITS |= {"pair": _equal, "pung": _equal, "kong": _equal, "chow": _is_chow, "soldiers": _is_soldiers}


def shown(value: Any) -> str:
    """A value as a message shows it: short, whatever it is.

    >>> shown(None), shown(True), shown("a"), shown({"a": 1})
    ('null', 'true', "'a'", 'an object')
    """
    if isinstance(value, (dict, list)):
        return "an object" if isinstance(value, dict) else "a list"
    text = "null" if value is None else str(value).lower() if isinstance(value, bool) else repr(value)
    return text if len(text) <= 40 else text[:37] + "..."


def _object(
    value: Any, known: tuple[str, ...] | None, required: tuple[str, ...], where: str = ""
) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise HandError(f"an object expected, not {shown(value)}", where)
    for key in value:
        if known is not None and key not in known:
            raise HandError(f"unknown key {shown(key)}; known: {', '.join(known)}", where)
    for key in required:
        if key not in value:
            raise HandError(f"{key} is missing", where)
    return value


def _pieces(text: Any, where: str, deck: str | None) -> tuple[Piece, ...]:
    if not isinstance(text, str):
        raise HandError(f"pieces written as text expected, not {shown(text)}", where)
    try:
        return parse_pieces(text, deck)
    except NotationError as error:
        raise HandError(str(error), f"{where}, position {error.position}") from None
