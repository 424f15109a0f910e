"""Groups are measured as fairlearn measures them, and unequal treatment is mentioned if chance does not explain it."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
from fairlearn.metrics import (
    MetricFrame,
    demographic_parity_difference,
    demographic_parity_ratio,
    false_positive_rate,
    selection_rate,
    true_positive_rate,
)
from sklearn.metrics import accuracy_score, precision_score

from touchstone.learning.column_types import TypedColumn, from_numbers, from_strings
from touchstone.learning.evaluation import Predictions
from touchstone.learning.fairness.disparities import widest_gap
from touchstone.learning.fairness.estimates import Mean, Share, difference_interval, wilson_interval
from touchstone.learning.fairness.group_metrics import GroupMeasurer
from touchstone.learning.fairness.group_warnings import group_warnings
from touchstone.learning.fairness.groups import define_groups
from touchstone.learning.row_values import build_frame
from touchstone.learning.task_interface import Json

Codes = npt.NDArray[np.intp]


def word_column(name: str, values: Any) -> TypedColumn:
    """Return a column of words."""
    return from_strings(name, pd.Series(values, dtype=object))


def certain_predictions(truth: Codes, predicted: Codes, classes: int = 2) -> Predictions:
    """Return predictions that are certain of their classes."""
    return Predictions(truth, predicted, classes, np.eye(classes)[predicted])


def measure(predictions: Predictions, *columns: TypedColumn, classes: tuple[str, ...] = ()) -> list[Json]:
    """Return the metrics by group for some sensitive columns."""
    frame = pd.DataFrame({typed.column.name: typed.values for typed in columns})
    sensitive_columns = [define_groups(typed.column, typed.values) for typed in columns]
    return GroupMeasurer(predictions, classes).measure(frame, sensitive_columns)


def selected_at_rates(rates: dict[str, float], rows: int = 200) -> tuple[Predictions, TypedColumn]:
    """Return predictions that select a share of the rows of each group; half of all rows are positive."""
    groups = np.repeat(list(rates), rows)
    predicted = np.concatenate([np.arange(rows) < round(rate * rows) for rate in rates.values()]).astype(np.intp)
    truth = np.arange(len(groups)) % 2
    return certain_predictions(truth, predicted), word_column("group", groups)


def test_groups_show_whom_a_model_fails() -> None:
    """A model that is right for one group and wrong for the other has a gap of one, which chance does not explain."""
    truth = np.tile([0, 1], 100)
    is_wrong = np.arange(200) >= 100
    predicted = np.where(is_wrong, 1 - truth, truth)

    (entry,) = measure(certain_predictions(truth, predicted), word_column("group", np.where(is_wrong, "b", "a")))
    assert [(group["group"], group["rows"], group["metrics"]["accuracy"]["value"]) for group in entry["groups"]] == [
        ("a", 100, 1.0),
        ("b", 100, 0.0),
    ]
    assert entry["gaps"]["accuracy"] == {
        "difference": 1.0,
        "ratio": 0.0,
        "certain": True,
        "lowest": "b",
        "highest": "a",
    }
    assert entry["groups"][1]["metrics"]["true_positive_rate"]["value"] == 0.0


def test_proportions_carry_wilsons_interval() -> None:
    """The interval of eight correct rows of ten is 0.490 to 0.943, as in textbooks."""
    truth, predicted = np.zeros(10, dtype=np.intp), np.array([0] * 8 + [1] * 2)
    (entry,) = measure(certain_predictions(truth, predicted), word_column("group", ["x"] * 10))
    accuracy = entry["groups"][0]["metrics"]["accuracy"]
    assert (round(accuracy["low"], 3), round(accuracy["high"], 3)) == (0.490, 0.943)
    assert entry["groups"][0]["too_small"]


def test_the_interval_of_none_or_all_ends_exactly_there() -> None:
    """Rounding leaves no bound such as 2.78e-17 in place of 0."""
    assert {wilson_interval(0.0, rows).low for rows in range(1, 300)} == {0.0}
    assert {wilson_interval(1.0, rows).high for rows in range(1, 300)} == {1.0}


def test_differences_carry_newcombes_interval() -> None:
    """The interval of 56 of 70 against 48 of 80 is 0.052 to 0.334 (Newcombe 1998, method 10)."""
    interval = difference_interval(Share(56, 70), Share(48, 80))
    assert (round(interval.low, 4), round(interval.high, 4)) == (0.0524, 0.3339)


def test_numbers_are_grouped_by_quartiles_and_missing_ones_apart() -> None:
    """A numeric sensitive column is cut where a quarter of the rows lies, with names of values that occur."""
    ages = from_numbers("age", np.array([*range(20, 60), np.nan]))
    truth = np.zeros(41, dtype=np.intp)
    (entry,) = measure(certain_predictions(truth, truth), ages)
    names = [group["group"] for group in entry["groups"]]
    assert (names[0], names[3], names[4]) == ("20 – 29", "49 – 59", None)
    assert sum(group["rows"] for group in entry["groups"]) == 41


@pytest.mark.parametrize(
    ("numbers", "groups"),
    [
        ([12345671, 12345672] * 20, {"12345671": 20, "12345672": 20}),
        ([0.5, 1234561, 0.0, -0.0], {"0": 2, "0.5": 1, "1234561": 1}),
        (range(1234501, 1234541), {"1234501 – 1234510": 10, "1234511 – 1234520": 10}),
        (np.arange(0.25, 40_000, 1_000), {"0 – 9000": 10, "10000 – 19000": 10}),
        (1 + np.arange(40) / 10**9, {"1 – 1.000000009": 10, "1.00000001 – 1.000000019": 10}),
    ],
)
def test_different_numbers_have_groups_with_different_names(numbers: Any, groups: dict[str, int]) -> None:
    """However long the numbers are, two groups never share a name, and no name has an exponent."""
    truth = np.zeros(len(numbers), dtype=np.intp)
    (entry,) = measure(certain_predictions(truth, truth), from_numbers("region", np.array(numbers, dtype=float)))
    sizes = {group["group"]: group["rows"] for group in entry["groups"]}
    assert sizes.items() >= groups.items()
    assert sum(sizes.values()) == len(numbers)


@pytest.mark.parametrize(
    ("frequent", "groups"),
    [
        (0, {"0": 400, "1 – 3": 30, "4 – 7": 40, "8 – 11": 40}),
        (5, {"1 – 3": 30, "4": 10, "5": 410, "6 – 7": 20, "8 – 11": 40}),
        (99, {"1 – 3": 30, "4 – 7": 40, "8 – 11": 40, "99": 400}),
    ],
)
def test_a_number_of_many_rows_is_a_group_of_its_own(frequent: int, groups: dict[str, int]) -> None:
    """Where most rows share a number, as many columns have zeros, the others are still compared with it."""
    numbers = from_numbers("children", np.array([frequent] * 400 + [*range(1, 12)] * 10, dtype=float))
    truth = np.zeros(510, dtype=np.intp)
    (entry,) = measure(certain_predictions(truth, truth), numbers)
    assert {group["group"]: group["rows"] for group in entry["groups"]} == groups


def test_a_category_called_like_the_other_values_is_counted_once() -> None:
    """Its rows are not measured a second time."""
    groups = word_column("group", [*"abcdefghijklmno", "…", "…"] * 40)
    truth = np.zeros(680, dtype=np.intp)
    (entry,) = measure(certain_predictions(truth, truth), groups)
    assert sum(group["rows"] for group in entry["groups"]) == 680
    assert [group["group"] for group in entry["groups"]] == [*"abcdefghijk", "…"]


def test_later_rows_belong_to_the_groups_of_the_table() -> None:
    """A number outside the table belongs to the nearest range, and an unknown category to the other groups."""
    ages = from_numbers("age", np.arange(20.0, 60.0))
    later_ages = define_groups(ages.column, ages.values).assign(pd.Series([3.0, 99.0, np.nan]))
    assert later_ages.tolist() == ["20 – 29", "49 – 59", None]

    identifiers = from_numbers("customer_id", np.arange(1000.0, 1040.0))
    groups = define_groups(identifiers.column, identifiers.values)
    later_identifiers = groups.assign(build_frame([groups.schema], [{"customer_id": "1012"}])["customer_id"])
    assert later_identifiers.tolist() == ["1010 – 1019"]

    colours = word_column("colour", ["red", "green"] * 20)
    later_colours = define_groups(colours.column, colours.values).assign(pd.Series(["green", "blue", ""]))
    assert later_colours.tolist() == ["green", "…", None]


def test_groups_and_intersections_equal_those_of_fairlearn() -> None:
    """Every metric of every group, and the gaps between groups, are what fairlearn computes."""
    rng = np.random.default_rng(0)
    sex, region = rng.choice(["f", "m"], 900), rng.choice(["east", "north", "west"], 900)
    truth = rng.integers(0, 2, 900)
    predicted = np.where(rng.random(900) < 0.7, truth, (sex == "f").astype(int))
    metrics = {
        "accuracy": accuracy_score,
        "selection_rate": selection_rate,
        "true_positive_rate": true_positive_rate,
        "false_positive_rate": false_positive_rate,
        "positive_predictive_value": precision_score,
    }
    features = {"sex": sex, "region": region}

    entries = measure(certain_predictions(truth, predicted), word_column("sex", sex), word_column("region", region))
    assert [entry["column"] for entry in entries] == ["sex", "region", "sex × region"]
    for entry in entries:
        sensitive = pd.DataFrame({name: features[name] for name in entry["columns"]})
        expected = MetricFrame(metrics=metrics, y_true=truth, y_pred=predicted, sensitive_features=sensitive).by_group
        if len(entry["columns"]) > 1:
            expected.index = [" × ".join(names) for names in expected.index]
        for group in entry["groups"]:
            values = {name: estimate["value"] for name, estimate in group["metrics"].items()}
            assert values == pytest.approx(expected.loc[group["group"]].to_dict())

        parity = {"y_true": truth, "y_pred": predicted, "sensitive_features": sensitive}
        gap = entry["gaps"]["selection_rate"]
        assert gap["difference"] == pytest.approx(demographic_parity_difference(**parity))
        assert gap["ratio"] == pytest.approx(demographic_parity_ratio(**parity))


def test_rates_below_four_fifths_are_mentioned() -> None:
    """0.13 against 0.89 causes a warning that names the groups and the rates."""
    (entry,) = measure(*selected_at_rates({"a": 0.13, "b": 0.89}))
    (ratio_warning, _gap_warning) = group_warnings(entry)
    assert ratio_warning["code"] == "group_ratio"
    selection_gap = ratio_warning["facts"]["gaps"][0]
    assert (selection_gap["metric"], selection_gap["lowest"], selection_gap["highest"]) == ("selection_rate", "a", "b")
    assert "Rate of positive predictions: 0.130 (a) against 0.890 (b)" in ratio_warning["text"]["en"]


def test_a_low_ratio_among_few_rows_may_be_chance() -> None:
    """Among 40 rows per group, 0.3 against 0.4 is below four fifths, but no proof of unequal treatment."""
    (entry,) = measure(*selected_at_rates({"a": 0.3, "b": 0.4}, rows=40))
    assert [warning["code"] for warning in group_warnings(entry)] == ["group_ratio_uncertain"]


def test_chance_rarely_makes_a_gap_between_equal_groups() -> None:
    """Of eight equal groups some always differ; in 20 tables at most one has a gap that counts as certain."""
    rng = np.random.default_rng(1)
    gaps = [
        widest_gap({str(group): Share(int(rng.binomial(100, 0.4)), 100) for group in range(8)}) for _table in range(20)
    ]
    assert sum(gap is not None and gap.is_certain for gap in gaps) <= 1


def test_small_groups_are_named_and_left_out_of_the_gaps() -> None:
    """A group of 12 rows is marked, causes a warning, and does not count as the lowest or the highest."""
    truth = np.tile([0, 1], 106)
    groups = ["large"] * 200 + ["small"] * 12
    (entry,) = measure(certain_predictions(truth, truth), word_column("group", groups))
    (warning,) = group_warnings(entry)
    assert (warning["code"], warning["facts"]["names"]) == ("small_groups", ["small (12)"])
    assert entry["gaps"]["accuracy"]["difference"] is None


def test_more_than_two_classes_have_rates_of_each_class() -> None:
    """A class that is never recognised in one group is mentioned, although the accuracies are alike."""
    truth = np.tile([0, 1, 2], 100)
    groups = np.repeat(["a", "b"], 150)
    predicted = np.where((groups == "a") & (truth == 1), 2, np.where((groups == "b") & (truth == 2), 1, truth))
    (entry,) = measure(
        certain_predictions(truth, predicted, 3), word_column("group", groups), classes=("low", "middle", "high")
    )
    assert entry["groups"][0]["classes"]["middle"]["true_positive_rate"]["value"] == 0.0
    assert entry["class_gaps"]["middle"]["true_positive_rate"]["difference"] == 1.0
    assert not entry["gaps"]["accuracy"]["certain"]
    (ratio_warning, *_other_warnings) = group_warnings(entry)
    assert "of “middle”: 0.000 (a) against 1.00 (b)" in ratio_warning["text"]["en"]


def test_errors_of_a_regression_are_compared() -> None:
    """A model that is unbiased for one group and 5 too high for the other has a certain gap of 5."""
    rng = np.random.default_rng(0)
    truth = rng.normal(size=200)
    groups = np.repeat(["a", "b"], 100)
    predicted = truth + rng.normal(size=200) + 5 * (groups == "b")
    (entry,) = measure(Predictions(truth, predicted), word_column("group", groups))
    assert entry["gaps"]["mean_error"]["difference"] == pytest.approx(5, abs=0.5)
    assert entry["gaps"]["mean_error"]["certain"]
    assert Mean.from_values(np.array([3.0])).value == 3.0
