"""Building the text columns of an index.

A text column stores each distinct text once, in a pool, and a code for each record. Code 0 means unknown; the other
codes number the distinct texts in the order of their first occurrence. Names have no codes, because most of
them are unique. The pool of names contains one name for each record, in the order of the index.
"""

import math
import secrets
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, Generic

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from touchstone.ranking.array_types import Ints
from touchstone.ranking.columns.bitmaps import to_smallest_unsigned
from touchstone.ranking.columns.packed_texts import PackedTexts, pack_texts
from touchstone.ranking.columns.spool import FoldedTexts, RepeatedTexts, SpooledTexts, arrow_bytes, arrow_texts
from touchstone.ranking.columns.text_pool import Bytes, TextPool, smallest_offset_type
from touchstone.ranking.columns.trigram_signatures import LOWER_CASE
from touchstone.ranking.index.array_store import ArrayStore, store_arrays
from touchstone.ranking.index.index_columns import CodedColumn
from touchstone.ranking.index.ordered_records import OrderedRecords
from touchstone.ranking.index.text_columns import NameColumn, Pool, TextColumn
from touchstone.ranking.index.text_order import TextOrder
from touchstone.ranking.index.text_ranks import NO_RANKS, rank_texts
from touchstone.ranking.kernels import distinct_text_kernels, trigram_kernels

_TEXTS_PER_CHUNK: Final = 1 << 16
_MAX_QUICKLY_SORTED_TEXTS: Final = 100_000
"""Up to this number, distinct texts are sorted in a fraction of a second."""


@dataclass(frozen=True, slots=True)
class NumberedTexts(Generic[Pool]):
    """The texts of a column with a code for each distinct text, before the order of the index is known.

    Attributes:
        pool: the distinct texts by code.
        codes: the code of each record in the order of collection, in the smallest sufficient integer type.
    """

    pool: Pool
    codes: NDArray[Any]


@dataclass(frozen=True, slots=True)
class _DistinctTexts:
    """The distinct texts of a column, numbered in the order in which they were collected.

    Attributes:
        first_records: the first record with each distinct text, in ascending order.
        codes: the code of each record in the order of collection.
    """

    first_records: Ints
    codes: NDArray[np.uint32]


def number_texts(texts: RepeatedTexts, store: ArrayStore) -> NumberedTexts[TextPool]:
    """Assign a code to each distinct text of a column, and collect the distinct texts in a pool."""
    distinct_texts = _find_distinct_texts(texts.texts)
    lengths = _lengths_by_code(texts.texts, distinct_texts)
    pool = _store_pool(_copy_texts(texts.texts, distinct_texts.first_records), lengths, store)

    # Several batches may contain the same text. Map the codes of the batches to codes of distinct texts.
    new_codes = np.concatenate([np.zeros(1, np.uint32), distinct_texts.codes])
    return NumberedTexts(pool, to_smallest_unsigned(new_codes)[texts.codes])


def number_long_texts(
    texts: SpooledTexts, store: ArrayStore, folder: Path | None, *, defers_packing: bool
) -> NumberedTexts[PackedTexts]:
    """Assign codes to the texts of a column of long texts, and compress the texts.

    Args:
        texts: the texts of all records.
        store: where the arrays are stored.
        folder: where a temporary file holds the texts during compression, or None to use memory.
        defers_packing: whether to store all texts uncompressed, because compressing many texts and finding duplicates
            takes long. `pack_column` does both later.
    """
    numbered = _number_without_packing(texts) if defers_packing else _pack_long_texts(texts, folder)
    return replace(numbered, pool=store_arrays(store, numbered.pool))


def _pack_long_texts(texts: SpooledTexts, folder: Path | None) -> NumberedTexts[PackedTexts]:
    """Compress the distinct texts of a column, and assign a code to each."""
    distinct_texts = _find_distinct_texts(texts)
    offsets = _to_smallest_offsets(_lengths_by_code(texts, distinct_texts))
    pool = pack_texts(_copy_texts(texts, distinct_texts.first_records), offsets, folder)
    return NumberedTexts(pool, to_smallest_unsigned(distinct_texts.codes))


def _number_without_packing(texts: SpooledTexts) -> NumberedTexts[PackedTexts]:
    """Assign a code to each known text without compressing the texts or removing duplicates."""
    known_texts = np.flatnonzero(texts.is_known)
    offsets = _to_smallest_offsets(np.concatenate([[0], texts.lengths()[known_texts]]))
    pool = PackedTexts(texts.data, np.empty(0, np.int64), offsets)
    codes = np.where(texts.is_known, np.cumsum(texts.is_known, dtype=np.uint32), np.uint32(0))
    return NumberedTexts(pool, codes)


def pack_column(column: TextColumn[PackedTexts], folder: Path | None) -> TextColumn[PackedTexts]:
    """Compress a column of long texts and remove duplicates. A compressed column is returned unchanged.

    A temporary file in `folder` holds the texts during the compression; if `folder` is None, they are in memory.

    Raises:
        OSError: the folder cannot be written to.
    """
    if column.pool.is_compressed:
        return column

    # Skip the first text of the pool: its code 0 means unknown.
    text_offsets: Ints = column.pool.offsets[1:].astype(np.int64)
    texts = SpooledTexts(column.pool.data, text_offsets, np.ones(len(column.pool) - 1, np.bool_))
    numbered = _pack_long_texts(texts, folder)
    new_codes = np.concatenate([np.zeros(1, numbered.codes.dtype), numbered.codes])
    return TextColumn(numbered.pool, new_codes[column.codes], NO_RANKS)


def build_text(
    texts: NumberedTexts[Pool], records: OrderedRecords, store: ArrayStore, *, defers_ranks: bool
) -> TextColumn[Pool]:
    """Build a text column with the distinct texts, a code for each record, and ranks for sorting.

    Args:
        texts: the distinct texts and the codes of the collected records.
        records: the order of the records in the index.
        store: where the arrays are stored.
        defers_ranks: whether to leave the ranks of many distinct texts to `TextIndexing`, because sorting takes long.
    """
    has_many_texts = len(texts.pool) > _MAX_QUICKLY_SORTED_TEXTS
    is_ranked_later = defers_ranks and has_many_texts
    ranks = NO_RANKS if is_ranked_later else rank_texts(texts.pool, records.collected.folder)
    return TextColumn(texts.pool, _store_codes(texts.codes, records, store), store.add(ranks))


def build_tags(texts: NumberedTexts[TextPool], records: OrderedRecords, store: ArrayStore) -> CodedColumn:
    """Build the column of tags, with a code for each record and the tag list of each code as JSON."""
    return CodedColumn(texts.pool, _store_codes(texts.codes, records, store))


def _store_codes(codes: NDArray[Any], records: OrderedRecords, store: ArrayStore) -> NDArray[Any]:
    """Store the codes of the records in the order of the index."""
    return store.add(codes[records.order])


def _find_distinct_texts(texts: SpooledTexts) -> _DistinctTexts:
    """Find the distinct texts of a column, and the code of each record."""
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
    """Return, for each record with a known text, the first record with the same text.

    Elements of records without a known text are 0.
    """
    hashes = np.empty(len(texts.is_known), np.uint64)
    # The secret seed prevents attackers from crafting many texts with the same hash, which are compared pairwise.
    seed = np.uint64(secrets.randbits(64))
    with np.errstate(over="ignore"):
        distinct_text_kernels.hash_texts(texts.data, texts.offsets, seed, hashes)

    by_hash = known_records[np.argsort(hashes[known_records], kind="stable")]
    first_equal = np.zeros(len(hashes), np.uint32)
    distinct_text_kernels.find_first_equal(texts.data, texts.offsets, hashes, by_hash, first_equal)
    return first_equal


def _lengths_by_code(texts: SpooledTexts, distinct_texts: _DistinctTexts) -> Ints:
    """Return the length in bytes of each distinct text by code, with 0 for code 0."""
    lengths = texts.lengths()[distinct_texts.first_records]
    return np.concatenate([[0], lengths])


def _store_names(texts: SpooledTexts, records: OrderedRecords, store: ArrayStore) -> TextPool:
    """Store the names in the order of the index."""
    return _store_pool(_copy_texts(texts, records.order), texts.lengths()[records.order], store)


def _store_pool(chunks: Iterator[Bytes], lengths: Ints, store: ArrayStore) -> TextPool:
    """Store a pool of texts, given their bytes in chunks and the length of each text in bytes."""
    offsets = _to_smallest_offsets(lengths)
    data = store.add_chunks(chunks, int(offsets[-1]), np.uint8)
    return TextPool(data, store.add(offsets))


def _to_smallest_offsets(lengths: Ints) -> NDArray[Any]:
    """Return the result of `_to_offsets` as 32-bit integers unless the texts exceed 4 GiB."""
    offsets = _to_offsets(lengths)
    return offsets.astype(smallest_offset_type(int(offsets[-1])))


def _to_offsets(lengths: Ints) -> Ints:
    """Return the start of each text of the given lengths, followed by the end of the last one."""
    return np.concatenate([[0], np.cumsum(lengths)])


def _copy_texts(texts: SpooledTexts, records: Ints) -> Iterator[Bytes]:
    """Yield the concatenated bytes of the records' texts, many texts at a time."""
    for start in range(0, len(records), _TEXTS_PER_CHUNK):
        chunk_records = records[start : start + _TEXTS_PER_CHUNK]
        if _are_consecutive(chunk_records):
            first, last = chunk_records[0], chunk_records[-1]
            yield texts.data[texts.offsets[first] : texts.offsets[last + 1]]
        else:
            yield _gather_texts(texts, chunk_records)


def _are_consecutive(records: Ints) -> bool:
    """Return whether the given record numbers increase by one each."""
    return bool(np.all(records[1:] == records[:-1] + 1))


def _gather_texts(texts: SpooledTexts, records: Ints) -> Bytes:
    """Return the concatenated bytes of the texts of the given records."""
    _, data = arrow_bytes(arrow_texts(texts).take(pa.array(records)))
    return data


def build_names(
    records: OrderedRecords, name_order: TextOrder, alphabetical_ranks: NDArray[np.uint32], store: ArrayStore
) -> NameColumn:
    """Build the column of names, with their alphabetical order and a filter that speeds up substring searches.

    Searches ignore case and accents. Names that are not plain ASCII are therefore stored a second time in folded form,
    without case and accents.

    Args:
        records: the order of the records in the index.
        name_order: the alphabetical order of the collected names.
        alphabetical_ranks: the position of each record in the alphabetical order, in the order of the index.
        store: where the arrays are stored.
    """
    texts = records.collected.texts["dataset_name"]
    pool = _store_names(texts, records, store)
    accented_positions, accented_pool = _order_accented(records, records.collected.folded_names)

    permutation = np.empty(records.size, np.uint32)
    permutation[alphabetical_ranks] = np.arange(records.size, dtype=np.uint32)
    is_accented = np.zeros(records.size, np.bool_)
    is_accented[accented_positions] = True

    return NameColumn(
        pool=pool,
        accented=store.add(records.to_bitmap(is_accented)),
        accented_positions=store.add(accented_positions),
        accented_pool=store_arrays(store, accented_pool),
        places=store.add(alphabetical_ranks),
        permutation=store.add(permutation),
        group_starts=store.add(records.to_bitmap(name_order.is_first)),
        first_places=store.add(records.lowest_in_leaves(alphabetical_ranks)),
        signatures=store.add(_build_signatures(records, pool, accented_pool, accented_positions)),
    )


def _order_accented(records: OrderedRecords, names: FoldedTexts) -> tuple[Ints, TextPool]:
    """Return the ascending positions of the names that are not plain ASCII, and their folded forms in this order."""
    is_accented = np.zeros(records.size, np.bool_)
    is_accented[names.accented_indices] = True
    positions = np.flatnonzero(is_accented[records.order])

    offsets, data = arrow_bytes(names.texts.take(pa.array(records.order[positions])))
    return positions, TextPool(data, offsets)


def _build_signatures(
    records: OrderedRecords, names: TextPool, accented_names: TextPool, accented_positions: Ints
) -> NDArray[np.uint8]:
    """Build a filter of the trigrams (sequences of three bytes) that occur in the names of each leaf of records.

    A search for a substring skips the leaves that lack one of its trigrams. Trigrams that span the boundary between
    two names are included; they only cause a few more false positives.

    Args:
        records: the records in the order of the index.
        names: the name of each record.
        accented_names: the folded form of the names that are not plain ASCII, because searches use this form.
        accented_positions: the positions of these names.

    Returns:
        one row for each trigram bucket, with one bit for each leaf.
    """
    bytes_per_row = math.ceil(records.leaf_count / 8)
    signatures = np.zeros((trigram_kernels.TRIGRAM_BUCKETS, bytes_per_row), np.uint8)

    # The names of a leaf are contiguous in the pool.
    boundaries: NDArray[Any] = names.offsets[records.leaf_boundaries].astype(np.int64)
    trigram_kernels.mark_trigrams(names.data, boundaries, LOWER_CASE, signatures)

    # So are the folded names of a leaf in their own pool.
    first_names = np.searchsorted(accented_positions, records.leaf_boundaries)
    accented_boundaries = accented_names.offsets[first_names]
    trigram_kernels.mark_trigrams(accented_names.data, accented_boundaries, LOWER_CASE, signatures)
    return signatures
