"""The comparison of models on the page of a project, beside the ranking."""

from typing import Any

import httpx2
import pytest
from playwright.sync_api import expect

from tests.web.conftest import Visit
from tests.web.page_checks import check_looks
from touchstone.learning.comparison_request import DatasetOptions

# The target of the first table can be learned; that of the second one does not depend on anything.
TABLES = {
    "Learnable": "\n".join(f"{row % 13},{row % 4},{int(row % 13 > 6)}" for row in range(120)),
    "Random": "\n".join(f"{row % 13},{row % 4},{row * row * 7 % 31 % 2}" for row in range(120)),
}


@pytest.fixture
def project(api: httpx2.Client, email: str) -> str:
    """Return the address of a project whose ranking consists of both tables and a record without one."""
    for name, rows in TABLES.items():
        upload = api.post("/api/v1/files", files={"file": ("table.csv", f"hours,coffee,passed\n{rows}\n")})
        create_record(api, f"{name} {email}", file_path=upload.json()["file_path"], file_type="csv")
    create_record(api, f"Bare {email}", file_path="", file_type="")

    body = {"name": "Exams", "criteria": {"dataset_name": email}, "weights": [{"criterion_name": "year", "weight": 1}]}
    return f"/app/projects/{api.post('/api/v1/projects', json=body).json()['id']}"


def create_record(api: httpx2.Client, name: str, **file: str) -> None:
    """Create a private record, so that other tests do not see it."""
    body: dict[str, Any] = {"name": name, "description": "", "visibility": "private", **file}
    answer = api.post("/api/v1/datasets/", json=body)
    assert answer.status_code == 201, answer.text


def test_the_tables_of_a_ranking_are_compared(visit: Visit, project: str, email: str) -> None:
    """The form starts a training on each table, and the page shows their scores, also beside the ranking."""
    page = visit(project, language="en")
    form = page.locator("form", has=page.get_by_role("button", name="Start the comparison"))
    form.get_by_label("Column to predict").fill("passed")
    form.get_by_label("Trials").fill("1")
    form.get_by_role("button", name="Start the comparison").click()

    panel = page.locator("section", has=page.get_by_role("heading", name="Which of them gives the best model?"))
    expect(panel.locator("tbody tr")).to_have_count(2)
    expect(panel.locator("p.prose")).to_contain_text(f"“Learnable {email}” gives the best model", timeout=60_000)
    expect(panel.locator("tr.pinned")).to_contain_text("succeeded")

    page.reload()
    expect(page.locator(".bars li", has_text="Learnable")).to_contain_text("model no. 1: Balanced accuracy")
    check_looks(page)


@pytest.mark.parametrize(
    ("language", "summary", "label"),
    [
        ("en", "Columns and classes of one table", "Columns to leave out"),
        ("fr", "Colonnes et classes d’un seul tableau", "Colonnes à écarter"),
    ],
)
def test_one_table_has_options_of_its_own(
    visit: Visit, project: str, email: str, api: httpx2.Client, language: str, summary: str, label: str
) -> None:
    """The form has a field for each option of a single dataset, and what is entered reaches its training alone."""
    page = visit(project, language=language)
    form = page.locator("form", has=page.locator("input[value=compare]"))
    form.locator("summary", has_text=summary).click()
    form.locator("summary", has_text=f"Learnable {email}").click()
    table = form.locator("details details", has=page.locator("summary", has_text=f"Learnable {email}"))
    assert table.locator("input").count() == len(DatasetOptions.__struct_fields__)
    table.get_by_label(label).fill("coffee")
    form.locator("input[name=target]").fill("passed")
    form.locator("input[name=max_trials]").fill("1")
    check_looks(page)
    form.locator("button").click()

    expect(page.locator("table.models tbody tr")).to_have_count(2)
    [comparison] = api.get("/api/v1/ml/compare?page=1").json()["comparisons"]
    [options] = comparison["request"]["by_dataset"].values()
    assert options["features"]["exclude"] == ["coffee"]
    requests = [api.get(f"/api/v1/ml/jobs/{item['job_id']}").json()["request"] for item in comparison["datasets"]]
    assert sorted(request["features"]["exclude"] for request in requests) == [[], ["coffee"]]
