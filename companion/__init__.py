"""Reads a hand of tiles or cards the way its players do: melds, win status, waits and the itemised score.

>>> hand = Hand.from_document({"rules": "sichuan", "concealed": "1113335557799m",
...     "winning": {"piece": "7m", "from": "wall"}, "context": {"void": "s"}})
>>> result = analyse(hand)
>>> result.status, result.score.total, result.score.extra["winner_gets"]
('won', 3, 27)
"""

from companion.analysis import analyse
from companion.hand import Hand, HandError, Meld, Winning
from companion.pieces import DECKS, Deck, NotationError, Piece, format_pieces, parse_pieces
from companion.result import Advice, Item, Result, Score, Wait

__all__ = [
    "DECKS",
    "Advice",
    "Deck",
    "Hand",
    "HandError",
    "Item",
    "Meld",
    "NotationError",
    "Piece",
    "Result",
    "Score",
    "Wait",
    "Winning",
    "analyse",
    "format_pieces",
    "parse_pieces",
]
