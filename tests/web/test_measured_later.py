"""The page of a record whose file takes longer to measure than a request waits."""

import time
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest
from playwright.sync_api import expect

from tests.serving_process import ServingProcess
from tests.web.conftest import Visit
from tests.web.page_checks import check_looks

COLUMNS = 2_000
ROWS = 1_500  # It takes seconds to measure so many columns, and the page is visited meanwhile.


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Serve the product so that no request waits for a measurement, and return its address."""
    serving = ServingProcess(tmp_path_factory.mktemp("later"), TOUCHSTONE_PROFILE_WAIT_SECONDS="0.001").start()
    yield serving.address
    serving.stop()


@pytest.fixture
def wide_table(api: httpx2.Client) -> str:
    """Upload a table of many columns, and return its path."""
    header = ",".join(f"c{number}" for number in range(COLUMNS))
    rows = (",".join(str((row * number) % 997) for number in range(COLUMNS)) for row in range(ROWS))
    files = {"file": ("wide.csv", "\n".join([header, *rows]))}
    path: str = api.post("/api/v1/files", files=files).json()["file_path"]
    return path


def metadata_of(api: httpx2.Client, dataset_id: int) -> dict[str, Any]:
    """Return what is known about the file of a record."""
    metadata: dict[str, Any] = api.get(f"/api/v1/datasets/{dataset_id}").json()["metadata"] or {}
    return metadata


def test_a_page_says_that_its_file_is_being_measured(visit: Visit, api: httpx2.Client, wide_table: str) -> None:
    """Until the profile is there, a notice in the reader's language takes its place; then the columns appear."""
    body = {"name": "Wide", "description": "", "visibility": "private", "file_path": wide_table, "file_type": "csv"}
    dataset_id = api.post("/api/v1/datasets/", json=body).json()["id"]
    page = visit(f"/app/datasets/{dataset_id}", language="en")
    notice = page.locator(".notice[role=status]")
    expect(notice).to_have_text("The file is being read: its profile will appear here. Reload the page in a moment.")
    check_looks(page)
    french_page = visit(f"/app/datasets/{dataset_id}", language="fr", scripts=False)
    expect(french_page.locator(".notice[role=status]")).to_contain_text("Le fichier est en cours de lecture")

    while metadata_of(api, dataset_id).get("unmeasured") == "in_progress":
        time.sleep(0.2)
    assert metadata_of(api, dataset_id)["measured"]["columns"] == COLUMNS
    page.reload()
    expect(page.locator("h1")).to_have_text("Wide")
    expect(notice).to_have_count(0)
