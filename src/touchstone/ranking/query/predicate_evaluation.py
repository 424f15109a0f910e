"""Evaluation of a query over a segment: one boolean for each record.

Texts, word lists and owners are tested once for each distinct value, then looked up by code.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from touchstone.core.text import fold
from touchstone.ranking.columns.segment import INTEGER_COLUMNS, Segment
from touchstone.ranking.column_types import Bools
from touchstone.ranking.criteria import COMPOSITES
from touchstone.ranking.query.predicates import (
    COMPOSITE_TOLERANCE,
    AnyWord,
    Contains,
    FlagEquals,
    OneOf,
    Predicate,
    Query,
    Range,
    Visible,
)


def range_bounds(predicate: Range) -> tuple[float, float]:
    """Return the lowest and highest value that match, widened by the tolerance of composite scores."""
    tolerance = COMPOSITE_TOLERANCE if predicate.column in COMPOSITES else 0.0
    low = -np.inf if predicate.low is None else predicate.low - tolerance
    high = np.inf if predicate.high is None else predicate.high + tolerance
    return low, high


def evaluate_query(segment: Segment, query: Query, alive: Bools) -> Bools:
    """Return which records are alive and satisfy every predicate."""
    matches = alive.copy()
    for predicate in query:
        matches &= evaluate_predicate(segment, predicate)
    return matches


def evaluate_predicate(segment: Segment, predicate: Predicate) -> Bools:
    """Return which records of a segment satisfy a predicate."""
    return _EVALUATORS[type(predicate)](segment, predicate)


def _evaluate_range(segment: Segment, predicate: Range) -> Bools:
    low, high = range_bounds(predicate)
    column = predicate.column
    values = segment.criteria[column] if column in COMPOSITES else segment.columns[column]
    if column in INTEGER_COLUMNS:
        return np.asarray((values >= low) & (values <= high))

    matches = ~np.isnan(values)
    if predicate.low is not None:
        matches &= values >= low
    if predicate.high is not None:
        matches &= values <= high
    return matches


def _evaluate_flag(segment: Segment, predicate: FlagEquals) -> Bools:
    return np.asarray(segment.columns[predicate.column] == int(predicate.value))


def _evaluate_any_word(segment: Segment, predicate: AnyWord) -> Bools:
    words = {fold(word) for word in predicate.words}
    return _test_column(segment, predicate.column, lambda record_words: not words.isdisjoint(record_words))


def _evaluate_contains(segment: Segment, predicate: Contains) -> Bools:
    needle = fold(predicate.text)
    return _test_column(segment, predicate.column, lambda text: needle in text)


def _evaluate_one_of(segment: Segment, predicate: OneOf) -> Bools:
    values = {fold(value) for value in predicate.values}
    return _test_column(segment, predicate.column, lambda text: text in values)


def _evaluate_visible(segment: Segment, predicate: Visible) -> Bools:
    is_public = _test_column(segment, "visibility", lambda text: text == "public")
    if predicate.viewer is None:
        return is_public

    viewer_code = segment.vocabularies["owner"].codes.get(predicate.viewer, -1)
    return np.asarray(is_public | (segment.columns["owner"] == viewer_code))


def _test_column(segment: Segment, column: str, is_match: Callable[[Any], bool]) -> Bools:
    """Return for each record whether the folded value of a coded column satisfies a condition."""
    return segment.vocabularies[column].test_codes(segment.columns[column], is_match)


_EVALUATORS: Final[Mapping[type[Any], Callable[[Segment, Any], Bools]]] = {
    Range: _evaluate_range,
    FlagEquals: _evaluate_flag,
    AnyWord: _evaluate_any_word,
    Contains: _evaluate_contains,
    OneOf: _evaluate_one_of,
    Visible: _evaluate_visible,
}
