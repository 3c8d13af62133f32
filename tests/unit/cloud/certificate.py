"""Keys made on the spot: none is kept anywhere."""

from __future__ import annotations

import datetime
from functools import cache
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.x509.oid import NameOID


@cache
def private_key() -> rsa.RSAPrivateKey:
    """A key for this run of the tests."""
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


def private_key_pem() -> str:
    """The same as text."""
    return (
        private_key()
        .private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        .decode()
    )


def write_certificate(folder: Path) -> Path:
    """A file with the key and a certificate for 127.0.0.1 that nobody has signed but itself."""
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(private_key().public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .sign(private_key(), hashes.SHA256())
    )
    path = folder / "server.pem"
    path.write_text(private_key_pem() + certificate.public_bytes(serialization.Encoding.PEM).decode())
    return path
