"""Facets of the records of an index that match a query.

Flags and ethical scores are counted with planes, bitmaps of the records that have a property. The values of other
columns are stored as codes, and the records with each code are counted.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from touchstone.core.attributes import ETHICAL, FLAGS, NUMBERS
from touchstone.ranking.column_types import Ints
from touchstone.ranking.columns.bitmaps import complement, count_bits_by_leaf, list_bits
from touchstone.ranking.index.catalog_index import CatalogIndex
from touchstone.ranking.index.column_statistics import LeafCodes
from touchstone.ranking.index.index_columns import PUBLIC_PLANE, at_least_plane, decode_words, ethical_plane, flag_plane
from touchstone.ranking.kernels import count_kernels
from touchstone.ranking.kernels.bits import BITS_PER_WORD, Words
from touchstone.ranking.kernels.constants import TECHNICAL_SCORE
from touchstone.ranking.kernels.count_kernels import SelectedRecords
from touchstone.ranking.kernels.two_threads import run_in_halves
from touchstone.ranking.query.facets import FACET_WORDS, FacetCounter, FlagCounts


def count_index(index: CatalogIndex, bitmap: Words, match_count: int) -> FacetCounter:
    """Return the facets of the records that match a query, given a bitmap of these records and their number."""
    counter = FacetCounter()
    counter.add_records(match_count)
    if match_count == 0:
        return counter

    matches = _Matches(index, bitmap, match_count)
    plane_counts = matches.count_in_planes(_facet_planes())
    _add_flags(counter, plane_counts, match_count)
    _add_visibility(counter, plane_counts, match_count)
    _add_ethical_range(counter, plane_counts, match_count)
    _add_texts(counter, matches)
    _add_years(counter, matches)
    _add_number_ranges(counter, matches, plane_counts)
    _add_technical_range(counter, matches)
    return counter


def warm_up_facets(index: CatalogIndex) -> None:
    """Run the kernel for ranges of numbers over the first leaf, so that it is compiled before the first query."""
    columns = index.columns
    first_leaf = np.zeros(columns.leaf_words, np.uint64)
    leaf_codes = LeafCodes(np.ones(1, np.int64), np.ones(1, np.int64))
    for number in columns.numbers.values():
        count_kernels.known_code_range(number.codes, first_leaf, columns.leaf_words, *leaf_codes)


@dataclass(frozen=True, slots=True)
class _Matches:
    """The records of an index that match a query, of which there is at least one."""

    index: CatalogIndex
    bitmap: Words
    count: int

    def count_in_planes(self, keys: Sequence[str]) -> dict[str, int]:
        """Return how many matches are in each of some planes, given by their keys; two threads share the leaves."""
        columns = self.index.columns
        planes = np.array([columns.planes.rows[key] for key in keys], np.int64)
        selected = SelectedRecords(self.bitmap, count_bits_by_leaf(self.bitmap, columns.leaf_words))
        counts_by_half = np.zeros((2, len(keys)), np.int64)

        def count_range(start: int, end: int) -> None:
            half = 0 if start == 0 else 1
            leaves = start // columns.leaf_size, end // columns.leaf_size
            kernel_columns = self.index.kernel_columns
            count_kernels.count_in_planes(kernel_columns, selected, planes, leaves, counts_by_half[half])

        boundary = columns.leaf_size * (columns.leaf_count // 2)
        run_in_halves(columns.leaf_size * columns.leaf_count, count_range, boundary)
        return dict(zip(keys, counts_by_half.sum(axis=0).tolist(), strict=True))

    @property
    def are_few(self) -> bool:
        """Whether reading the matches takes less time than computing statistics of whole columns."""
        return self.count <= self.index.columns.leaf_size

    def count_codes(self, column: str, codes: NDArray[Any], code_count: int) -> Ints:
        """Return for each of `code_count` codes of a column how many of the matches have it."""
        record_count = self.index.columns.size
        if self.count <= record_count // 2:
            return _count_codes(self.bitmap, codes, code_count)

        # If more than half of all records match, the others are counted.
        others = complement(self.bitmap, record_count)
        total_counts = self.index.statistics.total_counts(column, codes, code_count)
        return total_counts - _count_codes(others, codes, code_count)

    def known_code_range(self, column: str) -> list[int]:
        """Return the lowest and the highest code above 0 of a number column; none if no match has a number."""
        codes = self.index.columns.numbers[column].codes
        if self.are_few:
            codes_of_matches = codes[list_bits(self.bitmap)]
            known_codes = codes_of_matches[codes_of_matches > 0]
            return [int(known_codes.min()), int(known_codes.max())] if len(known_codes) else []

        leaf_codes = self.index.statistics.leaf_codes(column)
        lowest, highest = count_kernels.known_code_range(
            codes, self.bitmap, self.index.columns.leaf_words, leaf_codes.lowest, leaf_codes.highest
        )
        return [int(lowest), int(highest)] if highest > 0 else []


def _count_codes(bitmap: Words, codes: NDArray[Any], code_count: int) -> Ints:
    """Return for each of `code_count` codes how many of some records have it; two threads count them."""
    counts_by_half = np.zeros((2, code_count), np.int64)

    def count_range(start: int, end: int) -> None:
        half = 0 if start == 0 else 1
        words = bitmap[start // BITS_PER_WORD : end // BITS_PER_WORD]
        count_kernels.count_codes(words, codes[start:end], counts_by_half[half])

    run_in_halves(BITS_PER_WORD * len(bitmap), count_range, BITS_PER_WORD * (len(bitmap) // 2))
    return np.asarray(counts_by_half.sum(axis=0))


def _facet_planes() -> list[str]:
    """Return the keys of the planes whose records are counted."""
    flag_planes = [flag_plane(flag, value) for flag in FLAGS for value in (True, False)]
    ethical_planes = [ethical_plane(count) for count in range(1, len(ETHICAL) + 1)]
    return [*flag_planes, *ethical_planes, PUBLIC_PLANE, _KNOWN_CITATIONS]


_KNOWN_CITATIONS: Final = at_least_plane("citations", 1)


def _add_flags(counter: FacetCounter, plane_counts: dict[str, int], match_count: int) -> None:
    """Add how many of the matches have each flag true, false and not known."""
    for flag in FLAGS:
        true_count = plane_counts[flag_plane(flag, True)]
        false_count = plane_counts[flag_plane(flag, False)]
        unknown_count = match_count - true_count - false_count
        counter.add_flag(flag, FlagCounts(true_count, false_count, unknown_count))


def _add_visibility(counter: FacetCounter, plane_counts: dict[str, int], match_count: int) -> None:
    """Add how many of the matches are public and private, leaving out a visibility that none of them has."""
    public_count = plane_counts[PUBLIC_PLANE]
    private_count = match_count - public_count
    if public_count:
        counter.add_text("visibility", "public", public_count)
    if private_count:
        counter.add_text("visibility", "private", private_count)


def _add_ethical_range(counter: FacetCounter, plane_counts: dict[str, int], match_count: int) -> None:
    """Add the range of the ethical score among the matches."""
    # Element n says how many matches meet at least n ethical criteria. The numbers fall from match_count to 0.
    counts = [match_count, *(plane_counts[ethical_plane(count)] for count in range(1, len(ETHICAL) + 1))]
    fewest_met = sum(count == match_count for count in counts) - 1
    most_met = sum(count > 0 for count in counts) - 1
    counter.add_range("ethical_score", fewest_met / len(ETHICAL), most_met / len(ETHICAL))


def _add_texts(counter: FacetCounter, matches: _Matches) -> None:
    """Add the words of the matches, such as the domains, and their file types, each spelling with its count."""
    columns = matches.index.columns
    for column in FACET_WORDS:
        word_lists = columns.words[column]
        counts = matches.count_codes(column, word_lists.codes, len(word_lists.pool))
        if matches.are_few:
            for code in _known_codes(counts):
                counter.add_words(column, decode_words(word_lists.pool[code]), int(counts[code]))
            continue

        # The distinct word lists of a large catalog are many, their spellings are few.
        spellings = matches.index.statistics.spellings(column)
        spelling_counts = spellings.count(counts)
        for index in np.flatnonzero(spelling_counts).tolist():
            counter.add_text(column, spellings.texts[index], int(spelling_counts[index]))

    file_types = columns.texts["file_type"]
    counts = matches.count_codes("file_type", file_types.codes, len(file_types.pool))
    for code in _known_codes(counts):
        counter.add_text("file_type", file_types.pool[code], int(counts[code]))


def _add_years(counter: FacetCounter, matches: _Matches) -> None:
    """Add how many of the matches are of each year, and the range of the years."""
    years = matches.index.columns.numbers["year"]
    counts = matches.count_codes("year", years.codes, len(years.values))
    known_codes = _known_codes(counts)
    for code in known_codes:
        counter.add_year(int(years.values[code]), int(counts[code]))

    if known_codes:
        counter.add_range("year", float(years.values[known_codes[0]]), float(years.values[known_codes[-1]]))


def _add_number_ranges(counter: FacetCounter, matches: _Matches, plane_counts: dict[str, int]) -> None:
    """Add the ranges of the other numbers and of the popularity score, which depends on the citations only.

    Numbers are stored as codes, which are in the order of the numbers. So the lowest and the highest code that occur
    give the range.
    """
    index = matches.index
    for column in NUMBERS:
        if column == "year":
            continue

        number = index.columns.numbers[column]
        known_codes = matches.known_code_range(column)
        for code in known_codes:
            counter.add_range(column, float(number.values[code]), float(number.values[code]))

        if column == "citations":
            # Records without citations have a popularity score, too, that of code 0.
            has_unknown = plane_counts[_KNOWN_CITATIONS] < matches.count
            for code in [*known_codes, 0] if has_unknown else known_codes:
                score = float(index.columns.tables.citations[code])
                counter.add_range("popularity_score", score, score)


def _add_technical_range(counter: FacetCounter, matches: _Matches) -> None:
    """Add the range of the technical score among the matches."""
    index = matches.index
    leaf_minima = index.columns.criteria.lower[TECHNICAL_SCORE]
    lowest, highest = count_kernels.technical_score_range(index.kernel_columns, matches.bitmap, leaf_minima)
    counter.add_range("technical_score", float(lowest), float(highest))


def _known_codes(counts: Ints) -> list[int]:
    """Return the codes that occur, in ascending order and without code 0, which means "not known"."""
    codes: list[int] = (np.flatnonzero(counts[1:]) + 1).tolist()
    return codes
