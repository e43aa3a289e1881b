"""The page and the JSON API: one Flask application, one blueprint folder a feature.

`capture` is the page for a photo or a typed hand, `table` the live table, `learn` the rule pages, `teach` the
page where a tile set is taught, `api` the JSON interface under `/api`. A feature is a folder with a
`blueprint`; it brings its own templates and static files, shares `web/static` and `web/translations`, and is
registered in `create_app`. Photos are not stored: one lives in memory for as long as its reading takes. Only
`teach` keeps something, pictures of single tiles, and `table`, evenings, with photos where players choose so.
"""

from __future__ import annotations

from typing import Any

from flask import Flask, Response

from web.photos import PhotoReader, ReaderLike

MEGABYTE = 1024 * 1024

# Every script, style and picture comes from this server, none from the page's own text. Pictures that the
# browser makes (`blob:`) and previews inside readings (`data:`) are the only others.
CONTENT_SECURITY_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data: blob:",
        "connect-src 'self'",
        "manifest-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)

SECURITY_HEADERS = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(self), geolocation=(), microphone=()",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


def create_app(reader: ReaderLike | None = None, config: dict[str, Any] | None = None) -> Flask:
    """The application.

    reader: reads photos; None means the shipped one, loaded when the first photo comes.
    config: overrides of Flask's settings, of `COMPANION_HOME` (folder of taught tile sets, None for the
    user's), of `READINGS_AT_ONCE` (photos read at the same time; the others wait), `READING_WAIT_S` (seconds
    a photo waits for its turn before it is refused as "busy"), `DATABASE_URL` (where tables are kept, None
    for `companion.table.store.default_url`), `LAN_ADDRESS` (how other devices reach the page, where this
    computer calls it localhost) and `CERTIFICATES` (what https is served with; None: it is not).
    """
    app = Flask(__name__)
    app.config.from_mapping(
        MAX_CONTENT_LENGTH=32 * MEGABYTE,
        MAX_FORM_PARTS=8,
        READINGS_AT_ONCE=2,
        READING_WAIT_S=20.0,
        SEND_FILE_MAX_AGE_DEFAULT=None,
        COMPANION_HOME=None,
        DATABASE_URL=None,
        LAN_ADDRESS=None,
        CERTIFICATES=None,
    )
    app.config.from_mapping(config or {})
    app.json.sort_keys = False  # type: ignore[attr-defined]  # documents keep the order they are written in
    app.extensions["photos"] = PhotoReader(
        reader, at_once=app.config["READINGS_AT_ONCE"], wait_s=app.config["READING_WAIT_S"]
    )

    from web import api, capture, learn, table, teach, trust

    app.extensions["tables"] = table.Tables(app.config["DATABASE_URL"])
    app.register_blueprint(capture.blueprint)
    app.register_blueprint(api.blueprint)
    app.register_blueprint(teach.blueprint)
    app.register_blueprint(learn.blueprint)
    app.register_blueprint(table.blueprint)
    app.register_blueprint(trust.blueprint)
    app.after_request(secure)
    return app


def secure(response: Response) -> Response:
    """The headers that every answer has."""
    for name, value in SECURITY_HEADERS.items():
        response.headers.setdefault(name, value)
    return response
