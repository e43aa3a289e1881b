"""What keeps other web sites from acting in a visitor's name."""

from __future__ import annotations

from http import HTTPStatus
from urllib.parse import urlsplit

from flask import request

from web.api import Answer, problem


def from_this_page() -> Answer | None:
    """Before a request that changes something: only pages of this server may send it.

    Browsers tell where a request comes from. What is no browser has no visitor's cookies to misuse.
    """
    if request.method in ("GET", "HEAD", "OPTIONS"):
        return None
    origin = request.headers.get("Origin")
    site = request.headers.get("Sec-Fetch-Site", "same-origin")
    if (origin and urlsplit(origin).netloc != request.host) or site not in ("same-origin", "none"):
        return problem(HTTPStatus.FORBIDDEN, "Only the page of this computer may do that.")
    return None
