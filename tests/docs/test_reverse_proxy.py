"""The configuration on the page about reverse proxies sends the headers that the service needs."""

import re
from pathlib import Path

import httpx2
import pytest

from tests.serving_process import PASSWORD, ServingProcess

PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "run-behind-a-reverse-proxy.md").read_text()
HOST = "touchstone.example.org"
CLIENT_ADDRESS = "203.0.113.7"


def headers_of_nginx(client: str, forwarded_for: str) -> dict[str, str]:
    """Return the headers that nginx sends with this configuration, for a client with its own `X-Forwarded-For`."""
    (block,) = re.findall(r"```nginx\n(.*?)```", PAGE, re.DOTALL)
    variables = {
        "$host": HOST,
        "$scheme": "https",
        "$proxy_add_x_forwarded_for": f"{forwarded_for}, {client}",
        '""': "",
    }
    configured_headers = re.findall(r"proxy_set_header (\S+) (\S+);", block)
    assert len(configured_headers) == 4
    return {name: variables[value] for name, value in configured_headers if name != "Connection"}


@pytest.mark.timeout(180)
def test_the_headers_of_the_page_tell_clients_apart(tmp_path: Path) -> None:
    """With these headers, the pages accept forms, cookies are Secure, and sessions show the address of the client."""
    (trusted_proxies,) = re.findall(r"`TOUCHSTONE_TRUSTED_PROXIES=([\d.]+)`", PAGE)
    options = {"TOUCHSTONE_DEMO": "false", "TOUCHSTONE_JOB_WORKERS": "0"}
    server = ServingProcess(tmp_path / "data", TOUCHSTONE_TRUSTED_PROXIES=trusted_proxies, **options).start()
    try:
        forwarded_headers = headers_of_nginx(CLIENT_ADDRESS, "198.51.100.66")
        with httpx2.Client(base_url=server.address, headers=forwarded_headers, timeout=60) as browser:
            form = {"email": "ada@example.org", "password": PASSWORD}
            registration = browser.post("/app/register", data=form, headers={"Origin": f"https://{HOST}"})
            assert registration.status_code == 303
            cookies = registration.headers.get_list("set-cookie")
            assert len(cookies) >= 3
            assert all("Secure" in cookie for cookie in cookies)
            login = {"username": form["email"], "password": PASSWORD}
            token = browser.post("/api/v1/auth/login", json=login).json()["access_token"]
            sessions = browser.get("/api/v1/users/me/sessions", headers={"Authorization": f"Bearer {token}"}).json()
            assert {session["address"] for session in sessions} == {CLIENT_ADDRESS}
    finally:
        server.stop()
    assert '"client":"203.0.113.7"' in (tmp_path / "data.log").read_text()
