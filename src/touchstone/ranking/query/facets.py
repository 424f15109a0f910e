"""What the records that match look like: counts of values, three-valued flags, and the ranges of numbers."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from touchstone.core.attributes import FLAGS, NUMBERS, WORDS
from touchstone.core.text import fold
from touchstone.ranking.columns.segment import Segment
from touchstone.ranking.criteria import COMPOSITES, Ints

VALUE_FACETS: Final = ("domain", "task", "year", "file_type", "visibility")
RANGE_FACETS: Final = (*NUMBERS, *COMPOSITES)


class Three(NamedTuple):
    """How many records have a flag true, false, and not known."""

    true: int
    false: int
    unknown: int


class Interval(NamedTuple):
    """The smallest and the largest value."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Facets:
    """Counts over `total_count` records.

    `values`: by facet the values with their counts, most frequent first, then in folded order; spellings that differ
    only in case or accents are one value under its most frequent spelling. `flags`: by flag. `ranges`: by number or
    composite score, None where no record has a value.
    """

    total_count: int
    values: Mapping[str, tuple[tuple[str | int, int], ...]]
    flags: Mapping[str, Three]
    ranges: Mapping[str, Interval | None]


class Counts:
    """Facets in the making, which several parts of a catalog add to.

    `spellings`: by facet and folded value how often each spelling occurs; `years`; `flags`: by flag the counts of
    unknown, false, true; `intervals`: the extremes of numbers and composite scores so far.
    """

    def __init__(self) -> None:
        self.total_count = 0
        self._spellings: dict[str, dict[str, Counter[str]]] = {name: {} for name in VALUE_FACETS if name != "year"}
        self._years: Counter[int] = Counter()
        self._flags = {flag: np.zeros(3, np.int64) for flag in FLAGS}
        self._intervals: dict[str, Interval] = {}

    def spell(self, facet: str, spelling: str, count: int) -> None:
        """So many more records with a value."""
        self._spellings[facet].setdefault(fold(spelling), Counter())[spelling] += count

    def spell_words(self, facet: str, words: tuple[str, ...], count: int) -> None:
        """So many more records with a list of words; one that spells a word twice counts once, as its first."""
        once = {fold(word): word for word in reversed(words)}
        for word in once.values():
            self.spell(facet, word, count)

    def year(self, year: int, count: int) -> None:
        """So many more records of a year."""
        self._years[year] += count

    def flag(self, flag: str, unknown: int, false: int, true: int) -> None:
        """So many more records with each state of a flag."""
        self._flags[flag] += (unknown, false, true)

    def extend(self, column: str, low: float, high: float) -> None:
        """Values from low to high occur; nothing when there are none (low above high)."""
        if low <= high:
            known = self._intervals.get(column, Interval(low, high))
            self._intervals[column] = Interval(min(known.low, low), max(known.high, high))

    def facets(self) -> Facets:
        """The facets of all that was added."""
        values: dict[str, tuple[tuple[str | int, int], ...]] = {
            name: _spelled(self._spellings[name]) for name in VALUE_FACETS if name != "year"
        }
        values["year"] = tuple(sorted(self._years.items(), reverse=True))
        return Facets(
            total_count=self.total_count,
            values={name: values[name] for name in VALUE_FACETS},
            flags={flag: Three(true, false, unknown) for flag, (unknown, false, true) in self._listed_flags()},
            ranges={column: self._intervals.get(column) for column in RANGE_FACETS},
        )

    def _listed_flags(self) -> list[tuple[str, list[int]]]:
        return [(flag, counts.tolist()) for flag, counts in self._flags.items()]


def _spelled(spellings: Mapping[str, Counter[str]]) -> tuple[tuple[str | int, int], ...]:
    ranked = sorted(spellings.items(), key=lambda entry: (-entry[1].total(), entry[0]))
    return tuple((_most_frequent(counts), counts.total()) for _, counts in ranked)


def _most_frequent(spellings: Counter[str]) -> str:
    return min(spellings, key=lambda spelling: (-spellings[spelling], spelling))


def count_segment(counts: Counts, segment: Segment, positions: Ints) -> None:
    """Add the records of a segment at these positions."""
    counts.total_count += len(positions)
    for name in VALUE_FACETS:
        if name != "year":
            _count_values(counts, segment, name, positions)
    years = segment.columns["year"][positions]
    for year, count in zip(*np.unique(years[~np.isnan(years)], return_counts=True), strict=True):
        counts.year(int(year), int(count))
    for flag in FLAGS:
        counts.flag(flag, *np.bincount(segment.columns[flag][positions] + 1, minlength=3).tolist())
    for column in RANGE_FACETS:
        values = (segment.criteria if column in COMPOSITES else segment.columns)[column][positions]
        known = values[~np.isnan(values)]
        counts.extend(column, float(known.min(initial=np.inf)), float(known.max(initial=-np.inf)))


def _count_values(counts: Counts, segment: Segment, name: str, positions: Ints) -> None:
    values = segment.vocabularies[name].values
    found = np.bincount(segment.columns[name][positions], minlength=1)
    for code in (np.flatnonzero(found[1:]) + 1).tolist():
        if name in WORDS:
            counts.spell_words(name, values[code], int(found[code]))
        else:
            counts.spell(name, values[code], int(found[code]))
