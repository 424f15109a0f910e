"""The index of a large catalog: its columns, and what is derived from them when it is first needed."""

from collections.abc import Iterable
from threading import Lock
from typing import Any, Final
from uuid import UUID

import msgspec
import numpy as np
from numpy.typing import NDArray

from touchstone.core.attributes import FLAGS, NUMBERS, WORDS
from touchstone.ranking.columns.bitmaps import read_bits
from touchstone.ranking.columns.segment import INTEGER_COLUMNS, DecodedColumns
from touchstone.ranking.columns.text_pool import TextPool
from touchstone.ranking.column_types import Bools, Floats, Ints
from touchstone.ranking.criteria import COMPOSITES, CRITERION_NAMES
from touchstone.ranking.index.builder import POOLED_COLUMNS
from touchstone.ranking.index.index_columns import PUBLIC_PLANE, IndexColumns, flag_plane
from touchstone.ranking.index.lru_cache import LruCache
from touchstone.ranking.index.query_translator import QueryTranslator
from touchstone.ranking.kernels import score_kernels
from touchstone.ranking.kernels.bits import Words
from touchstone.ranking.kernels.radix_sort import sort_by_key

_CACHED_PERMUTATIONS: Final = 6  # of 4 bytes for each record
_LARGEST_KEY: Final = np.uint32(2**32 - 1)


class CatalogIndex:
    """An index: its columns, the translation of queries, and permutations.

    It never changes; which of its records are still alive is the business of `IndexedPart`.
    """

    def __init__(self, columns: IndexColumns) -> None:
        self.columns = columns
        self.kernel_columns = columns.kernel_columns()
        self.translator = QueryTranslator(columns, self.kernel_columns)
        self._plane_numbers = {key: number for number, key in enumerate(columns.planes.keys)}
        self._permutations: LruCache[tuple[str, bool], NDArray[np.uint32]] = LruCache(_CACHED_PERMUTATIONS)
        self._permutation_lock = Lock()

    def plane(self, key: str) -> Words:
        """Return the bitmap of a plane."""
        bitmap: Words = self.columns.planes.bitmaps[self._plane_numbers[key]]
        return bitmap

    def integers(self, column: str, positions: Any) -> Ints:
        """Return an id or a time at some positions, which may be a slice."""
        return self.columns.integers[column].take(positions)

    def numbers(self, column: str, positions: NDArray[Any]) -> Floats:
        """Return a number at some positions, NaN if not known."""
        number = self.columns.numbers[column]
        return np.asarray(number.values[number.codes[positions]])

    def flags(self, flag: str, positions: NDArray[Any]) -> NDArray[np.int8]:
        """Return a flag at some positions: 1, 0, or -1 if not known."""
        is_true = read_bits(self.plane(flag_plane(flag, True)), positions)
        is_false = read_bits(self.plane(flag_plane(flag, False)), positions)
        return np.where(is_true, 1, np.where(is_false, 0, -1)).astype(np.int8)

    def criterion(self, name: str, positions: NDArray[Any]) -> Floats:
        """Return a criterion at some positions."""
        values = np.empty(len(positions))
        at = np.asarray(positions, np.int64)
        score_kernels.fill_criterion(self.kernel_columns, CRITERION_NAMES.index(name), at, values)
        return values

    def is_public(self, positions: NDArray[Any]) -> Bools:
        """Return whether the records at some positions are public."""
        return read_bits(self.plane(PUBLIC_PLANE), positions)

    def texts(self, column: str, positions: NDArray[Any]) -> list[str | None]:
        """Return a text column at some positions, None if not known."""
        if column == "dataset_name":
            return [*self.columns.names.pool.take(positions)]
        if column == "visibility":
            return ["public" if public else "private" for public in self.is_public(positions).tolist()]
        return self.columns.texts[column].take(positions)

    def permutation(self, column: str, descending: bool) -> NDArray[np.uint32]:
        """Return all positions by a sort column, those without a value last, ties by id.

        Most permutations are made when they are first needed, and a few are kept.
        """
        if column == "id":
            by_id = self.columns.positions_by_id
            return by_id[::-1] if descending else by_id
        if column == "dataset_id" and descending:
            return self.permutation(column, False)[::-1]
        if column == "dataset_name" and not descending:
            return self.columns.names.permutation

        with self._permutation_lock:  # which keeps two threads from making the same one
            permutation = self._permutations.get((column, descending))
            if permutation is None:
                permutation = self._make_permutation(column, descending)
                self._permutations.put((column, descending), permutation)
            return permutation

    def _make_permutation(self, column: str, descending: bool) -> NDArray[np.uint32]:
        if column == "dataset_id":
            uuids = self.columns.dataset_ids
            return np.lexsort((uuids.low, uuids.high)).astype(np.uint32)

        by_id = self.columns.positions_by_id
        codes = self._sort_codes(column)[by_id]
        # Code 0, which stands for no value, wraps round to the largest key.
        keys = codes - np.uint32(1)
        if descending:
            keys = np.where(codes == 0, _LARGEST_KEY, codes.max(initial=0) - codes)
        return sort_by_key(keys, by_id.copy()).positions

    def _sort_codes(self, column: str) -> NDArray[np.uint32]:
        """Return for every record a number that grows with the value of a sort column; 0 if it has no value."""
        columns = self.columns
        if column in FLAGS:
            return (self.flags(column, np.arange(columns.size)) + 1).astype(np.uint32)
        if column in NUMBERS:
            return np.asarray(columns.numbers[column].codes.astype(np.uint32))
        if column == "dataset_name":
            is_start = np.unpackbits(columns.names.group_starts.view(np.uint8), bitorder="little")
            return np.asarray(np.cumsum(is_start, dtype=np.uint32)[columns.names.places])
        if column in columns.texts:
            text = columns.texts[column]
            return np.asarray(text.ranks[text.codes])

        if column in COMPOSITES:
            _, ranks = np.unique(self.criterion(column, np.arange(columns.size)), return_inverse=True)
        else:
            _, ranks = np.unique(self.integers(column, slice(None)), return_inverse=True)
        return (ranks + 1).astype(np.uint32)

    def decode(self, positions: Ints) -> DecodedColumns:
        """Return the records at some positions for another layout."""
        index = self.columns
        columns: dict[str, NDArray[Any]] = {
            **{name: self.numbers(name, positions) for name in NUMBERS},
            **{name: self.flags(name, positions) for name in FLAGS},
            **{name: self.integers(name, positions) for name in INTEGER_COLUMNS},
            **{name: index.texts[name].codes[positions] for name in POOLED_COLUMNS},
            **{name: index.words[name].codes[positions] for name in WORDS},
            "owner": index.owner.owners.codes[positions],
            "uuid_high": index.dataset_ids.high[positions],
            "uuid_low": index.dataset_ids.low[positions],
            "dataset_name": positions + 1,
            "visibility": self.is_public(positions).astype(np.int64) + 1,
        }
        values: dict[str, list[Any]] = {
            **{name: [None, *_known_texts(index.texts[name].pool)] for name in POOLED_COLUMNS},
            **{name: [None, *map(decode_words, _known_texts(index.words[name].pool))] for name in WORDS},
            "owner": [None, *map(UUID, _known_texts(index.owner.owners.pool))],
            "dataset_name": [None, *index.names.pool],
            "visibility": [None, "private", "public"],
        }
        return DecodedColumns(columns, values)


def _known_texts(pool: TextPool) -> Iterable[str]:
    """Return the texts of a pool without the first, which stands for "not known"."""
    return list(pool)[1:]


def decode_words(encoded: str) -> tuple[str, ...]:
    """Return a stored word list."""
    return tuple(msgspec.json.decode(encoded))
