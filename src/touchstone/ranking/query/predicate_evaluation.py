"""Evaluating a query over a segment: one boolean for each record.

Texts, word lists and owners are decided once for each distinct value, then looked up by code.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from touchstone.core.text import fold
from touchstone.ranking.columns.segment import INTEGER_COLUMNS, Segment
from touchstone.ranking.criteria import COMPOSITES, Bools
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


def bounds(predicate: Range) -> tuple[float, float]:
    """The lowest and the highest value that match, with the tolerance of composite scores worked in."""
    slack = COMPOSITE_TOLERANCE if predicate.column in COMPOSITES else 0.0
    low = -np.inf if predicate.low is None else predicate.low - slack
    high = np.inf if predicate.high is None else predicate.high + slack
    return low, high


def in_range(segment: Segment, predicate: Range) -> Bools:
    """Numbers within inclusive bounds; NaN compares false, so a record without the value never matches."""
    low, high = bounds(predicate)
    column = predicate.column
    values = segment.criteria[column] if column in COMPOSITES else segment.columns[column]
    if column in INTEGER_COLUMNS:
        return np.asarray((values >= low) & (values <= high))
    found = ~np.isnan(values)
    if predicate.low is not None:
        found &= values >= low
    if predicate.high is not None:
        found &= values <= high
    return found


def has_flag(segment: Segment, predicate: FlagEquals) -> Bools:
    """The flag is known and has this value."""
    return np.asarray(segment.columns[predicate.column] == int(predicate.value))


def _coded(segment: Segment, column: str, holds: Callable[[Any], bool]) -> Bools:
    return segment.vocabularies[column].holds(segment.columns[column], holds)


def has_word(segment: Segment, predicate: AnyWord) -> Bools:
    """One of the record's words is one of those wanted."""
    wanted = {fold(word) for word in predicate.words}
    return _coded(segment, predicate.column, lambda words: not wanted.isdisjoint(words))


def contains(segment: Segment, predicate: Contains) -> Bools:
    """The folded text holds the folded needle."""
    needle = fold(predicate.text)
    return _coded(segment, predicate.column, lambda text: needle in text)


def is_one_of(segment: Segment, predicate: OneOf) -> Bools:
    """The folded text equals one of the folded values."""
    wanted = {fold(value) for value in predicate.values}
    return _coded(segment, predicate.column, lambda text: text in wanted)


def is_visible(segment: Segment, predicate: Visible) -> Bools:
    """Public records, and the viewer's own."""
    public = _coded(segment, "visibility", lambda text: text == "public")
    if predicate.viewer is None:
        return public
    own = segment.vocabularies["owner"].codes.get(predicate.viewer, -1)
    return np.asarray(public | (segment.columns["owner"] == own))


_EVALUATORS: Final[Mapping[type[Any], Callable[[Segment, Any], Bools]]] = {
    Range: in_range,
    FlagEquals: has_flag,
    AnyWord: has_word,
    Contains: contains,
    OneOf: is_one_of,
    Visible: is_visible,
}


def evaluate(segment: Segment, predicate: Predicate) -> Bools:
    """One predicate over all records of a segment."""
    return _EVALUATORS[type(predicate)](segment, predicate)


def matching(segment: Segment, query: Query, alive: Bools) -> Bools:
    """The records that are alive and satisfy every predicate."""
    found = alive.copy()
    for predicate in query:
        found &= evaluate(segment, predicate)
    return found
