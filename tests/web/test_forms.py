"""Forms that were rejected or interrupted show the problem at its field, and keep what was entered."""

import html
import json
import re
from collections.abc import Iterator

import httpx2
import pytest
from playwright.sync_api import Browser, Page, expect
from starlette.datastructures import FormData

from tests.web.conftest import PASSWORD
from tests.web.page_checks import violations
from touchstone.web.forms import integer_field, parse_number
from touchstone.web.invalid_fields import mark_invalid_fields
from touchstone.web.unsent_forms import decode_unsent_form

INVALID_FORMS = [
    ("/app/projects/choose", {"project": "{project}", "dataset": "1", "reason": " "}, "reason"),
    ("/app/projects/new?w.year=30", {"name": ""}, "name"),
    ("/app/projects/new?choose=1", {"name": "A", "reason": ""}, "reason"),
    ("/app/projects/{project}/change", {"name": ""}, "name"),
    ("/app/datasets/new", {"name": "a", "year": "soon"}, "year"),
    ("/app/datasets/new", {}, "name"),
    ("/app/datasets/{table}/claims/new?attribute=citations", {"value": "-5"}, "value"),
    ("/app/jobs/train", {"dataset_id": "{table}", "target": "y", "max_trials": "many"}, "max_trials"),
    ("/app/jobs/train", {"dataset_id": "{table}", "target": "nothing"}, "target"),
    ("/app/account/profile", {"locale": "en", "pseudo": "x" * 300}, "pseudo"),
    ("/app/account/password", {"current_password": "not this", "new_password": "long enough 1"}, "current_password"),
    ("/app/account/picture", {}, "picture"),
    ("/app/reset-password", {"token": "none", "password": "long enough 1"}, "token"),
]
REASON = "Because it is the only one <b>with</b> consent.\nAnd more."


@pytest.fixture
def project(api: httpx2.Client) -> str:
    """Create a project and return its id."""
    project_id: str = api.post("/api/v1/projects", json={"name": "A need"}).json()["id"]
    return project_id


@pytest.fixture
def table(api: httpx2.Client) -> str:
    """Create a record with a table and return its id."""
    rows = "\n".join(f"{number},{number % 2}" for number in range(60))
    upload = api.post("/api/v1/files", files={"file": ("small.csv", f"a,y\n{rows}")}).json()
    record = {"name": "small", "description": "", "file_path": upload["file_path"], "file_type": "csv"}
    return str(api.post("/api/v1/datasets/", json=record).json()["id"])


@pytest.fixture
def signed_in_page(browser: Browser, server: str, session_cookies: dict[str, str]) -> Iterator[Page]:
    """Return an empty page of a signed-in reader, whose forms may be rejected."""
    context = browser.new_context(base_url=server, locale="en-GB")
    context.add_cookies(
        [{"name": name, "value": value, "url": f"{server}/app/"} for name, value in session_cookies.items()]
    )
    yield context.new_page()
    context.close()


def test_a_rejected_form_moves_the_focus_to_the_invalid_field(signed_in_page: Page) -> None:
    page = signed_in_page
    page.goto("/app/projects/new?w.year=30")
    form = page.locator("main form[method=post]").filter(has=page.locator("[name=name]"))
    form.evaluate("form => form.noValidate = true")
    form.locator("button.button").click()
    name = page.locator("[aria-invalid=true]")
    expect(name).to_be_focused()
    expect(name).to_have_attribute("name", "name")
    expect(page).to_have_title(re.compile("^Error: "))


def test_a_problem_without_a_field_gets_the_focus_itself(signed_in_page: Page) -> None:
    page = signed_in_page
    page.goto("/app/account")
    ended_session = "01a22abe-dfdd-7d23-89ec-c6fb5710df17"
    page.evaluate(
        """session => {
            const form = document.createElement("form");
            Object.assign(form, { method: "post", action: "/app/account/session" });
            form.innerHTML = `<input name="session" value="${session}">`;
            document.body.append(form);
            form.submit();
        }""",
        ended_session,
    )
    expect(page.get_by_role("alert")).to_be_focused()


@pytest.mark.parametrize(("path", "form", "field"), INVALID_FORMS)
def test_a_problem_stands_at_its_field(
    client: httpx2.Client, project: str, table: str, path: str, form: dict[str, str], field: str
) -> None:
    """The field is marked as invalid, and its description is a sentence that occurs once on the page."""
    ids = {"project": project, "table": table}
    form_data = {name: value.format(**ids) for name, value in form.items()}
    answer = client.post(path.format(**ids), data=form_data)
    assert answer.status_code == 422, answer.text
    (control,) = re.findall(r'<(?:input|select|textarea) aria-invalid="true"[^>]*>', answer.text)
    assert f' name="{field}"' in control
    description_ids = re.findall(r'aria-describedby="([^"]+)"', control)[0].split()
    assert description_ids[0] == f"problem-{field}"
    for description_id in description_ids:
        assert answer.text.count(f'id="{description_id}"') == 1
    assert re.search(rf'id="problem-{field}">[^<]{{5,}}<', answer.text)


def test_a_taken_address_and_a_wrong_bound_stand_at_their_fields(
    client: httpx2.Client, server: str, email: str
) -> None:
    """The same holds for the forms for registering and for filtering."""
    client.get("/app/account")
    form = {"email": email, "password": PASSWORD}
    answer = httpx2.post(f"{server}/app/register", data=form, headers={"Origin": server})
    assert re.search(r'<input aria-invalid="true" aria-describedby="problem-email"[^>]*name="email"', answer.text)
    answer = client.get("/app/?year_min=soon")
    assert re.search(r'<input aria-invalid="true" aria-describedby="problem-year_min"[^>]*name="year_min"', answer.text)


def test_a_refused_sign_in_marks_both_fields(server: str, email: str) -> None:
    """The page does not reveal which of the two is wrong: the same sentence describes both."""
    form = {"email": email, "password": "wrong wrong"}
    answer = httpx2.post(f"{server}/app/sign-in", data=form, headers={"Origin": server, "Accept-Language": "en"})
    assert answer.status_code == 401
    invalid = re.findall(
        r'<input aria-invalid="true" aria-describedby="problem-password"[^>]* name="(\w+)"', answer.text
    )
    assert invalid == ["email", "password"]
    assert answer.text.count('<p class="field-problem" id="problem-password">Invalid credentials</p>') == 1


@pytest.mark.parametrize("name", ["reason", ""])
def test_of_two_forms_with_one_field_the_sent_one_is_marked(client: httpx2.Client, project: str, name: str) -> None:
    """A project's page has two forms with a reason, and only the one that was sent is marked."""
    choice = {"project": project, "dataset": "1", "reason": "It was the one."}
    assert client.post("/app/projects/choose", data=choice).status_code == 303
    address = f"/app/projects/{project}/reason" if name else "/app/projects/choose"
    answer = client.post(address, data={**choice, "reason": " ", "form": name})
    assert answer.status_code == 422
    addresses = rf"/app/projects/(?:choose|{project}/reason)"
    forms = re.findall(rf'<form[^>]*action="{addresses}".*?</form>', answer.text, re.DOTALL)
    assert ["aria-invalid" in form for form in forms] == [name == "reason", name == ""]
    # The form that was sent can be seen, and the other one is as before.
    details = re.search(r'<details class="more"( open)?><summary>[^<]*</summary><form[^>]*/reason"', answer.text)
    assert details is not None
    assert bool(details[1]) == (name == "reason")
    assert ("It was the one.</textarea>" in forms[0]) == (name == "")
    assert (" checked" in forms[1]) <= (name == "")


def test_a_choice_for_an_existing_project_keeps_its_form(client: httpx2.Client, project: str) -> None:
    """If the reason is missing, the form of the existing project is marked, and not the one for a new project."""
    form = {"project": project, "reason": "", "form": "update"}
    answer = client.post("/app/projects/new?choose=1", data=form)
    forms = re.findall(r'<form class="panel form".*?</form>', answer.text, re.DOTALL)
    assert ["aria-invalid" in form for form in forms] == [False, True]
    assert "Its filters, requirements, weights and choice will be replaced by these." in forms[1]


def test_a_page_with_problems_is_accessible(
    browser: Browser, server: str, session_cookies: dict[str, str], project: str
) -> None:
    """The accessibility checker accepts the marks, and screen readers announce the field as invalid."""
    context = browser.new_context(base_url=server)
    cookies = session_cookies | {"touchstone_language": "en"}
    context.add_cookies([{"name": n, "value": v, "url": f"{server}/app/"} for n, v in cookies.items()])
    page = context.new_page()
    page.goto(f"/app/projects/{project}")
    page.evaluate("document.querySelectorAll('[required]').forEach((field) => field.removeAttribute('required'))")
    page.locator("[name=dataset]").first.check()
    page.locator("form:has([name=dataset]) button").first.click()
    field = page.locator("textarea[aria-invalid=true]")
    expect(field).to_have_accessible_description("Say why you are choosing it.")
    assert violations(page) == []
    context.close()


@pytest.mark.parametrize("scripts", [True, False])
def test_a_reason_comes_back_after_the_session_has_ended(
    browser: Browser, server: str, email: str, session_cookies: dict[str, str], project: str, scripts: bool
) -> None:
    """After signing in again, the form appears with all that was entered; it is saved only when sent again."""
    context = browser.new_context(base_url=server, locale="en-GB", java_script_enabled=scripts)
    context.set_default_timeout(60_000)
    context.add_cookies([{"name": n, "value": v, "url": f"{server}/app/"} for n, v in session_cookies.items()])
    page = context.new_page()
    page.goto(f"/app/projects/{project}")
    page.locator("[name=dataset]").nth(1).check()
    page.locator("form:has([name=dataset]) [name=reason]").last.fill(REASON)
    context.clear_cookies()
    page.locator("form:has([name=dataset]) button").last.click()
    page.locator("[name=email]").fill(email)
    page.locator("[name=password]").fill(PASSWORD)
    page.locator("main form button").click()
    if not scripts:
        page.locator("form[data-send-now] button").click()
    field = page.locator("form:has([name=dataset]) [name=reason]").last
    expect(field).to_have_value(REASON)
    expect(page.locator("[name=dataset]").nth(1)).to_be_checked()
    expect(page.locator(".kept")).to_have_count(0)
    page.locator("form:has([name=dataset]) button").last.click()
    expect(page.locator(".kept blockquote")).to_have_text(REASON)
    context.close()


def unsent_form(page: str) -> str:
    """Return the unsent form that a sign-in page contains."""
    return html.unescape(re.findall(r'name="unsent" value="([^"]*)"', page)[0])


def test_passwords_never_go_along(server: str, session_cookies: dict[str, str]) -> None:
    """No page contains a password that was entered."""
    expired_cookies = dict.fromkeys(session_cookies, "gone")
    form = {"current_password": "sesame", "new_password": "open it 123"}
    with httpx2.Client(base_url=server, cookies=expired_cookies, headers={"Origin": server}) as browser:
        answer = browser.post("/app/account/password", data=form)
    assert answer.status_code == 401
    assert json.loads(unsent_form(answer.text))["fields"] == []


@pytest.mark.parametrize(
    "action", ["https://evil.example/", "//evil.example", "/app/projects/1/delete", "/app/sign-out", "/api/v1/projects"]
)
def test_only_forms_that_hold_something_written_come_back(action: str) -> None:
    """Signing in never deletes anything, signs anybody out, or sends a form to another address."""
    assert decode_unsent_form(json.dumps({"action": action, "fields": []})) is None
    assert decode_unsent_form("{}") is None


def test_what_is_marked_cannot_break_out() -> None:
    """Markup in an error message is shown as text."""
    page = mark_invalid_fields(
        '<form action="/app/x"><label><input name="a"></label></form>', "/app/x", {"a": "<b>", 'x"y': "z"}
    )
    assert '<p class="field-problem" id="problem-a">&lt;b&gt;</p>' in page


@pytest.mark.parametrize("text", ["2500", "2 500", "2\u202f500", "2,500"])
def test_whole_numbers_may_have_separators_between_thousands(text: str) -> None:
    """A field for a whole number takes the separators of both languages."""
    assert integer_field(FormData({"max_trials": text}), "max_trials", "no number") == 2500


@pytest.mark.parametrize(
    ("text", "in_english", "in_french"), [("2,500", 2500, 2.5), ("0,125", 0.125, 0.125), ("2,5", 2.5, 2.5)]
)
def test_a_comma_separates_thousands_in_english_only(text: str, in_english: float, in_french: float) -> None:
    """A comma before three digits is a decimal comma for readers of French pages."""
    assert parse_number(text, commas_may_separate_thousands=True) == in_english
    assert parse_number(text) == in_french


@pytest.mark.parametrize("rows", ["1-5", "first", "1; 2"])
def test_row_numbers_are_asked_for_in_the_way_they_are_read(client: httpx2.Client, table: str, rows: str) -> None:
    """The message for a list of numbers does not ask for a single one."""
    answer = client.post("/app/jobs/explain", data={"dataset_id": table, "rows": rows, "scope": "local"})
    assert answer.status_code == 422, answer.text
    assert "Rows to explain: enter row numbers separated by commas, such as 0, 5, 12." in answer.text


def test_a_claim_about_a_count_may_have_the_commas_of_the_page(
    client: httpx2.Client, api: httpx2.Client, table: str
) -> None:
    """The number of instances is read as the page would show it, and not as a decimal number."""
    form = {"value": "12,500", "quote": "The table has 12,500 rows."}
    answer = client.post(f"/app/datasets/{table}/claims/new?attribute=citations", data=form)
    assert answer.status_code == 303, answer.text
    assert api.get(f"/api/v1/datasets/{table}").json()["citations"] == 12_500


def test_a_refused_number_of_a_claim_is_named_like_its_field(client: httpx2.Client, table: str) -> None:
    """The message has the label of the field, and not its name in the API."""
    answer = client.post(f"/app/datasets/{table}/claims/new?attribute=citations", data={"value": "-5"})
    assert answer.status_code == 422
    assert 'role="alert">Number: must be at least 0</p>' in answer.text
