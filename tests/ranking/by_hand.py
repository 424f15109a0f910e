"""A slow, readable reference for the evaluator, which evaluates one record at a time in plain Python."""

import math
from collections.abc import Iterable, Mapping
from typing import Any

from touchstone.core.attributes import ETHICAL
from touchstone.core.text import fold
from touchstone.core.vocabulary import comparison_key
from touchstone.ranking.columns.segment import CatalogRow
from touchstone.ranking.query.predicates import (
    AnyWord,
    Contains,
    FlagEquals,
    FullText,
    OneOf,
    Predicate,
    Range,
    Visible,
)
from touchstone.ranking.text.word_forms import WordSimilarity, word_similarity
from touchstone.ranking.text.words import MAX_WEIGHT, split_words, weigh_words

COMPOSITES = ("ethical_score", "technical_score", "popularity_score")


def clamp(value: float) -> float:
    return max(0.0, min(1.0, value))


def ethical_score(row: CatalogRow) -> float:
    return sum(getattr(row, name) is True for name in ETHICAL) / 10


def documentation_part(row: CatalogRow) -> float:
    part = 0.0
    if row.metadata_provided_with_dataset:
        part += 0.15
    if row.external_documentation_available:
        part += 0.15
    return part


def quality_part(row: CatalogRow) -> float:
    part = 0.0
    if row.missing_values_percentage is not None:
        part += max(0.0, 0.2 * (100 - row.missing_values_percentage) / 100)
    elif row.has_missing_values is False:
        part += 0.2
    if row.is_split:
        part += 0.2
    return part


def size_part(row: CatalogRow) -> float:
    part = 0.0
    if row.instances_number is not None and row.instances_number > 0:
        part += 0.15 * clamp((math.log10(row.instances_number) - 2) / 3)
    features = row.features_number
    if features:
        if features > 100:
            part += 0.15 * max(0.5, 1 - (features - 100) / 1000)
        elif features >= 10:
            part += 0.15
        else:
            part += 0.15 * features / 10
    return part


def technical_score(row: CatalogRow) -> float:
    return min(1.0, documentation_part(row) + quality_part(row) + size_part(row))


def popularity_score(row: CatalogRow) -> float:
    if row.citations is None or row.citations <= 0:
        return 0.0
    return clamp(math.log10(row.citations) / 3)


def data_quality(row: CatalogRow) -> float:
    if row.missing_values_percentage is not None:
        return (100 - row.missing_values_percentage) / 100
    return {None: 0.0, False: 1.0, True: 0.5}[row.has_missing_values]


def instances_count(row: CatalogRow) -> float:
    if row.instances_number is None or row.instances_number <= 0:
        return 0.0
    return clamp(math.log10(row.instances_number) / 5)


def novelty(row: CatalogRow) -> float:
    return 0.0 if row.year is None else clamp((row.year - 2000) / 24)


CRITERIA = {
    "ethical_score": ethical_score,
    "technical_score": technical_score,
    "popularity_score": popularity_score,
    "anonymization": lambda row: float(row.anonymization_applied is True),
    "transparency": lambda row: float(row.transparency is True),
    "informed_consent": lambda row: float(row.informed_consent is True),
    "documentation": lambda row: float(
        row.metadata_provided_with_dataset is True or row.external_documentation_available is True
    ),
    "data_quality": data_quality,
    "instances_count": instances_count,
    "features_count": lambda row: 0.0 if row.features_number is None else clamp(row.features_number / 100),
    "citations": popularity_score,
    "year": novelty,
}


def score(row: CatalogRow, weights: Mapping[str, float]) -> float:
    weighted_sum = total = 0.0
    for name, criterion in CRITERIA.items():
        weighted_sum += weights.get(name, 0.0) * criterion(row)
        total += weights.get(name, 0.0)
    return weighted_sum / total


def words_of(row: CatalogRow) -> dict[str, int]:
    """Return the words of a record with their weights."""
    terms = [("domain", value) for value in row.domain or ()] + [("task", value) for value in row.task or ()]
    weights = weigh_words(row.dataset_name, (row.objective, row.description), row.tags or (), terms)
    return {word: weight & MAX_WEIGHT for word, weight in weights.items()}


def weight_of(row: CatalogRow, query_word: str) -> int:
    """Return how much a record contains a word: the sum of the weights of its words, times their similarity to it."""
    terms = {f"{column}:{comparison_key(column, query_word)}" for column in ("domain", "task")}
    return sum(
        weight * (WordSimilarity.RELATED if word in terms else word_similarity(query_word, word))
        for word, weight in words_of(row).items()
    )


def relevance(rows: Iterable[CatalogRow], row: CatalogRow, text: str) -> float:
    """Return the BM25 score of a record, with statistics over the public records only."""
    public_rows = [candidate for candidate in rows if candidate.visibility == "public"]
    mean_length = max(
        1.0, sum(sum(words_of(public_row).values()) for public_row in public_rows) / max(1, len(public_rows))
    )
    total = 0.0
    for word in dict.fromkeys(split_words(text)):
        frequency = sum(weight_of(public_row, word) > 0 for public_row in public_rows)
        rarity = math.log(1 + (len(public_rows) - frequency + 0.5) / (frequency + 0.5))
        occurrences = weight_of(row, word) / WordSimilarity.EQUAL
        norm = 1.2 * (0.5 + 0.5 * sum(words_of(row).values()) / mean_length)
        total += rarity * occurrences * 2.2 / (occurrences + norm)
    return total


def matches(row: CatalogRow, predicate: Predicate) -> bool:  # noqa: PLR0911 (one for each kind)
    match predicate:
        case Range(column, low, high):
            composite = column in COMPOSITES
            value = CRITERIA[column](row) if composite else getattr(row, column)
            slack = 1e-9 if composite else 0
            return (
                value is not None and (low is None or value >= low - slack) and (high is None or value <= high + slack)
            )
        case FlagEquals(column, value):
            return getattr(row, column) is value
        case AnyWord(column, words):
            keys = {comparison_key(column, word) for word in words}
            return any(comparison_key(column, word) in keys for word in getattr(row, column) or ())
        case Contains(column, text):
            return getattr(row, column) is not None and fold(text) in fold(getattr(row, column))
        case OneOf(column, values):
            return getattr(row, column) is not None and fold(getattr(row, column)) in {fold(value) for value in values}
        case FullText(text):
            return all(weight_of(row, word) for word in split_words(text))
        case Visible(viewer):
            return row.visibility == "public" or (viewer is not None and row.owner == viewer)


def matching(rows: Iterable[CatalogRow], query: tuple[Predicate, ...]) -> list[CatalogRow]:
    return [row for row in rows if all(matches(row, predicate) for predicate in query)]


def rank(
    rows: Iterable[CatalogRow], query: tuple[Predicate, ...], weights: Mapping[str, float]
) -> list[tuple[int, float]]:
    """Return (id, score) pairs by score decreasing, then folded name, then id."""
    keys = [(-score(row, weights), fold(row.dataset_name), row.id) for row in matching(rows, query)]
    return [(id_, -negated) for negated, _, id_ in sorted(keys)]


def sort_value(row: CatalogRow, key: str) -> Any:
    if key in COMPOSITES:
        return CRITERIA[key](row)
    value = getattr(row, {"name": "dataset_name", "num_citations": "citations"}.get(key, key))
    return fold(value) if isinstance(value, str) else value


def ordered(rows: Iterable[CatalogRow], query: tuple[Predicate, ...], key: str, descending: bool) -> list[int]:
    """Return ids by a sort key, ties by id ascending in both orders, records without the value last."""
    matching_rows = sorted(matching(rows, query), key=lambda row: row.id)
    known_rows = [row for row in matching_rows if sort_value(row, key) is not None]
    unknown_rows = [row for row in matching_rows if sort_value(row, key) is None]
    known_rows.sort(key=lambda row: sort_value(row, key), reverse=descending)
    return [row.id for row in (*known_rows, *unknown_rows)]
