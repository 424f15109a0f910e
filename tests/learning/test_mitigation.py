"""Mitigation makes predictions depend less on the group, at a price that is stated, wherever rows are predicted."""

import json
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pandas as pd
import pytest
from fairlearn.postprocessing import ThresholdOptimizer
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import balanced_accuracy_score

from tests.learning.small_tables import Progress, csv_file, explain, model_of, train
from touchstone.learning.artifacts import example, model_artifact
from touchstone.learning.column_types import from_numbers, from_strings
from touchstone.learning.decisions.threshold import Objective
from touchstone.learning.evaluation import Predictions
from touchstone.learning.experiment import prepare_experiment
from touchstone.learning.fairness.group_thresholds import choose_group_thresholds
from touchstone.learning.fairness.groups import define_groups
from touchstone.learning.fairness.mitigation import mitigate
from touchstone.learning.fairness.reweighing import independence_factors
from touchstone.learning.fitting_pool import open_fitting_pool
from touchstone.learning.learning_errors import LearningError
from touchstone.learning.model_selection import search_models
from touchstone.learning.prediction import predict
from touchstone.learning.request_definitions import TrainingRequest
from touchstone.learning.table_reader import read_table
from touchstone.learning.task_interface import Json
from touchstone.learning.time_budget import TimeBudget

SHORT = {"algorithms": ["linear"], "budget": {"max_trials": 1}}


def unequal_table(rows: int = 600) -> pd.DataFrame:
    """Return a table in which group b is hired less often, which `points` give away."""
    rng = np.random.default_rng(0)
    group = np.where(rng.random(rows) < 0.5, "a", "b")
    points = rng.normal(size=rows) + 1.5 * (group == "a")
    hired = np.where(points + rng.normal(scale=0.8, size=rows) > 1, "yes", "no")
    return pd.DataFrame({"points": points.round(3), "group": group, "hired": hired})


def selection_gap(state: Json) -> float:
    """Return the difference between the selection rates of the groups."""
    difference: float = state["group_metrics"][0]["gaps"]["selection_rate"]["difference"]
    return difference


@pytest.mark.parametrize("mitigation", ["thresholds", "reweighing"])
@pytest.mark.parametrize("split", [{"strategy": "holdout", "test_size": 0.5}, {"strategy": "kfold", "folds": 3}])
def test_mitigation_narrows_the_gap_and_says_before_and_after(
    tmp_path: Path, mitigation: str, split: dict[str, Any]
) -> None:
    """The result holds quality and gaps before and after, and its own figures are those after."""
    body = {"sensitive_features": ["group"], "mitigation": mitigation, "split": split, **SHORT}
    result = train(unequal_table(), "hired", tmp_path, **body).result
    effect = result["mitigation"]
    assert selection_gap(effect["after"]) < 0.6 * selection_gap(effect["before"])
    assert effect["after"]["metrics"] == result["metrics"]
    assert effect["after"]["group_metrics"] == result["group_metrics"]

    unmitigated_result = train(unequal_table(), "hired", tmp_path, **{**body, "mitigation": "none"}).result
    assert unmitigated_result["mitigation"] is None
    assert effect["before"]["group_metrics"] == unmitigated_result["group_metrics"]
    assert effect["before"]["metrics"] == unmitigated_result["metrics"]


def test_no_effect_of_a_common_threshold_is_claimed_where_groups_have_their_own(tmp_path: Path) -> None:
    """The cost at the common threshold says nothing about a model that decides with a threshold for each group."""
    body = {"sensitive_features": ["group"], "threshold": {"cost": {"fp": 1, "fn": 5}}, **SHORT}
    texts = {
        mitigation: train(unequal_table(), "hired", tmp_path, **body, mitigation=mitigation).result["decision"]["text"]
        for mitigation in ("none", "thresholds")
    }
    assert "cost" in texts["none"]["en"]
    assert "cost" not in texts["thresholds"]["en"]


@pytest.mark.parametrize("mitigation", ["thresholds", "reweighing"])
def test_the_price_of_a_mitigation_is_stated_by_the_requested_objective(tmp_path: Path, mitigation: str) -> None:
    """The cost of errors before and after is that of the delivered decisions, and the model card states it."""
    costs = {"fp": 1.0, "fn": 5.0}
    body = {"sensitive_features": ["group"], "threshold": {"cost": costs}, "mitigation": mitigation, **SHORT}
    outcome = train(unequal_table(), "hired", tmp_path, **body)
    effect = outcome.result["mitigation"]
    assert effect["objective"]["requested"] == {"cost": costs}
    assert effect["objective"]["before"] == outcome.result["decision"]["test"]["value"] or mitigation == "reweighing"

    predictions = pd.read_parquet(tmp_path / "predictions.parquet")
    errors = predictions[predictions["prediction"] != predictions["truth"]]
    cost = errors["truth"].map({"no": costs["fp"], "yes": costs["fn"]}).sum() / len(predictions)
    assert effect["objective"]["after"] == pytest.approx(cost)
    assert "false positive: 1, false negative: 5" in effect["text"]["en"]
    assert effect["text"]["en"] in (tmp_path / "model_card.md").read_text()


def test_every_model_of_the_learning_curve_is_reweighed(tmp_path: Path) -> None:
    """Otherwise the curve would end with the effect of the weights, which more rows do not have."""
    body = {"sensitive_features": ["group"], "split": {"strategy": "holdout"}, **SHORT}
    curves = []
    for mitigation in ("none", "reweighing"):
        result = train(unequal_table(), "hired", tmp_path, **body, mitigation=mitigation).result
        points = result["charts"]["learning_curve"]["spec"]["en"]["data"]["values"]
        curves.append([point["score"] for point in points if point["on"] == "training rows"])

    # With these weights a model predicts its own training rows less well, whatever their number.
    assert all(reweighed < plain - 0.01 for plain, reweighed in zip(*curves, strict=True))


def test_reweighing_without_time_is_not_complete() -> None:
    """Without time for validation models the model decides as before, and the result is no longer reproducible."""
    body = {"dataset_id": 1, "target": "hired", "sensitive_features": ["group"], "mitigation": "reweighing", **SHORT}
    experiment = prepare_experiment(msgspec.convert(body, TrainingRequest), read_table(csv_file(unequal_table())))
    with open_fitting_pool() as pool:
        search = search_models(experiment, pool, TimeBudget(60), Progress())
        incomplete_search = mitigate(experiment, search, pool, TimeBudget(0))
        complete_search = mitigate(experiment, search, pool, TimeBudget(60))

    assert (search.is_complete, incomplete_search.is_complete, complete_search.is_complete) == (True, False, True)
    assert incomplete_search.folds[0].decisions is search.folds[0].decisions
    assert complete_search.folds[0].decisions is not search.folds[0].decisions


def test_thresholds_by_group_apply_to_predictions_and_to_the_example(tmp_path: Path) -> None:
    """The same points lead to different decisions, also for rows of another group, and without Touchstone."""
    body = {"sensitive_features": ["group"], "features": {"exclude": ["group"]}, "mitigation": "thresholds", **SHORT}
    outcome = train(unequal_table(), "hired", tmp_path, **body)
    thresholds = {entry["group"]: entry["threshold"] for entry in outcome.result["mitigation"]["thresholds"]}
    assert thresholds["a"] > thresholds["b"]
    decision_text = outcome.result["decision"]["text"]["en"]
    assert f"depends on the group, or {thresholds[None]:.3g} for groups without a threshold" in decision_text
    card = (tmp_path / "model_card.md").read_text(encoding="utf-8")
    assert "| group | Threshold |\n|---|---|\n" in card
    for group, threshold in thresholds.items():
        assert f"| {group or 'All other groups'} | {threshold:.3f} |" in card

    rows = [{"points": points / 10, "group": group} for points in range(-10, 30) for group in ("a", "b", "c", None)]
    predictions = predict(model_artifact.load(model_of(outcome)), rows)["predictions"]
    for row, prediction in zip(rows, predictions, strict=True):
        threshold = thresholds.get(str(row["group"]), thresholds[None])
        assert prediction["prediction"] == ("yes" if prediction["probabilities"][1] >= threshold else "no")

    pipeline, record = example.load_model(tmp_path / "model.skops")
    assert [prediction["prediction"] for prediction in example.predict(pipeline, record, rows)] == [
        prediction["prediction"] for prediction in predictions
    ]
    assert "group" in json.loads(json.dumps(record))["examples"][0]["row"]


@pytest.mark.parametrize("numbers", [[12345671.0, 12345672.0, -0.0], list(range(40)), [0.25, 1e-7, 1e20]])
def test_the_example_names_groups_of_numbers_like_the_service(numbers: list[float]) -> None:
    """The thresholds in the record of a model are found by the names of the groups."""
    column = from_numbers("region", np.array(numbers))
    groups = define_groups(column.column, column.values)
    stored_groups = msgspec.to_builtins(groups)
    names = [example.group_name(stored_groups, {"region": number}) for number in numbers]
    assert names == groups.assign(column.values).tolist()


def test_rows_are_explained_with_the_threshold_of_their_group(tmp_path: Path) -> None:
    """An explanation states the prediction that the service makes, and counterfactuals do not change the group."""
    frame = unequal_table()
    body = {"sensitive_features": ["group"], "mitigation": "thresholds", **SHORT}
    outcome = train(frame, "hired", tmp_path, **body)
    model = model_artifact.load(model_of(outcome))
    assert model.group_thresholds is not None

    # Points between the two thresholds are enough in one group only.
    points = np.linspace(frame["points"].min(), frame["points"].max(), 200)
    pairs: list[list[Json]] = [[{"points": float(value), "group": group} for group in "ab"] for value in points]
    classes_of_pairs = [
        [prediction["prediction"] for prediction in predict(model, pair)["predictions"]] for pair in pairs
    ]
    rows = next(
        pair for pair, (class_of_a, class_of_b) in zip(pairs, classes_of_pairs, strict=True) if class_of_a != class_of_b
    )

    explanation = explain(frame, model_of(outcome), tmp_path, method="counterfactual", instances={"values": rows})
    entries = explanation["local"]
    predicted_classes = [prediction["prediction"] for prediction in predict(model, rows)["predictions"]]
    assert [entry["predicted"] for entry in entries] == predicted_classes
    for entry in entries:
        (counterfactual,) = entry["counterfactuals"]
        assert [change["column"] for change in counterfactual["changes"]] == ["points"]
        assert counterfactual["prediction"] != entry["predicted"]


def test_rows_of_unknown_groups_have_warnings(tmp_path: Path) -> None:
    """Rows without a group, or of one without a threshold, are decided with the common threshold, which is said."""
    frame = unequal_table()
    frame.loc[:2, "group"] = "small"
    body = {"sensitive_features": ["group"], "features": {"exclude": ["group"]}, "mitigation": "thresholds", **SHORT}
    outcome = train(frame, "hired", tmp_path, **body)
    rows: list[Json] = [{"points": 0.5, "group": group} for group in ("a", "small", "Z", None)] + [{"points": 0.5}]
    expected = [[], [], ["group_unseen"], ["group_missing"], ["group_missing"]]

    predictions = predict(model_artifact.load(model_of(outcome)), rows)["predictions"]
    assert [[warning["code"] for warning in prediction["warnings"]] for prediction in predictions] == expected
    (warning,) = predictions[2]["warnings"]
    assert (warning["column"], warning["facts"]) == ("group", {"value": "Z"})
    assert "“group” = Z" in warning["text"]["en"]
    assert "«\u00a0group\u00a0» = Z\u00a0:" in warning["text"]["fr"]

    entries = explain(frame, model_of(outcome), tmp_path, scope="local", instances={"values": rows})["local"]
    assert [entry["warnings"] for entry in entries] == [prediction["warnings"] for prediction in predictions]


def test_an_intersection_of_groups_names_the_unknown_column(tmp_path: Path) -> None:
    """Of several columns, the warning is about the one whose value is missing or unknown."""
    frame = unequal_table().assign(age=np.resize([20, 30, 40], 600))
    body = {"sensitive_features": ["group", "age"], "mitigation": "thresholds", **SHORT}
    model = model_artifact.load(model_of(train(frame, "hired", tmp_path, **body)))
    rows: list[Json] = [{"points": 0.5, "group": "a", "age": age} for age in (20, None)]
    known, unknown = predict(model, rows)["predictions"]
    assert known["warnings"] == []
    assert [(warning["code"], warning["column"]) for warning in unknown["warnings"]] == [("group_missing", "age")]


def test_thresholds_are_as_good_as_those_of_fairlearn() -> None:
    """Fairlearn equalises the same rate by tossing coins; without coins, the same balanced accuracy is reached."""
    rng = np.random.default_rng(0)
    groups = np.repeat(["a", "b"], 1_000)
    truth = (rng.random(2_000) < np.where(groups == "a", 0.6, 0.3)).astype(int)
    scores = np.clip(0.3 * truth + 0.25 * (groups == "a") + 0.4 * rng.random(2_000), 0, 1)
    probabilities = np.column_stack([1 - scores, scores])

    cells = pd.Series(groups, dtype=object)
    column = define_groups(from_strings("group", cells).column, cells)
    predictions = Predictions(truth, (scores >= 0.5).astype(int), 2, probabilities)
    frame = pd.DataFrame({"group": cells})
    thresholds = choose_group_thresholds([column], frame, predictions, Objective(metric="balanced_accuracy"))
    decisions = thresholds.decide(frame, probabilities)

    class Scores(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
        def fit(self, features: Any, classes: Any) -> "Scores":
            self.classes_ = np.array([0, 1])
            return self

        def predict_proba(self, features: Any) -> Any:
            return np.column_stack([1 - features[:, 0], features[:, 0]])

    optimizer = ThresholdOptimizer(
        estimator=Scores().fit(None, None),
        constraints="demographic_parity",
        objective="balanced_accuracy_score",
        prefit=True,
        predict_method="predict_proba",
    ).fit(scores[:, None], truth, sensitive_features=groups)
    random_decisions = optimizer.predict(scores[:, None], sensitive_features=groups, random_state=0)

    rates = [decisions[groups == group].mean() for group in ("a", "b")]
    assert abs(rates[0] - rates[1]) < 0.01
    expected = balanced_accuracy_score(truth, random_decisions)
    assert balanced_accuracy_score(truth, decisions) == pytest.approx(expected, abs=0.01)


def test_weights_make_group_and_class_independent() -> None:
    """With the weights, every group contains the classes in the same proportion; the total stays the same."""
    groups = np.array(["a"] * 6 + ["b"] * 4, dtype=object)
    classes = np.array([1, 1, 1, 1, 0, 0, 1, 0, 0, 0])
    factors = independence_factors(groups, classes, np.ones(10))
    shares = [factors[(groups == group) & (classes == 1)].sum() / factors[groups == group].sum() for group in "ab"]
    assert shares == pytest.approx([0.5, 0.5])
    assert factors.sum() == pytest.approx(10)


def test_rows_of_a_known_year_have_no_warning(tmp_path: Path) -> None:
    """Its few rows gave it no threshold, but the training knows it, unlike a later year."""
    frame = unequal_table()
    frame["since"] = np.where(frame["group"] == "a", "2019-03-01", "2020-05-07")
    frame.loc[:2, "since"] = "2021-01-01"
    body = {"sensitive_features": ["since"], "features": {"include": ["points"]}, "mitigation": "thresholds", **SHORT}
    outcome = train(frame, "hired", tmp_path, **body)
    rows: list[Json] = [{"points": 0.5, "since": day} for day in ("2019-03-01", "2021-12-31", "2022-01-01")]
    predictions = predict(model_artifact.load(model_of(outcome)), rows)["predictions"]
    codes = [[warning["code"] for warning in prediction["warnings"]] for prediction in predictions]
    assert codes == [[], [], ["group_unseen"]]


def test_the_card_has_the_gaps_of_each_of_three_classes(tmp_path: Path) -> None:
    """The gap between accuracies alone would not show what a mitigation changes."""
    frame = unequal_table()
    frame["grade"] = np.select([frame["points"] > 1.5, frame["points"] > 0], ["high", "middle"], "low")
    body = {"features": {"include": ["points"]}, "sensitive_features": ["group"], "mitigation": "reweighing", **SHORT}
    result = train(frame, "grade", tmp_path, **body).result

    _french, english = (tmp_path / "model_card.md").read_text(encoding="utf-8").split("\n---\n")
    (entry,) = result["group_metrics"]
    for class_name, gaps in entry["class_gaps"].items():
        (line,) = (line for line in english.splitlines() if f"positive predictions of “{class_name}”, gap" in line)
        assert line.endswith(f"| {gaps['selection_rate']['difference']:.3f} |")


@pytest.mark.parametrize(
    ("target", "body", "code"),
    [
        ("hired", {"mitigation": "thresholds"}, "mitigation_without_groups"),
        ("points", {"mitigation": "reweighing", "sensitive_features": ["group"]}, "option_without_effect"),
        ("rank", {"mitigation": "thresholds", "sensitive_features": ["group"]}, "two_classes_needed"),
    ],
)
def test_mitigation_that_makes_no_sense_is_refused(
    tmp_path: Path, target: str, body: dict[str, Any], code: str
) -> None:
    """Without groups, without classes, or by thresholds among three classes, there is nothing to mitigate."""
    frame = unequal_table().assign(rank=np.arange(600) % 3)
    with pytest.raises(LearningError, match=code):
        train(frame, target, tmp_path, **SHORT, **body)
