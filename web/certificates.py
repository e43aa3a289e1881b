"""https for a house: an authority of this computer's own, and the certificate it vouches for.

Browsers open the camera preview and keep the screen awake over https only. No authority of the world vouches
for an address in somebody's living room, so this computer makes one, which phones are asked once to trust. It
can only vouch for addresses in private networks: whoever stole its key could imitate no site of the internet.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address, ip_network
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

AUTHORITY_YEARS = 10
LEAF_DAYS = 397
"""Phones accept no certificate of a site that is valid for more than 398 days."""

RENEW_DAYS = 30
"""A certificate is made anew when it has fewer days left."""

PRIVATE_NETWORKS = tuple(
    map(
        ip_network,
        ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16", "100.64.0.0/10", "127.0.0.0/8",
         "fc00::/7", "fe80::/10", "::1/128"),
    )
)  # fmt: skip
PRIVATE_NAMES = ("localhost", "local")
"""Names the authority may vouch for, with all names that end in them."""

_BACKDATED = timedelta(days=1)  # a phone's clock may be behind


@dataclass(frozen=True, slots=True)
class Certificates:
    """Files in PEM: the authority to be trusted, and the server's certificate (with the authority) and key.

    fingerprint: SHA-256 of the authority, as phones show it.
    """

    authority: Path
    certificate: Path
    key: Path
    fingerprint: str


def certificates(folder: Path, hosts: Iterable[str], now: datetime | None = None) -> Certificates:
    """The certificates kept in `folder`, for these addresses and names; made or renewed where needed.

    Addresses outside private networks are left out. Raises `OSError` when the folder cannot be written.
    """
    now = now or datetime.now(UTC)
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    authority_file, authority_key_file = folder / "authority.pem", folder / "authority.key"
    certificate_file, key_file = folder / "server.pem", folder / "server.key"
    authority = _load(authority_file)
    if (
        authority is None
        or authority.not_valid_after_utc < now + timedelta(days=LEAF_DAYS)
        or not authority_key_file.exists()
    ):
        authority_key = ec.generate_private_key(ec.SECP256R1())
        authority = _make_authority(authority_key, now)
        _write(authority_key_file, _pem_of(authority_key))
        _write(authority_file, authority.public_bytes(serialization.Encoding.PEM))
    names = _names(hosts)
    leaf = _load(certificate_file)
    fresh = (
        leaf is not None
        and leaf.issuer == authority.subject
        and leaf.not_valid_after_utc > now + timedelta(days=RENEW_DAYS)
    )
    if leaf is None or not fresh or _names_of(leaf) != names or not key_file.exists():
        issuer_key = serialization.load_pem_private_key(authority_key_file.read_bytes(), None)
        assert isinstance(issuer_key, ec.EllipticCurvePrivateKey)
        key = ec.generate_private_key(ec.SECP256R1())
        leaf = _make_leaf(key, names, authority, issuer_key, now)
        _write(key_file, _pem_of(key))
        chain = [each.public_bytes(serialization.Encoding.PEM) for each in (leaf, authority)]
        _write(certificate_file, b"".join(chain))
    digest = authority.fingerprint(hashes.SHA256()).hex(":").upper()
    return Certificates(authority_file, certificate_file, key_file, digest)


def _names(hosts: Iterable[str]) -> list[x509.GeneralName]:
    """What the certificate shall name, in a fixed order."""
    found: dict[str, x509.GeneralName] = {}
    for host in ("localhost", "127.0.0.1", "::1", *hosts):
        try:
            address = ip_address(host)
        except ValueError:
            if host.isascii() and any(host == name or host.endswith(f".{name}") for name in PRIVATE_NAMES):
                found[host] = x509.DNSName(host)
            continue
        if any(address in network for network in PRIVATE_NETWORKS if network.version == address.version):
            found[host] = x509.IPAddress(address)
    return [found[host] for host in sorted(found)]


def _names_of(certificate: x509.Certificate) -> Sequence[x509.GeneralName]:
    extension = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName)
    return list(extension.value)


def _make_authority(key: ec.EllipticCurvePrivateKey, now: datetime) -> x509.Certificate:
    # Every authority has a name of its own, so that phones tell a new one from an old one.
    title = f"Table Companion at home {x509.random_serial_number() % 10**6:06}"
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, title)])
    permitted: list[x509.GeneralName] = [x509.IPAddress(network) for network in PRIVATE_NETWORKS]
    permitted += [x509.DNSName(each) for each in PRIVATE_NAMES]
    usage = _key_usage(sign_certificates=True)
    return (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - _BACKDATED)
        .not_valid_after(now + timedelta(days=365 * AUTHORITY_YEARS))
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(usage, critical=True)
        .add_extension(x509.NameConstraints(permitted, None), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .sign(key, hashes.SHA256())
    )


def _make_leaf(
    key: ec.EllipticCurvePrivateKey,
    names: Sequence[x509.GeneralName],
    authority: x509.Certificate,
    authority_key: ec.EllipticCurvePrivateKey,
    now: datetime,
) -> x509.Certificate:
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Table Companion")])
    identifier = authority.extensions.get_extension_for_class(x509.SubjectKeyIdentifier).value
    return (
        x509.CertificateBuilder(authority.subject, subject, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - _BACKDATED)
        .not_valid_after(now - _BACKDATED + timedelta(days=LEAF_DAYS))
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_key_usage(sign_certificates=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(identifier), critical=False
        )
        .sign(authority_key, hashes.SHA256())
    )


def _key_usage(sign_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not sign_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=sign_certificates,
        crl_sign=sign_certificates,
        encipher_only=False,
        decipher_only=False,
    )


def _pem_of(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )


def _load(file: Path) -> x509.Certificate | None:
    try:
        return x509.load_pem_x509_certificates(file.read_bytes())[0]
    except (FileNotFoundError, ValueError, IndexError):
        return None


def _write(file: Path, content: bytes) -> None:
    """Readable by the user alone, and never half written."""
    part = file.with_suffix(".part")
    part.unlink(missing_ok=True)
    with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as out:
        out.write(content)
    part.replace(file)
