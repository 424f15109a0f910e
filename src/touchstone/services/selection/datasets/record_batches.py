"""Conversion of rows of the table `datasets` to record batches for the in-memory catalog.

Whole columns are converted together, without a Python object for each row. The result is the same as if each row were
converted with `to_catalog_row`.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final
from uuid import UUID

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from touchstone.core.attributes import NUMBERS, WORDS
from touchstone.core.evidence import AttributeEvidence
from touchstone.ranking.columns.evidence_columns import EvidenceColumns, EvidenceWriter, encode_evidence
from touchstone.ranking.columns.record_batch import CodedColumn, RecordBatch, Words, encode_arrow_values, encode_values
from touchstone.ranking.columns.segment import INTEGER_COLUMNS, TEXT_COLUMNS
from touchstone.services.selection.datasets.label_words import licence_words, optional_words, trainable_words
from touchstone.services.selection.datasets.packed_flags import unpack_flags

# Metadata is free-form, so members may be of any JSON type. It only matters whether the number of rows is an integer.
# Booleans count as integers, as in `trainable_words`.
_SELECT_LABELS: Final = """
    WITH labels AS (
        SELECT json_extract(
            metadata, ['$.licence', '$.language', '$.source.name', '$.tags', '$.measured.rows']
        ) AS members
        FROM metadata_rows
    )
    SELECT
        CAST(members[1] AS VARCHAR) AS license,
        CAST(members[2] AS VARCHAR) AS language,
        CAST(members[3] AS VARCHAR) AS source,
        CAST(members[4] AS VARCHAR) AS tags,
        CASE WHEN regexp_full_match(CAST(members[5] AS VARCHAR), '-?[0-9]+|true|false') THEN '1' END AS trainable
    FROM labels
"""
_LABEL_WORDS: Final[Mapping[str, Callable[[object], Words | None]]] = {
    "license": licence_words,
    "language": optional_words,
    "source": optional_words,
    "tags": optional_words,
    "trainable": trainable_words,
}
"""For each word column, the function that converts the member of `metadata`, or None if it is missing, to words."""
# The maximum number of decoded values to cache for a column, which take a few megabytes.
_MAX_CACHED_VALUES: Final = 20_000
# Marks records without evidence in an array of positions.
_NO_EVIDENCE: Final = -1


class RowConverter:
    """Converts rows of the table to record batches. It must be closed after use."""

    def __init__(self, thread_count: int | None = None) -> None:
        """Create a converter that parses `metadata` with `thread_count` threads, by default one per processor."""
        import duckdb  # noqa: PLC0415 - slow to import, and only needed in processes that read many rows

        # DuckDB must not download extensions.
        config: dict[str, Any] = {"autoinstall_known_extensions": False}
        if thread_count is not None:
            config["threads"] = thread_count
        self._duckdb = duckdb.connect(config=config)
        self._word_decoders = {name: _WordListDecoder(_to_word_list) for name in WORDS}
        self._label_decoders = {name: _WordListDecoder(to_words) for name, to_words in _LABEL_WORDS.items()}
        self._evidence_decoder = _EvidenceDecoder()

    def close(self) -> None:
        """Release the memory of DuckDB."""
        self._duckdb.close()

    def convert(self, rows: pa.RecordBatch) -> RecordBatch:
        """Convert rows of `store.CATALOG_QUERY` to a record batch."""
        return RecordBatch(
            columns=_to_columns(rows),
            texts=_to_texts(rows),
            words={**self._to_words(rows), **self._to_label_words(rows["metadata"])},
            owners=_to_owners(rows["owner"]),
            evidence=self._evidence_decoder.decode(rows["attribute_evidence"]),
        )

    def _to_words(self, rows: pa.RecordBatch) -> dict[str, CodedColumn]:
        """Convert the attributes that are lists of words."""
        return {name: decoder.decode(rows[name]) for name, decoder in self._word_decoders.items()}

    def _to_label_words(self, metadata: pa.Array) -> dict[str, CodedColumn]:
        """Return the word columns that are derived from the metadata of the records."""
        self._duckdb.register("metadata_rows", pa.table({"metadata": metadata}))
        labels = self._duckdb.sql(_SELECT_LABELS).to_arrow_table()
        return {name: decoder.decode(labels[name].combine_chunks()) for name, decoder in self._label_decoders.items()}


def _to_columns(rows: pa.RecordBatch) -> dict[str, NDArray[Any]]:
    """Convert the columns of numbers, flags, ids and times."""
    columns: dict[str, NDArray[Any]] = {}
    for name in NUMBERS:
        numbers = rows[name].cast(pa.float64(), safe=False)
        columns[name] = numbers.fill_null(np.nan).to_numpy(zero_copy_only=False)
    for name in INTEGER_COLUMNS:
        columns[name] = rows[name].cast(pa.int64()).to_numpy()

    columns["uuid_high"], columns["uuid_low"] = _split_uuids(rows["dataset_id"])
    columns |= unpack_flags(rows["flags"].to_numpy())
    return columns


def _split_uuids(uuids: pa.Array) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Return the high and the low half of each UUID as uint64. The UUIDs are given as 16 big-endian bytes."""
    _, values_buffer = uuids.buffers()
    # The buffer may belong to a longer array, in which these UUIDs begin at `uuids.offset`.
    halves = np.frombuffer(values_buffer, ">u8", count=2 * len(uuids), offset=16 * uuids.offset).reshape(-1, 2)
    return halves[:, 0].astype(np.uint64), halves[:, 1].astype(np.uint64)


def _to_texts(rows: pa.RecordBatch) -> dict[str, pa.Array]:
    """Return the text columns, with `private` as the visibility of hidden records."""
    texts = {name: rows[name] for name in TEXT_COLUMNS}

    is_public = pc.and_(pc.equal(rows["visibility"], "public"), pc.invert(rows["is_hidden"]))
    public = pa.scalar("public", pa.large_string())
    private = pa.scalar("private", pa.large_string())
    texts["visibility"] = pc.if_else(is_public, public, private)
    return texts


def _to_word_list(words: Any) -> Words | None:
    """Convert the words of an attribute, which are None if they are unknown."""
    return None if words is None else tuple(words)


class _WordListDecoder:
    """Decodes the lists of words in a JSON column, and caches the result for each distinct value."""

    def __init__(self, to_words: Callable[[Any], Words | None]) -> None:
        """Create a decoder. `to_words` converts a decoded JSON value, which is None for null, to words."""
        self._to_words = to_words
        self._words_by_json: dict[str, Words | None] = {}

    def decode(self, json_values: pa.Array) -> CodedColumn:
        """Return the list of words for each JSON value."""
        coded_values = encode_arrow_values(json_values)
        distinct_values = coded_values.values[1:]
        if len(self._words_by_json) + len(distinct_values) > _MAX_CACHED_VALUES:
            self._words_by_json.clear()
        self._decode_new([value for value in distinct_values if value not in self._words_by_json])

        # Different JSON values may decode to the same words, so the words get separate codes.
        words_of_values = [self._words_by_json[value] for value in distinct_values]
        word_lists = encode_values([self._to_words(None), *words_of_values])
        return CodedColumn(word_lists.codes[coded_values.codes], word_lists.values)

    def _decode_new(self, json_values: Sequence[str]) -> None:
        """Decode and cache JSON values that are not in the cache, with a single call."""
        decoded_values = msgspec.json.decode("[" + ",".join(json_values) + "]")
        for json_value, decoded_value in zip(json_values, decoded_values, strict=True):
            self._words_by_json[json_value] = self._to_words(decoded_value)


def _to_owners(owners: pa.Array) -> CodedColumn:
    """Convert the owners of the records, which are given as 16 bytes each, to UUIDs."""
    coded_owners = encode_arrow_values(owners)
    uuids = [UUID(bytes=uuid_bytes) for uuid_bytes in coded_owners.values[1:]]
    return CodedColumn(coded_owners.codes, [None, *uuids])


class _EvidenceDecoder:
    """Decodes the evidence about records from JSON, and caches the result for each distinct value."""

    def __init__(self) -> None:
        self._clear_cache()

    def _clear_cache(self) -> None:
        """Drop all values that have been decoded so far."""
        # The distinct evidence, column by column.
        self._evidence = EvidenceWriter()
        # The position of each JSON value in these columns, or _NO_EVIDENCE if the value contains no evidence.
        self._cached_positions: dict[str, int] = {}

    def decode(self, json_values: pa.Array) -> EvidenceColumns:
        """Return the evidence about the records that have any."""
        coded_values = encode_arrow_values(json_values)
        distinct_values = coded_values.values[1:]
        if len(self._cached_positions) + len(distinct_values) > _MAX_CACHED_VALUES:
            self._clear_cache()
        self._decode_new([value for value in distinct_values if value not in self._cached_positions])

        # Code 0 belongs to records without evidence. The codes of the distinct values follow.
        positions_by_code = np.array([_NO_EVIDENCE, *(self._cached_positions[value] for value in distinct_values)])
        cached_positions = positions_by_code[coded_values.codes]
        record_positions = np.flatnonzero(cached_positions != _NO_EVIDENCE)
        return self._evidence.snapshot().select(cached_positions[record_positions], record_positions)

    def _decode_new(self, json_values: Sequence[str]) -> None:
        """Decode and cache JSON values that are not in the cache, with a single call."""
        json_array = "[" + ",".join(json_values) + "]"
        evidence = encode_evidence(msgspec.json.decode(json_array, type=list[dict[str, AttributeEvidence]]))

        next_position = len(self._evidence.snapshot().positions)
        self._cached_positions |= dict.fromkeys(json_values, _NO_EVIDENCE)
        for position, index in enumerate(evidence.positions.tolist(), start=next_position):
            self._cached_positions[json_values[index]] = position
        self._evidence.extend(evidence, first_position=0)
