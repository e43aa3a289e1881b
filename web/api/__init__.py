"""The JSON interface: photos in, readings out; hands in, results out. `GET /api/openapi.json` describes it.

Whatever is wrong with a request is answered as `{"error": {"message", "where"}}` with a 4xx status.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import replace
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from flask import Blueprint, Response, current_app, jsonify, request
from pydantic import ConfigDict, TypeAdapter, ValidationError
from werkzeug.exceptions import HTTPException, RequestEntityTooLarge

from companion import analyse
from companion.faults import first_fault
from companion.hand import Hand, HandError
from companion.installed import readable_decks
from companion.pieces import DECKS, NotationError, Piece, format_pieces, parse_pieces
from companion.reading import Expectation
from companion.rules import RULE_SETS
from companion.rules import get as get_rules
from web.api.frames import MAX_FRAME_BYTES, BadField, frame_document, parse_state, parse_time
from web.api.models import HandDocument, Setting
from web.api.openapi import openapi_document
from web.photos import BadPhoto, Busy, NotInstalled, PhotoReader

if TYPE_CHECKING:
    from vision.sets import TileSet

MAX_HAND_BYTES = 64 * 1024
"""A hand document is below 2 kB; this leaves room and keeps nonsense out."""

_SETTINGS = TypeAdapter(dict[str, Setting], config=ConfigDict(strict=True))

blueprint = Blueprint("api", __name__, url_prefix="/api")
log = logging.getLogger(__name__)

Answer = Response | tuple[Response, int]


def problem(status: HTTPStatus, message: str, where: str = "", **more: Any) -> tuple[Response, int]:
    """The answer to a request that cannot be carried out."""
    return jsonify({"error": {"message": message, "where": where, **more}}), status


@blueprint.post("/readings")
def make_reading() -> Answer:
    upload = request.files.get("photo")
    if upload is None:
        return problem(HTTPStatus.BAD_REQUEST, "Send the photo as the multipart field `photo`.", "photo")
    deck = request.form.get("deck", "auto")
    known = ("auto", *readable_decks())
    if deck not in known:
        return _unknown("deck", deck, known)
    photos: PhotoReader = current_app.extensions["photos"]
    try:
        expectation = _expectation()
        tile_set, lost = _taught_set()
        reading, preview = photos.read(
            cast(BinaryIO, upload.stream), upload.filename or "photo", deck, tile_set, expectation
        )
    except HandError as error:
        return problem(HTTPStatus.BAD_REQUEST, error.message, error.where)
    except BadPhoto as error:
        return problem(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, str(error), "photo")
    except (Busy, NotInstalled) as error:
        return not_read(error)
    reading = replace(reading, warnings=reading.warnings + lost)
    return jsonify(reading.to_document() | {"preview": preview})


def _expectation() -> Expectation | None:
    """What a photo shows of the game that the form names, under the house rules and facts that it tells; None
    where it names no game. Raises `HandError`.
    """
    name = request.form.get("rules")
    options, context = (_settings(field) for field in ("options", "context"))
    if name is None:
        if options or context:
            raise HandError("Options and context are those of a game: name it as `rules`.", "rules")
        return None
    rules = get_rules(name)
    rules.check_settings(options, context)
    return rules.expectation(options, context)


def _settings(field: str) -> dict[str, Any]:
    """The settings that a field of the form holds as JSON; raises `HandError`."""
    text = request.form.get(field)
    if not text:
        return {}
    try:
        return _SETTINGS.validate_json(text)
    except ValidationError:
        raise HandError(f"The field `{field}` must be a JSON object of names and values.", field) from None


def _taught_set() -> tuple[TileSet | None, tuple[str, ...]]:
    """The tile set that the form names, or none and a warning for people when it is not kept any more."""
    key = request.form.get("set")
    if not key:
        return None, ()
    from vision.sets import SetError, TileSets

    try:
        return TileSets(current_app.config["COMPANION_HOME"]).by_key(key), ()
    except SetError:
        return None, ("The tile set you chose is not kept any more: read without it.",)


@blueprint.post("/frames")
def see_frame() -> Answer:
    request.max_content_length = MAX_FRAME_BYTES
    upload = request.files.get("frame")
    if upload is None:
        return problem(HTTPStatus.BAD_REQUEST, "Send the frame as the multipart field `frame`.", "frame")
    photos: PhotoReader = current_app.extensions["photos"]
    try:
        expectation = _expectation()
        before = parse_state(request.form.get("state", ""))
        at = parse_time(request.form.get("at", ""))
        tile_set, _ = _taught_set()
        view = photos.see(cast(BinaryIO, upload.stream), at, before, expectation, tile_set)
    except BadField as error:
        return problem(HTTPStatus.BAD_REQUEST, str(error), error.where)
    except HandError as error:
        return problem(HTTPStatus.BAD_REQUEST, error.message, error.where)
    except BadPhoto as error:
        return problem(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, str(error), "frame")
    except (Busy, NotInstalled) as error:
        return not_read(error)
    return jsonify(frame_document(view))


def not_read(error: Busy | NotInstalled) -> Answer:
    """Why this computer reads nothing now."""
    if isinstance(error, Busy):
        answer, status = problem(
            HTTPStatus.SERVICE_UNAVAILABLE, "Many photos are being read right now. Try again in a moment."
        )
        answer.headers["Retry-After"] = "3"
        return answer, status
    # What is missing is the owner's business, who sees this log.
    log.error("photos cannot be read: %s", error)
    return problem(
        HTTPStatus.SERVICE_UNAVAILABLE,
        "This computer cannot read photos: a part is missing, its console says which. Typing a hand works.",
    )


@blueprint.post("/analyses")
def make_analysis() -> Answer:
    request.max_content_length = MAX_HAND_BYTES
    try:
        document = HandDocument.model_validate_json(request.get_data())
        hand = Hand.from_document(document.model_dump(by_alias=True, exclude_unset=True))
        return jsonify(analyse(hand).to_document())
    except ValidationError as error:
        return problem(HTTPStatus.BAD_REQUEST, *_fault(error))
    except HandError as error:
        return problem(HTTPStatus.BAD_REQUEST, error.message, error.where)


@blueprint.get("/pieces")
def spell_pieces() -> Answer:
    """Notation text taken apart, for a text field that shows at once what it understood."""
    deck = request.args.get("deck")
    if deck is not None and deck not in DECKS:
        return _unknown("deck", deck, DECKS)
    try:
        pieces = parse_pieces(request.args.get("text", ""), deck)
    except NotationError as error:
        return problem(HTTPStatus.BAD_REQUEST, str(error), "text", position=error.position)
    return jsonify({"text": format_pieces(pieces), "pieces": [_described(piece) for piece in pieces]})


@blueprint.get("/rules")
def rules() -> Answer:
    return jsonify(
        {
            "rules": [rule_set.describe() for rule_set in RULE_SETS.values()],
            "decks": {deck.name: [_described(piece) for piece in deck.pieces] for deck in DECKS.values()},
            "readable_decks": list(readable_decks()),
        }
    )


@blueprint.get("/openapi.json")
def openapi() -> Answer:
    return jsonify(openapi_document())


@blueprint.after_request
def never_kept(response: Response) -> Response:
    response.headers["Cache-Control"] = "no-store"
    return response


@blueprint.errorhandler(RequestEntityTooLarge)
def too_large(_: RequestEntityTooLarge) -> Answer:
    megabytes = (request.max_content_length or 0) / 2**20
    size = f"{megabytes:.0f} MB" if megabytes >= 1 else f"{megabytes * 1024:.0f} kB"
    return problem(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"That is too large: at most {size} are taken.")


@blueprint.errorhandler(Exception)
def failed(error: Exception) -> Answer:
    """What no route foresaw. The log gets the traceback, never the request's content."""
    if isinstance(error, HTTPException):
        return problem(HTTPStatus(error.code or 500), error.description or error.name)
    if isinstance(error, ImportError):  # vision, where OpenCV cannot load
        return not_read(NotInstalled(str(error)))
    log.error("%s %s failed", request.method, request.path, exc_info=error)
    return problem(
        HTTPStatus.INTERNAL_SERVER_ERROR,
        "Something went wrong in the program itself. Nothing of yours is lost.",
    )


@blueprint.app_errorhandler(HTTPStatus.NOT_FOUND)
@blueprint.app_errorhandler(HTTPStatus.METHOD_NOT_ALLOWED)
def no_such_call(error: HTTPException) -> Answer | HTTPException:
    """Addresses that no route has reach no blueprint; under /api/ they are answered like all else there."""
    if not request.path.startswith("/api/"):
        return error
    call = f"{request.method} {request.path[:80]}"
    return problem(HTTPStatus(error.code or 404), f"There is no {call}; see /api/openapi.json.")


def _unknown(field: str, name: str, known: Iterable[str]) -> Answer:
    return problem(HTTPStatus.BAD_REQUEST, f"No {field} {name[:40]!r}; known: {', '.join(known)}.", field)


def _described(piece: Piece) -> dict[str, str]:
    return {"piece": str(piece), "name": piece.name}


def _fault(error: ValidationError) -> tuple[str, str]:
    # A setting may be one of several types; pydantic then names the type it tried last, which is no place.
    types = ("bool", "int", "str")
    return first_fault(error, "The hand", lambda path: [part for part in path if part not in types])
