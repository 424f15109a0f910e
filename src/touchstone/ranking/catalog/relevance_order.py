"""The order of a list by relevance, over all parts of a catalog."""

from collections.abc import Sequence
from functools import reduce
from operator import add

import numpy as np

from touchstone.ranking.catalog.part import CatalogPart
from touchstone.ranking.catalog.results import SortedWindow
from touchstone.ranking.column_types import Floats, Ints
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
    """Return one page of the records that match, by their relevance for the words of the query, ties by id.

    Without words all records are equally relevant. The positions of a view are those of its parts, one after the other.
    """
    query_words = searched_words(query)
    matches = [part.matching_positions(query) for part in parts]
    relevance = _relevance_by_part(parts, query_words, matches)
    keys = [-scores if descending else scores for scores in relevance]

    # Only records that can be on the page need their ids, by which ties are ordered.
    total_count = sum(map(len, matches))
    end = total_count if limit is None else min(total_count, skip + limit)
    candidates = [select_candidates(part_keys, end) for part_keys in keys]
    positions = [part_matches[indices] for part_matches, indices in zip(matches, candidates, strict=True)]
    ids = [part.ids(part_positions) for part, part_positions in zip(parts, positions, strict=True)]

    candidate_keys = np.concatenate([part_keys[indices] for part_keys, indices in zip(keys, candidates, strict=True)])
    window = select_window((candidate_keys, np.concatenate(ids)), skip, limit)
    return SortedWindow(np.concatenate(_in_view(parts, positions))[window], total_count)


def _relevance_by_part(
    parts: Sequence[CatalogPart], query_words: Sequence[QueryWord], matches: Sequence[Ints]
) -> list[Floats]:
    """Return for each part the relevance of its matches; without words they are equally relevant."""
    if not query_words:
        return [np.zeros(len(part_matches)) for part_matches in matches]

    searches = [part.search(query_words, part_matches) for part, part_matches in zip(parts, matches, strict=True)]
    statistics = reduce(add, (search.statistics for search in searches))
    return [compute_relevance(search.weights, search.lengths, statistics) for search in searches]


def _in_view(parts: Sequence[CatalogPart], positions: Sequence[Ints]) -> list[Ints]:
    """Return positions in each part as positions in the view, where those of the parts follow one another."""
    offsets = np.cumsum([0, *(part.span for part in parts)])
    return [part_positions + offset for part_positions, offset in zip(positions, offsets[:-1].tolist(), strict=True)]
