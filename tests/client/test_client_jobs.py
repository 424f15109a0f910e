"""Jobs through the synchronous client, against a running product: files, trainings, explanations, events."""

import io
from collections.abc import Iterator

import pytest

from tests.cli.served import served
from touchstone.client import Dataset, Job, Touchstone, TouchstoneError

pytestmark = pytest.mark.slow

CSV = "hours,group,passed\n" + "".join(f"{n % 13},{'ab'[n % 2]},{int(n % 13 > 6)}\n" for n in range(80))


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Touchstone]:
    with served(tmp_path_factory.mktemp("served")) as address, Touchstone(address, locale="en") as client:
        client.register("me@example.org", "correct horse battery")
        client.login("me@example.org", "correct horse battery")
        yield client


@pytest.fixture(scope="module")
def exam(client: Touchstone) -> Dataset:
    upload = client.upload_file(io.BytesIO(CSV.encode()), "exam.csv")
    return client.create_dataset("Exam", file_path=upload.file_path, file_type="csv", visibility="private")


@pytest.fixture(scope="module")
def training(client: Touchstone, exam: Dataset) -> Job:
    job = client.train(exam.id, "passed", budget={"max_trials": 1}, algorithms=["linear"], idempotency_key="one")
    statuses: list[str] = []
    finished_job = client.wait(job, report=lambda update: statuses.append(update.status))
    assert (finished_job.status, statuses[-1]) == ("succeeded", "succeeded"), finished_job.error
    return finished_job


def test_an_upload_is_measured(exam: Dataset) -> None:
    """A file object is sent completely, and the record shows the measured values."""
    assert (exam.instances_number, exam.missing_values_percentage) == (80, 0)


def test_a_training_gives_a_model_that_predicts(client: Touchstone, training: Job) -> None:
    """A training has a result, files and predictions; a repeated idempotency key starts nothing new."""
    assert training.result is not None
    file = io.BytesIO()
    [model] = [artifact for artifact in training.artifacts if artifact.name.endswith(".skops")]
    assert client.download(training, model.name, file) == model.bytes
    assert client.get_artifact("train", training.id, model.name) == file.getvalue()
    assert client.predict(training.id, [{"hours": 12, "group": "a"}])
    request = {"budget": {"max_trials": 1}, "algorithms": ["linear"]}
    repeated_job = client.train(int(training.request["dataset_id"]), "passed", idempotency_key="one", **request)  # type: ignore[arg-type]
    assert repeated_job.id == training.id


def test_a_preview_says_how_rows_are_divided(client: Touchstone, exam: Dataset, training: Job) -> None:
    """The split of a training is known before it starts, and a preview starts nothing."""
    assert training.result is not None
    jobs_before = client.page_jobs("train").total_count
    preview = client.preview_training(exam.id, "passed")
    assert preview["rows"] == 80
    assert preview["split"] == training.result["split"] | {"effect": None}
    assert client.page_jobs("train").total_count == jobs_before


def test_events_tell_the_whole_story_and_go_on_from_anywhere(client: Touchstone, training: Job) -> None:
    """The stream ends with the job, progress never decreases, and a later start omits earlier events."""
    events = list(client.events(training))
    assert events[-1].data["status"] == "succeeded"
    percents = [event.data["progress"]["percent"] for event in events if event.event == "progress"]
    assert percents == sorted(percents)
    assert list(client.events(training, after=events[-2].id)) == events[-1:]


def test_an_explanation_adds_up(client: Touchstone, training: Job) -> None:
    """The attributions of a row and the base value add up to the prediction, and the training is the parent job."""
    job = client.wait(client.explain(job_id=training.id, instances={"rows": [3]}, scope="local"))
    assert job.result is not None, job.error
    [row] = job.result["local"]
    assert row["base_value"] + sum(row["attributions"].values()) == pytest.approx(row["prediction"], abs=1e-3)
    assert job.parent_job_id == training.id
    assert [explanation.id for explanation in client.iterate_jobs("explain")] == [job.id]


def test_jobs_are_listed_cancelled_and_deleted(client: Touchstone, exam: Dataset) -> None:
    """A job is listed in its project, under its state after it is cancelled, until it is deleted."""
    project = client.create_project("Exams")
    job = client.train(exam.id, "passed", budget={"max_trials": 200}, name="long", project_id=project.id)
    assert [item.id for item in client.page_project_jobs(project.id).jobs] == [job.id]
    cancelled_job = client.wait(client.cancel_job("train", job.id))
    assert cancelled_job.status == "cancelled"
    assert [item.id for item in client.page_jobs("train", status="cancelled").jobs] == [job.id]
    client.delete_job("train", job.id)
    with pytest.raises(TouchstoneError) as problem:
        client.get_job("train", job.id)
    assert problem.value.code == "job_not_found"


def test_two_datasets_are_compared(client: Touchstone, exam: Dataset) -> None:
    """A comparison trains on both datasets and gives their scores; it is deleted, and its trainings stay."""
    upload = client.upload_file(io.BytesIO(CSV.replace("passed", "won").encode()), "match.csv")
    match = client.create_dataset("Match", file_path=upload.file_path, file_type="csv", visibility="private")

    comparison = client.compare_trainings(
        [exam.id, match.id],
        target={str(exam.id): "passed", str(match.id): "won"},
        idempotency_key="compare-1",
        algorithms=["linear"],
        budget={"max_trials": 1},
    )
    result = client.wait_for_comparison(comparison)
    assert list(client.comparison_states(comparison))[-1] == result
    assert (result.status, [item.target for item in result.datasets]) == ("succeeded", ["passed", "won"])
    assert all(item.score is not None and item.place == 1 for item in result.datasets)
    assert "give equally good models" in result.summary
    assert [item.id for item in client.page_training_comparisons().comparisons] == [result.id]
    assert client.cancel_training_comparison(result.id).status == "succeeded"

    client.delete_training_comparison(result.id)
    with pytest.raises(TouchstoneError):
        client.get_training_comparison(result.id)
    assert client.get_job("train", result.datasets[0].job_id or "").status == "succeeded"


def test_what_cannot_start_is_refused_at_once(client: Touchstone, exam: Dataset) -> None:
    """A column that is not in the file is rejected before a job exists."""
    with pytest.raises(TouchstoneError) as problem:
        client.train(exam.id, "no such column")
    assert problem.value.status == 422
