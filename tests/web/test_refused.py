"""What pages say when something is refused; nothing that was entered or requested is lost."""

import html
import re
from pathlib import Path
from typing import Any

import httpx2
import pytest
from starlette.types import Receive, Scope, Send

from tests.web.conftest import PASSWORD
from touchstone.client import TouchstoneError
from touchstone.core.settings import Settings
from touchstone.http.middleware import EdgeMiddleware
from touchstone.messages import MESSAGES
from touchstone.web.app import WebApp
from touchstone.web.localizer import Localizer
from touchstone.web.readable_errors import field_messages, localize_error

NUMBERS = [
    ("0.012 – 0.19", "0,012 – 0,19"),
    ("-3.5", "−3,5"),
    ("1.1e-16", "1,1\u00a0×\u00a010⁻¹⁶"),
    ("2020-01-01",) * 2,
]


def return_address(answer: httpx2.Response) -> str:
    """Return the address to which the language switch leads back."""
    return html.unescape(re.findall(r'name="next"[^>]* value="([^"]*)"', answer.text)[0])


def problem(code: str, detail: str, *errors: dict[str, Any]) -> TouchstoneError:
    """Return an error as the API sends it."""
    return TouchstoneError(422, code, detail, list(errors))


def test_fields_are_named_by_their_labels_and_sizes_in_megabytes() -> None:
    """No page shows a name or a unit of the API."""
    name_error = {"loc": ["body", "name"], "msg": "255 caractères au plus", "type": "string_too_long"}
    seed_error = {"loc": ["body", "seed"], "msg": "-9007199254740991 … 9007199254740991", "type": "int"}
    french = Localizer("fr")
    detail = localize_error(
        problem("validation_error", "Valeur invalide : body.name", name_error, seed_error), french
    ).detail
    assert detail == "Nom\u00a0: 255 caractères au plus\u202f; Graine aléatoire\u00a0: nombre trop grand"
    assert localize_error(problem("too_large", "4194304 octets au plus"), french).detail == "4,2 Mo au plus"
    file_error = {"loc": ["name"], "msg": "*.csv", "type": "file_type"}
    assert (
        localize_error(problem("invalid_value", "Valeur invalide pour name", file_error), french).detail
        == "Fichier\u00a0: *.csv"
    )
    split_error = problem("invalid_job_request", "Il manque split.time_column")
    assert localize_error(split_error, Localizer("en")).detail == "Il manque “Date column (for the most recent rows)”"
    assert localize_error(problem("invalid_weights", "Poids invalides"), french).detail == "Poids invalides"


def test_an_unreadable_file_is_replaced_on_a_page_and_not_in_the_api() -> None:
    """The message says what a reader can do, without the names of the API."""
    entry = {"loc": ["body", "dataset_id"], "msg": "put its file_path into the record", "type": "no_table"}
    unreadable = problem("data_file_unreadable", "Data file cannot be read", entry)
    detail = localize_error(unreadable, Localizer("en")).detail
    assert detail.startswith("Data file cannot be read: the record leads to no readable table.")
    assert "Edit the record" in detail
    assert "file_path" not in detail


@pytest.mark.parametrize(
    ("path", "form_name"),
    [
        (["by_dataset", 12, "group_column"], "group_column.12"),
        (["by_dataset", 12, "sensitive_features", 1], "sensitive_features.12"),
        (["by_dataset", 12, "features", "exclude", 0], "features.12"),
        (["target"], "target"),
    ],
)
def test_an_error_about_one_dataset_is_shown_beside_its_field(path: list[str | int], form_name: str) -> None:
    """The form that compares trainings has a field for each option of each dataset."""
    entry = {"loc": ["body", *path], "msg": "The column is not in the file", "type": "column_not_found"}
    messages = field_messages(problem("invalid_job_request", "No", entry), Localizer("en"))
    assert messages[form_name].endswith(": The column is not in the file")


@pytest.mark.parametrize("parameter", ["license", "gate.license"])
def test_a_licence_that_is_no_expression_is_refused_on_the_page(client: httpx2.Client, parameter: str) -> None:
    """The page of the ranking says so with the name that the filter has on the page, not with that of the API."""
    page_text = html.unescape(client.get("/app/", params={parameter: "(MIT"}).text)
    assert "Licence: “(MIT” is neither an SPDX expression" in page_text
    assert "filters.license" not in page_text


@pytest.mark.parametrize(("number", "localized_number"), NUMBERS)
def test_numbers_in_texts_follow_the_language(number: str, localized_number: str) -> None:
    """Numbers have French separators; dates keep their own format."""
    assert Localizer("fr").table_value(number) == localized_number


def test_too_large_a_form_gets_a_page(client: httpx2.Client) -> None:
    """A form that is too large is refused on a page, with the size in MB and the security headers."""
    answer = client.post("/app/projects/new", content=b"x" * (4 * 1024 * 1024 + 1))
    assert (answer.status_code, answer.headers["content-type"]) == (413, "text/html; charset=utf-8")
    assert "at most 4.2 MB" in answer.text
    assert return_address(answer) == "/app/projects/new"
    assert "content-security-policy" in answer.headers


@pytest.mark.parametrize(
    ("path", "form", "page_address"),
    [
        ("/app/account/profile", {"locale": "xx"}, "/app/account"),
        ("/app/account/picture", {}, "/app/account"),
        ("/app/projects/new?w.year=30", {"name": ""}, "/app/projects/new?w.year=30"),
        ("/app/jobs/train", {"dataset_id": "1", "max_trials": "x"}, "/app/jobs/train?dataset_id=1"),
        ("/app/sign-in", {"email": "a@b.c", "password": "no", "next": "/app/jobs"}, "/app/sign-in?next=%2Fapp%2Fjobs"),
    ],
)
def test_the_language_switch_after_a_refusal_leads_to_a_page(
    client: httpx2.Client, path: str, form: dict[str, str], page_address: str
) -> None:
    """The address of the switch can be opened, and contains what it needs."""
    answer = client.post(path, data=form)
    assert answer.status_code in (401, 422)
    assert return_address(answer) == page_address


def test_a_blank_reason_comes_back_to_the_project(client: httpx2.Client, api: httpx2.Client) -> None:
    """The message appears above the form, in which the dataset is still selected."""
    project_id = api.post("/api/v1/projects", json={"name": "A need"}).json()["id"]
    dataset_id = api.get(f"/api/v1/projects/{project_id}/recommendations").json()["datasets"][0]["id"]
    answer = client.post("/app/projects/choose", data={"project": project_id, "dataset": dataset_id, "reason": "  "})
    assert answer.status_code == 422
    assert "Say why you are choosing it." in answer.text
    assert re.search(rf'value="{dataset_id}"[^>]* checked', answer.text)
    assert return_address(answer) == f"/app/projects/{project_id}"


def test_a_refused_comparison_keeps_what_was_entered(client: httpx2.Client, api: httpx2.Client) -> None:
    """An invalid number is named beside its field, and nothing that was entered is lost."""
    project_id = api.post("/api/v1/projects", json={"name": "Trainings"}).json()["id"]
    form = {"form": "compare", "target": "passed", "max_trials": "abc", "limit": "3"}
    answer = client.post(f"/app/projects/{project_id}/compare", data=form)
    assert answer.status_code == 422
    trials = re.findall(r'<input[^>]* name="max_trials"[^>]*>', answer.text)[0]
    assert 'value="abc"' in trials
    assert 'aria-invalid="true"' in trials
    assert 'value="passed"' in answer.text


def test_a_missing_project_is_named_in_the_language_of_the_page(client: httpx2.Client) -> None:
    """The API always says this in French, the pages do not."""
    answer = client.get("/app/projects/2000000000")
    assert answer.status_code == 404
    assert "<h1>Project not found</h1>" in answer.text


def test_a_choice_that_is_gone_keeps_its_reason(client: httpx2.Client, api: httpx2.Client) -> None:
    """The list says that the dataset was withdrawn; the project still shows which one it was, and why it was chosen."""
    dataset_id = api.post(
        "/api/v1/datasets/", json={"name": "passing", "description": "", "file_path": "", "file_type": "csv"}
    ).json()["id"]
    body = {"name": "Kept", "chosen_dataset_id": dataset_id, "choice_reason": "It was the one."}
    project_id = api.post("/api/v1/projects", json=body).json()["id"]
    assert "It was the one." in client.get(f"/app/projects/{project_id}").text.partition('class="timeline"')[2]
    api.delete(f"/api/v1/datasets/{dataset_id}")
    projects = client.get("/app/projects").text
    assert "Chosen: passing" in projects
    assert "withdrawn" in projects
    assert "It was the one." in client.get(f"/app/projects/{project_id}").text.partition('class="timeline"')[0]


def test_an_ended_session_keeps_what_was_sent(server: str, session_cookies: dict[str, str]) -> None:
    """If a form is sent after the session has ended, it comes back after signing in."""
    expired_cookies = dict.fromkeys(session_cookies, "gone")
    with httpx2.Client(base_url=server, cookies=expired_cookies, headers={"Origin": server}, timeout=60) as browser:
        answer = browser.post("/app/projects/new?w.year=30", data={"name": "lost"})
        assert answer.status_code == 401
        assert 'name="next" value="/app/projects/new?w.year=30"' in answer.text
        assert "ce que vous avez écrit revient" in answer.text
        assert "lost" in answer.text
        assert browser.get("/app/jobs").headers["location"].endswith("done=expired")


def test_the_language_is_kept_in_the_profile(client: httpx2.Client, api: httpx2.Client) -> None:
    """The language switch and the profile always agree."""
    client.post("/app/preferences", data={"language": "en", "next": "/app/"})
    assert api.get("/api/v1/users/me").json()["locale"] == "en"
    assert client.get("/app/sign-in").headers["location"] == "/app/"


def test_a_refused_registration_keeps_what_was_typed(server: str, email: str) -> None:
    """Everything except the password is kept."""
    form = {"email": email, "pseudo": "Ada L.", "password": "short"}
    answer = httpx2.post(f"{server}/app/register", data=form, headers={"Origin": server})
    assert answer.status_code == 422
    assert 'value="Ada L."' in answer.text
    assert PASSWORD not in answer.text


@pytest.mark.parametrize("path", ["/app/", "/app/static/mark.svg"])
def test_a_wrong_method_is_told_the_right_ones(client: httpx2.Client, path: str) -> None:
    """The error page has the header that this status requires."""
    answer = client.put(path)
    assert (answer.status_code, answer.headers["allow"]) == (405, "GET, HEAD")


def test_a_foreign_record_has_no_form(client: httpx2.Client) -> None:
    """The page says so before anything can be entered."""
    assert client.get("/app/datasets/1/edit").status_code == 403


def test_a_page_for_administrators_does_not_claim_that_it_may_be_viewed(client: httpx2.Client) -> None:
    """The page says what the account does not allow, and the sentence fits reading as well as changing."""
    answer = client.get("/app/users")
    assert answer.status_code == 403
    assert "Your account does not let you view this page or make this change." in answer.text


async def test_the_page_about_a_failure_shows_the_request_id(tmp_path: Path) -> None:
    """Whoever reports a defect can name the request, as the log does."""

    async def failing_app(scope: Scope, _: Receive, __: Send) -> None:
        """Fail as an application does that has a defect."""
        raise ZeroDivisionError(scope["path"])

    settings = Settings.load({"TOUCHSTONE_DATA_DIR": str(tmp_path)})
    pages = await WebApp.open(settings, failing_app)
    edge = EdgeMiddleware(failing_app, settings, respond_to_error=pages.refusal)
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(edge), base_url="http://test") as http:
        answer = await http.get("/app/", headers={"x-request-id": "my-request-1", "accept-language": "en"})
    await pages.close()
    assert answer.status_code == 500
    assert re.search(r"Request id:\s*<code>my-request-1</code>", answer.text)


def test_an_access_token_that_fits_into_no_header_is_renewed(client: httpx2.Client) -> None:
    """Quoted cookies may contain any byte, as octal digits after a backslash."""
    refresh_token = client.cookies["touchstone_refresh"]
    cookies = f'touchstone_access="\\377"; touchstone_refresh={refresh_token}'
    answer = client.get("/app/account", headers={"Cookie": cookies})
    assert answer.status_code == 200
    assert "touchstone_access" in answer.cookies


def test_json_with_too_many_levels_is_refused_like_any_other_text(client: httpx2.Client, email: str) -> None:
    """Fields that hold JSON may be changed by hand; an unsent form that cannot be read is not restored."""
    nested = "[" * 5000
    answer = client.post("/app/jobs/train", data={"dataset_id": "1", "target": "x", "positive_class": nested})
    assert answer.status_code == 422
    answer = client.post("/app/jobs/explain", data={"dataset_id": "1", "other_options": '{"a": ' + nested})
    assert (answer.status_code, MESSAGES["other_options_unreadable"][1] in html.unescape(answer.text)) == (422, True)
    form = {"email": email, "password": PASSWORD, "next": "/app/projects", "unsent": '{"a": ' + nested}
    answer = client.post("/app/sign-in", data=form)
    assert (answer.status_code, answer.headers["location"]) == (303, "/app/projects")


@pytest.mark.parametrize("value", ["caf\N{LATIN SMALL LETTER E WITH ACUTE}", "a\r\nb", "\N{PILE OF POO}"])
def test_what_cannot_be_sent_in_a_header_is_a_bad_request(
    client: httpx2.Client, api: httpx2.Client, value: str
) -> None:
    """A changed version or key in a form is refused, and nothing is saved or started."""
    project = api.post("/api/v1/projects", json={"name": "unchanged"}).json()
    page = f"/app/projects/{project['id']}"
    body = {"name": "mine", "description": "", "file_path": "", "file_type": ""}
    record = api.post("/api/v1/datasets/", json=body).json()
    forms = (
        (f"{page}/change", {"name": "x", "etag": value}),
        (f"{page}/compare", {"target": "y", "key": value}),
        (f"/app/datasets/{record['id']}/edit", {"name": "x", "etag": value}),
    )
    for address, form in forms:
        assert client.post(address, data=form).status_code == 400, address
    assert api.get(f"/api/v1/projects/{project['id']}").json() == project
    assert api.get(f"/api/v1/datasets/{record['id']}").json() == record
