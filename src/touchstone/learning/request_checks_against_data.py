"""Checks of a request against its table and its model."""

from collections.abc import Sequence
from typing import Final

from touchstone.learning.learning_errors import LearningError
from touchstone.learning.request_choices import Strategy
from touchstone.learning.request_definitions import (
    CLASSIFIER_OPTIONS,
    ExplanationRequest,
    TrainingRequest,
    chosen_features,
    find_nearest_name,
    reject_options_without_effect,
)

MIN_ROWS: Final = 20  # With fewer rows, no split leaves enough for both training and evaluation.


def check_training_request(request: TrainingRequest, columns: Sequence[str], *, rows: int) -> None:
    """Raise `LearningError` if the columns or the number of rows make a training impossible.

    This is quick enough to be checked before a job is queued, because it does not need the values of the table.
    """
    _require_column(request.target, columns, error_code="target_not_found", field="target")
    _require_columns(request.features.include, columns, field="features.include")
    _require_columns(request.features.exclude, columns, field="features.exclude")
    _require_columns(request.sensitive_features, columns, field="sensitive_features")

    if request.split.time_column is not None:
        _require_column(request.split.time_column, columns, error_code="column_not_found", field="split.time_column")
    if request.split.group_column is not None:
        _require_column(request.split.group_column, columns, error_code="column_not_found", field="split.group_column")

    if request.sample_weight is not None:
        _require_column(request.sample_weight, columns, error_code="column_not_found", field="sample_weight")

    if not chosen_features(request, columns):
        raise LearningError("no_features", field="features")

    if rows < MIN_ROWS:
        raise LearningError("too_few_rows", rows=rows, minimum=MIN_ROWS)

    folds = request.split.folds
    if request.split.strategy is Strategy.KFOLD and rows < 2 * folds:
        raise LearningError("too_many_folds", field="split.folds", folds=folds, rows=rows)


def check_explanation_request(
    request: ExplanationRequest,
    columns: Sequence[str],
    *,
    rows: int,
    is_regression: bool = False,
) -> None:
    """Raise `LearningError` if an explanation request names rows or columns that do not exist.

    A regression has no classes and rejects all options for classifiers.

    Args:
        request: the explanation request.
        columns: the names of the table's columns.
        rows: the number of rows of the table.
        is_regression: whether the explained model predicts numbers.
    """
    for position, row_number in enumerate(request.instances.rows):
        if row_number >= rows:
            raise LearningError("row_out_of_range", field=f"instances.rows.{position}", row=row_number, rows=rows)

    if request.target is not None:
        _require_column(request.target, columns, error_code="target_not_found", field="target")
    _require_columns(request.sensitive_features, columns, field="sensitive_features")
    # An immutable column need not be a feature of the model, because counterfactuals only change features.
    _require_columns(request.immutable, columns, field="immutable")

    if is_regression:
        reject_options_without_effect(request, CLASSIFIER_OPTIONS, subject="task=regression")


def _require_column(name: str, columns: Sequence[str], *, error_code: str, field: str) -> None:
    """Raise `LearningError` with a similar name as a suggestion if the table has no such column."""
    if name not in columns:
        raise LearningError(error_code, field=field, name=name, nearest=find_nearest_name(name, columns))


def _require_columns(names: Sequence[str], columns: Sequence[str], *, field: str) -> None:
    """Raise `LearningError` for the first name that is not a column of the table."""
    for position, name in enumerate(names):
        _require_column(name, columns, error_code="column_not_found", field=f"{field}.{position}")
