"""The rule pages in the app: `/rules` lists them, `/rules/<name>` tells one game, rule by rule."""

from __future__ import annotations

from typing import Any

from flask import Blueprint, abort, render_template
from markupsafe import Markup

from companion.rules import RULE_SETS
from web.capture import translated
from web.learn import book

blueprint = Blueprint(
    "learn", __name__, template_folder="templates", static_folder="static", static_url_path="/learn"
)


def _draw(name: str, content: Any) -> str:
    return render_template(f"learn/{name}.html", content=content, book=book, rule_sets=RULE_SETS)


@blueprint.get("/rules")
def index() -> str:
    return translated("learn/index.html", pages=[page for name in RULE_SETS if (page := book.page_of(name))])


@blueprint.get("/rules/<name>")
def page(name: str) -> str:
    found = book.page_of(name)
    if found is None:
        abort(404)
    return translated("learn/page.html", page=found, text=Markup(found.to_html(_draw)))
