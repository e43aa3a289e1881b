"""The live table: create, join, play, settle. All rules are `companion.table`'s; here are its pages and API.

Who somebody is stands in a signed cookie: for each table the visitor's member id, from which the journal
tells the rest. Tables are found by their code; who has not joined a table can neither read nor change it.
"""

from __future__ import annotations

import json
import logging
import secrets
import threading
from dataclasses import replace
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any, BinaryIO, TypeVar, cast
from urllib.parse import quote, urlsplit

from flask import Blueprint, Response, current_app, g, jsonify, make_response, request
from itsdangerous import BadSignature, URLSafeSerializer
from pydantic import BaseModel, ValidationError
from sqlalchemy.exc import SQLAlchemyError
from werkzeug.exceptions import HTTPException, RequestEntityTooLarge

from companion.faults import first_fault
from companion.table.actions import (
    MOST_BYTES,
    Action,
    Conflict,
    Create,
    Delete,
    Edit,
    Forbidden,
    Join,
    Record,
    TableError,
    action_from_json,
)
from companion.table.export import MOST_IMPORT_BYTES, from_json, to_csv, to_json
from companion.table.replay import State
from companion.table.store import NoTable, Store, StoreError
from companion.table.view import evening_document, journal_document, round_document, table_document
from web import api
from web.capture import translated
from web.guards import from_this_page
from web.photos import BadPhoto, Busy, NotInstalled, PhotoReader
from web.qr import qr_code
from web.table.models import LEAST_KEY, MOST_KEY, Doing, Joining, Looking, NewTable, Trying

COOKIE = "tables"
COOKIE_DAYS = 390
MOST_REMEMBERED = 40
"""Tables that one cookie names; browsers keep 4096 bytes."""

MOST_PHOTO_BYTES = 8 * 1024 * 1024
MOST_PHOTOS = 400
"""Of one table; an evening of 40 rounds with every winner's photo has 120."""

MOST_OPENED = 300
"""Tables opened or imported from one address in the time that wrong codes are counted for."""

blueprint = Blueprint(
    "table", __name__, template_folder="templates", static_folder="static", static_url_path="/table-files"
)
blueprint.before_request(from_this_page)
blueprint.register_error_handler(RequestEntityTooLarge, api.too_large)
log = logging.getLogger(__name__)

Model = TypeVar("Model", bound=BaseModel)


class Tables:
    """The store, opened when the first visitor comes to a table."""

    def __init__(self, url: str | None) -> None:
        self._url = url
        self._store: Store | None = None
        self._opening = threading.Lock()

    @property
    def store(self) -> Store:
        with self._opening:
            if self._store is None:
                self._store = Store(self._url)
            return self._store


# ---- pages ----


@blueprint.get("/table")
def home() -> str:
    return translated("table/home.html")


@blueprint.get("/table/<table>")
def page(table: str) -> str:
    return translated("table/table.html", table=table)


# ---- coming and going ----


@blueprint.post("/api/tables")
def create() -> api.Answer:
    form = _body(NewTable)
    _count_opening()
    action = _action({**form.create, "type": "create"})
    if not isinstance(action, Create):  # the type says so
        raise TypeError(type(action))
    names = list(action.players)
    if form.me.seat is not None and form.me.seat < len(names):
        names[form.me.seat] = form.me.name
    table, state = _store().create(form.key, replace(action, players=tuple(names)))
    member = _store().member_for(table, form.key)
    state = _store().act(table, f"{form.key} join", member, Join(member, form.me.name, form.me.seat))
    return _remembered(table, member, _told(table, state, member))


@blueprint.post("/api/tables/look")
def look() -> api.Answer:
    """What a table is, for somebody who has its code and has not joined yet."""
    table = _by_code(_body(Looking).code)
    state = _store().state(table)
    document = table_document(state)
    shown = ("name", "rules", "names", "seated", "begun")
    return jsonify({"id": table, "joined": table in _mine(), **{name: document[name] for name in shown}})


@blueprint.post("/api/tables/join")
def join() -> api.Answer:
    form = _body(Joining)
    table = _by_code(form.code)
    # Who comes again stays the same person.
    member = _mine().get(table) or _store().member_for(table, form.key)
    state = _store().act(table, form.key, member, Join(member, form.me.name, form.me.seat))
    return _remembered(table, member, _told(table, state, member))


@blueprint.get("/api/tables")
def evenings() -> api.Answer:
    """The tables that this visitor has come to."""
    listed = [
        {"id": each.id, "code": each.code, "name": each.name, "rules": each.rules, "finished": each.finished,
         "begun": each.begun, "changed": each.changed}
        for each in _store().evenings(_mine())
    ]  # fmt: skip
    return jsonify({"evenings": listed})


@blueprint.post("/api/tables/import")
def bring() -> api.Answer:
    request.max_content_length = MOST_IMPORT_BYTES
    if not request.is_json:  # as `_json` asks for
        raise TableError("Send JSON.")
    key, name = request.args.get("key", ""), request.args.get("name", "").strip()[:40]
    if not LEAST_KEY <= len(key) <= MOST_KEY or not name.isprintable() or not name:
        raise TableError("Say who brings the evening.", "name")
    _count_opening()
    table, state, member = _store().bring(key, from_json(request.get_data()), name)
    return _remembered(table, member, _told(table, state, member))


# ---- a table ----


@blueprint.get("/api/tables/<table>")
def follow(table: str) -> api.Answer:
    """How the table stands; `since` a version that the page knows already, only what changed."""
    member = _member(table)
    since = request.args.get("since", 0, int)
    version = _store().version(table)
    if version is not None and version == since:
        return jsonify({"version": version})
    return jsonify(_told(table, _store().state(table), member, since))


@blueprint.post("/api/tables/<table>/actions")
def act(table: str) -> api.Answer:
    form = _body(Doing)
    member = _member(table)
    state = _store().act(table, form.key, member, _action(form.action))
    return jsonify(_told(table, state, member, form.since))


@blueprint.post("/api/tables/<table>/previews")
def preview(table: str) -> api.Answer:
    """What a round would come to with this action, which is not done."""
    form = _body(Trying)
    member = _member(table)
    action = _action(form.action)
    if not isinstance(action, Record | Edit | Delete):
        raise TableError("Only rounds can be looked at in advance.", "action")
    state = _store().state(table).act("preview", member, datetime.now(UTC), action)
    return jsonify({"round": round_document(state, state.round(action.round)), "points": list(state.points)})


@blueprint.get("/api/tables/<table>/journal")
def journal(table: str) -> api.Answer:
    state = _read(table)
    return jsonify({"version": state.version, "entries": journal_document(state)})


@blueprint.get("/api/tables/<table>/evening")
def evening(table: str) -> api.Answer:
    return jsonify(evening_document(_read(table)))


@blueprint.get("/api/tables/<table>/export.json")
def export_json(table: str) -> api.Answer:
    return _file(table, "json", to_json(_read(table)), "application/json")


@blueprint.get("/api/tables/<table>/export.csv")
def export_csv(table: str) -> api.Answer:
    text = "\ufeff" + to_csv(_read(table))  # the mark tells Excel that this is UTF-8
    return _file(table, "csv", text, "text/csv; charset=utf-8")


def _read(table: str) -> State:
    """The state of a table that the visitor is at."""
    _member(table)
    return _store().state(table)


def _file(table: str, kind: str, text: str, media: str) -> Response:
    evening = _store().evening(table)
    name = f"{evening.name or 'evening'} {evening.begun[:10]}.{kind}"
    response = Response(text, mimetype=media)
    response.headers["Content-Disposition"] = f"attachment; filename*=UTF-8''{quote(name, safe='')}"
    return response


@blueprint.delete("/api/tables/<table>")
def forget(table: str) -> api.Answer:
    _host_only(table)
    _store().forget(table)
    return jsonify({})


@blueprint.get("/api/tables/<table>/qr.svg")
def qr(table: str) -> api.Answer:
    """The address to join at, for cameras."""
    _member(table)
    return qr_code(_join_address(table))


# ---- photos of rounds ----


@blueprint.get("/api/tables/<table>/photos")
def photos(table: str) -> api.Answer:
    _member(table)
    listed = [{"id": each.id, "round": each.round, "seat": each.seat} for each in _store().photos(table)]
    return jsonify({"photos": listed})


@blueprint.post("/api/tables/<table>/photos")
def keep_photo(table: str) -> api.Answer:
    request.max_content_length = MOST_PHOTO_BYTES
    member = _member(table)
    state = _store().state(table)
    person = state.people.get(member)
    if person is None or person.seat is None:
        raise Forbidden("Take a seat to keep a photo.")
    if len(_store().photos(table)) >= MOST_PHOTOS:
        raise TableError(f"A table keeps {MOST_PHOTOS} photos at most: delete some.", "photo")
    upload = request.files.get("photo")
    number, seat = request.form.get("round", 0, int), request.form.get("seat", None, int)
    # Who names no key, sends another photo each time.
    key = request.form.get("key", "") or secrets.token_hex(16)
    if not LEAST_KEY <= len(key) <= MOST_KEY:
        raise TableError(f"A key has {LEAST_KEY} to {MOST_KEY} characters.", "key")
    if upload is None or not 1 <= number <= state.next_number or seat not in (None, *range(state.seats)):
        raise TableError("Send the photo, its round and its seat.", "photo")
    reader: PhotoReader = current_app.extensions["photos"]
    # Made anew: nothing but the picture is kept, no place and no name of the camera.
    picture = reader.picture(cast(BinaryIO, upload.stream))
    return jsonify({"id": _store().keep_photo(table, key, number, seat, member, picture)})


@blueprint.get("/api/tables/<table>/photos/<photo>.jpg")
def show_photo(table: str, photo: str) -> api.Answer:
    _member(table)
    return Response(_store().photo(table, photo), mimetype="image/jpeg")


@blueprint.delete("/api/tables/<table>/photos/<photo>")
def delete_photo(table: str, photo: str) -> api.Answer:
    member = _member(table)
    person = _store().state(table).people.get(member)
    if person is None or person.seat is None:
        raise Forbidden("Only players can delete a photo.")
    _store().forget_photos(table, photo)
    return photos(table)


@blueprint.delete("/api/tables/<table>/photos")
def delete_photos(table: str) -> api.Answer:
    _host_only(table)
    _store().forget_photos(table)
    return photos(table)


# ---- edges ----


@blueprint.after_request
def never_kept(response: Response) -> Response:
    if request.path.startswith("/api/"):
        response.headers["Cache-Control"] = "no-store"
    return response


@blueprint.errorhandler(TableError)
def refused(error: TableError) -> api.Answer:
    status = HTTPStatus.BAD_REQUEST
    if isinstance(error, NoTable):
        status = HTTPStatus.NOT_FOUND
    elif isinstance(error, Forbidden):
        status = HTTPStatus.FORBIDDEN
    elif isinstance(error, Conflict):
        status = HTTPStatus.CONFLICT
    elif isinstance(error, TooManyTries):
        status = HTTPStatus.TOO_MANY_REQUESTS
    return api.problem(status, _sentence(error.message), error.where)


@blueprint.errorhandler(ValidationError)
def not_understood(error: ValidationError) -> api.Answer:
    return api.problem(HTTPStatus.BAD_REQUEST, *first_fault(error, "The request"))


@blueprint.errorhandler(StoreError)
@blueprint.errorhandler(SQLAlchemyError)
def no_database(error: Exception) -> api.Answer:
    log.error(
        "%s %s: the database cannot be used: %s", request.method, request.endpoint, type(error).__name__
    )
    return api.problem(
        HTTPStatus.SERVICE_UNAVAILABLE, "The computer that serves this page cannot keep tables right now."
    )


@blueprint.errorhandler(Exception)
def failed(error: Exception) -> api.Answer:
    if isinstance(error, BadPhoto):
        return api.problem(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, _sentence(str(error)), "photo")
    if isinstance(error, Busy | NotInstalled):
        return api.not_read(error)
    if isinstance(error, HTTPException) and not request.path.startswith("/api/"):
        return cast(api.Answer, error.get_response())
    return api.failed(error)


class TooManyTries(TableError):
    """Somebody did a counted thing too often."""


def _store() -> Store:
    tables: Tables = current_app.extensions["tables"]
    return tables.store


def _json(most: int) -> dict[str, Any]:
    """The request's body, an object; a form of another site cannot send one."""
    request.max_content_length = most
    if not request.is_json:
        raise TableError("Send JSON.")
    document = request.get_json(silent=True)
    if not isinstance(document, dict):
        raise TableError("Send a JSON object.")
    return document


def _body(model: type[Model]) -> Model:
    _json(MOST_BYTES)
    return model.model_validate_json(request.get_data())


def _action(document: dict[str, Any]) -> Action:
    try:
        return action_from_json(json.dumps(document))
    except TableError as error:
        raise TableError(error.message, f"action.{error.where}".rstrip(".")) from None


def _by_code(code: str) -> str:
    """The table with this code; wrong ones are counted, so that nobody finds tables by trying."""
    store, address = _store(), request.remote_addr or "?"
    if not store.may_try(address):
        raise TooManyTries("Too many wrong codes were tried from here. Wait ten minutes.", "code")
    if (table := store.by_code(code)) is None:
        store.tried(address)
        raise NoTable("No table has this code.", "code")
    return table


def _count_opening() -> None:
    """Nobody fills the disk with tables."""
    who = f"opens {request.remote_addr}"
    if not _store().may_try(who, MOST_OPENED):
        raise TooManyTries("Too many tables were opened from here. Wait ten minutes.")
    _store().tried(who)


def _serializer() -> URLSafeSerializer:
    return URLSafeSerializer(_store().secret, salt="members")


def _mine() -> dict[str, str]:
    """The visitor's member ids by table, the newest last; none when the cookie was not made here."""
    if "mine" not in g:
        g.mine = {}
        try:
            known = _serializer().loads(request.cookies.get(COOKIE, ""))
        except BadSignature:
            known = {}
        if isinstance(known, dict):
            g.mine = {str(table): str(member) for table, member in known.items()}
    mine: dict[str, str] = g.mine
    return mine


def _member(table: str) -> str:
    """The visitor's member id at this table; raises `NoTable` the same way for tables that are not."""
    if (member := _mine().get(table)) is None:
        raise NoTable("You are not at this table: join it with its code.")
    return member


def _host_only(table: str) -> None:
    if _store().state(table).host != _member(table):
        raise Forbidden("Only the table's host can do that.")


def _remembered(table: str, member: str, document: dict[str, Any]) -> api.Answer:
    """An answer that lets the visitor's browser remember who it is at this table."""
    mine = {known: who for known, who in _mine().items() if known != table}
    mine = dict([*mine.items(), (table, member)][-MOST_REMEMBERED:])
    response = make_response(jsonify(document))
    response.set_cookie(
        COOKIE,
        str(_serializer().dumps(mine)),
        max_age=COOKIE_DAYS * 86400,
        httponly=True,
        secure=request.is_secure,
        samesite="Lax",
    )
    return response


def _told(table: str, state: State, member: str, since: int = 0) -> dict[str, Any]:
    """What a page at the table is told: all, or what changed since a version that it knows."""
    first = state.changed_since(since) if 0 < since <= state.version else 1
    person = state.people.get(member)
    return {
        "id": table,
        "code": _store().code(table),
        "join": _join_address(table),
        **table_document(state),
        "me": {
            "name": person.name if person else "",
            "seat": person.seat if person else None,
            "host": state.host == member,
        },
        "people": _people(state) if state.host == member else [],
        "rounds_from": first,
        "rounds": [
            round_document(state, each) for each in state.rounds if first is not None and each.number >= first
        ],
    }


def _people(state: State) -> list[dict[str, Any]]:
    """Everyone at the table, for its host, who may hand the table over to one of them."""
    people = state.people.values()
    return [{"member": each.member, "name": each.name, "seat": each.seat} for each in people]


def _join_address(table: str) -> str:
    """Where other phones join: the address of this page, unless only this computer knows it by that."""
    base = request.host_url
    if urlsplit(base).hostname in ("localhost", "127.0.0.1", "::1"):
        base = current_app.config["LAN_ADDRESS"] or base
    # After the # it is not sent to the server, and stands in no log.
    return f"{base}table#{_store().code(table)}"


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "!", "?")) else ".")
