"""The page: photograph or type a hand, correct it, see what it is worth."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from flask import Blueprint, Response, abort, render_template, send_from_directory

TRANSLATIONS = Path(__file__).parents[1] / "translations"

blueprint = Blueprint(
    "capture", __name__, template_folder="templates", static_folder="static", static_url_path="/capture"
)


@cache
def catalogue(language: str) -> dict[str, Any]:
    """All texts of the page in one language, by key."""
    texts: dict[str, Any] = json.loads((TRANSLATIONS / f"{language}.json").read_text("utf-8"))
    return texts


def translated(template: str, **more: Any) -> str:
    """A page's template, filled in with the texts of its language and whatever else it shows."""
    return render_template(template, t=catalogue("en").__getitem__, language="en", **more)


@blueprint.get("/")
def page() -> str:
    return translated("capture/page.html")


@blueprint.get("/translations/<language>.json")
def translations(language: str) -> Response:
    if not (language.isalpha() and (TRANSLATIONS / f"{language}.json").is_file()):
        abort(404)
    return send_from_directory(TRANSLATIONS, f"{language}.json")
