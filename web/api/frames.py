"""One frame of a live preview in, the steadied reading and what to do about the view out.

The server keeps nothing of a preview: what is known after a frame goes to the browser as `state`, and comes
back with the next frame. So any server process can answer for any frame, and an abandoned preview just ends.
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from web.api.models import Document, MeldDocument, Name, Pieces, SightingDocument

if TYPE_CHECKING:
    from vision.steady import Steady, View

CARD_SUITS = "yrwgj"
MAX_FRAME_BYTES = 2 * 2**20
"""A frame of 960 pixels has about 150 kB; its state, 4 kB for a hand, 40 kB for a whole table."""

AdviceKind = Literal[
    "nothing", "dark", "glare", "blurred", "far", "close", "edge", "moving", "few", "many", "doubtful",
    "hold", "sure",
]  # fmt: skip


class BadField(ValueError):
    """A field of the request that makes no sense; `where` names it."""

    def __init__(self, message: str, where: str) -> None:
        super().__init__(message)
        self.where = where


# ---- what goes out ----


class AdviceDocument(Document):
    kind: AdviceKind = Field(
        description="What is wrong with the view; `hold`: nothing; `sure`: take the shot."
    )
    text: str = Field(description="The same in English.")
    count: int = Field(description="Pieces of the hand, kongs counted as three, flowers left out.")
    sizes: list[int] = Field(description="How many a hand may have.")
    flowers: int = Field(description="Flowers beside them, which are in no count.")
    pieces: list[Name] = Field(description="For `doubtful`: what the piece may be, likeliest first.")


class FrameDocument(Document):
    width: int = Field(description="Pixels of the frame.")
    height: int
    pieces: list[SightingDocument] = Field(description="As the frames together show them, in this frame.")
    hand: Pieces
    melds: list[MeldDocument]
    advice: AdviceDocument
    progress: float = Field(ge=0, le=1, description="How much of the agreement that a shot needs is there.")
    sure: bool = Field(description="Take the shot now.")
    state: str = Field(description="To be sent back with the next frame.")
    ms: dict[str, float] = Field(description="Milliseconds of each stage, and `total`.")


def frame_document(view: View) -> dict[str, Any]:
    """The answer to a frame."""
    reading = view.reading.to_document()
    shown = {name: reading[name] for name in ("width", "height", "pieces", "hand", "melds")}
    return shown | {
        "advice": view.advice.to_document(),
        "progress": round(view.progress, 3),
        "sure": view.sure,
        "state": json.dumps(view.state.to_document(), separators=(",", ":")),
        "ms": reading["ms"],
    }


# ---- what comes back in: it was in a stranger's hands ----


class Checked(BaseModel):
    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


Pixel = Annotated[float, Field(ge=-1e4, le=1e4)]
Point = Annotated[list[Pixel], Field(min_length=2, max_length=2)]
PieceName = Annotated[str, Field(pattern=r"^(back|[0-9][mps]|[1-7]z|[1-8]f|[KAERHCP][yrwg]|[1-5]j)?$")]
LogChance = Annotated[float, Field(ge=-1e3, le=1)]
Weight = Annotated[float, Field(ge=0, le=100)]


class TrackDocument(Checked):
    quad: Annotated[list[Point], Field(min_length=4, max_length=4)]
    logs: Annotated[dict[PieceName, LogChance], Field(min_length=1, max_length=8)]
    seen: Weight


class StateDocument(Checked):
    tracks: Annotated[list[TrackDocument], Field(max_length=200)]
    frames: Weight
    at: Annotated[float, Field(ge=0, le=1e12)]
    hand: Annotated[str, Field(max_length=2000)]
    held: Annotated[int, Field(ge=0, le=10**9)]
    told: AdviceKind
    due: AdviceKind
    deck: Literal["mahjong", "four-color"] = "mahjong"

    @model_validator(mode="after")
    def names_of_one_deck(self) -> Self:
        of_cards = {name[-1] in CARD_SUITS for track in self.tracks for name in track.logs if name}
        if of_cards - {self.deck == "four-color"}:
            raise ValueError("pieces of another deck")
        return self


def parse_state(text: str) -> Steady | None:
    """The state that an earlier answer gave; None for the empty text of a first frame. Raises `BadField`."""
    from vision.steady import Steady

    if not text:
        return None
    try:
        return Steady.from_document(StateDocument.model_validate_json(text).model_dump())
    except ValidationError:
        raise BadField("This is no state that an answer gave. Begin anew without one.", "state") from None


def parse_time(text: str) -> float:
    """Seconds on the clock of whoever sends the frames. Raises `BadField`."""
    try:
        at = float(text)
    except ValueError:
        at = math.nan
    if not 0 <= at <= 1e12:
        raise BadField("The frame's time is missing: seconds, from 0 up, on a clock of yours.", "at")
    return at
