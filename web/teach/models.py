"""What the teaching calls take, checked."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from web.api.models import Document, Name

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
