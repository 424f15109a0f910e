"""Facets: the values, flags and number ranges among the records that match a query."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeAlias

import numpy as np

from touchstone.core.attributes import FLAGS, NUMBERS
from touchstone.core.vocabulary import comparison_key
from touchstone.ranking.array_types import Ints
from touchstone.ranking.columns.segment import Segment
from touchstone.ranking.criteria import COMPOSITES

FACET_WORDS: Final = ("domain", "task", "license", "language", "source", "trainable")
VALUE_FACETS: Final = ("domain", "task", "year", "file_type", "visibility", "license", "language", "source")
RANGE_FACETS: Final = (*NUMBERS, *COMPOSITES)
_TEXT_FACETS: Final = (*FACET_WORDS, "file_type", "visibility")

ValueCounts: TypeAlias = tuple[tuple[str | int, int], ...]
SpellingCounts: TypeAlias = dict[str, int]


class FlagCounts(NamedTuple):
    """The numbers of records where a flag is true, false and unknown."""

    true: int
    false: int
    unknown: int


class ValueRange(NamedTuple):
    """The smallest and the largest value."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Facets:
    """The facets of the records that match a query.

    Spellings that differ only in case or accents, and terms that the vocabulary treats as equal, count as one value
    under its most frequent spelling. Among equally frequent spellings, the spelling of the vocabulary is preferred.

    Attributes:
        total_count: the number of records.
        values: the values of each facet with their counts, most frequent first, then in folded order.
        flags: the counts of each flag.
        ranges: the range of each number or composite score, or None if no record has a value.
    """

    total_count: int
    values: Mapping[str, ValueCounts]
    flags: Mapping[str, FlagCounts]
    ranges: Mapping[str, ValueRange | None]


class FacetCounter:
    """Sums up the facets of a query over the parts of a catalog."""

    def __init__(self) -> None:
        self._total_count = 0
        # The count of each spelling, by facet and folded value. The innermost mappings are plain dictionaries, because
        # large catalogs have many values, and creating a Counter takes several times as long.
        self._spelling_counts: dict[str, dict[str, SpellingCounts]] = {name: {} for name in _TEXT_FACETS}
        self._year_counts: Counter[int] = Counter()
        self._flag_counts = {flag: FlagCounts(0, 0, 0) for flag in FLAGS}
        self._ranges: dict[str, ValueRange] = {}

    def add_records(self, count: int) -> None:
        """Add `count` to the total number of records."""
        self._total_count += count

    def add_counts(self, other: "FacetCounter") -> None:
        """Add the counts and ranges of another counter."""
        self.add_records(other._total_count)
        for facet, counts_by_key in other._spelling_counts.items():
            for key, spelling_counts in counts_by_key.items():
                self._add_spellings(facet, key, spelling_counts)

        self._year_counts.update(other._year_counts)
        for flag, flag_counts in other._flag_counts.items():
            self.add_flag(flag, flag_counts)
        for column, (low, high) in other._ranges.items():
            self.add_range(column, low, high)

    def add_text(self, facet: str, spelling: str, count: int) -> None:
        """Add `count` records with a text in the given spelling.

        A blank text counts as unknown, because a filter with a blank value counts as not given.
        """
        if spelling.strip():
            self._add_spellings(facet, comparison_key(facet, spelling), {spelling: count})

    def _add_spellings(self, facet: str, key: str, spelling_counts: SpellingCounts) -> None:
        """Add the counts of spellings of a folded value."""
        sums = self._spelling_counts[facet].setdefault(key, {})
        for spelling, count in spelling_counts.items():
            sums[spelling] = sums.get(spelling, 0) + count

    def add_words(self, facet: str, words: tuple[str, ...], count: int) -> None:
        """Add `count` records with a list of words.

        If the list contains a word in several spellings, only the first one counts.
        """
        first_spellings = {comparison_key(facet, word): word for word in reversed(words)}
        for word in first_spellings.values():
            self.add_text(facet, word, count)

    def add_year(self, year: int, count: int) -> None:
        """Add `count` records with the given year."""
        self._year_counts[year] += count

    def add_flag(self, flag: str, counts: FlagCounts) -> None:
        """Add the numbers of records where a flag is true, false and unknown."""
        sums = self._flag_counts[flag]
        self._flag_counts[flag] = FlagCounts(
            true=sums.true + counts.true,
            false=sums.false + counts.false,
            unknown=sums.unknown + counts.unknown,
        )

    def add_range(self, column: str, low: float, high: float) -> None:
        """Extend the range of a column to include `low` and `high`.

        An empty range, with `low > high`, is ignored.
        """
        if low <= high:
            value_range = self._ranges.get(column, ValueRange(low, high))
            self._ranges[column] = ValueRange(min(value_range.low, low), max(value_range.high, high))

    def _count_trainable(self, value_counts: ValueCounts) -> FlagCounts:
        """Convert the counts of the words `true` and `false` in the column `trainable` to counts of a flag."""
        counts = dict(value_counts)
        true_count, false_count = counts.get("true", 0), counts.get("false", 0)
        return FlagCounts(true_count, false_count, self._total_count - true_count - false_count)

    def facets(self) -> Facets:
        """Return the facets of all added records."""
        value_counts = {name: _count_values(self._spelling_counts[name]) for name in _TEXT_FACETS}
        value_counts["year"] = tuple(sorted(self._year_counts.items(), reverse=True))

        return Facets(
            total_count=self._total_count,
            values={name: value_counts[name] for name in VALUE_FACETS},
            flags={**self._flag_counts, "trainable": self._count_trainable(value_counts["trainable"])},
            ranges={column: self._ranges.get(column) for column in RANGE_FACETS},
        )


def _count_values(counts_by_key: Mapping[str, SpellingCounts]) -> ValueCounts:
    """Return the most frequent spelling of each value and the total count of its spellings, in descending order.

    `counts_by_key` contains the count of each spelling by folded value.
    """
    totals = {key: sum(spelling_counts.values()) for key, spelling_counts in counts_by_key.items()}
    keys_by_frequency = sorted(totals, key=lambda key: (-totals[key], key))
    return tuple((_most_frequent_spelling(key, counts_by_key[key]), totals[key]) for key in keys_by_frequency)


def _most_frequent_spelling(key: str, spellings: SpellingCounts) -> str:
    """Return the most frequent spelling of a value.

    Among equally frequent spellings, prefer `key`, which is the folded value, and then the first in sorted order.
    """
    if len(spellings) == 1:
        return next(iter(spellings))
    return min(spellings, key=lambda spelling: (-spellings[spelling], spelling != key, spelling))


def count_segment(counter: FacetCounter, segment: Segment, positions: Ints) -> None:
    """Add the records of a segment at the given positions to a counter."""
    counter.add_records(len(positions))
    for column in _TEXT_FACETS:
        _count_texts(counter, segment, column, positions)
    _count_years(counter, segment, positions)
    _count_flags(counter, segment, positions)
    _measure_ranges(counter, segment, positions)


def _count_years(counter: FacetCounter, segment: Segment, positions: Ints) -> None:
    """Add the number of records in each year."""
    years = segment.columns["year"][positions]
    known_years, year_counts = np.unique(years[~np.isnan(years)], return_counts=True)
    for year, count in zip(known_years.tolist(), year_counts.tolist(), strict=True):
        counter.add_year(int(year), count)


def _count_flags(counter: FacetCounter, segment: Segment, positions: Ints) -> None:
    """Add the number of records where each flag is true, false and unknown."""
    for flag in FLAGS:
        states = segment.columns[flag][positions] + 1  # 0 means unknown, 1 is false, 2 is true
        unknown_count, false_count, true_count = np.bincount(states, minlength=3).tolist()
        counter.add_flag(flag, FlagCounts(true_count, false_count, unknown_count))


def _measure_ranges(counter: FacetCounter, segment: Segment, positions: Ints) -> None:
    """Add the range of each number and composite score among the records."""
    for column in RANGE_FACETS:
        source = segment.criteria if column in COMPOSITES else segment.columns
        values = source[column][positions]
        known_values = values[~np.isnan(values)]
        if len(known_values):
            counter.add_range(column, float(known_values.min()), float(known_values.max()))


def _count_texts(counter: FacetCounter, segment: Segment, column: str, positions: Ints) -> None:
    """Add the number of records with each distinct text or word list of a column."""
    values = segment.vocabularies[column].values
    counts = np.bincount(segment.columns[column][positions], minlength=1)
    known_codes = np.flatnonzero(counts[1:]) + 1  # code 0 means unknown

    for code in known_codes.tolist():
        if column in FACET_WORDS:
            counter.add_words(column, values[code], int(counts[code]))
        else:
            counter.add_text(column, values[code], int(counts[code]))
