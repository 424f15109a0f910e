"""Comparisons as their callers see them, on both databases, with trainings that do almost nothing."""

import asyncio
import itertools
from typing import Any
from uuid import UUID, uuid4

import httpx2
import msgspec
import pytest

from tests.training.conftest import Backends

pytestmark = pytest.mark.anyio
COMPARISON_REQUEST: dict[str, Any] = {"dataset_ids": [1, 6], "target": "0"}


def english_client(backends: Backends) -> httpx2.AsyncClient:
    """Return a client that is answered in English."""
    client = backends.client()
    client.headers["Accept-Language"] = "en"
    return client


async def wait_for_comparison(backends: Backends, comparison: dict[str, Any]) -> dict[str, Any]:
    """Return a comparison after all of its trainings have ended."""
    for dataset in comparison["datasets"]:
        await backends.wait_for_job(dataset["job_id"])
    async with english_client(backends) as client:
        final_comparison: dict[str, Any] = (await client.get(f"/compare/{comparison['id']}")).json()
    assert final_comparison["done"], final_comparison
    return final_comparison


def new_project(backends: Backends, *ranking: int) -> str:
    """Create a project whose ranking consists of these datasets, and return its id."""
    project_id = str(uuid4())
    backends.selection.projects[project_id] = backends.user
    backends.selection.ranking = list(ranking)
    return project_id


async def test_named_datasets_are_compared(backends: Backends) -> None:
    """Each dataset gets a training of its own, and the response says which of them trains best."""
    async with backends.client() as client:
        answer = await client.post(
            "/compare", json=COMPARISON_REQUEST | {"name": "Loans", "metric": "accuracy", "seed": 7}
        )
        comparison = answer.json()
        assert answer.status_code == 202, answer.text
        assert answer.headers["location"] == f"/compare/{comparison['id']}"
        assert (comparison["done"], comparison["best_dataset_id"]) == (False, None)

        final_comparison = await wait_for_comparison(backends, comparison)
        table, strong = final_comparison["datasets"]
        assert (final_comparison["status"], final_comparison["best_dataset_id"]) == ("succeeded", 6)
        assert (table["place"], strong["place"], table["overlaps_best"]) == (2, 1, False)
        assert strong["score"]["value"] == 0.9
        assert (strong["score"]["beats_baseline"], table["score"]["beats_baseline"]) == (True, False)
        assert strong["warnings"] == [{"code": "few_rows", "text": "Few rows."}]
        assert "“Dataset 6” gives the best model: Accuracy 0.9" in final_comparison["summary"]
        assert "1 warning" in final_comparison["summary"]

        job = (await client.get(f"/jobs/{strong['job_id']}")).json()
        assert (job["name"], job["request"]["seed"], job["request"]["target"]) == ("Loans: Dataset 6", 7, "0")
        listing = await client.get("/compare", params={"page": 1})
        assert [item["id"] for item in listing.json()["comparisons"]] == [comparison["id"]]


async def test_each_dataset_may_have_options_of_its_own(backends: Backends) -> None:
    """Options that name columns replace those for all datasets, whether the dataset is named by number or by UUID."""
    options_by_dataset = {"6": {"features": {"include": ["a"]}, "group_column": "30", "positive_class": 1}}
    shared_options = {"features": {"exclude": ["a"]}, "split": {"test_size": 0.3}}
    async with backends.client() as client:
        answer = await client.post(
            "/compare", json=COMPARISON_REQUEST | shared_options | {"by_dataset": options_by_dataset}
        )
        assert answer.status_code == 202, answer.text
        jobs = [(await client.get(f"/jobs/{item['job_id']}")).json() for item in answer.json()["datasets"]]
        requests = [job["request"] for job in jobs]

        assert [request["features"] for request in requests] == [
            {"include": [], "exclude": ["a"]},
            {"include": ["a"], "exclude": []},
        ]
        assert [request["split"]["group_column"] for request in requests] == [None, "30"]
        assert [request["split"]["test_size"] for request in requests] == [0.3, 0.3]
        assert [request["positive_class"] for request in requests] == [None, 1]


SIXTH_UUID = str(UUID(int=0xABCD6))


@pytest.mark.parametrize("named", [6, SIXTH_UUID, SIXTH_UUID.upper()])
@pytest.mark.parametrize("key", ["6", SIXTH_UUID, SIXTH_UUID.upper()])
async def test_targets_and_options_are_found_by_number_and_by_uuid(
    backends: Backends, named: int | str, key: str
) -> None:
    """A dataset that is named by its number may have a target under its UUID, and the reverse."""
    backends.selection.uuids[6] = SIXTH_UUID
    body = {"dataset_ids": [1, named], "target": {"1": "0", key: "0"}, "by_dataset": {key: {"sample_weight": "30"}}}
    async with backends.client() as client:
        answer = await client.post("/compare", json=body)
        assert answer.status_code == 202, answer.text
        job = (await client.get(f"/jobs/{answer.json()['datasets'][1]['job_id']}")).json()
        assert (job["request"]["target"], job["request"]["sample_weight"]) == ("0", "30")


@pytest.mark.parametrize(
    ("options", "options_by_dataset", "columns"),
    [
        ({"split": {"strategy": "group"}}, [{"group_column": "30"}, {"group_column": "a"}], [None, "30", None, "a"]),
        ({"split": {"strategy": "time"}}, [{"time_column": "30"}, {"time_column": "a"}], ["30", None, "a", None]),
        ({"split": {"group_column": "30"}}, [{"time_column": "a"}, {}], ["a", None, None, "30"]),
        ({"mitigation": "thresholds"}, [{"sensitive_features": ["a"]}, {"sensitive_features": ["30"]}], [None] * 4),
        (
            {"sample_weight": "30", "features": {"include": ["30", "a"]}},
            [{"features": {"include": ["a"]}}, {"sample_weight": "same"}],
            [None] * 4,
        ),
    ],
)
async def test_options_of_datasets_complete_and_replace_those_for_all(
    backends: Backends, options: dict[str, Any], options_by_dataset: list[dict[str, Any]], columns: list[str | None]
) -> None:
    """Only the request for each training has to be consistent, not the options for all datasets alone."""
    by_dataset = dict(zip(("1", "6"), options_by_dataset, strict=True))
    async with backends.client() as client:
        answer = await client.post("/compare", json=COMPARISON_REQUEST | options | {"by_dataset": by_dataset})
        assert answer.status_code == 202, answer.text
        jobs = [(await client.get(f"/jobs/{item['job_id']}")).json() for item in answer.json()["datasets"]]
    splits = [job["request"]["split"] for job in jobs]
    assert [split[name] for split in splits for name in ("time_column", "group_column")] == columns


async def test_scores_in_the_unit_of_the_target_have_no_places(backends: Backends) -> None:
    """An error in euros is not smaller than one in cents because its number is smaller."""
    async with backends.client() as client:
        comparison = (await client.post("/compare", json=COMPARISON_REQUEST | {"metric": "rmse"})).json()
    final_comparison = await wait_for_comparison(backends, comparison)
    assert [dataset["score"]["value"] for dataset in final_comparison["datasets"]] == [0.3, 0.9]
    assert [dataset["place"] for dataset in final_comparison["datasets"]] == [None, None]
    assert final_comparison["best_dataset_id"] is None
    assert final_comparison["summary"] == (
        "Root mean squared error: this metric has the unit of the target, so the scores of different tables cannot be "
        "compared: choose R²."
    )


async def test_deleted_trainings_are_missing_and_not_failed(backends: Backends) -> None:
    """The summary says how many scores are missing; without any training left, the comparison has not failed."""
    async with english_client(backends) as client:
        comparison = (await client.post("/compare", json=COMPARISON_REQUEST)).json()
        table, strong = (await wait_for_comparison(backends, comparison))["datasets"]
        address = f"/compare/{comparison['id']}"

        await client.delete(f"/jobs/{strong['job_id']}")
        remaining = (await client.get(address)).json()
        assert (remaining["status"], remaining["best_dataset_id"]) == ("succeeded", 1)
        assert remaining["summary"].startswith(
            "1 training has been deleted, so its result is missing from this comparison. Only one dataset has a score"
        )

        await client.delete(f"/jobs/{table['job_id']}")
        emptied = (await client.get(address)).json()
        assert emptied["summary"] == (
            "2 trainings have been deleted, so their results are missing from this comparison."
        )
        assert (emptied["status"], emptied["done"], emptied["best_dataset_id"]) == ("cancelled", True, None)


async def test_a_comparison_is_followed_until_it_has_ended(backends: Backends) -> None:
    """The stream sends each state once; a client that has received the last one learns that nothing more will come."""
    async with english_client(backends) as client:
        comparison = (await client.post("/compare", json=COMPARISON_REQUEST)).json()
        address = f"/compare/{comparison['id']}/events"
        stream = await client.get(address)
        assert stream.headers["content-type"].startswith("text/event-stream")

        events = [part.splitlines() for part in stream.text.split("\n\n") if part.startswith("id: ")]
        states = [msgspec.json.decode(data.removeprefix("data: ")) for _id, _name, data in events]
        assert all(state != next_state for state, next_state in itertools.pairwise(states))
        assert states[-1] == (await client.get(f"/compare/{comparison['id']}")).json()
        assert [state["done"] for state in states].index(True) == len(states) - 1

        last_event_header = {"Last-Event-ID": events[-1][0].removeprefix("id: ")}
        assert (await client.get(address, headers=last_event_header)).status_code == 204
        assert (await client.get("/compare/unknown/events")).status_code == 404


async def test_scores_that_may_differ_by_chance_are_reported_as_such(backends: Backends) -> None:
    """Where the intervals overlap, the order of the scores may be chance, and the summary says so."""
    async with backends.client() as client:
        targets = {"1": "0", "7": "0"}
        comparison = (await client.post("/compare", json={"dataset_ids": [1, 7], "target": targets})).json()
    final_comparison = await wait_for_comparison(backends, comparison)
    assert [dataset["overlaps_best"] for dataset in final_comparison["datasets"]] == [False, True]
    assert "“Dataset 7” may be chance" in final_comparison["summary"]
    assert "not clearly better than a naive baseline" in final_comparison["summary"]


async def test_equal_scores_share_the_first_place(backends: Backends) -> None:
    """If several datasets share the best score, none of them is called the best one, and doubts name their model."""
    async with backends.client() as client:
        comparison = (await client.post("/compare", json={"dataset_ids": [1, 9, 7], "target": "0"})).json()
    final_comparison = await wait_for_comparison(backends, comparison)
    assert [dataset["place"] for dataset in final_comparison["datasets"]] == [1, 1, 3]
    assert [dataset["overlaps_best"] for dataset in final_comparison["datasets"]] == [False, False, True]
    assert final_comparison["best_dataset_id"] is None
    summary = final_comparison["summary"]
    assert "“Dataset 1” and “Dataset 9” give equally good models: Accuracy 0.3. " in summary
    assert "“Dataset 7” may be chance" in summary
    assert "About the model of “Dataset 9”: This is not clearly better than a naive baseline" in summary


async def test_the_first_tables_of_a_ranking_are_compared(backends: Backends) -> None:
    """Datasets without a table are skipped; tables that cannot be trained on are listed with the reason."""
    project_id = new_project(backends, 8, 7, 1, 6, 3)
    backends.selection.suggestions = {
        7: {"target": "price"},
        1: {"target": "0", "exclude_columns": ["a"], "measured": {"column_profiles": [{"name": "0"}, {"name": "a"}]}},
        6: {"target": "0"},
    }
    async with english_client(backends) as client:
        answer = await client.post("/compare", json={"project_id": project_id, "limit": 2})
        assert answer.status_code == 202, answer.text
        comparison = answer.json()
        assert [(item["dataset_id"], item["rank"]) for item in comparison["datasets"]] == [(1, 3), (6, 4)]
        [exclusion] = comparison["left_out"]
        assert (exclusion["dataset_id"], exclusion["rank"], exclusion["code"]) == (7, 2, "target_not_found")
        assert "“price” is not in the file" in exclusion["message"]

        final_comparison = await wait_for_comparison(backends, comparison)
        job = (await client.get(f"/jobs/{final_comparison['datasets'][0]['job_id']}")).json()
        assert (job["project_id"], job["request"]["features"]["exclude"]) == (project_id, ["a"])
        comparisons = (await client.get("/compare", params={"project_id": project_id})).json()
        assert [item["id"] for item in comparisons] == [comparison["id"]]
        assert (await client.get("/compare", params={"project_id": str(uuid4())})).json() == []


@pytest.mark.parametrize(
    ("body", "status", "code", "location"),
    [
        ({"target": "0"}, 422, "comparison_subject_missing", ["dataset_ids"]),
        ({"dataset_ids": [1], "target": "0"}, 422, "too_few_datasets", ["dataset_ids"]),
        ({"dataset_ids": [1, 1], "target": "0"}, 422, "duplicate_value", ["dataset_ids", 1]),
        (COMPARISON_REQUEST | {"dataset_ids": [1, 99]}, 404, "dataset_not_found", None),
        (COMPARISON_REQUEST | {"dataset_ids": [1, 8]}, 422, "no_table", ["dataset_ids", 1]),
        (COMPARISON_REQUEST | {"dataset_ids": [1, 5]}, 422, "file_unreadable", ["dataset_ids", 1]),
        (COMPARISON_REQUEST | {"target": "price"}, 422, "target_not_found", ["target"]),
        (COMPARISON_REQUEST | {"target": {"1": "0", "6": "price"}}, 422, "target_not_found", ["target", 6]),
        (COMPARISON_REQUEST | {"sample_weight": "w"}, 422, "column_not_found", ["sample_weight"]),
        (COMPARISON_REQUEST | {"split": {"strategy": "group"}}, 422, "group_column_missing", ["split", "group_column"]),
        (
            COMPARISON_REQUEST | {"split": {"strategy": "group"}, "by_dataset": {"6": {"group_column": "a"}}},
            422,
            "group_column_missing",
            ["split", "group_column"],
        ),
        (
            COMPARISON_REQUEST | {"by_dataset": {"6": {"sensitive_features": ["a", "nope"]}}},
            422,
            "column_not_found",
            ["by_dataset", 6, "sensitive_features", 1],
        ),
        (
            COMPARISON_REQUEST | {"by_dataset": {"6": {"group_column": "nope"}}},
            422,
            "column_not_found",
            ["by_dataset", 6, "group_column"],
        ),
        (
            COMPARISON_REQUEST | {"task": "regression", "by_dataset": {"6": {"positive_class": "1"}}},
            422,
            "option_without_effect",
            ["by_dataset", 6, "positive_class"],
        ),
        (
            COMPARISON_REQUEST | {"target": {"6": "0", str(UUID(int=6)): "a"}},
            422,
            "duplicate_value",
            ["target", str(UUID(int=6))],
        ),
        (COMPARISON_REQUEST | {"target": None}, 422, "target_not_suggested", ["dataset_ids", 0]),
        (COMPARISON_REQUEST | {"target": {"7": "0"}}, 422, "target_without_dataset", ["target", 7]),
        (COMPARISON_REQUEST | {"by_dataset": {"7": {}}}, 422, "target_without_dataset", ["by_dataset", 7]),
        (COMPARISON_REQUEST | {"by_dataset": {"6": {"group": "a"}}}, 422, "unknown_name", ["by_dataset", "6", "group"]),
        (
            COMPARISON_REQUEST | {"by_dataset": {"6": {"group_column": "a", "time_column": "b"}}},
            422,
            "split_by_two_columns",
            ["by_dataset", 6],
        ),
        (COMPARISON_REQUEST | {"limit": 2}, 422, "option_without_effect", ["limit"]),
        (COMPARISON_REQUEST | {"limit": 1}, 422, "greater_than_equal", ["limit"]),
        (COMPARISON_REQUEST | {"metric": "r2", "task": "classification"}, 422, "metric_task_mismatch", ["metric"]),
        (COMPARISON_REQUEST | {"project_id": str(uuid4())}, 404, "project_not_found", None),
        (COMPARISON_REQUEST | {"targets": "0"}, 422, "unknown_name", ["targets"]),
    ],
)
async def test_what_cannot_work_is_refused_before_any_training(
    backends: Backends, body: dict[str, Any], status: int, code: str, location: list[Any] | None
) -> None:
    """A comparison is refused as a whole if one of the named datasets cannot be trained on."""
    async with backends.client() as client:
        answer = await client.post("/compare", json=body)
        refusal = answer.json()
        assert answer.status_code == status, answer.text
        if location is None:
            assert refusal["code"] == code
        else:
            assert (refusal["errors"][0]["type"], refusal["errors"][0]["loc"]) == (code, ["body", *location])
        assert (await client.get("/jobs")).json() == []
        assert (await client.get("/compare")).json() == []


async def test_refusals_name_the_dataset(backends: Backends) -> None:
    """Somebody who names several datasets learns which of them cannot be trained on."""
    async with english_client(backends) as client:
        body = COMPARISON_REQUEST | {"target": {"1": "0", "6": "price"}}
        assert (await client.post("/compare", json=body)).json()["detail"] == (
            "The request cannot be carried out: The target column “price” is not in the file (dataset “Dataset 6”)"
        )
        body["target"] = {"1": "0"}
        assert (await client.post("/compare", json=body)).json()["detail"] == (
            "The request cannot be carried out: Give the column to predict: the record of “Dataset 6” suggests none"
        )


async def test_options_of_tables_that_a_ranking_does_not_reach_are_refused(backends: Backends) -> None:
    """Otherwise somebody would believe that an option for the third table had been applied."""
    project_id = new_project(backends, 1, 6, 7)
    async with english_client(backends) as client:
        for field, values in (
            ("target", {"1": "0", "6": "0", "7": "0"}),
            ("by_dataset", {"7": {"sample_weight": "a"}}),
        ):
            body = {"project_id": project_id, "limit": 2, "target": "0", field: values}
            answer = (await client.post("/compare", json=body)).json()
            assert answer["errors"][0]["loc"] == ["body", field, 7]
            assert answer["detail"].endswith("What is given for “7” has no effect: the datasets are 1, 6")
        assert (await client.get("/jobs")).json() == []


async def test_a_ranking_without_tables_is_refused(backends: Backends) -> None:
    """If no dataset of the ranking has a table, or none can be trained on, the reason is given."""
    async with backends.client() as client:
        for ranking, code in (((8,), "ranking_without_tables"), ((6,), "target_not_found")):
            body = {"project_id": new_project(backends, *ranking), "target": "price"}
            answer = await client.post("/compare", json=body)
            assert (answer.status_code, answer.json()["errors"][0]["type"]) == (422, code)


async def test_same_key_starts_one_comparison(backends: Backends) -> None:
    """Concurrent requests with one key start one comparison, and the key is refused for another request."""
    async with backends.client() as client:
        client.headers["Idempotency-Key"] = "once"
        answers = await asyncio.gather(*(client.post("/compare", json=COMPARISON_REQUEST) for _ in range(10)))
        assert {answer.status_code for answer in answers} == {202}
        assert len({answer.json()["id"] for answer in answers}) == 1
        assert len((await client.get("/jobs")).json()) == 2
        conflict = await client.post("/compare", json=COMPARISON_REQUEST | {"seed": 1})
        assert (conflict.status_code, conflict.json()["code"]) == (409, "idempotency_conflict")


async def test_trainings_of_a_comparison_count_as_waiting_jobs(backends: Backends) -> None:
    """A comparison that would exceed the number of waiting jobs starts none of them."""
    backends.jobs.settings = backends.jobs.settings.model_copy(update={"jobs_waiting_per_user": 1})
    async with backends.client() as client:
        answer = await client.post("/compare", json=COMPARISON_REQUEST)
        assert (answer.status_code, answer.json()["code"]) == (429, "too_many_jobs")
        assert (await client.get("/jobs")).json() == []


async def test_cancel_and_delete(backends: Backends) -> None:
    """Cancelling a comparison ends its trainings; deleting it leaves them, and a deleted training leaves a gap."""
    async with backends.client() as client:
        comparison = (await client.post("/compare", json=COMPARISON_REQUEST | {"target": "30"})).json()
        address = f"/compare/{comparison['id']}"
        assert (await client.delete(address)).json()["code"] == "job_not_final"
        assert (await client.post(f"{address}/cancel")).status_code == 200
        final_comparison = await wait_for_comparison(backends, comparison)
        assert final_comparison["status"] == "cancelled"

        job_ids = [dataset["job_id"] for dataset in final_comparison["datasets"]]
        assert (await client.delete(f"/jobs/{job_ids[0]}")).status_code == 204
        remaining = (await client.get(address)).json()
        assert [item["status"] for item in remaining["datasets"]] == [None, "cancelled"]

        assert (await client.delete(address)).status_code == 204
        assert (await client.get(address)).status_code == 404
        assert (await client.get(f"/jobs/{job_ids[1]}")).status_code == 200


async def test_foreign_comparisons_are_answered_like_missing_ones(backends: Backends) -> None:
    """On every route, foreign, malformed and missing ids get the same response, byte for byte."""
    async with backends.client() as client:
        existing_id = (await client.post("/compare", json=COMPARISON_REQUEST)).json()["id"]
    async with backends.client(uuid4()) as client:
        assert (await client.get("/compare")).json() == []
        responses: list[httpx2.Response] = []
        for comparison_id in (existing_id, str(uuid4()), "x"):
            responses.append(await client.get(f"/compare/{comparison_id}"))
            responses.append(await client.delete(f"/compare/{comparison_id}"))
            responses.append(await client.post(f"/compare/{comparison_id}/cancel"))
    assert {(response.status_code, response.content) for response in responses} == {
        (404, '{"detail":"Tâche non trouvée","code":"job_not_found","errors":[]}'.encode())
    }
