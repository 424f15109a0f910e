"""Conversion of single rows, or of the values of many rows, to a batch of columns that the catalog takes."""

from collections.abc import Mapping, Sequence
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
    values = {name: [getattr(row, name) for row in rows] for name in CatalogRow.__struct_fields__}
    return encode_record_batch(values)


def encode_record_batch(values: Mapping[str, Sequence[Any]]) -> RecordBatch:
    """Encode records as a batch; `values` has the value of each record, by the name of the field in `CatalogRow`."""
    columns: dict[str, NDArray[Any]] = {}
    for name in NUMBERS:
        columns[name] = np.array(values[name], np.float64)  # None becomes NaN.
    for name in FLAGS:
        codes = [-1 if value is None else value for value in values[name]]
        columns[name] = np.array(codes, np.int8)
    for name in INTEGER_COLUMNS:
        columns[name] = np.array(values[name], np.int64)

    uuids = [uuid.int for uuid in values["dataset_id"]]
    columns["uuid_high"] = np.array([uuid >> 64 for uuid in uuids], np.uint64)
    columns["uuid_low"] = np.array([uuid & _LOW_HALF for uuid in uuids], np.uint64)

    return RecordBatch(
        columns=columns,
        texts={name: pa.array(values[name], pa.large_string()) for name in TEXT_COLUMNS},
        words={name: encode_values(values[name]) for name in WORD_COLUMNS},
        owners=encode_values(values["owner"]),
        evidence=encode_evidence(values["evidence"]),
    )
