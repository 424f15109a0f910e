"""Conversion of rows to batches of records."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from touchstone.core.attributes import FLAGS, NUMBERS
from touchstone.ranking.columns.evidence_columns import encode_evidence
from touchstone.ranking.columns.record_batch import RecordBatch, encode_values, split_uuids
from touchstone.ranking.columns.segment import INTEGER_COLUMNS, TEXT_COLUMNS, WORD_COLUMNS, CatalogRow


def to_record_batch(rows: Sequence[CatalogRow]) -> RecordBatch:
    """Convert rows to a batch, keeping their order."""
    values = {name: [getattr(row, name) for row in rows] for name in CatalogRow.__struct_fields__}
    high_halves, low_halves = split_uuids([row.dataset_id for row in rows])
    return encode_record_batch(values, high_halves, low_halves)


def encode_record_batch(
    values: Mapping[str, Sequence[Any]], high_halves: NDArray[np.uint64], low_halves: NDArray[np.uint64]
) -> RecordBatch:
    """Encode records as a batch.

    Args:
        values: the values of the records by field of `CatalogRow`, except `dataset_id`.
        high_halves: the upper 64 bits of each record's `dataset_id`.
        low_halves: the lower 64 bits of each record's `dataset_id`.
    """
    columns: dict[str, NDArray[Any]] = {"uuid_high": high_halves, "uuid_low": low_halves}
    for name in NUMBERS:
        columns[name] = np.array(values[name], np.float64)  # None becomes NaN.
    for name in FLAGS:
        flags = pa.array(values[name], pa.bool_())
        columns[name] = flags.cast(pa.int8()).fill_null(-1).to_numpy()
    for name in INTEGER_COLUMNS:
        columns[name] = np.array(values[name], np.int64)

    return RecordBatch(
        columns=columns,
        texts={name: pa.array(values[name], pa.large_string()) for name in TEXT_COLUMNS},
        words={name: encode_values(values[name]) for name in WORD_COLUMNS},
        owners=encode_values(values["owner"]),
        evidence=encode_evidence(values["evidence"]),
    )
