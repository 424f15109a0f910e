"""Checks of a request against the table and the model that it is about."""

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Final

from msgspec import UNSET

from touchstone.learning.learning_errors import LearningError
from touchstone.learning.request_choices import Strategy
from touchstone.learning.request_definitions import (
    CLASSIFIER_OPTIONS,
    Cell,
    ExplanationRequest,
    TrainingRequest,
    chosen_features,
    reject_options_without_effect,
)

MIN_ROWS: Final = 20  # With fewer rows, no split leaves enough both to train and to evaluate.


def check_training_request(request: TrainingRequest, columns: Sequence[str], *, rows: int) -> None:
    """Raise `LearningError` if a training is impossible with the columns or the number of rows of its table.

    This needs neither the values of the table nor any learning, so it can be checked before a job is queued.
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
    classes: Iterable[Cell] | None = None,
) -> None:
    """Raise `LearningError` if a request to explain names rows, columns or a class that do not exist.

    `columns` and `rows` describe the table. `classes` are those that the model predicts, which are none for a
    regression; they are not checked if `classes` is None, because there is no model.
    """
    for position, row_number in enumerate(request.instances.rows):
        if row_number >= rows:
            raise LearningError("row_out_of_range", field=f"instances.rows.{position}", row=row_number, rows=rows)

    if request.target is not None:
        _require_column(request.target, columns, error_code="target_not_found", field="target")
    _require_columns(request.sensitive_features, columns, field="sensitive_features")
    # A column that the model has not learned from stays as it is anyway.
    _require_columns(request.immutable, columns, field="immutable")

    if classes is not None:
        _check_explained_class(request, list(classes))


def _check_explained_class(request: ExplanationRequest, classes: Sequence[Cell]) -> None:
    """Raise `LearningError` if the request asks about a class that the model does not predict.

    There are no classes in a regression, which rejects every option that only suits a classifier.
    """
    if not classes:
        reject_options_without_effect(request, CLASSIFIER_OPTIONS, subject="task=regression")
    elif request.target_class is not UNSET:
        find_class(classes, request.target_class, field="target_class")


def find_class(classes: Sequence[Cell], requested: Cell, *, field: str) -> Cell:
    """Return the class that a field of a request means, which may write a number as text, or a truth value in JSON.

    Raises `LearningError` if there is no such class.
    """
    requested_text = str(requested).lower() if isinstance(requested, bool) else str(requested)
    for name in classes:
        is_same_number = not isinstance(requested, bool) and name == requested
        if is_same_number or str(name) == requested_text:
            return name

    known = [str(name) for name in classes]
    raise LearningError("class_not_found", field=field, name=requested_text, known=known)


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that is spelled most like `name`, or None if none is close."""
    matches = get_close_matches(name, list(known), n=1)
    return matches[0] if matches else None


def _require_column(name: str, columns: Sequence[str], *, error_code: str, field: str) -> None:
    """Raise `LearningError` with this code if the table has no such column; the error suggests a similar name."""
    if name not in columns:
        raise LearningError(error_code, field=field, name=name, nearest=nearest(name, columns))


def _require_columns(names: Sequence[str], columns: Sequence[str], *, field: str) -> None:
    """Raise `LearningError` at the first of the names that is not a column of the table."""
    for position, name in enumerate(names):
        _require_column(name, columns, error_code="column_not_found", field=f"{field}.{position}")
