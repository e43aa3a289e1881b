"""https in a house: certificates that phones accept, and the page that explains how to trust them."""

from __future__ import annotations

import re
import signal
import socket
import ssl
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from web.certificates import LEAF_DAYS, Certificates, certificates
from web.trust import create_trust_app

NOW = datetime(2026, 11, 30, tzinfo=UTC)
HOSTS = ("192.168.1.7", "fd00::7", "table.local")


@pytest.fixture
def found(tmp_path: Path) -> Certificates:
    return certificates(tmp_path / "https", HOSTS, NOW)


def leaf(found: Certificates) -> x509.Certificate:
    return x509.load_pem_x509_certificates(found.certificate.read_bytes())[0]


def names(found: Certificates) -> set[str]:
    alternatives = leaf(found).extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    return {str(name.value) for name in alternatives}


def test_phones_accept_dates_and_names(found: Certificates) -> None:
    certificate = leaf(found)
    assert certificate.not_valid_after_utc - certificate.not_valid_before_utc <= timedelta(days=398)
    assert names(found) == {"localhost", "127.0.0.1", "::1", *HOSTS}
    usage = certificate.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
    assert [each._name for each in usage] == ["serverAuth"]
    authority = x509.load_pem_x509_certificate(found.authority.read_bytes())
    certificate.verify_directly_issued_by(authority)
    assert authority.extensions.get_extension_for_class(x509.BasicConstraints).value.ca


def test_the_authority_vouches_for_private_networks_only(tmp_path: Path, found: Certificates) -> None:
    authority = x509.load_pem_x509_certificate(found.authority.read_bytes())
    permitted = authority.extensions.get_extension_for_class(x509.NameConstraints)
    assert permitted.critical and permitted.value.permitted_subtrees
    outside = certificates(tmp_path / "https", ["8.8.8.8", "example.com", "2001:db8::1"], NOW)
    assert names(outside) == {"localhost", "127.0.0.1", "::1"}


def test_keys_are_the_users_alone(found: Certificates) -> None:
    for file in (found.key, found.authority.with_suffix(".key")):
        assert file.stat().st_mode & 0o077 == 0
        assert load_pem_private_key(file.read_bytes(), None)


def test_certificates_are_renewed_in_time_and_the_trust_stays(tmp_path: Path, found: Certificates) -> None:
    first = leaf(found).serial_number
    folder = tmp_path / "https"
    assert leaf(certificates(folder, HOSTS, NOW + timedelta(days=100))).serial_number == first
    late = certificates(folder, HOSTS, NOW + timedelta(days=LEAF_DAYS - 20))
    assert leaf(late).serial_number != first
    moved = certificates(folder, ["192.168.1.8"], NOW)
    assert "192.168.1.8" in names(moved)
    assert late.fingerprint == moved.fingerprint == found.fingerprint
    found.certificate.write_text("damaged")
    assert "192.168.1.7" in names(certificates(folder, HOSTS, NOW))
    assert certificates(folder, HOSTS, NOW + timedelta(days=3600)).fingerprint != found.fingerprint


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_who_trusts_the_authority_trusts_the_server(tmp_path: Path, host: str) -> None:
    found = certificates(tmp_path / "https", [])
    serving = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    serving.load_cert_chain(found.certificate, found.key)
    trusting = ssl.create_default_context(cafile=str(found.authority))
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def answer() -> None:
            connection, _ = listening.accept()
            with serving.wrap_socket(connection, server_side=True) as secured:
                secured.sendall(b"hello")

        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        with (
            socket.create_connection(listening.getsockname()) as plain,
            trusting.wrap_socket(plain, server_hostname=host) as secured,
        ):
            assert secured.recv(5) == b"hello"
        thread.join(60)


def test_the_page_over_http_explains_and_has_nothing_else(found: Certificates) -> None:
    client = create_trust_app(found, "https://192.168.1.7:8000/").test_client()
    page = client.get("/trust").get_data(as_text=True)
    assert found.fingerprint in page and "https://192.168.1.7:8000/" in page
    assert not re.search(r"<script|<style| style=", page)
    got = client.get("/trust.crt")
    assert got.mimetype == "application/x-x509-ca-cert"
    assert x509.load_der_x509_certificate(got.get_data())
    assert b"<svg" in client.get("/trust.svg").get_data()
    for path in ("/", "/table", "/api/tables"):
        assert client.get(path).headers["Location"] == "/trust"


@pytest.fixture
def server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, heeds_ctrl_c: None
) -> Iterator[subprocess.Popen[str]]:
    monkeypatch.setenv("COMPANION_HOME", str(tmp_path))
    command = [sys.executable, "-m", "companion", "serve", "--https", "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    yield process
    process.kill()
    process.communicate()


def test_serve_https(server: subprocess.Popen[str], tmp_path: Path) -> None:
    assert server.stdout is not None
    lines = [server.stdout.readline() for _ in range(4)]
    page = re.fullmatch(r"Table Companion is at (https://127\.0\.0\.1:\d+/)\n", lines[0])
    trust = re.fullmatch(r"How phones learn to trust it: (http://127\.0\.0\.1:\d+/trust)\n", lines[2])
    assert page and trust, lines
    context = ssl.create_default_context(cafile=str(tmp_path / "https" / "authority.pem"))
    with urllib.request.urlopen(page[1], timeout=60, context=context) as answer:
        assert b"<title>Table Companion</title>" in answer.read()
    request = urllib.request.Request(f"{page[1]}api/tables", method="GET")
    with urllib.request.urlopen(request, timeout=60, context=context) as answer:
        assert answer.status == 200
    with urllib.request.urlopen(trust[1], timeout=60) as answer:
        assert b"Get the certificate" in answer.read()
    with (
        pytest.raises(ssl.SSLError),
        socket.create_connection(("127.0.0.1", int(page[1].split(":")[2][:-1]))) as plain,
    ):
        ssl.create_default_context().wrap_socket(plain, server_hostname="localhost")
    server.send_signal(signal.SIGINT)
    assert server.wait(60) == 0
