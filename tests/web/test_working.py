"""Running jobs on their pages: their state, their times, and a service that does not respond."""

import re
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import httpx2
import pytest
from playwright.sync_api import Browser, expect

from tests.web.conftest import Visit
from tests.web.page_checks import check_looks
from touchstone.client import Job
from touchstone.client.models import Progress
from touchstone.web.localizer import Localizer
from touchstone.web.views.job_view import format_clock, job_timing

NOW = datetime(2026, 11, 22, 12, 0, tzinfo=UTC)


def make_job(step: int | None = None, total: int = 20, *, phase: str = "searching", **fields: Any) -> Job:
    """Return a job that started 60 seconds ago."""
    progress = None if step is None else Progress(percent=50, phase=phase, step=step, total_steps=total)
    values: dict[str, Any] = {
        "id": uuid4(),
        "kind": "train",
        "status": "running",
        "done": False,
        "progress": progress,
        "created_at": NOW - timedelta(seconds=90),
        "started_at": NOW - timedelta(seconds=60),
    }
    return Job(**values | fields)


@pytest.mark.parametrize(
    ("job", "remaining"),
    [
        (make_job(10), "60 seconds"),
        (make_job(15), "20 seconds"),
        (make_job(2), None),  # too few trials to know their pace
        (make_job(20), None),
        (make_job(10, phase="evaluating"), None),
        (make_job(None), None),
        (make_job(10, request={"budget": {"max_runtime_seconds": 90}}), "30 seconds"),
        (make_job(10, status="cancelling"), None),
    ],
)
def test_the_time_left_is_said_only_when_it_is_known(job: Job, remaining: str | None) -> None:
    """The time for a search is estimated from its trials and its budget; no other time is estimated."""
    timing = job_timing(job, localizer=Localizer("en"), now=NOW)
    assert (timing.elapsed, timing.remaining) == ("1:00", remaining)


def test_a_waiting_job_counts_from_its_request() -> None:
    """The time is counted from the request, because nothing has started yet."""
    timing = job_timing(make_job(status="queued", started_at=None), localizer=Localizer("fr"), now=NOW)
    assert (timing.is_waiting, timing.elapsed, timing.remaining) == (True, "1:30", None)
    assert format_clock(3725) == "1:02:05"


@pytest.fixture
def training(api: httpx2.Client) -> Iterator[str]:
    """Start a training that runs until it is stopped, and return its id."""
    rows = "\n".join(f"{number % 97},{number % 31},{number % 7},{(number * 7919) % 2}" for number in range(30_000))
    upload = api.post("/api/v1/files", files={"file": ("long.csv", f"a,b,c,y\n{rows}")}).json()
    record = {"name": "long", "description": "", "file_path": upload["file_path"], "file_type": "csv"}
    dataset_id = api.post("/api/v1/datasets/", json=record).json()["id"]
    request = {"dataset_id": dataset_id, "target": "y", "budget": {"max_trials": 60}, "split": {"strategy": "kfold"}}
    answer = api.post("/api/v1/ml/train", json=request)
    assert answer.status_code == 202, answer.text
    yield answer.json()["id"]
    api.post(f"/api/v1/ml/jobs/{answer.json()['id']}/cancel")


def wait_until_running(api: httpx2.Client, training: str) -> None:
    """Wait until the training is running."""
    for _ in range(600):
        if api.get(f"/api/v1/ml/jobs/{training}").json()["status"] == "running":
            return
        threading.Event().wait(0.1)
    raise AssertionError("the training never ran")


def test_the_badge_and_the_clock_follow_a_job(visit: Visit, api: httpx2.Client, training: str) -> None:
    """A page that was opened while the job was waiting shows when it starts, and so does the list."""
    page, jobs_page = (visit(path, language="en") for path in (f"/app/jobs/train/{training}", "/app/jobs"))
    wait_until_running(api, training)
    expect(page.locator("#state")).to_have_text("in progress", timeout=30_000)
    expect(page.locator("#times")).to_contain_text("Running for")
    expect(page).to_have_title("Predict y: in progress · Touchstone")
    expect(jobs_page.locator(".job-now").first).to_contain_text(re.compile(r"in progress \d+:\d\d"), timeout=30_000)
    first_time = page.locator("#times [data-seconds]").inner_text()
    assert re.fullmatch(r"\d+:\d\d", first_time)
    expect(page.locator("#times [data-seconds]")).not_to_have_text(first_time, timeout=5_000)
    assert api.post(f"/api/v1/ml/jobs/{training}/cancel").status_code in (200, 202)
    expect(page.locator("#progress")).to_have_count(0, timeout=30_000)
    expect(page).to_have_title("Predict y: cancelled · Touchstone")
    expect(jobs_page.locator(".job-now").first).to_have_text("cancelled", timeout=30_000)
    expect(jobs_page.locator("progress")).to_have_count(0)


def test_the_events_of_a_job_that_has_ended_stop_browsers(api: httpx2.Client, client: httpx2.Client) -> None:
    """A browser reconnects after each end of a stream, unless the status is 204."""
    datasets = api.get("/api/v1/datasets/", params={"dataset_name": "penguins", "trainable": "true"}).json()
    explanation = api.post("/api/v1/xai/explain", json={"dataset_id": datasets[0]["id"]}).json()["id"]
    address = f"/app/jobs/explain/{explanation}/events"
    api.post(f"/api/v1/xai/jobs/{explanation}/cancel")

    stream = client.get(address)
    *_, last_id = re.findall(r"^id: (\d+)", stream.text, re.MULTILINE)
    repeated = client.get(address, headers={"Last-Event-ID": last_id})
    assert (stream.status_code, repeated.status_code, repeated.content) == (200, 204, b"")


def test_a_running_job_is_shown_well(visit: Visit, api: httpx2.Client, training: str) -> None:
    """Its page and the list fit every width and are accessible in both themes."""
    wait_until_running(api, training)
    for path in (f"/app/jobs/train/{training}", "/app/jobs"):
        page = visit(path, theme="auto")
        check_looks(page)
        page.context.close()


def test_a_job_page_says_when_the_service_is_away(
    browser: Browser, server: str, session_cookies: dict[str, str], api: httpx2.Client, training: str
) -> None:
    """The page reports this, keeps what it shows, and continues by itself when the service is back."""
    wait_until_running(api, training)
    context = browser.new_context(base_url=server)
    cookies = session_cookies | {"touchstone_language": "en"}
    context.add_cookies([{"name": n, "value": v, "url": f"{server}/app/"} for n, v in cookies.items()])
    page = context.new_page()
    page.goto(f"/app/jobs/train/{training}")
    addresses = re.compile("/app/jobs")
    page.route(addresses, lambda route: route.fulfill(status=503, body=""))
    expect(page.locator("#unreachable")).to_be_visible(timeout=30_000)
    expect(page.locator("#unreachable")).to_contain_text("The service does not answer")
    expect(page.locator("#progress")).to_be_visible()
    page.unroute(addresses)
    expect(page.locator("#unreachable")).to_be_hidden(timeout=30_000)
    context.close()


def test_without_scripts_a_running_job_has_its_times(visit: Visit, api: httpx2.Client, training: str) -> None:
    """The page reloads itself, and shows the current state and time."""
    page = visit(f"/app/jobs/train/{training}", language="en", scripts=False)
    wait_until_running(api, training)
    expect(page.locator("#state")).to_have_text("in progress", timeout=30_000)
    expect(page.locator("#times")).to_contain_text(re.compile(r"Running for \d+:\d\d"))
