"""The order of a list by relevance, over all parts of a catalog."""

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
    """Return the different words that a query searches for."""
    texts = [predicate.text for predicate in query if isinstance(predicate, FullText)]
    return parse_query(" ".join(texts))


def sort_by_relevance(
    parts: Sequence[CatalogPart], query: Query, *, descending: bool, skip: int, limit: int | None
) -> SortedWindow:
    """Sort the records that match by their relevance for the words of the query, then by id, and return one page.

    Without words, all records are equally relevant. The parts of a catalog are numbered one after the other: positions
    in the second part follow those in the first.
    """
    matches_by_part = [part.matching_positions(query) for part in parts]
    relevance_by_part = _compute_relevance(parts, searched_words(query), matches_by_part)
    total_count = sum(map(len, matches_by_part))
    end = total_count if limit is None else min(total_count, skip + limit)

    keys, ids, positions = [], [], []
    offset = 0
    for part, matches, relevance in zip(parts, matches_by_part, relevance_by_part, strict=True):
        part_keys = -relevance if descending else relevance

        # Only records that can be on the page need their ids, by which ties are ordered.
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
    """Return for each part the relevance of its matches; without words all are equally relevant."""
    if not query_words:
        return [np.zeros(len(matches)) for matches in matches_by_part]

    searches = [part.search(query_words, matches) for part, matches in zip(parts, matches_by_part, strict=True)]
    statistics = reduce(add, (search.statistics for search in searches))
    return [compute_relevance(search.weights, search.lengths, statistics) for search in searches]
