"""Planes of predicates without a plane in the index, computed by a scan of a column and cached."""

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Final, NamedTuple
from uuid import UUID

import msgspec
import numpy as np
from numpy.typing import NDArray

from touchstone.core.evidence import Assurance
from touchstone.core.text import fold
from touchstone.core.vocabulary import comparison_key
from touchstone.ranking.array_types import Bools
from touchstone.ranking.columns.bitmaps import count_bits_by_leaf, pack_bits, set_bits
from touchstone.ranking.columns.evidence_columns import ASSURED_COLUMNS
from touchstone.ranking.columns.text_pool import TextPool
from touchstone.ranking.index.index_columns import PUBLIC_PLANE, CodedColumn, IndexColumns
from touchstone.ranking.index.lru_cache import LruCache
from touchstone.ranking.index.text_columns import TextColumn
from touchstone.ranking.index.text_search import AccentedTexts, TextSearch
from touchstone.ranking.kernels import count_kernels
from touchstone.ranking.kernels.bits import Words
from touchstone.ranking.kernels.inputs import KernelColumns
from touchstone.ranking.query.predicate_evaluation import range_bounds
from touchstone.ranking.query.predicates import (
    AnyWord,
    Contains,
    FlagEquals,
    FullText,
    OneOf,
    Predicate,
    Range,
    Visible,
)
from touchstone.ranking.text.query_words import QueryWord, parse_query

_CACHED_PLANES: Final = 64


class ScannedPlane(NamedTuple):
    """The bitmap of the records that satisfy a predicate, and the number of its bits in each leaf."""

    bitmap: Words
    counts: NDArray[np.uint16]


class ScanCache:
    """Cached data shared by the scanners of an index at all assurances.

    Attributes:
        planes: the most recently used planes, by assurance and predicate.
        texts: the decoded distinct texts of columns with predicates on whole values, by column.
        searches: the substring searches, by column.
    """

    def __init__(self) -> None:
        self.planes: LruCache[tuple[Assurance, Predicate], ScannedPlane] = LruCache(_CACHED_PLANES)
        self.texts: dict[str, list[str]] = {}
        self.searches: dict[str, TextSearch] = {}


class PlaneScanner:
    """Scans an index for the records that satisfy a predicate.

    It is safe to use from several threads.
    """

    def __init__(self, columns: IndexColumns, kernel_columns: KernelColumns, cache: ScanCache) -> None:
        self._columns = columns
        self._kernel_columns = kernel_columns
        self._cache = cache

    def scan(self, predicate: Predicate) -> ScannedPlane:
        """Return the plane of a predicate, from the cache or by a scan of the index."""
        key = self._cache_key(predicate)
        plane = self._cache.planes.get(key)
        if plane is None:
            bitmap = self._scan_bitmap(predicate)
            plane = ScannedPlane(bitmap, count_bits_by_leaf(bitmap, self._columns.leaf_words))
            self._cache.planes.put(key, plane)
        return plane

    def is_cached(self, predicate: Predicate) -> bool:
        """Return whether the plane of a predicate is cached."""
        return self._cache.planes.get(self._cache_key(predicate)) is not None

    def _cache_key(self, predicate: Predicate) -> tuple[Assurance, Predicate]:
        """Return the cache key of a predicate.

        Only ranges of some columns depend on the assurance.
        """
        is_assured = isinstance(predicate, Range) and predicate.column in ASSURED_COLUMNS
        return (self._columns.assurance if is_assured else Assurance.DECLARED, predicate)

    def private_positions(self, viewer: UUID | None) -> NDArray[np.uint32]:
        """Return the positions of a viewer's private records, or an empty array for anonymous viewers (None)."""
        no_positions = np.empty(0, np.uint32)
        if viewer is None:
            return no_positions

        owner_column = self._columns.owner
        owners = self._decode_texts("owner", owner_column.owners.pool)
        if viewer.hex not in owners:
            return no_positions

        # The private records are sorted by owner, so the records of a viewer are contiguous.
        viewer_code = owners.index(viewer.hex)
        start, end = np.searchsorted(owner_column.private_codes, [viewer_code, viewer_code + 1])
        return owner_column.private_positions[start:end]

    def _scan_bitmap(self, predicate: Predicate) -> Words:
        """Return a bitmap of the records that satisfy a predicate by reading a whole column."""
        match predicate:
            case Visible(viewer=viewer):
                return self._scan_visible(viewer)
            case Range(column="technical_score"):
                return self._scan_technical_scores(predicate)
            case Range():
                mask = self._scan_integers(predicate)
            case FullText(text=text):
                return self._scan_words(parse_query(text))
            case Contains():
                mask = self._search_texts(predicate)
            case AnyWord() | OneOf():
                mask = self._scan_texts(predicate)
            case FlagEquals():
                raise TypeError("flags need no scan because each of their values has a plane")
        return pack_bits(mask, self._columns.word_count)

    def _scan_visible(self, viewer: UUID | None) -> Words:
        """Return a bitmap of the records that a viewer may see: public records and the viewer's private records."""
        planes = self._columns.planes
        public_plane = planes.bitmaps[planes.rows[PUBLIC_PLANE]]
        bitmap: Words = public_plane.copy()
        set_bits(bitmap, self.private_positions(viewer))
        return bitmap

    def _scan_words(self, query_words: Sequence[QueryWord]) -> Words:
        """Return a bitmap of the records that contain all of the query's words, at least one."""
        if len(query_words) == 1:
            return self._columns.searchable_words().records_with_word(query_words[0], self._columns.word_count)
        return reduce(np.bitwise_and, [self.records_with_word(query_word) for query_word in query_words])

    def records_with_word(self, query_word: QueryWord) -> Words:
        """Return a bitmap of the records that contain a word of a query."""
        return self.scan(FullText(query_word.text)).bitmap

    def _scan_technical_scores(self, predicate: Range) -> Words:
        """Return a bitmap of the records whose technical score is in a range."""
        lowest, highest = range_bounds(predicate)
        bitmap = np.zeros(self._columns.word_count, np.uint64)
        count_kernels.select_technical_scores(self._kernel_columns, lowest, highest, bitmap)
        return bitmap

    def _scan_integers(self, predicate: Range) -> Bools:
        """Return a mask of the records with an id or time in a range."""
        lowest, highest = range_bounds(predicate)
        integers = self._columns.integers[predicate.column].take(slice(None))
        return np.asarray((integers >= lowest) & (integers <= highest))

    def _search_texts(self, predicate: Contains) -> Bools:
        """Return a mask of the records with a text that contains a substring.

        Each distinct text is searched once.
        """
        column = predicate.column
        search = self._cache.searches.get(column)
        if search is None:
            search = self._cache.searches[column] = self._text_search(column)

        contains = search.containing(fold(predicate.text))
        if column == "dataset_name":
            return contains

        contains[0] = False  # code 0 means unknown
        return np.asarray(contains[self._columns.texts[column].codes])

    def _text_search(self, column: str) -> TextSearch:
        """Create a search in the names of all records, or in the distinct texts of another column."""
        if column != "dataset_name":
            return TextSearch(self._columns.texts[column].pool)

        names = self._columns.names
        return TextSearch(names.pool, AccentedTexts(names.accented_positions, names.accented_pool))

    def _scan_texts(self, predicate: AnyWord | OneOf) -> Bools:
        """Return a mask of the records with a text or word list that satisfies a predicate.

        Each distinct text or word list is tested once.
        """
        is_match = _text_condition(predicate)
        coded_column = self._coded_column(predicate.column)
        known_texts = self._decode_texts(predicate.column, coded_column.pool)[1:]  # code 0 means unknown
        matches_by_code = np.array([False, *map(is_match, known_texts)], np.bool_)
        return np.asarray(matches_by_code[coded_column.codes])

    def _coded_column(self, column: str) -> CodedColumn | TextColumn[TextPool]:
        """Return the column of word lists or texts with the given name."""
        if column in self._columns.words:
            return self._columns.words[column]
        return self._columns.texts[column]

    def _decode_texts(self, column: str, pool: TextPool) -> list[str]:
        """Return the texts of a column's pool, which are decoded once and cached."""
        texts = self._cache.texts.get(column)
        if texts is None:
            texts = self._cache.texts[column] = list(pool)
        return texts


def _text_condition(predicate: AnyWord | OneOf) -> Callable[[str], bool]:
    """Return a function that tests whether a stored text or word list satisfies a predicate.

    Texts are compared without case and accents. Word lists are stored as JSON.
    """
    match predicate:
        case AnyWord(column=column, words=words):
            keys = {comparison_key(column, word) for word in words}
            return lambda text: any(comparison_key(column, word) in keys for word in msgspec.json.decode(text))
        case OneOf(values=values):
            folded_values = {fold(value) for value in values}
            return lambda text: fold(text) in folded_values
