"""`companion serve`: the page for the phones at the table."""

from __future__ import annotations

import argparse
import errno
import logging
import socket
import sys
import threading
from typing import Any

THREADS = 16
"""Requests served at the same time. Readings take turns; other requests must not wait for them."""


def add_parser(subparsers: Any) -> None:
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "serve",
        help="open the page for photos and scores",
        description="Serve the page until Ctrl-C. It opens with a sample photo to try.",
        epilog="With --host 0.0.0.0 every device in the house reaches the page; photos are not stored unless "
        "players keep one with a round. COMPANION_DATABASE_URL names the database that tables are kept in.",
    )
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
    parser.add_argument("--port", type=_port, default=8000, help="port to listen on (default: %(default)s)")
    parser.add_argument(
        "--https",
        action="store_true",
        help="serve over https, which the live camera and a screen that stays awake need; "
        "the next port explains over http how phones learn to trust it",
    )
    parser.add_argument(
        "--proxy",
        metavar="ADDRESS",
        help="a reverse proxy stands before this server: believe what it, and nobody else, tells of who asks "
        "(X-Forwarded-For, -Proto and -Host)",
    )
    parser.set_defaults(run=run)


def _port(text: str) -> int:
    if not text.isdecimal() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"a number from 0 to 65535 expected, not {text!r}")
    return int(text)


def run(args: argparse.Namespace) -> int:
    try:
        return _serve_https(args) if args.https else _serve_http(args)
    except (OSError, ValueError) as error:  # ValueError: waitress knows no such host
        print(f"companion serve: {_refusal(error, args.host, args.port)}", file=sys.stderr)
        return 1


def _serve_http(args: argparse.Namespace) -> int:
    # Here, not at the top: the other commands must start without Flask.
    from web import create_app

    app = create_app()
    _open_tables(app)
    server = _http_server(app, args.host, args.port, args.proxy)
    # A name such as "localhost" may stand for several addresses; waitress then listens on each.
    listening = getattr(server, "effective_listen", None) or [(server.effective_host, server.effective_port)]
    _tell("Table Companion is at", [url for host, port in listening for url in addresses(host, port)], app)
    try:
        server.run()
    except KeyboardInterrupt:
        pass
    finally:
        server.close()
    return 0


def _serve_https(args: argparse.Namespace) -> int:
    from cheroot.ssl.builtin import BuiltinSSLAdapter
    from cheroot.wsgi import Server

    from companion.home import home
    from web import create_app
    from web.certificates import certificates
    from web.trust import create_trust_app

    names = [*_own_addresses(), args.host, f"{socket.gethostname().split('.')[0].lower()}.local"]
    found = certificates(home() / "https", names)
    app = create_app(config={"CERTIFICATES": found})
    _open_tables(app)
    server = Server((args.host, args.port), app, numthreads=THREADS, server_name="companion", timeout=60)
    server.max_request_body_size = 4 * app.config["MAX_CONTENT_LENGTH"]
    server.ssl_adapter = BuiltinSSLAdapter(str(found.certificate), str(found.key))
    # Phones that do not trust yet hang up in the middle; that is no fault to report.
    server.error_log = _unreported  # type: ignore[method-assign]
    try:
        server.prepare()
        host, port = server.bind_addr[:2]
        urls = addresses(host, port, "https")
        explaining = _http_server(create_trust_app(found, urls[-1]), args.host, port + 1 if args.port else 0)
        threading.Thread(target=explaining.run, daemon=True).start()
        _tell("Table Companion is at", urls, app)
        for url in addresses(explaining.effective_host, explaining.effective_port):
            print(f"How phones learn to trust it: {url}trust", flush=True)
        print(f"The authority's SHA-256 fingerprint: {found.fingerprint}", flush=True)
        server.serve()
    except KeyboardInterrupt:
        pass
    finally:
        server.stop()
    return 0


def _unreported(msg: str = "", level: int = logging.INFO, traceback: bool = False) -> None:
    logging.getLogger("https").debug(msg)


def _http_server(app: Any, host: str, port: int, proxy: str | None = None) -> Any:
    from waitress import create_server

    logging.getLogger("waitress.queue").setLevel(logging.ERROR)  # a short queue is nothing to report
    believed: dict[str, Any] = {}
    if proxy is not None:
        headers = {"x-forwarded-for", "x-forwarded-proto", "x-forwarded-host"}
        believed = {"trusted_proxy": proxy, "trusted_proxy_headers": headers, "trusted_proxy_count": 1}
    return create_server(
        app,
        host=host,
        port=port,
        threads=THREADS,
        # More than the application takes, whose own answer to too much is clearer.
        max_request_body_size=4 * (app.config["MAX_CONTENT_LENGTH"] or 2**20),
        ident="companion",
        clear_untrusted_proxy_headers=True,
        # Every phone at a table keeps a connection or two; a club has hundreds.
        connection_limit=2000,
        asyncore_use_poll=True,
        **believed,
    )


def _tell(what: str, urls: list[str], app: Any) -> None:
    """Say where the page is, and begin to load the models while the first visitor still looks at it."""
    for url in urls:
        print(f"{what} {url}", flush=True)
    shared = next(
        (url for url in urls if not any(own in url for own in ("//127.", "//localhost", "//[::1]"))), None
    )
    app.config["LAN_ADDRESS"] = shared or (urls[0] if app.config["CERTIFICATES"] else None)
    if shared and sys.stdout.isatty():
        import segno

        segno.make(shared).terminal(compact=True)
    print("Stop it with Ctrl-C.", flush=True)
    threading.Thread(target=_warm_up, args=(app,), daemon=True).start()


def addresses(host: str, port: int, scheme: str = "http") -> list[str]:
    """The addresses of the page to type into a browser.

    >>> addresses("127.0.0.1", 8000)
    ['http://127.0.0.1:8000/']
    """
    hosts = [host]
    if host in ("", "*", "0.0.0.0", "::"):
        hosts = ["127.0.0.1", *_own_addresses()]
    return [f"{scheme}://{f'[{name}]' if ':' in name else name}:{port}/" for name in hosts]


def _own_addresses() -> list[str]:
    """This computer's address in the house, as other devices see it."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            # Nothing is sent: "connecting" a datagram socket only chooses the interface. The address is one
            # of those set aside for documentation.
            probe.connect(("192.0.2.1", 9))
        except OSError:
            return []
        name: str = probe.getsockname()[0]
    return [] if name.startswith("127.") or name == "0.0.0.0" else [name]


def _refusal(error: OSError | ValueError, host: str, port: int) -> str:
    """Why the server could not listen, and what to do."""
    if isinstance(error, ValueError) or error.errno == errno.EADDRNOTAVAIL:
        return f"this computer has no address {host!r}; --host takes 127.0.0.1, 0.0.0.0 or one of its own"
    if error.errno == errno.EADDRINUSE:
        other = port + 1 if port < 65535 else 8000
        return (
            f"port {port} on {host} is taken by another program. "
            f"Stop that one, or choose another port: companion serve --port {other}"
        )
    if error.errno == errno.EACCES:
        return f"port {port} needs special rights; choose one above 1023, such as --port 8000"
    return f"cannot listen on {host} port {port}: {error}"


def _open_tables(app: Any) -> None:
    """Open the database before anybody can ask: phones that come back after a restart come all at once."""
    try:
        _ = app.extensions["tables"].store
    except Exception as error:
        # Everything else works, and the page says the same to whoever comes to a table.
        print(f"companion serve: tables cannot be kept: {error}", file=sys.stderr, flush=True)


def _warm_up(app: Any) -> None:
    """Load the models while the first visitor still looks at the page."""
    try:
        app.extensions["photos"].warm_up()
    except Exception as error:
        # The page still works for typed hands, and says the same when a photo comes.
        print(f"companion serve: photos cannot be read: {error}", file=sys.stderr, flush=True)
