"""Questions to a hand, answered by the rule set it names.

>>> from companion.pieces import parse_pieces
>>> hand = Hand("sichuan", parse_pieces("1112345678999m"), context={"void": "s"})
>>> shanten(hand), [str(wait.piece) for wait in waits(hand)]
(0, ['1m', '2m', '3m', '4m', '5m', '6m', '7m', '8m', '9m'])
"""

from __future__ import annotations

from companion import rules
from companion.hand import Hand, Meld
from companion.result import Advice, Result, Score, Wait


def analyse(hand: Hand) -> Result:
    """Everything there is to say about a hand; the one analysis behind every screen, command and test.

    >>> from companion.pieces import parse_pieces
    >>> analyse(Hand("sichuan", parse_pieces("123456m123p7789s"))).status
    'ready'
    """
    return rules.get(hand.rules).analyse(hand)


def shanten(hand: Hand) -> int | None:
    """Pieces to exchange until the hand is ready; 0 ready, -1 complete; None when invalid or never to win."""
    return rules.get(hand.rules).shanten(hand)


def is_complete(hand: Hand) -> bool:
    """Whether the hand, its winning piece included, is complete; a rule may still forbid the win."""
    return rules.get(hand.rules).is_complete(hand)


def waits(hand: Hand) -> tuple[Wait, ...]:
    """The pieces that complete a hand one short of full size, each with its value as won by discard."""
    return rules.get(hand.rules).waits(hand)


def advice(hand: Hand) -> tuple[Advice, ...]:
    """Every discard of a full-size incomplete hand and what improves it then, best first."""
    return rules.get(hand.rules).advice(hand)


def legal_melds(hand: Hand) -> tuple[Meld, ...]:
    """Every distinct meld within the concealed pieces and the winning piece."""
    return rules.get(hand.rules).legal_melds(hand)


def arrangements(hand: Hand) -> tuple[tuple[Meld, ...], ...]:
    """Every way to stand a complete hand in melds, the best paid first; empty for any other hand."""
    return rules.get(hand.rules).arrangements(hand)


def score(hand: Hand) -> Score | None:
    """The itemised score of a complete hand; None for any other."""
    return rules.get(hand.rules).score(hand)
