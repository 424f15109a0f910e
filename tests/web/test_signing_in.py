"""Who is signed in on the pages, and which requests may change anything."""

import re
from collections.abc import Iterator

import httpx2
import pytest

from tests.web.conftest import PASSWORD


@pytest.fixture
def stranger(server: str) -> Iterator[httpx2.Client]:
    """Return a client without cookies."""
    with httpx2.Client(base_url=server, timeout=60) as client:
        yield client


PROTECTED = ("/app/", "/app/projects", "/app/jobs", "/app/account", "/app/datasets/1", "/app/compare")


@pytest.mark.parametrize("path", PROTECTED)
def test_a_stranger_is_asked_to_sign_in_and_comes_back(stranger: httpx2.Client, path: str) -> None:
    """A page that is requested without a session leads to the sign-in page, which leads back."""
    answer = stranger.get(path)
    assert answer.status_code == 303
    assert answer.headers["location"].startswith("/app/sign-in")
    assert path == "/app/" or httpx2.QueryParams(answer.headers["location"].partition("?")[2])["next"] == path


def test_the_session_cookies_are_out_of_reach(server: str, email: str) -> None:
    """Scripts cannot read the cookies, and forms on other sites do not send them."""
    with httpx2.Client(base_url=server, headers={"Origin": server}, timeout=60) as client:
        answer = client.post("/app/register", data={"email": email, "password": PASSWORD})
    cookies = [value for name, value in answer.headers.multi_items() if name == "set-cookie" and "=ey" in value]
    assert cookies
    for cookie in answer.headers.get_list("set-cookie"):
        assert "HttpOnly" in cookie
        assert "SameSite=lax" in cookie
        assert "Path=/app/" in cookie


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_a_form_of_another_site_changes_nothing(
    server: str, session_cookies: dict[str, str], headers: dict[str, str]
) -> None:
    """A request that does not come from one of our own pages is refused, with or without cookies."""
    with httpx2.Client(base_url=server, cookies=session_cookies, headers=headers, timeout=60) as client:
        answer = client.post("/app/projects/new", data={"name": "forged"})
        assert answer.status_code == 403
        assert "forged" not in client.get("/app/projects").text


@pytest.mark.parametrize(
    "target", ["https://evil.example", "//evil.example", "/app/\\evil", "/api/v1/users/me", "app/"]
)
def test_signing_in_never_leads_off_the_pages(server: str, email: str, target: str) -> None:
    """`next` leads to one of our own pages, or else to the start page."""
    with httpx2.Client(base_url=server, headers={"Origin": server}, timeout=60) as client:
        answer = client.post("/app/register", data={"email": email, "password": PASSWORD, "next": target})
    assert answer.headers["location"] == "/app/"


def test_an_expired_access_token_is_renewed_in_every_tab(server: str, session_cookies: dict[str, str]) -> None:
    """With the refresh token alone, a page opens and sets new cookies; a second tab with the old ones opens too."""
    refresh_cookies = {"touchstone_refresh": session_cookies["touchstone_refresh"]}
    for _ in range(2):
        with httpx2.Client(base_url=server, cookies=refresh_cookies, timeout=60) as tab:
            answer = tab.get("/app/account")
            assert answer.status_code == 200
            assert "touchstone_access=ey" in "".join(answer.headers.get_list("set-cookie"))


def test_signing_out_ends_the_session(server: str, session_cookies: dict[str, str]) -> None:
    """Afterwards, neither of the cookies gives access to anything."""
    with httpx2.Client(base_url=server, cookies=session_cookies, headers={"Origin": server}, timeout=60) as client:
        assert client.post("/app/sign-out").status_code == 303
    with httpx2.Client(base_url=server, cookies=session_cookies, timeout=60) as client:
        answer = client.get("/app/account")
        assert answer.headers["location"].startswith("/app/sign-in")


def test_a_wrong_password_says_so_on_the_page(stranger: httpx2.Client, server: str, email: str) -> None:
    """The sign-in page keeps the email address and shows the error."""
    form = {"email": email, "password": "wrong wrong"}
    answer = stranger.post("/app/sign-in", data=form, headers={"Origin": server, "Accept-Language": "en"})
    assert answer.status_code == 401
    assert "Invalid credentials" in answer.text
    assert email in answer.text


@pytest.mark.parametrize("path", ["/app/", "/app/sign-in", "/app/nowhere", "/app/static/rank.js", "/"])
def test_every_answer_carries_the_protecting_headers(stranger: httpx2.Client, path: str) -> None:
    """Pages, errors and files all have the security headers."""
    headers = stranger.get(path).headers
    assert "script-src 'self'" in headers["content-security-policy"]
    assert "unsafe" not in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"


def test_pages_stay_out_of_shared_caches(server: str, session_cookies: dict[str, str]) -> None:
    """What one user has seen is not cached for the next user of the same computer; static files are cached forever."""
    with httpx2.Client(base_url=server, cookies=session_cookies, timeout=60) as client:
        assert client.get("/app/account").headers["cache-control"] == "no-store"
        # The address of a style sheet contains its digest; a module is imported by its plain name, and revalidated.
        (style_sheet,) = re.findall(r'href="(/app/static/base.css[^"]*)"', client.get("/app/").text)
        assert "immutable" in client.get(style_sheet).headers["cache-control"]
        module = client.get("/app/static/shares.js")
        assert module.headers["cache-control"] == "no-cache"
        assert client.get("/app/static/shares.js", headers={"If-None-Match": module.headers["etag"]}).status_code == 304
        missing_file = client.get("/app/static/none.js")
        assert (missing_file.status_code, "<html" in missing_file.text) == (404, True)
        assert client.get("/docs/static/none.js").json()["code"] == "not_found"
