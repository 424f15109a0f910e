"""Calls to a server with HTTPS, whose certificate is verified."""

import json
import ssl
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
import trustme

from touchstone.cli.command_runner import error_message
from touchstone.client import Touchstone, TouchstoneError

HEALTH = {"status": "ready", "resources": {}}


class HealthHandler(BaseHTTPRequestHandler):
    """Answers every GET request with the state of a server that is ready."""

    def do_GET(self) -> None:
        body = json.dumps(HEALTH).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_arguments: object) -> None:
        """Keep the output of the tests free of requests."""


@pytest.fixture
def authority() -> trustme.CA:
    """Return a private certificate authority."""
    return trustme.CA()


@pytest.fixture
def address(authority: trustme.CA) -> Iterator[str]:
    """Serve with HTTPS and a certificate of the authority, and yield the address."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("localhost").configure_cert(context)
    with HTTPServer(("127.0.0.1", 0), HealthHandler) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"https://localhost:{server.server_port}"
        server.shutdown()
        thread.join()


def test_a_certificate_of_an_unknown_authority_is_refused_with_advice(address: str) -> None:
    """The server runs, so the message must not ask whether it does."""
    with Touchstone(address) as client, pytest.raises(TouchstoneError) as problem:
        client.get_health()
    assert problem.value.code == "untrusted_certificate"
    assert error_message(problem.value).startswith(f"{address} has no trusted certificate: ")
    assert "SSL_CERT_FILE" in error_message(problem.value)


def test_a_private_authority_is_trusted_on_this_machine_too(
    address: str, authority: trustme.CA, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server on this machine ignores the variables of proxies, but not those of certificates."""
    certificate = tmp_path / "authority.pem"
    authority.cert_pem.write_to_path(str(certificate))
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    with Touchstone(address) as client:
        assert client.get_health().status == "ready"
