"""Requests for trainings and explanations are rejected before any work, where possible."""

import pickle
import subprocess
import sys
from typing import Any

import msgspec
import pandas as pd
import pytest

from touchstone.learning.algorithms import MODEL_FAMILIES
from touchstone.learning.column_types import from_strings
from touchstone.learning.evaluation import METRIC_FUNCTIONS
from touchstone.learning.learning_errors import REASON_BY_CODE, LearningError
from touchstone.learning.request_checks_against_data import check_explanation_request, check_training_request
from touchstone.learning.request_choices import ALGORITHMS, ENSEMBLE, METHODS, METRICS
from touchstone.learning.request_definitions import Cell, ExplanationRequest, TrainingRequest, chosen_features
from touchstone.learning.target import find_class
from touchstone.messages.labels import ALGORITHM_LABELS, METHOD_LABELS, METRIC_LABELS

COLUMNS = ["a", "b", "y"]


def training_request(**body: Any) -> TrainingRequest:
    return msgspec.convert({"dataset_id": 1, "target": "y", **body}, TrainingRequest)


def explanation_request(**body: Any) -> ExplanationRequest:
    return msgspec.convert(body, ExplanationRequest)


@pytest.mark.parametrize(
    ("body", "code", "field"),
    [
        ({"algorithms": ["magic"]}, "unknown_algorithm", "algorithms.0"),
        ({"algorithms": ["linear", "linear"]}, "duplicate_value", "algorithms.1"),
        ({"metric": "vibes"}, "unknown_metric", "metric"),
        ({"metric": "r2", "task": "classification"}, "metric_task_mismatch", "metric"),
        ({"features": {"exclude": ["y"]}}, "target_excluded", "features.exclude"),
        ({"features": {"include": ["y"]}}, "target_as_feature", "features.include"),
        ({"features": {"include": ["a"], "exclude": ["a"]}}, "feature_both_ways", "features"),
        ({"sensitive_features": ["y"]}, "target_sensitive", "sensitive_features"),
        ({"split": {"strategy": "time"}}, "time_column_missing", "split.time_column"),
        ({"split": {"strategy": "holdout", "time_column": "a"}}, "time_column_unexpected", "split.time_column"),
        ({"split": {"strategy": "group"}}, "group_column_missing", "split.group_column"),
        ({"split": {"strategy": "holdout", "group_column": "a"}}, "group_column_unexpected", "split.group_column"),
        ({"split": {"time_column": "a", "group_column": "b"}}, "split_by_two_columns", "split"),
        ({"split": {"group_column": "y"}}, "split_by_target", "split"),
        ({"split": {"folds": 3}}, "option_without_effect", "split.folds"),
        ({"split": {"strategy": "holdout", "folds": 10}}, "option_without_effect", "split.folds"),
        ({"split": {"strategy": "kfold", "test_size": 0.3}}, "option_without_effect", "split.test_size"),
    ],
)
def test_contradictions_are_refused_with_their_field(body: dict[str, Any], code: str, field: str) -> None:
    """The error for a contradictory request names the field."""
    with pytest.raises(LearningError) as error_info:
        training_request(**body)
    assert (error_info.value.code, error_info.value.field) == (code, field)


@pytest.mark.parametrize(
    ("body", "nearest"),
    [
        ({"algorithms": ["Random_Forrest"]}, "random_forest"),
        ({"algorithms": ["magic"]}, None),
        ({"metric": "acuracy"}, "accuracy"),
        ({"threshold": {"metric": "F1_macr"}}, "f1_macro"),
        ({"metric": "vibes"}, None),
    ],
)
def test_a_misspelt_name_is_refused_with_the_nearest_name(body: dict[str, Any], nearest: str | None) -> None:
    """The nearest name is suggested, whatever its case, unless no known name is similar."""
    with pytest.raises(LearningError) as error_info:
        training_request(**body)
    assert error_info.value.facts["nearest"] == nearest


@pytest.mark.parametrize("strategy", ["auto", "holdout", "kfold"])
def test_a_stored_request_with_all_defaults_can_be_sent_again(strategy: str) -> None:
    """Its number of folds and its share of test rows are stored together, although only one of them has an effect."""
    request = training_request(split={"strategy": strategy})
    assert msgspec.convert(msgspec.to_builtins(request), TrainingRequest) == request


@pytest.mark.parametrize(
    "body",
    [
        {"budget": {"max_trials": 0}},
        {"budget": {"max_runtime_seconds": 0}},
        {"split": {"folds": 1}},
        {"split": {"test_size": 0.0}},
        {"split": {"test_size": float("nan")}},
        {"seed": -1},
        {"seed": 2**31},
        {"target": ""},
        {"surprise": 1},
        {"task": "clustering"},
    ],
)
def test_values_out_of_bounds_are_refused(body: dict[str, Any]) -> None:
    """Every number has bounds, and unknown fields are never ignored silently."""
    with pytest.raises(msgspec.ValidationError):
        training_request(**body)


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"target": "yy"}, "target_not_found"),
        ({"sensitive_features": ["sex"]}, "column_not_found"),
        ({"features": {"include": ["c"]}}, "column_not_found"),
        ({"features": {"exclude": ["a", "b"]}}, "no_features"),
        ({"split": {"strategy": "time", "time_column": "t"}}, "column_not_found"),
    ],
)
def test_what_the_columns_contradict_is_refused(body: dict[str, Any], code: str) -> None:
    """Names of columns that the table does not have are rejected before the job starts."""
    with pytest.raises(LearningError) as error_info:
        check_training_request(training_request(**body), COLUMNS, rows=100)
    assert error_info.value.code == code


def test_the_nearest_column_is_named() -> None:
    """The error for a misspelled target suggests the most similar column."""
    with pytest.raises(LearningError) as error_info:
        check_training_request(training_request(target="incme"), ["income", "age"], rows=100)
    assert error_info.value.facts == {"name": "incme", "nearest": "income"}


@pytest.mark.parametrize(
    ("cells", "classes", "requested", "expected"),
    [
        (["TRUE", "FALSE"], ("false", "true"), True, "true"),
        (["TRUE", "FALSE"], ("false", "true"), "true", "true"),
        (["TRUE", "FALSE"], ("false", "true"), " TRUE", "true"),
        (["1.50", "x", "y"], ("1.50", "x", "y"), "1.50", "1.50"),
        (["1", "2"], (1, 2), "2", 2),
        (["1", "2"], (1, 2), 2.0, 2),
        (["1", "2"], (1, 2), "+2.0", 2),
        (["1 kg", "2 kg"], (1, 2), "2 kg", 2),
        (["0", "1"], (0, 1), True, 1),
        (["2024-12-24", "2024-12-25"], ("2024-12-24", "2024-12-25"), "2024-12-25", "2024-12-25"),
        (["24/12/2024", "25/12/2024"], ("2024-12-24", "2024-12-25"), "25/12/2024", "2024-12-25"),
        (["24/12/2024"], ("2024-12-24 00:00:00", "2024-12-25 00:00:00"), "2024-12-25", "2024-12-25 00:00:00"),
    ],
)
def test_a_class_may_be_requested_as_a_value_or_as_text(
    cells: list[str], classes: tuple[Cell, ...], requested: Cell, expected: Cell
) -> None:
    """The class to explain, like the positive class, may be written as in the file, in results or in JSON."""
    column = from_strings("y", pd.Series(cells * 10)).column
    assert find_class(column, classes, requested, field="target_class") == expected


@pytest.mark.parametrize("requested", ["maybe", "", False])
def test_a_class_that_does_not_exist_is_refused(requested: Cell) -> None:
    """The error lists the classes; a missing value is none of them."""
    column = from_strings("y", pd.Series(["1", "2"] * 10)).column
    with pytest.raises(LearningError, match="class_not_found") as error_info:
        find_class(column, (1, 2), requested, field="target_class")
    assert error_info.value.facts["known"] == ["1", "2"]


def test_too_few_rows_are_refused() -> None:
    """A table with too few rows to learn from is rejected by their number alone."""
    with pytest.raises(LearningError) as error_info:
        check_training_request(training_request(), COLUMNS, rows=3)
    assert error_info.value.code == "too_few_rows"


def test_features_are_the_included_less_the_excluded_less_the_target() -> None:
    """The target is never a feature, whatever is included."""
    assert chosen_features(training_request(), COLUMNS) == ("a", "b")
    assert chosen_features(training_request(features={"include": ["b"]}), COLUMNS) == ("b",)
    assert chosen_features(training_request(features={"exclude": ["b"]}), COLUMNS) == ("a",)


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({}, "explain_subject_missing"),
        ({"job_id": "a", "dataset_id": 1}, "explain_subject_twice"),
        ({"dataset_id": 1, "method": "shap"}, "explain_needs_model"),
        ({"job_id": "a", "method": "tea leaves"}, "unknown_method"),
        ({"job_id": "a", "method": "counterfactual", "scope": "global"}, "method_scope_mismatch"),
        ({"job_id": "a", "method": "data_profile"}, "option_without_effect"),
        ({"job_id": "a", "target": "y"}, "option_without_effect"),
        ({"job_id": "a", "immutable": ["a"]}, "option_without_effect"),
        ({"job_id": "a", "sensitive_features": ["a"]}, "option_without_effect"),
        ({"dataset_id": 1, "scope": "local"}, "option_without_effect"),
        ({"dataset_id": 1, "instances": {"rows": [1]}}, "option_without_effect"),
        ({"dataset_id": 1, "target_class": "a"}, "option_without_effect"),
        ({"dataset_id": 1, "background": {"size": 5}}, "option_without_effect"),
        ({"job_id": "a", "scope": "global", "instances": {"rows": [1]}}, "option_without_effect"),
        ({"job_id": "a", "method": "partial_dependence", "instances": {"rows": [1]}}, "option_without_effect"),
        ({"job_id": "a", "method": "permutation_importance", "instances": {"values": [{}]}}, "option_without_effect"),
        ({"job_id": "a", "method": "permutation_importance", "target_class": "a"}, "option_without_effect"),
        ({"job_id": "a", "method": "permutation_importance", "background": {"size": 5}}, "option_without_effect"),
        ({"dataset_id": 1, "output": "log_odds"}, "option_without_effect"),
        ({"job_id": "a", "instances": {"rows": [1], "values": [{"a": 1}]}}, "instances_both_ways"),
    ],
)
def test_explanations_that_make_no_sense_are_refused(body: dict[str, Any], code: str) -> None:
    """An explanation needs exactly one subject, a known method for it, and rows in a single form."""
    with pytest.raises(LearningError) as error_info:
        explanation_request(**body)
    assert error_info.value.code == code


@pytest.mark.parametrize("subject", [{"dataset_id": 1}, {"job_id": "a"}])
def test_a_class_of_null_is_none(subject: dict[str, Any]) -> None:
    """The default of an option may also be stated."""
    stated = explanation_request(**subject, target_class=None, background={"size": 100}, instances={"rows": []})
    assert stated == explanation_request(**subject)


def test_rows_that_do_not_exist_are_refused() -> None:
    """A missing row never starts a job."""
    with pytest.raises(LearningError, match="row_out_of_range"):
        check_explanation_request(explanation_request(job_id="a", instances={"rows": [9]}), COLUMNS, rows=9)


@pytest.mark.parametrize(
    ("body", "option"),
    [
        ({"target_class": 3}, "target_class"),
        ({"output": "log_odds"}, "output=log_odds"),
    ],
)
def test_options_about_classes_are_refused_for_regressions(body: dict[str, Any], option: str) -> None:
    """A regression model has neither classes nor odds; requests before the type is known are accepted."""
    request = explanation_request(job_id="a", **body)
    with pytest.raises(LearningError) as error_info:
        check_explanation_request(request, COLUMNS, rows=9, is_regression=True)
    assert (error_info.value.code, error_info.value.field) == ("option_without_effect", option.partition("=")[0])
    assert error_info.value.facts == {"option": option, "subject": "task=regression"}
    check_explanation_request(request, COLUMNS, rows=9)
    check_explanation_request(explanation_request(job_id="a"), COLUMNS, rows=9, is_regression=True)


def test_tables_agree() -> None:
    """Every algorithm can be created, every metric can be computed, and every row has its label."""
    assert {row.name for row in ALGORITHMS} == {*MODEL_FAMILIES, ENSEMBLE} == set(ALGORITHM_LABELS)
    assert {row.name for row in METRICS} == set(METRIC_FUNCTIONS) == set(METRIC_LABELS)
    assert {row.name for row in METHODS} == set(METHOD_LABELS)
    labels = [row.label for row in ALGORITHMS] + [row.label for row in METRICS] + [row.label for row in METHODS]
    assert all(len(label) == 2 for label in labels)


def test_errors_can_be_sent_between_processes() -> None:
    """An error in a worker process arrives completely."""
    error = LearningError("target_not_found", field="target", name="x", nearest=None)
    restored_error = pickle.loads(pickle.dumps(error))
    assert (restored_error.code, restored_error.field, restored_error.facts, restored_error.phase) == (
        error.code,
        "target",
        error.facts,
        error.phase,
    )
    assert REASON_BY_CODE[restored_error.code].facts == ("name", "nearest")


def test_request_definitions_do_not_load_the_heavy_libraries() -> None:
    """The API checks requests without loading the machine-learning libraries."""
    code = (
        "import sys, touchstone.learning.request_definitions; "
        "sys.exit('sklearn' in sys.modules or 'pandas' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
