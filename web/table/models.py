"""What the table's page sends."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from companion.table.actions import Name, Seat

Key = Annotated[str, StringConstraints(min_length=16, max_length=64, pattern=r"^[\x21-\x7e]+$")]
"""Made by the page at random: whoever knows it can do the same again."""


class Request(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    key: Key


class Newcomer(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    name: Name
    seat: Seat | None = None


class NewTable(Request):
    """create: a `create` action, whose host is whoever sends it."""

    create: dict[str, Any]
    me: Newcomer


class Joining(Request):
    code: Annotated[str, StringConstraints(max_length=20)]
    me: Newcomer


class Doing(Request):
    """since: the version that the page knows."""

    action: dict[str, Any]
    since: Annotated[int, Field(ge=0)] = 0


class Trying(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    action: dict[str, Any]
