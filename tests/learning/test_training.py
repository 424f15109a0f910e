"""Training is honest and reproducible, and warns as a careful colleague would."""

import hashlib
import io
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from threadpoolctl import threadpool_limits

from tests.learning.small_tables import Progress, csv_file, explain, messy_table, model_of, parquet_file, train
from touchstone.learning.algorithms import ModelOptions, plan_trials, search_space
from touchstone.learning.artifacts import model_artifact
from touchstone.learning.artifacts.model_artifact import LoadedModel
from touchstone.learning.experiment import prepare_experiment
from touchstone.learning.learning_errors import LearningError
from touchstone.learning.prediction import predict
from touchstone.learning.request_choices import Task
from touchstone.learning.request_definitions import TrainingRequest
from touchstone.learning.row_values import build_frame
from touchstone.learning.table_reader import read_table
from touchstone.learning.target import Target, read_target
from touchstone.learning.task_interface import Json, ModelFile
from touchstone.learning.training import run_training
from touchstone.learning.trial_fitting import suppress_numeric_warnings


def regression_table(rows: int = 120, seed: int = 1) -> pd.DataFrame:
    """Return a regression: y = 3 a - 2 b + noise."""
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=rows), rng.normal(size=rows)
    return pd.DataFrame({"a": a, "b": b, "y": 3 * a - 2 * b + rng.normal(scale=0.1, size=rows)})


def warning_codes(result: dict[str, Any]) -> set[str]:
    return {warning["code"] for warning in result["warnings"]}


def test_a_messy_table_is_trained_on_and_beats_the_baseline(tmp_path: Path) -> None:
    """Missing values, dates, texts, constants and identifiers need no manual cleaning."""
    split = {"strategy": "holdout"}
    result = train(messy_table(), "outcome", tmp_path, sensitive_features=["sex"], split=split).result
    accuracy = result["metrics"]["holdout"]["balanced_accuracy"]
    assert accuracy["value"] > 0.75 > result["metrics"]["baseline"]["balanced_accuracy"]["value"] == 0.5
    assert accuracy["low"] <= accuracy["value"] <= accuracy["high"]
    roles = {column["name"]: (column["role"], column["reason"]) for column in result["profile"]["by_column"]}
    assert roles["id"] == ("left_out", "identifier")
    assert roles["constant"] == ("left_out", "constant")
    assert roles["empty"] == ("left_out", "all_missing")
    assert roles["outcome"] == ("target", None)
    assert roles["amount"] == ("feature", None)
    assert {"columns_left_out", "infinite_values", "dates_split_at_random"} <= warning_codes(result)
    assert json.loads(msgspec.json.encode(result)) == result


@pytest.mark.parametrize("strategy", ["holdout", "kfold"])
def test_the_same_request_makes_the_same_bytes(tmp_path: Path, strategy: str) -> None:
    """Two trainings for the same request have the same metrics and artifacts with the same digests."""
    body = {"split": {"strategy": strategy, **({"folds": 3} if strategy == "kfold" else {})}}
    first, second = (train(messy_table(120), "outcome", tmp_path, **body) for _ in range(2))
    assert first.result == second.result
    assert [artifact.sha256 for artifact in first.artifacts] == [artifact.sha256 for artifact in second.artifacts]


def test_another_process_makes_the_same_bytes(tmp_path: Path) -> None:
    """The model depends neither on the order of hashing nor on addresses in memory."""
    digest = train(messy_table(120), "outcome", tmp_path).artifacts[0].sha256
    code = (
        "from pathlib import Path; from tests.learning.small_tables import messy_table, train; "
        f"print(train(messy_table(120), 'outcome', Path({str(tmp_path)!r})).artifacts[0].sha256)"
    )
    # The rest of the environment stays: which kernels the linear algebra picks may be set there.
    environment = {**os.environ, "PYTHONHASHSEED": "7", "OMP_NUM_THREADS": "2", "PYTHONPATH": "."}
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert process.stdout.strip() == digest


def test_another_seed_splits_otherwise(tmp_path: Path) -> None:
    """The seed determines which rows are held out."""
    frame = messy_table(120)
    results = [train(frame, "outcome", tmp_path, seed=seed).result["metrics"] for seed in (0, 1)]
    assert results[0] != results[1]


def test_folds_measure_every_row_once(tmp_path: Path) -> None:
    """K folds give K values, and the confusion matrix counts every row."""
    split = {"strategy": "kfold", "folds": 4}
    result = train(messy_table(120), "outcome", tmp_path, split=split).result
    assert len(result["metrics"]["folds"]["accuracy"]["values"]) == 4
    cells = result["charts"]["confusion"]["spec"]["en"]["data"]["values"]
    assert sum(cell["rows"] for cell in cells) == 120
    assert result["model"]["fitted_on"] == "all_rows"


def test_the_future_is_predicted_from_the_past() -> None:
    """With a time split, the model learns from earlier rows than those it is evaluated on."""
    frame = messy_table(100).sample(frac=1, random_state=0)
    body = {"dataset_id": 1, "target": "outcome", "split": {"strategy": "time", "time_column": "when"}}
    experiment = prepare_experiment(msgspec.convert(body, TrainingRequest), read_table(csv_file(frame)))
    (fold,) = experiment.folds
    times = experiment.rule.times
    assert times is not None
    assert times[fold.train].max() < times[fold.test].min()
    assert len(fold.test) == pytest.approx(20, abs=1)


def test_a_column_of_words_can_not_order_time(tmp_path: Path) -> None:
    """A time split by a column of words is rejected."""
    with pytest.raises(LearningError, match="time_column_not_ordered"):
        train(messy_table(), "outcome", tmp_path, split={"strategy": "time", "time_column": "colour"})


def test_noise_is_not_sold_as_signal(tmp_path: Path) -> None:
    """If nothing can be learned, the score stays near the baseline, and the result says so."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(150, 20)), columns=[f"x{n}" for n in range(20)])
    frame["y"] = rng.choice(["a", "b"], 150)
    result = train(frame, "y", tmp_path, split={"strategy": "kfold"}, budget={"max_trials": 6}).result
    assert abs(result["metrics"]["folds"]["balanced_accuracy"]["mean"] - 0.5) < 0.1
    assert "not_better_than_baseline" in warning_codes(result)


def test_high_cardinality_does_not_leak_the_target(tmp_path: Path) -> None:
    """An unrelated category with almost one value per row does not help, because its encoding is cross-fitted."""
    rng = np.random.default_rng(0)
    names = [f"n{number}" for number in rng.integers(0, 150, 200)]
    frame = pd.DataFrame({"name": names, "y": rng.choice(["a", "b"], 200)})
    result = train(frame, "y", tmp_path, split={"strategy": "kfold"}, algorithms=["linear"]).result
    assert result["metrics"]["folds"]["balanced_accuracy"]["mean"] < 0.62


def test_a_column_that_knows_the_answer_is_named(tmp_path: Path) -> None:
    """A copy of the target among the features is reported as suspected leakage."""
    frame = messy_table().assign(decision=lambda f: f["outcome"].map({"yes": "granted", "no": "refused"}))
    result = train(frame, "outcome", tmp_path).result
    suspects = [warning["facts"]["name"] for warning in result["warnings"] if warning["code"] == "leakage_suspect"]
    assert suspects == ["decision"]


def test_imbalance_rarity_and_missing_targets_have_warnings(tmp_path: Path) -> None:
    """Few rows, a rare class, classes that are too rare, and rows without a target each cause a warning."""
    rng = np.random.default_rng(0)
    labels = ["common"] * 140 + ["rare"] * 8 + ["twice"] * 2 + ["once"] + [""] * 5
    frame = pd.DataFrame({"x": rng.normal(size=len(labels)), "y": labels})
    result = train(frame, "y", tmp_path, algorithms=["linear"]).result
    assert {"few_rows", "class_imbalance", "rare_classes_left_out", "target_missing"} <= warning_codes(result)
    assert result["model"]["classes"] == ["common", "rare"]


@pytest.mark.parametrize(
    ("columns", "english_ending", "french_ending"),
    [
        (20, "e18, e19.", "e18, e19."),
        (21, "e18, e19, and 1 other.", "e18, e19 et 1 autre."),
        (50, "e18, e19, and 30 others.", "e18, e19 et 30 autres."),
    ],
)
def test_long_lists_of_names_say_how_many_are_not_shown(
    tmp_path: Path, columns: int, english_ending: str, french_ending: str
) -> None:
    """A warning names twenty columns and counts the others, so that nobody thinks that these are all."""
    empty = {f"e{number:02d}": "" for number in range(columns)}
    frame = pd.DataFrame({"a": [0, 1, 2, 3] * 15, **empty, "y": ["p", "n", "n"] * 20})
    result = train(frame, "y", tmp_path, algorithms=["baseline"]).result
    [warning] = [warning for warning in result["warnings"] if warning["code"] == "columns_left_out"]
    assert warning["text"]["en"].endswith(english_ending)
    assert warning["text"]["fr"].endswith(french_ending)
    assert warning["text"]["fr"].startswith("Colonnes inutilisables")
    assert warning["facts"].get("other_names", 0) == columns - 20
    assert len(warning["facts"]["names"]) == 20


def nested_table(rows: int) -> pa.Table:
    """Return a table with columns of a number, of lists, of nothing, and of classes."""
    return pa.table(
        {
            "x": np.arange(rows) % 7,
            "tags": pa.array([["u"]] * (rows - 1) + [None]),
            "nothing": pa.nulls(rows),
            "y": pa.array(["p", "n", "n"] * (rows // 3)),
        }
    )


def test_columns_that_are_not_read_have_values_all_the_same(tmp_path: Path) -> None:
    """A column of lists is left out with the reason, and its cells do not count as missing."""
    file = parquet_file(nested_table(60))
    body = {"dataset_id": 1, "target": "y", "budget": {"max_trials": 1}}
    result = run_training(msgspec.convert(body, TrainingRequest), file, scratch=tmp_path, report=Progress()).result

    names = {warning["code"]: warning["facts"].get("names") for warning in result["warnings"]}
    assert (names["columns_unsupported"], names["columns_left_out"]) == (["tags"], ["nothing"])
    assert result["profile"]["missing_percentage"] == 100 * 61 / 240


@pytest.mark.parametrize(("target", "code"), [("tags", "target_unsupported"), ("nothing", "target_all_missing")])
def test_columns_that_are_not_read_cannot_be_predicted(target: str, code: str) -> None:
    """A target of lists is refused because of its type, and not as if it were empty."""
    with pytest.raises(LearningError) as error_info:
        read_target(read_table(parquet_file(nested_table(60))), target)
    assert error_info.value.code == code


def test_percentages_in_warnings_do_not_claim_more_than_the_table_has(tmp_path: Path) -> None:
    """Shares are not rounded before they are shown with more digits, nor up to 100 % of missing values."""
    frame = pd.DataFrame({"x": np.arange(288.0) % 7, "note": [""] * 287 + ["once"], "y": ["a"] * 20 + ["b"] * 268})
    result = train(frame, "y", tmp_path, algorithms=["linear"]).result
    sentences = {warning["code"]: warning["text"]["en"] for warning in result["warnings"]}
    assert "(6.94%)" in sentences["class_imbalance"]
    assert "(6.9% of the rows)" in result["decision"]["text"]["en"]
    assert "99%" in sentences["mostly_missing"]


def test_a_few_extreme_targets_have_a_warning(tmp_path: Path) -> None:
    """Where one row in a hundred makes up most of the variance, the figures depend on it, and a warning says so."""
    rng = np.random.default_rng(0)
    prices = rng.lognormal(3, 0.5, 150)
    frame = pd.DataFrame({"x": prices + rng.normal(0, 5, 150), "price": prices})
    assert "extreme_targets" not in warning_codes(train(frame, "price", tmp_path, algorithms=["linear"]).result)

    frame.loc[[7, 70], "price"] = 2_000
    result = train(frame, "price", tmp_path, algorithms=["linear"]).result
    [facts] = [warning["facts"] for warning in result["warnings"] if warning["code"] == "extreme_targets"]
    assert facts == {"rows": 2, "percent": 98}


@pytest.mark.parametrize("strategy", ["holdout", "kfold"])
def test_a_class_of_three_rows_is_learned(tmp_path: Path, strategy: str) -> None:
    """Two rows of it are enough to learn from, and one to measure with."""
    rng = np.random.default_rng(0)
    classes = np.array(["a"] * 60 + ["b"] * 60 + ["rare"] * 3)
    frame = pd.DataFrame({"x": rng.normal(scale=0.3, size=123) + np.array([0] * 60 + [3] * 60 + [6] * 3), "y": classes})
    outcome = train(frame, "y", tmp_path, split={"strategy": strategy}, budget={"max_trials": 6})
    assert outcome.result["model"]["classes"] == ["a", "b", "rare"]
    assert "rare_classes_left_out" not in warning_codes(outcome.result)

    predictions = predict(model_artifact.load(model_of(outcome)), [{"x": 0}, {"x": 3}, {"x": 6}])["predictions"]
    assert [prediction["prediction"] for prediction in predictions] == ["a", "b", "rare"]


def test_small_groups_are_not_judged(tmp_path: Path) -> None:
    """A group with few evaluated rows is marked, causes a warning, and is left out of the gaps."""
    result = train(messy_table(), "outcome", tmp_path, sensitive_features=["sex", "amount"]).result
    assert "small_groups" in warning_codes(result)
    assert all(group["too_small"] for group in result["group_metrics"][1]["groups"])
    assert result["group_metrics"][1]["gaps"]["accuracy"]["difference"] is None


def test_declarations_are_compared_with_measurements(tmp_path: Path) -> None:
    """The result shows whether the file confirms or contradicts a declaration."""
    undeclared_file = csv_file(messy_table())
    declarations = {"instances_number": 240, "features_number": 12, "missing_values_percentage": None}
    request = msgspec.convert({"dataset_id": 1, "target": "outcome", "budget": {"max_trials": 1}}, TrainingRequest)
    declared_file = type(undeclared_file)(undeclared_file.stream, undeclared_file.file_type, declarations)
    profile = run_training(request, declared_file, scratch=tmp_path, report=Progress()).result["profile"]
    assert [(row["attribute"], row["measured"], row["agrees"]) for row in profile["declared"]] == [
        ("instances_number", 240, True),
        ("features_number", 9, False),
    ]


@pytest.mark.parametrize(
    ("frame", "target", "body", "code"),
    [
        (messy_table(), "constant", {}, "target_one_class"),
        (messy_table(), "empty", {}, "target_all_missing"),
        (messy_table(30).assign(y=["a", "b", "c"] + ["d"] * 27), "y", {}, "target_classes_too_rare"),
        (messy_table(30), "city", {}, "target_classes_too_rare"),
        (messy_table(60).assign(y=[f"case {row}" for row in range(60)]), "y", {}, "target_classes_too_rare"),
        (
            messy_table(30).assign(y=list("abcde") * 6),
            "y",
            {"split": {"strategy": "kfold", "folds": 10}},
            "folds_exceed_classes",
        ),
        (
            messy_table(30).assign(year=[2019] * 4 + [2020] * 26),
            "outcome",
            {"split": {"strategy": "time", "time_column": "year", "test_size": 0.5}},
            "too_few_training_rows",
        ),
        (messy_table(), "colour", {"task": "regression"}, "target_not_numeric"),
        (messy_table(), "notes", {"metric": "r2"}, "target_not_numeric"),
        (messy_table(), "outcme", {}, "target_not_found"),
        (messy_table(10), "outcome", {}, "too_few_rows"),
        (messy_table()[["id", "constant", "outcome"]], "outcome", {}, "no_features"),
    ],
)
def test_requests_that_the_table_contradicts_are_refused(
    tmp_path: Path, frame: pd.DataFrame, target: str, body: dict[str, Any], code: str
) -> None:
    """A target that cannot be learned is rejected with its reason, and no artifact remains."""
    with pytest.raises(LearningError) as error_info:
        train(frame, target, tmp_path, **body)
    assert error_info.value.code == code
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("values", "task"),
    [
        ([0, 1] * 30, "classification"),
        (list(range(60)), "regression"),
        ([0.5, 1.5] * 30, "regression"),
        (["a", "b"] * 30, "classification"),
        ([True, False] * 30, "classification"),
    ],
)
def test_the_task_is_what_the_target_looks_like(tmp_path: Path, values: list[Any], task: str) -> None:
    """Words and few distinct integers are classes, and other numbers are quantities."""
    frame = pd.DataFrame({"x": np.random.default_rng(0).normal(size=60), "y": values})
    assert train(frame, "y", tmp_path, algorithms=["baseline"]).result["model"]["task"] == task


def trials_of(result: dict[str, Any]) -> list[dict[str, Any]]:
    return [entry for entry in result["leaderboard"] if entry["algorithm"] != "ensemble"]


def test_the_budget_counts_trials(tmp_path: Path) -> None:
    """The search stops after the requested number of trials, or when all settings have been tried."""
    result = train(messy_table(120), "outcome", tmp_path, budget={"max_trials": 3}).result
    assert (len(trials_of(result)), result["stopped_by"]) == (3, "trials")
    exhaustive_result = train(
        messy_table(120), "outcome", tmp_path, algorithms=["linear"], budget={"max_trials": 200}
    ).result
    assert (len(trials_of(exhaustive_result)), exhaustive_result["stopped_by"]) == (8, "space")


def test_trials_are_the_same_for_the_same_seed_and_take_turns() -> None:
    """The first settings of every algorithm are tried before the second settings of any."""
    names = ("linear", "random_forest")
    target = Target("y", Task.CLASSIFICATION, np.zeros(9, dtype=np.intp), np.arange(9), ("a", "b"))
    options_by_seed = [ModelOptions(target, balances_classes=True, seed=seed) for seed in range(5)]
    trials = plan_trials(names, options_by_seed[0], max_trials=4)
    assert [trial.algorithm for trial in trials] == [*names, *names]
    assert trials == plan_trials(names, options_by_seed[0], max_trials=4)
    assert all(search_space("random_forest", other_options)[0] == trials[1] for other_options in options_by_seed)
    assert [trial.is_balanced for trial in trials] == [True] * 4
    assert {trial.is_balanced for trial in search_space("linear", options_by_seed[0])} == {True, False}


def test_known_good_settings_come_before_all_others() -> None:
    """An algorithm with few presets waits until the presets of the others have been planned, too."""
    numbers = np.arange(1.0, 10.0)
    options = ModelOptions(Target("y", Task.REGRESSION, numbers, np.arange(9)), balances_classes=False, seed=0)
    trials = plan_trials(("decision_tree", "lightgbm"), options, max_trials=8)
    assert [trial.algorithm for trial in trials] == ["decision_tree", *["lightgbm"] * 6, "decision_tree"]


def test_linear_models_with_strong_and_weak_penalties_are_tried_by_default() -> None:
    """Small tables may need a weak penalty, and tables of many columns a strong one."""
    request = TrainingRequest(dataset_id=1, target="y")
    target = Target("y", Task.CLASSIFICATION, np.zeros(9, dtype=np.intp), np.arange(9), ("a", "b"))
    options = ModelOptions(target, balances_classes=False, seed=0)
    trials = plan_trials(request.chosen_algorithms, options, max_trials=request.budget.max_trials)
    penalties = {trial.settings["C"] for trial in trials if trial.algorithm == "linear" and "C" in trial.settings}
    assert penalties == {0.01, 0.1, 1.0, 10.0}


@pytest.mark.parametrize(("zeros", "lowest", "is_tried"), [(1, 0.0, True), (5, 0.0, False), (1, -1.0, False)])
def test_errors_in_proportion_are_expected_of_amounts_only(zeros: int, lowest: float, is_tried: bool) -> None:
    """The objective for amounts is tried if no number is negative and few are 0."""
    numbers = np.concatenate([np.zeros(zeros), np.arange(1.0, 9.0), [lowest]])
    options = ModelOptions(Target("y", Task.REGRESSION, numbers, np.arange(len(numbers))), False, seed=0)
    trial_settings = [trial.settings for trial in search_space("lightgbm", options)]
    assert any(settings.get("objective") == "tweedie" for settings in trial_settings) is is_tried


def test_progress_never_goes_back(tmp_path: Path) -> None:
    """The percentage never decreases, through all phases."""
    request = msgspec.convert({"dataset_id": 1, "target": "outcome", "budget": {"max_trials": 2}}, TrainingRequest)
    progress = Progress()
    run_training(request, csv_file(messy_table(120)), scratch=tmp_path, report=progress)
    percents = [percent for percent, _phase, _message in progress.reports]
    assert percents == sorted(percents)
    assert [phase for _percent, phase, _message in progress.reports][:1] == ["reading"]
    assert {phase for _percent, phase, _message in progress.reports} == {
        "reading",
        "searching",
        "evaluating",
        "writing",
    }


def test_an_exception_from_the_report_ends_the_work(tmp_path: Path) -> None:
    """A cancelled job stops at its next report."""

    class Cancelled(Exception):
        pass

    def report(percent: float, phase: str, *, step: int, total_steps: int, message: str) -> None:
        if phase == "searching":
            raise Cancelled

    request = msgspec.convert({"dataset_id": 1, "target": "outcome"}, TrainingRequest)
    with pytest.raises(Cancelled):
        run_training(request, csv_file(messy_table(120)), scratch=tmp_path, report=report)


def assert_predicted_by_pipeline(model: LoadedModel, rows: list[dict[str, Any]], answer: Json) -> None:
    """Check that predictions are exactly those of the stored pipeline, which scikit-learn runs."""
    frame = build_frame(model.columns, rows, model.other_columns)
    with suppress_numeric_warnings(), threadpool_limits(1):
        if model.classes:
            expected = model.pipeline.predict_proba(frame).tolist()
            assert [prediction["probabilities"] for prediction in answer["predictions"]] == expected
        else:
            expected = model.pipeline.predict(frame).tolist()
            assert [prediction["prediction"] for prediction in answer["predictions"]] == expected


@pytest.mark.parametrize(
    "algorithm",
    [
        "baseline",
        "linear",
        "kernel",
        "decision_tree",
        "random_forest",
        "extra_trees",
        "hist_gradient_boosting",
        "lightgbm",
    ],
)
@pytest.mark.parametrize("target", ["outcome", "colour", "score"])
def test_every_algorithm_is_stored_and_predicts_alike(tmp_path: Path, algorithm: str, target: str) -> None:
    """With two classes, three classes and numbers, a loaded model predicts the same as the original."""
    frame = messy_table(150).assign(score=lambda f: np.arange(150) * 1.5 + (f["sex"] == "f"))
    body = {"algorithms": [algorithm], "budget": {"max_trials": 1}, "features": {"exclude": ["id"]}}
    outcome = train(frame, target, tmp_path, **body)
    model = model_artifact.load(model_of(outcome))
    rows = json.loads(frame.drop(columns=[target]).head(5).to_json(orient="records", date_format="iso"))
    answer = predict(model, rows)
    assert model.record["algorithm"] == algorithm
    assert_predicted_by_pipeline(model, rows, answer)
    assert len(answer["predictions"]) == 5
    if target == "score":
        assert all(isinstance(prediction["prediction"], float) for prediction in answer["predictions"])
    else:
        assert all(prediction["prediction"] in answer["classes"] for prediction in answer["predictions"])
        assert all(sum(prediction["probabilities"]) == pytest.approx(1) for prediction in answer["predictions"])


def test_rows_that_make_no_sense_are_refused(tmp_path: Path) -> None:
    """Misspelled columns, words for numbers and too many rows are rejected; a missing column counts as missing."""
    model = model_artifact.load(model_of(train(messy_table(120), "outcome", tmp_path, budget={"max_trials": 1})))
    cases: list[tuple[list[dict[str, Any]], str]] = [
        ([{"amuont": 1}], "row_column_unknown"),
        ([{"amount": "many"}], "row_value_invalid"),
        ([{"when": "someday"}], "row_value_invalid"),
        ([{}] * 1_001, "too_many_rows"),
    ]
    for rows, code in cases:
        with pytest.raises(LearningError, match=code):
            predict(model, rows)
    assert len(predict(model, [{}, {"amount": 1e300}, {"colour": "never seen"}])["predictions"]) == 3
    assert predict(model, [])["predictions"] == []


def test_models_are_loaded_by_their_digest_only(tmp_path: Path) -> None:
    """Another model, a changed byte, or bytes that are not a model, are rejected before anything is unpacked."""
    model = model_of(train(messy_table(120), "outcome", tmp_path, budget={"max_trials": 1}))
    data = model.stream.read()
    for other_data, digest in ((data, "0" * 64), (data[:-1], model.sha256)):
        with pytest.raises(LearningError, match="artifact_damaged"):
            model_artifact.load(ModelFile(io.BytesIO(other_data), digest))
    with pytest.raises(LearningError, match="artifact_damaged"):
        model_artifact.load(ModelFile(io.BytesIO(b"junk"), hashlib.sha256(b"junk").hexdigest()))


def test_types_outside_the_list_are_never_loaded(tmp_path: Path) -> None:
    """A model that names a forbidden type is rejected even if its digest is right."""
    model = model_of(
        train(messy_table(120), "outcome", tmp_path, algorithms=["decision_tree"], budget={"max_trials": 1})
    )
    buffer = io.BytesIO()
    with zipfile.ZipFile(model.stream) as source, zipfile.ZipFile(buffer, "w") as copy:
        for name in source.namelist():
            content = source.read(name)
            copy.writestr(name, content.replace(b"DecisionTreeClassifier", b"DecisionTreeKidnapper"))
    data = buffer.getvalue()
    with pytest.raises(LearningError, match="artifact_untrusted"):
        model_artifact.load(ModelFile(io.BytesIO(data), hashlib.sha256(data).hexdigest()))


def test_the_card_contains_data_quality_groups_and_limits(tmp_path: Path) -> None:
    """The model card contains the digest, the metrics, the groups and the warnings, in both languages."""
    outcome = train(messy_table(), "outcome", tmp_path, sensitive_features=["sex"])
    card = (tmp_path / "model_card.md").read_text()
    assert outcome.result["profile"]["sha256"] in card
    for phrase in (
        "# Fiche du modèle\u00a0: outcome",
        "# Model card: outcome",
        "Balanced accuracy",
        "### sex",
        "| f | ",
    ):
        assert phrase in card
    assert all(warning["text"]["en"] in card for warning in outcome.result["warnings"])


def test_regression_recovers_what_was_put_in(tmp_path: Path) -> None:
    """A line with little noise is found, and the error has the size of the noise."""
    result = train(regression_table(), "y", tmp_path, algorithms=["linear"]).result
    assert result["metrics"]["holdout"]["r2"]["value"] > 0.99
    assert result["metrics"]["holdout"]["rmse"]["value"] == pytest.approx(0.1, abs=0.05)


def odd_table(rows: int = 60) -> pd.DataFrame:
    """Return a table with names and columns that break naive preparations."""
    rng = np.random.default_rng(0)
    rare_dates = [f"2024-01-{day + 1:02d}" if day < 4 else "" for day in range(rows)]
    return pd.DataFrame(
        {
            "a__b": pd.date_range("2024-01-01", periods=rows).astype(str),
            "seldom": rare_dates,
            "x": rng.normal(size=rows),
            "c": rng.choice(["x", "y"], rows),
            "c_x": rng.normal(size=rows),
            "remark": [f"?? !! .. {'-' * (number % 40)} {number}" for number in range(rows)],
            "zero": rng.choice([0.0, 1e29], rows),
            "y": rng.choice(["no", "yes"], rows),
        }
    )


@pytest.mark.parametrize("algorithm", ["linear", "hist_gradient_boosting"])
def test_odd_names_and_columns_do_not_break_the_preparation(tmp_path: Path, algorithm: str) -> None:
    """Double underscores, rare dates, texts without words and huge numbers are prepared."""
    result = train(odd_table(), "y", tmp_path, algorithms=[algorithm], budget={"max_trials": 1}).result
    assert {column["name"] for column in result["model"]["features"]} == set(odd_table().columns) - {"y"}


def test_a_past_of_one_class_teaches_nothing(tmp_path: Path) -> None:
    """If all earlier rows have the same class, a time split is rejected without a crash."""
    rows = 60
    days = pd.date_range("2024-01-01", periods=rows).astype(str)
    labels = ["no"] * 48 + ["yes"] * 12
    frame = pd.DataFrame({"day": days, "x": np.random.default_rng(0).normal(size=rows), "y": labels})
    with pytest.raises(LearningError, match="past_one_class"):
        train(frame, "y", tmp_path, split={"strategy": "time", "time_column": "day"})
    learnable_frame = frame.assign(y=["no"] * 40 + ["yes"] * 20)
    split = {"strategy": "time", "time_column": "day"}
    assert train(learnable_frame, "y", tmp_path, split=split, algorithms=["linear"]).result["metrics"]["holdout"]


def test_few_moments_are_split_between_moments(tmp_path: Path) -> None:
    """Two years are enough for a time split, and a single year is not."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"year": [2020] * 50 + [2021] * 30, "x": rng.normal(size=80), "y": rng.normal(size=80)})
    split = {"strategy": "time", "time_column": "year", "test_size": 0.3}
    body = {"split": split, "algorithms": ["linear"]}
    assert train(frame, "y", tmp_path, **body).result["metrics"]["holdout"]["r2"]["value"] is not None
    with pytest.raises(LearningError, match="time_column_not_ordered"):
        train(frame.assign(year=2020), "y", tmp_path, **body)


def test_a_first_moment_of_most_rows_is_the_past(tmp_path: Path) -> None:
    """85 rows of one year and 15 of the next are split between the years, whatever share was requested."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"year": [2019] * 85 + [2020] * 15, "x": rng.normal(size=100), "y": rng.normal(size=100)})
    body = {"dataset_id": 1, "target": "y", "split": {"strategy": "time", "time_column": "year", "test_size": 0.2}}
    (fold,) = prepare_experiment(msgspec.convert(body, TrainingRequest), read_table(csv_file(frame))).folds
    assert (len(fold.train), len(fold.test)) == (85, 15)


@pytest.mark.parametrize("early_rows", [1, 4])
@pytest.mark.parametrize("algorithm", ["linear", "hist_gradient_boosting", "random_forest"])
def test_a_first_moment_of_few_rows_does_not_end_the_search(tmp_path: Path, early_rows: int, algorithm: str) -> None:
    """If almost all earlier rows have the same time, trials are compared by folds of these rows."""
    rows = 60
    frame = messy_table(rows).assign(year=[2018] * early_rows + [2019] * (40 - early_rows) + [2020] * 20)
    split = {"strategy": "time", "time_column": "year", "test_size": 0.3}
    result = train(frame, "outcome", tmp_path, split=split, algorithms=[algorithm], budget={"max_trials": 1}).result
    assert result["leaderboard"][0]["score"]["mean"] is not None


@pytest.mark.parametrize("algorithm", ["linear", "hist_gradient_boosting", "random_forest"])
@pytest.mark.parametrize("target", ["level", "score"])
def test_the_shortest_past_is_learned_from(tmp_path: Path, algorithm: str, target: str) -> None:
    """Ten rows with as many classes, categories and texts are enough for every step."""
    frame = messy_table(100, seed=3).assign(
        level=[f"c{number}" for number in [*range(10), *([*range(10)] * 9)]],
        score=np.arange(100) % 37 + 0.5,
        day=[1] * 10 + [2] * 90,
    )
    split = {"strategy": "time", "time_column": "day", "test_size": 0.5}
    result = train(frame, target, tmp_path, split=split, algorithms=[algorithm], budget={"max_trials": 1}).result
    assert result["metrics"]["holdout"]


def test_classes_that_appear_only_in_later_rows_are_reported(tmp_path: Path) -> None:
    """A class that is evaluated but was never learned is reported."""
    frame = messy_table(100).assign(kind=(["a", "b"] * 40) + ["a", "b", "new", "new"] * 5)
    split = {"strategy": "time", "time_column": "when"}
    result = train(frame, "kind", tmp_path, split=split, algorithms=["linear"]).result
    (warning,) = [warning for warning in result["warnings"] if warning["code"] == "classes_never_learned"]
    assert warning["facts"] == {"names": ["new"]}


@pytest.mark.parametrize(
    "values",
    [
        1e17 + np.arange(60),
        np.where(np.arange(60) % 2, 1e15, 1e15 + 0.125),
        2.0**53 + 2 * np.arange(60),
        np.where(np.arange(60) % 2, 1e29, 1.0),
        np.where(np.arange(60) % 2, 1e17, np.nan),
    ],
)
def test_large_numbers_close_together_are_summarized(tmp_path: Path, values: Any) -> None:
    """Numbers too close together to be binned can be features and targets, and can be explained."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"big": values, "x": rng.normal(size=60), "y": rng.normal(size=60)})
    outcome = train(frame, "y", tmp_path, algorithms=["linear"])
    (summary,) = [column["summary"] for column in outcome.result["profile"]["by_column"] if column["name"] == "big"]
    edges, counts = summary["histogram"]["edges"], summary["histogram"]["counts"]
    assert sum(counts) == np.isfinite(values).sum()
    assert edges == sorted(edges)
    assert explain(frame, model_of(outcome), tmp_path)["global"]
    assert explain(frame, None, tmp_path, target="big")["charts"]["target_balance"]
    if len(np.unique(values[np.isfinite(values)])) > 1:
        assert train(frame, "big", tmp_path, algorithms=["linear"], task="regression").result["charts"]


def test_numbers_that_are_too_large_are_not_called_infinite(tmp_path: Path) -> None:
    """Squares of numbers beyond 1e30 would overflow, so they are left out, and the warning says so."""
    frame = pd.DataFrame({"x": [*np.arange(79.0), 1e31], "y": [f"{row % 2}x" for row in range(80)]})
    result = train(frame, "y", tmp_path, algorithms=["linear"]).result
    sentences = {warning["code"]: warning["text"] for warning in result["warnings"]}["infinite_values"]
    assert sentences["en"] == "“x” contains 1 number that is infinite or beyond ±10³⁰, counted as missing."
    assert "contient 1 nombre infini ou au-delà de ±10³⁰, compté comme manquant." in sentences["fr"]
