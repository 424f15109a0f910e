"""The search in a whole catalog: `python -m benchmarks search large [SIZE …]`, by default 1e6 records.

The records are those of the ranking benchmark, each with 26 words. Every question is asked when the index has cached
nothing of it, and again when it has cached the matches.
"""

import gc
import itertools
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.ranking.catalog_generator import build_index, generate_segment
from benchmarks.ranking.workloads import SIX_CRITERIA, THREE_CRITERIA
from benchmarks.search.scale import QUERIES, array_bytes, word_frequencies
from touchstone.ranking.catalog.catalog import Catalog
from touchstone.ranking.catalog.view import View
from touchstone.ranking.index.catalog_index import CatalogIndex
from touchstone.ranking.index.word_index import WordIndex
from touchstone.ranking.query.predicates import AnyWord, FullText, Query, Range, Visible
from touchstone.ranking.text.record_words import DecodedWords
from touchstone.ranking.text.words import IN_NAME, MAX_WEIGHT

_NAME_WORDS: Final = 3
_DESCRIPTION_WORDS: Final = 22
_RECORDS_AT_ONCE: Final = 100_000
_LEAF_WORDS: Final = 16
_REPETITIONS: Final = 9
_REMEMBERED_SEARCHES: Final = 64
_search_numbers: Final = itertools.count()
_FILTERS: Final = (AnyWord("domain", ("health", "finance")), Range("year", low=2015), Range("ethical_score", low=0.4))


def _first_by(view: View, query: Query, column: str) -> object:
    """Return the first twenty matches by a sort column, the highest first."""
    return view.sort(query, column, descending=True, skip=0, limit=20)


class Question(NamedTuple):
    """A question that a search is part of, asked with the predicates of the search."""

    name: str
    ask: Callable[[View, Query], object]


QUESTIONS: Final = (
    Question("count", lambda view, query: view.count(query)),
    Question("top 20 by relevance", lambda view, query: _first_by(view, query, "relevance")),
    Question("top 20 by score", lambda view, query: view.rank(query, THREE_CRITERIA, skip=0, limit=20)),
    Question(
        "filters, top 20 by score", lambda view, query: view.rank((*query, *_FILTERS), SIX_CRITERIA, skip=0, limit=20)
    ),
    Question("list by citations", lambda view, query: _first_by(view, query, "citations")),
    Question("facets", lambda view, query: view.facets(query)),
)


def generate_words(size: int, seed: int = 9) -> DecodedWords:
    """Return the words of generated records with the frequencies of the demo catalog and a unique word per name."""
    frequencies = word_frequencies()
    words = [*frequencies, *(f"r{number:x}" for number in range(size))]
    chunks = list(_generate_chunks(size, np.array(list(frequencies.values())), np.random.default_rng(seed)))
    return DecodedWords(words, *(np.concatenate(arrays) for arrays in zip(*chunks, strict=True)))


def _generate_chunks(
    size: int, frequencies: NDArray[np.int64], rng: np.random.Generator
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.uint32], NDArray[np.uint8]]]:
    """Yield the word counts, word numbers and word weights of the records in batches."""
    vocabulary_size = len(frequencies)
    cumulative_shares = np.cumsum(frequencies) / frequencies.sum()
    place_weights = np.array([3] * _NAME_WORDS + [1] * _DESCRIPTION_WORDS + [3])
    is_in_name = place_weights == 3

    for first_record in range(0, size, _RECORDS_AT_ONCE):
        count = min(_RECORDS_AT_ONCE, size - first_record)
        drawn_numbers = np.searchsorted(cumulative_shares, rng.random((count, len(place_weights))))
        drawn_numbers[:, -1] = vocabulary_size  # the unique word of the record

        # The same word at several places of a record is one word with the sum of the weights.
        keys = drawn_numbers + np.arange(count)[:, np.newaxis] * (vocabulary_size + 1)
        distinct_keys, inverse = np.unique(keys, return_inverse=True)
        weights = np.bincount(inverse.ravel(), np.tile(place_weights, count)).astype(np.int64).clip(max=MAX_WEIGHT)
        occurs_in_name = np.bincount(inverse.ravel(), np.tile(is_in_name, count)) > 0

        records, numbers = np.divmod(distinct_keys, vocabulary_size + 1)
        numbers += np.where(numbers == vocabulary_size, records + first_record, 0)
        yield (
            np.bincount(records, minlength=count),
            numbers.astype(np.uint32),
            np.where(occurs_in_name, weights | IN_NAME, weights).astype(np.uint8),
        )


def build_catalog(size: int) -> Catalog:
    """Return an indexed catalog with words, and print the cost of its word index."""
    columns = build_index(generate_segment(size), _LEAF_WORDS).columns
    words = generate_words(size)
    gc.collect()

    start = time.process_time()
    word_index = WordIndex.build(words, np.arange(size))
    seconds = time.process_time() - start
    del words
    gc.collect()

    print(f"\n## {size:,} records of {_NAME_WORDS + _DESCRIPTION_WORDS + 1} words\n")
    print(f"Bytes a record: {array_bytes(word_index) / size:.1f}. Listed by word in {seconds:.0f} s.\n")
    return Catalog.from_index(CatalogIndex(replace(columns, word_index=word_index)))


def measure_large(sizes: list[int]) -> None:
    """Print the times of all queries of catalogs of the given sizes."""
    for size in sizes:
        view = build_catalog(size).view
        print("| search | matches | " + " | ".join(question.name for question in QUESTIONS) + " |")
        print("|---|---:|" + "---:|" * len(QUESTIONS))
        for name, search_text in QUERIES.items():
            match_count = view.count((Visible(None), FullText(search_text)))
            cells = [_measure(view, question, search_text) for question in QUESTIONS]
            print(f"| {name} | {match_count:,} | " + " | ".join(cells) + " |", flush=True)


def _measure(view: View, question: Question, search_text: str) -> str:
    """Return the median milliseconds of a question, at first and when its matches are cached."""
    first_times, repeated_times = [], []
    for _ in range(_REPETITIONS + 1):
        query = _forget_matches(view, search_text)
        first_times.append(_time_ms(view, question, query))
        repeated_times.append(_time_ms(view, question, query))

    # The first repetition may compile kernels and sort a column.
    first_median, repeated_median = statistics.median(first_times[1:]), statistics.median(repeated_times[1:])
    return f"{first_median:.2f} ({repeated_median:.2f})"


def _forget_matches(view: View, search_text: str) -> Query:
    """Return a search that is not in the cache of a view.

    Other searches evict its words from the cache of the index. The number of spaces at the end is new each time,
    because the view caches how many records match a query.
    """
    for _ in range(_REMEMBERED_SEARCHES):
        view.count((FullText(f"0{next(_search_numbers)}"),))
    return Visible(None), FullText(search_text + " " * next(_search_numbers))


def _time_ms(view: View, question: Question, query: Query) -> float:
    """Return the processor time of one answer in milliseconds."""
    start = time.process_time()
    question.ask(view, query)
    return (time.process_time() - start) * 1000
