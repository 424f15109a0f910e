"""Warnings about a training: weaknesses of the data, and unreliable results."""

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Any, Final

import numpy as np
import pandas as pd

from touchstone.learning.baseline_comparison import is_better_than_baseline
from touchstone.learning.column_types import ColumnKind, ColumnSchema
from touchstone.learning.experiment import FoldResult
from touchstone.learning.fairness.group_warnings import group_warnings
from touchstone.learning.localized_text import LocalizedText, format_cell, localize
from touchstone.learning.preparation import UNSUPPORTED_REASON
from touchstone.learning.sample_weights import counted_values
from touchstone.learning.splits.folds import Fold
from touchstone.learning.splits.split_decision import GROUP_COLUMN_REASON
from touchstone.learning.table_reader import Table
from touchstone.learning.target import Floats, Target
from touchstone.learning.task_interface import Json
from touchstone.learning.unusual_values import (
    find_clock_time,
    find_period,
    find_repeated_outlier,
    find_word_among_numbers,
    list_words,
)
from touchstone.messages.training_warnings import NAMES_AND_OTHERS, WARNINGS

FEW_ROWS: Final = 200
RARE_SHARE: Final = 0.1
MOSTLY_MISSING: Final = 0.5
MAX_NAMES: Final = 20
EXTREME_ROWS_SHARE: Final = 0.01
EXTREME_VARIANCE_SHARE: Final = 0.5
WARNING_DECIMALS: Final = 3  # as many as sentences show; with fewer, 6.94 % would be rounded and shown as 6.90 %


def data_warnings(table: Table, target: Target) -> Iterator[Json]:
    """Yield the warnings about the table and its target, which do not depend on the model."""
    yield from _target_warnings(target)
    for column in table.columns.values():
        yield from _column_warnings(column, rows=len(table.frame))
        yield from _value_warnings(column, table.frame[column.name])
    yield from _ambiguous_dots_warnings(table)

    if table.renamed:
        yield _names_warning("columns_renamed", sorted(table.renamed))


def class_warnings(target: Target, folds: Sequence[Fold], weights: Floats | None = None) -> Iterator[Json]:
    """Yield warnings about classes that occur only in training rows or only in test rows.

    This can happen in a split by time. For a regression, there is a warning if the target has the same value in all
    test rows. Rows of weight 0 do not count.
    """
    if not target.is_classification:
        if any(len(counted_values(target, fold.test, weights)) == 1 for fold in folds):
            yield warning("one_value_evaluated")
        return

    all_codes = set(range(len(target.classes)))
    training_codes = [counted_values(target, fold.train, weights) for fold in folds]
    test_codes = [counted_values(target, fold.test, weights) for fold in folds]

    unlearned_codes = set().union(*(test - train for train, test in zip(training_codes, test_codes, strict=True)))
    if unlearned_codes:
        yield _names_warning("classes_never_learned", _class_names(target, unlearned_codes))

    weightless_codes = all_codes - counted_values(target, np.arange(len(target.values)), weights)
    if weightless_codes:
        yield _names_warning("classes_without_weight", _class_names(target, weightless_codes))

    evaluated_codes = set().union(*test_codes)
    unevaluated_codes = all_codes - evaluated_codes - weightless_codes
    if len(evaluated_codes) == 1:
        [name] = _class_names(target, evaluated_codes)
        yield _names_warning("one_class_evaluated", _class_names(target, unevaluated_codes), name=name)
    elif unevaluated_codes:
        yield _names_warning("classes_never_evaluated", _class_names(target, unevaluated_codes))

    folds_of_one_class = sum(len(codes) == 1 for codes in test_codes)
    if folds_of_one_class and len(evaluated_codes) > 1:
        yield warning("folds_of_one_class", folds=folds_of_one_class, all_folds=len(folds))


def _class_names(target: Target, codes: Set[int]) -> list[str]:
    """Return the names of classes."""
    return [str(target.classes[code]) for code in sorted(codes)]


def feature_warnings(roles: Mapping[str, Json]) -> Iterator[Json]:
    """Yield warnings about the columns that are not read, and about those that contain nothing to learn.

    The group column of the split is also left out, but the result explains that elsewhere.
    """
    reasons = {name: role["reason"] for name, role in roles.items() if role["role"] == "left_out"}

    unsupported_columns = [name for name, reason in reasons.items() if reason == UNSUPPORTED_REASON]
    if unsupported_columns:
        yield _names_warning("columns_unsupported", unsupported_columns)

    useless_columns = [
        name for name, reason in reasons.items() if reason not in (UNSUPPORTED_REASON, GROUP_COLUMN_REASON)
    ]
    if useless_columns:
        yield _names_warning("columns_left_out", useless_columns)


def result_warnings(metrics: Json, groups: Sequence[Json], metric_label: LocalizedText) -> Iterator[Json]:
    """Yield warnings about the metrics: no clear gain over the baseline, small groups, unequal groups.

    Args:
        metrics: the metrics of the model and of the baseline.
        groups: the metrics by group of each sensitive column.
        metric_label: the displayed name of the metric for comparing models.
    """
    if is_better_than_baseline(metrics) is False:
        yield warning("not_better_than_baseline", metric=metric_label)
    for entry in groups:
        yield from group_warnings(entry)


def choice_warnings(folds: Sequence[FoldResult]) -> Iterator[Json]:
    """Yield a warning if a linear model was preferred on every fold to models with better scores."""
    if all(fold.is_simpler_choice for fold in folds):
        yield warning("linear_model_preferred", rows=max(len(fold.validation_rows) for fold in folds))


def budget_warnings(stopped_by: str) -> Iterator[Json]:
    """Yield a warning if the time ran out before all planned trials were scored."""
    if stopped_by == "time":
        yield warning("stopped_by_time")


def warning(code: str, *, facts_in_text: Mapping[str, LocalizedText] | None = None, **facts: Any) -> Json:
    """Build a warning with its code, its facts, and its sentence in both languages.

    Args:
        code: the code.
        facts_in_text: the facts that the sentence shows in another form, or None.
        **facts: the facts.
    """
    text = localize(WARNINGS[code], **{**facts, **(facts_in_text or {})})
    return {"code": code, "text": text, "facts": facts}


def _names_warning(code: str, names: Sequence[str], **facts: Any) -> Json:
    """Build a warning that names the first of some columns or classes, and counts the others."""
    shown_names = list(names[:MAX_NAMES])
    other_count = len(names) - len(shown_names)
    if not other_count:
        return warning(code, names=shown_names, **facts)

    names_in_text = localize(NAMES_AND_OTHERS, names=shown_names, count=other_count)
    return warning(code, facts_in_text={"names": names_in_text}, names=shown_names, other_names=other_count, **facts)


def _target_warnings(target: Target) -> Iterator[Json]:
    """Yield the warnings about few rows, missing or extreme target values, and rare or imbalanced classes."""
    if len(target.values) < FEW_ROWS:
        yield warning("few_rows", rows=len(target.values))
    if target.missing:
        yield warning("target_missing", rows=target.missing)

    if target.rare_classes:
        names = [str(name) for name, _row_count in target.rare_classes]
        rows_left_out = sum(row_count for _name, row_count in target.rare_classes)
        yield _names_warning("rare_classes_left_out", names, rows=rows_left_out)
    if similar_names := _names_that_differ_in_case(target):
        yield _names_warning("classes_differ_in_case", similar_names)

    if target.is_classification:
        yield from _imbalance_warning(target)
    else:
        yield from _extreme_value_warning(target)


def _names_that_differ_in_case(target: Target) -> list[str]:
    """Return the names of classes that equal the name of another class except for capital letters.

    Equal names are neighbours in the result.
    """
    present_classes = [*target.classes, *(name for name, _row_count in target.rare_classes)]
    names_by_folded_name = defaultdict(list)
    for name in map(str, present_classes):
        names_by_folded_name[name.casefold()].append(name)
    return [name for names in names_by_folded_name.values() if len(names) > 1 for name in sorted(names)]


def _imbalance_warning(target: Target) -> Iterator[Json]:
    """Yield a warning if the rarest class has a small share, also compared with the other classes."""
    rows_per_class = np.bincount(target.values)
    rarest_code = int(rows_per_class.argmin())
    rarest_rows = int(rows_per_class[rarest_code])

    # With many classes, every share is small. Therefore the share must also be below half of an even share.
    rows = len(target.values)
    rows_of_even_share = rows / len(rows_per_class)
    if rarest_rows < RARE_SHARE * rows and rarest_rows < rows_of_even_share / 2:
        percent = round(100 * rarest_rows / rows, WARNING_DECIMALS)
        yield warning("class_imbalance", name=str(target.classes[rarest_code]), rows=rarest_rows, percent=percent)


def _extreme_value_warning(target: Target) -> Iterator[Json]:
    """Yield a warning if one row in a hundred makes up most of the variance of the target."""
    rows = math.ceil(EXTREME_ROWS_SHARE * len(target.values))
    squared_deviations = np.sort((target.values - target.values.mean()) ** 2)
    variance_share = float(squared_deviations[-rows:].sum() / squared_deviations.sum())

    if variance_share >= EXTREME_VARIANCE_SHARE:
        yield warning("extreme_targets", rows=rows, percent=math.floor(100 * variance_share))


def _column_warnings(column: ColumnSchema, rows: int) -> Iterator[Json]:
    """Yield the warnings about a column: mixed types, formats or units, infinite numbers, many missing values."""
    if column.mixes_date_formats:
        yield warning("dates_in_several_formats", name=column.name)
    if column.mixes_units:
        yield warning("several_units", name=column.name)
    if column.mixed:
        yield warning("mixed_column", name=column.name, cells=column.mixed)
    if column.infinite:
        yield warning("infinite_values", name=column.name, cells=column.infinite)

    is_mostly_missing = MOSTLY_MISSING * rows < column.missing < rows
    if is_mostly_missing and column.kind is not ColumnKind.UNSUPPORTED:
        # Round down, because 100 % would mean that no value is present.
        yield warning("mostly_missing", name=column.name, percent=100 * column.missing // rows)


def _value_warnings(column: ColumnSchema, cells: "pd.Series[Any]") -> Iterator[Json]:
    """Yield the warnings about times and numbers that are treated as words, and about a number that may mean "missing".

    Each warning names an example.
    """
    words = list_words(column, cells)
    if (clock_time := find_clock_time(words)) is not None:
        yield warning("clock_times", name=column.name, example=clock_time)
    if (period := find_period(words)) is not None:
        yield warning("periods", name=column.name, example=period)
    if not column.mixes_units and (word := find_word_among_numbers(words)) is not None:
        yield warning("words_among_numbers", name=column.name, example=word)

    if column.kind.is_ordered and (outlier := find_repeated_outlier(cells)) is not None:
        facts_in_text = {name: format_cell(outlier[name]) for name in ("value", "low", "high")}
        yield warning("repeated_outlier", facts_in_text=facts_in_text, name=column.name, **outlier)


def _ambiguous_dots_warnings(table: Table) -> Iterator[Json]:
    """Yield the warnings about columns of numbers whose dots could also have the other meaning."""
    ambiguous_columns = [column for column in table.columns.values() if column.has_ambiguous_dots]
    with_thousands = [column.name for column in ambiguous_columns if column.thousands]
    with_decimals = [column.name for column in ambiguous_columns if not column.thousands]

    if with_thousands:
        yield _names_warning("dots_read_as_thousands", with_thousands)
    if with_decimals:
        yield _names_warning("dots_read_as_decimals", with_decimals)
