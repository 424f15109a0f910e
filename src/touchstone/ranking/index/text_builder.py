"""Building the text columns of an index.

A text column stores each distinct text once, in a pool, and for each record a code. The code 0 means "not known", and
the code 1 stands for the text that was collected first, 2 for the next one that differs from it, and so on. Names are
not stored in this way, because most of them are different: the pool of names is in the order of the index.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from touchstone.ranking.column_types import Ints
from touchstone.ranking.columns.bitmaps import to_smallest_unsigned
from touchstone.ranking.columns.spool import SpooledTexts
from touchstone.ranking.columns.text_pool import Bytes, TextPool
from touchstone.ranking.columns.trigram_signatures import LOWER_CASE
from touchstone.ranking.index.array_store import ArrayStore, keep_arrays
from touchstone.ranking.index.collected_records import TAGS
from touchstone.ranking.index.index_columns import CodedColumn, NameColumn, TextColumn
from touchstone.ranking.index.ordered_records import OrderedRecords
from touchstone.ranking.index.text_order import TextOrder, sort_distinct, sort_folded
from touchstone.ranking.kernels import text_sort_kernels

_TEXTS_PER_PIECE: Final = 1 << 16


@dataclass(frozen=True, slots=True)
class _DistinctTexts:
    """The distinct texts of a column, numbered in the order in which they were collected.

    Attributes:
        first_records: For each distinct text the first record that has it; these records are in ascending order.
        codes: For each record the code of its text, in the order in which the records were collected.
    """

    first_records: Ints
    codes: NDArray[np.uint32]


def build_text(records: OrderedRecords, column: str, store: ArrayStore) -> TextColumn:
    """Return a text column: the distinct texts, a code for each record, and ranks by which lists are sorted."""
    texts = records.collected.texts[column]
    folded_order = sort_folded(texts)
    distinct_texts = _find_distinct(texts, sort_distinct(texts, folded_order))

    return TextColumn(
        pool=_pool_distinct(texts, distinct_texts, store),
        codes=store.keep(_codes_in_order(distinct_texts, records)),
        ranks=store.keep(_rank_distinct(distinct_texts, folded_order)),
    )


def build_tags(records: OrderedRecords, store: ArrayStore) -> CodedColumn:
    """Return the tags: a code for each record, and the list of each code as JSON."""
    texts = records.collected.texts[TAGS]
    distinct_texts = _find_distinct(texts, sort_distinct(texts, sort_folded(texts)))
    return CodedColumn(
        pool=_pool_distinct(texts, distinct_texts, store),
        codes=store.keep(_codes_in_order(distinct_texts, records)),
    )


def _find_distinct(texts: SpooledTexts, distinct_order: TextOrder) -> _DistinctTexts:
    """Return the distinct texts of a column, given an order in which equal texts lie together."""
    # Find the first record with each text. An unknown text looks like an empty one, so leave out unknown texts.
    record_count = len(distinct_order.order)
    is_known = texts.is_known[distinct_order.order]
    known_records = np.where(is_known, distinct_order.order, np.uint32(record_count))
    group_starts = np.flatnonzero(distinct_order.is_first)
    first_record_by_group = np.minimum.reduceat(known_records, group_starts)

    # Number the distinct texts in the order of these records.
    has_text = first_record_by_group < record_count
    is_first_record = np.zeros(record_count, np.bool_)
    is_first_record[first_record_by_group[has_text]] = True
    code_by_first_record = np.cumsum(is_first_record, dtype=np.uint32)

    # All records of a group have the code of its first one, except those whose text is not known.
    code_by_group = np.zeros(len(group_starts), np.uint32)
    code_by_group[has_text] = code_by_first_record[first_record_by_group[has_text]]
    codes = code_by_group[distinct_order.ranks()]
    codes[~texts.is_known] = 0
    return _DistinctTexts(np.flatnonzero(is_first_record), codes)


def _codes_in_order(distinct_texts: _DistinctTexts, records: OrderedRecords) -> NDArray[Any]:
    """Return the code of each record in the order of the index, in the smallest type that fits."""
    return to_smallest_unsigned(distinct_texts.codes[records.order])


def _rank_distinct(distinct_texts: _DistinctTexts, folded_order: TextOrder) -> NDArray[np.uint32]:
    """Return for each code its rank in a sorted list: texts that differ only in case and accents share a rank.

    The rank of code 0 is 0, and those of the texts are counted from 1.
    """
    ranks_among_all = folded_order.ranks()[distinct_texts.first_records]

    # Without the unknown texts, the ranks may have a gap.
    _, gapless_ranks = np.unique(ranks_among_all, return_inverse=True)
    return np.concatenate([[0], gapless_ranks + 1]).astype(np.uint32)


def _pool_distinct(texts: SpooledTexts, distinct_texts: _DistinctTexts, store: ArrayStore) -> TextPool:
    """Return a pool of the distinct texts by code; code 0 has an empty text."""
    lengths = texts.lengths()[distinct_texts.first_records]
    lengths_by_code = np.concatenate([[0], lengths])
    return _keep_pool(_copy_texts(texts, distinct_texts.first_records), lengths_by_code, store)


def _pool_names(texts: SpooledTexts, records: OrderedRecords, store: ArrayStore) -> TextPool:
    """Return a pool of the names in the order of the index."""
    return _keep_pool(_copy_texts(texts, records.order), texts.lengths()[records.order], store)


def _keep_pool(pieces: Iterator[Bytes], lengths: Ints, store: ArrayStore) -> TextPool:
    """Return a pool of texts in a store, given their bytes in pieces, and the length of each text."""
    offsets = _to_offsets(lengths)
    size = int(offsets[-1])
    offset_type = np.uint32 if size < 2**32 else np.uint64
    data = store.keep_pieces(pieces, size, np.uint8)
    return TextPool(data, store.keep(offsets.astype(offset_type)))


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
    accented_positions, accented_pool = _order_accented(records, texts)

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


def _order_accented(records: OrderedRecords, texts: SpooledTexts) -> tuple[Ints, TextPool]:
    """Return the positions of the names that are not plain ASCII, ascending, and in this order their folded form."""
    is_accented = np.zeros(records.size, np.bool_)
    is_accented[texts.accented_records] = True
    positions = np.flatnonzero(is_accented[records.order])

    # The folded names are in the order of their records, which is ascending.
    indices = np.searchsorted(texts.accented_records, records.order[positions])
    data = _gather_texts(texts.accented_data, texts.accented_offsets, indices)
    lengths = np.diff(texts.accented_offsets)[indices]
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
