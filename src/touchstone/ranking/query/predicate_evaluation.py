"""Evaluation of a query over a segment, with a mask of the matching records as the result.

Texts, word lists and owners are tested once for each distinct value; records look up the result by their codes.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from touchstone.core.text import fold
from touchstone.core.vocabulary import comparison_key
from touchstone.ranking.array_types import Bools
from touchstone.ranking.columns.segment import Segment
from touchstone.ranking.criteria import COMPOSITES
from touchstone.ranking.query.predicates import (
    COMPOSITE_TOLERANCE,
    AnyWord,
    Contains,
    FlagEquals,
    FullText,
    OneOf,
    Predicate,
    Query,
    Range,
    Visible,
)
from touchstone.ranking.text.query_words import parse_query


def range_bounds(predicate: Range) -> tuple[float, float]:
    """Return the lowest and the highest value that satisfy a range, or infinity for an open side.

    Bounds of composite scores are extended by COMPOSITE_TOLERANCE, because their last digits depend on rounding.
    """
    tolerance = COMPOSITE_TOLERANCE if predicate.column in COMPOSITES else 0.0
    lowest = -np.inf if predicate.low is None else predicate.low - tolerance
    highest = np.inf if predicate.high is None else predicate.high + tolerance
    return lowest, highest


def evaluate_query(segment: Segment, query: Query, alive: Bools) -> Bools:
    """Return whether each record of a segment is alive and satisfies every predicate of a query."""
    matches = alive.copy()
    for predicate in query:
        matches &= evaluate_predicate(segment, predicate)
    return matches


def evaluate_predicate(segment: Segment, predicate: Predicate) -> Bools:
    """Return whether each record of a segment satisfies a predicate."""
    return _EVALUATORS[type(predicate)](segment, predicate)


def _evaluate_range(segment: Segment, predicate: Range) -> Bools:
    """Return whether the number, id, time or composite score of each record is in a range.

    Unknown numbers never match, even if both sides of the range are open, because every comparison with NaN is False.
    """
    lowest, highest = range_bounds(predicate)
    column = predicate.column
    values = segment.criteria[column] if column in COMPOSITES else segment.columns[column]
    return np.asarray((values >= lowest) & (values <= highest))


def _evaluate_flag(segment: Segment, predicate: FlagEquals) -> Bools:
    """Return whether the flag of each record is known and has the requested value."""
    return np.asarray(segment.columns[predicate.column] == int(predicate.value))


def _evaluate_any_word(segment: Segment, predicate: AnyWord) -> Bools:
    """Return whether the word list of each record contains at least one of the words."""
    folded_words = {comparison_key(predicate.column, word) for word in predicate.words}
    return _match_column(segment, predicate.column, lambda record_words: not folded_words.isdisjoint(record_words))


def _evaluate_contains(segment: Segment, predicate: Contains) -> Bools:
    """Return whether the text of each record contains the substring."""
    folded_substring = fold(predicate.text)
    codes = segment.columns[predicate.column]
    return segment.vocabularies[predicate.column].match_substring(codes, folded_substring)


def _evaluate_one_of(segment: Segment, predicate: OneOf) -> Bools:
    """Return whether the text of each record equals one of the values."""
    folded_values = {fold(value) for value in predicate.values}
    return _match_column(segment, predicate.column, lambda text: text in folded_values)


def _evaluate_full_text(segment: Segment, predicate: FullText) -> Bools:
    """Return whether each record contains every word of the query text."""
    assert segment.words is not None, "only segments with words are searched"
    contains_all = segment.words.contains_all_words(parse_query(predicate.text))
    return contains_all if segment.word_positions is None else contains_all[segment.word_positions]


def _evaluate_visible(segment: Segment, predicate: Visible) -> Bools:
    """Return whether each record is public or belongs to the viewer."""
    is_public = _match_column(segment, "visibility", lambda text: text == "public")
    if predicate.viewer is None:
        return is_public

    unused_code = -1
    viewer_code = segment.vocabularies["owner"].codes.get(predicate.viewer, unused_code)
    is_own = segment.columns["owner"] == viewer_code
    return np.asarray(is_public | is_own)


def _match_column(segment: Segment, column: str, is_match: Callable[[Any], bool]) -> Bools:
    """Return whether the folded value of each record in a column satisfies a condition."""
    return segment.vocabularies[column].match_codes(segment.columns[column], is_match)


_EVALUATORS: Final[Mapping[type[Any], Callable[[Segment, Any], Bools]]] = {
    Range: _evaluate_range,
    FlagEquals: _evaluate_flag,
    AnyWord: _evaluate_any_word,
    Contains: _evaluate_contains,
    OneOf: _evaluate_one_of,
    FullText: _evaluate_full_text,
    Visible: _evaluate_visible,
}
