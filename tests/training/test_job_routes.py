"""Both job backends as their callers see them, on both databases, with tasks that do almost nothing."""

import asyncio
import json
from typing import Any
from uuid import UUID, uuid4

import httpx2
import pytest

from tests.training.conftest import Backends

pytestmark = pytest.mark.anyio
TRAINING_REQUEST: dict[str, Any] = {"dataset_id": 1, "target": "0"}


async def test_training_from_start_to_artifacts(backends: Backends) -> None:
    """The response to a start is 202 with the address of a job, which produces a result, artifacts and charts."""
    async with backends.client() as client:
        answer = await client.post("/train", json=TRAINING_REQUEST | {"name": " mine "})
        job = answer.json()
        assert answer.status_code == 202
        assert answer.headers["location"] == f"/jobs/{job['id']}"
        assert answer.headers["retry-after"] == "1"
        assert (job["job_id"], job["done"], job["name"]) == (job["id"], False, "mine")
        assert job["status"] in ("queued", "running")  # a worker may have claimed the job already
        final_job = await backends.wait_for_job(job["id"])
        assert (final_job["status"], final_job["error"], final_job["progress"]["percent"]) == ("succeeded", None, 100)
        assert final_job["inputs"]["rows"] == 40
        assert final_job["inputs"]["columns"] == 5
        assert final_job["result"]["data"].startswith("0,a")
        (model,) = final_job["artifacts"]
        file = await client.get(f"/jobs/{job['id']}/artifacts/model.skops")
        assert (file.content, file.headers["etag"]) == (b"a model", f'"{model["sha256"]}"')
        assert file.headers["accept-ranges"] == "none"
        chart = await client.get(f"/jobs/{job['id']}/artifacts/confusion.svg", headers={"Accept-Language": "en"})
        assert (chart.content, chart.headers["content-type"]) == (b"svg Matrix", "image/svg+xml")
        for name in ("other", "confusion.gif", "confusion", "other.png", "%2e%2e", "model.skops.svg"):
            assert (await client.get(f"/jobs/{job['id']}/artifacts/{name}")).status_code in (404, 405), name


async def test_explanation_of_a_training(backends: Backends) -> None:
    """An explanation uses the table and the model of the training, and belongs to the same project."""
    project_id = str(uuid4())
    backends.selection.projects[project_id] = backends.user
    async with backends.client() as client:
        training = (await client.post("/train", json=TRAINING_REQUEST | {"project_id": project_id})).json()
        await backends.wait_for_job(training["id"])
        async with backends.client(service="explanation") as explanation_client:
            answer = await explanation_client.post("/explain", json={"job_id": training["id"]})
            assert answer.status_code == 202, answer.text
            assert answer.headers["location"] == f"/jobs/{answer.json()['id']}"
        explanation = await backends.wait_for_job(answer.json()["id"], service="explanation")
        assert explanation["parent_job_id"] == training["id"]
        assert explanation["project_id"] == project_id
        assert explanation["result"]["files"]["model"] == "a model"
        project_jobs = (await client.get(f"/projects/{project_id}/jobs")).json()
        assert [job["kind"] for job in project_jobs] == ["explain", "train"]
        assert (await client.get("/jobs", params={"project_id": project_id})).json()[0]["id"] == training["id"]
        prediction_answer = await client.post(f"/jobs/{training['id']}/predict", json={"rows": [{"a": 1}, {"a": None}]})
        assert [row["prediction"] for row in prediction_answer.json()["predictions"]] == ["a model"] * 2


async def test_a_model_that_is_gone(backends: Backends) -> None:
    """If the model of a training is deleted meanwhile, explanations and predictions fail with this reason."""
    async with backends.client() as client, backends.client(service="explanation") as explanation_client:
        training_id = (await client.post("/train", json=TRAINING_REQUEST)).json()["id"]
        await backends.wait_for_job(training_id)
        running_ids = [
            (await client.post("/train", json=TRAINING_REQUEST | {"target": "30"})).json()["id"] for _ in range(2)
        ]
        explanation_id = (await explanation_client.post("/explain", json={"job_id": training_id})).json()["id"]
        await backends.jobs.artifact_store.delete_job(UUID(training_id))
        answer = await client.post(f"/jobs/{training_id}/predict", json={"rows": []})
        assert (answer.status_code, answer.json()["code"]) == (404, "model_gone")
        assert (await client.delete(f"/jobs/{training_id}")).status_code == 204
        for running_id in running_ids:
            await client.post(f"/jobs/{running_id}/cancel")
        explanation_client.headers["Accept-Language"] = "en"
        await backends.wait_for_job(explanation_id, service="explanation")
        error = (await explanation_client.get(f"/jobs/{explanation_id}")).json()["error"]
    assert error == {
        "code": "model_gone",
        "message": "The model no longer exists: its training job was deleted",
        "phase": "reading",
    }


async def test_explanation_of_a_dataset(backends: Backends) -> None:
    """A `dataset_id` is enough for an explanation without a model."""
    async with backends.client(service="explanation") as client:
        answer = await client.post("/explain", json={"dataset_id": 1, "target": "0"})
        assert answer.status_code == 202, answer.text
        explanation = await backends.wait_for_job(answer.json()["id"], service="explanation")
    assert set(explanation["result"]["files"]) == {"data"}


@pytest.mark.parametrize(
    ("change", "status", "code", "reason"),
    [
        ({"dataset_id": 99}, 404, "dataset_not_found", None),
        ({"dataset_id": "0" * 8 + "-0000-4000-8000-" + "0" * 12}, 404, "dataset_not_found", None),
        ({"dataset_id": 2}, 422, "data_file_unreadable", "no_table"),
        ({"dataset_id": 5}, 422, "data_file_unreadable", "no_table"),
        ({"dataset_id": 3}, 422, "invalid_job_request", "file_not_readable_safely"),
        ({"dataset_id": 4}, 422, "invalid_job_request", "file_not_readable_safely"),
        ({"project_id": str(uuid4())}, 404, "project_not_found", None),
        ({"project_id": "mine"}, 404, "project_not_found", None),
        ({"project_id": ""}, 422, "validation_error", "string_too_short"),
        ({"target": "price"}, 422, "invalid_job_request", "target_not_found"),
        ({"target": "same"}, 422, "invalid_job_request", "target_one_class"),
        ({"features": {"exclude": ["0"]}}, 422, "invalid_job_request", "target_excluded"),
        ({"sensitive_features": ["sex"]}, 422, "invalid_job_request", "column_not_found"),
        ({"algorithms": ["magic"]}, 422, "invalid_job_request", "unknown_algorithm"),
        ({"metric": "r2", "task": "classification"}, 422, "invalid_job_request", "metric_task_mismatch"),
        ({"split": {"strategy": "time"}}, 422, "invalid_job_request", "time_column_missing"),
        ({"budget": {"max_trials": 0}}, 422, "validation_error", "greater_than_equal"),
        ({"budgets": {}}, 422, "unknown_name", "unknown_name"),
        ({"dataset_id": None}, 422, "validation_error", None),
        ({"dataset_id": 2**31}, 422, "validation_error", None),
        ({"dataset_id": "1/../2"}, 422, "validation_error", "dataset_key"),
        ({"seed": True}, 422, "validation_error", "int_type"),
        ({"target": "a\x00"}, 422, "validation_error", "unclean_text"),
    ],
)
async def test_what_cannot_work_is_refused_beforehand(
    backends: Backends, change: dict[str, Any], status: int, code: str, reason: str | None
) -> None:
    """Requests that are known to fail are rejected before a job exists, with the field and the reason."""
    async with backends.client() as client:
        answer = await client.post("/train", json=TRAINING_REQUEST | change)
        assert (answer.status_code, answer.json()["code"]) == (status, code), answer.text
        if reason:
            assert answer.json()["errors"][0]["type"] == reason
        assert (await client.get("/jobs")).json() == []


async def test_refusals_speak_the_callers_language(backends: Backends) -> None:
    """Error messages are in French by default and in English on request, and suggest the most similar column."""
    async with backends.client() as client:
        for language, phrase in (("", "n’est pas dans le fichier"), ("en", "is not in the file")):
            answer = await client.post(
                "/train", json=TRAINING_REQUEST | {"target": "sam"}, headers={"Accept-Language": language}
            )
            assert phrase in answer.json()["detail"]
            assert "same" in answer.json()["detail"]
            assert answer.json()["errors"][0]["loc"] == ["body", "target"]


@pytest.mark.parametrize(
    ("change", "suggestion"),
    [
        ({"algorithms": ["liner"]}, "nearest name: “linear”"),
        ({"metric": "acuracy"}, "nearest name: “accuracy”"),
        ({"algorithms": ["magic"]}, "“magic” is not a known algorithm"),
    ],
)
async def test_refusals_of_unknown_algorithms_and_metrics_suggest_the_nearest_name(
    backends: Backends, change: dict[str, Any], suggestion: str
) -> None:
    """A name that resembles a known one is answered with the known one."""
    async with backends.client() as client:
        answer = await client.post("/train", json=TRAINING_REQUEST | change, headers={"Accept-Language": "en"})
        assert (answer.status_code, suggestion in answer.json()["detail"]) == (422, True), answer.text


async def test_only_a_training_that_succeeded_is_explained_and_predicts(backends: Backends) -> None:
    """A training that has not succeeded has no model."""
    async with backends.client() as client, backends.client(service="explanation") as explanation_client:
        running_id = (await client.post("/train", json=TRAINING_REQUEST | {"target": "30"})).json()["id"]
        for answer in (
            await explanation_client.post("/explain", json={"job_id": running_id}),
            await client.post(f"/jobs/{running_id}/predict", json={"rows": []}),
        ):
            assert (answer.status_code, answer.json()["code"]) == (409, "job_not_succeeded")


async def _start_when_possible(client: httpx2.AsyncClient) -> httpx2.Response:
    """Start a training, and try again as long as a busy machine keeps the service from answering in time."""
    answer = await client.post("/train", json=TRAINING_REQUEST)
    while answer.status_code == 503:
        await asyncio.sleep(int(answer.headers["Retry-After"]))
        answer = await client.post("/train", json=TRAINING_REQUEST)
    return answer


async def test_same_key_starts_one_job(backends: Backends) -> None:
    """Fifty concurrent starts with one key create one job, and the key is refused for another request."""
    async with backends.client() as client:
        client.headers["Idempotency-Key"] = "once"
        answers = await asyncio.gather(*(_start_when_possible(client) for _ in range(50)))
        assert {answer.status_code for answer in answers} == {202}
        assert len({answer.json()["id"] for answer in answers}) == 1
        conflict = await client.post("/train", json=TRAINING_REQUEST | {"seed": 1})
        assert (conflict.status_code, conflict.json()["code"]) == (409, "idempotency_conflict")
    for key in ("", "x" * 256, "é"):
        async with backends.client() as client:
            headers = [(b"Idempotency-Key", key.encode("latin-1"))]
            assert (await client.post("/train", json=TRAINING_REQUEST, headers=headers)).status_code == 422, key


async def test_cancel_and_delete(backends: Backends) -> None:
    """A job is cancelled, cancelled again without effect, and deleted once it has ended."""
    async with backends.client() as client:
        address = f"/jobs/{(await client.post('/train', json=TRAINING_REQUEST | {'target': '30'})).json()['id']}"
        assert (await client.delete(address)).json()["code"] == "job_not_final"
        assert (await client.post(f"{address}/cancel")).status_code == 200
        final_job = await backends.wait_for_job(address.removeprefix("/jobs/"))
        assert (final_job["status"], final_job["result"]) == ("cancelled", None)
        assert (await client.post(f"{address}/cancel")).json()["status"] == "cancelled"
        assert (await client.delete(address)).status_code == 204
        assert (await client.get(address)).status_code == 404
        assert (await client.delete(address)).status_code == 404


async def test_foreign_jobs_are_answered_like_missing_ones(backends: Backends) -> None:
    """On every route, foreign, malformed and missing ids get the same response, byte for byte."""
    async with backends.client() as client:
        existing_id = (await client.post("/train", json=TRAINING_REQUEST)).json()["id"]
    await backends.wait_for_job(existing_id)
    async with backends.client(uuid4()) as client, backends.client(service="explanation") as explanation_client:
        for method, path in (
            ("GET", ""),
            ("DELETE", ""),
            ("POST", "/cancel"),
            ("GET", "/events"),
            ("GET", "/artifacts/model.skops"),
            ("POST", "/predict"),
        ):
            body: dict[str, Any] | None = {"rows": []} if path == "/predict" else None
            responses = [
                await client.request(method, f"/jobs/{job_id}{path}", json=body)
                for job_id in (
                    existing_id,
                    str(uuid4()),
                    existing_id.replace("-", ""),
                    "x",
                    "{" + existing_id + "}",
                    existing_id + "%0a",
                )
            ]
            if path != "/predict":
                responses.append(await explanation_client.request(method, f"/jobs/{existing_id}{path}"))
            assert {(response.status_code, response.content) for response in responses} == {
                (404, '{"detail":"Tâche non trouvée","code":"job_not_found","errors":[]}'.encode())
            }, (method, path)


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"job_id": ""}, 422, "validation_error"),
        ({"job_id": "mine"}, 404, "job_not_found"),
        ({"job_id": str(uuid4()), "dataset_id": 1}, 422, "invalid_job_request"),
        ({}, 422, "invalid_job_request"),
        ({"dataset_id": 99}, 404, "dataset_not_found"),
    ],
    ids=("empty", "malformed", "two subjects", "no subject", "unknown"),
)
async def test_an_explanation_of_nothing_is_refused(
    backends: Backends, body: dict[str, Any], status: int, code: str
) -> None:
    """There must be exactly one subject, and it must exist."""
    async with backends.client(service="explanation") as client:
        answer = await client.post("/explain", json=body)
    assert (answer.status_code, answer.json()["code"]) == (status, code), answer.text


async def test_callers_without_an_identity_are_refused(backends: Backends) -> None:
    """Without a valid identity, every route returns 401 with the fixed sentence."""
    for invalid_id in (None, "x", str(uuid4()).replace("-", "")):
        async with backends.client() as client:
            del client.headers["X-User-ID"]
            headers = {"X-User-ID": invalid_id} if invalid_id else {}
            for method, path in (("GET", "/jobs"), ("POST", "/train"), ("GET", f"/jobs/{uuid4()}")):
                answer = await client.request(method, path, headers=headers, json={} if method == "POST" else None)
                assert (answer.status_code, answer.json()["detail"]) == (401, "ID utilisateur invalide")


async def test_lists(backends: Backends) -> None:
    """Lists contain the user's own jobs, newest first, as an array or in pages; unknown parameters are refused."""
    async with backends.client() as client:
        job_ids = []
        for _ in range(3):
            job_ids.append((await client.post("/train", json=TRAINING_REQUEST)).json()["id"])
            await backends.wait_for_job(job_ids[-1])
        array_answer = await client.get("/jobs", params={"skip": 1, "limit": 1})
        assert ([job["id"] for job in array_answer.json()], array_answer.headers["x-total-count"]) == (
            [job_ids[1]],
            "3",
        )
        assert "result" not in array_answer.json()[0]
        page = (await client.get("/jobs", params={"page": 2, "page_size": 2, "status": "succeeded"})).json()
        assert [job["id"] for job in page.pop("jobs")] == [job_ids[0]]
        assert page == {"total_count": 3, "page": 2, "page_size": 2, "total_pages": 2}
        assert (await client.get("/jobs", params={"status": "failed"})).json() == []
        for invalid_parameters in (
            {"status": "done"},
            {"page": 0},
            {"limit": 1001},
            {"project_id": "x"},
            {"statut": "failed"},
        ):
            assert (await client.get("/jobs", params=invalid_parameters)).status_code == 422, invalid_parameters
    async with backends.client(uuid4()) as client:
        assert (await client.get("/jobs")).json() == []


async def test_lists_check_their_parameters(backends: Backends) -> None:
    """An empty parameter is ignored; a repeated one, or two aliases that differ, are refused."""
    project_id, other_project_id = str(uuid4()), str(uuid4())
    backends.selection.projects[project_id] = backends.user
    async with backends.client() as client:
        job_id = (await client.post("/train", json=TRAINING_REQUEST | {"project_id": project_id})).json()["id"]
        await backends.wait_for_job(job_id)
        empty_parameters = "status=&project=&project_id=&limit=&skip=&page=&page_size="
        for path in (
            "/jobs",
            f"/jobs?{empty_parameters}",
            f"/jobs?project={project_id}&project_id={project_id.upper()}",
            f"/jobs?project={project_id}",
        ):
            assert [job["id"] for job in (await client.get(path)).json()] == [job_id], path
        project_jobs = await client.get(f"/projects/{project_id}/jobs?status=&page=")
        assert [job["id"] for job in project_jobs.json()] == [job_id]
        for invalid_path, code in (
            ("/jobs?status=failed&status=succeeded", "invalid_value"),
            ("/jobs?limit=1&limit=1", "invalid_value"),
            ("/jobs?limit=1_0", "validation_error"),
            ("/jobs?skip=%201", "validation_error"),
            (f"/projects/{project_id}/jobs?skip=0&skip=0", "invalid_value"),
            (f"/jobs?project={project_id}&project_id={other_project_id}", "conflicting_values"),
            ("/jobs?statut=", "unknown_name"),
        ):
            answer = await client.get(invalid_path)
            assert (answer.status_code, answer.json()["code"]) == (422, code), invalid_path


async def test_events_in_order_and_from_any_point(backends: Backends) -> None:
    """The event stream reports all changes in order, continues after `Last-Event-ID`, and ends with the job."""
    async with backends.client() as client:
        job_id = (await client.post("/train", json=TRAINING_REQUEST | {"target": "0.3"})).json()["id"]
        events = _events((await client.get(f"/jobs/{job_id}/events")).text)
        names = [name for _, name, _ in events]
        assert (names[0], names[1], names[-1]) == ("queued", "running", "succeeded")
        assert [number for number, *_ in events] == sorted({number for number, *_ in events})
        assert [data["done"] for *_, data in events] == [False] * (len(events) - 1) + [True]
        remaining_stream = await client.get(f"/jobs/{job_id}/events", headers={"Last-Event-ID": str(events[1][0])})
        assert _events(remaining_stream.text) == events[2:]
        finished_stream = await client.get(f"/jobs/{job_id}/events", headers={"Last-Event-ID": str(events[-1][0])})
        assert (finished_stream.status_code, finished_stream.content) == (204, b"")
        repeated_stream = await client.get(f"/jobs/{job_id}/events", headers={"Last-Event-ID": "nonsense"})
        assert _events(repeated_stream.text) == events


async def test_the_waiting_jobs_of_a_user_have_a_limit(backends: Backends) -> None:
    """A job beyond the limit is refused with 429 and leaves nothing behind; cancelling a job makes room."""
    backends.jobs.settings = backends.jobs.settings.model_copy(update={"jobs_waiting_per_user": 2})
    await backends.jobs._dispatcher.close()  # so that every job waits
    async with backends.client() as client, backends.client(uuid4()) as other_client:
        answers = [await client.post("/train", json=TRAINING_REQUEST) for _ in range(3)]
        assert [answer.status_code for answer in answers] == [202, 202, 429]
        assert answers[2].json()["code"] == "too_many_jobs"
        assert int(answers[2].headers["Retry-After"]) > 0
        assert len((await client.get("/jobs")).json()) == 2
        assert (await other_client.post("/train", json=TRAINING_REQUEST)).status_code == 202
        await client.post(f"/jobs/{answers[0].json()['id']}/cancel")
        assert (await client.post("/train", json=TRAINING_REQUEST)).status_code == 202
        async with backends.client(service="explanation") as explanation_client:
            assert (await explanation_client.post("/explain", json={"dataset_id": 1})).status_code == 429


async def test_events_are_numbered_within_their_job(backends: Backends) -> None:
    """The ids of a job's events are 1, 2, 3 and so on, and do not depend on other jobs."""
    async with backends.client() as client, backends.client(uuid4()) as other_client:
        job_ids = [
            (await owner.post("/train", json=TRAINING_REQUEST | {"target": "0.3"})).json()["id"]
            for owner in (client, other_client)
        ]
        for owner, job_id in zip((client, other_client), job_ids, strict=True):
            numbers = [number for number, *_ in _events((await owner.get(f"/jobs/{job_id}/events")).text)]
            assert numbers == list(range(1, len(numbers) + 1))
            remaining_stream = await owner.get(f"/jobs/{job_id}/events", headers={"Last-Event-ID": "2"})
            assert [number for number, *_ in _events(remaining_stream.text)] == numbers[2:]


async def test_an_event_stream_from_beyond_the_last_event_ends_with_the_job(backends: Backends) -> None:
    """A stream that starts after a non-existent event ends once the job has ended."""
    async with backends.client() as client:
        job_id = (await client.post("/train", json=TRAINING_REQUEST | {"target": "0.3"})).json()["id"]
        headers = {"Last-Event-ID": "999999999999999"}
        stream = await asyncio.wait_for(client.get(f"/jobs/{job_id}/events", headers=headers), 30)
        assert (stream.status_code, _events(stream.text)) == (200, [])
        assert (await client.get(f"/jobs/{job_id}")).json()["done"]
        assert (await client.get(f"/jobs/{job_id}/events", headers=headers)).status_code == 204


def _events(text: str) -> list[tuple[int, str, Any]]:
    """Return the id, the name and the data of each message of an event stream."""
    events = []
    for block in text.split("\n\n"):
        lines = dict(line.split(": ", 1) for line in block.splitlines() if not line.startswith((":", "retry")))
        if lines:
            events.append((int(lines["id"]), lines["event"], json.loads(lines["data"])))
    return events


async def test_readiness_does_not_depend_on_selection(backends: Backends, monkeypatch: pytest.MonkeyPatch) -> None:
    """While selection is down, the backends still run and deliver jobs, so they stay ready."""

    async def fail() -> None:
        raise ConnectionError

    monkeypatch.setattr(backends.selection, "ping", fail)
    for service in ("training", "explanation"):
        async with backends.client(service=service) as client:
            readiness = await client.get("/health/ready")
            assert (readiness.status_code, readiness.json()["resources"]) == (200, {"database": "ok"})
