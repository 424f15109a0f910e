"""The configuration of nginx on the page about reverse proxies, in front of the product."""

import json
import os
import re
import shutil
import socket
import ssl
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest
import trustme

from tests.machine import free_port, skip_or_fail
from tests.serving_process import PASSWORD, ServingProcess, sign_in

PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "run-behind-a-reverse-proxy.md").read_text()
HOST = "touchstone.example.org"
# Other than the address of the proxy, so that the service can tell them apart.
CLIENT_ADDRESS = "127.0.0.2"
LINES_PER_BATCH = 2000
WAIT_SECONDS = 60


@pytest.fixture
def product(tmp_path: Path) -> Iterator[ServingProcess]:
    """Serve the product with an empty catalog, and trust a proxy on the same machine."""
    variables = {"TOUCHSTONE_DEMO": "false", "TOUCHSTONE_JOB_WORKERS": "0", "TOUCHSTONE_TRUSTED_PROXIES": "127.0.0.1"}
    server = ServingProcess(tmp_path / "data", **variables).start()
    yield server
    server.stop()


@pytest.fixture
def browser(product: ServingProcess, tmp_path: Path) -> Iterator[httpx2.Client]:
    """Run nginx as documented in front of the product, and yield a client that connects to it."""
    path = shutil.which("nginx", path=os.environ["PATH"] + ":/usr/sbin")
    if path is None:
        skip_or_fail("nginx")
        return
    authority = trustme.CA()
    port = free_port()
    configuration = write_configuration(tmp_path / "nginx", product.address, port, authority)
    context = ssl.create_default_context()
    authority.configure_trust(context)
    with running_nginx(path, configuration, port):
        transport = httpx2.HTTPTransport(verify=context, local_address=CLIENT_ADDRESS)
        with httpx2.Client(
            base_url=f"https://localhost:{port}", headers={"Host": HOST}, transport=transport, timeout=WAIT_SECONDS
        ) as client:
            yield client


def write_configuration(folder: Path, upstream: str, port: int, authority: trustme.CA) -> Path:
    """Write the documented server with the addresses and the certificate of this test, and return the path."""
    folder.mkdir()
    certificate = authority.issue_cert("localhost", HOST)
    certificate.private_key_and_cert_chain_pem.write_to_path(str(folder / "touchstone.pem"))

    (server,) = re.findall(r"```nginx\n(.*?)```", PAGE, re.DOTALL)
    replacements = {
        "listen 443 ssl": f"listen 127.0.0.1:{port} ssl",
        "/etc/ssl/touchstone.pem": f"{folder}/touchstone.pem",
        "/etc/ssl/touchstone.key": f"{folder}/touchstone.pem",
        "http://127.0.0.1:8000": upstream,
    }
    for documented, replacement in replacements.items():
        assert documented in server
        server = server.replace(documented, replacement)

    temporary_paths = [
        f"{kind}_temp_path {folder}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    ]
    configuration = folder / "nginx.conf"
    configuration.write_text(
        f"daemon off; pid {folder}/pid; error_log {folder}/error.log; events {{}}\n"
        f"http {{ access_log off; {' '.join(temporary_paths)}\n{server}}}\n"
    )
    return configuration


@contextmanager
def running_nginx(path: str, configuration: Path, port: int) -> Iterator[None]:
    """Run nginx with a configuration until the `with` block ends."""
    process = subprocess.Popen([path, "-e", "stderr", "-c", str(configuration)])
    try:
        wait_for_port(port)
        yield
    finally:
        process.terminate()
        process.wait()


def wait_for_port(port: int) -> None:
    """Wait until something listens on a port of this machine."""
    deadline = time.monotonic() + WAIT_SECONDS
    while True:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return
        except ConnectionRefusedError:
            assert time.monotonic() < deadline
            time.sleep(0.05)


@pytest.mark.timeout(180)
def test_forms_cookies_and_addresses_of_clients_pass_through_nginx(browser: httpx2.Client) -> None:
    """The pages accept forms, cookies are Secure, and sessions show the address of the client."""
    form = {"email": "ada@example.org", "password": PASSWORD}
    registration = browser.post("/app/register", data=form, headers={"Origin": f"https://{HOST}"})
    assert registration.status_code == 303
    assert all("Secure" in cookie for cookie in registration.headers.get_list("set-cookie"))

    login = browser.post("/api/v1/auth/login", json={"username": form["email"], "password": PASSWORD})
    headers = {"Authorization": f"Bearer {login.json()['access_token']}"}
    sessions = browser.get("/api/v1/users/me/sessions", headers=headers).json()
    assert {session["address"] for session in sessions} == {CLIENT_ADDRESS}


@pytest.mark.timeout(180)
def test_a_bulk_import_through_nginx_is_stored_while_it_arrives(
    browser: httpx2.Client, product: ServingProcess
) -> None:
    """Nginx neither limits the length of the body nor holds it back until its end."""
    headers = sign_in(product.address)
    sent_lines = 3 * LINES_PER_BATCH

    def body() -> Iterator[bytes]:
        yield b"".join(record_line(number) for number in range(sent_lines))
        wait_for_records(product.address, headers, LINES_PER_BATCH)
        yield record_line(sent_lines)

    response = browser.post(
        "/api/v1/datasets/bulk", content=body(), headers={**headers, "Content-Type": "application/x-ndjson"}
    )
    *_, summary = map(json.loads, response.text.splitlines())
    assert summary["made"] == sent_lines + 1


def record_line(number: int) -> bytes:
    """Return a line of an import."""
    record = {"name": f"record {number}", "description": "x" * 200, "file_path": "a.csv", "file_type": "csv"}
    return json.dumps(record).encode() + b"\n"


def wait_for_records(address: str, headers: dict[str, str], count: int) -> None:
    """Wait until the catalog has at least `count` records."""
    deadline = time.monotonic() + WAIT_SECONDS
    while True:
        response = httpx2.get(f"{address}/api/v1/datasets/?page=1&page_size=1", headers=headers)
        if int(response.headers["X-Total-Count"]) >= count:
            return
        assert time.monotonic() < deadline
        time.sleep(0.1)
