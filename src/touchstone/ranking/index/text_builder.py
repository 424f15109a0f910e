"""Building the text columns of an index: names in the order of the index, other texts as codes into pools."""

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from touchstone.ranking.column_types import Bools, Ints
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


def build_text(records: OrderedRecords, column: str, store: ArrayStore) -> TextColumn:
    """Return a text column: a code for each record, and the distinct texts, with ranks by which lists are sorted.

    The rank of a code is that of its folded text (without case and accents), so codes whose folded texts are the same
    share a rank. Code 0 is "not known"; its rank is 0.
    """
    texts = records.collected.texts[column]
    folded_order = sort_folded(texts)
    is_kept, codes = _number_texts(texts, sort_distinct(texts, folded_order))

    # Leave out the ranks of texts that stand for "not known", and number the others from 1 without gaps.
    kept_ranks = folded_order.ranks()[is_kept]
    _, gapless_ranks = np.unique(kept_ranks, return_inverse=True)
    column_of_texts = TextColumn(
        pool=_pool_texts(texts, np.flatnonzero(is_kept), store, first_text_is_empty=True),
        codes=to_smallest_unsigned(codes[records.order]),
        ranks=np.concatenate([[0], gapless_ranks + 1]).astype(np.uint32),
    )
    return keep_arrays(store, column_of_texts)


def build_tags(records: OrderedRecords, store: ArrayStore) -> CodedColumn:
    """Return the tags: a code for each record, and the list of each code as JSON."""
    texts = records.collected.texts[TAGS]
    is_kept, codes = _number_texts(texts, sort_distinct(texts, sort_folded(texts)))
    pool = _pool_texts(texts, np.flatnonzero(is_kept), store, first_text_is_empty=True)
    return CodedColumn(pool, store.keep(to_smallest_unsigned(codes[records.order])))


def _number_texts(texts: SpooledTexts, distinct_order: TextOrder) -> tuple[Bools, NDArray[np.uint32]]:
    """Return for each text whether it is the first of its kind, and its code: the number of that text, from 1.

    A text that stands for "not known" is not kept, and its code is 0.
    """
    group_starts = np.flatnonzero(distinct_order.is_first)
    groups = np.cumsum(distinct_order.is_first, dtype=np.uint32) - 1

    # Equal texts keep their order, so the first of a group was collected first. Unknown ones look like empty texts.
    known_numbers = np.where(texts.is_known[distinct_order.order], distinct_order.order, np.uint32(len(groups)))
    first_numbers = np.minimum.reduceat(known_numbers, group_starts) if len(groups) else known_numbers
    is_kept = np.zeros(len(groups) + 1, np.bool_)
    is_kept[first_numbers] = True
    is_kept = is_kept[:-1]

    code_by_number = np.cumsum(np.concatenate([is_kept, [False]]), dtype=np.uint32)
    codes = np.empty(len(groups), np.uint32)
    codes[distinct_order.order] = code_by_number[first_numbers][groups]
    codes[~texts.is_known] = 0
    return is_kept, codes


def _pool_texts(texts: SpooledTexts, numbers: Ints, store: ArrayStore, *, first_text_is_empty: bool) -> TextPool:
    """Return a pool of the texts with some numbers, in this order, in a store."""
    lengths = texts.lengths()[numbers]
    if first_text_is_empty:
        lengths = np.concatenate([[0], lengths])
    offsets = np.concatenate([[0], np.cumsum(lengths)])

    size = int(offsets[-1])
    offset_type = np.uint32 if size < 2**32 else np.uint64
    data = store.keep_pieces(_copy_texts(texts, numbers), size, np.uint8)
    return TextPool(data, store.keep(offsets.astype(offset_type)))


def _copy_texts(texts: SpooledTexts, numbers: Ints) -> Iterator[Bytes]:
    """Yield the bytes of the texts with some numbers, many texts at a time."""
    for start in range(0, len(numbers), _TEXTS_PER_PIECE):
        piece_numbers = numbers[start : start + _TEXTS_PER_PIECE]
        first, last = piece_numbers[0], piece_numbers[-1]
        if _is_ascending(piece_numbers) and last - first == len(piece_numbers) - 1:
            yield texts.data[texts.offsets[first] : texts.offsets[last + 1]]  # they follow one another already
            continue

        byte_counts = texts.offsets[piece_numbers + 1] - texts.offsets[piece_numbers]
        piece = np.empty(int(byte_counts.sum()), np.uint8)
        text_sort_kernels.copy_texts(texts.data, texts.offsets, piece_numbers, piece)
        yield piece


def _is_ascending(numbers: Ints) -> bool:
    """Return whether each of some numbers is larger than the one before it."""
    return bool(np.all(numbers[1:] > numbers[:-1]))


def build_names(
    records: OrderedRecords, name_order: TextOrder, alphabetical_ranks: NDArray[np.uint32], store: ArrayStore
) -> NameColumn:
    """Return the names of the records, their alphabetical order, and a filter that speeds up searches for substrings.

    `alphabetical_ranks` are the places of the records in this order, in the order of the index. Searches ignore case
    and accents. Names that are not plain ASCII are therefore stored a second time in folded form, without case and
    accents.
    """
    texts = records.collected.texts["dataset_name"]
    pool = _pool_texts(texts, records.order, store, first_text_is_empty=False)
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
    accented_numbers = np.zeros(records.size, np.uint32)
    accented_numbers[texts.accented_records] = np.arange(1, len(texts.accented_records) + 1)
    numbers_in_order = accented_numbers[records.order]
    positions = np.flatnonzero(numbers_in_order)
    numbers = numbers_in_order[positions].astype(np.int64) - 1

    offsets = np.concatenate([[0], np.cumsum(np.diff(texts.accented_offsets)[numbers])])
    data = np.empty(int(offsets[-1]), np.uint8)
    text_sort_kernels.copy_texts(texts.accented_data, texts.accented_offsets, numbers, data)
    return positions, TextPool(data, offsets)


def _build_signatures(
    records: OrderedRecords, names: TextPool, accented_names: TextPool, accented_positions: Ints
) -> NDArray[np.uint8]:
    """Return which trigrams (three bytes in a row) occur in the names of each leaf, a block of records.

    A search for a substring skips the leaves in which one of its trigrams does not occur. `accented_names` holds the
    names at `accented_positions` a second time, without accents, because they are searched in this form. Trigrams that
    span the border between two names are marked as well; they only make the filter a little weaker.
    """
    bytes_per_row = -(-records.leaf_count // 8)
    signatures = np.zeros((text_sort_kernels.TRIGRAM_BUCKETS, bytes_per_row), np.uint8)

    # The names of a leaf are one piece of the bytes of all names.
    borders: NDArray[Any] = names.offsets[records.leaf_borders].astype(np.int64)
    text_sort_kernels.mark_trigrams(names.data, borders, LOWER_CASE, signatures)

    accented_borders = np.searchsorted(accented_positions, records.leaf_borders)
    text_sort_kernels.mark_trigrams(
        accented_names.data, accented_names.offsets[accented_borders], LOWER_CASE, signatures
    )
    return signatures
