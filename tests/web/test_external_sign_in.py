"""Signing in on the pages with an external identity provider."""

import base64
import html
import json
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import pytest
from playwright.sync_api import Browser, expect

from tests.identity_provider import CLIENT_SECRET, Misbehaviour, OpenIdProvider, identity_provider, new_key
from tests.machine import free_port
from tests.serving_process import ServingProcess
from tests.web.conftest import PASSWORD
from tests.web.page_checks import check_looks

START = "/app/sign-in/company"
CALLBACK = f"{START}/callback"


@pytest.fixture(scope="module")
def running_provider() -> Iterator[OpenIdProvider]:
    """Run a provider for all tests of the module."""
    with identity_provider(new_key("first")) as provider:
        yield provider


@pytest.fixture
def provider(running_provider: OpenIdProvider, email: str) -> OpenIdProvider:
    """Return a provider that behaves well, with a new user."""
    running_provider.misbehaviour = Misbehaviour()
    running_provider.user |= {"sub": email, "email": email}
    return running_provider


@pytest.fixture(scope="module")
def serving(running_provider: OpenIdProvider, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServingProcess]:
    """Serve the product with two providers, of which one is down."""
    port = str(free_port())
    down = {"issuer": f"http://127.0.0.1:{free_port()}", "client_id": "x", "client_secret": "y", "label": "Nobody"}
    variables = {
        "TOUCHSTONE_PORT": port,
        "TOUCHSTONE_PUBLIC_URL": f"http://127.0.0.1:{port}",
        "TOUCHSTONE_OIDC_PROVIDERS": running_provider.setting(down=down),
        "TOUCHSTONE_LOG_LEVEL": "debug",
    }
    folder = tmp_path_factory.mktemp("external")
    process = ServingProcess(folder, TOUCHSTONE_DEMO="false", TOUCHSTONE_JOB_WORKERS="0", **variables).start()
    yield process
    process.stop()


@pytest.fixture
def browser_client(serving: ServingProcess) -> Iterator[httpx2.Client]:
    """Return a client that follows redirects and has no session, as a browser in English."""
    headers = {"Origin": serving.address, "Accept": "text/html,*/*;q=0.8", "Accept-Language": "en"}
    with httpx2.Client(
        base_url=serving.address, headers=headers, follow_redirects=True, trust_env=False, timeout=60
    ) as client:
        yield client


def link_of(page: str, label: str) -> str:
    """Return the address of the link with this text."""
    (address,) = re.findall(rf'href="([^"]+)"[^>]*>{re.escape(label)}</a>', page)
    return html.unescape(address)


def hidden_field(page: str, name: str) -> str:
    """Return the value of a hidden field."""
    return html.unescape(re.findall(rf'type="hidden" name="{name}" value="([^"]*)"', page)[0])


def notice_of(page: str) -> str:
    """Return the message about what went wrong."""
    (notice,) = re.findall(r'<p class="notice bad" role="alert">([^<]+)</p>', page)
    return html.unescape(notice)


def test_a_reader_signs_in_and_reaches_the_requested_page(
    browser_client: httpx2.Client, provider: OpenIdProvider, email: str
) -> None:
    """The session is like any other: in the cookies of the pages, and in the list of sessions."""
    page = browser_client.get("/app/projects?x=1")
    assert page.url.path == "/app/sign-in"
    address = link_of(page.text, "Sign in with Example Company")
    assert address == f"{START}?next=%2Fapp%2Fprojects%3Fx%3D1"

    page = browser_client.get(address)
    assert (page.status_code, page.url.path, page.url.query) == (200, "/app/projects", b"x=1")
    hosts = [response.url.netloc.decode() for response in page.history]
    assert urlsplit(provider.issuer).netloc in hosts
    session_cookies = page.history[-1].headers.get_list("set-cookie")
    for name in ("touchstone_access", "touchstone_refresh", "touchstone_device"):
        (cookie,) = [cookie for cookie in session_cookies if cookie.startswith(f"{name}=")]
        assert all(attribute in cookie for attribute in ("HttpOnly", "SameSite=lax", "Path=/app/"))
    assert "touchstone_oidc" not in browser_client.cookies

    account_page = browser_client.get("/app/account").text
    assert email in account_page
    assert f"<b>Example Company</b><small>{email}</small>" in account_page
    assert account_page.count('name="session"') == 0  # the only session is this one

    # Somebody who is signed in already stays so when the address is opened again, for example from the history.
    page = browser_client.get("/app/sign-in")
    assert page.url.path == "/app/"


@pytest.mark.parametrize(
    "target",
    [
        "https://evil.example",
        "//evil.example",
        "/app/\\evil",
        "/api/v1/users/me",
        "app/",
        "/app/\r\nx: y",
        "x" * 3000,
        f"/app/?q={'x' * 3000}",
        "/app/é",
    ],
)
def test_signing_in_never_leads_off_the_pages(
    browser_client: httpx2.Client, provider: OpenIdProvider, target: str
) -> None:
    """`next` leads to one of our own pages, or else to the start page, wherever it is given."""
    page = browser_client.get(START, params={"next": target})
    assert page.url.host == "127.0.0.1"
    assert page.url.path == "/app/"

    # The API itself does not redirect there either.
    response = browser_client.get("/api/v1/auth/oidc/company/login", params={"next": target})
    assert response.status_code == 422 or (response.url.host, response.url.path) == ("127.0.0.1", "/app/")
    response = browser_client.get(f"{CALLBACK}?state=x&code=y", params={"next": target})
    assert response.status_code == 400
    assert "evil" not in hidden_field(response.text, "next")


@pytest.mark.parametrize(
    ("language", "sentence"),
    [
        ("en", "The sign-in was cancelled, or refused by Example Company"),
        ("fr", "La connexion a été annulée ou refusée par Example Company"),
    ],
)
def test_a_cancelled_sign_in_is_explained(
    browser_client: httpx2.Client, provider: OpenIdProvider, language: str, sentence: str
) -> None:
    """The sign-in page says what has happened, and offers to try again with the same page to continue with."""
    provider.misbehaviour.answer = {"code": None, "error": "access_denied", "error_description": "<script>"}
    headers = {"Accept-Language": language}
    page = browser_client.get(START, params={"next": "/app/jobs"}, headers=headers)
    assert (page.status_code, notice_of(page.text)) == (403, sentence)
    assert hidden_field(page.text, "next") == "/app/jobs"
    assert "<script>" not in page.text
    assert "touchstone_oidc" not in browser_client.cookies
    assert "code=" not in page.text  # switching the language does not repeat the answer


def test_a_provider_that_is_down_is_explained(browser_client: httpx2.Client) -> None:
    """The sign-in page names the provider, and the status tells machines to come back later."""
    page = browser_client.get("/app/sign-in/down")
    assert page.status_code == 503
    assert int(page.headers["retry-after"]) > 0
    assert notice_of(page.text).startswith("Nobody is not answering properly at the moment")
    assert "Sign in with Example Company" in page.text


@pytest.mark.parametrize("path", [CALLBACK, "/api/v1/auth/oidc/company/callback"])
def test_a_sign_in_that_did_not_begin_here_is_explained(browser_client: httpx2.Client, path: str) -> None:
    """A lost or foreign state leads to the sign-in page and signs nobody in."""
    page = browser_client.get(path, params={"state": "x", "code": "y"})
    assert page.status_code == 400
    assert notice_of(page.text).startswith("This sign-in did not begin in this browser")
    assert "touchstone_access" not in browser_client.cookies


def test_an_unknown_provider_has_no_page(browser_client: httpx2.Client) -> None:
    """The error page is that of any other unknown address."""
    for path in ("/app/sign-in/unknown", "/app/sign-in/unknown/callback"):
        page = browser_client.get(path)
        assert page.status_code == 404
        assert page.headers["content-type"].startswith("text/html")
        assert "Unknown identity provider" in page.text


def test_an_existing_account_is_linked_on_the_sign_in_page(
    browser_client: httpx2.Client, provider: OpenIdProvider, email: str
) -> None:
    """The password is asked for once, and a wrong one does not lose the request."""
    form = {"email": email, "password": PASSWORD}
    assert browser_client.post("/app/register", data=form).status_code == 200
    browser_client.cookies.clear()

    page = browser_client.get(START, params={"next": "/app/jobs"})
    assert page.status_code == 409
    assert notice_of(page.text).endswith("sign in with its password to link it to Example Company")
    for password, status in (("wrong wrong", 401), (PASSWORD, 200)):
        fields = {name: hidden_field(page.text, name) for name in ("next", "link")}
        page = browser_client.post("/app/sign-in", data={**fields, "email": email, "password": password})
        assert page.status_code == status
    assert page.url.path == "/app/jobs"

    browser_client.cookies.clear()
    assert browser_client.get(START).url.path == "/app/"

    # Unlinking the account on its page makes the password the only way to sign in again.
    account_id = hidden_field(browser_client.get("/app/account").text, "oauth_account")
    page = browser_client.post("/app/account/provider", data={"oauth_account": account_id})
    assert "The account has been unlinked." in page.text
    assert "Example Company" not in page.text
    page = browser_client.post("/app/account/provider", data={"oauth_account": account_id})
    assert (page.status_code, "External account not found" in page.text) == (404, True)
    browser_client.cookies.clear()
    assert browser_client.get(START).status_code == 409


def test_the_account_page_offers_nothing_that_would_be_refused(
    browser_client: httpx2.Client, provider: OpenIdProvider
) -> None:
    """A reader without a password can neither change it nor unlink the only provider, and the page says why."""
    assert browser_client.get(START).url.path == "/app/"
    page = browser_client.get("/app/account").text
    assert "This account has no password. An administrator can give you a token to choose one." in page
    assert "Example Company" in page
    assert 'action="/app/account/password"' not in page
    assert 'action="/app/account/provider"' not in page


def test_what_was_written_comes_back_after_signing_in_elsewhere(
    browser_client: httpx2.Client, provider: OpenIdProvider
) -> None:
    """A form that was submitted without a session waits in its tab while the reader signs in in another one."""
    form_page = browser_client.post("/app/projects/new", data={"name": "Unsaved project"})
    assert form_page.status_code == 401
    (link,) = re.findall(r'<a [^>]*href="(/app/sign-in/company[^"]*)"[^>]*target="_blank"', form_page.text)
    fields = {name: hidden_field(form_page.text, name) for name in ("next", "unsent", "signed_in")}
    assert browser_client.post("/app/sign-in", data=fields).status_code == 401

    assert browser_client.get(html.unescape(link)).status_code == 200
    page = browser_client.post("/app/sign-in", data=fields)
    assert page.status_code == 200
    assert re.search(r'<textarea name="name" hidden>\s*Unsaved project</textarea>', page.text)


def test_without_providers_nothing_changes(server: str) -> None:
    """The sign-in page has no buttons, and the addresses do not exist."""
    with httpx2.Client(base_url=server, headers={"Accept-Language": "en"}, timeout=60) as client:
        page = client.get("/app/sign-in")
        assert "Sign in with" not in page.text
        assert "Other ways" not in page.text
        assert client.get(START).status_code == 404


def test_the_buttons_are_accessible_and_work_in_a_browser(
    serving: ServingProcess, provider: OpenIdProvider, browser: Browser, email: str
) -> None:
    """A real browser accepts the cookies and the redirects under the content security policy."""
    context = browser.new_context(base_url=serving.address, locale="en-GB")
    context.set_default_timeout(60_000)
    errors: list[str] = []
    page = context.new_page()
    page.on("console", lambda message: errors.append(message.text) if message.type in ("error", "warning") else None)
    page.goto("/app/sign-in?next=/app/account")
    check_looks(page)
    page.get_by_role("link", name="Sign in with Example Company").click()
    expect(page.get_by_role("heading", name="Your account")).to_be_visible()
    expect(page.get_by_role("listitem").filter(has_text="Example Company")).to_contain_text(email)
    check_looks(page)
    assert errors == []
    context.close()


def test_no_secret_is_written_to_the_log_of_the_product(
    serving: ServingProcess, browser_client: httpx2.Client, provider: OpenIdProvider
) -> None:
    """Neither the client secret nor a code nor a token is in the log, whether a sign-in succeeds or fails."""
    successful_page = browser_client.get(START)
    tokens = [browser_client.cookies[f"touchstone_{name}"] for name in ("access", "refresh")]
    provider.misbehaviour.raw["/token"] = (400, json.dumps({"error": CLIENT_SECRET}).encode())
    failed_page = browser_client.get(START)
    assert (successful_page.status_code, failed_page.status_code) == (200, 503)

    visited_urls = [response.url for page in (successful_page, failed_page) for response in page.history]
    codes = {url.params["code"] for url in visited_urls if "code" in url.params}
    assert len(codes) == 2
    log = Path(serving.folder.parent / f"{serving.folder.name}.log").read_text()
    assert "/api/v1/auth/oidc/company/callback" in log
    assert "identity provider unavailable" in log
    encoded_secret = base64.b64encode(CLIENT_SECRET.encode()).decode()
    for secret in (CLIENT_SECRET, encoded_secret, *codes, *tokens):
        assert secret not in log
