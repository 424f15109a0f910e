"""Reading of records from an index as columns, for building the next index."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final
from uuid import UUID

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from touchstone.core.attributes import FLAGS, NUMBERS
from touchstone.core.evidence import Assurance
from touchstone.ranking.array_types import Ints
from touchstone.ranking.columns.evidence_columns import STRICTER_ASSURANCES, EvidenceColumns
from touchstone.ranking.columns.packed_texts import PackedTexts
from touchstone.ranking.columns.record_batch import CodedColumn, RecordBatch
from touchstone.ranking.columns.segment import INTEGER_COLUMNS, WORD_COLUMNS
from touchstone.ranking.columns.spool import arrow_texts
from touchstone.ranking.columns.text_pool import TextPool
from touchstone.ranking.index import index_columns
from touchstone.ranking.index.catalog_index import CatalogIndex
from touchstone.ranking.index.collected_records import LONG_TEXTS, POOLED_COLUMNS
from touchstone.ranking.index.index_columns import decode_words
from touchstone.ranking.index.text_columns import TextColumn

_RECORDS_PER_BATCH: Final = 1 << 16


def decode_records(index: CatalogIndex, positions: Ints, folder: Path | None) -> Iterator[RecordBatch]:
    """Yield the records at the given positions in batches.

    Args:
        index: the index that contains the records.
        positions: the positions in ascending order.
        folder: where temporary files hold decompressed long texts, or None to use memory.

    Raises:
        OSError: the folder cannot be written to.
    """
    columns = index.columns
    pools = {name: arrow_texts(columns.texts[name].pool) for name in POOLED_COLUMNS}
    pools |= {name: arrow_texts(columns.long_texts[name].pool.unpack(folder)) for name in LONG_TEXTS}
    names = arrow_texts(columns.names.pool)

    for start in range(0, len(positions), _RECORDS_PER_BATCH):
        batch_positions = positions[start : start + _RECORDS_PER_BATCH]

        texts = {name: _take_texts(pool, columns.text_column(name), batch_positions) for name, pool in pools.items()}
        texts["dataset_name"] = names.take(pa.array(batch_positions))
        texts["visibility"] = _visibilities(index, batch_positions)

        yield _decode_batch(index, batch_positions, texts)


def _decode_batch(index: CatalogIndex, positions: Ints, texts: dict[str, pa.Array]) -> RecordBatch:
    """Return the records at the given positions as a batch, given their texts."""
    columns: dict[str, NDArray[Any]] = {name: index.numbers(name, positions) for name in NUMBERS}
    columns |= {name: index.flags(name, positions) for name in FLAGS}
    columns |= {name: index.integers(name, positions) for name in INTEGER_COLUMNS}
    columns["uuid_high"] = index.columns.dataset_ids.high[positions]
    columns["uuid_low"] = index.columns.dataset_ids.low[positions]

    words = {name: _decode_codes(index.columns.words[name], positions, decode_words) for name in WORD_COLUMNS}
    owners = _decode_codes(index.columns.owner.owners, positions, UUID)
    return RecordBatch(columns, texts, words, owners, _decode_evidence(index, positions))


def _take_texts(pool: pa.Array, column: TextColumn[TextPool] | TextColumn[PackedTexts], positions: Ints) -> pa.Array:
    """Return the texts of a column at the given positions, null where unknown."""
    codes = column.codes[positions]
    is_unknown = codes == 0
    return pool.take(pa.array(codes, mask=is_unknown))


def _visibilities(index: CatalogIndex, positions: Ints) -> pa.Array:
    """Return the visibility of the records at the given positions."""
    is_public = pa.array(index.is_public(positions))
    return pc.if_else(is_public, "public", "private").cast(pa.large_string())


def _decode_codes(
    column: index_columns.CodedColumn, positions: Ints, decode_value: Callable[[str], Any]
) -> CodedColumn:
    """Return a column at the given positions, with new codes for the values that occur there.

    Code 0 always means unknown, even if it does not occur.
    """
    codes = column.codes[positions]
    used_codes = np.union1d([0], codes)
    new_codes = np.searchsorted(used_codes, codes).astype(np.int32)

    known_values = [decode_value(column.pool[code]) for code in used_codes.tolist() if code > 0]
    return CodedColumn(new_codes, [None, *known_values])


def _decode_evidence(index: CatalogIndex, positions: Ints) -> EvidenceColumns:
    """Return the evidence about the records at the given ascending positions.

    The result refers to each record by its index in `positions`.
    """
    levels = index.columns.levels
    is_requested = np.isin(levels.positions, positions)
    evidence_positions = levels.positions[is_requested]

    values: dict[Assurance, dict[str, NDArray[Any]]] = {}
    for assurance in STRICTER_ASSURANCES:
        stricter_index = index.at(assurance)
        values[assurance] = {name: stricter_index.numbers(name, evidence_positions) for name in NUMBERS}
        values[assurance] |= {name: stricter_index.flags(name, evidence_positions) for name in FLAGS}

    return EvidenceColumns(
        positions=np.searchsorted(positions, evidence_positions),
        values=values,
        shown_levels=levels.shown[is_requested],
        stricter_levels=levels.stricter[is_requested],
    )
