"""The OpenAPI 3.1 description, made from the models that the API uses."""

from __future__ import annotations

from functools import cache
from typing import Any, Literal

from pydantic.json_schema import models_json_schema

from companion.installed import readable_decks
from companion.pieces import DECKS
from companion.rules import RULE_SETS
from web.api import frames, models
from web.api.operations import Model, Operation, Schema, by_path

SETTINGS_FIELDS: dict[str, Schema] = {
    name: {
        "type": "string",
        "contentMediaType": "application/json",
        "contentSchema": {"type": "object"},
        "description": f"{told} As in a hand document; only beside `rules`.",
    }
    for name, told in {
        "options": "House rules of the game, such as how many equal cards its deck holds.",
        "context": "Facts, such as whether jokers are in the game.",
    }.items()
}
SET_FIELD = {"type": "string", "description": "Key of a taught tile set, see /api/sets."}

OPERATIONS = (
    Operation(
        "post",
        "/api/readings",
        "makeReading",
        "Read a photo",
        models.ReadingDocument,
        "What lies where.",
        form={
            "photo": {
                "type": "string",
                "format": "binary",
                "description": "JPEG, PNG, WebP or HEIC; 32 MB at most.",
            },
            "deck": {"type": "string", "enum": ["auto", *readable_decks()], "default": "auto"},
            "rules": {
                "type": "string",
                "enum": list(RULE_SETS),
                "description": "The game that is played. Its deck is looked for first, so that its photos "
                "are answered sooner and read as its cards allow; any other deck is read as what it is, "
                "where `deck` names none.",
            },
            **SETTINGS_FIELDS,
            "set": SET_FIELD,
        },
        optional=frozenset({"deck", "rules", "options", "context", "set"}),
        problems=(400, 413, 415, 503),
    ),
    Operation(
        "post",
        "/api/frames",
        "seeFrame",
        "Add one frame of a live preview to what is known from those before it",
        frames.FrameDocument,
        "What is known now.",
        form={
            "frame": {
                "type": "string",
                "format": "binary",
                "description": "A small JPEG, best of 960 pixels; send the next when this one is answered.",
            },
            "at": {"type": "number", "minimum": 0, "description": "When it was taken: seconds on any clock."},
            "state": {"type": "string", "description": "As the last answer gave it; none at first."},
            "rules": {
                "type": "string",
                "enum": list(RULE_SETS),
                "description": "Whose deck is looked for, and whose hand sizes are waited for.",
            },
            **SETTINGS_FIELDS,
            "set": SET_FIELD,
        },
        optional=frozenset({"state", "rules", "options", "context", "set"}),
        problems=(400, 413, 415, 503),
    ),
    Operation(
        "post",
        "/api/analyses",
        "makeAnalysis",
        "Judge a hand: melds, status, score",
        models.ResultDocument,
        "What the hand is worth.",
        takes=models.HandDocument,
        problems=(400, 413),
    ),
    Operation(
        "get",
        "/api/pieces",
        "spellPieces",
        "Take notation text apart",
        models.NotationDocument,
        "The pieces.",
        query={"text": {"type": "string"}, "deck": {"enum": list(DECKS)}},
        optional=frozenset({"deck"}),
        problems=(400,),
    ),
    Operation(
        "get",
        "/api/rules",
        "rules",
        "Rule sets with their options and context fields, and the decks' pieces",
        models.RulesDocument,
        "What can be chosen.",
    ),
)


@cache
def openapi_document() -> dict[str, Any]:
    """The whole description. Models both taken and given stand in it twice: with defaults, and whole."""
    # Late: the features answer their calls with the help of this package.
    from web.table.operations import OPERATIONS as TABLE
    from web.teach.operations import OPERATIONS as TEACH

    operations = (*OPERATIONS, *TEACH, *TABLE)
    given = dict.fromkeys(model for one in operations for model in one.given)
    answers: dict[Model, None] = {models.ErrorDocument: None}
    answers |= {one.answer: None for one in operations if not isinstance(one.answer, str)}
    wanted: list[tuple[Any, Literal["serialization", "validation"]]] = []
    wanted += [(model, "serialization") for model in answers]
    wanted += [(model, "validation") for model in given]
    refs, definitions = models_json_schema(wanted, ref_template="#/components/schemas/{model}")
    schemas: dict[Any, Schema] = dict(refs)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Table Companion",
            "version": "1",
            "description": "From a photo of mahjong tiles to melds, win status and score.",
        },
        "paths": by_path(
            operations,
            taken={model: schemas[model, "validation"] for model in given},
            answered={model: schemas[model, "serialization"] for model in answers},
        ),
        "components": {"schemas": definitions["$defs"]},
    }
