"""Jobs on the command line: a table is uploaded, trained on and explained."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from tests.cli.running import PASSWORD, run, run_json
from tests.cli.served import served
from touchstone.cli.command_context import CommandContext
from touchstone.cli.command_runner import ExitStatus
from touchstone.cli.comparison_commands import COMPARING
from touchstone.cli.job_commands import wait_with_progress
from touchstone.cli.job_options import TRAINING
from touchstone.client import Touchstone
from touchstone.client.fields import DatasetOptions
from touchstone.learning.comparison_request import DatasetOptions as RequestedOptions

CSV = "hours,group,passed\n" + "".join(f"{n % 13},{'ab'[n % 2]},{int(n % 13 > 6)}\n" for n in range(80))


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with served(tmp_path_factory.mktemp("served")) as address:
        run("user", "create", "me@example.org", "--password", PASSWORD)
        run_json("login", "--url", address, "--email", "me@example.org", "--password", PASSWORD)
        yield address


@pytest.fixture(scope="module")
def exam(address: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Create a dataset with its table and return its id."""
    file = tmp_path_factory.mktemp("table") / "exam.csv"
    file.write_text(CSV)
    dataset = run_json("catalog", "add", "Exam", "--file", str(file), "--visibility", "private")
    assert (dataset["file_type"], dataset["instances_number"]) == ("csv", 80)
    return str(dataset["id"])


@pytest.fixture(scope="module")
def training(exam: str) -> dict[str, Any]:
    job: dict[str, Any] = run_json(
        "train", exam, "--target", "passed", "--sensitive", "group", "--algorithm", "linear", "--trials", "1"
    )
    return job


def test_a_training_is_waited_for_and_shown(exam: str, training: dict[str, Any]) -> None:
    """For a program the output is the job; for a user it is the metrics, the baseline and the files."""
    assert (training["status"], training["request"]["budget"]["max_trials"]) == ("succeeded", 1)
    table = run("jobs", "show", "train", training["id"], "--table").stdout
    assert "balanced_accuracy" in table
    assert "Baseline" in table
    assert "model.skops" in table
    assert re.search(rf"Dataset +{exam}\b", table)
    jobs = run("jobs", "list", "train", "--table").stdout
    assert re.search(rf"{training['id']} +succeeded +dataset {exam},", jobs)


def test_options_become_fields_of_the_request(exam: str) -> None:
    """The options arrive in the right fields of the request; folds and a time column determine the split."""
    job = run_json(
        *("train", exam, "--target", "passed", "--exclude", "group", "--folds", "3", "--trials", "1", "--no-wait")
    )
    assert job["request"]["features"]["exclude"] == ["group"]
    assert (job["request"]["split"]["strategy"], job["request"]["split"]["folds"]) == ("kfold", 3)
    assert run_json("jobs", "cancel", "train", job["id"])["id"] == job["id"]
    assert run("jobs", "watch", "train", job["id"]).exit_code in (0, 1)
    assert run("jobs", "delete", "train", job["id"]).exit_code == 0
    refusal = run("train", exam, "--target", "passed", "--time-column", "nowhere")
    assert (refusal.exit_code, "nowhere" in refusal.stderr) == (1, True)


@pytest.mark.parametrize(
    "options",
    [
        ("--folds", "5", "--time-column", "hours"),
        ("--folds", "5", "--split", "holdout"),
        ("--folds", "5", "--split", "auto"),
        ("--folds", "3", "--test-size", "0.3"),
        ("--test-size", "0.2", "--split", "kfold"),
    ],
)
def test_contradictory_options_of_a_split_are_an_error(exam: str, options: tuple[str, ...]) -> None:
    """An option that has no effect because of another one is never ignored silently."""
    assert run("train", exam, "--target", "passed", "--no-wait", *options).exit_code == 2


def test_folds_may_consist_of_whole_groups(exam: str) -> None:
    """A number of folds and a group column do not contradict each other."""
    job = run_json("train", exam, "--target", "passed", "--no-wait", "--folds", "3", "--group-column", "hours")
    assert (job["request"]["split"]["strategy"], job["request"]["split"]["group_column"]) == ("kfold", "hours")
    run_json("jobs", "cancel", "train", job["id"])


def test_datasets_are_compared(exam: str, tmp_path: Path) -> None:
    """For a user the output is a table, best first, and what follows from it; targets may differ between datasets."""
    file = tmp_path / "match.csv"
    file.write_text(CSV.replace("passed", "won"))
    match_id = str(run_json("catalog", "add", "Match", "--file", str(file), "--visibility", "private")["id"])

    targets = ("--target-of", f"{exam}=passed", "--target-of", f"{match_id}=won")
    result = run("compare-models", exam, match_id, *targets, "--algorithm", "linear", "--trials", "1", "--table")
    assert result.exit_code == 0, result.output
    assert "give equally good models" in " ".join(result.stdout.split())
    assert "Match" in result.stdout

    refusal = run("compare-models", exam, match_id, "--target", "passed")
    assert (refusal.exit_code, "“passed” is not in the file" in refusal.stderr) == (1, True)
    assert run("compare-models", exam, match_id, *targets, "--target", "passed").exit_code == 2


def test_each_compared_dataset_has_options_of_its_own(exam: str, tmp_path: Path) -> None:
    """An option that names columns or a class has a form for one dataset, which takes the place of that for all."""
    assert set(DatasetOptions.__annotations__) == set(RequestedOptions.__struct_fields__)
    training_names = {option.name for option in TRAINING.options}
    offered_names = {option.name for option in COMPARING.options}
    assert {f"{name}_of" for name in RequestedOptions.__struct_fields__ if name in training_names} <= offered_names
    assert {"target_of", "include_of", "exclude_of", "sensitive_of"} <= offered_names

    file = tmp_path / "again.csv"
    file.write_text(CSV)
    second_id = str(run_json("catalog", "add", "Again", "--file", str(file), "--visibility", "private")["id"])
    common_options = ("--target", "passed", "--algorithm", "linear", "--trials", "1", "--no-wait")
    comparison = run_json(
        *("compare-models", exam, second_id, *common_options),
        *("--include-of", f"{second_id}=group", "--sensitive-of", f"{second_id}=group"),
        *("--sample-weight-of", f"{second_id}=hours"),
    )
    options = comparison["request"]["by_dataset"]
    assert options[second_id]["features"]["include"] == ["group"]
    assert (options[second_id]["sensitive_features"], options[second_id]["sample_weight"]) == (["group"], "hours")
    for item in comparison["datasets"]:
        run("jobs", "cancel", "train", item["job_id"])
    assert run("compare-models", exam, second_id, "--group-column-of", "group").exit_code == 2


def test_a_prediction_is_explained(training: dict[str, Any]) -> None:
    """Rows are given by number or by value, and explained in tables and a text; a dataset needs no model."""
    result = run("explain", "--job", training["id"], "--row", "3", "--table")
    assert result.exit_code == 0, result.output
    assert "Row 3" in result.stdout
    assert "hours" in result.stdout
    values = json.dumps({"hours": 12, "group": "a"})
    assert run_json("explain", "--job", training["id"], "--values", values, "--scope", "local")["result"]["local"]
    dataset_id = str(training["request"]["dataset_id"])
    assert run_json("explain", "--dataset", dataset_id, "--target", "passed")["result"]["narrative"]["en"]


def test_files_are_downloaded(training: dict[str, Any], tmp_path: Path) -> None:
    """A file of a job is written to the chosen path; a path that cannot be written is reported."""
    path = tmp_path / "card.md"
    report = run_json("jobs", "download", "train", training["id"], "model_card.md", "--to", str(path))
    assert report["bytes"] == path.stat().st_size > 0
    result = run("jobs", "download", "train", training["id"], "model_card.md", "--to", str(tmp_path))
    assert (result.exit_code, str(tmp_path) in result.stderr) == (2, True)

    assert run("jobs", "download", "train", training["id"], "missing.md", "--to", str(path)).exit_code == 1
    assert report["bytes"] == path.stat().st_size
    printed = run("jobs", "download", "train", training["id"], "model_card.md", "--to", "-")
    assert printed.stdout_bytes == path.read_bytes()


def test_a_job_that_fails_says_why(exam: str) -> None:
    """A job that was cancelled or has failed results in the exit status of an error."""
    job = run_json("train", exam, "--target", "passed", "--trials", "200", "--no-wait")
    run_json("jobs", "cancel", "train", job["id"])
    result = run("jobs", "watch", "train", job["id"], "--table")
    assert (result.exit_code, "cancelled" in result.stdout) == (1, True)


def test_leaving_early_leaves_the_job_alone(exam: str, address: str) -> None:
    """Ctrl-C while waiting prints how to continue watching, with the status of an interruption; the job goes on."""
    job = run_json("train", exam, "--target", "passed", "--trials", "50", "--no-wait")

    class Impatient(Touchstone):
        def wait(self, *_: Any, **__: Any) -> Any:
            raise KeyboardInterrupt

    with Impatient(address) as client:
        client.login("me@example.org", PASSWORD)
        typed_job = client.get_job("train", job["id"])
        with pytest.raises(typer.Exit) as exit_info:
            wait_with_progress(CommandContext(address, as_json=True, client=client), typed_job)
    assert exit_info.value.exit_code == ExitStatus.INTERRUPTED
    assert run_json("jobs", "show", "train", job["id"])["status"] in ("queued", "running")
    run_json("jobs", "cancel", "train", job["id"])
