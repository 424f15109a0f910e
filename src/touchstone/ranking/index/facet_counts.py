"""Facets of the records of an index that match a query.

Flags and ethical scores are counted with planes, which are bitmaps of the records with a property. Other columns are
stored as codes, and the matches with each code are counted.
"""

from collections.abc import Mapping
from typing import Final

import numpy as np

from touchstone.core.attributes import ETHICAL, FLAGS, NUMBERS
from touchstone.ranking.array_types import Ints
from touchstone.ranking.index.catalog_index import CatalogIndex
from touchstone.ranking.index.column_statistics import LeafCodes
from touchstone.ranking.index.index_columns import PUBLIC_PLANE, at_least_plane, decode_words, ethical_plane, flag_plane
from touchstone.ranking.index.joint_codes import JOINT_CODE_TYPE, counted_columns
from touchstone.ranking.index.match_counts import Matches
from touchstone.ranking.kernels import count_kernels
from touchstone.ranking.kernels.bits import Words
from touchstone.ranking.kernels.constants import TECHNICAL_SCORE
from touchstone.ranking.query.facets import FACET_WORDS, FacetCounter, FlagCounts


def count_index(index: CatalogIndex, bitmap: Words, match_count: int) -> FacetCounter:
    """Count the facets of the records that match a query, given a bitmap of these records and their number."""
    counter = FacetCounter()
    counter.add_records(match_count)
    if match_count == 0:
        return counter

    matches = Matches(index, bitmap, match_count)
    plane_counts = matches.count_in_planes(_counted_planes())
    value_counts = matches.count_values()
    _add_flags(counter, plane_counts, match_count)
    _add_visibility(counter, plane_counts, match_count)
    _add_ethical_range(counter, plane_counts, match_count)
    _add_texts(counter, matches, value_counts)
    _add_years(counter, index, value_counts["year"])
    _add_number_ranges(counter, matches, plane_counts)
    _add_technical_range(counter, matches)
    return counter


def warm_up_facets(index: CatalogIndex) -> None:
    """Compile the kernels that count codes before the first query, by running them over one leaf."""
    columns = index.columns
    no_matches = np.zeros(columns.leaf_words, np.uint64)
    leaf_codes = LeafCodes(np.ones(1, np.int64), np.ones(1, np.int64))
    for number in columns.numbers.values():
        count_kernels.known_code_range(number.codes, no_matches, columns.leaf_words, *leaf_codes)

    # The kernel is compiled for each type of code. Joint codes are computed only on first use, so use zeros here.
    joint_codes = np.zeros(columns.leaf_size, JOINT_CODE_TYPE)
    for codes in (joint_codes, *(column.codes for column in counted_columns(columns))):
        count_kernels.count_codes(no_matches, codes, np.zeros(1, np.int64))


def _counted_planes() -> list[str]:
    """Return the keys of the planes that facets count matches in."""
    flag_planes = [flag_plane(flag, value) for flag in FLAGS for value in (True, False)]
    ethical_planes = [ethical_plane(count) for count in range(1, len(ETHICAL) + 1)]
    return [*flag_planes, *ethical_planes, PUBLIC_PLANE, _KNOWN_CITATIONS]


_KNOWN_CITATIONS: Final = at_least_plane("citations", 1)


def _add_flags(counter: FacetCounter, plane_counts: dict[str, int], match_count: int) -> None:
    """Add the number of matches where each flag is true, false and unknown."""
    for flag in FLAGS:
        true_count = plane_counts[flag_plane(flag, True)]
        false_count = plane_counts[flag_plane(flag, False)]
        unknown_count = match_count - true_count - false_count
        counter.add_flag(flag, FlagCounts(true_count, false_count, unknown_count))


def _add_visibility(counter: FacetCounter, plane_counts: dict[str, int], match_count: int) -> None:
    """Add the numbers of public and private matches, omitting a number of zero."""
    public_count = plane_counts[PUBLIC_PLANE]
    private_count = match_count - public_count
    if public_count:
        counter.add_text("visibility", "public", public_count)
    if private_count:
        counter.add_text("visibility", "private", private_count)


def _add_ethical_range(counter: FacetCounter, plane_counts: dict[str, int], match_count: int) -> None:
    """Add the range of the ethical score among the matches."""
    # Element n is the number of matches that meet at least n ethical criteria, so the counts are descending.
    counts = [match_count, *(plane_counts[ethical_plane(count)] for count in range(1, len(ETHICAL) + 1))]
    fewest_met = sum(count == match_count for count in counts) - 1
    most_met = sum(count > 0 for count in counts) - 1
    counter.add_range("ethical_score", fewest_met / len(ETHICAL), most_met / len(ETHICAL))


def _add_texts(counter: FacetCounter, matches: Matches, value_counts: Mapping[str, Ints]) -> None:
    """Add the number of matches with each word, such as a domain, and with each file type, by spelling."""
    columns = matches.index.columns
    for column in FACET_WORDS:
        word_lists, counts = columns.words[column], value_counts[column]
        if matches.are_few:
            for code in _known_codes(counts):
                counter.add_words(column, decode_words(word_lists.pool[code]), int(counts[code]))
            continue

        # A large catalog has many distinct word lists but few distinct spellings.
        spellings = matches.index.statistics.spellings(column)
        spelling_counts = spellings.count(counts)
        for index in np.flatnonzero(spelling_counts).tolist():
            counter.add_text(column, spellings.texts[index], int(spelling_counts[index]))

    file_types, counts = columns.texts["file_type"], value_counts["file_type"]
    for code in _known_codes(counts):
        counter.add_text("file_type", file_types.pool[code], int(counts[code]))


def _add_years(counter: FacetCounter, index: CatalogIndex, counts: Ints) -> None:
    """Add the number of matches in each year and the range of the years, given the counts by code."""
    years = index.columns.numbers["year"]
    known_codes = _known_codes(counts)
    for code in known_codes:
        counter.add_year(int(years.values[code]), int(counts[code]))

    if known_codes:
        counter.add_range("year", float(years.values[known_codes[0]]), float(years.values[known_codes[-1]]))


def _add_number_ranges(counter: FacetCounter, matches: Matches, plane_counts: dict[str, int]) -> None:
    """Add the ranges of all numbers except the year, and of the popularity score.

    Codes are in the order of the numbers, so the range of the codes determines the range of the numbers. The popularity
    score depends on the citations.
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
            # Records with unknown citations have a popularity score as well: the score of code 0.
            has_unknown = plane_counts[_KNOWN_CITATIONS] < matches.count
            codes = [*known_codes, 0] if has_unknown else known_codes
            for code in codes:
                score = float(index.columns.tables.citations[code])
                counter.add_range("popularity_score", score, score)


def _add_technical_range(counter: FacetCounter, matches: Matches) -> None:
    """Add the range of the technical score among the matches."""
    index = matches.index
    leaf_minima = index.columns.criteria.lower[TECHNICAL_SCORE]
    lowest, highest = count_kernels.technical_score_range(index.kernel_columns, matches.bitmap, leaf_minima)
    counter.add_range("technical_score", float(lowest), float(highest))


def _known_codes(counts: Ints) -> list[int]:
    """Return the codes that occur, in ascending order and without code 0, which means unknown."""
    codes: list[int] = (np.flatnonzero(counts[1:]) + 1).tolist()
    return codes
