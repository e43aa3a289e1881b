"""Teaching tile sets: the guided page at `/teach` and its JSON calls under `/api/sets` and `/api/lessons`.

This feature alone keeps something: labelled crops of tiles, in the folder of `vision.sets`, on this computer.
Photos themselves are not kept.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import Any, BinaryIO, TypeVar, cast

from flask import Blueprint, Response, current_app, jsonify, request, send_file
from pydantic import TypeAdapter, ValidationError
from werkzeug.datastructures import FileStorage
from werkzeug.exceptions import HTTPException, RequestEntityTooLarge

from companion.pieces import NotationError, Piece
from web import api
from web.capture import translated
from web.guards import from_this_page
from web.photos import BadPhoto, Busy, NotInstalled, PhotoReader
from web.teach.models import CorrectionForm, NewSet, Switch, TaughtTile

MAX_JSON_BYTES = 4096
MAX_TILES = 200

blueprint = Blueprint(
    "teach", __name__, template_folder="templates", static_folder="static", static_url_path="/teach"
)
blueprint.before_request(from_this_page)
blueprint.register_error_handler(RequestEntityTooLarge, api.too_large)

_TILES = TypeAdapter(list[TaughtTile])
Model = TypeVar("Model", NewSet, Switch)


@blueprint.get("/teach")
def page() -> str:
    return translated("teach/page.html")


# ---- sets ----


@blueprint.get("/api/sets")
def list_sets() -> api.Answer:
    return jsonify({"sets": [_described(tile_set) for tile_set in _sets().all()]})


@blueprint.post("/api/sets")
def make_set() -> api.Answer:
    return jsonify(_described(_sets().make(_body(NewSet).name)))


@blueprint.put("/api/sets/<key>/switch")
def switch_set(key: str) -> api.Answer:
    tile_set = _sets().by_key(key)
    tile_set.switch(_body(Switch).on)
    return jsonify(_described(tile_set))


@blueprint.delete("/api/sets/<key>")
def forget_set(key: str) -> api.Answer:
    _sets().by_key(key).forget()
    return list_sets()


@blueprint.post("/api/sets/<key>/undo")
def undo(key: str) -> api.Answer:
    tile_set = _sets().by_key(key)
    tile_set.undo()
    return jsonify(_described(tile_set))


# ---- lessons and corrections ----


@blueprint.post("/api/lessons")
def lay_out() -> api.Answer:
    """A photo of tiles laid out: its faces row by row, each with its most probable label."""
    from vision.lesson import guess, laid_out
    from web.photos import preview

    with _photos().opened(*_upload("photo")) as (reader, photo):
        reading = reader.read(photo)
        picture = preview(photo)
    rows = laid_out(reading)
    labels = iter(guess(rows))
    tiles = [
        {**sighting.to_document(), "row": number, "label": next(labels)}
        for number, row in enumerate(rows)
        for sighting in row
    ]
    return jsonify(
        {
            "photo": reading.photo,
            "width": reading.width,
            "height": reading.height,
            "tiles": tiles,
            "preview": picture,
        }
    )


@blueprint.post("/api/sets/<key>/lessons")
def teach(key: str) -> api.Answer:
    """The same photo again, with what its tiles are; answers what reading gains by it."""
    from vision.lesson import cut

    tile_set = _sets().by_key(key)
    tiles = _TILES.validate_json(request.form.get("tiles", ""))
    if not 1 <= len(tiles) <= MAX_TILES:
        return api.problem(HTTPStatus.BAD_REQUEST, f"Name 1 to {MAX_TILES} tiles.", "tiles")
    for tile in tiles:
        Piece.parse(tile.piece)
    with _photos().opened(*_upload("photo")) as (reader, photo):
        tile_set.teach(cut(photo, _quads(tiles), [tile.piece for tile in tiles]))
        measure = tile_set.measure(reader.classifier)  # type: ignore[attr-defined]  # a Reader, not its stand-in
    return jsonify(
        {
            **_described(tile_set),
            "measure": {
                "tiles": measure.tiles,
                "before": measure.before,
                "after": measure.after,
                "held_out": measure.held_out,
            },
        }
    )


@blueprint.post("/api/sets/<key>/corrections")
def correct(key: str) -> api.Answer:
    """One corrected piece: a cut-out of the photo, where the piece lies in it, and what it is."""
    from vision.lesson import cut

    tile_set = _sets().by_key(key)
    form = CorrectionForm.model_validate_json(request.form.get("correction", ""))
    Piece.parse(form.piece)
    picture, _ = _upload("picture")
    with _photos().opened(picture, form.photo) as (_, photo):
        lesson = tile_set.teach(cut(photo, _quads([form]), [form.piece]), "correction")
    key_of = next((kept.key for kept in tile_set.kept() if kept.lesson == lesson), "")
    return jsonify({**_described(tile_set), "picture": key_of})


# ---- kept pictures ----


@blueprint.get("/api/sets/<key>/pictures")
def list_pictures(key: str) -> api.Answer:
    from vision.sets import source_of

    tile_set = _sets().by_key(key)
    pictures = [
        {
            "key": kept.key,
            "piece": kept.piece,
            "source": source_of(kept)[0],
            "when": kept.when.isoformat(timespec="seconds"),
        }
        for kept in reversed(tile_set.kept())
    ]
    return jsonify({**_described(tile_set), "pictures": pictures})


@blueprint.get("/api/sets/<key>/pictures/<picture>.png")
def show_picture(key: str, picture: str) -> api.Answer:
    tile_set = _sets().by_key(key)
    kept = next((one for one in tile_set.kept() if one.key == picture), None)
    if kept is None:
        return api.problem(HTTPStatus.NOT_FOUND, "There is no such picture.")
    return send_file(kept.path, mimetype="image/png", max_age=3600)


@blueprint.delete("/api/sets/<key>/pictures/<picture>")
def delete_picture(key: str, picture: str) -> api.Answer:
    tile_set = _sets().by_key(key)
    tile_set.delete(picture)
    return jsonify(_described(tile_set))


@blueprint.delete("/api/sets/<key>/pictures")
def delete_pictures(key: str) -> api.Answer:
    tile_set = _sets().by_key(key)
    tile_set.clear()
    return jsonify(_described(tile_set))


# ---- edges ----


@blueprint.after_request
def never_kept(response: Response) -> Response:
    if request.path.startswith("/api/") and request.endpoint != "teach.show_picture":
        response.headers["Cache-Control"] = "no-store"
    return response


@blueprint.errorhandler(Exception)
def refused(error: Exception) -> api.Answer:
    if isinstance(error, ImportError):
        return api.failed(error)
    from vision.sets import SetError

    if isinstance(error, SetError | NotationError):
        return api.problem(HTTPStatus.BAD_REQUEST, _sentence(str(error)))
    if isinstance(error, ValidationError):
        fault = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, fault["loc"]))
        return api.problem(HTTPStatus.BAD_REQUEST, f"This request is not right: {fault['msg']}.", where)
    if isinstance(error, BadPhoto):
        return api.problem(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, str(error), "photo")
    if isinstance(error, Busy | NotInstalled):
        return api.not_read(error)
    if isinstance(error, HTTPException) and not request.path.startswith("/api/"):
        return cast(api.Answer, error.get_response())
    return api.failed(error)


def _sets() -> Any:
    # Late: typed hands are judged without OpenCV and Pillow.
    from vision.sets import TileSets

    return TileSets(current_app.config["COMPANION_HOME"])


def _photos() -> PhotoReader:
    photos: PhotoReader = current_app.extensions["photos"]
    return photos


def _upload(name: str) -> tuple[BinaryIO, str]:
    upload: FileStorage | None = request.files.get(name)
    if upload is None:
        raise BadPhoto(f"send the photo as the multipart field `{name}`")
    return cast(BinaryIO, upload.stream), upload.filename or "photo"


def _body(model: type[Model]) -> Model:
    request.max_content_length = MAX_JSON_BYTES
    return model.model_validate_json(request.get_data())


def _quads(tiles: list[Any]) -> Any:
    import numpy as np

    return np.array([tile.quad for tile in tiles], np.float32)


def _described(tile_set: Any) -> dict[str, Any]:
    kept = tile_set.kept()
    return {
        "key": tile_set.key,
        "name": tile_set.name,
        "on": tile_set.on,
        "tiles": len(kept),
        "faces": len({one.piece for one in kept}),
    }


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "!", "?")) else ".")
