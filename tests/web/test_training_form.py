"""The form that starts a training: a preview of the split, and options that are sent as they were entered."""

import re
import time
from typing import Any
from uuid import uuid4

import httpx2
import pytest
from playwright.sync_api import Page, expect

from tests.web.conftest import Visit
from tests.web.page_checks import check_looks
from tests.web.test_reading import run_job


@pytest.fixture
def visits(api: httpx2.Client) -> int:
    """Create a private table of twenty patients with six visits each, and return the id of its record."""
    rows = "\n".join(f"p{row // 6},{row // 6 * 3 + row % 2},{row * 7 % 11},{row // 6 % 2}" for row in range(120))
    table = f"patient,age,pulse,ill\n{rows}\n"
    upload = api.post("/api/v1/files", files={"file": ("visits.csv", table)}).json()
    body = {"name": "Visits", "description": "", "file_path": upload["file_path"], "file_type": "csv"}
    dataset_id: int = api.post("/api/v1/datasets/", json={**body, "visibility": "private"}).json()["id"]
    return dataset_id


def test_a_table_without_rows_offers_no_training(client: httpx2.Client) -> None:
    """The page says what is wrong with the file, instead of leading to a form that can only be refused."""
    form = {"name": "Header alone", "visibility": "private"}
    answer = client.post("/app/datasets/new", data=form, files={"file": ("header.csv", "age,pulse,ill\n", "text/csv")})
    assert answer.status_code == 303, answer.text
    page = client.get(answer.headers["location"]).text
    assert "The file contains only the names of its columns, and no rows." in page
    assert "/app/jobs/train?" not in page


def test_the_split_is_shown_before_the_training_starts(visit: Visit, api: httpx2.Client, visits: int) -> None:
    """A preview keeps what was entered and starts nothing; the options arrive in the request of the job."""
    page = visit(f"/app/jobs/train?dataset_id={visits}&target=ill", language="en")
    page.get_by_label("whole groups").check()
    page.get_by_label("Group column").select_option("patient")
    page.get_by_text("Advanced settings").click()
    page.get_by_label("Trials").fill("1")
    page.get_by_label("Train again on all rows").check()
    page.get_by_label("Positive class").fill("1")
    page.get_by_label("Cost of a false alarm").fill("1")
    page.get_by_label("Cost of a miss").fill("2,5")
    page.get_by_role("button", name="See the split first").click()

    preview = page.get_by_role("status", name="How the rows would be divided")
    expect(preview).to_contain_text("patient")
    expect(preview).to_contain_text("rows to learn from")
    expect(preview.get_by_role("heading")).to_be_focused()
    expect(preview).to_be_in_viewport()
    check_looks(page, thorough=False)
    assert api.get("/api/v1/ml/jobs").json() == []

    page.get_by_role("button", name="Start the training").click()
    page.wait_for_url("**/app/jobs/train/*")
    [job] = api.get("/api/v1/ml/jobs").json()
    request = job["request"]
    assert (request["split"]["strategy"], request["split"]["group_column"]) == ("group", "patient")
    assert (request["budget"]["max_trials"], request["refit"], request["positive_class"]) == (1, True, 1)
    assert request["threshold"]["cost"] == {"fp": 1, "fn": 2.5}


def start_and_cancel(api: httpx2.Client, path: str, request: dict[str, Any]) -> dict[str, Any]:
    """Start a job, cancel it at once, and return it."""
    answer = api.post(f"/api/v1/{path}", json=request)
    assert answer.status_code == 202, answer.text
    address = f"/api/v1/{path.partition('/')[0]}/jobs/{answer.json()['id']}"
    api.post(f"{address}/cancel")
    job: dict[str, Any] = api.get(address).json()
    return job


@pytest.fixture
def project(api: httpx2.Client) -> str:
    """Create a project and return its id."""
    project_id: str = api.post("/api/v1/projects", json={"name": "A need"}).json()["id"]
    return project_id


def cancel_repeated_job(page: Page, api: httpx2.Client, kind: str, earlier_id: str) -> dict[str, Any]:
    """Wait for the page of the job that repeats an earlier one, cancel this job, and return it as it was requested."""
    page.wait_for_url(lambda address: bool(re.search(r"/jobs/\w+/", address)) and earlier_id not in address)
    address = f"/api/v1/{kind}/jobs/{page.url.rpartition('/')[2]}"
    job: dict[str, Any] = api.get(address).json()
    api.post(f"{address}/cancel")
    return job


@pytest.mark.parametrize(
    "options",
    [
        {},
        {
            "task": "classification",
            "metric": "f1_macro",
            "features": {"exclude": ["pulse"]},
            "sensitive_features": ["age"],
            "algorithms": ["linear"],
            "split": {"strategy": "group", "group_column": "patient", "duplicates": "keep", "test_size": 0.29},
            "budget": {"max_trials": 3, "max_runtime_seconds": 60},
            "refit": True,
            "positive_class": 1,
            "threshold": {"cost": {"fp": 1, "fn": 2.5}},
            "calibration": "none",
            "mitigation": "none",
            "intended_use": "To see who is ill.",
            "seed": 7,
            "name": "Thirty visits",
        },
        {"threshold": {"metric": "f1_macro"}, "sample_weight": "pulse", "split": {"strategy": "kfold", "folds": 3}},
    ],
)
def test_a_training_is_repeated_with_everything_that_was_requested(
    visit: Visit, api: httpx2.Client, visits: int, project: str, options: dict[str, Any]
) -> None:
    """The form behind “Train differently” sends the same request again if nothing is changed in it."""
    # What the record suggests must not be mixed into the request.
    metadata = {"target": "pulse", "sensitive_columns": ["pulse"], "exclude_columns": ["age"]}
    api.patch(f"/api/v1/datasets/{visits}", json={"metadata": metadata})
    request = {"dataset_id": visits, "target": "ill", "project_id": project, **options}
    training = start_and_cancel(api, "ml/train", request)

    page = visit(f"/app/jobs/train/{training['id']}", language="en")
    page.get_by_role("link", name="Train differently").click()
    page.get_by_role("button", name="Start the training").click()
    repeated = cancel_repeated_job(page, api, "ml", training["id"])
    assert repeated["request"] == training["request"]
    assert repeated["project_id"] == project


def test_an_explanation_is_repeated_with_everything_that_was_requested(
    visit: Visit, api: httpx2.Client, visits: int, project: str
) -> None:
    """The form behind “Explain other rows” keeps the rows, the method and the protected columns."""
    quick = {"algorithms": ["linear"], "budget": {"max_trials": 1}}
    model = run_job(api, "ml/train", {"dataset_id": visits, "target": "ill", **quick})
    request = {
        "job_id": model,
        "scope": "local",
        "method": "counterfactual",
        "instances": {"rows": [3, 5]},
        "immutable": ["age"],
        "project_id": project,
        "name": "Two visits",
    }
    explanation = start_and_cancel(api, "xai/explain", request)

    page = visit(f"/app/jobs/explain/{explanation['id']}", language="en")
    page.get_by_role("link", name="Explain other rows").click()
    expect(page.get_by_label("Rows to explain")).to_have_value("3, 5")
    page.get_by_role("button", name="Start the explanation").click()
    repeated = cancel_repeated_job(page, api, "xai", explanation["id"])
    assert repeated["request"] == explanation["request"]


def test_an_explanation_of_data_is_repeated_with_everything_that_was_requested(
    visit: Visit, api: httpx2.Client, visits: int
) -> None:
    """The form behind “Explain differently” keeps the target, the sensitive columns and the seed."""
    request = {"dataset_id": visits, "target": "ill", "sensitive_features": ["patient"], "name": "Data", "seed": 7}
    explanation = start_and_cancel(api, "xai/explain", request)

    page = visit(f"/app/jobs/explain/{explanation['id']}", language="en")
    page.get_by_role("link", name="Explain differently").click()
    page.get_by_role("button", name="Start the explanation").click()
    repeated = cancel_repeated_job(page, api, "xai", explanation["id"])
    assert repeated["request"] == explanation["request"]


def test_the_form_of_an_explanation_stays_short_for_many_columns(visit: Visit, api: httpx2.Client) -> None:
    """The columns scroll by themselves, so that the button below them is not far away."""
    names = [f"gene {number}" for number in range(300)]
    table = "\n".join([",".join([*names, "ill"]), *(",".join(["1"] * 301) for _row in range(3))])
    upload = api.post("/api/v1/files", files={"file": ("genes.csv", table)}).json()
    body = {"name": "Genes", "description": "", "file_path": upload["file_path"], "file_type": "csv"}
    dataset_id = api.post("/api/v1/datasets/", json={**body, "visibility": "private"}).json()["id"]

    page = visit(f"/app/jobs/explain?dataset_id={dataset_id}", language="en")
    button = page.get_by_role("button", name="Start the explanation").bounding_box()
    assert button is not None
    assert button["y"] < 1_600


def test_options_that_only_the_api_has_are_repeated_unless_the_reader_drops_them(
    visit: Visit, api: httpx2.Client, visits: int
) -> None:
    """The form shows them as they were sent; row numbers take the place of rows that were given by their values."""
    quick = {"algorithms": ["linear"], "budget": {"max_trials": 1}}
    model = run_job(api, "ml/train", {"dataset_id": visits, "target": "ill", **quick})
    values = [{"patient": "p1", "age": 40, "pulse": 3}]
    other_options = {"background": {"size": 50}, "output": "log_odds", "seed": 7}
    request = {"job_id": model, "method": "shap", "instances": {"values": values}, **other_options}
    explanation = start_and_cancel(api, "xai/explain", request)

    page = visit(f"/app/jobs/explain?like={explanation['id']}", language="en", theme="auto")
    expect(page.get_by_label("Take over the options")).to_be_checked()
    check_looks(page)
    page.get_by_role("button", name="Start the explanation").click()
    repeated = cancel_repeated_job(page, api, "xai", explanation["id"])
    assert repeated["request"] == explanation["request"]

    page.goto(f"/app/jobs/explain?like={explanation['id']}")
    page.get_by_label("Rows to explain").fill("5")
    page.get_by_role("button", name="Start the explanation").click()
    by_number = cancel_repeated_job(page, api, "xai", explanation["id"])["request"]
    assert (by_number["instances"], by_number["seed"]) == ({"rows": [5], "values": []}, 7)

    page.goto(f"/app/jobs/explain?like={explanation['id']}")
    page.get_by_label("Take over the options").uncheck()
    page.get_by_role("button", name="Start the explanation").click()
    without = cancel_repeated_job(page, api, "xai", explanation["id"])["request"]
    assert (without["instances"]["values"], without["seed"], without["output"]) == ([], 0, "probability")


def test_the_columns_to_learn_from_become_columns_to_leave_out(visit: Visit, api: httpx2.Client, visits: int) -> None:
    """The form can only leave columns out, so the others of an earlier request are ticked, and still can be changed."""
    training = start_and_cancel(
        api, "ml/train", {"dataset_id": visits, "target": "ill", "features": {"include": ["age"]}}
    )
    page = visit(f"/app/jobs/train?like={training['id']}", language="en")
    page.get_by_role("button", name="Start the training").click()
    repeated = cancel_repeated_job(page, api, "ml", training["id"])
    assert repeated["request"]["features"] == {"include": [], "exclude": ["patient", "pulse"]}


@pytest.mark.parametrize(
    ("strategy", "size"), [("kfold", {"folds": 3, "test_size": 0.2}), ("holdout", {"folds": 5, "test_size": 0.4})]
)
def test_only_the_size_that_has_an_effect_is_sent(
    client: httpx2.Client, api: httpx2.Client, visits: int, strategy: str, size: dict[str, float]
) -> None:
    """The form always has both sizes, and says beside each with which strategy it has no effect."""
    sizes = {"folds": "3", "test_size": "40"}
    form = {"dataset_id": str(visits), "target": "ill", "strategy": strategy, **sizes}
    answer = client.post("/app/jobs/train", data=form)
    assert answer.status_code == 303, answer.text
    job = answer.headers["location"].rsplit("/", 1)[1]
    api.post(f"/api/v1/ml/jobs/{job}/cancel")
    split = api.get(f"/api/v1/ml/jobs/{job}").json()["request"]["split"]
    assert {name: split[name] for name in size} == size


@pytest.mark.parametrize(
    ("text", "message"), [("x", "Enter a number."), ("60", "Enter a percentage between 5 and 50.")]
)
def test_the_share_of_test_rows_is_checked_in_percent(
    client: httpx2.Client, visits: int, text: str, message: str
) -> None:
    """The API has the share in 0-1, so the page checks what was entered."""
    form = {"dataset_id": str(visits), "target": "ill", "test_size": text}
    answer = client.post("/app/jobs/train", data=form)
    assert (answer.status_code, message in answer.text) == (422, True)


@pytest.mark.parametrize("form", ["explanation", "choice"])
def test_a_form_is_sent_only_once(visit: Visit, api: httpx2.Client, visits: int, form: str) -> None:
    """Also if one of its fields is called `method` or `dataset`, as a property of the form is."""
    training = start_and_cancel(api, "ml/train", {"dataset_id": visits, "target": "ill"})
    body = {"name": "Visits", "criteria": {"visibility": "private"}}
    project = api.post("/api/v1/projects", json=body).json()["id"]
    page = visit(f"/app/jobs/explain?job_id={training['id']}" if form == "explanation" else f"/app/projects/{project}")
    field = page.locator("form [name=method]" if form == "explanation" else "form [name=dataset]").first
    are_stopped = field.evaluate(
        """field => [1, 2].map(() => {
            const event = new SubmitEvent("submit", { bubbles: true, cancelable: true });
            return !field.form.dispatchEvent(event);
        })"""
    )
    assert are_stopped == [False, True]


def test_switching_the_language_keeps_the_repeated_request(visit: Visit, api: httpx2.Client, visits: int) -> None:
    """The address names the earlier job, so the form is filled in again."""
    training = start_and_cancel(api, "ml/train", {"dataset_id": visits, "target": "age", "intended_use": "A test."})
    page = visit(f"/app/jobs/train?like={training['id']}", language="fr")
    page.locator("button[name=language]").click()
    expect(page.locator("html")).to_have_attribute("lang", "en")
    expect(page.locator("[name=target]")).to_have_value("age")
    expect(page.locator("[name=intended_use]")).to_have_value("A test.")


def test_jobs_are_listed_with_their_datasets(
    visit: Visit, api: httpx2.Client, client: httpx2.Client, visits: int
) -> None:
    """A column to predict does not tell one job from another; a dataset that was deleted is left out."""
    start_and_cancel(api, "ml/train", {"dataset_id": visits, "target": "ill"})
    page = visit("/app/jobs", language="en")
    expect(page.locator(".list small")).to_contain_text("Training · Visits ·")
    api.delete(f"/api/v1/datasets/{visits}")
    assert "Visits" not in client.get("/app/jobs").text


@pytest.mark.slow
def test_all_jobs_are_on_the_pages_of_the_list(client: httpx2.Client, api: httpx2.Client, visits: int) -> None:
    """Even the oldest job can be found without its address, also with the number of a page that does not exist."""
    request = {"dataset_id": visits, "target": "ill"}
    jobs = [api.post("/api/v1/ml/train", json=request).json() for _ in range(51)]
    for job in jobs:
        api.post(f"/api/v1/ml/jobs/{job['id']}/cancel")

    assert 'href="/app/jobs?page=2"' in client.get("/app/jobs").text
    assert f'href="/app/jobs/train/{jobs[0]["id"]}"' in client.get("/app/jobs?page=2").text
    beyond_last_page = client.get("/app/jobs?page=9999", follow_redirects=False)
    assert beyond_last_page.headers["location"] == "/app/jobs?page=2"
    assert "“pag” is unknown" in client.get("/app/jobs?pag=2").text


def test_a_form_keeps_its_fields_if_its_project_was_deleted(
    client: httpx2.Client, api: httpx2.Client, visits: int, project: str
) -> None:
    """A project may be deleted in another tab; the form says so, and can be sent without it."""
    api.delete(f"/api/v1/projects/{project}")
    form = {"dataset_id": str(visits), "target": "ill", "project_id": project, "name": "Kept", "key": str(uuid4())}

    answer = client.post("/app/jobs/train", data=form)

    assert (answer.status_code, "Project not found" in answer.text, 'value="Kept"' in answer.text) == (404, True, True)


def test_a_form_says_that_its_dataset_was_deleted(client: httpx2.Client, api: httpx2.Client, visits: int) -> None:
    """The reader chooses another dataset, and is not told that the record has no file."""
    api.delete(f"/api/v1/datasets/{visits}")

    answer = client.post("/app/jobs/train", data={"dataset_id": str(visits), "target": "ill", "key": str(uuid4())})

    assert (answer.status_code, "Dataset not found" in answer.text) == (404, True)
    assert 'name="dataset_id"' in answer.text
    assert "This record has no data file" not in answer.text


@pytest.mark.slow
def test_models_without_their_data_are_not_offered_for_explanations(
    client: httpx2.Client, api: httpx2.Client, visits: int
) -> None:
    """Explanations need the table, so no page leads to a form that can only be refused."""
    request = {"dataset_id": visits, "target": "ill", "budget": {"max_trials": 1}}
    training_id = api.post("/api/v1/ml/train", json=request).json()["id"]
    while not api.get(f"/api/v1/ml/jobs/{training_id}").json()["done"]:
        time.sleep(0.2)
    explanation_form = f"/app/jobs/explain?job_id={training_id}"
    assert explanation_form in client.get(f"/app/jobs/train/{training_id}").text
    assert training_id in client.get("/app/jobs/explain").text

    api.delete(f"/api/v1/datasets/{visits}")

    assert explanation_form not in client.get(f"/app/jobs/train/{training_id}").text
    assert training_id not in client.get("/app/jobs/explain").text
    assert "The dataset of this model no longer exists" in client.get(explanation_form).text


@pytest.mark.parametrize("path", ["/app/datasets/new", "/app/datasets/import"])
def test_documents_are_imported_below_adding_data(client: httpx2.Client, path: str) -> None:
    """The navigation marks the page that leads to the import, as for a new record."""
    current = re.findall(r'<a href="([^"]+)"[^>]* aria-current="page"', client.get(path).text)
    assert current == ["/app/datasets/new"]


def test_jobs_of_others_are_not_repeated(visit: Visit, server: str, session_cookies: dict[str, str]) -> None:
    """An id that is not one of the reader's own jobs is answered like an address that does not exist."""
    with httpx2.Client(base_url=server, cookies=session_cookies, timeout=60) as client:
        answer = client.get("/app/jobs/train?like=00000000-0000-0000-0000-000000000000")
    assert answer.status_code == 404


@pytest.mark.parametrize(
    ("target", "language", "sentence"),
    [
        ("nope", "en", "The record suggests nope, but the file has no column of this name."),
        ("nope", "fr", "La fiche propose nope, mais le fichier n’a pas de colonne de ce nom."),
        ("age", "en", "The record suggests age."),
    ],
)
def test_a_suggested_column_that_is_not_in_the_file_is_mentioned(
    visit: Visit, api: httpx2.Client, visits: int, target: str, language: str, sentence: str
) -> None:
    """The record may name any column, but the form does not claim to follow a suggestion that it cannot follow."""
    api.patch(f"/api/v1/datasets/{visits}", json={"metadata": {"target": target}})
    page = visit(f"/app/jobs/train?dataset_id={visits}", language=language, theme="auto")
    field = page.locator("section", has=page.locator("[name=target]"))
    expect(field.get_by_text(sentence, exact=True)).to_be_visible()
    expect(field.locator("p", has_text=re.compile("suggests|propose"))).to_have_count(1)


def test_the_page_of_a_dataset_counts_unreadable_values(client: httpx2.Client, api: httpx2.Client) -> None:
    """A column of numbers with a word in it is a column of numbers, and the page says that one value is missing."""
    rows = "\n".join(f"{'ten' if row == 7 else row % 30},x" for row in range(90))
    upload = api.post("/api/v1/files", files={"file": ("words.csv", f"age,kind\n{rows}\n")}).json()
    body = {"name": "Words", "description": "", "file_path": upload["file_path"], "file_type": "csv"}
    dataset = api.post("/api/v1/datasets/", json={**body, "visibility": "private"}).json()
    page = client.get(f"/app/datasets/{dataset['id']}", headers={"Accept-Language": "en"})
    assert (page.status_code, "1 unreadable value<" in page.text) == (200, True)
