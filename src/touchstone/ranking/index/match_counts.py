"""Counting of the records that match a query, by plane and by the codes of columns."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np

from touchstone.ranking.array_types import Ints
from touchstone.ranking.columns.bitmaps import complement, count_bits_by_leaf, list_bits
from touchstone.ranking.index.catalog_index import CatalogIndex
from touchstone.ranking.index.joint_codes import JointColumn, counted_columns
from touchstone.ranking.kernels import count_kernels
from touchstone.ranking.kernels.bits import BITS_PER_WORD, Words
from touchstone.ranking.kernels.count_kernels import SelectedRecords
from touchstone.ranking.kernels.inputs import LeafRange
from touchstone.ranking.kernels.two_threads import run_in_chunks

_MAX_CHUNKS: Final = 16
_MIN_LEAVES_PER_CHUNK: Final = 256  # fewer are processed in less time than it takes to start a second thread
_THREADS: Final = 2


def divide_leaves(leaf_count: int) -> list[LeafRange]:
    """Divide the leaves of an index into ranges of about the same size, which two threads can process."""
    range_count = min(_MAX_CHUNKS, max(1, leaf_count // _MIN_LEAVES_PER_CHUNK))
    boundaries = [leaf_count * number // range_count for number in range(range_count + 1)]
    return [LeafRange(start, end) for start, end in pairwise(boundaries)]


@dataclass(frozen=True, slots=True)
class Matches:
    """The records of an index that match a query, at least one.

    Attributes:
        index: the index that contains all records.
        bitmap: a bitmap of the matching records.
        count: the number of the matching records.
    """

    index: CatalogIndex
    bitmap: Words
    count: int

    @property
    def are_few(self) -> bool:
        """Whether reading the individual matches is faster than computing statistics of whole columns."""
        return self.count <= self.index.columns.leaf_size

    def count_in_planes(self, keys: Sequence[str]) -> dict[str, int]:
        """Return the number of matches in the plane of each key."""
        columns = self.index.columns
        planes = np.array([columns.planes.rows[key] for key in keys], np.int64)
        selected = SelectedRecords(self.bitmap, count_bits_by_leaf(self.bitmap, columns.leaf_words))
        leaf_ranges = divide_leaves(columns.leaf_count)
        counts_by_thread = np.zeros((_THREADS, len(keys)), np.int64)

        def count_chunk(thread: int, chunk: int) -> None:
            kernel_columns, leaves = self.index.kernel_columns, leaf_ranges[chunk]
            count_kernels.count_in_planes(kernel_columns, selected, planes, leaves, counts_by_thread[thread])

        run_in_chunks(len(leaf_ranges), count_chunk)
        return dict(zip(keys, counts_by_thread.sum(axis=0).tolist(), strict=True))

    def count_values(self) -> dict[str, Ints]:
        """Return the number of matches with each code of the `counted_columns`, keyed by column name."""
        if self.are_few:
            return self._count_few_values()

        counts: dict[str, Ints] = {}
        joint_columns = self.index.facet_columns
        for column, joint_counts in zip(joint_columns, self._count_joint_codes(joint_columns), strict=True):
            counts |= column.counts_by_column(joint_counts)
        return counts

    def _count_few_values(self) -> dict[str, Ints]:
        """Return the result of `count_values` by reading the columns at the positions of the matches."""
        positions = list_bits(self.bitmap)
        columns = counted_columns(self.index.columns)
        return {name: np.bincount(codes[positions], minlength=code_count) for name, codes, code_count in columns}

    def _count_joint_codes(self, joint_columns: Sequence[JointColumn]) -> list[Ints]:
        """Return the number of matches with each joint code, for each of the given columns."""
        record_count = self.index.columns.size
        if self.count <= record_count // 2:
            return self._count_codes_in_bitmap(self.bitmap, joint_columns)

        # If more than half of all records match, counting the others is faster.
        counts_of_others = self._count_codes_in_bitmap(complement(self.bitmap, record_count), joint_columns)
        return [column.total_counts - counts for column, counts in zip(joint_columns, counts_of_others, strict=True)]

    def _count_codes_in_bitmap(self, bitmap: Words, joint_columns: Sequence[JointColumn]) -> list[Ints]:
        """Return the number of records in a bitmap with each joint code, for each of the given columns."""
        leaf_words = self.index.columns.leaf_words
        leaf_ranges = divide_leaves(self.index.columns.leaf_count)
        counts_by_thread = [np.zeros((_THREADS, column.joint_code_count), np.int64) for column in joint_columns]

        def count_chunk(thread: int, chunk: int) -> None:
            first_word, end_word = (leaf * leaf_words for leaf in leaf_ranges[chunk])
            words = bitmap[first_word:end_word]
            for column, counts in zip(joint_columns, counts_by_thread, strict=True):
                codes = column.codes[first_word * BITS_PER_WORD : end_word * BITS_PER_WORD]
                count_kernels.count_codes(words, codes, counts[thread])

        run_in_chunks(len(leaf_ranges), count_chunk)
        return [counts.sum(axis=0) for counts in counts_by_thread]

    def known_code_range(self, column: str) -> list[int]:
        """Return the lowest and the highest code of the matches in a number column.

        Code 0, which means unknown, is ignored. The list is empty if no match has a known number.
        """
        codes = self.index.columns.numbers[column].codes
        if self.are_few:
            codes_of_matches = codes[list_bits(self.bitmap)]
            known_codes = codes_of_matches[codes_of_matches > 0]
            if not len(known_codes):
                return []
            return [int(known_codes.min()), int(known_codes.max())]

        leaf_codes = self.index.statistics.leaf_codes(column)
        lowest, highest = count_kernels.known_code_range(
            codes, self.bitmap, self.index.columns.leaf_words, leaf_codes.lowest, leaf_codes.highest
        )
        return [int(lowest), int(highest)] if highest > 0 else []
