"""Sorts the matches in all parts of a catalog by relevance."""

from collections.abc import Sequence
from functools import reduce
from operator import add

import numpy as np

from touchstone.ranking.array_types import Floats, Ints
from touchstone.ranking.catalog.part import CatalogPart
from touchstone.ranking.catalog.results import SortedWindow
from touchstone.ranking.query.predicates import FullText, Query
from touchstone.ranking.query.sort_order import select_candidates, select_window
from touchstone.ranking.text.query_words import QueryWord, parse_query
from touchstone.ranking.text.relevance import compute_relevance


def searched_words(query: Query) -> tuple[QueryWord, ...]:
    """Return the distinct words that a query searches for."""
    texts = [predicate.text for predicate in query if isinstance(predicate, FullText)]
    return parse_query(" ".join(texts))


def sort_by_relevance(
    parts: Sequence[CatalogPart], query: Query, *, descending: bool, skip: int, limit: int | None
) -> SortedWindow:
    """Return one page of the matches in the order of their relevance to the words of the query.

    Ties are sorted by id. If the query has no words, all records are equally relevant. In the result, the positions of
    the second part follow the positions of the first part.

    Args:
        parts: the parts of the catalog.
        query: the query.
        descending: whether the most relevant records come first.
        skip: the number of matches before the page.
        limit: the maximum number of records on the page, or None for all remaining matches.
    """
    matches_by_part = [part.matching_positions(query) for part in parts]
    relevance_by_part = _compute_relevance(parts, searched_words(query), matches_by_part)
    total_count = sum(map(len, matches_by_part))
    end = total_count if limit is None else min(total_count, skip + limit)

    keys, ids, positions = [], [], []
    offset = 0
    for part, matches, relevance in zip(parts, matches_by_part, relevance_by_part, strict=True):
        part_keys = -relevance if descending else relevance

        # Read the ids, which are the tie-breaker, only for records that can be on the page.
        candidates = select_candidates(part_keys, end)
        keys.append(part_keys[candidates])
        ids.append(part.ids(matches[candidates]))
        positions.append(matches[candidates] + offset)
        offset += part.span

    window = select_window((np.concatenate(keys), np.concatenate(ids)), skip, limit)
    return SortedWindow(np.concatenate(positions)[window], total_count)


def _compute_relevance(
    parts: Sequence[CatalogPart], query_words: Sequence[QueryWord], matches_by_part: Sequence[Ints]
) -> list[Floats]:
    """Return the relevance of the matches of each part, which is 0 if the query has no words."""
    if not query_words:
        return [np.zeros(len(matches)) for matches in matches_by_part]

    searches = [part.search(query_words, matches) for part, matches in zip(parts, matches_by_part, strict=True)]
    statistics = reduce(add, (search.statistics for search in searches))
    return [compute_relevance(search.weights, search.lengths, statistics) for search in searches]
