"""What a photo was read as: the types that vision makes and the engine takes over.

Everything here is plain data without pictures: `Sighting` is one located piece, `Reading` a whole photo.
Names of pieces are notation text (``"5m"``); a tile that lies face down is ``"back"``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from companion.hand import Meld
from companion.pieces import Piece, format_pieces

Point = tuple[float, float]
Quad = tuple[Point, Point, Point, Point]
Role = Literal["hand", "meld", "other", "back"]

BACK = "back"
"""The name of a face-down piece, in place of notation text."""

DOUBTFUL = 0.97
"""A piece that is less certain is marked as doubtful wherever a reading is shown (`Sighting.doubtful`).

Chosen on rendered scenes with art that training never saw. The marks are to cover 95 % of the misread faces:
they do at 0.95 (95.3 % of 487), and at 0.97 (96.5 %) with little room for chance. `companion evaluate` prints
what they cover.
"""


@dataclass(frozen=True, slots=True)
class Candidate:
    """One way to read a piece: its name and the calibrated probability (0-1) that it is right."""

    piece: str
    confidence: float


@dataclass(frozen=True, slots=True)
class Sighting:
    """One located piece.

    quad: its four corners in pixels of the upright photo, from the piece's own top-left, clockwise.
    candidates: ranked, best first, never empty; the chosen one is `candidates[0]`.
    role: `hand` (own rows), `meld` (declared groups), `other` (discards, walls' faces), `back` (face down).
    row, group: which row of the photo and which declared group it stands in, from 0; None when in none.
    """

    quad: Quad
    candidates: tuple[Candidate, ...]
    role: Role = "hand"
    row: int | None = None
    group: int | None = None

    @property
    def piece(self) -> str:
        return self.candidates[0].piece

    @property
    def confidence(self) -> float:
        return self.candidates[0].confidence

    @property
    def certainty(self) -> float:
        """The probability (0-1) that it plays as what was chosen: between a five and a red five none is lost.

        >>> corners = ((0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0))
        >>> five = Sighting(corners, (Candidate("5p", 0.5), Candidate("0p", 0.25), Candidate("6p", 0.25)))
        >>> five.confidence, five.certainty, five.doubtful
        (0.5, 0.75, True)
        """
        chosen = _plays_as(self.piece)
        return sum(c.confidence for c in self.candidates if _plays_as(c.piece) == chosen)

    @property
    def doubtful(self) -> bool:
        """Whether it wants a second look: the one rule for every page, command and measure."""
        return self.certainty < DOUBTFUL

    def to_document(self) -> dict[str, Any]:
        """The sighting as it stands in the JSON of `companion read`."""
        return {
            "piece": self.piece,
            "confidence": round(self.confidence, 4),
            "doubtful": self.doubtful,
            "quad": [[round(x, 1), round(y, 1)] for x, y in self.quad],
            "candidates": [{"piece": c.piece, "confidence": round(c.confidence, 4)} for c in self.candidates],
            "role": self.role,
            "row": self.row,
            "group": self.group,
        }


def _plays_as(name: str) -> str:
    return name if name == BACK else str(Piece.parse(name).plays_as)


@dataclass(frozen=True, slots=True)
class Expectation:
    """What a photo can show, told to vision as plain data (vision never imports rules).

    pieces: names that may occur; empty means every piece of the deck.
    copies: how many equal pieces the deck holds.
    sizes: sizes of a hand (pieces in rows and melds together) that the rule set allows, kongs left out; empty
    means any.
    deck: the deck that all this is said of, which is looked for first; None means whichever is found.
    """

    pieces: frozenset[str] = frozenset()
    copies: int = 4
    sizes: tuple[int, ...] = (13, 14)
    deck: str | None = None

    @staticmethod
    def of_full(
        sizes: Iterable[int], deck: str | None = None, pieces: Iterable[str] = (), copies: int = 4
    ) -> Expectation:
        """Hands of these full sizes, and hands that wait for one piece more.

        >>> Expectation.of_full([14]).sizes
        (13, 14)
        """
        waiting = tuple(sorted({size - missing for size in sizes for missing in (0, 1)}))
        return Expectation(frozenset(pieces), copies, waiting, deck)


@dataclass(frozen=True, slots=True)
class Reading:
    """A photo, read.

    deck: `mahjong`, `four-color`, or None when no piece was found (a reading with a warning, not an error).
    width, height: pixels of the upright photo.
    ms: milliseconds of each stage by name, and `total`.
    winning: index of the sighting that is set apart from a full hand, as the piece that won it is; None where
        none is.
    unnamed: concealed kongs that lie face down: four indices each, of sightings with the role `back`.
    """

    photo: str
    deck: str | None
    width: int
    height: int
    sightings: tuple[Sighting, ...] = ()
    melds: tuple[Meld, ...] = ()
    warnings: tuple[str, ...] = ()
    ms: dict[str, float] = field(default_factory=dict)
    winning: int | None = None
    unnamed: tuple[tuple[int, ...], ...] = ()

    @property
    def hand(self) -> str:
        """Canonical text of the pieces with role `hand`."""
        held = (s.piece for s in self.sightings if s.role == "hand" and s.piece != BACK)
        return format_pieces(map(Piece.parse, held))

    def with_ms(self, **stages: float) -> Reading:
        """The same reading with more timings (milliseconds)."""
        return replace(self, ms={**self.ms, **stages})

    def to_document(self) -> dict[str, Any]:
        """The reading as JSON-ready data, in the form of `companion read --json`."""
        return {
            "photo": self.photo,
            "deck": self.deck,
            "width": self.width,
            "height": self.height,
            "pieces": [s.to_document() for s in self.sightings],
            "hand": self.hand,
            "melds": [m.to_document() for m in self.melds],
            "winning": self.winning,
            "unnamed": [list(four) for four in self.unnamed],
            "warnings": list(self.warnings),
            "ms": {stage: round(ms, 1) for stage, ms in self.ms.items()},
        }
