"""Warnings about a training: weaknesses of the data, suspected leakage, and results that prove little."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np
import pandas as pd
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from touchstone.learning.choices import DEFAULT_METRIC, Metric, Strategy
from touchstone.learning.column_types import ColumnKind, ColumnSchema
from touchstone.learning.evaluation import Predictions, compute_metric
from touchstone.learning.interfaces import Json
from touchstone.learning.localized_text import LOCALES, localize
from touchstone.learning.model_search import TrainingData
from touchstone.learning.requests import TrainingRequest
from touchstone.learning.splits import Fold
from touchstone.learning.table_reader import Table
from touchstone.learning.target import Floats, Target
from touchstone.messages.labels import MISSING_VALUE
from touchstone.messages.training_warnings import WARNINGS

FEW_ROWS: Final = 200
RARE_SHARE: Final = 0.1
MOSTLY_MISSING: Final = 0.5
LEAKAGE_SCORE: Final = 0.98
LEAKAGE_ROWS: Final = 2_000
LEAKAGE_COLUMNS: Final = 500
NUMBER_FOR_MISSING: Final = -1e9  # A value that a tree can separate from all others.
MAX_NAMES: Final = 20


def data_warnings(table: Table, target: Target, request: TrainingRequest) -> Iterator[Json]:
    """Yield the warnings about the table and its target, which are independent of any model."""
    yield from _target_warnings(target)
    for column in table.columns.values():
        yield from _column_warnings(column, rows=len(table.frame))

    if table.renamed:
        yield _warning("columns_renamed", names=sorted(table.renamed)[:MAX_NAMES])

    duplicate_rows = int(table.frame.duplicated().sum())
    if duplicate_rows:
        yield _warning("duplicate_rows", rows=duplicate_rows)

    # With a random split, a model may learn from rows that are later than those it is tested on.
    dates = [column.name for column in table.columns.values() if column.kind is ColumnKind.DATE]
    if dates and request.split.strategy is not Strategy.TIME:
        yield _warning("dates_split_at_random", name=dates[0])


def unseen_class_warnings(target: Target, folds: Sequence[Fold]) -> Iterator[Json]:
    """Yield a warning if test rows have a class that no training row has, as can happen in a split by time."""
    if not target.is_classification:
        return

    unseen_codes: set[int] = set()
    for fold in folds:
        test_codes = set(target.values[fold.test].tolist())
        training_codes = set(target.values[fold.train].tolist())
        unseen_codes |= test_codes - training_codes

    if unseen_codes:
        names = [str(target.classes[code]) for code in sorted(unseen_codes)]
        yield _warning("classes_never_learned", names=names[:MAX_NAMES])


def feature_warnings(data: TrainingData, roles: Mapping[str, Json]) -> Iterator[Json]:
    """Yield warnings about columns that were left out, and about single features that predict the target too well.

    Such a feature is often a consequence of the target, and then not yet known when a prediction is needed.
    """
    left_out = [name for name, role in roles.items() if role["role"] == "left_out"]
    if left_out:
        yield _warning("columns_left_out", names=left_out[:MAX_NAMES])

    for column in data.columns[:LEAKAGE_COLUMNS]:
        score = _single_feature_score(data, column)
        if score >= LEAKAGE_SCORE:
            yield _warning("leakage_suspect", name=column.name, score=round(score, 3))


def result_warnings(metrics: Json, groups: Sequence[Json], metric: Metric) -> Iterator[Json]:
    """Yield warnings about the metrics: no clear gain over the baseline, small groups, unequal groups."""
    if not _is_better_than_baseline(metrics, metric):
        yield _warning("not_better_than_baseline")
    for column in groups:
        yield from _group_warnings(column)


def budget_warnings(stopped_by: str) -> Iterator[Json]:
    """Yield a warning when the time ran out before all planned trials were scored."""
    if stopped_by == "time":
        yield _warning("stopped_by_time")


def _warning(code: str, **facts: Any) -> Json:
    """Return a warning: its code, its facts, and its sentence in both languages."""
    return {"code": code, "text": localize(WARNINGS[code], **facts), "facts": facts}


def _target_warnings(target: Target) -> Iterator[Json]:
    """Yield the warnings about the column to predict: few rows, missing values, rare and unequal classes."""
    rows = len(target.values)
    if rows < FEW_ROWS:
        yield _warning("few_rows", rows=rows)
    if target.missing:
        yield _warning("target_missing", rows=target.missing)

    if target.rare_classes:
        names = [str(label) for label, _rows in target.rare_classes]
        yield _warning("rare_classes_left_out", names=names[:MAX_NAMES])

    if target.is_classification:
        yield from _imbalance_warning(target)


def _imbalance_warning(target: Target) -> Iterator[Json]:
    """Yield a warning if the rarest class is rare both absolutely and compared with the other classes."""
    rows_per_class = np.bincount(target.values)
    rarest_code = int(rows_per_class.argmin())
    rarest_rows = int(rows_per_class[rarest_code])

    # If there are many classes, every share is small, so the rarest must also be less than half of an even share.
    rows = len(target.values)
    rows_of_even_share = rows / len(rows_per_class)
    if rarest_rows < RARE_SHARE * rows and rarest_rows < rows_of_even_share / 2:
        percent = round(100 * rarest_rows / rows, 1)
        yield _warning("class_imbalance", name=str(target.classes[rarest_code]), rows=rarest_rows, percent=percent)


def _column_warnings(column: ColumnSchema, rows: int) -> Iterator[Json]:
    """Yield the warnings about the cells of one column: mixed types, infinite numbers, many missing values."""
    if column.mixed:
        yield _warning("mixed_column", name=column.name, cells=column.mixed)
    if column.infinite:
        yield _warning("infinite_values", name=column.name, cells=column.infinite)

    is_mostly_missing = MOSTLY_MISSING * rows < column.missing < rows
    if is_mostly_missing and column.kind is not ColumnKind.UNSUPPORTED:
        yield _warning("mostly_missing", name=column.name, percent=round(100 * column.missing / rows))


def _single_feature_score(data: TrainingData, column: ColumnSchema) -> float:
    """Return how well one column alone predicts the target, by the default metric of the task.

    A shallow decision tree learns from one half of a sample of the rows, and is scored on the other half.
    """
    if column.kind is ColumnKind.TEXT or column.distinct < 2:
        return 0.0

    target = data.target
    sample = np.random.default_rng(0).permutation(len(target.values))[:LEAKAGE_ROWS]
    features = _as_numbers(column, data.frame[column.name].iloc[sample])
    true_values = target.values[sample]
    half = len(sample) // 2

    tree_class = DecisionTreeClassifier if target.is_classification else DecisionTreeRegressor
    tree = tree_class(max_depth=8, max_leaf_nodes=32, random_state=0)
    tree.fit(features[:half], true_values[:half])

    predictions = Predictions(
        truth=true_values[half:],
        predicted=tree.predict(features[half:]),
        class_count=len(target.classes),
    )
    return compute_metric(DEFAULT_METRIC[target.task], predictions)


def _as_numbers(column: ColumnSchema, cells: "pd.Series[Any]") -> Floats:
    """Return a column as a matrix of one column: numbers as they are, words as the ranks of their values."""
    if column.kind in (ColumnKind.NUMBER, ColumnKind.DATE):
        numbers = np.nan_to_num(cells.to_numpy().astype(np.float64), nan=NUMBER_FOR_MISSING)
    else:
        codes, _values = pd.factorize(cells, sort=True)
        numbers = codes.astype(np.float64)
    return numbers[:, None]


def _is_better_than_baseline(metrics: Json, metric: Metric) -> bool:
    """Return whether the model is clearly better than the baseline, which ignores all features.

    The whole confidence interval of the model's metric must be better than the baseline's value. If one of the two is
    undefined, nothing can be said against the model, and the result is True.
    """
    model_metrics = metrics.get("holdout") or metrics["folds"]
    model = model_metrics[metric.name]
    baseline = metrics["baseline"][metric.name]

    # A single split reports a value, several folds report a mean.
    baseline_value = baseline.get("value", baseline.get("mean"))
    worst_model_value = model["low"] if metric.greater_is_better else model["high"]
    if worst_model_value is None or baseline_value is None:
        return True

    if metric.greater_is_better:
        return bool(worst_model_value > baseline_value)
    return bool(worst_model_value < baseline_value)


def _group_warnings(column: Json) -> Iterator[Json]:
    """Yield the warnings about the groups of one sensitive column: small groups, and clearly unequal accuracies."""
    small_groups = [group for group in column["groups"] if group["too_small"]]
    if small_groups:
        yield _small_groups_warning(column["column"], small_groups)

    gap = column["gaps"].get("accuracy", {})
    if gap.get("certain"):
        yield _warning("group_gap", name=column["column"], difference=gap["difference"])


def _small_groups_warning(column: str, groups: Sequence[Json]) -> Json:
    """Return the warning about small groups; its text names them in each language, its facts in English."""
    names = [{locale: _group_name(group, locale) for locale in LOCALES} for group in groups]
    return {
        "code": "small_groups",
        "text": localize(WARNINGS["small_groups"], name=column, names=names),
        "facts": {"name": column, "names": [name["en"] for name in names]},
    }


def _group_name(group: Json, locale: str) -> str:
    """Return the name of a group and its number of rows."""
    name = localize(MISSING_VALUE)[locale] if group["group"] is None else group["group"]
    return f"{name} ({group['rows']})"
