"""Metrics equal their definitions; intervals and groups are computed correctly."""

from dataclasses import replace

import numpy as np
import pytest
import sklearn.metrics as oracle

from touchstone.learning import bootstrap
from touchstone.learning.bootstrap import (
    MAX_RESAMPLED_ROWS,
    RESAMPLED_METRICS,
    bootstrap_metric,
    bootstrap_metrics,
    draw_resamples,
)
from touchstone.learning.evaluation import Predictions, compute_metric, reported_metrics, summarize_folds
from touchstone.learning.request_choices import METRIC_BY_NAME, Task
from touchstone.learning.target import Target

RNG = np.random.default_rng(3)


def random_predictions(classes: int, rows: int = 300, *, weighted: bool = False) -> Predictions:
    """Return predictions of classes with ties among the scores; some of the weights are 0."""
    probabilities = RNG.dirichlet(np.ones(classes), rows).round(2) + 0.001
    probabilities /= probabilities.sum(axis=1, keepdims=True)
    weights = RNG.integers(0, 4, rows).astype(float) if weighted else None
    return Predictions(RNG.integers(0, classes, rows), probabilities.argmax(axis=1), classes, probabilities, weights)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("classes", [2, 4])
def test_metrics_of_classes_equal_their_definitions(classes: int, weighted: bool) -> None:
    """Each metric agrees with an independent implementation, ties in the scores and weights of the rows included."""
    predictions = random_predictions(classes, weighted=weighted)
    truth, predicted, weights = predictions.truth, predictions.predicted, predictions.weights
    scores = predictions.probabilities[:, 1] if classes == 2 else predictions.probabilities
    expected = {
        "accuracy": oracle.accuracy_score(truth, predicted, sample_weight=weights),
        "balanced_accuracy": oracle.balanced_accuracy_score(truth, predicted, sample_weight=weights),
        "f1_macro": oracle.f1_score(truth, predicted, average="macro", sample_weight=weights),
        "precision_macro": oracle.precision_score(truth, predicted, average="macro", sample_weight=weights),
        "recall_macro": oracle.recall_score(truth, predicted, average="macro", sample_weight=weights),
        "roc_auc": oracle.roc_auc_score(truth, scores, multi_class="ovr", sample_weight=weights),
        "average_precision": oracle.average_precision_score(truth, scores, sample_weight=weights),
        "log_loss": oracle.log_loss(truth, predictions.probabilities, sample_weight=weights),
        "brier": oracle.brier_score_loss(truth, scores, sample_weight=weights),
    }
    assert {name: compute_metric(name, predictions) for name in expected} == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("weighted", [False, True])
def test_metrics_of_numbers_equal_their_definitions(weighted: bool) -> None:
    """Each metric agrees with an independent implementation, with weights and without."""
    truth = RNG.normal(size=200)
    predicted = truth + RNG.normal(size=200)
    predictions = Predictions(truth, predicted, weights=RNG.uniform(0, 2, 200) if weighted else None)
    expected = {
        "r2": oracle.r2_score(truth, predicted, sample_weight=predictions.weights),
        "rmse": oracle.root_mean_squared_error(truth, predicted, sample_weight=predictions.weights),
        "mae": oracle.mean_absolute_error(truth, predicted, sample_weight=predictions.weights),
        "median_ae": oracle.median_absolute_error(truth, predicted, sample_weight=predictions.weights),
    }
    assert {name: compute_metric(name, predictions) for name in expected} == pytest.approx(expected)


def test_the_bootstrap_interval_holds_the_value_and_narrows_with_rows() -> None:
    """More rows make the interval narrower."""
    few_predictions, many_predictions = random_predictions(2, 50), random_predictions(2, 5_000)
    for predictions in (few_predictions, many_predictions):
        interval = bootstrap_metric("accuracy", predictions, seed=1)
        assert interval["low"] <= compute_metric("accuracy", predictions) <= interval["high"]
    widths = [
        bootstrap_metric("accuracy", predictions, 1)["high"] - bootstrap_metric("accuracy", predictions, 1)["low"]
        for predictions in (few_predictions, many_predictions)
    ]
    assert widths[1] < widths[0] / 3


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("classes", [0, 2, 4])
def test_resampled_metrics_equal_those_of_the_copied_rows(classes: int, weighted: bool) -> None:
    """Every metric of a resample is that of the rows which it drew, each as often as it was drawn."""
    if classes:
        predictions, task = random_predictions(classes, 60), Task.CLASSIFICATION
    else:
        truth = RNG.normal(1e6, 1, 61)
        predictions, task = Predictions(truth, truth + RNG.normal(size=61)), Task.REGRESSION
    draws = draw_resamples(predictions.without_weights(), np.random.default_rng(0)).counts
    if weighted:
        predictions = replace(predictions, weights=RNG.uniform(0.5, 2, len(predictions.truth)))

    target = Target("y", task, predictions.truth, np.arange(len(predictions.truth)))
    resamples = draw_resamples(predictions, np.random.default_rng(0))
    for name in reported_metrics(target):
        values = RESAMPLED_METRICS[name](resamples)
        for counts, value in zip(draws[:20], values[:20], strict=True):
            drawn_rows = np.repeat(np.arange(len(counts)), counts)
            assert value == pytest.approx(compute_metric(name, predictions.take(drawn_rows)), abs=1e-6), name


def test_resamples_are_evaluated_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """An interval does not depend on how many resamples are evaluated at once."""
    predictions = random_predictions(3, 90)
    names = ("roc_auc", "average_precision", "balanced_accuracy", "log_loss")
    expected_intervals = bootstrap_metrics(names, predictions, seed=0)
    for cells in (1, 90 * 7):
        monkeypatch.setattr(bootstrap, "CELLS_PER_BLOCK", cells)
        intervals = bootstrap_metrics(names, predictions, seed=0)
        for name in names:
            assert intervals[name] == pytest.approx(expected_intervals[name], abs=1e-12)


def test_rows_of_a_unit_are_drawn_together() -> None:
    """Rows that are repeated four times make an interval as wide as that of the rows themselves."""
    predictions = random_predictions(2, 400)
    repeated = predictions.take(np.repeat(np.arange(400), 4))
    interval = bootstrap_metric("accuracy", predictions, seed=0)
    units = np.repeat(np.arange(400), 4)
    interval_by_units = bootstrap_metrics(["accuracy"], repeated, seed=0, units=units)["accuracy"]
    assert interval_by_units == pytest.approx(interval)

    one_unit = np.zeros(len(units), dtype=np.intp)
    assert bootstrap_metrics(["accuracy"], repeated, seed=0, units=one_unit)["accuracy"] == {
        "value": interval["value"],
        "low": None,
        "high": None,
    }
    interval_by_rows = bootstrap_metric("accuracy", repeated, seed=0)
    assert interval_by_rows["high"] - interval_by_rows["low"] < 0.7 * (interval["high"] - interval["low"])


def test_the_interval_of_many_rows_is_that_of_some_narrowed() -> None:
    """The interval of more rows than are resampled is about as wide as theory says, around the value on all rows."""
    predictions = random_predictions(2, 4 * MAX_RESAMPLED_ROWS)
    accuracy = compute_metric("accuracy", predictions)
    interval = bootstrap_metric("accuracy", predictions, seed=0)
    standard_error = np.sqrt(accuracy * (1 - accuracy) / len(predictions.truth))
    assert interval["low"] < accuracy < interval["high"]
    assert interval["high"] - interval["low"] == pytest.approx(2 * 1.96 * standard_error, rel=0.25)


def test_the_interval_over_folds_is_the_corrected_t() -> None:
    """Five folds of 0.7 to 0.9: mean 0.8, half width t(4) * s * sqrt(1/5 + 1/4), by hand."""
    rows = 100
    folds = []
    for accuracy in (0.7, 0.75, 0.8, 0.85, 0.9):
        truth = np.zeros(rows, dtype=np.intp)
        predicted = (np.arange(rows) >= accuracy * rows).astype(np.intp)
        folds.append(Predictions(truth, predicted, 2, np.eye(2)[predicted]))
    target = Target("y", Task.CLASSIFICATION, np.zeros(rows, dtype=np.intp), np.arange(rows), (0, 1))
    interval = summarize_folds(target, folds)["accuracy"]
    half_width = 2.7764451 * 0.0790569 * np.sqrt(1 / 5 + 1 / 4)
    assert interval["mean"] == pytest.approx(0.8)
    assert [interval["low"], interval["high"]] == pytest.approx([0.8 - half_width, 0.8 + half_width], abs=1e-6)


def test_intervals_over_folds_stay_within_the_metric() -> None:
    """No bound of a share is below 0 or above 1, however much two folds differ."""
    correct, wrong = (np.eye(2)[[0, 1] if is_correct else [1, 0]] for is_correct in (True, False))
    truth = np.array([0, 1])
    folds = [Predictions(truth, probabilities.argmax(axis=1), 2, probabilities) for probabilities in (correct, wrong)]
    summary = summarize_folds(Target("y", Task.CLASSIFICATION, truth, truth, ("a", "b")), folds)
    assert (summary["balanced_accuracy"]["low"], summary["balanced_accuracy"]["high"]) == (0.0, 1.0)
    assert all(METRIC_BY_NAME[name].lower_bound <= interval["low"] for name, interval in summary.items())
    assert all(interval["high"] <= METRIC_BY_NAME[name].upper_bound for name, interval in summary.items())
    assert summary["log_loss"]["high"] > 1
