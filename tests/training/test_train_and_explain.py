"""From a public request to a model, a prediction, a chart and an explanation, with the real libraries."""

import hashlib
import html
from typing import Any

import httpx2
import pytest

from tests.serving import Service

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(280)]
COLUMNS = ("size", "colour", "weight", "kind")
# What only the table or the model can tell, and is told before there is a job.
REFUSED_TRAININGS: tuple[tuple[dict[str, Any], str], ...] = (
    ({"task": "regression"}, "target_not_numeric"),
    ({"metric": "r2"}, "target_not_numeric"),
    ({"target": "size", "task": "classification", "metric": "r2"}, "metric_task_mismatch"),
)
REFUSED_EXPLANATIONS: tuple[tuple[dict[str, Any], str], ...] = (
    ({"instances": {"values": [{"size": 3}, {"sise": 3}]}}, "row_column_unknown"),
    ({"instances": {"values": [{"size": "big"}]}}, "row_value_invalid"),
    ({"instances": {"rows": [180]}}, "row_out_of_range"),
    ({"target_class": "medium"}, "class_not_found"),
)


def table() -> str:
    """Return rows whose class depends on their size, with a missing value and an irrelevant colour."""
    sizes = [n * 7 % 61 for n in range(180)]
    rows = [
        f"{size},{('red', 'green', '?')[n % 3]},{n % 13},{'large' if size > 30 else 'small'}"
        for n, size in enumerate(sizes)
    ]
    return "\n".join([",".join(COLUMNS), *rows])


async def test_from_upload_to_explanation(service: Service) -> None:
    """A user's own table is used for training and explanation, with reproducible results that nobody else can see."""
    async with await service.register("a@example.org") as person, await service.register("b@example.org") as other:
        sent = await person.post("/api/v1/files", params={"name": "kinds.csv"}, content=table())
        record = {"name": "Kinds", "description": "", "file_path": sent.json()["file_path"], "file_type": "csv"}
        dataset = (await person.post("/api/v1/datasets/", json=record | {"visibility": "private"})).json()["id"]
        project = (await person.post("/api/v1/projects", json={"name": "P"})).json()["id"]
        order = {"dataset_id": dataset, "target": "kind", "sensitive_features": ["colour"], "project_id": project}
        order |= {"algorithms": ["decision_tree"], "budget": {"max_trials": 2}}

        assert (await other.post("/api/v1/ml/train", json=order)).status_code == 404
        address = await start(person, "/api/v1/ml/train", order)
        job = await ended(person, address)
        assert job["error"] is None
        assert job["inputs"]["sha256"] == hashlib.sha256(table().encode()).hexdigest()
        assert job["result"]["metrics"]["holdout"]
        model = next(file for file in job["artifacts"] if file["name"] == "model.skops")
        kept = (await person.get(f"{address}/artifacts/model.skops")).content
        assert hashlib.sha256(kept).hexdigest() == model["sha256"]

        predicted = await person.post(f"{address}/predict", json={"rows": [{"size": 3}, {"size": 58, "colour": "red"}]})
        assert [row["prediction"] for row in predicted.json()["predictions"]] == ["small", "large"], predicted.text
        assert [row["warnings"] for row in predicted.json()["predictions"]] == [[], []]
        guessed = await person.post(f"{address}/predict", json={"rows": [{"size": 1000, "colour": "blue"}]})
        (guess,) = guessed.json()["predictions"]
        assert [warning["code"] for warning in guess["warnings"]] == ["value_out_of_range", "category_unseen"]
        unknown = await person.post(f"{address}/predict", json={"rows": [{"sise": 3}]})
        assert (unknown.status_code, unknown.json()["errors"][0]["loc"]) == (422, ["body", "rows", 0])
        svg = await person.get(f"{address}/artifacts/confusion.svg")
        assert svg.content.startswith(b"<svg"), svg.text
        png = await person.get(f"{address}/artifacts/confusion.png")
        assert png.content.startswith(b"\x89PNG")

        document = (await person.get("/openapi.json")).json()
        declared = document["paths"]["/api/v1/ml/jobs/{job_id}/artifacts/{name}"]["get"]["responses"]["200"]["content"]
        files = [await person.get(f"{address}/artifacts/{file['name']}") for file in job["artifacts"]]
        answered = {one.headers["content-type"].partition(";")[0] for one in (svg, png, *files)}
        # Generated clients read bytes only where this media type is declared as well.
        assert answered | {"application/octet-stream"} == set(declared)

        again = await ended(person, await start(person, "/api/v1/ml/train", order | {"name": "again"}))
        assert again["result"] == job["result"]
        assert {file["sha256"] for file in again["artifacts"]} == {file["sha256"] for file in job["artifacts"]}

        for change, reason in REFUSED_TRAININGS:
            await refused(person, "/api/v1/ml/train", order | change, reason)
        for change, reason in REFUSED_EXPLANATIONS:
            await refused(person, "/api/v1/xai/explain", {"job_id": job["id"]} | change, reason)
        wanted = {"job_id": job["id"], "instances": {"rows": [0, 79]}, "method": "shap"}
        explained = await ended(person, await start(person, "/api/v1/xai/explain", wanted))
        assert explained["error"] is None
        assert [len(row["attributions"]) for row in explained["result"]["local"]] == [3, 3]
        listed = (await person.get(f"/api/v1/projects/{project}/jobs")).json()
        assert [job["kind"] for job in listed] == ["explain", "train", "train"]
        await check_report(person, project, job["result"], explained["result"]["narrative"])
        assert (await other.get(f"/projects/{project}/jobs")).status_code == 404
        assert (await other.get(address)).status_code == 404


async def check_report(
    client: httpx2.AsyncClient, project: str, result: dict[str, Any], narrative: dict[str, str]
) -> None:
    """Check that the report on a project describes its trainings and its explanation, but no rows of their data."""
    path = f"/projects/{project}/report"
    report = (await client.get(path, params={"format": "json"})).json()["report"]
    assert [training["name"] for training in report["trainings"]] == ["again", None]
    assert report["trainings"][0]["dataset_name"] == "Kinds"
    assert [column["column"] for column in report["trainings"][0]["group_metrics"]] == ["colour"]
    bias = next(point for point in report["evidence"]["ai_act"] if point["point"] == "ai_act_f")
    assert (bias["has_evidence"], bias["parts"]) == (True, ["group_metrics"])

    for locale in ("fr", "en"):
        page = (await client.get(path, params={"lang": locale})).text
        model_paragraph, *row_paragraphs = narrative[locale].splitlines()
        assert model_paragraph in html.unescape(page)
        assert len(row_paragraphs) == 2
        assert not any(paragraph in html.unescape(page) for paragraph in row_paragraphs)
        assert result["split"]["reason"]["text"][locale] in html.unescape(page)
        assert result["decision"]["text"][locale] in html.unescape(page)
    assert (await client.get(path, params={"format": "pdf"})).content.startswith(b"%PDF-")


async def refused(client: httpx2.AsyncClient, path: str, order: dict[str, Any], reason: str) -> None:
    answer = await client.post(path, json=order)
    assert (answer.status_code, answer.json()["errors"][0]["type"]) == (422, reason), answer.text


async def start(client: httpx2.AsyncClient, path: str, order: dict[str, Any]) -> str:
    answer = await client.post(path, json=order)
    assert answer.status_code == 202, answer.text
    location: str = answer.headers["location"]
    return location


async def ended(client: httpx2.AsyncClient, address: str) -> dict[str, Any]:
    await client.get(f"{address}/events")
    job: dict[str, Any] = (await client.get(address)).json()
    return job
