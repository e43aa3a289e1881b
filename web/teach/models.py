"""The documents of the teaching calls: what they take, checked, and what they answer."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from web.api.models import Document, Name, SightingDocument

Number = Annotated[float, Field(ge=-1e6, le=1e6, allow_inf_nan=False, strict=False)]
Corner = Annotated[list[Number], Field(min_length=2, max_length=2)]
Quad = Annotated[
    list[Corner], Field(min_length=4, max_length=4, description="From the own top-left, clockwise.")
]


class NewSet(Document):
    name: str


class Switch(Document):
    on: bool


class TaughtTile(Document):
    piece: Name
    quad: Quad


class CorrectionForm(Document):
    piece: Name
    quad: Quad = Field(description="In pixels of the picture that is sent with it.")
    photo: str = Field(default="", max_length=200, description="Pieces of one photo bear the same name.")


# ---- what goes out ----


class SetDocument(Document):
    key: str = Field(description="Its name in addresses.")
    name: str
    on: bool = Field(description="Whether readings that name the set use what was learned.")
    tiles: int = Field(description="Pictures of tiles that are kept.")
    faces: int = Field(description="Different faces among them.")


class SetsDocument(Document):
    sets: list[SetDocument]


class LaidOutTile(SightingDocument):
    row: int = Field(description="From 0, the top row first.")
    label: Name = Field(description="What it most probably is, in its place among the others.")


class LessonDocument(Document):
    photo: str = Field(description="The file's name.")
    width: int = Field(description="Pixels of the upright photo.")
    height: int
    tiles: list[LaidOutTile] = Field(description="Row by row, each from left to right.")
    preview: str = Field(description="The upright photo as a small JPEG in a data URL.")


class MeasureDocument(Document):
    tiles: int = Field(description="Kept tiles that were read anew.")
    before: int = Field(description="How many of them the reader gets right without what was learned.")
    after: int = Field(description="And with it.")
    held_out: bool = Field(description="Each photo was read with what the other photos taught alone.")


class GainDocument(SetDocument):
    measure: MeasureDocument


class CorrectedDocument(SetDocument):
    picture: str = Field(description="Key of the kept picture.")


class PictureDocument(Document):
    key: str
    piece: Name
    source: Literal["lesson", "correction", ""] = Field(description="What it came with; empty: not known.")
    when: str = Field(description="ISO 8601, UTC.")


class PicturesDocument(SetDocument):
    pictures: list[PictureDocument]
