"""Pieces of both decks and the text they are written in.

Mahjong follows MPSZ (``123m 55p 7z 15f``, red fives ``0m``), four-color cards xiangqi letters (``KAEr PPw
1j``). A piece is written rank then suit; several pieces of one suit share its letter; spaces are free.

>>> format_pieces(parse_pieces("55p 321m"))
'123m 55p'
>>> parse_pieces("12m 4x")
Traceback (most recent call last):
...
companion.pieces.NotationError: '4x' at position 5: there is no suit 'x'
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import groupby
from operator import attrgetter
from typing import NoReturn


class NotationError(ValueError):
    """Text that names no pieces: `part` is the offending text, `position` where it starts, counted from 1."""

    def __init__(self, part: str, position: int, reason: str) -> None:
        self.part = part
        self.position = position
        self.reason = reason
        super().__init__(f"{_shortened(part)!r} at position {position}: {reason}")


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """One kind of piece, such as the five of dots.

    Every kind is a single object that lives in its `Deck`: get it with `Piece.parse`, compare it with `==` or
    `is`. A red five is a kind of its own; `plays_as` gives the five it stands for. `order` sorts pieces as
    they are printed.

    >>> five = Piece.parse("0m")
    >>> five.deck, five.suit, five.rank, str(five), five.name, five.plays_as
    ('mahjong', 'm', '0', '0m', 'red 5 of characters', Piece('5m'))
    >>> Piece.parse("4m") < five < five.plays_as
    True
    """

    deck: str
    suit: str
    rank: str
    name: str
    order: int
    plays_as: Piece = field(init=False)

    @staticmethod
    def parse(text: str) -> Piece:
        """The piece written as `text` (exactly one); raises `NotationError`."""
        if (piece := _BY_TEXT.get(text)) is not None:
            return piece
        pieces = parse_pieces(text)
        if len(pieces) != 1:
            raise NotationError(text, 1, f"one piece expected, found {len(pieces)}")
        return pieces[0]

    def __str__(self) -> str:
        return self.rank + self.suit

    def __repr__(self) -> str:
        return f"Piece({str(self)!r})"

    def __lt__(self, other: Piece) -> bool:
        return self.order < other.order

    def __reduce__(self) -> tuple[object, ...]:
        # Copies and pickles give back the one object of this kind.
        return Piece.parse, (str(self),)


@dataclass(frozen=True, slots=True)
class Deck:
    """A kind of deck: its name, its pieces as they are printed in order, and the copies of each.

    >>> mahjong = DECKS["mahjong"]
    >>> len(mahjong.pieces), mahjong.copies(Piece.parse("5m")), mahjong.copies(Piece.parse("1f"))
    (45, 4, 1)
    """

    name: str
    pieces: tuple[Piece, ...]
    single: frozenset[str]
    """Suits of which the deck holds one of each rank; of all other pieces there are four."""

    def copies(self, piece: Piece) -> int:
        """How many pieces that play as `piece` the deck holds (a red five is one of the four fives)."""
        if piece.deck != self.name:
            return 0
        return 1 if piece.suit in self.single else 4


def parse_pieces(text: str, deck: str | None = None) -> tuple[Piece, ...]:
    """The pieces written in `text`, in the order written; `deck` (a name in `DECKS`) allows its pieces only.

    Raises `NotationError` that names the offending part and its position. Without `deck` either deck is read,
    but never both in one text. How many equal pieces there are is not looked at.

    >>> parse_pieces("KAEr 1j", deck="four-color")
    (Piece('Kr'), Piece('Ar'), Piece('Er'), Piece('1j'))
    """
    pieces: list[Piece] = []
    ranks: list[str] = []
    start = 0

    def fail(end: int, reason: str) -> NoReturn:
        raise NotationError(text[start:end], start + 1, reason)

    for index, letter in enumerate(text):
        if letter.isspace():
            continue
        if not ranks:
            start = index
        if letter in _RANKS:
            ranks.append(letter)
            continue
        if letter not in _DECK_OF_SUIT:
            fail(index + 1, f"there is no suit {letter!r}" if ranks else "neither a rank nor a suit")
        if not ranks:
            fail(index + 1, "a suit without ranks before it")
        deck = deck or _DECK_OF_SUIT[letter]
        if _DECK_OF_SUIT[letter] != deck:
            fail(index + 1, f"not a piece of the {deck} deck")
        for rank in ranks:
            piece = _BY_TEXT.get(rank + letter)
            if piece is None:
                fail(index + 1, f"there is no {rank}{letter}")
            pieces.append(piece)
        ranks = []
    if ranks:
        fail(len(text), "ranks without a suit after them")
    return tuple(pieces)


def format_pieces(pieces: Iterable[Piece]) -> str:
    """Canonical text: sorted, grouped by suit, one space between groups.

    >>> format_pieces(map(Piece.parse, ["1z", "5m", "0m", "4m"]))
    '405m 1z'
    """
    groups = groupby(sorted(pieces, key=attrgetter("order")), key=attrgetter("suit"))
    return " ".join("".join(piece.rank for piece in group) + suit for suit, group in groups)


def _shortened(text: str, limit: int = 40) -> str:
    return text if len(text) <= limit else text[: limit - 3] + "..."


def _mahjong() -> Iterable[tuple[str, str, str]]:
    for suit, of in (("m", "characters"), ("p", "dots"), ("s", "bamboo")):
        for rank in "1234056789":
            yield suit, rank, f"red 5 of {of}" if rank == "0" else f"{rank} of {of}"
    honours = "East wind,South wind,West wind,North wind,White dragon,Green dragon,Red dragon"
    flowers = "plum,orchid,chrysanthemum,bamboo flower,spring,summer,autumn,winter"
    for suit, names in (("z", honours), ("f", flowers)):
        for number, name in enumerate(names.split(","), 1):
            yield suit, str(number), name


def _four_color() -> Iterable[tuple[str, str, str]]:
    names = ("general", "advisor", "elephant", "chariot", "horse", "cannon", "soldier")
    for suit, colour in (("y", "yellow"), ("r", "red"), ("w", "white"), ("g", "green")):
        for rank, name in zip("KAERHCP", names, strict=True):
            yield suit, rank, f"{colour} {name}"
    for number, name in enumerate(("duke", "marquis", "earl", "viscount", "baron"), 1):
        yield "j", str(number), f"{name} joker"


def _deck(name: str, kinds: Iterable[tuple[str, str, str]], single: str) -> Deck:
    pieces = tuple(Piece(name, suit, rank, label, order) for order, (suit, rank, label) in enumerate(kinds))
    by_text = {str(piece): piece for piece in pieces}
    for piece in pieces:
        # The one moment a piece is completed: its own kind has to exist first.
        object.__setattr__(piece, "plays_as", by_text["5" + piece.suit] if piece.rank == "0" else piece)
    return Deck(name, pieces, frozenset(single))


DECKS: dict[str, Deck] = {
    deck.name: deck for deck in (_deck("mahjong", _mahjong(), "f"), _deck("four-color", _four_color(), "j"))
}
"""The decks by name. Their suit letters differ, so the text of a piece tells its deck."""

_BY_TEXT = {str(piece): piece for deck in DECKS.values() for piece in deck.pieces}
_DECK_OF_SUIT = {piece.suit: piece.deck for piece in _BY_TEXT.values()}
_RANKS = frozenset(piece.rank for piece in _BY_TEXT.values())
