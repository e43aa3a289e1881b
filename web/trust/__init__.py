"""How phones learn to trust this computer's https: a page that explains it, and the authority's certificate.

It is served over plain http as well, by an application of its own that has nothing else: a phone that does
not trust yet must be able to read it.
"""

from __future__ import annotations

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding
from flask import Blueprint, Flask, Response, abort, current_app, redirect, url_for
from werkzeug.wrappers import Response as AnyResponse

from web.capture import translated
from web.certificates import Certificates
from web.qr import qr_code

blueprint = Blueprint("trust", __name__, template_folder="templates")


def _certificates() -> Certificates:
    found: Certificates | None = current_app.config["CERTIFICATES"]
    if found is None:
        abort(404)
    return found


@blueprint.get("/trust")
def page() -> str:
    return translated(
        "trust/page.html", fingerprint=_certificates().fingerprint, address=current_app.config["LAN_ADDRESS"]
    )


@blueprint.get("/trust.crt")
def authority() -> Response:
    """The authority's certificate, in the form that phones and computers offer to install."""
    certificate = x509.load_pem_x509_certificate(_certificates().authority.read_bytes())
    response = Response(certificate.public_bytes(Encoding.DER), mimetype="application/x-x509-ca-cert")
    response.headers["Content-Disposition"] = 'attachment; filename="table-companion.crt"'
    return response


@blueprint.get("/trust.svg")
def qr() -> Response:
    """The https address, for cameras."""
    _certificates()
    return qr_code(current_app.config["LAN_ADDRESS"])


def create_trust_app(found: Certificates, address: str) -> Flask:
    """What is served over plain http beside the https at `address`: these pages, and the way to them."""
    from web import secure

    app = Flask("web")
    app.config.from_mapping(CERTIFICATES=found, LAN_ADDRESS=address)
    app.register_blueprint(blueprint)
    app.after_request(secure)

    @app.get("/")
    @app.get("/<path:other>")
    def elsewhere(other: str = "") -> AnyResponse:
        return redirect(url_for("trust.page"))

    return app
