"""A running product and a real browser for the tests of the pages."""

import itertools
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal

import httpx2
import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, expect, sync_playwright

from tests.machine import skip_or_fail
from tests.serving_process import ServingProcess

CHROMIUM = Path("/usr/bin/chromium")
ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
PASSWORD = "une phrase assez longue"
_numbers = itertools.count()

# Parallel tests share few processors, so pages may be slow.
expect.set_options(timeout=20_000)

Visit = Callable[..., Page]


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Serve the whole product with the demo catalog in a separate process, and return its address.

    Requests may wait longer than usual, because beside other tests, the product has a fraction of a processor.
    """
    serving = ServingProcess(tmp_path_factory.mktemp("web"), TOUCHSTONE_QUEUE_SECONDS="60").start()
    yield serving.address
    serving.stop()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Open Debian's Chromium, and close it after each module, because its event loop blocks others."""
    if not CHROMIUM.exists():
        skip_or_fail("Chromium (Debian's package chromium)")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=list(ARGUMENTS))
        yield chromium
        chromium.close()


@pytest.fixture
def email() -> str:
    """Return a unique e-mail address."""
    return f"someone{next(_numbers)}-{os.getpid()}@example.org"


@pytest.fixture
def session_cookies(server: str, email: str) -> dict[str, str]:
    """Register a user, and return the cookies of a signed-in browser."""
    with httpx2.Client(base_url=server, headers={"Origin": server}, timeout=60) as client:
        form = {"email": email, "password": PASSWORD, "pseudo": "Ada"}
        answer = client.post("/app/register", data=form)
        assert answer.status_code == 303, answer.text
        return dict(client.cookies)


@pytest.fixture
def visit(browser: Browser, server: str, session_cookies: dict[str, str]) -> Iterator[Visit]:
    """Return a function that opens pages as a signed-in user.

    The test fails if a page writes errors or warnings to its console.
    """
    contexts: list[BrowserContext] = []
    console_errors: list[str] = []

    def record_error(message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            console_errors.append(message.text)

    def open_page(
        path: str,
        *,
        width: int = 1440,
        theme: str = "light",
        language: str = "fr",
        scripts: bool = True,
        address: str = server,
        wait_until: Literal["commit", "load"] = "load",
    ) -> Page:
        context = browser.new_context(
            base_url=address, viewport={"width": width, "height": 900}, java_script_enabled=scripts, locale="fr-FR"
        )
        contexts.append(context)
        cookies = session_cookies | {"touchstone_theme": theme, "touchstone_language": language}
        context.add_cookies(
            [{"name": name, "value": value, "url": f"{address}/app/"} for name, value in cookies.items()]
        )
        context.set_default_timeout(60_000)
        page = context.new_page()
        page.on("console", record_error)
        page.on("pageerror", lambda error: console_errors.append(str(error)))
        page.goto(path, wait_until=wait_until)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert console_errors == []


@pytest.fixture
def api(server: str, email: str, session_cookies: dict[str, str]) -> Iterator[httpx2.Client]:
    """Return an API client that is signed in as the same user."""
    with httpx2.Client(base_url=server, timeout=60) as client:
        tokens = client.post("/api/v1/auth/login", json={"username": email, "password": PASSWORD}).json()
        client.headers["Authorization"] = f"Bearer {tokens['access_token']}"
        yield client


@pytest.fixture
def client(server: str, session_cookies: dict[str, str]) -> Iterator[httpx2.Client]:
    """Return a signed-in HTTP client of the pages in English, without a browser."""
    cookies = session_cookies | {"touchstone_language": "en"}
    with httpx2.Client(base_url=server, cookies=cookies, headers={"Origin": server}, timeout=60) as client:
        yield client
