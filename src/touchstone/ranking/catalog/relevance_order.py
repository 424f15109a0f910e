"""The order of a list by relevance, over all parts of a catalog."""

from collections.abc import Sequence
from functools import reduce
from operator import add

import numpy as np

from touchstone.ranking.catalog.part import CatalogPart
from touchstone.ranking.catalog.results import SortedWindow
from touchstone.ranking.query.predicates import FullText, Query
from touchstone.ranking.query.sort_order import select_window
from touchstone.ranking.text.query_words import QueryWord, parse_query
from touchstone.ranking.text.relevance import compute_relevance, count_words


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
    searches = [part.search(query_words) for part in parts] if query_words else []
    statistics = [count_words(search.matches, search.lengths, search.is_public) for search in searches]

    positions, ids, scores = [], [], []
    offset = 0
    for number, part in enumerate(parts):
        part_positions = part.matching_positions(query)
        part_scores = np.zeros(len(part_positions))
        if query_words:
            search, total = searches[number], reduce(add, statistics)
            lengths = search.lengths[part_positions]
            part_scores = compute_relevance(search.matches, lengths, part_positions, total)

        positions.append(part_positions + offset)
        ids.append(part.ids(part_positions))
        scores.append(part_scores)
        offset += part.span

    all_positions, all_scores = np.concatenate(positions), np.concatenate(scores)
    keys = (-all_scores if descending else all_scores, np.concatenate(ids))
    return SortedWindow(all_positions[select_window(keys, skip, limit)], len(all_positions))
