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
    with served(tmp_path_factory.mktemp("served")) as address, Touchstone(address, locale="en") as found:
        found.register("me@example.org", "correct horse battery")
        found.login("me@example.org", "correct horse battery")
        yield found


@pytest.fixture(scope="module")
def exam(client: Touchstone) -> Dataset:
    stored = client.upload_file(io.BytesIO(CSV.encode()), "exam.csv")
    return client.create_dataset("Exam", file_path=stored.file_path, file_type="csv", visibility="private")


@pytest.fixture(scope="module")
def trained(client: Touchstone, exam: Dataset) -> Job:
    job = client.train(exam.id, "passed", budget={"max_trials": 1}, algorithms=["linear"], idempotency_key="one")
    seen: list[str] = []
    done = client.wait(job, report=lambda look: seen.append(look.status))
    assert (done.status, seen[-1]) == ("succeeded", "succeeded"), done.error
    return done


def test_an_upload_is_measured(exam: Dataset) -> None:
    """A file object is sent completely, and the record shows the measured values."""
    assert (exam.instances_number, exam.missing_values_percentage) == (80, 0)


def test_a_training_gives_a_model_that_predicts(client: Touchstone, trained: Job) -> None:
    """A training has a result, files and predictions; a repeated idempotency key starts nothing new."""
    assert trained.result is not None
    into = io.BytesIO()
    [model] = [one for one in trained.artifacts if one.name.endswith(".skops")]
    assert client.download(trained, model.name, into) == model.bytes
    assert client.get_artifact("train", trained.id, model.name) == into.getvalue()
    assert client.predict(trained.id, [{"hours": 12, "group": "a"}])
    request = {"budget": {"max_trials": 1}, "algorithms": ["linear"]}
    again = client.train(int(trained.request["dataset_id"]), "passed", idempotency_key="one", **request)  # type: ignore[arg-type]
    assert again.id == trained.id


def test_a_preview_says_how_rows_are_divided(client: Touchstone, exam: Dataset, trained: Job) -> None:
    """The split of a training is known before it starts, and a preview starts nothing."""
    assert trained.result is not None
    jobs_before = client.page_jobs("train").total_count
    preview = client.preview_training(exam.id, "passed")
    assert preview["rows"] == 80
    assert preview["split"] == trained.result["split"] | {"effect": None}
    assert client.page_jobs("train").total_count == jobs_before


def test_events_tell_the_whole_story_and_go_on_from_anywhere(client: Touchstone, trained: Job) -> None:
    """The stream ends with the job, progress never decreases, and a later start omits earlier events."""
    events = list(client.events(trained))
    assert events[-1].data["status"] == "succeeded"
    percents = [one.data["progress"]["percent"] for one in events if one.event == "progress"]
    assert percents == sorted(percents)
    assert list(client.events(trained, after=events[-2].id)) == events[-1:]


def test_an_explanation_adds_up(client: Touchstone, trained: Job) -> None:
    """The attributions of a row and the base value add up to the prediction, and the training is the parent job."""
    job = client.wait(client.explain(job_id=trained.id, instances={"rows": [3]}, scope="local"))
    assert job.result is not None, job.error
    [local] = job.result["local"]
    assert local["base_value"] + sum(local["attributions"].values()) == pytest.approx(local["prediction"], abs=1e-3)
    assert job.parent_job_id == trained.id
    assert [one.id for one in client.iterate_jobs("explain")] == [job.id]


def test_jobs_are_listed_cancelled_and_deleted(client: Touchstone, exam: Dataset) -> None:
    """A job is listed in its project, under its state after it is cancelled, until it is deleted."""
    project = client.create_project("Exams")
    job = client.train(exam.id, "passed", budget={"max_trials": 200}, name="long", project_id=project.id)
    assert [one.id for one in client.page_project_jobs(project.id).jobs] == [job.id]
    done = client.wait(client.cancel_job("train", job.id))
    assert done.status == "cancelled"
    assert [one.id for one in client.page_jobs("train", status="cancelled").jobs] == [job.id]
    client.delete_job("train", job.id)
    with pytest.raises(TouchstoneError) as problem:
        client.get_job("train", job.id)
    assert problem.value.code == "job_not_found"


def test_two_datasets_are_compared(client: Touchstone, exam: Dataset) -> None:
    """A comparison trains on both datasets and gives their scores; it is deleted, and its trainings stay."""
    stored = client.upload_file(io.BytesIO(CSV.replace("passed", "won").encode()), "match.csv")
    match = client.create_dataset("Match", file_path=stored.file_path, file_type="csv", visibility="private")

    started = client.compare_trainings(
        [exam.id, match.id],
        target={str(exam.id): "passed", str(match.id): "won"},
        idempotency_key="compare-1",
        algorithms=["linear"],
        budget={"max_trials": 1},
    )
    done = client.wait_for_comparison(started)
    assert list(client.comparison_states(started))[-1] == done
    assert (done.status, [item.target for item in done.datasets]) == ("succeeded", ["passed", "won"])
    assert all(item.score is not None and item.place == 1 for item in done.datasets)
    assert "gives the best model" in done.summary
    assert [item.id for item in client.page_training_comparisons().comparisons] == [done.id]
    assert client.cancel_training_comparison(done.id).status == "succeeded"

    client.delete_training_comparison(done.id)
    with pytest.raises(TouchstoneError):
        client.get_training_comparison(done.id)
    assert client.get_job("train", done.datasets[0].job_id or "").status == "succeeded"


def test_what_cannot_start_is_refused_at_once(client: Touchstone, exam: Dataset) -> None:
    """A column that is not in the file is rejected before a job exists."""
    with pytest.raises(TouchstoneError) as problem:
        client.train(exam.id, "no such column")
    assert problem.value.status == 422
