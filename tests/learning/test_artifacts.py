"""The files of a training agree with its result, and the model predicts the same outside of Touchstone."""

import io
import json
import subprocess
import sys
from collections.abc import Callable, Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pandas as pd
import pytest

from tests.learning.small_tables import Progress, csv_file, messy_table, model_of, train
from tests.machine import skip_or_fail
from touchstone.learning.artifacts import example, model_artifact
from touchstone.learning.artifacts.example_rows import rows_as_json
from touchstone.learning.column_types import ColumnKind, ColumnSchema, parse_cell, schema_to_dict
from touchstone.learning.localized_text import format_fact
from touchstone.learning.prediction import predict
from touchstone.learning.request_definitions import TrainingRequest
from touchstone.learning.table_reader import read_table
from touchstone.learning.task_interface import DataFile, Outcome
from touchstone.learning.training import run_training

SHORT = {"algorithms": ["linear"], "budget": {"max_trials": 1}}
DATASET = {
    "id": 7,
    "name": "A messy table",
    "licenses": ["CC-BY-4.0"],
    "ethical_record": [
        {"attribute": "informed_consent", "value": True, "level": "documented"},
        {"attribute": "transparency", "value": None, "level": None},
    ],
    "purposes": [{"quote": "Collected to plan classes only.", "level": "documented"}],
}


def contents(outcome: Outcome) -> Mapping[str, bytes]:
    """Return the files of a training by name."""
    return {file.name: file.path.read_bytes() for file in outcome.artifacts}


@pytest.mark.parametrize("target", ["outcome", "colour", "score"])
def test_predictions_and_split_are_those_of_the_result(tmp_path: Path, target: str) -> None:
    """The metrics of the result can be recomputed from the predictions, whose rows are the test rows."""
    frame = messy_table(120).assign(score=np.arange(120) * 1.5)
    outcome = train(frame, target, tmp_path, **SHORT, split={"strategy": "kfold", "folds": 3})
    files = contents(outcome)
    predictions = pd.read_parquet(io.BytesIO(files["predictions.parquet"]))
    split = json.loads(files["split.json"])

    test_rows = [predictions["row"][predictions["fold"] == number].tolist() for number in range(3)]
    assert test_rows == [fold["test"] for fold in split["folds"]]
    assert all(not set(fold["test"]) & set(fold["train"]) for fold in split["folds"])

    truth = frame[target].iloc[predictions["row"]].to_numpy()
    assert (predictions["truth"].to_numpy() == truth).all()
    if target == "score":
        return
    is_correct = predictions["truth"] == predictions["prediction"]
    accuracies = is_correct.groupby(predictions["fold"]).mean()
    assert outcome.result["metrics"]["folds"]["accuracy"]["values"] == pytest.approx(accuracies.tolist())
    classes = outcome.result["model"]["classes"]
    probabilities = predictions[[f"probability_{label}" for label in classes]]
    assert probabilities.sum(axis=1).to_numpy() == pytest.approx(1)


def test_card_names_the_dataset_its_licence_and_its_ethical_record(tmp_path: Path) -> None:
    """The card describes in both formats the data, the intended use of the model, and its metrics by group."""
    intended_use = {"intended_use": "Sort the waiting list."}
    body = {"dataset_id": 7, "target": "outcome", **intended_use, "sensitive_features": ["sex", "colour"], **SHORT}
    request = msgspec.convert(body, TrainingRequest)
    project = {"name": "Admissions", "description": "Find applicants\nwho need help."}
    data_file = DataFile(csv_file(messy_table()).stream, "csv", dataset=DATASET, project=project)
    outcome = run_training(request, data_file, scratch=tmp_path, report=Progress())

    card = json.loads(contents(outcome)["model_card.json"])
    assert card["dataset"]["licenses"] == ["CC-BY-4.0"]
    assert card["dataset"]["ethical_record"][0]["level"] == "documented"
    assert card["positive_class"] == outcome.result["model"]["positive_class"]
    assert card["group_metrics"] == outcome.result["group_metrics"]
    assert card["warnings"] == outcome.result["warnings"]

    french, english = contents(outcome)["model_card.md"].decode().split("\n---\n")
    assert "Predict “outcome” for rows that were collected like those of “A messy table”." in english
    assert "Stated when the training was started: “Sort the waiting list”." in english
    assert "Need of the project “Admissions”: “Find applicants who need help”." in english
    assert "says about their use (documented): “Collected to plan classes only”." in english
    assert f"The positive class is “{card['positive_class']}”" in english
    assert "Licence: CC-BY-4.0." in english
    assert "| Informed consent | yes | documented |" in english
    assert "| Transparency | not known | – |" in english
    assert "### sex × colour" in english
    assert "| Consentement éclairé | oui | documenté |" in french
    assert all(warning["text"]["fr"] in french for warning in card["warnings"])


@pytest.mark.parametrize("algorithm", ["linear", "lightgbm"])
def test_card_names_the_seed_and_the_software_of_the_training(tmp_path: Path, algorithm: str) -> None:
    """A reader who trains again knows what to install, including the library that only some models need."""
    body = {"dataset_id": 7, "target": "outcome", "algorithms": [algorithm], "budget": {"max_trials": 1}, "seed": 41}
    data_file = DataFile(csv_file(messy_table()).stream, "csv", dataset=DATASET)
    outcome = run_training(msgspec.convert(body, TrainingRequest), data_file, scratch=tmp_path, report=Progress())

    french, english = contents(outcome)["model_card.md"].decode().split("\n---\n")
    assert "Random seed: 41." in english
    assert "Graine aléatoire\N{NO-BREAK SPACE}: 41." in french
    for package in ("touchstone", "scikit-learn"):
        assert f"{package} {metadata.version(package)}" in english
    assert ("lightgbm" in english.partition("## Seed and versions")[2]) == (algorithm == "lightgbm")


def test_card_has_one_dash_for_a_rate_that_is_not_defined(tmp_path: Path) -> None:
    """If no row of a group is predicted to be positive, its predictive value has neither a value nor an interval."""
    outcome = train(messy_table(), "outcome", tmp_path, sensitive_features=["sex"], algorithms=["baseline"])
    card = contents(outcome)["model_card.md"].decode()
    [line] = [line for line in card.split("### sex")[-1].splitlines() if line.startswith("| f |")]
    assert line.endswith("] | – |")


def test_card_lists_the_rates_of_each_class(tmp_path: Path) -> None:
    """With more than two classes, the warnings name rates of classes, so the card has them for every group."""
    outcome = train(messy_table(), "colour", tmp_path, sensitive_features=["sex"], budget={"max_trials": 1})
    (entry,) = outcome.result["group_metrics"]
    english = contents(outcome)["model_card.md"].decode().split("\n---\n")[1]
    for name in outcome.result["model"]["classes"]:
        table = english.split(f"#### Class “{name}” as the positive one\n\n")[1].split("\n\n")[0].splitlines()
        assert table[0].startswith("| Group | Rows | Rate of positive predictions | True positive rate |")
        for line, group in zip(table[2:], entry["groups"], strict=True):
            rate = group["classes"][name]["selection_rate"]["value"]
            assert line.startswith(f"| {group['group']} | {group['rows']} | {format_fact(rate, 'en')} [")


@pytest.mark.parametrize("licences", [["unknown"], []])
def test_card_says_in_both_languages_that_the_licence_is_unknown(tmp_path: Path, licences: list[str]) -> None:
    """The catalog writes an unknown licence as a word, which is no name of a licence."""
    request = msgspec.convert({"dataset_id": 7, "target": "outcome", **SHORT}, TrainingRequest)
    data_file = DataFile(csv_file(messy_table()).stream, "csv", dataset=DATASET | {"licenses": licences})
    outcome = run_training(request, data_file, scratch=tmp_path, report=Progress())
    french, english = contents(outcome)["model_card.md"].decode().split("\n---\n")
    assert "Licence\u00a0: inconnue." in french
    assert "Licence: unknown." in english


@pytest.mark.parametrize("target", ["outcome", "colour", "score"])
def test_example_predicts_the_same_as_the_service(tmp_path: Path, target: str) -> None:
    """Numbers, categories, dates, texts and missing values are read alike by the example and by the service."""
    frame = messy_table(150).assign(score=np.arange(150) * 1.5, is_new=np.arange(150) % 3 == 0)
    outcome = train(frame, target, tmp_path, budget={"max_trials": 1})
    table = read_table(csv_file(frame))
    rows = rows_as_json(table.frame.drop(columns=[target]).head(40))

    pipeline, record = example.load_model(tmp_path / "model.skops")
    predictions = example.predict(pipeline, record, rows)
    expected_predictions = predict(model_artifact.load(model_of(outcome)), rows)["predictions"]
    assert [entry["prediction"] for entry in predictions] == [entry["prediction"] for entry in expected_predictions]
    if target != "score":
        probabilities = [list(prediction["probabilities"].values()) for prediction in predictions]
        assert probabilities == [prediction["probabilities"] for prediction in expected_predictions]


NUMBERS = (
    "7",
    "-7.5",
    "1e3",
    "+ 4",
    "1,234.5",
    "1.234,5",
    "12,5",
    "1 234",
    "1'234",
    "$1,234.00",
    "-$5",
    "$-5",
    "45%",
    "45 %",
    "(1,234.5)",
    "($5)",
    "$ (5)",
    "(45%)",
    "(45) %",
    "\u0661\u0662",
)
OTHER_CELLS = (
    "",
    " NA ",
    "unknown",
    "true",
    "inf",
    "\N{MINUS SIGN}3",
    "5 kg",
    "KG",
    "1_000",
    "--5",
    "-(5)",
    "(-5)",
    "(5",
    "abc",
    "1,2,3",
    "e5",
    "5e",
)
JSON_CELLS = (None, True, False, 3, 2.5, 4.0, 1e31)


@pytest.mark.parametrize("unit", ["", "%", "$", "kg"])
@pytest.mark.parametrize(
    ("thousands", "decimal_comma"), [("", False), ("", True), (",", False), (".", True), (" ", True)]
)
def test_example_reads_numbers_like_the_service(unit: str, thousands: str, decimal_comma: bool) -> None:
    """In every notation, a cell is the same number for both, or both reject it."""
    schema = ColumnSchema(
        "n", ColumnKind.NUMBER, distinct=2, missing=0, unit=unit, thousands=thousands, decimal_comma=decimal_comma
    )
    for cell in (*NUMBERS, *OTHER_CELLS, *JSON_CELLS):
        expected = read_or_reject(lambda cell: parse_cell(schema, cell), cell)
        number = read_or_reject(lambda cell: example.read_number(schema_to_dict(schema), cell), cell)
        assert number == pytest.approx(expected, nan_ok=True), cell


@pytest.mark.parametrize("has_plus", [False, True])
@pytest.mark.parametrize("kind", [ColumnKind.BOOLEAN, ColumnKind.CATEGORY, ColumnKind.DATE])
def test_example_reads_other_cells_like_the_service(kind: ColumnKind, has_plus: bool) -> None:
    """Booleans, categories and dates are the same for both, whichever way they are written."""
    schema = ColumnSchema("c", kind, distinct=2, missing=0, date_format="%d/%m/%Y", has_plus=has_plus)
    record = schema_to_dict(schema)
    cells: dict[ColumnKind, list[Any]] = {
        ColumnKind.BOOLEAN: ["TRUE", " false", 1, 0, "1", True, None, "n/a"],
        ColumnKind.CATEGORY: [" red ", 7, 7.0, 7.5, True, None, "?", "-", " -- ", "+", "NULL"],
        ColumnKind.DATE: ["31/12/2024", "2024-12-31", "2024-12-31T10:00:00+02:00", None, "", "31-12-2024"],
    }
    readers: dict[ColumnKind, Callable[[dict[str, Any], Any], Any]] = {
        ColumnKind.BOOLEAN: example.read_boolean,
        ColumnKind.CATEGORY: example.read_word,
        ColumnKind.DATE: example.read_date,
    }
    for cell in cells[kind]:
        expected = read_or_reject(lambda cell: parse_cell(schema, cell), cell)
        value = read_or_reject(lambda cell: readers[kind](record, cell), cell)
        assert value == expected or (pd.isna(value) and pd.isna(expected)), cell


def read_or_reject(read: Callable[[Any], Any], cell: Any) -> Any:
    """Return the value of a cell, or "rejected" if the cell is not accepted."""
    try:
        return read(cell)
    except ValueError:
        return "rejected"


def test_example_predicts_for_cells_as_they_are_written(tmp_path: Path) -> None:
    """Amounts, shares and dates of a request may be written as in the data file."""
    rng = np.random.default_rng(0)
    prices, shares = rng.uniform(1_000, 9_000, 120), rng.uniform(1, 99, 120)
    frame = pd.DataFrame(
        {
            "price": [f"${price:,.2f}" for price in prices],
            "share": [f"{share:.0f}%" for share in shares],
            "when": [f"{day % 28 + 1:02d}/{day % 12 + 1:02d}/2024" for day in range(120)],
            "outcome": np.where(prices / 9_000 + shares / 99 > 1, "yes", "no"),
        }
    )
    outcome = train(frame, "outcome", tmp_path, **SHORT, split={"strategy": "holdout"})
    rows: list[dict[str, Any]] = frame.drop(columns=["outcome"]).head(20).to_dict("records")  # type: ignore[assignment]

    predictions = example.predict(*example.load_model(tmp_path / "model.skops"), rows)
    expected_predictions = predict(model_artifact.load(model_of(outcome)), rows)["predictions"]
    assert [list(prediction["probabilities"].values()) for prediction in predictions] == [
        prediction["probabilities"] for prediction in expected_predictions
    ]


def test_example_notices_a_model_that_predicts_otherwise(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The example compares its predictions with those of the training, and fails if they differ."""
    train(messy_table(120), "outcome", tmp_path, **SHORT)
    monkeypatch.setattr(example, "MODEL", tmp_path / "model.skops")
    assert example.main([]) == 0

    monkeypatch.setattr(example, "differs", lambda predicted, expected: True)
    assert example.main([]) == 1


def test_example_runs_in_an_environment_of_its_own(tmp_path: Path) -> None:
    """With nothing but the packages of `environment.txt`, the example predicts what the training predicted."""
    files = tmp_path / "files"
    files.mkdir()
    outcome = train(messy_table(120), "outcome", files, algorithms=["lightgbm"], budget={"max_trials": 1})

    environment = tmp_path / "environment"
    python = environment / "bin" / "python"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", environment], check=True)
    install(python, files / "environment.txt")

    rows = tmp_path / "rows.json"
    rows.write_text(json.dumps([{"amount": 40, "colour": "red"}, {"amount": 70.5, "when": "2020-03-01"}]))
    assert len(run_example(python, files).splitlines()) == 5
    predictions = [json.loads(line) for line in run_example(python, files, rows).splitlines()]
    expected_predictions = predict(model_artifact.load(model_of(outcome)), json.loads(rows.read_text()))["predictions"]
    assert [entry["prediction"] for entry in predictions] == [entry["prediction"] for entry in expected_predictions]
    for prediction, expected_prediction in zip(predictions, expected_predictions, strict=True):
        assert list(prediction["probabilities"].values()) == pytest.approx(expected_prediction["probabilities"])


def install(python: Path, requirements: Path) -> None:
    """Install packages into an environment; skip the test if the package index cannot be reached, except under CI."""
    installation = subprocess.run(
        [sys.executable, "-m", "uv", "pip", "install", "--python", python, "--requirement", requirements],
        capture_output=True,
        text=True,
        check=False,
    )
    if installation.returncode != 0:
        skip_or_fail(f"access to the packages of environment.txt ({installation.stderr[-300:]})")


def run_example(python: Path, files: Path, *arguments: Any) -> str:
    """Run the example in its environment, where the packages of the tests cannot be imported."""
    return subprocess.run(
        [python, "-I", files / "example.py", *arguments], capture_output=True, text=True, check=True
    ).stdout
