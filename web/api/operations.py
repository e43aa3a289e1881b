"""What the OpenAPI description is made of: one `Operation` a call, listed by the feature that answers it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel

Model = type[BaseModel]
Schema = Mapping[str, Any]

PROBLEMS = {
    400: "The request is at fault; `where` says at which place.",
    403: "Not from a page of this server, or not allowed.",
    404: "There is no such thing.",
    409: "It has changed meanwhile.",
    413: "Too large.",
    415: "No photo that can be read.",
    429: "Too many tries; wait a while.",
    503: "Busy, or a part that reading needs is not installed.",
}
"""What each status means that comes with an `ErrorDocument`."""


@dataclass(frozen=True, slots=True)
class Json:
    """A form field whose text is JSON: one document of the model, or a list of `many`."""

    model: Model
    description: str
    many: bool = False


@dataclass(frozen=True, slots=True)
class Operation:
    """One call of the API.

    path: with parameters in braces, such as ``/api/sets/{key}``. answer: the model of the document that is
    answered, or a media type. told: what the answer is. takes: the model of the JSON document that is sent.
    form: in its place the fields of a multipart form; those in `optional` may be left out. query: parameters
    behind the question mark, likewise. parameters: descriptions of those in the path. problems: statuses that
    carry an `ErrorDocument`.
    """

    method: str
    path: str
    name: str
    summary: str
    answer: Model | str
    told: str
    takes: Model | None = None
    form: Mapping[str, Schema | Json] = field(default_factory=dict)
    query: Mapping[str, Schema] = field(default_factory=dict)
    optional: frozenset[str] = frozenset()
    parameters: Mapping[str, str] = field(default_factory=dict)
    problems: tuple[int, ...] = ()

    @property
    def given(self) -> list[Model]:
        """Models of what is sent."""
        nested = [part.model for part in self.form.values() if isinstance(part, Json)]
        return nested if self.takes is None else [self.takes, *nested]

    def describe(self, taken: Mapping[Model, Schema], answered: Mapping[Model, Schema]) -> dict[str, Any]:
        """The OpenAPI object of this call, given the schemas of models that are taken and answered."""
        media = self.answer if isinstance(self.answer, str) else "application/json"
        schema = (
            {"type": "string", "format": "binary"} if isinstance(self.answer, str) else answered[self.answer]
        )
        return {
            "summary": self.summary,
            "operationId": self.name,
            **({"parameters": self._parameters()} if self.query or "{" in self.path else {}),
            **({"requestBody": self._body(taken)} if self.takes or self.form else {}),
            "responses": {
                "200": {"description": self.told, "content": {media: {"schema": schema}}},
                **{str(status): problem(status, answered) for status in self.problems},
            },
        }

    def _parameters(self) -> list[dict[str, Any]]:
        in_path = [
            {
                "name": name,
                "in": "path",
                "required": True,
                "schema": {"type": "string"},
                "description": self.parameters[name],
            }
            for name in re.findall(r"{(\w+)}", self.path)
        ]
        return in_path + [
            {"name": name, "in": "query", "required": name not in self.optional, "schema": dict(schema)}
            for name, schema in self.query.items()
        ]

    def _body(self, taken: Mapping[Model, Schema]) -> dict[str, Any]:
        if self.takes is not None:
            return {"required": True, "content": {"application/json": {"schema": taken[self.takes]}}}
        properties = {}
        for name, part in self.form.items():
            if isinstance(part, Json):
                one = taken[part.model]
                properties[name] = {
                    "type": "string",
                    "description": part.description,
                    "contentMediaType": "application/json",
                    "contentSchema": {"type": "array", "items": one} if part.many else one,
                }
            else:
                properties[name] = dict(part)
        form = {
            "type": "object",
            "required": [name for name in self.form if name not in self.optional],
            "properties": properties,
        }
        return {"required": True, "content": {"multipart/form-data": {"schema": form}}}


def problem(status: int, answered: Mapping[Model, Schema]) -> dict[str, Any]:
    """The response of a status that carries an error document."""
    from web.api.models import ErrorDocument

    content = {"application/json": {"schema": answered[ErrorDocument]}}
    return {"description": PROBLEMS[status], "content": content}


def by_path(
    operations: Iterable[Operation], taken: Mapping[Model, Schema], answered: Mapping[Model, Schema]
) -> dict[str, Any]:
    """The paths object of a description."""
    paths: dict[str, Any] = {}
    for operation in operations:
        paths.setdefault(operation.path, {})[operation.method] = operation.describe(taken, answered)
    return paths
