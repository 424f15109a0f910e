"""The whole way of a user, from the first visit to an explained model."""

import html
import io
import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx2
import pytest
from PIL import Image
from playwright.sync_api import Browser, ConsoleMessage, Page, expect

from tests.web.conftest import PASSWORD, Visit
from tests.web.page_checks import check_looks
from tests.web.test_ranking import new_ranking

JOB_TIMEOUT = 180_000  # milliseconds that a job may take on a busy machine


@pytest.fixture
def loan_table(tmp_path: Path) -> Path:
    """Return a small table with a target that can be learned and a sensitive column."""
    rng = random.Random(7)
    rows = ["income,years,city,approved"]
    for _ in range(160):
        income, years, city = rng.randint(10, 90), rng.randint(0, 30), rng.choice(["Lyon", "Brest", "Nice"])
        rows.append(f"{income},{years},{city},{'yes' if income + 2 * years + rng.randint(-10, 10) > 70 else 'no'}")
    path = tmp_path / "loans.csv"
    path.write_text("\n".join(rows))
    return path


@pytest.fixture
def new_visitor(browser: Browser, server: str) -> Iterator[Callable[..., Page]]:
    """Return a function that opens the browser of a new visitor; messages on its console fail the test."""
    contexts = []
    console_errors: list[str] = []

    def record_error(message: ConsoleMessage) -> None:
        # A form that was refused is answered with its status, which the browser notes.
        if message.type in ("error", "warning") and "status of 422" not in message.text:
            console_errors.append(message.text)

    def open_page(*, scripts: bool = True) -> Page:
        context = browser.new_context(
            base_url=server, locale="en-GB", java_script_enabled=scripts, viewport={"width": 1280, "height": 900}
        )
        contexts.append(context)
        context.set_default_timeout(60_000)
        page = context.new_page()
        page.on("console", record_error)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert console_errors == []


def register(page: Page, email: str) -> None:
    page.goto("/app/")
    page.get_by_role("link", name="Create an account").click()
    page.get_by_label("E-mail address").fill(email)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Create an account").click()
    expect(page.locator(".heat tbody tr")).to_have_count(20)


def keep_in_project(page: Page) -> None:
    page.get_by_role("link", name="Keep in a project", exact=True).click()
    page.get_by_label("Name of the project").fill("Fair loans")
    page.get_by_label("The need").fill("Decide about loans and answer for it.")
    page.get_by_role("button", name="Create a project").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Fair loans")


def test_the_whole_journey_by_mouse(new_visitor: Callable[..., Page], email: str, loan_table: Path) -> None:
    """Register, filter, weight, compare, create a project, upload a table, train a model, and explain it."""
    page = new_visitor()
    register(page, email)
    with new_ranking(page):
        page.locator('input[name="domain"]').first.check()
    with new_ranking(page):
        page.locator("#w-year").fill("60")
    rows = page.locator("#results [data-id]")
    for index in (0, 1):
        with new_ranking(page):
            rows.nth(index).locator("input.pin").check()
    page.get_by_role("link", name="Compare").click()
    expect(page.locator(".compare thead th")).to_have_count(2)
    page.get_by_role("link", name="Back to the ranking").click()
    keep_in_project(page)
    page.get_by_role("radio").first.check()
    page.get_by_label("Why this one?").fill("The most recent one.")
    page.get_by_role("button", name="Keep this choice").click()
    expect(page.locator(".kept blockquote")).to_have_text("The most recent one.")
    add_data(page, loan_table)
    train(page)
    explain(page)
    page.get_by_role("link", name="Project", exact=True).click()
    expect(page.locator(".timeline")).to_contain_text("Training requested: Predict approved")
    expect(page.locator(".timeline")).to_contain_text("Explanation requested:")


def add_data(page: Page, table_path: Path) -> None:
    page.get_by_role("link", name="Add data").click()
    page.get_by_label("File").set_input_files(table_path)
    page.get_by_label("Column to predict").fill("approved")
    page.get_by_label("Sensitive columns").fill("city")
    page.get_by_role("button", name="Add data").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("loans")
    expect(page.locator(".columns-table tbody tr")).to_have_count(4)
    expect(page.locator(".badge", has_text="private")).to_be_visible()


def train(page: Page) -> None:
    page.get_by_role("link", name="Train a model").click()
    expect(page.get_by_label("Column to predict")).to_have_value("approved")
    expect(page.get_by_role("checkbox", name="Sensitive: city")).to_be_checked()
    page.get_by_label("Trials").fill("2")
    page.get_by_label("Project").select_option(label="Fair loans")
    page.get_by_role("button", name="Start the training").click()
    expect(page.locator("#quality")).to_be_visible(timeout=JOB_TIMEOUT)
    expect(page.get_by_role("heading", name="Quality by group: city")).to_be_visible()
    trials = page.locator("details", has=page.get_by_role("heading", name="All trials", include_hidden=True))
    expect(trials).to_contain_text("another trial may therefore have a better score")
    chart = page.locator("figure.chart").first
    chart.scroll_into_view_if_needed()
    expect(chart.locator("canvas")).to_be_visible(timeout=JOB_TIMEOUT)


def explain(page: Page) -> None:
    page.get_by_role("link", name="Explain a model").click()
    page.get_by_label("Rows to explain").fill("0, 5")
    page.get_by_role("button", name="Start the explanation").click()
    expect(page.locator("#story")).to_be_visible(timeout=JOB_TIMEOUT)
    expect(page.locator(".fall tbody tr")).to_have_count(3)
    page.locator("#row nav a").nth(1).click()
    expect(page.locator("#waterfall")).to_contain_text("Row 5")
    page.get_by_role("textbox", name="income").fill("12")
    page.get_by_role("button", name="Ask the model").click()
    expect(page.locator("#what-if ~ .notice")).to_contain_text("The model answers yes → no")
    threshold = re.compile(r"is the answer if its probability is at least 0\.\d+")
    expect(page.locator("#what-if ~ .notice")).to_contain_text(threshold)


def test_a_project_by_keyboard_alone(new_visitor: Callable[..., Page], email: str) -> None:
    """Registering, setting weights and recording a choice need only Tab, arrow keys, Space and Enter."""
    page = new_visitor()
    page.goto("/app/register")
    reach(page, "[name=email]")
    page.keyboard.type(email)
    reach(page, "[name=password]")
    page.keyboard.type(PASSWORD)
    page.keyboard.press("Enter")
    expect(page.locator(".heat tbody tr")).to_have_count(20)
    reach(page, "#w-citations")
    with new_ranking(page):
        page.keyboard.press("PageUp")
    page.goto("/app/projects/new" + page.url.partition("/app/")[2])
    reach(page, "main [name=name]")
    page.keyboard.type("By hand")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("By hand")
    reach(page, "[name=dataset]")
    page.keyboard.press("Space")
    reach(page, "[name=reason]")
    page.keyboard.type("Reached without a mouse.")
    reach(page, "main form button")
    page.keyboard.press("Enter")
    expect(page.locator(".kept blockquote")).to_have_text("Reached without a mouse.")


def reach(page: Page, selector: str) -> None:
    """Press Tab until the first element that matches the selector has the focus."""
    element = page.locator(selector).first
    for _ in range(250):
        if element.evaluate("element => element === document.activeElement"):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"{selector} cannot be reached by Tab")


@pytest.fixture
def loans(api: httpx2.Client, loan_table: Path) -> str:
    """Create a record with the small table, and return the address of its page."""
    with loan_table.open("rb") as file:
        upload = api.post("/api/v1/files", files={"file": ("loans.csv", file)}).json()
    body = {
        "name": "loans",
        "description": "",
        "file_path": upload["file_path"],
        "file_type": "csv",
        "metadata": {"target": "approved"},
    }
    answer = api.post("/api/v1/datasets/", json=body)
    assert answer.status_code == 201, answer.text
    return f"/app/datasets/{answer.json()['id']}"


def test_a_model_by_keyboard_alone(visit: Visit, loans: str) -> None:
    """Training, explaining and asking "what if" need no mouse, and the results are readable at every size."""
    page = visit(loans, theme="auto", language="en")
    follow(page, "main a[href^='/app/jobs/train']")
    reach(page, "[name=max_trials]")
    page.keyboard.type("2")
    page.keyboard.press("Enter")
    expect(page.locator("#quality")).to_be_visible(timeout=JOB_TIMEOUT)
    check_looks(page)
    follow(page, "main .actions a[href^='/app/jobs/explain']")
    reach(page, "[name=rows]")
    page.keyboard.type("0, 5")
    page.keyboard.press("Enter")
    expect(page.locator("#story")).to_be_visible(timeout=JOB_TIMEOUT)
    follow(page, "#row nav a[href*='row=1']")
    expect(page.locator("#waterfall")).to_contain_text("Row 5")
    check_looks(page)
    reach(page, "[name='v.income']")
    page.keyboard.press("Control+A")
    page.keyboard.type("12")
    page.keyboard.press("Enter")
    expect(page.locator("#what-if ~ .notice")).to_contain_text("The model answers yes → no")


def follow(page: Page, link: str) -> None:
    """Follow a link with the keyboard."""
    reach(page, link)
    page.keyboard.press("Enter")


def test_a_model_without_scripts(visit: Visit, loans: str) -> None:
    """Forms start the job, the page reloads itself until the job is done, and results, charts and answers are shown."""
    page = visit(loans, language="en", scripts=False)
    page.locator("main a[href^='/app/jobs/train']").first.click()
    page.get_by_label("Trials").fill("2")
    page.get_by_role("button", name="Start the training").click()
    expect(page.locator("#quality")).to_be_visible(timeout=JOB_TIMEOUT)
    expect(page.locator("main")).to_contain_text("approved")
    assert is_chart_loaded(page)
    page.get_by_role("link", name="Explain a model").click()
    page.get_by_label("Rows to explain").fill("0, 5")
    page.get_by_role("button", name="Start the explanation").click()
    expect(page.locator("#story")).to_be_visible(timeout=JOB_TIMEOUT)
    expect(page.locator(".fall tbody tr")).to_have_count(3)
    assert is_chart_loaded(page)
    page.get_by_role("textbox", name="income").fill("12")
    page.get_by_role("textbox", name="years").fill("2")
    page.get_by_role("button", name="Ask the model").click()
    expect(page.locator("#what-if ~ .notice")).to_contain_text("The model answers yes → no")


def is_chart_loaded(page: Page) -> bool:
    """Return whether the first chart has been loaded as a picture."""
    picture = page.locator(".chart img").first
    picture.scroll_into_view_if_needed()
    is_loaded: bool = picture.evaluate("image => image.decode().then(() => image.naturalWidth > 0)")
    return is_loaded


def test_the_account_without_scripts(new_visitor: Callable[..., Page], email: str, tmp_path: Path) -> None:
    """Profile, picture, language, sessions and password work as plain forms."""
    page = new_visitor(scripts=False)
    register(page, email)
    page.goto("/app/account")
    page.get_by_label("Display name").fill("Ada")
    page.get_by_label("Language").select_option("fr")
    page.get_by_role("button", name="Save").first.click()
    expect(page.get_by_role("status")).to_have_text("Le profil a été enregistré.")
    expect(page.locator(".me")).to_contain_text("Ada")
    page.locator("[name=picture]").set_input_files({"name": "me.png", "mimeType": "image/png", "buffer": png()})
    page.locator("#picture ~ form button").first.click()
    expect(page.locator("img.portrait")).to_be_visible()
    expect(page.locator("img.portrait")).not_to_have_js_property("naturalWidth", 0)
    page.locator("[name=current_password]").fill("not this one")
    page.locator("[name=new_password]").fill("une autre phrase encore")
    page.get_by_role("button", name="Modifier le mot de passe").click()
    expect(page.get_by_role("alert")).to_have_text("Le mot de passe actuel est incorrect")
    page.locator("[name=current_password]").fill(PASSWORD)
    page.locator("[name=new_password]").fill("une autre phrase encore")
    page.get_by_role("button", name="Modifier le mot de passe").click()
    expect(page.get_by_role("heading", name="Se connecter")).to_be_visible()
    page.get_by_label("Adresse e-mail").fill(email)
    page.get_by_label("Mot de passe").fill("une autre phrase encore")
    page.locator("main form button").click()
    expect(page.locator(".heat tbody tr")).to_have_count(20)


def test_a_table_larger_than_other_bodies_is_taken(server: str, session_cookies: dict[str, str]) -> None:
    """The page accepts files as large as the API does, and not only bodies as large as other forms."""
    table = b"a,b\n" + b"1234567,7654321\n" * 400_000
    with httpx2.Client(base_url=server, cookies=session_cookies, headers={"Origin": server}, timeout=120) as client:
        answer = client.post(
            "/app/datasets/new", data={"name": "large"}, files={"file": ("large.csv", table, "text/csv")}
        )
        assert answer.status_code == 303, answer.text
        assert "400\u202f000" in client.get(answer.headers["location"]).text


def png() -> bytes:
    """Return a small picture."""
    buffer = io.BytesIO()
    Image.new("RGB", (40, 40), (210, 160, 40)).save(buffer, "PNG")
    return buffer.getvalue()


def test_an_upload_is_seen_and_deleted_without_scripts(new_visitor: Callable[..., Page], email: str) -> None:
    """The account page lists an uploaded file with its size, and a button deletes it."""
    page = new_visitor(scripts=False)
    register(page, email)
    page.goto("/app/account")
    expect(page.locator("#uploads ~ p").last).to_contain_text("No files uploaded.")
    page.goto("/app/datasets/new")
    content = b"a,b\n" + b"1,2\n" * 300
    page.get_by_label("File").set_input_files({"name": "mine.csv", "mimeType": "text/csv", "buffer": content})
    page.get_by_role("button", name="Add data").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("mine")
    page.goto("/app/account")
    expect(page.locator("#uploads ~ ul li")).to_contain_text("mine.csv1.2 kB")
    page.get_by_role("button", name="Delete mine.csv").click()
    expect(page.get_by_role("status")).to_have_text("The file has been deleted.")
    expect(page.locator("#uploads ~ ul li")).to_have_count(0)


def test_a_record_is_changed_without_scripts(visit: Visit, loans: str, api: httpx2.Client) -> None:
    """The author changes declared values; values that are not in the form, and measured ones, stay the same."""
    record_path = loans.replace("/app", "/api/v1")
    metadata = {"target": "approved", "source": {"name": "Our own"}}
    old_record = api.patch(record_path, json={"metadata": metadata, "citations": 12}).json()
    page = visit(loans, language="en", scripts=False)
    page.get_by_text("Manage").click()
    page.get_by_role("link", name="Edit the record").click()
    page.get_by_label("Domain").fill("credit, housing")
    page.get_by_label("Description").fill("Two lines\nof text")
    page.get_by_label("Sensitive columns").fill("city")
    page.get_by_label("Informed consent").select_option("true")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("status")).to_have_text("The record has been saved.")
    new_record = api.get(record_path).json()
    assert (new_record["domain"], new_record["description"]) == (["credit", "housing"], "Two lines\nof text")
    assert (new_record["informed_consent"], new_record["transparency"], new_record["citations"]) == (True, None, 12)
    assert {**old_record["metadata"], "sensitive_columns": ["city"]} == new_record["metadata"]


def test_a_record_that_someone_changed_meanwhile_is_not_overwritten(
    server: str, session_cookies: dict[str, str], loans: str, api: httpx2.Client
) -> None:
    """The form remembers the version that it shows, and says so if a newer one exists."""
    with httpx2.Client(base_url=server, cookies=session_cookies, headers={"Origin": server}, timeout=60) as client:
        form_page = client.get(f"{loans}/edit").text
        etag = html.unescape(re.findall(r'name="etag" value="([^"]+)"', form_page)[0])
        api.patch(loans.replace("/app", "/api/v1"), json={"objective": "newer"})
        answer = client.post(f"{loans}/edit", data={"name": "older", "etag": etag})
        assert answer.status_code == 412
        assert client.get(loans).text.count("older") == 0


def test_a_foreign_record_cannot_be_changed(server: str, session_cookies: dict[str, str]) -> None:
    """The form for a record of another user is refused with an explanation."""
    with httpx2.Client(base_url=server, cookies=session_cookies, headers={"Origin": server}, timeout=60) as client:
        answer = client.post("/app/datasets/1/edit", data={"name": "mine"})
        assert answer.status_code == 403
