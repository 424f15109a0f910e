"""Facets of an index: flags and ethical scores by the bits that planes have in common, the rest by counting codes."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from touchstone.core.attributes import ETHICAL, FLAGS, NUMBERS
from touchstone.ranking.column_types import Ints
from touchstone.ranking.index.catalog_index import CatalogIndex, decode_words
from touchstone.ranking.index.index_columns import PUBLIC_PLANE, ethical_plane, flag_plane
from touchstone.ranking.kernels import count_kernels
from touchstone.ranking.kernels.bits import Words
from touchstone.ranking.kernels.constants import TECHNICAL_SCORE
from touchstone.ranking.query.facets import FACET_WORDS, FacetCounter, FlagCounts


def count_index(counter: FacetCounter, index: CatalogIndex, matches: Words, match_count: int) -> None:
    """Add the records of an index that match a query to a counter of facets.

    `matches` is a bitmap of these records, and `match_count` their number.
    """
    counter.add_records(match_count)
    if match_count == 0:
        return

    _count_flags(counter, index, matches, match_count)
    _count_visibility(counter, index, matches, match_count)
    _count_texts(counter, index, matches)
    _count_numbers(counter, index, matches)
    _measure_ethical_range(counter, index, matches, match_count)
    _measure_technical_range(counter, index, matches)


def _count_flags(counter: FacetCounter, index: CatalogIndex, matches: Words, match_count: int) -> None:
    """Add how many of the matches have each flag true, false and not known."""
    for flag in FLAGS:
        true_count = int(count_kernels.count_common_bits(matches, index.plane(flag_plane(flag, True))))
        false_count = int(count_kernels.count_common_bits(matches, index.plane(flag_plane(flag, False))))
        unknown_count = match_count - true_count - false_count
        counter.add_flag(flag, FlagCounts(true_count, false_count, unknown_count))


def _count_visibility(counter: FacetCounter, index: CatalogIndex, matches: Words, match_count: int) -> None:
    """Add how many of the matches are public and private, leaving out a visibility that none of them has."""
    public_count = int(count_kernels.count_common_bits(matches, index.plane(PUBLIC_PLANE)))
    private_count = match_count - public_count
    if public_count:
        counter.add_text("visibility", "public", public_count)
    if private_count:
        counter.add_text("visibility", "private", private_count)


def _count_texts(counter: FacetCounter, index: CatalogIndex, matches: Words) -> None:
    """Add the word lists, such as the domains, and the file types of the matches, each distinct one with its count."""
    columns = index.columns
    for column in FACET_WORDS:
        word_lists = columns.words[column]
        counts = _count_codes(word_lists.codes, matches, len(word_lists.pool))
        for code in _known_codes(counts):
            words = decode_words(word_lists.pool[code])
            counter.add_words(column, words, int(counts[code]))

    file_types = columns.texts["file_type"]
    counts = _count_codes(file_types.codes, matches, len(file_types.pool))
    for code in _known_codes(counts):
        counter.add_text("file_type", file_types.pool[code], int(counts[code]))


def _count_numbers(counter: FacetCounter, index: CatalogIndex, matches: Words) -> None:
    """Add the ranges of all numbers and of the popularity score among the matches, and how many there are of each year.

    Numbers are stored as codes, which are in the order of the numbers. So the lowest and the highest code that occur
    give the range.
    """
    numbers = index.columns.numbers
    counts = {column: _count_codes(numbers[column].codes, matches, len(numbers[column].values)) for column in NUMBERS}

    for column in NUMBERS:
        known_codes = _known_codes(counts[column])
        if known_codes:
            lowest, highest = numbers[column].values[known_codes[0]], numbers[column].values[known_codes[-1]]
            counter.add_range(column, float(lowest), float(highest))

    for code in _known_codes(counts["year"]):
        counter.add_year(int(numbers["year"].values[code]), int(counts["year"][code]))

    # The popularity score depends on the citations only. Records without citations have one too, so code 0 counts.
    popularity_scores = index.columns.tables.citations[np.flatnonzero(counts["citations"])]
    counter.add_range("popularity_score", float(popularity_scores.min()), float(popularity_scores.max()))


def _measure_ethical_range(counter: FacetCounter, index: CatalogIndex, matches: Words, match_count: int) -> None:
    """Add the range of the ethical score among the matches, of which there is at least one."""
    # Element n says how many matches meet at least n ethical criteria. The numbers fall from match_count to 0.
    planes = [index.plane(ethical_plane(count)) for count in range(1, len(ETHICAL) + 1)]
    counts = [match_count, *(int(count_kernels.count_common_bits(matches, plane)) for plane in planes)]

    fewest_met = sum(count == match_count for count in counts) - 1
    most_met = sum(count > 0 for count in counts) - 1
    counter.add_range("ethical_score", fewest_met / len(ETHICAL), most_met / len(ETHICAL))


def _measure_technical_range(counter: FacetCounter, index: CatalogIndex, matches: Words) -> None:
    """Add the range of the technical score among the matches."""
    leaf_minima = index.columns.criteria.lower[TECHNICAL_SCORE]
    lowest, highest = count_kernels.technical_score_range(index.kernel_columns, matches, leaf_minima)
    counter.add_range("technical_score", float(lowest), float(highest))


def _count_codes(codes: NDArray[Any], matches: Words, code_count: int) -> Ints:
    """Return for each of `code_count` codes of a column how many of the matches have it."""
    counts = np.zeros(code_count, np.int64)
    count_kernels.count_codes(matches, codes, counts)
    return counts


def _known_codes(counts: Ints) -> list[int]:
    """Return the codes that occur, in ascending order and without code 0, which means "not known"."""
    codes: list[int] = (np.flatnonzero(counts[1:]) + 1).tolist()
    return codes
