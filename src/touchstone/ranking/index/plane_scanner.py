"""Planes for predicates that the index has no plane for: made by one scan and cached for the next queries."""

from collections.abc import Callable
from typing import Final, NamedTuple
from uuid import UUID

import msgspec
import numpy as np
from numpy.typing import NDArray

from touchstone.core.text import fold
from touchstone.ranking.column_types import Bools
from touchstone.ranking.columns.bitmaps import count_bits_by_leaf, pack_bits, set_bits
from touchstone.ranking.columns.text_pool import TextPool
from touchstone.ranking.index.index_columns import PUBLIC_PLANE, CodedColumn, IndexColumns, TextColumn
from touchstone.ranking.index.lru_cache import LruCache
from touchstone.ranking.kernels import count_kernels
from touchstone.ranking.kernels.bits import Words
from touchstone.ranking.kernels.inputs import KernelColumns
from touchstone.ranking.query.predicate_evaluation import range_bounds
from touchstone.ranking.query.predicates import AnyWord, Contains, OneOf, Predicate, Range, Visible

_CACHED_PLANES: Final = 64


class ScannedPlane(NamedTuple):
    """The bitmap of the records that satisfy a predicate, and the number of its bits in each leaf."""

    bitmap: Words
    counts: NDArray[np.uint16]


class PlaneScanner:
    """Scans an index for the records that satisfy a predicate; safe to use from several threads."""

    def __init__(self, columns: IndexColumns, kernel_columns: KernelColumns) -> None:
        self._columns = columns
        self._kernel_columns = kernel_columns
        self._planes: LruCache[Predicate, ScannedPlane] = LruCache(_CACHED_PLANES)
        self._decoded_texts: dict[str, list[str]] = {}

    def scan(self, predicate: Predicate) -> ScannedPlane:
        """Return the plane of a predicate, scanning the index unless the plane is still cached."""
        plane = self._planes.get(predicate)
        if plane is None:
            bitmap = self._scan_bitmap(predicate)
            plane = ScannedPlane(bitmap, count_bits_by_leaf(bitmap, self._columns.leaf_words))
            self._planes.put(predicate, plane)
        return plane

    def private_positions(self, viewer: UUID | None) -> NDArray[np.uint32]:
        """Return the positions of the private records that belong to a viewer; None is nobody, who has none."""
        no_positions = np.empty(0, np.uint32)
        if viewer is None:
            return no_positions

        owner_column = self._columns.owner
        owners = self._decode_texts("owner", owner_column.owners.pool)
        if viewer.hex not in owners:
            return no_positions

        # The private records are sorted by owner, so those of the viewer lie together.
        viewer_code = owners.index(viewer.hex)
        start, end = np.searchsorted(owner_column.private_codes, [viewer_code, viewer_code + 1])
        return owner_column.private_positions[start:end]

    def _scan_bitmap(self, predicate: Predicate) -> Words:
        """Return a bitmap of the records that satisfy a predicate."""
        if isinstance(predicate, Visible):
            planes = self._columns.planes
            bitmap: Words = planes.bitmaps[planes.keys.index(PUBLIC_PLANE)].copy()
            set_bits(bitmap, self.private_positions(predicate.viewer))
            return bitmap

        if isinstance(predicate, Range) and predicate.column == "technical_score":
            lowest, highest = range_bounds(predicate)
            bitmap = np.zeros(self._columns.word_count, np.uint64)
            count_kernels.select_technical_scores(self._kernel_columns, lowest, highest, bitmap)
            return bitmap

        return pack_bits(self._scan_column(predicate), self._columns.word_count)

    def _scan_column(self, predicate: Predicate) -> Bools:
        """Return for each record whether its id, time or text satisfies a predicate.

        Names are tested one by one. The texts of other columns are tested once for each distinct text.
        """
        if isinstance(predicate, Range):
            lowest, highest = range_bounds(predicate)
            integers = self._columns.integers[predicate.column].take(slice(None))
            return np.asarray((integers >= lowest) & (integers <= highest))

        is_match = _text_condition(predicate)
        column = getattr(predicate, "column")  # noqa: B009 (every predicate on texts has one)
        if column == "dataset_name":
            names = self._decode_texts("dataset_name", self._columns.names.pool)
            return np.fromiter((is_match(name) for name in names), np.bool_, len(names))

        coded_column = self._coded_column(column)
        texts = self._decode_texts(column, coded_column.pool)
        matches_by_code = np.array([False, *(is_match(text) for text in texts[1:])], np.bool_)  # 0 is "not known"
        return np.asarray(matches_by_code[coded_column.codes])

    def _coded_column(self, column: str) -> CodedColumn | TextColumn:
        """Return the column of word lists or texts with this name."""
        if column in self._columns.words:
            return self._columns.words[column]
        return self._columns.texts[column]

    def _decode_texts(self, column: str, pool: TextPool) -> list[str]:
        """Return the texts of a column's pool, which are decoded once, when they are first needed."""
        texts = self._decoded_texts.get(column)
        if texts is None:
            texts = self._decoded_texts[column] = list(pool)
        return texts


def _text_condition(predicate: Predicate) -> Callable[[str], bool]:
    """Return a function that tells whether a text, as the index stores it, satisfies a predicate.

    Word lists are stored as JSON. Stored texts are not folded yet. Raises TypeError for predicates on other values.
    """
    match predicate:
        case AnyWord(words=words):
            folded_words = {fold(word) for word in words}
            return lambda text: not folded_words.isdisjoint(map(fold, msgspec.json.decode(text)))
        case Contains(text=substring):
            folded_substring = fold(substring)
            return lambda text: folded_substring in fold(text)
        case OneOf(values=values):
            folded_values = {fold(value) for value in values}
            return lambda text: fold(text) in folded_values
    raise TypeError(f"{predicate} does not compare texts")
