"""The form that starts a training: a preview of the split, and options that are sent as they were entered."""

import httpx2
import pytest
from playwright.sync_api import expect

from tests.web.conftest import Visit
from tests.web.page_checks import check_looks


@pytest.fixture
def visits(api: httpx2.Client) -> int:
    """Create a private table of twenty patients with six visits each, and return the id of its record."""
    rows = "\n".join(f"p{row // 6},{row // 6 * 3 + row % 2},{row * 7 % 11},{row // 6 % 2}" for row in range(120))
    table = f"patient,age,pulse,ill\n{rows}\n"
    upload = api.post("/api/v1/files", files={"file": ("visits.csv", table)}).json()
    body = {"name": "Visits", "description": "", "file_path": upload["file_path"], "file_type": "csv"}
    dataset_id: int = api.post("/api/v1/datasets/", json={**body, "visibility": "private"}).json()["id"]
    return dataset_id


def test_the_split_is_shown_before_the_training_starts(visit: Visit, api: httpx2.Client, visits: int) -> None:
    """A preview keeps what was entered and starts nothing; the options arrive in the request of the job."""
    page = visit(f"/app/jobs/train?dataset_id={visits}&target=ill", language="en")
    page.get_by_label("whole groups").check()
    page.get_by_label("Group column").select_option("patient")
    page.get_by_text("Advanced settings").click()
    page.get_by_label("Trials").fill("1")
    page.get_by_label("Learn again from all rows").check()
    page.get_by_label("Positive class").fill("1")
    page.get_by_label("Cost of a false alarm").fill("1")
    page.get_by_label("Cost of a miss").fill("2,5")
    page.get_by_role("button", name="See the split first").click()

    preview = page.get_by_role("status", name="How the rows would be divided")
    expect(preview).to_contain_text("patient")
    expect(preview).to_contain_text("rows to learn from")
    check_looks(page, thorough=False)
    assert api.get("/api/v1/ml/jobs").json() == []

    page.get_by_role("button", name="Start the training").click()
    page.wait_for_url("**/app/jobs/train/*")
    [job] = api.get("/api/v1/ml/jobs").json()
    request = job["request"]
    assert (request["split"]["strategy"], request["split"]["group_column"]) == ("group", "patient")
    assert (request["budget"]["max_trials"], request["refit"], request["positive_class"]) == (1, True, 1)
    assert request["threshold"]["cost"] == {"fp": 1, "fn": 2.5}
