"""Models decide as requested: positive class, threshold, calibration, weights of rows, and the task."""

from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pandas as pd
import pytest
import sklearn.metrics as oracle
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression

from tests.learning.small_tables import csv_file, explain, model_of, train
from touchstone.demo.packaged_records import tables_folder
from touchstone.learning.artifacts import model_artifact
from touchstone.learning.decisions.calibration import learn_calibration
from touchstone.learning.decisions.decision_rule import DecisionRule
from touchstone.learning.decisions.decision_warnings import decision_warnings
from touchstone.learning.decisions.threshold import Objective, choose_threshold
from touchstone.learning.evaluation import Predictions
from touchstone.learning.experiment import prepare_experiment
from touchstone.learning.learning_errors import LearningError
from touchstone.learning.prediction import predict
from touchstone.learning.request_choices import Calibration
from touchstone.learning.request_definitions import ErrorCosts, Threshold, TrainingRequest
from touchstone.learning.table_reader import read_table
from touchstone.learning.target import PositiveClassReason, read_target
from touchstone.learning.task_interface import Json, Outcome
from touchstone.learning.training import preflight

FEATURES = ["a", "b"]


def payments(rows: int = 900, seed: int = 3) -> pd.DataFrame:
    """Return payments of which about 6 % are fraud, which two columns indicate, but not clearly."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(rows, 2)), columns=FEATURES)
    score = frame["a"] + 0.7 * frame["b"] + rng.normal(scale=0.7, size=rows)
    return frame.assign(kind=np.where(score > np.quantile(score, 0.94), "fraud", "legitimate"))


def predict_test_rows(outcome: Outcome, frame: pd.DataFrame, target: str, **body: Any) -> tuple[pd.DataFrame, Json]:
    """Return the held-out rows of a training, and what the stored model predicts for them."""
    request = msgspec.convert({"dataset_id": 1, "target": target, **body}, TrainingRequest)
    experiment = prepare_experiment(request, read_table(csv_file(frame)))
    test_frame = frame.iloc[experiment.target.rows[experiment.folds[0].test]]
    rows: list[Any] = test_frame.drop(columns=target).to_dict("records")
    return test_frame, predict(model_artifact.load(model_of(outcome)), rows)


def binary_predictions(truth: np.ndarray, scores: np.ndarray) -> Predictions:
    """Return predictions of two classes from the probabilities of the second."""
    probabilities = np.column_stack([1 - scores, scores])
    return Predictions(truth, (scores >= 0.5).astype(int), 2, probabilities)


def test_the_metrics_are_those_of_the_rarer_class(tmp_path: Path) -> None:
    """Fraud is the class to detect, although “legitimate” comes last in the alphabet."""
    frame = payments()
    outcome = train(frame, "kind", tmp_path, algorithms=["linear"])
    result = outcome.result
    assert result["model"]["classes"] == ["legitimate", "fraud"]
    assert (result["model"]["positive_class"], result["decision"]["positive_class_reason"]) == ("fraud", "rarer")
    assert "fraud" in result["decision"]["text"]["en"]

    test_frame, answer = predict_test_rows(outcome, frame, "kind")
    assert (answer["positive_class"], answer["classes"]) == ("fraud", ["legitimate", "fraud"])
    scores = [row["probabilities"][1] for row in answer["predictions"]]
    expected = oracle.average_precision_score(test_frame["kind"] == "fraud", scores)
    metrics = result["metrics"]["holdout"]
    assert metrics["average_precision"]["value"] == pytest.approx(expected, abs=1e-6)
    assert metrics["average_precision"]["value"] < 0.9
    assert explain(frame, model_of(outcome), tmp_path)["global"]


def test_another_positive_class_can_be_requested(tmp_path: Path) -> None:
    """The requested class is the positive one in metrics, charts, the model card and the explanation."""
    frame = payments(300)
    outcome = train(frame, "kind", tmp_path, algorithms=["linear"], positive_class="legitimate")
    assert outcome.result["decision"]["positive_class_reason"] == "requested"
    assert outcome.result["metrics"]["holdout"]["average_precision"]["value"] > 0.9
    x_title = outcome.result["charts"]["calibration"]["spec"]["en"]["layer"][1]["encoding"]["x"]["axis"]["title"]
    assert x_title == "Predicted probability (legitimate)"
    card = next(file for file in outcome.artifacts if file.name == "model_card.md").path.read_text()
    assert "The positive class is “legitimate”, as requested" in card
    explanation = explain(frame, model_of(outcome), tmp_path, scope="global")
    assert explanation["global"]


@pytest.mark.parametrize(
    ("values", "requested", "classes", "reason"),
    [
        ([0] * 30 + [1] * 20, 0, (1, 0), PositiveClassReason.REQUESTED),
        ([0] * 30 + [1] * 20, "1", (0, 1), PositiveClassReason.REQUESTED),
        ([True] * 30 + [False] * 20, True, ("false", "true"), PositiveClassReason.REQUESTED),
        ([True] * 30 + [False] * 20, None, ("true", "false"), PositiveClassReason.RARER),
        (["x", "y"] * 20, None, ("x", "y"), PositiveClassReason.LAST_NAME),
        (["x", "y", "z"] * 20, None, ("x", "y", "z"), None),
    ],
)
def test_the_positive_class_is_the_last_of_two(
    values: list[Any], requested: Any, classes: tuple[Any, ...], reason: PositiveClassReason | None
) -> None:
    """Its code is 1 whatever its name; a request may write it as JSON or as text."""
    table = read_table(csv_file(pd.DataFrame({"a": range(len(values)), "y": values})))
    target = read_target(table, "y", positive_class=requested)
    assert (target.classes, target.positive_class_reason) == (classes, reason)


def test_a_threshold_follows_the_costs_in_every_prediction(tmp_path: Path) -> None:
    """If missing a fraud is expensive, more payments are suspected; the stored model decides like the measured one."""
    frame = payments()
    body = {"algorithms": ["linear"], "threshold": {"cost": {"fp": 1, "fn": 40}}}
    outcome = train(frame, "kind", tmp_path, **body)
    decision = outcome.result["decision"]
    assert decision["requested"] == {"cost": {"fp": 1, "fn": 40}}
    assert decision["threshold"] < 0.2
    assert decision["validation"]["value"] <= decision["validation"]["at_default"]

    test_frame, answer = predict_test_rows(outcome, frame, "kind", **body)
    truth = (test_frame["kind"] == "fraud").to_numpy()
    is_suspected = np.array([row["prediction"] == "fraud" for row in answer["predictions"]])
    scores = np.array([row["probabilities"][1] for row in answer["predictions"]])
    assert (is_suspected == (scores >= answer["threshold"])).all()
    cost = (40 * (truth & ~is_suspected).sum() + (~truth & is_suspected).sum()) / len(truth)
    assert decision["test"]["value"] == pytest.approx(cost)
    recall = outcome.result["metrics"]["holdout"]["recall_macro"]["value"]
    assert recall == pytest.approx(oracle.balanced_accuracy_score(truth, is_suspected))


@pytest.mark.parametrize("metric", ["f1_macro", "accuracy", "balanced_accuracy"])
def test_the_chosen_threshold_is_the_best_one(metric: str) -> None:
    """No other threshold has a better value on the rows on which it was chosen."""
    rng = np.random.default_rng(0)
    scores = rng.random(200)
    validation = binary_predictions((scores + rng.normal(scale=0.3, size=200) > 0.8).astype(int), scores)
    objective = Objective.from_request(Threshold(metric=metric))

    threshold = choose_threshold(validation, objective, default=0.5)
    values = [
        objective.measure(validation.with_predicted(DecisionRule(candidate).decide(validation.probabilities)))
        for candidate in (threshold, *np.linspace(0, 1, 500))
    ]
    assert values[0] == max(values)


def test_an_expensive_false_positive_leads_to_no_positive_prediction() -> None:
    """The highest threshold is above every probability."""
    scores = np.linspace(0.1, 0.6, 50)
    validation = binary_predictions((np.arange(50) + 1) % 2, scores)
    cost = Threshold(cost=ErrorCosts(fp=1000, fn=1))
    assert choose_threshold(validation, Objective.from_request(cost), default=0.5) > 0.6


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("has_decision_function", [False, True])
def test_calibration_is_that_of_scikit_learn(method: str, classes: int, has_decision_function: bool) -> None:
    """A calibrated model gives the probabilities that scikit-learn's own calibration of its probabilities gives."""
    rng = np.random.default_rng(1)
    features = rng.normal(size=(600, 3))
    noisy_scores = features[:, 0] + rng.normal(scale=0.5, size=600)
    truth = np.digitize(noisy_scores, [1.0, 1.8][: classes - 1])

    forest = RandomForestClassifier(20, class_weight="balanced", random_state=0)
    model: Any = LogisticRegression(class_weight="balanced") if has_decision_function else forest
    model.fit(features[:300], truth[:300])
    validation = Predictions(truth[300:], truth[300:], classes, model.predict_proba(features[300:]))
    calibrator = learn_calibration(Calibration(method), validation)
    calibrated_model = calibrator.calibrate_model(model)

    new_rows = rng.normal(size=(50, 3))
    probabilities = calibrated_model.predict_proba(new_rows)
    assert np.array_equal(probabilities, calibrator.calibrate(model.predict_proba(new_rows)))
    if not has_decision_function:
        reference = CalibratedClassifierCV(FrozenEstimator(model), method=method, ensemble=False)
        reference.fit(features[300:], truth[300:])
        assert np.allclose(probabilities, reference.predict_proba(new_rows))


def test_calibration_repairs_probabilities_but_not_decisions(tmp_path: Path) -> None:
    """Balanced classes make probabilities too high; calibration lowers them, and predicts the same classes."""
    frame = payments(1500)
    body: Json = {"algorithms": ["linear"], "metric": "balanced_accuracy", "budget": {"max_trials": 1}}
    results = {
        method: train(frame, "kind", tmp_path, calibration=method, **body).result
        for method in ("none", "sigmoid", "auto")
    }
    assert results["none"]["calibration"]["method"] == "none"
    assert results["auto"]["calibration"]["method"] in ("sigmoid", "isotonic")
    assert results["sigmoid"]["calibration"]["before"] == results["none"]["calibration"]["after"]

    balanced_accuracies = [results[name]["metrics"]["holdout"]["balanced_accuracy"] for name in ("none", "sigmoid")]
    assert balanced_accuracies[0] == balanced_accuracies[1]
    losses = {name: result["metrics"]["holdout"]["log_loss"]["value"] for name, result in results.items()}
    base_rate = results["none"]["metrics"]["baseline"]["log_loss"]["value"]
    assert losses["auto"] < base_rate < losses["none"]

    codes = {name: {warning["code"] for warning in result["warnings"]} for name, result in results.items()}
    assert "probabilities_worse_than_base_rate" in codes["none"]
    assert "probabilities_worse_than_base_rate" not in codes["auto"]
    curves = results["sigmoid"]["charts"]["calibration"]["spec"]["en"]["layer"][1]["data"]["values"]
    assert {point["curve"] for point in curves} == {"after calibration", "before calibration"}


@pytest.mark.parametrize("strategy", ["holdout", "kfold"])
def test_a_calibrated_model_is_stored_and_predicts_as_it_was_measured(tmp_path: Path, strategy: str) -> None:
    """The file holds scikit-learn's classes only, and the record says how it decides."""
    frame = payments(400)
    body: Json = {"algorithms": ["linear"], "calibration": "sigmoid", "split": {"strategy": strategy}}
    outcome = train(frame, "kind", tmp_path, **body)
    model = model_artifact.load(model_of(outcome))
    assert isinstance(model.estimator, CalibratedClassifierCV)
    assert model.decision_rule.threshold == outcome.result["decision"]["threshold"]
    assert outcome.result["calibration"]["method"] == "sigmoid"

    if strategy == "holdout":
        test_frame, answer = predict_test_rows(outcome, frame, "kind", **body)
        truth = (test_frame["kind"] == "fraud").astype(int)
        loss = oracle.log_loss(truth, [row["probabilities"] for row in answer["predictions"]])
        assert outcome.result["calibration"]["after"]["log_loss"] == pytest.approx(loss)


def test_classes_that_count_the_same_still_do_after_calibration(tmp_path: Path) -> None:
    """With three classes, a rare one is predicted although its calibrated probability is seldom the greatest."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=1200)
    names = np.select([x + rng.normal(size=1200) > 2.2, x > 0], ["rare", "high"], "low")
    frame = pd.DataFrame({"x": x, "y": names})
    body: Json = {"algorithms": ["linear"], "budget": {"max_trials": 1}}
    results = {method: train(frame, "y", tmp_path, calibration=method, **body).result for method in ("none", "sigmoid")}
    scores = {name: result["metrics"]["holdout"]["balanced_accuracy"]["value"] for name, result in results.items()}
    assert scores["sigmoid"] > scores["none"] - 0.05
    assert results["sigmoid"]["decision"]["threshold"] is None

    # The factors are the inverse shares of the classes, in the order of their names. By accuracy, there are none.
    shares = frame["y"].value_counts(normalize=True).sort_index()
    assert results["sigmoid"]["decision"]["class_weights"] == pytest.approx((1 / 3 / shares).tolist(), rel=0.05)
    assert results["none"]["decision"]["class_weights"] is None
    by_accuracy = train(frame, "y", tmp_path, calibration="sigmoid", metric="accuracy", **body).result
    assert by_accuracy["decision"]["class_weights"] is None


def test_calibration_takes_rows_of_every_class(tmp_path: Path) -> None:
    """If some class is hardly there before the latest rows, nothing is calibrated, and a warning says so."""
    noise = np.random.default_rng(0).normal(size=40).round(3)
    frame = pd.DataFrame({"day": range(1, 41), "a": noise, "y": ["x"] + ["z"] * 37 + ["x"] * 2})
    split = {"strategy": "time", "time_column": "day"}
    result = train(frame, "y", tmp_path, algorithms=["linear"], calibration="isotonic", split=split).result
    assert result["calibration"]["method"] == "none"
    assert "not_calibrated" in {warning["code"] for warning in result["warnings"]}


@pytest.mark.filterwarnings("ignore:The least populated class")
def test_two_rows_of_a_class_are_enough_to_calibrate() -> None:
    """The curve of a class of two rows is learned like the others, and the probabilities of a row still add up to 1."""
    rng = np.random.default_rng(0)
    classes = np.array([0] * 100 + [1] * 100 + [2] * 2)
    probabilities = rng.dirichlet(np.ones(3), len(classes))
    predictions = Predictions(classes, probabilities.argmax(axis=1), 3, probabilities)
    calibrator = learn_calibration(Calibration.AUTO, predictions)
    assert calibrator.method is Calibration.SIGMOID
    assert calibrator.classifier is not None
    assert calibrator.classifier.cv is None

    calibrated = calibrator.calibrate(probabilities)
    assert np.allclose(calibrated.sum(axis=1), 1)
    assert calibrated[:, 2].max() < 0.2
    assert learn_calibration(Calibration.AUTO, predictions.take(np.arange(201))).method is Calibration.NONE


def test_calibration_never_reverses_the_order_of_a_model() -> None:
    """A class that is rarer where its probability is higher gets its frequency; two such classes stay uncorrected."""
    rng = np.random.default_rng(0)
    first = np.repeat([0, 1, 2], [120, 60, 20])
    scores = rng.uniform(size=(200, 3)) + np.eye(3)[first] * [0.5, 0.5, -0.5]
    probabilities = scores.clip(0.01) / scores.clip(0.01).sum(axis=1, keepdims=True)
    predictions = Predictions(first, probabilities.argmax(axis=1), 3, probabilities)
    calibrator = learn_calibration(Calibration.SIGMOID, predictions)
    assert calibrator.method is Calibration.SIGMOID

    calibrated = calibrator.calibrate(np.array([[0.1, 0.1, 0.8], [0.4, 0.4, 0.2]]))
    odds_of_last_class = calibrated[:, 2] / (1 - calibrated[:, 2])
    assert odds_of_last_class[0] > odds_of_last_class[1]

    is_positive = first > 0
    reversed_scores = np.where(is_positive, 0.3, 0.7) + rng.uniform(-0.2, 0.2, 200)
    assert (
        learn_calibration(Calibration.SIGMOID, binary_predictions(is_positive, reversed_scores)).method
        is Calibration.NONE
    )


def test_classes_of_a_few_rows_each_are_not_calibrated_automatically() -> None:
    """Where no class has the five rows that the comparison of methods divides, probabilities stay as they are."""
    classes = np.array([0, 0, 0, 1, 1, 1, 1, 2, 2])
    probabilities = np.random.default_rng(0).dirichlet(np.ones(3), len(classes))
    predictions = Predictions(classes, probabilities.argmax(axis=1), 3, probabilities)
    assert learn_calibration(Calibration.AUTO, predictions).method is Calibration.NONE
    assert learn_calibration(Calibration.SIGMOID, predictions).method is Calibration.SIGMOID


@pytest.mark.parametrize(
    ("name", "target"),
    [
        ("adult", "income"),
        ("arrhythmia", "class"),
        ("bank", "y"),
        ("bank_additional", "y"),
        ("creditcard", "default payment next month"),
        ("german_credit", "credit"),
        ("heart_disease", "num"),
        ("lipton_synthetic_hiring_dataset", "hired"),
        ("nursery", "class"),
        ("south_german_credit", "credit_risk"),
    ],
)
def test_probabilities_beat_the_base_rate_on_ten_tables(tmp_path: Path, name: str, target: str) -> None:
    """On every classification of the demo catalog the log loss is below that of the shares of the classes."""
    frame = pd.read_parquet(tables_folder() / f"{name}.parquet").iloc[:, -30:]
    sample = frame[frame[target].notna()].sample(min(800, len(frame)), random_state=0)
    body: Json = {"task": "classification", "algorithms": ["linear"], "budget": {"max_trials": 1}}
    result = train(sample, target, tmp_path, **body).result

    is_worse = any(
        result["calibration"]["after"][metric] > result["calibration"]["base_rate"][metric]
        for metric in ("log_loss", "brier")
    )
    assert is_worse == ("probabilities_worse_than_base_rate" in {warning["code"] for warning in result["warnings"]})
    assert not is_worse


@pytest.mark.parametrize(("loss", "numbers"), [(1.0901, "1.0901 against 1.0899"), (1.0899 + 1e-9, None)])
def test_a_loss_that_is_hardly_worse_is_written_with_more_digits(loss: float, numbers: str | None) -> None:
    """A warning does not compare two numbers that look equal, and rounding is no reason for a warning."""
    losses: Json = {"requested": "auto", "method": "none"}
    losses |= {"after": {"log_loss": loss, "brier": 0.1}, "base_rate": {"log_loss": 1.0899, "brier": 0.2}}
    results: Json = {"task_choice": {"reason": "requested"}, "calibration": losses}
    texts = [warning["text"]["en"] for warning in decision_warnings(results, "y", distinct_values=3)]
    assert len(texts) == (0 if numbers is None else 1)
    assert all(str(numbers) in text for text in texts)


def integer_table(relation: str, rows: int = 400) -> pd.DataFrame:
    """Return a table whose target holds whole numbers from 1 to 10, to which the features have some relation."""
    rng = np.random.default_rng(2)
    target = rng.integers(1, 11, rows)
    if relation == "rating":
        return pd.DataFrame({"quality": target + rng.normal(scale=2, size=rows), "y": target})
    if relation == "noise":
        return pd.DataFrame({"quality": rng.normal(size=rows), "y": target})

    positions = rng.normal(scale=5, size=(11, 6))  # Each code has its own place, and neighbours have nothing in common.
    features = positions[target] + rng.normal(size=(rows, 6))
    return pd.DataFrame(features, columns=list("abcdef")).assign(y=target)


@pytest.mark.parametrize(
    ("frame", "task", "warning_code"),
    [
        (integer_table("rating"), "regression", "ordered_integers"),
        (integer_table("noise"), "regression", "ordered_integers"),
        (integer_table("codes"), "classification", "unordered_integers"),
        (integer_table("rating").assign(y=lambda frame: frame["y"] // 4), "classification", "few_integers"),
    ],
)
def test_whole_numbers_never_become_classes_silently(
    tmp_path: Path, frame: pd.DataFrame, task: str, warning_code: str
) -> None:
    """A rating or a count is predicted as a number, codes as classes, and the result says why."""
    result = train(frame, "y", tmp_path, algorithms=["baseline"]).result
    assert (result["model"]["task"], result["task_choice"]["reason"]) == (task, warning_code)
    assert warning_code in {warning["code"] for warning in result["warnings"]}


def test_dates_never_become_classes_silently(tmp_path: Path) -> None:
    """Days to predict are classes without distances, which the result says, and named like days."""
    frame = pd.DataFrame({"a": [0, 1, 2, 3] * 15, "delivery": ["24.12.2024", "6.1.2025", "31.10.2025"] * 20})
    result = train(frame, "delivery", tmp_path, algorithms=["baseline"]).result
    assert result["model"]["classes"] == ["2024-12-24", "2025-01-06", "2025-10-31"]
    assert result["task_choice"]["reason"] == "dates"
    assert "dates" in {warning["code"] for warning in result["warnings"]}


def test_the_request_decides_the_task(tmp_path: Path) -> None:
    """If ten classes are requested, there are ten classes, without a warning."""
    result = train(integer_table("rating"), "y", tmp_path, algorithms=["baseline"], task="classification").result
    assert len(result["model"]["classes"]) == 10
    assert result["task_choice"]["reason"] == "requested"
    assert not {"ordered_integers", "unordered_integers"} & {warning["code"] for warning in result["warnings"]}


def test_rows_of_no_weight_are_not_learned_from(tmp_path: Path) -> None:
    """Half of the rows say the contrary, but have no weight; the weights are no feature."""
    rng = np.random.default_rng(0)
    a = rng.normal(size=400)
    is_wrong = np.arange(400) % 5 < 3
    frame = pd.DataFrame({"a": a, "trust": np.where(is_wrong, 0.0, 2.0), "y": np.where((a > 0) != is_wrong, "p", "n")})
    body: Json = {"algorithms": ["linear"], "budget": {"max_trials": 1}}
    outcome = train(frame, "y", tmp_path, sample_weight="trust", **body)
    assert [feature["name"] for feature in outcome.result["model"]["features"]] == ["a"]
    answers = predict(model_artifact.load(model_of(outcome)), [{"a": -2}, {"a": 2}])["predictions"]
    assert [answer["prediction"] for answer in answers] == ["n", "p"]

    # The rows without weight do not count in the metrics either.
    assert outcome.result["metrics"]["holdout"]["accuracy"]["value"] == 1
    assert outcome.result["weighting"]["column"] == "trust"


@pytest.mark.parametrize("weightless", [slice(320, 400), slice(0, 320), slice(230, 320)])
def test_a_side_of_the_split_without_weight_is_refused(tmp_path: Path, weightless: slice) -> None:
    """Nothing can be learned from, compared on or measured on rows that all have the weight 0."""
    frame = pd.DataFrame({"day": pd.date_range("2024-01-01", periods=400), "a": np.arange(400) % 7, "trust": 1.0})
    frame = frame.assign(y=np.resize(["p", "n", "n"], 400))
    frame.loc[frame.index[weightless], "trust"] = 0.0
    split = {"strategy": "time", "time_column": "day"}
    with pytest.raises(LearningError, match="sample_weights_one_sided"):
        train(frame, "y", tmp_path, sample_weight="trust", split=split, algorithms=["linear"])


def weighted_classes(classes: list[str], weightless: str) -> pd.DataFrame:
    """Return a table in which a column tells the classes apart, and one class has the weight 0 in all its rows."""
    y = np.resize(classes, 300)
    a = np.unique(y, return_inverse=True)[1] + np.random.default_rng(0).normal(scale=0.3, size=300)
    return pd.DataFrame({"a": a, "trust": np.where(y == weightless, 0.0, 1.0), "y": y})


@pytest.mark.parametrize("split", [{"strategy": "holdout"}, {"strategy": "kfold"}])
def test_a_single_class_with_weight_is_refused(tmp_path: Path, split: Json) -> None:
    """A model cannot tell one class from another that counts nowhere; this is known before the training starts."""
    frame = weighted_classes(["p", "n"], weightless="n")
    body = {"dataset_id": 1, "target": "y", "sample_weight": "trust", "split": split}
    with pytest.raises(LearningError, match="sample_weights_one_class"):
        preflight(msgspec.convert(body, TrainingRequest), csv_file(frame))

    # The time at which the weights begin decides what a model may learn from.
    dated = frame.assign(day=pd.date_range("2024-01-01", periods=300), trust=1.0)
    dated.loc[(dated.index < 240) & (dated["y"] == "n"), "trust"] = 0.0
    with pytest.raises(LearningError, match="sample_weights_one_class"):
        train(dated, "y", tmp_path, sample_weight="trust", split={"strategy": "time", "time_column": "day"})


def test_one_of_several_classes_without_weight_is_a_warning(tmp_path: Path) -> None:
    """The model cannot learn it; the warning does not claim that it was learned but not evaluated."""
    frame = weighted_classes(["p", "n", "o"], weightless="o")
    outcome = train(frame, "y", tmp_path, sample_weight="trust", algorithms=["linear"], budget={"max_trials": 1})
    warnings = {entry["code"]: entry["text"]["en"] for entry in outcome.result["warnings"]}
    assert "classes_never_evaluated" not in warnings
    assert warnings["classes_without_weight"].endswith("neither learn nor predict: o.")


def test_large_numbers_are_classes(tmp_path: Path) -> None:
    """A whole number that does not fit into 64 bits is written to the file of predictions all the same."""
    frame = pd.DataFrame({"a": np.arange(100) % 10, "y": np.where(np.arange(100) % 10 > 6, "1e+30", "2")})
    outcome = train(frame, "y", tmp_path, algorithms=["linear"], budget={"max_trials": 1})
    assert outcome.result["model"]["classes"] == [2, 1e30]
    assert set(pd.read_parquet(tmp_path / "predictions.parquet")["truth"]) == {2, 1e30}


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"target": "three", "positive_class": "x"}, "two_classes_needed"),
        ({"target": "three", "threshold": {"metric": "accuracy"}}, "two_classes_needed"),
        ({"target": "kind", "positive_class": "maybe"}, "class_not_found"),
        ({"target": "a", "positive_class": "x"}, "option_without_effect"),
        ({"target": "a", "calibration": "sigmoid"}, "option_without_effect"),
        ({"target": "kind", "sample_weight": "three"}, "sample_weights_invalid"),
        ({"target": "kind", "sample_weight": "a"}, "sample_weights_invalid"),
        ({"target": "kind", "sample_weight": "weights"}, "column_not_found"),
    ],
)
def test_options_that_do_not_suit_the_target_are_refused(body: dict[str, Any], code: str) -> None:
    """Options about two classes or about weights are rejected before anything is learned."""
    frame = payments(150).assign(three=["x", "y", "z"] * 50)
    request = msgspec.convert({"dataset_id": 1, **body}, TrainingRequest)
    with pytest.raises(LearningError) as error_info:
        prepare_experiment(request, read_table(csv_file(frame)))
    assert error_info.value.code == code
