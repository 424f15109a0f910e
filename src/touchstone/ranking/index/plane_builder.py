"""Building the planes of an index, which are bitmaps of the records with a property."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from touchstone.core.attributes import ETHICAL, FLAGS
from touchstone.ranking.array_types import Bools, Ints
from touchstone.ranking.columns.bitmaps import count_bits_by_leaf
from touchstone.ranking.columns.spool import SpooledColumn
from touchstone.ranking.columns.vocabulary import fold_words
from touchstone.ranking.index.index_columns import (
    EMPTY_PLANE_ROW,
    PUBLIC_PLANE,
    NumberColumn,
    Planes,
    at_least_plane,
    ethical_plane,
    flag_plane,
    word_plane,
)
from touchstone.ranking.index.ordered_records import OrderedRecords

# The number of planes for the most frequent words of each column. The other columns of words have no planes.
_WORD_PLANE_COUNTS: Final = {"domain": 32, "task": 16, "license": 8, "language": 8, "source": 8, "trainable": 2}


class _NamedMask(NamedTuple):
    """The key of a plane and a mask of the records that belong to it."""

    key: str
    mask: Bools


class PlaneWriter:
    """Collects the planes of an index at all assurances.

    Properties that no record has share one empty plane.
    """

    def __init__(self, records: OrderedRecords) -> None:
        self._records = records
        self._bitmaps = SpooledColumn(np.uint64, records.collected.folder)
        self._counts: list[NDArray[np.uint16]] = []
        self._add(np.zeros(records.size, np.bool_))  # becomes EMPTY_PLANE_ROW

    def add_declared_planes(self, numbers: Mapping[str, NumberColumn]) -> dict[str, int]:
        """Add all planes at the assurance `declared`, and return their row numbers by key."""
        rows = self.add_assurance_planes(self._records, numbers)
        for column in _WORD_PLANE_COUNTS:
            rows |= {key: self._add(mask) for key, mask in _frequent_word_masks(self._records, column)}
        rows[PUBLIC_PLANE] = self._add(self._records.is_public())
        return rows

    def add_assurance_planes(self, records: OrderedRecords, numbers: Mapping[str, NumberColumn]) -> dict[str, int]:
        """Add the planes that depend on the assurance, and return their row numbers by key.

        Args:
            records: the records at the assurance.
            numbers: the number columns at the assurance, by name.
        """
        rows: dict[str, int] = {}
        for column, number in numbers.items():
            rows |= {key: self._add(mask) for key, mask in _number_masks(column, number)}
        rows |= {key: self._add(mask) for key, mask in _flag_masks(records)}
        rows |= {key: self._add(mask) for key, mask in _ethical_masks(records)}
        return rows

    def _add(self, mask: Bools) -> int:
        """Add the plane for a mask of records, and return its row number."""
        if self._counts and not mask.any():
            return EMPTY_PLANE_ROW

        bitmap = self._records.to_bitmap(mask)
        self._bitmaps.append(bitmap)
        self._counts.append(count_bits_by_leaf(bitmap, self._records.leaf_words))
        return len(self._counts) - 1

    def planes(self, rows: Mapping[str, int]) -> Planes:
        """Return all planes, with the row numbers at the assurance `declared`.

        No more planes can be added.
        """
        bitmaps = self._bitmaps.read().reshape(len(self._counts), -1)
        return Planes(rows, bitmaps, np.stack(self._counts))


def _number_masks(column: str, number: NumberColumn) -> Iterator[_NamedMask]:
    """Yield a mask for each edge of a number column: the records with the code of the edge or a higher one."""
    for edge in number.edges.tolist():
        yield _NamedMask(at_least_plane(column, edge), number.codes >= edge)


def _flag_masks(records: OrderedRecords) -> Iterator[_NamedMask]:
    """Yield two masks for each flag: the records where it is true, and the records where it is false."""
    for flag in FLAGS:
        values = records.column(flag)
        yield _NamedMask(flag_plane(flag, True), values == 1)
        yield _NamedMask(flag_plane(flag, False), values == 0)


def _ethical_masks(records: OrderedRecords) -> Iterator[_NamedMask]:
    """Yield a mask for each n from 1 to 10: the records that meet at least n of the ten ethical criteria."""
    met_counts = np.zeros(records.size, np.uint8)
    for flag in ETHICAL:
        met_counts += records.column(flag) == 1

    for count in range(1, len(ETHICAL) + 1):
        yield _NamedMask(ethical_plane(count), met_counts >= count)


def _frequent_word_masks(records: OrderedRecords, column: str) -> Iterator[_NamedMask]:
    """Yield a mask for each of the most frequent words of a column: the records whose word list contains it.

    Records refer to word lists by codes, so each distinct list is searched only once.
    """
    codes = records.column(column)
    list_counts = np.bincount(codes)
    known_codes = np.flatnonzero(list_counts[1:]) + 1  # code 0 means unknown

    values = records.collected.values[column]
    word_lists = {code: fold_words(column, values[code]) for code in known_codes.tolist()}
    for word in _most_frequent_words(word_lists, list_counts, _WORD_PLANE_COUNTS[column]):
        matching_codes = [code for code, words in word_lists.items() if word in words]
        list_has_word = np.zeros(len(list_counts), np.bool_)
        list_has_word[matching_codes] = True
        yield _NamedMask(word_plane(column, word), list_has_word[codes])


def _most_frequent_words(word_lists: Mapping[int, Sequence[str]], list_counts: Ints, limit: int) -> list[str]:
    """Return up to `limit` words in descending order of the number of records that contain them.

    Args:
        word_lists: each distinct list of words by its code.
        list_counts: the number of records with each code.
        limit: the maximum number of words.
    """
    record_counts: dict[str, int] = {}
    for code, words in word_lists.items():
        for word in set(words):
            record_counts[word] = record_counts.get(word, 0) + int(list_counts[code])

    most_frequent_first = sorted(record_counts, key=lambda word: (-record_counts[word], word))
    return most_frequent_first[:limit]
