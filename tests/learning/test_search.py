"""The search gives up weak trials early, averages good ones, and is the same with any number of threads."""

import time
import warnings
from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import VotingClassifier, VotingRegressor

from tests.learning.small_tables import csv_file, messy_table, model_of, train
from touchstone.learning import successive_halving
from touchstone.learning.algorithms import MAX_KERNEL_ROWS, Trial, load_libraries
from touchstone.learning.artifacts import model_artifact
from touchstone.learning.boosting import MIN_ROUNDS
from touchstone.learning.column_types import ColumnKind, ColumnSchema
from touchstone.learning.ensembles import Ensemble, EnsembleMember, choose_best_trial, choose_ensemble
from touchstone.learning.evaluation import Predictions, compute_metric
from touchstone.learning.experiment import Experiment, prepare_experiment
from touchstone.learning.final_fit import fit_chosen_model
from touchstone.learning.fitting_pool import open_fitting_pool
from touchstone.learning.linear_preference import MAX_ROWS, prefer_linear_model
from touchstone.learning.preparation import MAX_FITTED_ROWS, build_preparation, encode_frame, fit_preparation
from touchstone.learning.request_definitions import TrainingRequest
from touchstone.learning.successive_halving import (
    FIRST_SAMPLE,
    LAST_SAMPLE,
    MIN_SURVIVORS,
    SECOND_SAMPLE,
    ComparisonResult,
    FoldScore,
    ScoredTrial,
    TrialComparison,
    plan_stages,
)
from touchstone.learning.table_reader import read_table
from touchstone.learning.task_interface import Json
from touchstone.learning.time_budget import FINISHING_SECONDS, TimeBudget, expected_finishing_seconds
from touchstone.learning.trial_fitting import (
    encode_fold,
    fit_trial,
    predict_fold,
    predict_matrix,
    suppress_numeric_warnings,
)
from touchstone.learning.trial_score import selection_score


def curved_table(rows: int) -> pd.DataFrame:
    """Return a regression whose target depends on two numbers, linearly on one and by a step on the other."""
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=rows), rng.normal(size=rows)
    return pd.DataFrame({"a": a, "b": b, "y": 2 * a + 2 * (b > 0.3) + rng.normal(scale=0.5, size=rows)})


def plan_experiment(frame: pd.DataFrame, target: str, **body: object) -> Experiment:
    """Return the plan of a training."""
    request = msgspec.convert({"dataset_id": 1, "target": target, **body}, TrainingRequest)
    return prepare_experiment(request, read_table(csv_file(frame)))


def compare(experiment: Experiment, deadline: float) -> ComparisonResult:
    """Compare the trials of an experiment until a deadline."""
    load_libraries(experiment.trials)
    with suppress_numeric_warnings(), open_fitting_pool(2) as pool:
        comparison = TrialComparison(experiment.data, experiment.trials, pool, deadline, on_trial_scored=lambda: None)
        return comparison.run(plan_stages(experiment.rule, experiment.folds[0].train))


@pytest.mark.parametrize("target", ["outcome", "score"])
def test_any_number_of_threads_makes_the_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, target: str
) -> None:
    """Neither the model nor its metrics depend on the cores that a job may use."""
    frame = messy_table(150).assign(score=lambda table: np.arange(150) * 1.5 + (table["sex"] == "f"))
    outcomes = []
    for threads in ("1", "2"):
        monkeypatch.setenv("OMP_NUM_THREADS", threads)
        outcomes.append(train(frame, target, tmp_path, budget={"max_trials": 7}))
    assert outcomes[0].result == outcomes[1].result


def test_weak_trials_are_given_up_early() -> None:
    """With more than six hundred rows only the best third of the trials is scored on all inner folds."""
    experiment = plan_experiment(curved_table(1_000), "y", budget={"max_trials": 15})
    comparison = compare(experiment, deadline=time.monotonic() + 600)
    assert comparison.is_complete
    assert len(comparison.scored_trials) == 15
    assert len(comparison.finalists) == 5
    worst_finalist = min(trial.fold_scores[0].score for trial in comparison.finalists)
    assert all(trial.fold_scores[0].score <= worst_finalist for trial in comparison.scored_trials if trial.stage == 0)


def test_trials_are_compared_on_larger_and_larger_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    """A long table is sampled in three sizes; if there are very many rows, the middle size is left out."""
    experiment = plan_experiment(curved_table(70_000), "y", budget={"max_trials": 1})
    training_rows = experiment.folds[0].train

    def sample_sizes() -> list[int]:
        folds = [fold for stage in plan_stages(experiment.rule, training_rows) for fold in stage.folds]
        return [len(fold.train) + len(fold.test) for fold in folds]

    assert sample_sizes() == [FIRST_SAMPLE, SECOND_SAMPLE, LAST_SAMPLE]
    monkeypatch.setattr(successive_halving, "MANY_ROWS", 69_999)
    assert sample_sizes() == [FIRST_SAMPLE, LAST_SAMPLE]


def test_without_time_only_the_first_trial_is_scored() -> None:
    """A deadline in the past leaves one trial, and the comparison says that it is not complete."""
    experiment = plan_experiment(curved_table(700), "y", budget={"max_trials": MIN_SURVIVORS})
    comparison = compare(experiment, deadline=time.monotonic() - 1)
    assert [trial.position for trial in comparison.scored_trials] == [0]
    assert not comparison.is_complete


def test_boosting_ends_at_the_deadline() -> None:
    """Without time a boosting model has a few rounds, and its trial makes the same number of them."""
    experiment = plan_experiment(curved_table(700), "y", algorithms=["lightgbm"], budget={"max_trials": 1})
    comparison = compare(experiment, deadline=time.monotonic() - 1)
    assert comparison.scored_trials[0].tuned_trial.settings["n_estimators"] == MIN_ROUNDS
    assert not comparison.is_complete


def test_a_result_that_was_stopped_by_time_says_so(tmp_path: Path) -> None:
    """One second is not enough for two hundred trials, but enough for a model that works."""
    start = time.monotonic()
    budget = {"max_trials": 200, "max_runtime_seconds": 1}
    result = train(curved_table(400), "y", tmp_path, budget=budget).result
    assert result["stopped_by"] == "time"
    assert "stopped_by_time" in {warning["code"] for warning in result["warnings"]}
    assert result["metrics"]["holdout"]["r2"]["value"] > 0.5
    assert time.monotonic() - start < 60


@pytest.mark.parametrize(("target", "average"), [("y", VotingRegressor), ("class", VotingClassifier)])
def test_an_average_of_models_is_stored_and_predicts_alike(tmp_path: Path, target: str, average: type) -> None:
    """The stored average of scikit-learn has the members and weights that the result names."""
    frame = curved_table(400).assign(**{"class": lambda table: np.where(table["y"] > 1, "high", "low")})
    excluded = {"exclude": ["class" if target == "y" else "y"]}
    body = {"features": excluded, "algorithms": ["linear", "decision_tree", "ensemble"], "budget": {"max_trials": 6}}
    calibration = {} if target == "y" else {"calibration": "none"}
    outcome = train(frame, target, tmp_path, **body, **calibration)
    description = outcome.result["model"]
    assert description["algorithm"] == "ensemble"
    assert sum(member["weight"] for member in description["members"]) == pytest.approx(1)

    model = model_artifact.load(model_of(outcome))
    assert isinstance(model.estimator, average)
    matrix = encode_frame(model.preparation, frame[["a", "b"]])
    values, _probabilities = predict_matrix(model.estimator, matrix, len(model.classes))
    truth = frame[target].to_numpy()
    if target == "y":
        assert compute_metric("r2", Predictions(truth, values)) > 0.8
    else:
        assert np.mean(np.array(model.classes)[values] == truth) > 0.8


def test_an_average_is_better_than_its_members() -> None:
    """Two trials with opposite errors get the same weight, and a third one that only adds noise gets none."""
    truth = np.linspace(0, 1, 50)
    errors = np.where(np.arange(50) % 2, 0.2, -0.2)
    predictions_of_trials = [truth + errors, truth - errors, np.full(50, 0.5)]
    trials = []
    for position, values in enumerate(predictions_of_trials):
        predictions = Predictions(truth, values)
        score = FoldScore(Trial("linear"), compute_metric("r2", predictions), np.arange(50), predictions, 1e-6)
        trials.append(ScoredTrial(position, 0, (score,)))

    chosen_model = choose_ensemble("r2", trials)
    assert [(member.position, member.weight) for member in chosen_model.ensemble.members] == [(0, 0.5), (1, 0.5)]
    assert compute_metric("r2", chosen_model.predictions) == pytest.approx(1)


def test_without_a_defined_score_the_first_trial_is_chosen() -> None:
    """Where the target has a single value, R² is defined for no average, and the first trial is taken."""
    truth = np.zeros(50)
    trials = []
    for position in range(2):
        score = FoldScore(Trial("linear"), -np.inf, np.arange(50), Predictions(truth, truth + position), 1e-6)
        trials.append(ScoredTrial(position, 0, (score,)))
    assert [member.position for member in choose_ensemble("r2", trials).ensemble.members] == [0]


def scored_trial(
    position: int, metric: str, truth: list[int], positive_probabilities: list[float], algorithm: str = "linear"
) -> ScoredTrial:
    """Return a trial that predicts these probabilities of the second of two classes."""
    probabilities = np.column_stack([1 - np.array(positive_probabilities), positive_probabilities])
    predictions = Predictions(np.array(truth), probabilities.argmax(axis=1), 2, probabilities)
    rows = np.arange(len(truth))
    score = FoldScore(Trial(algorithm), compute_metric(metric, predictions), rows, predictions, 1e-6)
    return ScoredTrial(position, 0, (score,))


def test_a_lucky_decision_does_not_choose_a_model() -> None:
    """The trial with the better probabilities is chosen, even if another one classifies one more row correctly."""
    truth = [0, 0, 0, 0, 1, 1, 1, 1]
    careful_probabilities = [0.1, 0.1, 0.1, 0.51, 0.9, 0.9, 0.9, 0.9]
    lucky_probabilities = [0.45, 0.45, 0.45, 0.45, 0.55, 0.55, 0.55, 0.55]
    trials = [
        scored_trial(0, "accuracy", truth, lucky_probabilities),
        scored_trial(1, "accuracy", truth, careful_probabilities),
    ]
    assert trials[0].score > trials[1].score
    assert choose_best_trial("accuracy", trials).ensemble.members[0].position == 1


def test_rare_classes_count_as_much_as_in_the_metric() -> None:
    """Balanced accuracy prefers the trial that predicts the rare class well, and accuracy the frequent class."""
    truth = [0] * 9 + [1]
    good_at_rare_class = [0.4] * 9 + [0.9]
    good_at_frequent_class = [0.1] * 9 + [0.4]
    for metric, best_position in (("balanced_accuracy", 0), ("accuracy", 1)):
        trials = [
            scored_trial(0, metric, truth, good_at_rare_class),
            scored_trial(1, metric, truth, good_at_frequent_class),
        ]
        assert choose_best_trial(metric, trials).ensemble.members[0].position == best_position


def compare_linear_and_forest(
    forest_probability: float, rows: int, metric: str, *, training_rows: int | None = None
) -> str:
    """Return the algorithm that is chosen on rows of two classes, which are also the training rows by default.

    A linear model gives the class of a row a probability of 0.65 on average, and a forest `forest_probability`. Both
    differ from row to row by up to 0.1.
    """
    truth = np.arange(rows) % 2
    rng = np.random.default_rng(0)
    trials = []
    for position, (algorithm, mean) in enumerate({"linear": 0.65, "random_forest": forest_probability}.items()):
        probabilities = mean + rng.uniform(-0.1, 0.1, rows)
        positive_probabilities = np.where(truth, probabilities, 1 - probabilities).tolist()
        trials.append(scored_trial(position, metric, truth.tolist(), positive_probabilities, algorithm))

    best = choose_best_trial(metric, trials)
    assert best.ensemble.algorithm == "random_forest"
    chosen = prefer_linear_model(metric, best, trials, training_rows=training_rows or rows)
    assert chosen.is_simpler_choice == (chosen.ensemble.algorithm == "linear")
    return chosen.ensemble.algorithm


def test_a_linear_model_is_preferred_on_few_rows_unless_another_one_is_clearly_better() -> None:
    """It is preferred neither on many rows nor if the metric does not count decisions."""
    slightly_better, clearly_better = 0.665, 0.75
    assert compare_linear_and_forest(slightly_better, 40, "balanced_accuracy") == "linear"
    assert compare_linear_and_forest(clearly_better, 40, "balanced_accuracy") == "random_forest"
    assert compare_linear_and_forest(slightly_better, MAX_ROWS + 2, "balanced_accuracy") == "random_forest"
    assert compare_linear_and_forest(slightly_better, 40, "log_loss") == "random_forest"
    # In a split by time, a quarter of the training rows validate the trials.
    assert compare_linear_and_forest(slightly_better, 40, "balanced_accuracy", training_rows=160) == "random_forest"


def two_classes(rows: int, *, is_linear: bool) -> pd.DataFrame:
    """Return a table with two classes, whose log-odds are a linear function of the columns or their product."""
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=rows), rng.normal(size=rows)
    log_odds = a + b if is_linear else 5 * a * b
    return pd.DataFrame({"a": a, "b": b, "y": np.where(log_odds + rng.logistic(size=rows) > 0, "yes", "no")})


@pytest.mark.parametrize("strategy", ["holdout", "kfold"])
def test_a_training_says_that_it_preferred_a_linear_model(tmp_path: Path, strategy: str) -> None:
    """A linear model is stored where a line divides the classes, and the result says why; otherwise it is not."""
    for is_linear in (True, False):
        table = two_classes(150, is_linear=is_linear)
        body = {"split": {"strategy": strategy}, "budget": {"max_trials": 12}}
        result = train(table, "y", tmp_path, **body).result
        codes = {warning["code"] for warning in result["warnings"]}
        assert (result["model"]["algorithm"] == "linear") == is_linear
        assert ("linear_model_preferred" in codes) == is_linear
        assert result["leaderboard"][0]["algorithm"] == result["model"]["algorithm"]

    algorithms = ["decision_tree", "linear"]
    named = train(two_classes(150, is_linear=True), "y", tmp_path, algorithms=algorithms, **body).result
    assert "linear_model_preferred" not in {warning["code"] for warning in named["warnings"]}


def test_models_are_chosen_by_the_weights_of_rows() -> None:
    """Rows without weight do not choose a model, and those of a rare class count more if they weigh more."""
    truth = np.array([0, 0, 1, 1])
    probabilities = np.array([[0.9, 0.1], [0.1, 0.9], [0.1, 0.9], [0.4, 0.6]])
    predictions = Predictions(truth, probabilities.argmax(axis=1), 2, probabilities)
    weighted_predictions = replace(predictions, weights=np.array([2.0, 0.0, 1.0, 0.0]))
    for metric in ("accuracy", "balanced_accuracy"):
        assert selection_score(metric, predictions) == pytest.approx(-(0.01 + 0.81 + 0.01 + 0.16) / 4)
        assert selection_score(metric, weighted_predictions) == pytest.approx(-0.01)
        assert selection_score(metric, replace(predictions, weights=np.zeros(4))) == -np.inf


def test_a_kernel_model_learns_a_circle(tmp_path: Path) -> None:
    """Similarities to training rows separate what no straight line can."""
    rng = np.random.default_rng(0)
    points = pd.DataFrame(rng.normal(size=(300, 2)), columns=["x", "y"])
    points["inside"] = np.where(points["x"] ** 2 + points["y"] ** 2 < 1.4, "in", "out")
    accuracy = {}
    for algorithm in ("linear", "kernel"):
        result = train(points, "inside", tmp_path, algorithms=[algorithm], budget={"max_trials": 1}).result
        accuracy[algorithm] = result["metrics"]["holdout"]["balanced_accuracy"]["value"]
    assert accuracy["linear"] < 0.7 < 0.9 < accuracy["kernel"]


def test_slow_algorithms_are_tried_on_long_tables_only_on_request() -> None:
    """Above a number of rows, a slow algorithm is not tried by default, but on request."""
    frame = curved_table(MAX_KERNEL_ROWS + 1)
    split = {"strategy": "holdout", "duplicates": "keep"}
    assert "kernel" not in {trial.algorithm for trial in plan_experiment(frame, "y", split=split).trials}
    assert {trial.algorithm for trial in plan_experiment(frame, "y", split=split, algorithms=["kernel"]).trials} == {
        "kernel"
    }


def test_boosting_learns_longer_from_many_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """The number of rounds that a sample allowed is determined again with all rows, and the settings state it."""
    monkeypatch.setattr("touchstone.learning.algorithms.MANY_ROWS", 500)
    experiment = plan_experiment(curved_table(1_000), "y", algorithms=["lightgbm"], budget={"max_trials": 1})
    load_libraries(experiment.trials)
    trial = Trial("lightgbm", {**experiment.trials[0].settings, "n_estimators": 2})
    ensemble = Ensemble((EnsembleMember(0, trial, weight=1.0),))
    fold = experiment.folds[0]
    compared_rows = fold.train[::8]

    with suppress_numeric_warnings(), open_fitting_pool(2) as pool:
        fitted_model = fit_chosen_model(experiment, ensemble, fold, compared_rows, pool)
        refitted_model = fit_trial(experiment.data, fitted_model.ensemble.members[0].trial, fitted_model.encoded)

    assert fitted_model.ensemble.settings["n_estimators"] > 2
    assert not set(fitted_model.encoded.fold.train) & set(compared_rows)
    predictions = predict_fold(experiment.data, fitted_model.model, fitted_model.encoded)
    np.testing.assert_array_equal(predictions.truth, experiment.target.values[fold.test])
    np.testing.assert_allclose(
        predictions.predicted, predict_fold(experiment.data, refitted_model, fitted_model.encoded).predicted
    )


def test_many_rows_are_learned_with_leaves_of_one_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """The settings tried for long tables vary in what matters there, which the minimum of rows in a leaf does not."""
    leaf_size_counts = set()
    for many_rows in (500, 5_000):
        monkeypatch.setattr("touchstone.learning.algorithms.MANY_ROWS", many_rows)
        trials = plan_experiment(curved_table(1_000), "y", algorithms=["lightgbm"], budget={"max_trials": 20}).trials
        leaf_size_counts.add((many_rows, len({trial.settings["min_child_samples"] for trial in trials})))
        assert {trial.settings["num_leaves"] for trial in trials} >= {31, 63}
    assert leaf_size_counts == {(500, 1), (5_000, 3)}


def test_columns_of_many_rows_are_encoded_at_the_same_time() -> None:
    """Encoding kinds of columns in several threads changes neither the matrix nor the stored preparation."""
    frame = messy_table(400)
    experiment = plan_experiment(frame, "outcome")
    fold = experiment.folds[0]
    with suppress_numeric_warnings():
        encoded_alone = encode_fold(experiment.data, fold)
        with open_fitting_pool(2) as pool, pool.shared_with_joblib():
            encoded_in_threads = encode_fold(experiment.data, fold)
    np.testing.assert_array_equal(encoded_alone.train, encoded_in_threads.train)
    np.testing.assert_array_equal(encoded_alone.test, encoded_in_threads.test)
    assert encoded_alone.preparation.get_params()["n_jobs"] == encoded_in_threads.preparation.get_params()["n_jobs"]


def test_the_filters_of_warnings_are_restored() -> None:
    """Threads of scikit-learn that replace the filters at once may leave none behind for later trainings."""
    filters = list(warnings.filters)
    with open_fitting_pool(2) as pool:
        list(pool.map(lambda _item: warnings.resetwarnings(), range(2)))
    assert warnings.filters == filters


def test_missing_numbers_become_the_median() -> None:
    """The median is that of the known numbers, or 0 if there are none; the stored imputer is scikit-learn's own."""
    experiment = plan_experiment(curved_table(40), "y")
    preparation = build_preparation(experiment.data.columns, experiment.target, seed=0)
    frame = pd.DataFrame({"a": [1.0, 2.0, np.nan, 10.0], "b": [np.nan] * 4})
    fit_preparation(preparation, frame, np.arange(4), np.arange(4.0), seed=0)

    imputer = preparation.named_transformers_["numbers"].named_steps["impute"]
    assert imputer.statistics_.tolist() == [2.0, 0.0]
    assert imputer.strategy == "median"


def test_the_preparation_of_a_long_table_knows_every_category() -> None:
    """A sample determines the median; a category of a single row is encoded, too, and every row has its own place."""
    rng = np.random.default_rng(0)
    categories = rng.choice(["often", "seldom"], MAX_FITTED_ROWS + 50_000).astype(object)
    categories[77_777] = "once"
    numbers = rng.normal(3.0, 1.0, len(categories))
    numbers[::10] = np.nan
    frame = pd.DataFrame({"number": numbers, "category": categories})
    columns = [
        ColumnSchema("number", ColumnKind.NUMBER, distinct=len(frame), missing=len(frame) // 10),
        ColumnSchema("category", ColumnKind.CATEGORY, distinct=3, missing=0),
    ]
    preparation = build_preparation(columns, plan_experiment(curved_table(40), "y").target, seed=0)
    rows = np.arange(1, len(frame))
    matrix = fit_preparation(preparation, frame, rows, np.zeros(len(rows)), seed=0)

    median = preparation.named_transformers_["numbers"].named_steps["impute"].statistics_[0]
    assert median == pytest.approx(3.0, abs=0.02)
    assert median != np.nanmedian(numbers)
    np.testing.assert_array_equal(matrix, preparation.transform(frame.iloc[rows]))
    assert preparation.named_transformers_["categories"].categories_[0].tolist() == ["often", "once", "seldom"]
    assert rows[matrix[:, 3] == 1].tolist() == [77_777]


def test_encoding_by_the_target_takes_all_rows_of_a_long_table() -> None:
    """Each category is encoded without its own rows, so that the noise of the target does not return."""
    rng = np.random.default_rng(0)
    rows = MAX_FITTED_ROWS + 1
    frame = pd.DataFrame({"many": np.arange(rows).astype(str).astype(object)})
    columns = [ColumnSchema("many", ColumnKind.CATEGORY, distinct=rows, missing=0)]
    target = plan_experiment(curved_table(40), "y").target
    values = rng.normal(size=rows)

    matrix = fit_preparation(build_preparation(columns, target, seed=0), frame, np.arange(rows), values, seed=0)
    assert abs(np.corrcoef(matrix[:, 0], values)[0, 1]) < 0.05


def test_a_busy_machine_leaves_less_time_before_the_end() -> None:
    """The time to describe and write a model is expected to grow by the slowdown that was measured so far."""
    budget = TimeBudget(100)
    assert budget.seconds_before_finishing(3.0) == pytest.approx(100 - 3 * FINISHING_SECONDS, abs=0.5)
    assert TimeBudget(1).seconds_before_finishing(3.0) == 0

    # Ten seconds in which this process worked for one second.
    slow_budget = TimeBudget(100, started=time.monotonic() - 10, processor_seconds_before=time.process_time() - 1)
    assert slow_budget.slowdown == pytest.approx(10, rel=0.2)
    assert slow_budget.seconds_before_finishing() == pytest.approx(90 - 10 * FINISHING_SECONDS, abs=2)
    assert slow_budget.deadline_for(0.5) - time.monotonic() == pytest.approx((90 - 10 * FINISHING_SECONDS) / 2, abs=2)


def test_wide_tables_and_long_tests_leave_less_time_for_the_search() -> None:
    """The time grows with the columns to describe and the predictions to measure, up to a limit."""

    def seconds(columns: int, test_rows: int, classes: int) -> float:
        return expected_finishing_seconds(columns=columns, test_rows=test_rows, classes=classes)

    assert seconds(1_000, 100, 2) > seconds(10, 100, 2) + 5
    assert seconds(10, 10_000, 5) > seconds(10, 10_000, 2) > seconds(10, 10_000, 0) > seconds(10, 100, 0)
    assert seconds(10, 10**7, 2) == seconds(10, 10**6, 2)


def test_a_refit_learns_from_all_rows(tmp_path: Path) -> None:
    """The metrics stay those of the model that has not seen the test rows; the stored model learned from all rows."""
    body = {"algorithms": ["decision_tree"], "budget": {"max_trials": 1}}

    def root_samples(result: Json, model: model_artifact.LoadedModel) -> tuple[str, int]:
        return result["model"]["fitted_on"], int(model.estimator.tree_.n_node_samples[0])

    outcome = train(curved_table(200), "y", tmp_path, **body)
    assert root_samples(outcome.result, model_artifact.load(model_of(outcome))) == ("training_rows", 160)
    refitted_outcome = train(curved_table(200), "y", tmp_path, refit=True, **body)
    assert root_samples(refitted_outcome.result, model_artifact.load(model_of(refitted_outcome))) == ("all_rows", 200)
    assert outcome.result["metrics"] == refitted_outcome.result["metrics"]
