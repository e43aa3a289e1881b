"""The application with a reader that needs no models."""

from __future__ import annotations

import io

import pytest
from flask import Flask
from flask.testing import FlaskClient
from PIL import Image

from tests.web.fakes import SampleReader
from web import create_app


@pytest.fixture
def reader() -> SampleReader:
    return SampleReader()


@pytest.fixture
def app(reader: SampleReader) -> Flask:
    return create_app(reader, {"TESTING": False})


@pytest.fixture
def client(app: Flask) -> FlaskClient:
    return app.test_client()


@pytest.fixture
def photo() -> bytes:
    """A small JPEG."""
    file = io.BytesIO()
    Image.new("RGB", (320, 240), (30, 90, 60)).save(file, "JPEG")
    return file.getvalue()
