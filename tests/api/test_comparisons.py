"""Comparisons of trainings through the public API, on every database and topology."""

import asyncio
from typing import Any

import httpx2

from tests.serving import Service

TABLE = "hours,coffee,passed\n" + "".join(f"{row % 13},{row % 4},{int(row % 13 > 6)}\n" for row in range(60))


async def create_table(user: httpx2.AsyncClient, name: str, year: int) -> int:
    """Upload a table, create its record, and return the id of the record."""
    upload = (await user.post("/api/v1/files", files={"file": ("exam.csv", TABLE)})).json()
    body = {"name": name, "description": "", "file_path": upload["file_path"], "file_type": "csv", "year": year}
    answer = await user.post("/api/v1/datasets/", json={**body, "metadata": {"target": "passed"}})
    dataset_id: int = answer.json()["id"]
    return dataset_id


async def wait_for_comparison(user: httpx2.AsyncClient, address: str) -> dict[str, Any]:
    """Wait until the trainings of a comparison have ended, and return the comparison."""
    while True:
        comparison: dict[str, Any] = (await user.get(address)).json()
        if comparison["done"]:
            return comparison
        await asyncio.sleep(0.1)


async def test_the_first_tables_of_a_project_are_trained_on(service: Service) -> None:
    """The trainings use the targets that the records suggest, follow the ranking, and end when they are cancelled."""
    user = await service.register("ada@example.org")
    older_id, newer_id = await create_table(user, "Older", 2001), await create_table(user, "Newer", 2020)
    body = {"name": "Exams", "weights": [{"criterion_name": "year", "weight": 1}]}
    project_id = (await user.post("/api/v1/projects", json=body)).json()["id"]

    answer = await user.post("/api/v1/ml/compare", json={"project_id": project_id, "seed": 3})
    assert answer.status_code == 202, answer.text
    comparison = answer.json()
    address = answer.headers["location"]
    assert address == f"/api/v1/ml/compare/{comparison['id']}"
    assert [(item["dataset_id"], item["rank"]) for item in comparison["datasets"]] == [(newer_id, 1), (older_id, 2)]
    assert {item["target"] for item in comparison["datasets"]} == {"passed"}

    assert (await user.post(f"{address}/cancel")).status_code == 200
    ended_comparison = await wait_for_comparison(user, address)
    assert {item["status"] for item in ended_comparison["datasets"]} <= {"cancelled", "succeeded"}
    assert (await user.delete(address)).status_code == 204
    assert (await user.get("/api/v1/ml/compare", params={"project_id": project_id})).json() == []
