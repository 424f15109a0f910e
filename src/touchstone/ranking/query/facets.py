"""Facets: the values, flags and number ranges among the records that match a query."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeAlias

import numpy as np

from touchstone.core.attributes import FLAGS, NUMBERS, WORDS
from touchstone.core.text import fold
from touchstone.ranking.columns.segment import Segment
from touchstone.ranking.column_types import Ints
from touchstone.ranking.criteria import COMPOSITES

VALUE_FACETS: Final = ("domain", "task", "year", "file_type", "visibility")
RANGE_FACETS: Final = (*NUMBERS, *COMPOSITES)
_TEXT_FACETS: Final = tuple(name for name in VALUE_FACETS if name != "year")

ValueCounts: TypeAlias = tuple[tuple[str | int, int], ...]


class FlagCounts(NamedTuple):
    """How many records have a flag that is true, false, and not known."""

    true: int
    false: int
    unknown: int


class ValueRange(NamedTuple):
    """The smallest and the largest value."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Facets:
    """Counts over `total_count` records.

    `values`: by facet the values with their counts, most frequent first, then in folded order. Spellings that differ
    only in case or accents are one value under its most frequent spelling. `flags`: by flag. `ranges`: by number or
    composite score, None where no record has a value.
    """

    total_count: int
    values: Mapping[str, ValueCounts]
    flags: Mapping[str, FlagCounts]
    ranges: Mapping[str, ValueRange | None]


class FacetCounter:
    """Adds up facets over the parts of a catalog."""

    def __init__(self) -> None:
        self._total_count = 0
        self._spellings: dict[str, dict[str, Counter[str]]] = {name: {} for name in _TEXT_FACETS}
        self._years: Counter[int] = Counter()
        self._flags = {flag: FlagCounts(0, 0, 0) for flag in FLAGS}
        self._intervals: dict[str, ValueRange] = {}

    def add_records(self, count: int) -> None:
        """Add to the number of records."""
        self._total_count += count

    def add_text(self, facet: str, spelling: str, count: int) -> None:
        """Add records with a value."""
        self._spellings[facet].setdefault(fold(spelling), Counter())[spelling] += count

    def add_words(self, facet: str, words: tuple[str, ...], count: int) -> None:
        """Add records with a list of words; a word that is listed in two spellings counts once, as the first."""
        first_spellings = {fold(word): word for word in reversed(words)}
        for word in first_spellings.values():
            self.add_text(facet, word, count)

    def add_year(self, year: int, count: int) -> None:
        """Add records of a year."""
        self._years[year] += count

    def add_flag(self, flag: str, counts: FlagCounts) -> None:
        """Add records with each state of a flag."""
        known = self._flags[flag]
        self._flags[flag] = FlagCounts(
            known.true + counts.true, known.false + counts.false, known.unknown + counts.unknown
        )

    def add_interval(self, column: str, low: float, high: float) -> None:
        """Extend the range of a column to values from `low` to `high`; do nothing if `low` is above `high`."""
        if low <= high:
            known = self._intervals.get(column, ValueRange(low, high))
            self._intervals[column] = ValueRange(min(known.low, low), max(known.high, high))

    def facets(self) -> Facets:
        """Return the facets of all records added."""
        values = {name: _count_values(self._spellings[name]) for name in _TEXT_FACETS}
        values["year"] = tuple(sorted(self._years.items(), reverse=True))
        return Facets(
            total_count=self._total_count,
            values={name: values[name] for name in VALUE_FACETS},
            flags=dict(self._flags),
            ranges={column: self._intervals.get(column) for column in RANGE_FACETS},
        )


def _count_values(spellings: Mapping[str, Counter[str]]) -> ValueCounts:
    """Return the most frequent spelling of each value with the count of all its spellings."""
    by_frequency = sorted(spellings.items(), key=lambda entry: (-entry[1].total(), entry[0]))
    return tuple((_most_frequent(counts), counts.total()) for _, counts in by_frequency)


def _most_frequent(spellings: Counter[str]) -> str:
    return min(spellings, key=lambda spelling: (-spellings[spelling], spelling))


def count_segment(counter: FacetCounter, segment: Segment, positions: Ints) -> None:
    """Add the records of a segment at some positions."""
    counter.add_records(len(positions))
    for name in _TEXT_FACETS:
        _count_texts(counter, segment, name, positions)

    years = segment.columns["year"][positions]
    known_years, year_counts = np.unique(years[~np.isnan(years)], return_counts=True)
    for year, count in zip(known_years.tolist(), year_counts.tolist(), strict=True):
        counter.add_year(int(year), count)

    for flag in FLAGS:
        unknown, false, true = np.bincount(segment.columns[flag][positions] + 1, minlength=3).tolist()
        counter.add_flag(flag, FlagCounts(true, false, unknown))

    for column in RANGE_FACETS:
        source = segment.criteria if column in COMPOSITES else segment.columns
        values = source[column][positions]
        known = values[~np.isnan(values)]
        counter.add_interval(column, float(known.min(initial=np.inf)), float(known.max(initial=-np.inf)))


def _count_texts(counter: FacetCounter, segment: Segment, name: str, positions: Ints) -> None:
    values = segment.vocabularies[name].values
    counts = np.bincount(segment.columns[name][positions], minlength=1)
    known_codes = np.flatnonzero(counts[1:]) + 1
    for code in known_codes.tolist():
        if name in WORDS:
            counter.add_words(name, values[code], int(counts[code]))
        else:
            counter.add_text(name, values[code], int(counts[code]))
