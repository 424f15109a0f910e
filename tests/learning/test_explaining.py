"""Explanations equal what can be computed by definition, add up, and state in words what the numbers say."""

import io
import itertools
import json
import math
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pandas as pd
import pytest
from lightgbm import LGBMClassifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import ExtraTreesClassifier, VotingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from tests.learning.small_tables import csv_file, explain, messy_table, model_of, train
from touchstone.learning.artifacts import model_artifact
from touchstone.learning.column_types import from_dates, from_numbers, from_strings
from touchstone.learning.explaining.associations import association, comparable_values
from touchstone.learning.explaining.explanation_context import ExplanationContext, prepare_explanation
from touchstone.learning.explaining.held_out_copy import fit_held_out_copy
from touchstone.learning.explaining.model_explanation import ALL_SAMPLE_EVALUATIONS, sample_sizes
from touchstone.learning.explaining.permutation_importance import Importance
from touchstone.learning.explaining.row_narrative import ExplainedNumber, row_sentence
from touchstone.learning.explaining.shapley_values import explain_row
from touchstone.learning.explaining.used_columns import find_used_columns
from touchstone.learning.explaining.weighted_truth import WeightedTruth
from touchstone.learning.learning_errors import LearningError
from touchstone.learning.localized_text import format_fact, format_percentage
from touchstone.learning.prediction import predict
from touchstone.learning.preparation import encoded_sources
from touchstone.learning.request_choices import Output
from touchstone.learning.request_definitions import ExplanationRequest
from touchstone.learning.table_reader import read_table
from touchstone.learning.task_interface import ModelFile


def linear_table(rows: int = 80) -> pd.DataFrame:
    """Return a regression without noise: y = 3 a - 2 b + 5 (colour is red)."""
    rng = np.random.default_rng(4)
    a, b, colour = rng.normal(size=rows), rng.normal(size=rows), rng.choice(["red", "green"], rows)
    return pd.DataFrame({"a": a, "b": b, "colour": colour, "y": 3 * a - 2 * b + 5 * (colour == "red")})


def step_table(rows: int = 120) -> pd.DataFrame:
    """Return a regression that a small tree learns: y depends on a and b by thresholds, and c is noise."""
    rng = np.random.default_rng(5)
    a, b, c = (rng.normal(size=rows) for _ in range(3))
    return pd.DataFrame({"a": a, "b": b, "c": c, "y": 10.0 * (a > 0) + 4.5 * ((a > 0) & (b > 0))})


def context_of(frame: pd.DataFrame, model: ModelFile, **body: Any) -> ExplanationContext:
    """Return what an explanation of a model needs."""
    request = msgspec.convert({"job_id": "job", **body}, ExplanationRequest)
    return prepare_explanation(request, read_table(csv_file(frame)), model_artifact.load(model))


def shapley_by_definition(context: ExplanationContext, row: np.ndarray[Any, Any]) -> list[float]:
    """Compute Shapley values by their definition: over all coalitions, one column at a time."""
    model = context.explained
    count = len(context.names)

    def value_of(coalition: tuple[int, ...]) -> float:
        mixed_rows = model.background.copy()
        for player in coalition:
            block = model.block(player)
            mixed_rows[:, block] = row[block]
        return float(model.value(mixed_rows).mean())

    values = []
    for player in range(count):
        other_players = [other_player for other_player in range(count) if other_player != player]
        total = 0.0
        for size in range(count):
            weight = math.factorial(size) * math.factorial(count - size - 1) / math.factorial(count)
            for coalition in itertools.combinations(other_players, size):
                total += weight * (value_of((*coalition, player)) - value_of(coalition))
        values.append(total)
    return values


def test_a_linear_model_is_attributed_by_its_coefficients(tmp_path: Path) -> None:
    """A contribution is the coefficient times the distance from the background mean; one-hot columns are added up."""
    frame = linear_table()
    model = model_of(train(frame, "y", tmp_path, algorithms=["linear"], budget={"max_trials": 1}))
    context = context_of(frame, model)
    row = context.explained.encode(frame[["a", "b", "colour"]].iloc[[7]])[0]
    attribution = explain_row(context.explained, row, np.random.default_rng(0))
    coefficients, means = np.ravel(context.explained.estimator.coef_), context.explained.background.mean(axis=0)
    encoded_contributions = coefficients * (row - means)
    expected = [
        sum(
            encoded_contributions[position]
            for position in range(len(encoded_contributions))
            if context.explained.sources[position] == source
        )
        for source in range(3)
    ]
    assert attribution.method == "linear"
    assert len(encoded_contributions) == 4
    assert attribution.contributions == pytest.approx(expected, abs=1e-9)
    assert attribution.contributions == pytest.approx(shapley_by_definition(context, row), abs=1e-9)
    assert attribution.additivity_error <= 1e-9
    # Ridge regression shrinks coefficients a little, so the slope of the data is met within a tenth.
    assert attribution.contributions[0] == pytest.approx(3 * (frame["a"][7] - context.background["a"].mean()), rel=0.1)


def test_a_small_tree_is_attributed_exactly(tmp_path: Path) -> None:
    """The contributions equal those of the definition, computed over all coalitions."""
    frame = step_table()
    body = {"algorithms": ["decision_tree"], "budget": {"max_trials": 1}}
    context = context_of(frame, model_of(train(frame, "y", tmp_path, **body)), background={"size": 20})
    used_columns = {
        context.names[source]
        for source in np.unique(context.explained.sources[context.explained.estimator.tree_.feature])
    }
    for number in (0, 3, 11):
        row = context.explained.encode(frame[["a", "b", "c"]].iloc[[number]])[0]
        attribution = explain_row(context.explained, row, np.random.default_rng(0))
        assert attribution.method == "exact"
        assert attribution.contributions == pytest.approx(shapley_by_definition(context, row), abs=1e-9)
        assert attribution.additivity_error <= 1e-9
    assert "a" in used_columns


@pytest.mark.parametrize(("output", "method"), [("probability", "exact"), ("log_odds", "linear")])
def test_a_logistic_model_is_exact_on_both_scales(tmp_path: Path, output: str, method: str) -> None:
    """Log-odds are attributed in closed form, probabilities over all coalitions; both equal the definition."""
    frame = linear_table().assign(y=lambda f: np.where(f["y"] > 1, "high", "low"))
    model = model_of(train(frame, "y", tmp_path, algorithms=["linear"], budget={"max_trials": 1}, calibration="none"))
    for name in ("high", "low"):
        context = context_of(frame, model, output=output, target_class=name, background={"size": 15})
        row = context.explained.encode(frame[["a", "b", "colour"]].iloc[[2]])[0]
        attribution = explain_row(context.explained, row, np.random.default_rng(0))
        assert attribution.method == method
        assert attribution.contributions == pytest.approx(shapley_by_definition(context, row), abs=1e-6)
        assert attribution.additivity_error <= 1e-6


def test_sampled_values_come_near_the_exact_ones_and_still_add_up(tmp_path: Path) -> None:
    """With too few evaluations for all coalitions, the estimates keep their sum and stay within their errors."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(200, 6)), columns=list("abcdef"))
    frame["y"] = frame["a"] * frame["b"] + frame["c"]
    body = {"algorithms": ["hist_gradient_boosting"], "budget": {"max_trials": 1}}
    context = context_of(frame, model_of(train(frame, "y", tmp_path, **body)), background={"size": 20})
    row = context.explained.encode(frame[list("abcdef")].iloc[[0]])[0]
    exact_attribution = explain_row(context.explained, row, rng)
    sampled_attribution = explain_row(context.explained, row, rng, evaluations=1_000)
    assert (exact_attribution.method, sampled_attribution.method) == ("exact", "sampled")
    assert sampled_attribution.additivity_error <= 1e-9
    assert sampled_attribution.standard_errors is not None
    assert np.all(
        np.abs(sampled_attribution.contributions - exact_attribution.contributions)
        <= 6 * sampled_attribution.standard_errors + 0.05
    )


@pytest.mark.parametrize(
    "model",
    [
        DecisionTreeClassifier(max_depth=2),
        ExtraTreesClassifier(3, max_depth=2, random_state=0),
        LGBMClassifier(n_estimators=2, num_leaves=4, verbose=-1),
        VotingClassifier(
            [("tree", DecisionTreeClassifier(max_depth=2)), ("stump", DecisionTreeClassifier(max_depth=1))],
            voting="soft",
        ),
    ],
)
def test_columns_that_no_tree_uses_have_no_influence(model: Any) -> None:
    """Changing all of them at once leaves every prediction as it is, also behind a calibration."""
    rng = np.random.default_rng(0)
    matrix = rng.normal(size=(300, 30))
    model.fit(matrix, matrix[:, 3] + matrix[:, 4] * matrix[:, 5] > 0.5)
    calibrated_model = CalibratedClassifierCV(FrozenEstimator(model)).fit(matrix, matrix[:, 3] > 0)

    for fitted_model in (model, calibrated_model):
        is_used = find_used_columns(fitted_model, 30)
        assert is_used[3]
        assert is_used.sum() < 20
        changed_matrix = np.where(is_used, matrix, 9.0)
        np.testing.assert_array_equal(fitted_model.predict_proba(changed_matrix), fitted_model.predict_proba(matrix))
    assert find_used_columns(LogisticRegression().fit(matrix, matrix[:, 0] > 0), 30).all()


def test_tiny_probabilities_have_no_exponents() -> None:
    """A probability of a few millionths reads as less than a bound, and zero as zero."""
    assert format_percentage(8.9e-6) == {"fr": "<\u00a00,001\u00a0%", "en": "<0.001%"}
    assert format_percentage(2e-5)["en"] == "0.002%"
    assert format_percentage(0)["en"] == "0%"


def test_wide_tables_are_explained_over_fewer_rows() -> None:
    """Up to sixty columns, contributions are averaged over the same rows; beyond, predictions stay bounded."""
    assert sample_sizes(1) == sample_sizes(60) == (60, 50)
    assert sample_sizes(300) == (60, 10)
    assert sample_sizes(2_000) == (20, 10)
    for columns in range(61, 1_200):
        rows, background_rows = sample_sizes(columns)
        assert 4 * columns * rows * background_rows <= ALL_SAMPLE_EVALUATIONS


def test_a_wide_table_has_the_contributions_of_its_few_columns_that_matter(tmp_path: Path) -> None:
    """Noise in two hundred columns does not hide the column that decides, with fewer background rows."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(300, 200)).round(3)).add_prefix("noise")
    frame["signal"] = rng.normal(size=300).round(3)
    frame["y"] = (3 * frame["signal"] + rng.normal(0, 0.3, 300)).round(3)
    model = model_of(train(frame, "y", tmp_path, algorithms=["lightgbm"]))

    columns = explain(frame, model, tmp_path, scope="global", method="shap")["global"]
    assert columns[0]["column"] == "signal"
    assert columns[0]["shap"]["mean_absolute"] > 10 * columns[1]["shap"]["mean_absolute"]
    assert columns[0]["shap"]["direction"] == "up"


def test_an_explanation_has_the_agreed_fields_and_is_reproducible(tmp_path: Path) -> None:
    """Rows by index have a base value, a prediction and contributions by source column, the same ones every time."""
    frame = messy_table(120)
    outcome = train(frame, "outcome", tmp_path)
    explanation, repeated_explanation = (
        explain(frame, model_of(outcome), tmp_path, instances={"rows": [5, 0]}) for _ in range(2)
    )
    assert explanation == repeated_explanation
    assert json.loads(msgspec.json.encode(explanation)) == explanation
    assert [entry["row"] for entry in explanation["local"]] == [5, 0]
    for entry in explanation["local"]:
        assert set(entry["attributions"]) == {"amount", "colour", "city", "when", "notes", "sex"}
        assert entry["base_value"] + sum(entry["attributions"].values()) == pytest.approx(entry["prediction"], abs=1e-6)
        assert entry["additivity_error"] <= 1e-6
    assert explanation["target_class"] == "yes"
    assert [entry["column"] for entry in explanation["global"][:1]] == ["amount"]
    assert explanation["global"][0]["importance"]["mean"] > 0
    assert explanation["global"][0]["shap"]["direction"] == "up"


def test_of_several_classes_the_one_predicted_for_the_first_row_is_explained(tmp_path: Path) -> None:
    """The probability of another class would hardly say why a row has its prediction."""
    frame = linear_table(180).assign(y=lambda rows: np.digitize(rows["a"], [-0.5, 0.5]))
    frame["y"] = np.array(["low", "middle", "high"])[frame["y"]]
    model = model_of(train(frame, "y", tmp_path, algorithms=["linear"]))
    lowest, highest = int(frame["a"].argmin()), int(frame["a"].argmax())

    for rows, expected in (([lowest, highest], "low"), ([highest, lowest], "high")):
        explanation = explain(frame, model, tmp_path, scope="local", instances={"rows": rows})
        assert explanation["target_class"] == explanation["local"][0]["predicted"] == expected

    values = [{"a": 3.0, "b": 0.0, "colour": "red"}]
    assert explain(frame, model, tmp_path, instances={"values": values})["target_class"] == "high"
    named = explain(frame, model, tmp_path, instances={"rows": [lowest]}, target_class="middle")
    assert named["target_class"] == "middle"


def test_what_decides_is_named_in_both_languages(tmp_path: Path) -> None:
    """The narrative names the most important column and the rows, and the limits are stated."""
    frame = messy_table(120)
    result = explain(frame, model_of(train(frame, "outcome", tmp_path)), tmp_path, instances={"rows": [5]})
    assert "«\u00a0amount\u00a0»" in result["narrative"]["fr"]
    assert "Ligne 5" in result["narrative"]["fr"]
    assert "“amount”" in result["narrative"]["en"]
    assert result["narrative"]["en"].splitlines()[1].startswith("Row 5")
    assert len(result["limits"]["fr"]) == len(result["limits"]["en"]) >= 3


def test_rows_given_by_value_are_explained_like_rows_of_the_file(tmp_path: Path) -> None:
    """A row written out as values has the same prediction and the same contributions as by its index."""
    frame = linear_table()
    model = train(frame, "y", tmp_path, algorithms=["linear"], budget={"max_trials": 1})
    values = json.loads(frame.iloc[[4]].to_json(orient="records", double_precision=15))
    by_index = explain(frame, model_of(model), tmp_path, scope="local", instances={"rows": [4]})["local"][0]
    by_value = explain(frame, model_of(model), tmp_path, scope="local", instances={"values": values})["local"][0]
    assert by_value["prediction"] == pytest.approx(by_index["prediction"])
    assert by_value["attributions"] == pytest.approx(by_index["attributions"])


def test_scope_and_method_choose_what_is_computed(tmp_path: Path) -> None:
    """Nothing is computed that was not requested."""
    frame = linear_table()
    model = train(frame, "y", tmp_path, algorithms=["linear"], budget={"max_trials": 1})
    local_explanation = explain(frame, model_of(model), tmp_path, scope="local")
    assert local_explanation["global"] == []
    assert len(local_explanation["local"]) == 3
    global_explanation = explain(frame, model_of(model), tmp_path, scope="global", method="permutation_importance")
    assert global_explanation["local"] == []
    assert all(
        entry["importance"] and not entry["shap"] and not entry["dependence"] for entry in global_explanation["global"]
    )
    assert not any("sample of" in limit for limit in global_explanation["limits"]["en"])
    dependence_explanation = explain(frame, model_of(model), tmp_path, method="partial_dependence")
    assert any(
        "The curves are averages over a sample of 64 rows" in limit for limit in dependence_explanation["limits"]["en"]
    )
    assert all(entry["dependence"] for entry in dependence_explanation["global"])


def test_partial_dependence_of_a_line_is_its_slope(tmp_path: Path) -> None:
    """The mean prediction of a linear model moves with its coefficient, for every row alike."""
    frame = linear_table()
    model = train(frame, "y", tmp_path, algorithms=["linear"], budget={"max_trials": 1})
    entries = explain(frame, model_of(model), tmp_path, method="partial_dependence", scope="global")["global"]
    curve = next(entry["dependence"] for entry in entries if entry["column"] == "a")
    slope = (curve["mean"][-1] - curve["mean"][0]) / (curve["values"][-1] - curve["values"][0])
    assert slope == pytest.approx(3, rel=0.05)
    colour_curve = next(entry["dependence"] for entry in entries if entry["column"] == "colour")
    assert colour_curve["values"] == ["green", "red"]
    assert colour_curve["mean"][1] - colour_curve["mean"][0] == pytest.approx(5, rel=0.1)


def test_a_shuffled_column_that_nothing_uses_costs_nothing(tmp_path: Path) -> None:
    """The permutation importance of an ignored column is exactly zero, and that of the decisive one is large."""
    frame = step_table()
    body = {"algorithms": ["decision_tree"], "budget": {"max_trials": 1}}
    model = model_of(train(frame, "y", tmp_path, **body))
    entries = explain(frame, model, tmp_path, method="permutation_importance", scope="global")["global"]
    losses = {entry["column"]: entry["importance"]["mean"] for entry in entries}
    assert losses["a"] > 0.5
    assert losses["c"] == 0.0


@pytest.mark.parametrize("target", ["y", "class"])
def test_a_counterfactual_changes_the_prediction_when_applied(tmp_path: Path, target: str) -> None:
    """Taking over the named values and predicting again gives the promised class, or a clearly different number."""
    frame = linear_table().assign(**{"class": lambda f: np.where(f["y"] > 1, "high", "low")})
    frame = frame.drop(columns={"y", "class"} - {target})
    outcome = train(frame, target, tmp_path, algorithms=["linear"], budget={"max_trials": 1})
    instances = {"rows": [0, 1, 2]}
    model = model_artifact.load(model_of(outcome))
    explanation = explain(
        frame, model_of(outcome), tmp_path, method="counterfactual", instances=instances, immutable=["b"]
    )
    for entry in explanation["local"]:
        (counterfactual,) = entry["counterfactuals"]
        row = json.loads(frame.drop(columns=target).iloc[[entry["row"]]].to_json(orient="records"))[0]
        row |= {change["column"]: change["to"] for change in counterfactual["changes"]}
        (prediction,) = predict(model, [row])["predictions"]
        assert "b" not in {change["column"] for change in counterfactual["changes"]}
        if target == "y":
            assert prediction["prediction"] == pytest.approx(counterfactual["prediction"])
            assert abs(counterfactual["prediction"] - entry["predicted"]) > 1
        else:
            assert prediction["prediction"] == counterfactual["prediction"] != entry["predicted"]


def test_one_change_is_found_where_other_columns_are_immutable(tmp_path: Path) -> None:
    """Rows are compared in the columns that may change, since those nearest in the others may differ little in them."""
    rng = np.random.default_rng(5)
    a, b = rng.uniform(0, 10, 400).round(2), rng.uniform(0, 10, 400).round(2)
    group = rng.choice(["m", "f"], 400)
    y = (a + b + np.where(group == "m", 3, 0) + rng.normal(0, 0.1, 400)).round(2)
    frame = pd.DataFrame({"a": a, "b": b, "group": group, "y": y})
    outcome = train(frame, "y", tmp_path, algorithms=["linear"], budget={"max_trials": 1})
    instances = {"values": [{"a": 5.0, "b": 5.0, "group": "m"}]}
    body = {"method": "counterfactual", "immutable": ["b", "group"], "instances": instances}

    (entry,) = explain(frame, model_of(outcome), tmp_path, **body)["local"]
    ((change,),) = [counterfactual["changes"] for counterfactual in entry["counterfactuals"]]
    assert change["column"] == "a"
    assert float(change["to"]) in set(a)


@pytest.mark.parametrize("immutable", [["a", "b"], ["b", "group"], ["a"]])
def test_there_is_no_counterfactual_only_if_no_value_of_the_table_leads_to_one(
    tmp_path: Path, immutable: list[str]
) -> None:
    """With few columns that may change, a counterfactual is found wherever trying every single value finds one."""
    rng = np.random.default_rng(11)
    a, b = rng.uniform(0, 10, 400).round(1), rng.uniform(0, 10, 400).round(1)
    group = rng.choice(["f", "m", "rare"], 400, p=[0.4, 0.58, 0.02])
    points = a + 1.5 * b + np.select([group == "m", group == "rare"], [4, -8], 0) + rng.normal(0, 1, 400)
    frame = pd.DataFrame({"a": a, "b": b, "group": group, "y": np.where(points > 14, "high", "low")})
    outcome = train(frame, "y", tmp_path, algorithms=["linear"], budget={"max_trials": 1})
    model = model_artifact.load(model_of(outcome))
    body = {"method": "counterfactual", "scope": "local", "immutable": immutable, "instances": {"rows": [*range(25)]}}

    rows_with_one_change = set()
    for number in range(25):
        row: dict[str, Any] = {name: frame[name].iloc[number] for name in ("a", "b", "group")}
        values = [(name, value) for name in row if name not in immutable for value in frame[name].unique().tolist()]
        changed_rows = [{**row, name: value} for name, value in values]
        predicted, *others = [entry["prediction"] for entry in predict(model, [row, *changed_rows])["predictions"]]
        if set(others) != {predicted}:
            rows_with_one_change.add(number)

    entries = explain(frame, model_of(outcome), tmp_path, **body)["local"]
    assert rows_with_one_change
    for entry in entries:
        change_counts = [len(counterfactual["changes"]) for counterfactual in entry["counterfactuals"]]
        assert (change_counts == [1]) == (entry["row"] in rows_with_one_change)


def test_combinations_that_no_row_has_are_found(tmp_path: Path) -> None:
    """If no single change and no row of the table leads to another class, the values of few columns are combined."""
    rng = np.random.default_rng(2)
    a = rng.integers(0, 10, 300)
    b = rng.integers(0, 10 - a)
    frame = pd.DataFrame({"a": a, "b": b, "group": rng.choice([0.0, 5.0, 8.0], 300)})
    frame["y"] = np.where(frame["a"] + frame["b"] + frame["group"] > 13, "high", "low")
    outcome = train(frame, "y", tmp_path, algorithms=["linear"], budget={"max_trials": 1})
    instances = {"values": [{"a": 1, "b": 1, "group": 0}]}
    body = {"method": "counterfactual", "immutable": ["group"], "instances": instances}

    explanation = explain(frame, model_of(outcome), tmp_path, **body)
    (entry,) = explanation["local"]
    assert entry["predicted"] == "low"
    assert [counterfactual["prediction"] for counterfactual in entry["counterfactuals"]] == ["high"]
    assert "Row 0: the prediction would become “high” if " in explanation["narrative"]["en"]
    assert {change["column"] for change in entry["counterfactuals"][0]["changes"]} == {"a", "b"}


@pytest.mark.parametrize("target", ["y", "class"])
def test_values_of_different_rows_are_combined_in_many_columns(tmp_path: Path, target: str) -> None:
    """With more columns than all combinations are tried for, the most effective values of all rows are combined."""
    rng = np.random.default_rng(6)
    # Each row has a value in a single column only, so that no row is an example of two large values.
    cells = np.zeros((300, 5))
    cells[np.arange(300), rng.integers(0, 5, 300)] = rng.uniform(0, 4, 300).round(1)
    frame = pd.DataFrame(cells, columns=[f"part {number}" for number in range(5)])
    frame["group"] = rng.choice([0.0, 3.0, 10.0], 300)
    points = frame.sum(axis=1)
    frame[target] = points if target == "y" else np.where(points > 5, "high", "low")
    outcome = train(frame, target, tmp_path, algorithms=["linear"], budget={"max_trials": 1})
    instances = {"values": [dict.fromkeys(frame.columns.drop(target), 0.0)]}
    body = {"method": "counterfactual", "immutable": ["group"], "instances": instances}

    (entry,) = explain(frame, model_of(outcome), tmp_path, **body)["local"]
    (counterfactual,) = entry["counterfactuals"]
    changed_row = {**instances["values"][0], **{change["column"]: change["to"] for change in counterfactual["changes"]}}
    (prediction,) = predict(model_artifact.load(model_of(outcome)), [changed_row])["predictions"]
    assert len(counterfactual["changes"]) == 2
    assert prediction["prediction"] == pytest.approx(counterfactual["prediction"]) != entry["predicted"]


def test_excluded_columns_may_be_immutable(tmp_path: Path) -> None:
    """A column that the model did not learn from cannot change, so it changes nothing to say so."""
    frame = linear_table().assign(y=lambda f: np.where(f["y"] > 1, "high", "low"))
    model = model_of(train(frame, "y", tmp_path, algorithms=["linear"], features={"exclude": ["colour"]}))
    body = {"method": "counterfactual", "instances": {"rows": [0]}}
    explanations = [explain(frame, model, tmp_path, **body, immutable=names) for names in ([], ["colour"])]
    first, second = (explanation["local"][0]["counterfactuals"] for explanation in explanations)
    assert first == second != []


def test_missing_counterfactuals_are_reported(tmp_path: Path) -> None:
    """If every column that could change the prediction is immutable, the answer says that there is none."""
    frame = linear_table().assign(y=lambda f: np.where(f["y"] > 1, "high", "low"))
    model = train(frame, "y", tmp_path, algorithms=["linear"], budget={"max_trials": 1})
    body = {"method": "counterfactual", "instances": {"rows": [0]}, "immutable": ["a", "b", "colour"]}
    explanation = explain(frame, model_of(model), tmp_path, **body)
    assert explanation["local"][0]["counterfactuals"] == []
    assert "with “a”, “b”, “colour” unchanged, the search found no change" in explanation["narrative"]["en"]
    with pytest.raises(LearningError, match="column_not_found"):
        explain(frame, model_of(model), tmp_path, **body | {"immutable": ["colou"]})
    with pytest.raises(LearningError, match="option_without_effect"):
        explain(frame, model_of(model), tmp_path, **body | {"method": "shap"})


def test_a_changed_file_is_not_explained(tmp_path: Path) -> None:
    """An explanation with other data than the model has learned from would be meaningless."""
    frame = linear_table()
    model = train(frame, "y", tmp_path, algorithms=["linear"], budget={"max_trials": 1})
    with pytest.raises(LearningError, match="data_changed"):
        explain(frame.iloc[1:], model_of(model), tmp_path)


def test_unknown_rows_and_classes_are_refused(tmp_path: Path) -> None:
    """A row after the last one, and a class that the model does not know, are rejected with their reasons."""
    frame = linear_table().assign(y=lambda f: np.where(f["y"] > 1, "high", "low"))
    model = train(frame, "y", tmp_path, algorithms=["linear"], budget={"max_trials": 1})
    with pytest.raises(LearningError, match="row_out_of_range"):
        explain(frame, model_of(model), tmp_path, instances={"rows": [80]})
    with pytest.raises(LearningError, match="class_not_found"):
        explain(frame, model_of(model), tmp_path, target_class="middling")


@pytest.mark.parametrize("split", [{}, {"strategy": "kfold", "folds": 3}])
def test_columns_of_noise_do_not_matter(tmp_path: Path, split: dict[str, Any]) -> None:
    """Only the column that decides matters, even if the stored model remembers the noise of every row."""
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(rng.normal(size=(150, 12)), columns=[f"noise {number}" for number in range(12)])
    frame["signal"] = rng.normal(size=150)
    body = {"algorithms": ["random_forest"], "budget": {"max_trials": 1}, "split": split}
    for target, expected in ((frame["signal"] > 0, {"signal"}), (rng.random(150) > 0.5, set())):
        table = frame.assign(y=np.where(target, "yes", "no"))
        # A copy of the model must be fitted even if the model is calibrated.
        body["calibration"] = "sigmoid" if expected else "none"
        explanation = explain(
            table, model_of(train(table, "y", tmp_path, **body)), tmp_path, method="permutation_importance"
        )
        assert {entry["column"] for entry in explanation["global"] if entry["importance"]["matters"]} == expected
        assert "The explanation is about the probability" not in explanation["narrative"]["en"]
        has_limit = any("has not learned" in limit for limit in explanation["limits"]["en"])
        assert has_limit == bool(split)
        doubts_probabilities = any("are not frequencies" in limit for limit in explanation["limits"]["en"])
        assert doubts_probabilities == (body["calibration"] != "sigmoid")


def test_a_column_that_may_be_chance_is_shown_with_the_limit(tmp_path: Path) -> None:
    """A loss below the limit is not zero, so the narrative says how large it is, and what chance explains."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=60), "b": rng.normal(size=60)})
    frame["y"] = np.where(frame["a"] + 2 * rng.normal(size=60) > 0, "yes", "no")
    model = train(frame, "y", tmp_path, algorithms=["linear"], budget={"max_trials": 1})
    explanation = explain(frame, model_of(model), tmp_path, method="permutation_importance", scope="global")
    costliest = explanation["global"][0]
    importance = costliest["importance"]
    assert importance["mean"] <= importance["chance"]

    drop, spread, limit = (format_fact(importance[name], "en") for name in ("mean", "std", "chance"))
    assert (
        f"no single column can be told from chance: permuting “{costliest['column']}” costs most, {drop} ± {spread} "
        f"(Balanced accuracy), and chance explains up to {limit}."
    ) in explanation["narrative"]["en"]
    assert "pas plus que le hasard" not in explanation["narrative"]["fr"]


@pytest.mark.parametrize(("losses", "matters"), [((0.0, 0.0, 0.0, 0.0, 0.5), False), ((0.1, 0.1, 0.1, 0.1, 0.2), True)])
def test_the_limit_of_chance_allows_for_the_spread_of_the_losses(losses: tuple[float, ...], matters: bool) -> None:
    """A column matters exactly if its loss exceeds `chance`, also where the repeats differ a lot."""
    importance = Importance("a", losses, shuffled_target_loss=0.05)
    assert importance.is_significant is matters
    assert (importance.mean > importance.chance) is matters


@pytest.mark.parametrize("split", [{}, {"strategy": "kfold", "folds": 3}])
def test_importance_is_measured_with_the_weights_of_the_rows(tmp_path: Path, split: dict[str, Any]) -> None:
    """Only the column that decides the rows of weight 1 matters, in the metric as well as in a copy of the model."""
    rng = np.random.default_rng(4)
    frame = pd.DataFrame({"x": rng.normal(size=800), "z": rng.normal(size=800)})
    frame["w"] = np.where(rng.random(800) < 0.3, 1.0, 0.001)
    frame["y"] = np.where(np.where(frame["w"] == 1, frame["x"], frame["z"]) > 0, "yes", "no")
    body = {"algorithms": ["ensemble", "linear", "kernel"], "sample_weight": "w", "split": split}
    outcome = train(frame, "y", tmp_path, **body)
    explanation = explain(frame, model_of(outcome), tmp_path, method="permutation_importance")
    assert {entry["column"]: entry["importance"]["matters"] for entry in explanation["global"]} == {
        "x": True,
        "z": False,
    }
    assert explanation["global"][0]["importance"]["mean"] > 0.35


def test_shuffled_values_keep_their_weighted_distribution() -> None:
    """Heavy rows receive the values of heavy rows, and equal weights only change the order."""
    rng = np.random.default_rng(0)
    values = np.repeat([0, 1], [90, 10])
    weights = np.where(values == 1, 9.0, 1.0)
    shuffled = WeightedTruth(values, weights).shuffle(rng)
    assert shuffled.weights is weights
    assert shuffled.values.sum() == 50
    equal = WeightedTruth(values, np.ones(100)).shuffle(rng)
    assert values[WeightedTruth(values, weights).shuffled_positions(rng)].sum() == 50
    assert sorted(equal.values) == sorted(WeightedTruth(values).shuffle(rng).values) == sorted(values)


def test_rows_without_weight_are_no_average_case(tmp_path: Path) -> None:
    """Neither the background nor the measured rows contain rows that count nowhere in the training."""
    frame = linear_table(200).assign(w=lambda f: np.where(f["a"] > 0, 2.0, 0.0))
    model = model_of(train(frame, "y", tmp_path, algorithms=["linear"], sample_weight="w", budget={"max_trials": 1}))
    context = context_of(frame, model)
    assert len(context.background) < 100
    assert (context.background["a"] > 0).all()
    assert (context.test_frame["a"] > 0).all()


def test_values_of_rows_without_weight_are_unseen(tmp_path: Path) -> None:
    """A model has not learned from a category that only rows of weight 0 have, so predictions warn of it."""
    frame = linear_table(200)
    is_blue = frame.index % 10 == 0
    frame = frame.assign(colour=np.where(is_blue, "blue", frame["colour"]), w=np.where(is_blue, 0.0, 1.0))
    outcome = train(frame, "y", tmp_path, algorithms=["linear"], sample_weight="w", budget={"max_trials": 1})
    (prediction,) = predict(model_artifact.load(model_of(outcome)), [{"a": 0, "b": 0, "colour": "blue"}])["predictions"]
    assert [warning["code"] for warning in prediction["warnings"]] == ["category_unseen"]


def test_averages_with_pipelines_are_copied_with_weights() -> None:
    """A copy of an average learns only from rows with a weight, whichever way its members take the weights."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"a": rng.normal(size=300)})
    weights = (np.arange(300) % 3 == 0).astype(float)
    values = (np.where(weights > 0, frame["a"], -frame["a"]) > 0).astype(int)
    members = [("one", LogisticRegression()), ("two", Pipeline([("linear", LogisticRegression())]))]
    pipeline = Pipeline([("prepare", StandardScaler()), ("model", VotingClassifier(members, voting="soft"))])
    pipeline.fit(frame, values)

    copy = fit_held_out_copy(pipeline, frame, WeightedTruth(values, weights), rng)
    predicted = copy.predict_proba(frame)[:, 1] > 0.5
    assert (predicted == values)[weights > 0].mean() > 0.95


def test_copies_of_models_weigh_classes_as_the_originals_do() -> None:
    """A copy of a balanced model gives both classes about the same probability, also if it is an average."""
    rng = np.random.default_rng(0)
    frame, truth = pd.DataFrame({"a": rng.normal(size=300)}), (np.arange(300) % 10 == 0).astype(int)
    members = [("one", LogisticRegression()), ("two", Pipeline([("linear", LogisticRegression())]))]
    pipeline = Pipeline([("prepare", StandardScaler()), ("model", VotingClassifier(members, voting="soft"))])
    pipeline.fit(frame, truth)

    for is_balanced, expected in ((False, 0.1), (True, 0.5)):
        copy = fit_held_out_copy(pipeline, frame, WeightedTruth(truth), rng, is_balanced=is_balanced)
        assert copy.predict_proba(frame)[:, 1].mean() == pytest.approx(expected, abs=0.05)


def test_columns_that_depend_on_each_other_are_named(tmp_path: Path) -> None:
    """The caveat names the pairs of columns that share their importance, and no others."""
    frame = linear_table().assign(twin=lambda f: f["a"] * 2 + 1)
    explanation = explain(frame, model_of(train(frame, "y", tmp_path, algorithms=["linear"])), tmp_path)
    assert [(pair["first"], pair["second"]) for pair in explanation["correlated"]] == [("a", "twin")]
    assert any("“a” and “twin” (1.00)" in limit for limit in explanation["limits"]["en"])


def test_contributions_within_their_error_are_left_out(tmp_path: Path) -> None:
    """A value at the mean of its column contributes nothing certain, so the sentence does not mention it."""
    frame = linear_table()
    outcome = train(frame, "y", tmp_path, algorithms=["linear"], budget={"max_trials": 1})
    context = context_of(frame, model_of(outcome))
    mean = float(context.background["b"].mean())
    row = {"a": 2.0, "b": mean + 0.01, "colour": "red"}
    explanation = explain(frame, model_of(outcome), tmp_path, instances={"values": [row]}, scope="local")
    (entry,) = explanation["local"]
    assert entry["uncertain"] == ["b"]
    assert entry["attributions"]["b"] != 0
    assert "“b”" not in entry["sentence"]["en"]
    assert sum(entry["attributions"].values()) + entry["base_value"] == pytest.approx(entry["prediction"])


@pytest.mark.parametrize(("value", "words"), [(2.5, "above the base value"), (-2.5, "below the base value")])
def test_sentences_are_right_in_both_directions(tmp_path: Path, value: float, words: str) -> None:
    """The columns that moved the prediction come first, whether it is above or below the base value."""
    frame = linear_table()
    body = {"algorithms": ["linear"], "budget": {"max_trials": 1}}
    row = {"a": value, "b": value / 2, "colour": "red" if value > 0 else "green"}
    local = {"scope": "local", "instances": {"values": [row]}}

    number = explain(frame, model_of(train(frame, "y", tmp_path, **body)), tmp_path, **local)["local"][0]["sentence"]
    assert number["en"].startswith("Row 0: the predicted value of “y” is ")
    classes = frame.assign(y=np.where(frame["y"] > 1, "high", "low"))
    model = model_of(train(classes, "y", tmp_path, **body))
    sentence = explain(classes, model, tmp_path, **local, target_class="high")["local"][0]["sentence"]
    assert "the probability of “high” is " in sentence["en"]
    assert " points" in sentence["en"]
    assert "%" in sentence["en"]
    for text in (number["en"], sentence["en"]):
        because, despite = text.split(", despite ")
        assert words in because
        assert because.index("mostly because of “a” = ") > because.index(words)
        assert "“b”" in despite


@pytest.mark.parametrize("explained_class", ["high", "low"])
def test_sentences_name_the_threshold_that_decides(tmp_path: Path, explained_class: str) -> None:
    """A class may be predicted although its probability is below one half, and the sentence says why."""
    frame = linear_table()
    classes = frame.assign(y=np.where(frame["y"] > 1, "high", "low"))
    body = {"algorithms": ["linear"], "positive_class": "high", "threshold": {"cost": {"fp": 1, "fn": 50}}}
    outcome = train(classes, "y", tmp_path, **body)
    threshold = outcome.result["decision"]["threshold"]
    assert threshold < 0.4

    request = {"scope": "local", "instances": {"rows": list(range(40))}, "target_class": explained_class}
    for entry in explain(classes, model_of(outcome), tmp_path, **request)["local"]:
        assert entry["threshold"] == threshold
        probability = entry["prediction"] if explained_class == "high" else 1 - entry["prediction"]
        assert entry["predicted"] == ("high" if probability >= threshold else "low")
        assert f" (“high” is predicted from {100 * threshold:.1f}% on), which is " in entry["sentence"]["en"]


def test_negligible_contributions_are_no_reasons() -> None:
    """A sentence names what moved the prediction, not columns that moved it by a thousandth of that."""
    row = {
        "row": 4,
        "base_value": 0.79,
        "prediction": -0.64,
        "predicted": -0.64,
        "attributions": {"a": 2.25, "b": -2.91, "c": -0.767, "noise": -0.003, "hum": 0.002},
        "uncertain": [],
        "values": {"a": "1", "b": "2", "c": "v", "noise": "3", "hum": "4"},
    }
    text = row_sentence(row, ExplainedNumber("y", None, Output.PROBABILITY))["en"]
    assert text.endswith("mostly because of “b” = 2 (−2.91), “c” = v (−0.767), despite “a” = 1 (+2.25).")


def test_sentences_state_the_units_of_the_file(tmp_path: Path) -> None:
    """Numbers have the unit that the file writes beside them: the prediction, its contributions, and the values."""
    frame = linear_table().drop(columns="b")
    frame["a"] = [f"{100 * a:.1f}%" for a in frame["a"]]
    frame["y"] = [f"{y:.2f} kg" for y in frame["y"]]
    outcome = train(frame, "y", tmp_path, algorithms=["linear"], budget={"max_trials": 1})
    rows = {"values": [{"a": "250%", "colour": "red"}]}
    sentence = explain(frame, model_of(outcome), tmp_path, scope="local", instances=rows)["local"][0]["sentence"]
    assert "“a” = 250% (+" in sentence["en"]
    assert "«\u00a0a\u00a0» = 250\u00a0% (+" in sentence["fr"]
    assert sentence["en"].count("\u00a0kg") >= 4

    (entry,) = explain(frame, model_of(outcome), tmp_path, method="counterfactual", instances=rows)["local"]
    (counterfactual,) = entry["counterfactuals"]
    assert counterfactual["prediction_text"] == {
        "en": f"{counterfactual['prediction']:.2f}\u00a0kg".replace("-", "\N{MINUS SIGN}"),
        "fr": f"{counterfactual['prediction']:.2f}\u00a0kg".replace("-", "\N{MINUS SIGN}").replace(".", ","),
    }


def test_percentages_differ_by_points() -> None:
    """A prediction of 45 % is 5 points above a base value of 40 %, not 5 % above it."""
    row = {
        "row": 0,
        "prediction": 45.0,
        "base_value": 40.0,
        "values": {"a": "1", "b": "2"},
        "attributions": {"a": 6.0, "b": -1.0},
        "uncertain": [],
    }
    sentence = row_sentence(row, ExplainedNumber("y", None, Output.PROBABILITY, units={"y": "%"}))
    assert sentence["en"] == (
        "Row 0: the predicted value of “y” is 45.00%, which is 5.00 points above the base value of 40.00%, "
        "mostly because of “a” = 1 (+6.00 points), despite “b” = 2 (−1.00 points)."
    )
    assert "5,00 points de plus que la référence (40,00\u00a0%)" in sentence["fr"]


def test_rows_unlike_the_training_have_warnings(tmp_path: Path) -> None:
    """Explained rows have warnings about values that the model has not seen, like predicted ones."""
    frame = linear_table()
    outcome = train(frame, "y", tmp_path, algorithms=["linear"], budget={"max_trials": 1})
    rows = {"values": [{"a": 0.1, "b": 0.1, "colour": "red"}, {"a": 99, "colour": "blue"}]}
    first, second = explain(frame, model_of(outcome), tmp_path, scope="local", instances=rows)["local"]
    assert first["warnings"] == []
    assert [warning["code"] for warning in second["warnings"]] == ["value_out_of_range", "category_unseen"]


def test_a_dataset_alone_is_explained_with_its_proxies(tmp_path: Path) -> None:
    """A column that gives a sensitive one away is named, and no other column is."""
    frame = messy_table().assign(title=lambda f: f["sex"].map({"f": "Ms", "m": "Mr"}))
    explanation = explain(frame, None, tmp_path, target="outcome", sensitive_features=["sex"])
    (proxy,) = explanation["proxies"]
    assert [column["column"] for column in proxy["columns"] if column["strong"]] == ["title"]
    assert "“title” makes it possible to guess “sex”" in explanation["narrative"]["en"]
    assert explanation["associations"][0]["association"] == pytest.approx(1.0)
    assert {"correlations", "target_balance", "missing"} == set(explanation["charts"])
    assert json.loads(msgspec.json.encode(explanation)) == explanation


def test_columns_without_any_association_are_not_mentioned(tmp_path: Path) -> None:
    """Where no column goes along with the target, a sentence says so instead of naming associations of 0.000."""
    frame = pd.DataFrame({"a": ["x", "y"] * 50, "b": ["p", "p", "q", "q"] * 25, "c": ["k"] * 52 + ["l"] * 48})
    explanation = explain(frame, None, tmp_path, target="c")
    assert explanation["associations"] == []
    assert "No single column is associated with “c”." in explanation["narrative"]["en"]
    assert "0.000" not in explanation["narrative"]["en"]
    assert "; 0% of the cells are empty." in explanation["narrative"]["en"]
    assert "; 0 % des cellules sont vides." in explanation["narrative"]["fr"]


def test_associations_are_one_for_related_columns_and_zero_for_random_ones() -> None:
    """The ends of the scale are reached by each pair of column types."""
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=2_000)
    words = pd.Series(np.where(numbers > 0, "up", "down"), dtype=object)
    random_words = pd.Series(rng.choice(["x", "y", "z"], 2_000), dtype=object)
    days = pd.Series(pd.Timestamp("2020-01-01") + pd.to_timedelta(np.argsort(np.argsort(numbers)), unit="D"))
    columns = [
        from_numbers("n", numbers),
        from_strings("w", words),
        from_strings("c", random_words),
        from_dates("d", days),
    ]
    comparable_numbers, comparable_words, comparable_random_words, comparable_days = (
        comparable_values(column.column, column.values) for column in columns
    )
    assert association(comparable_numbers, comparable_numbers) == pytest.approx(1)
    assert association(comparable_numbers, comparable_days) == pytest.approx(1)
    assert association(comparable_words, comparable_words) == pytest.approx(1, abs=1e-3)
    assert association(comparable_words, comparable_numbers) > 0.8
    assert association(comparable_random_words, comparable_words) < 0.05
    assert association(comparable_random_words, comparable_numbers) < 0.05


def test_encoded_columns_stem_from_their_source(tmp_path: Path) -> None:
    """Changing one source column changes exactly the encoded columns that are said to stem from it."""
    frame = messy_table(150)
    model = model_artifact.load(model_of(train(frame, "outcome", tmp_path, budget={"max_trials": 1})))
    preparation = model.pipeline.named_steps["prepare"]
    names = [column.name for column in model.columns]
    sources = encoded_sources(preparation, names)
    table = read_table(csv_file(frame)).frame[names]
    encoded = preparation.transform(table)
    assert set(sources) == set(range(len(names)))
    for position, name in enumerate(names):
        changed_table = table.copy()
        changed_table[name] = table[name].to_numpy()[::-1]
        is_changed = (np.asarray(preparation.transform(changed_table)) != np.asarray(encoded)).any(axis=0)
        assert is_changed.any()
        assert set(sources[is_changed]) == {position}


def test_many_classes_and_many_values_keep_their_sources(tmp_path: Path) -> None:
    """A category with many values becomes one encoded column for each class, all from the same source."""
    rng = np.random.default_rng(0)
    city = rng.integers(0, 40, 300)
    frame = pd.DataFrame({"x": rng.normal(size=300), "city": [f"c{n}" for n in city], "y": city % 3})
    model = model_artifact.load(model_of(train(frame, "y", tmp_path, algorithms=["linear"], budget={"max_trials": 1})))
    sources = encoded_sources(model.pipeline.named_steps["prepare"], ["x", "city"])
    assert sources.tolist() == [0, 1, 1, 1]


def test_a_model_in_memory_is_explained_like_its_file(tmp_path: Path) -> None:
    """A model that is read from bytes gives the same explanation as the file."""
    frame = linear_table()
    outcome = train(frame, "y", tmp_path, algorithms=["linear"], budget={"max_trials": 1})
    data = outcome.artifacts[0].path.read_bytes()
    model = ModelFile(io.BytesIO(data), outcome.artifacts[0].sha256)
    assert explain(frame, model, tmp_path, scope="local") == explain(frame, model_of(outcome), tmp_path, scope="local")
