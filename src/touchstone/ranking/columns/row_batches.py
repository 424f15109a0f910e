"""Conversion of single rows to a batch of columns, the form in which records are added to the catalog."""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from touchstone.core.attributes import FLAGS, NUMBERS
from touchstone.ranking.columns.evidence_columns import encode_evidence
from touchstone.ranking.columns.record_batch import RecordBatch, encode_values
from touchstone.ranking.columns.segment import INTEGER_COLUMNS, TEXT_COLUMNS, WORD_COLUMNS, CatalogRow

_LOW_HALF: Final = 2**64 - 1


def to_record_batch(rows: Sequence[CatalogRow]) -> RecordBatch:
    """Convert rows to a batch of records in the same order."""
    columns: dict[str, NDArray[Any]] = {}
    for name in NUMBERS:
        values = (np.nan if value is None else value for value in _column_values(rows, name))
        columns[name] = np.fromiter(values, np.float64, len(rows))
    for name in FLAGS:
        values = (-1 if value is None else value for value in _column_values(rows, name))
        columns[name] = np.fromiter(values, np.int8, len(rows))
    for name in INTEGER_COLUMNS:
        columns[name] = np.fromiter(_column_values(rows, name), np.int64, len(rows))

    uuids = [row.dataset_id.int for row in rows]
    columns["uuid_high"] = np.fromiter((uuid >> 64 for uuid in uuids), np.uint64, len(uuids))
    columns["uuid_low"] = np.fromiter((uuid & _LOW_HALF for uuid in uuids), np.uint64, len(uuids))

    return RecordBatch(
        columns=columns,
        texts={name: pa.array(_column_values(rows, name), pa.large_string()) for name in TEXT_COLUMNS},
        words={name: encode_values(_column_values(rows, name)) for name in WORD_COLUMNS},
        owners=encode_values(_column_values(rows, "owner")),
        evidence=encode_evidence([row.evidence for row in rows]),
    )


def _column_values(rows: Sequence[CatalogRow], name: str) -> list[Any]:
    """Return the value of one attribute for each row."""
    return [getattr(row, name) for row in rows]
