"""The JSON documents at the API's edge, as pydantic models: `GET /api/openapi.json` is made from them.

`HandDocument` also checks what comes in. The others describe what goes out; tests hold real answers against
them.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

Pieces = Annotated[str, Field(description="Pieces in notation, such as `123m 55p`.")]
Name = Annotated[str, Field(description="One piece in notation, such as `5p`.", max_length=8)]
Setting = bool | int | str | None
MeldKind = Literal["single", "pair", "chow", "pung", "kong", "soldiers"]
Confidence = Annotated[float, Field(ge=0, le=1, description="Calibrated probability that this is right.")]


class Document(BaseModel):
    """Exact types, no unknown keys: a misspelt key must not be silently without effect."""

    model_config = ConfigDict(extra="forbid", strict=True)


# ---- what went wrong ----


class Problem(Document):
    message: str = Field(description="For people.")
    where: str = Field(description="Where in the request, such as `melds[0].pieces`; empty for all of it.")
    position: int | None = Field(
        default=None, description="In a notation text: where the offending part starts, counted from 1."
    )


class ErrorDocument(Document):
    error: Problem


# ---- a hand ----


class MeldDocument(Document):
    kind: MeldKind
    pieces: Pieces
    concealed: bool = Field(default=False, description="Made of own dealt or drawn pieces alone.")


class WinningDocument(Document):
    model_config = ConfigDict(extra="forbid", strict=True, serialize_by_alias=True)

    piece: Name
    source: Literal["wall", "discard"] = Field(alias="from")


class HandDocument(Document):
    rules: str = Field(description="Name of a rule set, see `/api/rules`.", max_length=40)
    concealed: Pieces = Field(description="Pieces in the hand, the winning piece not among them.")
    melds: list[MeldDocument] = Field(default=[], max_length=40)
    winning: WinningDocument | None = None
    bonus: Pieces = ""
    context: dict[str, Setting] = Field(default={}, description="Facts that a photo cannot show.")
    options: dict[str, Setting] = Field(default={}, description="House rules by name.")


# ---- a result ----


class PieceLeft(Document):
    piece: Name
    left: int


class Wait(Document):
    piece: Name
    left: int = Field(description="Copies not in this hand.")
    status: str
    total: float | int | None = None


class Advice(Document):
    discard: Name
    shanten: int
    pieces: list[PieceLeft]


class ArrangedMeld(Document):
    kind: str = Field(description="A kind of meld, or `loose`.")
    pieces: Pieces
    concealed: bool | None = None


class LegalMeld(Document):
    kind: str
    pieces: Pieces


class ScoreItem(Document):
    name: str
    count: int
    value: float | int


class Score(BaseModel):
    """A rule set may add fields of its own: `sichuan` adds base, each_pays, payers and winner_gets."""

    model_config = ConfigDict(extra="allow", strict=True)

    unit: str
    total: float | int
    items: list[ScoreItem]


class ResultDocument(BaseModel):
    """A rule set may add fields of its own."""

    model_config = ConfigDict(extra="allow", strict=True)

    status: Literal["won", "not-allowed", "ready", "building", "invalid"]
    shanten: int | None = Field(description="Pieces still to exchange; 0 ready, -1 complete.")
    waits: list[Wait]
    advice: list[Advice]
    arrangement: list[ArrangedMeld]
    legal_melds: list[LegalMeld]
    score: Score | None = None
    notes: list[str]


# ---- a reading ----

Corner = Annotated[list[float], Field(min_length=2, max_length=2)]


class CandidateDocument(Document):
    piece: Name
    confidence: Confidence


class SightingDocument(Document):
    piece: Name = Field(description="Notation, or `back` for a piece that lies face down.")
    confidence: Confidence
    doubtful: bool = Field(description="Wants a second look: mark it.")
    quad: list[Corner] = Field(
        min_length=4,
        max_length=4,
        description="Corners in pixels of the upright photo, from the own top-left, clockwise.",
    )
    candidates: list[CandidateDocument]
    role: Literal["hand", "meld", "other", "back"]
    row: int | None
    group: int | None


class ReadingDocument(Document):
    photo: str = Field(description="The file's name.")
    deck: Literal["mahjong", "four-color"] | None = Field(description="null: no piece was found.")
    width: int = Field(description="Pixels of the upright photo.")
    height: int
    pieces: list[SightingDocument]
    hand: Pieces
    melds: list[MeldDocument]
    winning: int | None = Field(
        description="Which of `pieces`, from 0, is set apart from a full hand, as the piece that won it is."
    )
    unnamed: list[list[int]] = Field(
        description="Concealed kongs that lie face down: four of `pieces` each. Nothing shows what they are."
    )
    warnings: list[str]
    ms: dict[str, float] = Field(description="Milliseconds of each stage, and `total`.")
    preview: str = Field(description="The upright photo as a small JPEG in a data URL.")


# ---- what can be chosen ----


class PieceDescription(Document):
    piece: Name
    name: str = Field(description="English name, such as `5 of dots`.")


class NotationDocument(Document):
    text: Pieces = Field(description="Canonical text.")
    pieces: list[PieceDescription]


class Choice(Document):
    value: Setting
    label: str


class SettingDescription(Document):
    """An option or a context field, described so that a form can be drawn from it."""

    name: str
    label: str
    help: str
    type: Literal["flag", "choice"]
    choices: list[Choice]
    default: Setting
    lasting: bool = Field(description="A fact of the game, not of one hand: it holds for the next one too.")


class RuleSetDescription(Document):
    name: str
    title: str
    deck: str
    unit: str
    pieces: list[Name]
    sizes: list[int] = Field(description="Full sizes of a hand, the extra pieces of kongs left out.")
    seats: int
    players: list[int] = Field(description="How many may sit at a table, the usual number first.")
    events: list[Literal["win", "kong", "wall-end", "draw"]] = Field(description="What a round is told by.")
    draws: dict[str, str] = Field(description="Ways a round may end unpaid, with their English labels.")
    deal: list[SettingDescription] = Field(description="What is settled when a round is dealt.")
    seat_facts: list[str] = Field(description="Context fields that each player names then.")
    meld_kinds: list[MeldKind] = Field(description="Kinds that may be laid down.")
    concealed_kinds: list[MeldKind] = Field(
        description="Kinds for which it matters whether they are of own pieces alone."
    )
    options: list[SettingDescription]
    context: list[SettingDescription]
    presets: dict[str, dict[str, Setting]]
    items: dict[str, str] = Field(description="English label of every item that a score can list.")
    score_fields: dict[str, str] = Field(description="English label of every field it adds to a score.")
    readings: list[str] = Field(description="How unclear written rules are read, where no option chooses.")


class RulesDocument(Document):
    rules: list[RuleSetDescription]
    decks: dict[str, list[PieceDescription]]
    readable_decks: list[str] = Field(description="Decks that photos are read of.")
