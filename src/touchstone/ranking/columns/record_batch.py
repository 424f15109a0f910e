"""Batches of records, in columns without a Python object for each record, for adding records to the catalog.

A column with few distinct values stores each distinct value once, and a code for each record, which is the index of its
value in the list of distinct values. These codes are valid within the batch only; a segment or an index assigns its own
codes.
"""

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias
from uuid import UUID

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from touchstone.ranking.array_types import Ints
from touchstone.ranking.columns.evidence_columns import EvidenceColumns

_LOW_HALF: Final = 2**64 - 1
Words: TypeAlias = tuple[str, ...]
"""The value of a column of words for one record."""


@dataclass(frozen=True, slots=True)
class CodedColumn:
    """A column with few distinct values.

    Attributes:
        codes: the code of each record as int32; code 0 means unknown.
        values: the distinct values by code; code 0 has the value None.
    """

    codes: NDArray[Any]
    values: Sequence[Any]

    def decode(self) -> list[Any]:
        """Return the value of each record."""
        return [self.values[code] for code in self.codes.tolist()]


@dataclass(frozen=True, slots=True)
class RecordBatch:
    """A batch of records with distinct ids, column by column.

    Attributes:
        columns: the columns by name: numbers as float64 (NaN if unknown), flags as int8 (1, 0, or -1 if unknown),
            `id`, `created_at` and `updated_at` as int64 (times in microseconds since 1970), and the two halves of
            `dataset_id`, `uuid_high` and `uuid_low`, as uint64.
        texts: TEXT_COLUMNS by name, as Arrow arrays of the type `large_string` (null if unknown). A hidden record
            has the visibility `private`.
        words: WORD_COLUMNS by name. The values are tuples of strings.
        owners: the users who own the records. The values are UUIDs.
        evidence: the known values at the assurances above `declared`, with positions within the batch.
    """

    columns: Mapping[str, NDArray[Any]]
    texts: Mapping[str, pa.Array]
    words: Mapping[str, CodedColumn]
    owners: CodedColumn
    evidence: EvidenceColumns

    @property
    def size(self) -> int:
        """The number of records."""
        return len(self.ids)

    @property
    def ids(self) -> Ints:
        """The id of each record."""
        return self.columns["id"]


def split_uuids(uuids: Sequence[UUID]) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Return the upper and the lower 64 bits of UUIDs."""
    numbers = [uuid.int for uuid in uuids]
    high_halves = np.array([number >> 64 for number in numbers], np.uint64)
    low_halves = np.array([number & _LOW_HALF for number in numbers], np.uint64)
    return high_halves, low_halves


def encode_values(values: Collection[Hashable | None]) -> CodedColumn:
    """Encode values as a column of codes.

    None, which means unknown, has code 0.
    """
    codes_by_value: dict[Hashable | None, int] = {None: 0}
    codes = [codes_by_value.setdefault(value, len(codes_by_value)) for value in values]
    return CodedColumn(np.array(codes, np.int32), list(codes_by_value))


def encode_arrow_values(values: pa.Array) -> CodedColumn:
    """Encode an Arrow array, for example of texts, as a column of codes.

    Null has code 0.
    """
    encoded_values = values.dictionary_encode()
    distinct_values = encoded_values.dictionary.to_pylist()

    # In Arrow, the first value has code 0, and null has no code.
    arrow_codes = encoded_values.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    codes = (arrow_codes + 1).astype(np.int32)
    return CodedColumn(codes, [None, *distinct_values])
