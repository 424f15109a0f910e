"""Jobs on the command line: a table is uploaded, trained on and explained."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from tests.cli.running import PASSWORD, answer, run
from tests.cli.served import served
from touchstone.cli.command_context import CommandContext
from touchstone.cli.comparison_commands import COMPARING
from touchstone.cli.job_commands import wait_with_progress
from touchstone.cli.job_options import TRAINING
from touchstone.client import Touchstone
from touchstone.client.fields import DatasetOptions
from touchstone.learning.comparison_request import DatasetOptions as RequestedOptions

CSV = "hours,group,passed\n" + "".join(f"{n % 13},{'ab'[n % 2]},{int(n % 13 > 6)}\n" for n in range(80))


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with served(tmp_path_factory.mktemp("served")) as found:
        run("user", "create", "me@example.org", "--password", PASSWORD)
        answer("login", "--url", found, "--email", "me@example.org", "--password", PASSWORD)
        yield found


@pytest.fixture(scope="module")
def exam(address: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Create a dataset with its table and return its id."""
    file = tmp_path_factory.mktemp("table") / "exam.csv"
    file.write_text(CSV)
    made = answer("catalog", "add", "Exam", "--file", str(file), "--visibility", "private")
    assert (made["file_type"], made["instances_number"]) == ("csv", 80)
    return str(made["id"])


@pytest.fixture(scope="module")
def trained(exam: str) -> dict[str, Any]:
    job: dict[str, Any] = answer(
        "train", exam, "--target", "passed", "--sensitive", "group", "--algorithm", "linear", "--trials", "1"
    )
    return job


def test_a_training_is_waited_for_and_shown(trained: dict[str, Any]) -> None:
    """For a program the output is the job; for a user it is the metrics, the baseline and the files."""
    assert (trained["status"], trained["request"]["budget"]["max_trials"]) == ("succeeded", 1)
    shown = run("jobs", "show", "train", trained["id"], "--table").stdout
    assert "balanced_accuracy" in shown
    assert "Baseline" in shown
    assert "model.skops" in shown
    assert trained["id"] in run("jobs", "list", "train", "--table").stdout


def test_options_become_the_order(exam: str) -> None:
    """The options arrive in the right fields of the request; folds and a time column determine the split."""
    job = answer(
        *("train", exam, "--target", "passed", "--exclude", "group", "--folds", "3", "--trials", "1", "--no-wait")
    )
    assert job["request"]["features"]["exclude"] == ["group"]
    assert (job["request"]["split"]["strategy"], job["request"]["split"]["folds"]) == ("kfold", 3)
    assert answer("jobs", "cancel", "train", job["id"])["id"] == job["id"]
    assert run("jobs", "watch", "train", job["id"]).exit_code in (0, 1)
    assert run("jobs", "delete", "train", job["id"]).exit_code == 0
    refused = run("train", exam, "--target", "passed", "--time-column", "nowhere")
    assert (refused.exit_code, "nowhere" in refused.stderr) == (1, True)


def test_datasets_are_compared(exam: str, tmp_path: Path) -> None:
    """For a user the output is a table, best first, and what follows from it; targets may differ between datasets."""
    file = tmp_path / "match.csv"
    file.write_text(CSV.replace("passed", "won"))
    match = str(answer("catalog", "add", "Match", "--file", str(file), "--visibility", "private")["id"])

    targets = ("--target-of", f"{exam}=passed", "--target-of", f"{match}=won")
    shown = run("compare-models", exam, match, *targets, "--algorithm", "linear", "--trials", "1", "--table")
    assert shown.exit_code == 0, shown.output
    assert "gives the best model" in shown.stdout
    assert "Match" in shown.stdout

    refused = run("compare-models", exam, match, "--target", "passed")
    assert (refused.exit_code, "“passed” is not in the file" in refused.stderr) == (1, True)
    assert run("compare-models", exam, match, *targets, "--target", "passed").exit_code == 2


def test_each_compared_dataset_has_options_of_its_own(exam: str, tmp_path: Path) -> None:
    """An option that names columns or a class has a form for one dataset, which takes the place of that for all."""
    assert set(DatasetOptions.__annotations__) == set(RequestedOptions.__struct_fields__)
    names = {option.name for option in TRAINING.options}
    offered = {option.name for option in COMPARING.options}
    assert {f"{name}_of" for name in RequestedOptions.__struct_fields__ if name in names} <= offered
    assert {"target_of", "include_of", "exclude_of", "sensitive_of"} <= offered

    file = tmp_path / "again.csv"
    file.write_text(CSV)
    again = str(answer("catalog", "add", "Again", "--file", str(file), "--visibility", "private")["id"])
    comparison = answer(
        *("compare-models", exam, again, "--target", "passed", "--algorithm", "linear", "--trials", "1", "--no-wait"),
        *("--include-of", f"{again}=group", "--sensitive-of", f"{again}=group", "--sample-weight-of", f"{again}=hours"),
    )
    options = comparison["request"]["by_dataset"]
    assert options[again]["features"]["include"] == ["group"]
    assert (options[again]["sensitive_features"], options[again]["sample_weight"]) == (["group"], "hours")
    for item in comparison["datasets"]:
        run("jobs", "cancel", "train", item["job_id"])
    assert run("compare-models", exam, again, "--group-column-of", "group").exit_code == 2


def test_a_prediction_is_explained(trained: dict[str, Any]) -> None:
    """Rows are given by number or by value, and explained in tables and a text; a dataset needs no model."""
    shown = run("explain", "--job", trained["id"], "--row", "3", "--table")
    assert shown.exit_code == 0, shown.output
    assert "Row 3" in shown.stdout
    assert "hours" in shown.stdout
    values = json.dumps({"hours": 12, "group": "a"})
    assert answer("explain", "--job", trained["id"], "--values", values, "--scope", "local")["result"]["local"]
    dataset = str(trained["request"]["dataset_id"])
    assert answer("explain", "--dataset", dataset, "--target", "passed")["result"]["narrative"]["en"]


def test_files_are_downloaded(trained: dict[str, Any], tmp_path: Path) -> None:
    """A file of a job is written to the chosen path; a path that cannot be written is reported."""
    into = tmp_path / "card.md"
    done = answer("jobs", "download", "train", trained["id"], "model_card.md", "--to", str(into))
    assert done["bytes"] == into.stat().st_size > 0
    failed = run("jobs", "download", "train", trained["id"], "model_card.md", "--to", str(tmp_path))
    assert (failed.exit_code, str(tmp_path) in failed.stderr) == (2, True)


def test_a_job_that_fails_says_why(exam: str) -> None:
    """A job that was cancelled or has failed results in the exit status of an error."""
    job = answer("train", exam, "--target", "passed", "--trials", "200", "--no-wait")
    answer("jobs", "cancel", "train", job["id"])
    watched = run("jobs", "watch", "train", job["id"], "--table")
    assert (watched.exit_code, "cancelled" in watched.stdout) == (1, True)


def test_leaving_early_leaves_the_job_alone(exam: str, address: str) -> None:
    """Ctrl-C while waiting prints how to continue watching, and the job goes on."""
    job = answer("train", exam, "--target", "passed", "--trials", "50", "--no-wait")

    class Impatient(Touchstone):
        def wait(self, *_: Any, **__: Any) -> Any:
            raise KeyboardInterrupt

    with Impatient(address) as client:
        client.login("me@example.org", PASSWORD)
        found = client.get_job("train", job["id"])
        with pytest.raises(typer.Exit) as left:
            wait_with_progress(CommandContext(address, as_json=True, client=client), found)
    assert left.value.exit_code == 1
    assert answer("jobs", "show", "train", job["id"])["status"] in ("queued", "running")
    answer("jobs", "cancel", "train", job["id"])
