"""Facets of an index: flags and ethical scores by the bits that planes have in common, the rest by counting codes."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from touchstone.core.attributes import ETHICAL, FLAGS, NUMBERS, WORDS
from touchstone.ranking.column_types import Ints
from touchstone.ranking.index.catalog_index import CatalogIndex, decode_words
from touchstone.ranking.index.index_columns import PUBLIC_PLANE, ethical_plane, flag_plane
from touchstone.ranking.kernels import count_kernels
from touchstone.ranking.kernels.bits import Words
from touchstone.ranking.kernels.constants import TECHNICAL_SCORE
from touchstone.ranking.query.facets import FacetCounter, FlagCounts


def count_index(counter: FacetCounter, index: CatalogIndex, bitmap: Words, total: int) -> None:
    """Add the records of an index whose bit is set, which are `total`."""
    counter.add_records(total)
    if total == 0:
        return
    _count_flags(counter, index, bitmap, total)
    _count_visibility(counter, index, bitmap, total)
    _count_texts(counter, index, bitmap)
    _count_numbers(counter, index, bitmap)
    _count_composites(counter, index, bitmap, total)


def _count_flags(counter: FacetCounter, index: CatalogIndex, bitmap: Words, total: int) -> None:
    for flag in FLAGS:
        true = count_kernels.count_common_bits(bitmap, index.plane(flag_plane(flag, True)))
        false = count_kernels.count_common_bits(bitmap, index.plane(flag_plane(flag, False)))
        counter.add_flag(flag, FlagCounts(int(true), int(false), total - int(true) - int(false)))


def _count_visibility(counter: FacetCounter, index: CatalogIndex, bitmap: Words, total: int) -> None:
    public = int(count_kernels.count_common_bits(bitmap, index.plane(PUBLIC_PLANE)))
    if public:
        counter.add_text("visibility", "public", public)
    if total > public:
        counter.add_text("visibility", "private", total - public)


def _count_texts(counter: FacetCounter, index: CatalogIndex, bitmap: Words) -> None:
    columns = index.columns
    for column in WORDS:
        coded = columns.words[column]
        counts = _tally(coded.codes, bitmap, len(coded.pool))
        for code in _known_codes(counts):
            counter.add_words(column, decode_words(coded.pool[code]), int(counts[code]))

    file_type = columns.texts["file_type"]
    counts = _tally(file_type.codes, bitmap, len(file_type.pool))
    for code in _known_codes(counts):
        counter.add_text("file_type", file_type.pool[code], int(counts[code]))


def _count_numbers(counter: FacetCounter, index: CatalogIndex, bitmap: Words) -> None:
    for column in NUMBERS:
        number = index.columns.numbers[column]
        counts = _tally(number.codes, bitmap, len(number.values))
        known_codes = _known_codes(counts)
        if known_codes:
            counter.add_interval(column, float(number.values[known_codes[0]]), float(number.values[known_codes[-1]]))
        if column == "year":
            for code in known_codes:
                counter.add_year(int(number.values[code]), int(counts[code]))
        if column == "citations":
            scores = index.columns.tables.citations[np.flatnonzero(counts)]
            counter.add_interval("popularity_score", float(scores.min()), float(scores.max()))


def _count_composites(counter: FacetCounter, index: CatalogIndex, bitmap: Words, total: int) -> None:
    # at_least[n] is the number of records that meet at least n ethical criteria.
    planes = [index.plane(ethical_plane(count)) for count in range(1, len(ETHICAL) + 1)]
    at_least = [total, *(int(count_kernels.count_common_bits(bitmap, plane)) for plane in planes)]
    fewest = sum(records == total for records in at_least) - 1
    most = sum(records > 0 for records in at_least) - 1
    counter.add_interval("ethical_score", fewest / len(ETHICAL), most / len(ETHICAL))

    lower = index.columns.criteria.lower[TECHNICAL_SCORE]
    low, high = count_kernels.technical_extremes(index.kernel_columns, bitmap, lower)
    counter.add_interval("technical_score", float(low), float(high))


def _tally(codes: NDArray[Any], bitmap: Words, size: int) -> Ints:
    """Return how often each of `size` codes occurs among the records whose bit is set."""
    counts = np.zeros(size, np.int64)
    count_kernels.tally_codes(bitmap, codes, counts)
    return counts


def _known_codes(counts: Ints) -> list[int]:
    """Return the codes that occur, without 0 ("not known")."""
    codes: list[int] = (np.flatnonzero(counts[1:]) + 1).tolist()
    return codes
