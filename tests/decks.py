"""A deck of four-color cards that needs no fonts."""

from __future__ import annotations

import numpy as np

from datasets.cards import JOKERS, PIECES, CardDeck

PAPERS = {
    "y": (30.0, 205.0, 245.0),
    "r": (40.0, 60.0, 215.0),
    "w": (225.0, 232.0, 235.0),
    "g": (90.0, 160.0, 40.0),
}


def plain_deck(length: float = 5.0) -> CardDeck:
    """A deck whose glyphs are blank squares: it needs no fonts."""
    mark = np.zeros((40, 40), np.uint8)
    mark[8:32, 8:32] = 255
    return CardDeck(
        glyphs=dict.fromkeys((*PIECES, *JOKERS), mark),
        words={},
        papers=PAPERS,
        joker_papers=((200.0, 170.0, 245.0),) * 5,
        inks=dict.fromkeys("yrwgj", (20.0, 20.0, 20.0)),
        length=length,
        radius=0.0,
        top=0.25,
        size=(0.7, 0.8),
        frame=(0.1, 0.1, 0.0),
        middle="empty",
        word_size=0.45,
        border=0.0,
        index="",
        circles=False,
        sayings=(),
        gloss=0.0,
        worn=0.0,
    )
