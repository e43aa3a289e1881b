"""The application with a reader that needs no models."""

from __future__ import annotations

import io
import signal
from collections.abc import Iterator

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


@pytest.fixture
def heeds_ctrl_c() -> Iterator[None]:
    """Programs started now end with Ctrl-C, even where the tests were started so that they do not, as shells
    start jobs in the background: whether to heed it is inherited."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
