"""The pages behind a trusted reverse proxy: limits apply to each client, and a known device is never locked out."""

from collections.abc import Iterator

import httpx2
import pytest

from tests.serving_process import ServingProcess
from tests.web.conftest import PASSWORD

DEVICE = "touchstone_device"


@pytest.fixture(scope="module")
def proxied_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Serve the product with loopback as a trusted proxy, and allow each address to create three accounts per hour."""
    variables = {"TOUCHSTONE_TRUSTED_PROXIES": "127.0.0.1,::1", "TOUCHSTONE_REGISTRATIONS_PER_HOUR": "3"}
    folder = tmp_path_factory.mktemp("proxied")
    serving = ServingProcess(folder, TOUCHSTONE_DEMO="false", TOUCHSTONE_JOB_WORKERS="0", **variables).start()
    yield serving.address
    serving.stop()


def client(server: str, address: str, *, scheme: str = "https", **cookies: str) -> httpx2.Client:
    """Return a browser at an address that a proxy forwards."""
    host = server.partition("://")[2]
    headers = {"X-Forwarded-For": address, "X-Forwarded-Proto": scheme, "Origin": f"{scheme}://{host}"}
    return httpx2.Client(base_url=server, headers={**headers, "Accept-Language": "en"}, cookies=cookies, timeout=60)


def test_a_known_browser_signs_in_while_its_address_is_shut(proxied_server: str) -> None:
    """The device cookie survives signing out, so the right password still works while the address is under attack."""
    email, address = "known@example.org", "203.0.113.1"
    with client(proxied_server, address) as browser:
        answer = browser.post("/app/register", data={"email": email, "password": PASSWORD})
        assert answer.status_code == 303, answer.text
        cookies = {cookie.partition("=")[0]: cookie for cookie in answer.headers.get_list("set-cookie")}
    assert all(attribute in cookies[DEVICE] for attribute in ("HttpOnly", "Secure", "SameSite=lax", "Path=/app/"))
    device = answer.cookies[DEVICE]

    wrong_form, right_form = ({"email": email, "password": password} for password in ("wrong wrong", PASSWORD))
    with client(proxied_server, address) as stranger:
        assert [stranger.post("/app/sign-in", data=wrong_form).status_code for _ in range(10)] == [401] * 10
        refusal = stranger.post("/app/sign-in", data=right_form)
        assert refusal.status_code == 429
        assert 0 < int(refusal.headers["retry-after"]) <= 300
        assert "Too many attempts" in refusal.text

    with client(proxied_server, address, **{DEVICE: device}) as browser:
        answer = browser.post("/app/sign-in", data=right_form)
        assert (answer.status_code, answer.headers["location"]) == (303, "/app/")
        assert answer.cookies[DEVICE] != device
        assert DEVICE not in browser.post("/app/sign-out").headers.get("set-cookie", "")
    with client(proxied_server, address, **{DEVICE: '"a\\015\\012x"'}) as forger:
        assert forger.post("/app/sign-in", data=right_form).status_code == 429
    with client(proxied_server, "203.0.113.2") as neighbour:
        assert neighbour.post("/app/sign-in", data=right_form).status_code == 303


def test_one_browser_s_cookie_is_not_sent_for_another(proxied_server: str) -> None:
    """All pages share one client of the API, but a cookie set for one visitor is never sent for another."""
    email, address = "shared@example.org", "203.0.113.20"
    with client(proxied_server, address) as browser:
        assert browser.post("/app/register", data={"email": email, "password": PASSWORD}).status_code == 303
    with client(proxied_server, address) as stranger:
        for _ in range(10):
            stranger.post("/app/sign-in", data={"email": email, "password": "wrong wrong"})
        assert stranger.post("/app/sign-in", data={"email": email, "password": PASSWORD}).status_code == 429


def test_registration_is_throttled_on_its_page(proxied_server: str) -> None:
    """The fourth account from one address has to wait, and the page says how long; other addresses do not."""
    with client(proxied_server, "2001:db8::1") as browser:
        for number in range(4):
            browser.cookies.clear()
            form = {"email": f"new{number}@example.org", "password": PASSWORD}
            answer = browser.post("/app/register", data=form)
            assert answer.status_code == (303 if number < 3 else 429)
    assert int(answer.headers["retry-after"]) > 3000
    assert "Too many attempts" in answer.text
    with client(proxied_server, "2001:db8:0:1::1") as other_browser:
        assert other_browser.post("/app/register", data=form).status_code == 303


def test_the_scheme_is_the_proxy_s(proxied_server: str) -> None:
    """Behind https, a form with an http origin is refused. Behind http, cookies are not marked as Secure."""
    form = {"email": "scheme@example.org", "password": PASSWORD}
    with client(proxied_server, "203.0.113.9", scheme="http") as browser:
        answer = browser.post("/app/register", data=form)
        assert answer.status_code == 303
        assert "Secure" not in "".join(answer.headers.get_list("set-cookie"))
        refusal = browser.post("/app/sign-in", data=form, headers={"X-Forwarded-Proto": "https"})
        assert refusal.status_code == 403
