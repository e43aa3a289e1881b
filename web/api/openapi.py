"""The OpenAPI 3.1 description, made from the models that the API uses."""

from __future__ import annotations

from functools import cache
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from companion.commands.read import READABLE_DECKS
from companion.pieces import DECKS
from companion.rules import RULE_SETS
from web.api import frames, models

_PROBLEMS = {
    400: "The request is at fault; `where` says at which place.",
    413: "Too large.",
    415: "No photo that can be read.",
    503: "Busy, or a part that reading needs is not installed.",
}


_ANSWERS: tuple[type[BaseModel], ...] = (
    models.ErrorDocument,
    models.ReadingDocument,
    frames.FrameDocument,
    models.ResultDocument,
    models.NotationDocument,
    models.RulesDocument,
)


@cache
def openapi_document() -> dict[str, Any]:
    """The whole description. Models both taken and given stand in it twice: with defaults, and whole."""
    refs, definitions = models_json_schema(
        [*((model, "serialization") for model in _ANSWERS), (models.HandDocument, "validation")],
        ref_template="#/components/schemas/{model}",
    )
    schemas: dict[str, Any] = {model.__name__: ref for (model, _), ref in refs.items()}

    def answers(model: str, description: str, *problems: int) -> dict[str, Any]:
        """The responses of one operation: its document, and the statuses that carry an error document."""
        told = {
            str(status): {
                "description": _PROBLEMS[status],
                "content": {"application/json": {"schema": schemas["ErrorDocument"]}},
            }
            for status in problems
        }
        content = {"application/json": {"schema": schemas[model]}}
        return {"200": {"description": description, "content": content}, **told}

    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Table Companion",
            "version": "1",
            "description": "From a photo of mahjong tiles to melds, win status and score.",
        },
        "paths": {
            "/api/readings": {
                "post": {
                    "summary": "Read a photo",
                    "operationId": "makeReading",
                    "requestBody": {
                        "required": True,
                        "content": {
                            "multipart/form-data": {
                                "schema": {
                                    "type": "object",
                                    "required": ["photo"],
                                    "properties": {
                                        "photo": {
                                            "type": "string",
                                            "format": "binary",
                                            "description": "JPEG, PNG, WebP or HEIC; 32 MB at most.",
                                        },
                                        "deck": {
                                            "type": "string",
                                            "enum": ["auto", *READABLE_DECKS],
                                            "default": "auto",
                                        },
                                        "set": {
                                            "type": "string",
                                            "description": "Key of a taught tile set, see /api/sets.",
                                        },
                                    },
                                }
                            }
                        },
                    },
                    "responses": answers("ReadingDocument", "What lies where.", 400, 413, 415, 503),
                }
            },
            "/api/frames": {
                "post": {
                    "summary": "Add one frame of a live preview to what is known from those before it",
                    "operationId": "seeFrame",
                    "requestBody": {
                        "required": True,
                        "content": {
                            "multipart/form-data": {
                                "schema": {
                                    "type": "object",
                                    "required": ["frame", "at"],
                                    "properties": {
                                        "frame": {
                                            "type": "string",
                                            "format": "binary",
                                            "description": "A small JPEG, best of 960 pixels; send the next "
                                            "one when this one is answered.",
                                        },
                                        "at": {
                                            "type": "number",
                                            "minimum": 0,
                                            "description": "When it was taken: seconds on any clock.",
                                        },
                                        "state": {
                                            "type": "string",
                                            "description": "As the last answer gave it; none at first.",
                                        },
                                        "rules": {
                                            "type": "string",
                                            "enum": list(RULE_SETS),
                                            "description": "Whose hand sizes are waited for.",
                                        },
                                        "set": {
                                            "type": "string",
                                            "description": "Key of a taught tile set, see /api/sets.",
                                        },
                                    },
                                }
                            }
                        },
                    },
                    "responses": answers("FrameDocument", "What is known now.", 400, 413, 415, 503),
                }
            },
            "/api/analyses": {
                "post": {
                    "summary": "Judge a hand: melds, status, score",
                    "operationId": "makeAnalysis",
                    "requestBody": {
                        "required": True,
                        "content": {"application/json": {"schema": schemas["HandDocument"]}},
                    },
                    "responses": answers("ResultDocument", "What the hand is worth.", 400, 413),
                }
            },
            "/api/pieces": {
                "get": {
                    "summary": "Take notation text apart",
                    "operationId": "spellPieces",
                    "parameters": [
                        {"name": "text", "in": "query", "required": True, "schema": {"type": "string"}},
                        {"name": "deck", "in": "query", "schema": {"enum": list(DECKS)}},
                    ],
                    "responses": answers("NotationDocument", "The pieces.", 400),
                }
            },
            "/api/rules": {
                "get": {
                    "summary": "Rule sets with their options and context fields, and the decks' pieces",
                    "operationId": "rules",
                    "responses": answers("RulesDocument", "What can be chosen."),
                }
            },
        },
        "components": {"schemas": definitions["$defs"]},
    }
