"""Every page is accessible, complete, small, no wider than its window, and safe against what other users write."""

import re
from collections.abc import Iterator
from functools import partial
from typing import Any

import httpx2
import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, expect

from tests.web.conftest import Visit
from tests.web.page_checks import check_looks, overflow, violations

HOSTILE = "<img src=x onerror=alert(1)><script>document.title='owned'</script>"
PAGES = {
    "rank": "/app/",
    "bars": "/app/?view=bars&w.ethical_score=30&w.citations=20&w.year=50",
    "table": "/app/?view=table&page=3",
    "nothing found": "/app/?dataset_name=zzzzzz",
    "compare": "/app/compare?pin=1&pin=2&pin=3",
    "dataset": "/app/datasets/1",
    "dataset with long names": "/app/datasets/{private}",
    "dataset with a table": "/app/datasets/{table}",
    "add": "/app/datasets/new",
    "edit": "/app/datasets/{private}/edit",
    "claim": "/app/datasets/{private}/claims/new?attribute=transparency",
    "review": "/app/review",
    "import": "/app/datasets/import",
    "projects": "/app/projects",
    "project": "/app/projects/{project}",
    "snapshot": "/app/projects/{project}/snapshots/{snapshot}",
    "report": "/app/projects/{project}/report",
    "keep": "/app/projects/new?w.year=30&w.citations=60",
    "jobs": "/app/jobs",
    "train": "/app/jobs/train?dataset_id={table}",
    "explain": "/app/jobs/explain",
    "account": "/app/account",
}
SIGNED_OUT_PAGES = {"sign in": "/app/sign-in", "register": "/app/register", "reset": "/app/reset-password"}


@pytest.fixture
def path_ids(api: httpx2.Client) -> dict[str, Any]:
    """Create the project, snapshot and private record that the pages show, and return their ids and that of a table."""
    datasets = api.get("/api/v1/datasets/", params={"dataset_name": "German Credit", "file_type": "parquet"}).json()
    table_id = datasets[0]["id"]
    body = {
        "name": "A need",
        "chosen_dataset_id": table_id,
        "choice_reason": "Because.",
        "criteria": {"year_min": 1990},
    }
    record = {"name": "o" * 255, "description": "", "file_path": "", "file_type": "", "objective": "x" * 1900}
    private_id = api.post("/api/v1/datasets/", json={**record, "visibility": "private"}).json()["id"]
    project_id = api.post("/api/v1/projects", json=body).json()["id"]
    api.put(f"/api/v1/projects/{project_id}", json={"chosen_dataset_id": 1, "choice_reason": "On second thoughts."})
    snapshot_id = api.post(f"/api/v1/projects/{project_id}/snapshots", json={"note": "Before the review"}).json()["id"]
    return {"table": table_id, "project": project_id, "snapshot": snapshot_id, "private": private_id}


@pytest.mark.parametrize("name", PAGES)
def test_every_page_is_accessible_in_both_themes_and_fits(visit: Visit, path_ids: dict[str, Any], name: str) -> None:
    """The checker finds no violation, and nothing overflows on a phone, a tablet or a desktop, in either language."""
    path = PAGES[name].format(**path_ids)
    for language, width in (("fr", 1440), ("en", 360)):
        page = visit(path, theme="auto", language=language, width=width)
        expect(page.locator("html")).to_have_attribute("lang", language)
        check_looks(page, thorough=language == "fr")
        page.context.close()


@pytest.mark.parametrize("path", ["/app/", "/app/datasets/1"])
def test_an_open_menu_fits_on_a_phone(visit: Visit, path: str) -> None:
    """The formats for saving can be read and touched, wherever the button of the menu stands."""
    for language in ("fr", "en"):
        page = visit(path, language=language, width=360)
        page.locator("#export summary").click()
        expect(page.locator("#export a").first).to_be_visible()
        assert overflow(page) <= 0
        page.context.close()


def record_message(console_messages: list[str], message: ConsoleMessage) -> None:
    """Record what a page writes to its console."""
    console_messages.append(message.text)


@pytest.mark.parametrize("name", SIGNED_OUT_PAGES)
def test_pages_before_signing_in_are_accessible_too(browser: Browser, server: str, name: str) -> None:
    """The same holds for the pages that are shown before signing in."""
    for locale in ("fr-FR", "en-GB"):
        page = browser.new_page(base_url=server, locale=locale)
        console_messages: list[str] = []
        page.on("console", partial(record_message, console_messages))
        page.goto(SIGNED_OUT_PAGES[name])
        expect(page.locator("html")).to_have_attribute("lang", locale[:2])
        check_looks(page, thorough=locale == "fr-FR")
        assert console_messages == []
        page.close()


@pytest.mark.parametrize("path", ["/docs", "/docs/", "/selection/docs/"])
def test_the_description_of_the_api_opens_with_and_without_a_slash(visit: Visit, path: str) -> None:
    """The description loads its files and the OpenAPI document."""
    page = visit(path)
    expect(page.locator(".opblock").first).to_be_visible()
    page.locator(".opblock button").first.click()
    assert re.fullmatch(r"(/selection)?/docs/?#/.+", page.evaluate("location.pathname + location.hash"))


def test_a_missing_page_is_accessible_and_leads_home(
    browser: Browser, server: str, session_cookies: dict[str, str]
) -> None:
    """The page says in the language of the reader that nothing was found, and links to the start page."""
    context = browser.new_context(base_url=server)
    context.add_cookies([{"name": n, "value": v, "url": f"{server}/app/"} for n, v in session_cookies.items()])
    page = context.new_page()
    answer = page.goto("/app/nowhere")
    assert answer is not None
    assert answer.status == 404
    assert violations(page) == []
    page.locator("main a.button").click()
    expect(page).to_have_url(f"{server}/app/")
    context.close()


@pytest.fixture
def page_and_sizes(browser: Browser, server: str, session_cookies: dict[str, str]) -> Iterator[tuple[Page, list[int]]]:
    """Open a page, and return it with the number of bytes that were transferred for it."""
    context = browser.new_context(base_url=server)
    context.add_cookies([{"name": n, "value": v, "url": f"{server}/app/"} for n, v in session_cookies.items()])
    page = context.new_page()
    sizes: list[int] = []
    session = context.new_cdp_session(page)
    session.send("Network.enable")
    session.on("Network.loadingFinished", lambda event: sizes.append(event["encodedDataLength"]))
    yield page, sizes
    context.close()


@pytest.mark.parametrize("name", PAGES)
def test_pages_are_light(page_and_sizes: tuple[Page, list[int]], path_ids: dict[str, Any], name: str) -> None:
    """On the very first visit, a page without charts transfers at most 150 kB, including its files."""
    page, sizes = page_and_sizes
    page.goto(PAGES[name].format(**path_ids))
    page.wait_for_load_state("networkidle")
    assert 0 < sum(sizes) <= 150_000


def test_an_injected_script_does_not_run(browser: Browser, server: str) -> None:
    """Even if a script, an event handler or a foreign file gets into a page, the content security policy blocks it."""
    page = browser.new_page(base_url=server)
    page.goto("/app/sign-in")
    violated_directives = page.evaluate(
        """async () => {
          const directives = [];
          document.addEventListener("securitypolicyviolation", (event) => directives.push(event.effectiveDirective));
          const script = document.createElement("script");
          script.textContent = "window.owned = true";
          document.body.append(script);
          document.body.insertAdjacentHTML("beforeend", "<img src=/nothing onerror='window.owned = true'>");
          const foreign = document.createElement("script");
          foreign.src = "http://127.0.0.1:1/evil.js";
          document.body.append(foreign);
          await new Promise((resolve) => setTimeout(resolve, 500));
          return directives;
        }"""
    )
    assert page.evaluate("window.owned") is None
    assert {"script-src-elem", "script-src-attr"} <= set(violated_directives)
    page.close()


def test_hostile_names_show_as_text(visit: Visit, api: httpx2.Client) -> None:
    """A name that contains markup is shown literally, wherever it appears."""
    body = {
        "name": HOSTILE,
        "description": HOSTILE,
        "file_path": "",
        "file_type": HOSTILE[:200],
        "objective": HOSTILE,
        "domain": [HOSTILE],
        "task": [HOSTILE],
        "transparency": True,
        "metadata": {"evidence": {"transparency": HOSTILE}, "source": {"name": HOSTILE, "url": "javascript:alert(1)"}},
    }
    dataset = api.post("/api/v1/datasets/", json=body).json()
    project = {"name": HOSTILE, "description": HOSTILE, "chosen_dataset_id": dataset["id"], "choice_reason": HOSTILE}
    project_id = api.post("/api/v1/projects", json=project).json()["id"]
    query = f"?dataset_name={HOSTILE[:20]}"
    for path in (
        f"/app/{query}",
        f"/app/{query}&view=table",
        f"/app/{query}&view=bars",
        f"/app/datasets/{dataset['id']}",
        f"/app/compare?pin={dataset['id']}&pin=1",
        "/app/projects",
        f"/app/projects/{project_id}",
    ):
        page = visit(path)
        assert page.locator("main").inner_text().count("<img src=x") > 0, path
        assert page.locator("main img[src=x]").count() == 0, path
        assert page.locator("[href^=javascript]").count() == 0, path
        assert "owned" not in page.title().replace(HOSTILE, "")
        page.context.close()
    api.delete(f"/api/v1/datasets/{dataset['id']}")


def test_a_foreign_project_looks_missing(visit: Visit, server: str, email: str, browser: Browser) -> None:
    """The pages treat the project of another user like one that does not exist."""
    other_user = {"email": f"other-{email}", "password": "autre phrase bien longue"}
    with httpx2.Client(base_url=server, timeout=60) as client:
        client.post("/api/v1/auth/register", json=other_user)
        form = {"username": other_user["email"], "password": other_user["password"]}
        token = client.post("/api/v1/auth/login", json=form).json()["access_token"]
        headers = {"Authorization": f"Bearer {token}"}
        foreign_project_id = client.post("/api/v1/projects", json={"name": "secret"}, headers=headers).json()["id"]
    page = visit("/app/projects")
    for path in (f"/app/projects/{foreign_project_id}", "/app/projects/00000000-0000-0000-0000-000000000000"):
        answer = page.request.get(path)
        assert answer.status == 404
        assert "secret" not in answer.text()
        assert re.search("Projet non trouvé", answer.text())


def test_what_is_chosen_is_visible_in_forced_colors(visit: Visit) -> None:
    """Browsers drop backgrounds and shadows there, so links and buttons need another mark."""
    page = visit("/app/")
    page.emulate_media(forced_colors="active")
    background = "element => getComputedStyle(element).backgroundColor"
    views = page.locator(".views")
    chosen = views.locator("[aria-current=true]").first.evaluate(background)
    assert chosen != views.locator("a:not([aria-current])").first.evaluate(background)
    for criterion in ("c0", "c1"):
        swatch = page.locator(f".sliders .swatch.{criterion}")
        assert swatch.evaluate(background) != page.locator("body").evaluate(background)


@pytest.mark.parametrize("name", ["rank", "train"])
def test_fingers_find_targets_of_24_pixels(
    browser: Browser, server: str, session_cookies: dict[str, str], path_ids: dict[str, Any], name: str
) -> None:
    context = browser.new_context(
        base_url=server, viewport={"width": 360, "height": 740}, has_touch=True, is_mobile=True
    )
    context.add_cookies(
        [{"name": key, "value": value, "url": f"{server}/app/"} for key, value in session_cookies.items()]
    )
    page = context.new_page()
    page.goto(PAGES[name].format(**path_ids))
    too_small = page.locator("main :is(input:not([type=hidden]), summary, th a)").evaluate_all(
        """elements => elements.filter(element => element.checkVisibility())
            .filter(element => Math.min(element.offsetWidth, element.offsetHeight) < 24)
            .map(element => element.outerHTML)"""
    )
    assert too_small == []
    context.close()
