"""Building the text columns of an index.

A text column stores each distinct text once, in a pool, and for each record a code. The code 0 means "not known", and
the code 1 stands for the text that was collected first, 2 for the next one that differs from it, and so on. Names are
not stored in this way, because most of them are different: the pool of names is in the order of the index.
"""

import math
import secrets
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, Generic

import numpy as np
from numpy.typing import NDArray

from touchstone.ranking.array_types import Ints
from touchstone.ranking.columns.bitmaps import to_smallest_unsigned
from touchstone.ranking.columns.packed_texts import PackedTexts, pack_texts
from touchstone.ranking.columns.spool import AccentedTexts, RepeatedTexts, SpooledTexts
from touchstone.ranking.columns.text_pool import Bytes, TextPool, smallest_offset_type
from touchstone.ranking.columns.trigram_signatures import LOWER_CASE
from touchstone.ranking.index.array_store import ArrayStore, keep_arrays
from touchstone.ranking.index.index_columns import CodedColumn
from touchstone.ranking.index.ordered_records import OrderedRecords
from touchstone.ranking.index.text_columns import NameColumn, Pool, TextColumn
from touchstone.ranking.index.text_order import TextOrder
from touchstone.ranking.index.text_ranks import NO_RANKS, rank_texts
from touchstone.ranking.kernels import distinct_text_kernels, text_sort_kernels

_TEXTS_PER_PIECE: Final = 1 << 16
_FEW_TEXTS: Final = 100_000
"""So many distinct texts are sorted in a fraction of a second."""


@dataclass(frozen=True, slots=True)
class NumberedTexts(Generic[Pool]):
    """The texts of a column with a code for each distinct one; this does not depend on the order of the index.

    Attributes:
        pool: The distinct texts by code.
        codes: For each record the code of its text, in the order in which the records were collected, and in the
            smallest type that fits.
    """

    pool: Pool
    codes: NDArray[Any]


@dataclass(frozen=True, slots=True)
class _DistinctTexts:
    """The distinct texts of a column, numbered in the order in which they were collected.

    Attributes:
        first_records: For each distinct text the first record that has it; these records are in ascending order.
        codes: For each record the code of its text, in the order in which the records were collected.
    """

    first_records: Ints
    codes: NDArray[np.uint32]


def number_texts(texts: RepeatedTexts, store: ArrayStore) -> NumberedTexts[TextPool]:
    """Return the distinct texts of a column, and for each record the code of its text."""
    distinct_texts = _find_distinct(texts.texts)
    lengths = _lengths_by_code(texts.texts, distinct_texts)
    pool = _keep_pool(_copy_texts(texts.texts, distinct_texts.first_records), lengths, store)

    # Batches have texts in common, which get the same code here.
    new_codes = np.concatenate([np.zeros(1, np.uint32), distinct_texts.codes])
    return NumberedTexts(pool, to_smallest_unsigned(new_codes)[texts.codes])


def number_long_texts(
    texts: SpooledTexts, store: ArrayStore, folder: Path | None, *, defers_packing: bool
) -> NumberedTexts[PackedTexts]:
    """Return the same as `number_texts`, with the texts compressed; a file in `folder` holds them meanwhile.

    With `defers_packing`, the texts are left as they are, because finding the distinct ones and compressing them takes
    long; `pack_column` does it later.
    """
    numbered = _list_long_texts(texts) if defers_packing else _pack_long_texts(texts, folder)
    return replace(numbered, pool=keep_arrays(store, numbered.pool))


def _pack_long_texts(texts: SpooledTexts, folder: Path | None) -> NumberedTexts[PackedTexts]:
    """Return the distinct texts, compressed, and for each record the code of its text."""
    distinct_texts = _find_distinct(texts)
    offsets = _to_smallest_offsets(_lengths_by_code(texts, distinct_texts))
    pool = pack_texts(_copy_texts(texts, distinct_texts.first_records), offsets, folder)
    return NumberedTexts(pool, to_smallest_unsigned(distinct_texts.codes))


def _list_long_texts(texts: SpooledTexts) -> NumberedTexts[PackedTexts]:
    """Return all known texts as they are; equal ones have different codes."""
    known_texts = np.flatnonzero(texts.is_known)
    offsets = _to_smallest_offsets(np.concatenate([[0], texts.lengths()[known_texts]]))
    pool = PackedTexts(texts.data, np.empty(0, np.int64), offsets)
    codes = np.where(texts.is_known, np.cumsum(texts.is_known, dtype=np.uint32), np.uint32(0))
    return NumberedTexts(pool, codes)


def pack_column(column: TextColumn[PackedTexts], folder: Path | None) -> TextColumn[PackedTexts]:
    """Compress a column of long texts, and store each distinct text once; a compressed column is returned as it is.

    An unnamed file in `folder` holds the texts, unless it is None.

    Raises:
        OSError: the folder cannot be written to.
    """
    if column.pool.is_compressed:
        return column

    # The first text of a pool, of code 0, stands for "not known".
    text_offsets: Ints = column.pool.offsets[1:].astype(np.int64)
    texts = SpooledTexts(column.pool.data, text_offsets, np.ones(len(column.pool) - 1, np.bool_))
    numbered = _pack_long_texts(texts, folder)
    new_codes = np.concatenate([np.zeros(1, numbered.codes.dtype), numbered.codes])
    return TextColumn(numbered.pool, new_codes[column.codes], NO_RANKS)


def build_text(
    texts: NumberedTexts[Pool], records: OrderedRecords, store: ArrayStore, *, defers_ranks: bool
) -> TextColumn[Pool]:
    """Return a text column: the distinct texts, a code for each record, and ranks by which lists are sorted.

    With `defers_ranks`, the ranks of many distinct texts are left to `TextIndexing`, because sorting them takes long.
    """
    has_many_texts = len(texts.pool) > _FEW_TEXTS
    is_ranked_later = defers_ranks and has_many_texts
    ranks = NO_RANKS if is_ranked_later else rank_texts(texts.pool, records.collected.folder)
    return TextColumn(texts.pool, _keep_codes(texts.codes, records, store), store.keep(ranks))


def build_tags(texts: NumberedTexts[TextPool], records: OrderedRecords, store: ArrayStore) -> CodedColumn:
    """Return the tags: a code for each record, and the list of each code as JSON."""
    return CodedColumn(texts.pool, _keep_codes(texts.codes, records, store))


def _keep_codes(codes: NDArray[Any], records: OrderedRecords, store: ArrayStore) -> NDArray[Any]:
    """Return the code of each record in the order of the index."""
    return store.keep(codes[records.order])


def _find_distinct(texts: SpooledTexts) -> _DistinctTexts:
    """Return the distinct texts of a column."""
    known_records = np.flatnonzero(texts.is_known).astype(np.uint32)
    first_equal = _find_first_equal(texts, known_records)

    is_first = np.zeros(len(first_equal), np.bool_)
    is_first[first_equal[known_records]] = True
    code_by_first_record = np.cumsum(is_first, dtype=np.uint32)

    # All records with a text have the code of its first record.
    codes = code_by_first_record[first_equal]
    codes[~texts.is_known] = 0
    return _DistinctTexts(np.flatnonzero(is_first), codes)


def _find_first_equal(texts: SpooledTexts, known_records: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Return for each record whose text is known the first one with the same text."""
    hashes = np.empty(len(texts.is_known), np.uint64)
    # With a secret seed, nobody can invent many texts with the same hash, which would have to be compared pairwise.
    seed = np.uint64(secrets.randbits(64))
    with np.errstate(over="ignore"):
        distinct_text_kernels.hash_texts(texts.data, texts.offsets, seed, hashes)

    by_hash = known_records[np.argsort(hashes[known_records], kind="stable")]
    first_equal = np.zeros(len(hashes), np.uint32)
    distinct_text_kernels.find_first_equal(texts.data, texts.offsets, hashes, by_hash, first_equal)
    return first_equal


def _lengths_by_code(texts: SpooledTexts, distinct_texts: _DistinctTexts) -> Ints:
    """Return how many bytes each distinct text has, by code; the text of code 0 is empty."""
    lengths = texts.lengths()[distinct_texts.first_records]
    return np.concatenate([[0], lengths])


def _pool_names(texts: SpooledTexts, records: OrderedRecords, store: ArrayStore) -> TextPool:
    """Return a pool of the names in the order of the index."""
    return _keep_pool(_copy_texts(texts, records.order), texts.lengths()[records.order], store)


def _keep_pool(pieces: Iterator[Bytes], lengths: Ints, store: ArrayStore) -> TextPool:
    """Return a pool of texts in a store, given their bytes in pieces, and the length of each text."""
    offsets = _to_smallest_offsets(lengths)
    data = store.keep_pieces(pieces, int(offsets[-1]), np.uint8)
    return TextPool(data, store.keep(offsets))


def _to_smallest_offsets(lengths: Ints) -> NDArray[Any]:
    """Return the same as `_to_offsets`, with 32 bits unless the texts need more than 4 GiB."""
    offsets = _to_offsets(lengths)
    return offsets.astype(smallest_offset_type(int(offsets[-1])))


def _to_offsets(lengths: Ints) -> Ints:
    """Return where texts of some lengths begin, and at the end where the last one ends."""
    return np.concatenate([[0], np.cumsum(lengths)])


def _copy_texts(texts: SpooledTexts, records: Ints) -> Iterator[Bytes]:
    """Yield the bytes of the texts of some records, many texts at a time."""
    for start in range(0, len(records), _TEXTS_PER_PIECE):
        piece_records = records[start : start + _TEXTS_PER_PIECE]
        if _are_consecutive(piece_records):
            first, last = piece_records[0], piece_records[-1]
            yield texts.data[texts.offsets[first] : texts.offsets[last + 1]]
        else:
            yield _gather_texts(texts.data, texts.offsets, piece_records)


def _are_consecutive(records: Ints) -> bool:
    """Return whether each of some records is the one after the record before it."""
    return bool(np.all(records[1:] == records[:-1] + 1))


def _gather_texts(data: Bytes, offsets: Ints, indices: Ints) -> Bytes:
    """Return the bytes of the texts with some indices, one text after the other."""
    lengths = offsets[indices + 1] - offsets[indices]
    gathered_data = np.empty(int(lengths.sum()), np.uint8)
    text_sort_kernels.copy_texts(data, offsets, indices, gathered_data)
    return gathered_data


def build_names(
    records: OrderedRecords, name_order: TextOrder, alphabetical_ranks: NDArray[np.uint32], store: ArrayStore
) -> NameColumn:
    """Return the names of the records, their alphabetical order, and a filter that speeds up searches for substrings.

    `alphabetical_ranks` are the places of the records in this order, in the order of the index. Searches ignore case
    and accents. Names that are not plain ASCII are therefore stored a second time in folded form, without case and
    accents.
    """
    texts = records.collected.texts["dataset_name"]
    pool = _pool_names(texts, records, store)
    accented_positions, accented_pool = _order_accented(records, records.collected.accented_names)

    permutation = np.empty(records.size, np.uint32)
    permutation[alphabetical_ranks] = np.arange(records.size, dtype=np.uint32)
    is_accented = np.zeros(records.size, np.bool_)
    is_accented[accented_positions] = True

    return NameColumn(
        pool=pool,
        accented=store.keep(records.to_bitmap(is_accented)),
        accented_positions=store.keep(accented_positions),
        accented_pool=keep_arrays(store, accented_pool),
        places=store.keep(alphabetical_ranks),
        permutation=store.keep(permutation),
        group_starts=store.keep(records.to_bitmap(name_order.is_first)),
        first_places=store.keep(records.lowest_in_leaves(alphabetical_ranks)),
        signatures=store.keep(_build_signatures(records, pool, accented_pool, accented_positions)),
    )


def _order_accented(records: OrderedRecords, accented: AccentedTexts) -> tuple[Ints, TextPool]:
    """Return the positions of the names that are not plain ASCII, ascending, and in this order their folded form."""
    is_accented = np.zeros(records.size, np.bool_)
    is_accented[accented.indices] = True
    positions = np.flatnonzero(is_accented[records.order])

    # The folded names are in the order of their records, which is ascending.
    indices = np.searchsorted(accented.indices, records.order[positions])
    data = _gather_texts(accented.data, accented.offsets, indices)
    lengths = np.diff(accented.offsets)[indices]
    return positions, TextPool(data, _to_offsets(lengths))


def _build_signatures(
    records: OrderedRecords, names: TextPool, accented_names: TextPool, accented_positions: Ints
) -> NDArray[np.uint8]:
    """Return which trigrams (three bytes in a row) occur in the names of each leaf, a block of records.

    A search for a substring skips the leaves in which one of its trigrams does not occur. `accented_names` holds the
    names at `accented_positions` a second time, without accents, because they are searched in this form. Trigrams that
    span the border between two names are marked as well; they only make the filter a little weaker.
    """
    bytes_per_row = math.ceil(records.leaf_count / 8)
    signatures = np.zeros((text_sort_kernels.TRIGRAM_BUCKETS, bytes_per_row), np.uint8)

    # The names of a leaf are one piece of the bytes of all names.
    borders: NDArray[Any] = names.offsets[records.leaf_borders].astype(np.int64)
    text_sort_kernels.mark_trigrams(names.data, borders, LOWER_CASE, signatures)

    # The folded names of a leaf are one piece of the bytes of all folded names, too.
    first_names = np.searchsorted(accented_positions, records.leaf_borders)
    accented_borders = accented_names.offsets[first_names]
    text_sort_kernels.mark_trigrams(accented_names.data, accented_borders, LOWER_CASE, signatures)
    return signatures
