"""Addresses as QR codes."""

from __future__ import annotations

import io

import segno
from flask import Response


def qr_code(address: str) -> Response:
    """A picture of the address for cameras."""
    picture = io.BytesIO()
    segno.make(address, error="m").save(picture, kind="svg", border=3, svgclass=None, lineclass=None)
    return Response(picture.getvalue(), mimetype="image/svg+xml")
