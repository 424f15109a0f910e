"""From a public request to a model, a prediction, a chart and an explanation, with the real libraries."""

import hashlib
import html
from typing import Any

import httpx2
import pytest

from tests.serving import Service

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(280)]
COLUMNS = ("size", "colour", "weight", "kind")
# Refusals that depend on the table or the model, and that come before a job is created.
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
    """A user's own table is used for training and explanation, and the results are reproducible and private."""
    async with await service.register("a@example.org") as owner, await service.register("b@example.org") as stranger:
        upload = await owner.post("/api/v1/files", params={"name": "kinds.csv"}, content=table())
        record = {"name": "Kinds", "description": "", "file_path": upload.json()["file_path"], "file_type": "csv"}
        dataset_id = (await owner.post("/api/v1/datasets/", json=record | {"visibility": "private"})).json()["id"]
        project_id = (await owner.post("/api/v1/projects", json={"name": "P"})).json()["id"]
        training_request = {
            "dataset_id": dataset_id,
            "target": "kind",
            "sensitive_features": ["colour"],
            "project_id": project_id,
        }
        training_request |= {"algorithms": ["decision_tree"], "budget": {"max_trials": 2}}

        assert (await stranger.post("/api/v1/ml/train", json=training_request)).status_code == 404
        address = await start(owner, "/api/v1/ml/train", training_request)
        job = await wait_for_job(owner, address)
        assert job["error"] is None
        assert job["inputs"]["sha256"] == hashlib.sha256(table().encode()).hexdigest()
        assert job["result"]["metrics"]["holdout"]
        model = next(file for file in job["artifacts"] if file["name"] == "model.skops")
        content = (await owner.get(f"{address}/artifacts/model.skops")).content
        assert hashlib.sha256(content).hexdigest() == model["sha256"]

        prediction_answer = await owner.post(
            f"{address}/predict", json={"rows": [{"size": 3}, {"size": 58, "colour": "red"}]}
        )
        assert [row["prediction"] for row in prediction_answer.json()["predictions"]] == ["small", "large"], (
            prediction_answer.text
        )
        assert [row["warnings"] for row in prediction_answer.json()["predictions"]] == [[], []]
        unusual_answer = await owner.post(f"{address}/predict", json={"rows": [{"size": 1000, "colour": "blue"}]})
        (unusual_prediction,) = unusual_answer.json()["predictions"]
        assert [warning["code"] for warning in unusual_prediction["warnings"]] == [
            "value_out_of_range",
            "category_unseen",
        ]
        invalid_answer = await owner.post(f"{address}/predict", json={"rows": [{"sise": 3}]})
        assert (invalid_answer.status_code, invalid_answer.json()["errors"][0]["loc"]) == (422, ["body", "rows", 0])
        svg = await owner.get(f"{address}/artifacts/confusion.svg")
        assert svg.content.startswith(b"<svg"), svg.text
        png = await owner.get(f"{address}/artifacts/confusion.png")
        assert png.content.startswith(b"\x89PNG")

        document = (await owner.get("/openapi.json")).json()
        declared_types = document["paths"]["/api/v1/ml/jobs/{job_id}/artifacts/{name}"]["get"]["responses"]["200"][
            "content"
        ]
        files = [await owner.get(f"{address}/artifacts/{file['name']}") for file in job["artifacts"]]
        served_types = {response.headers["content-type"].partition(";")[0] for response in (svg, png, *files)}
        # Generated clients read bytes only where this media type is declared as well.
        assert served_types | {"application/octet-stream"} == set(declared_types)

        repeated_job = await wait_for_job(
            owner, await start(owner, "/api/v1/ml/train", training_request | {"name": "again"})
        )
        assert repeated_job["result"] == job["result"]
        assert {file["sha256"] for file in repeated_job["artifacts"]} == {file["sha256"] for file in job["artifacts"]}

        for change, reason in REFUSED_TRAININGS:
            await assert_refused(owner, "/api/v1/ml/train", training_request | change, reason)
        for change, reason in REFUSED_EXPLANATIONS:
            await assert_refused(owner, "/api/v1/xai/explain", {"job_id": job["id"]} | change, reason)
        explanation_request = {"job_id": job["id"], "instances": {"rows": [0, 79]}, "method": "shap"}
        explanation = await wait_for_job(owner, await start(owner, "/api/v1/xai/explain", explanation_request))
        assert explanation["error"] is None
        assert [len(row["attributions"]) for row in explanation["result"]["local"]] == [3, 3]
        project_jobs = (await owner.get(f"/api/v1/projects/{project_id}/jobs")).json()
        assert [job["kind"] for job in project_jobs] == ["explain", "train", "train"]
        await check_report(owner, project_id, job["result"], explanation["result"]["narrative"])
        assert (await stranger.get(f"/projects/{project_id}/jobs")).status_code == 404
        assert (await stranger.get(address)).status_code == 404


async def check_report(
    client: httpx2.AsyncClient, project_id: str, result: dict[str, Any], narrative: dict[str, str]
) -> None:
    """Check that the report on a project describes its trainings and its explanation, but no rows of their data."""
    path = f"/projects/{project_id}/report"
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


async def assert_refused(client: httpx2.AsyncClient, path: str, body: dict[str, Any], reason: str) -> None:
    answer = await client.post(path, json=body)
    assert (answer.status_code, answer.json()["errors"][0]["type"]) == (422, reason), answer.text


async def start(client: httpx2.AsyncClient, path: str, body: dict[str, Any]) -> str:
    answer = await client.post(path, json=body)
    assert answer.status_code == 202, answer.text
    location: str = answer.headers["location"]
    return location


async def wait_for_job(client: httpx2.AsyncClient, address: str) -> dict[str, Any]:
    await client.get(f"{address}/events")
    job: dict[str, Any] = (await client.get(address)).json()
    return job
