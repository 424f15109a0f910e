"""Conversion of rows of the table `datasets` to the record batches from which the catalog in memory is built.

Whole columns are converted at once, without a Python object for each row. The result is the same as if
`to_catalog_row` had converted each row.
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

# Users write `metadata`, so a member may be of any JSON type. Of the number of rows, it only matters whether it is one.
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
"""For each word column, the function that converts a member of `metadata`, or None if it is missing, to words."""
_MAX_KNOWN_TEXTS: Final = 20_000
"""How many texts of a column are remembered with what they stand for, a few megabytes."""
_NO_PLACE: Final = -1


class RowConverter:
    """Converts rows of the table to record batches. It must be closed after use."""

    def __init__(self, thread_count: int | None = None) -> None:
        """Prepare to read the members of `metadata` with so many threads, by default one for each processor."""
        import duckdb  # noqa: PLC0415 - takes long to import, and only a process that reads many rows needs it

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
        """Return rows of `store.CATALOG_QUERY` as a record batch."""
        return RecordBatch(
            columns=_to_columns(rows),
            texts=_to_texts(rows),
            words={**self._to_words(rows), **self._to_label_words(rows["metadata"])},
            owners=_to_owners(rows["owner"]),
            evidence=self._evidence_decoder.decode(rows["attribute_evidence"]),
        )

    def _to_words(self, rows: pa.RecordBatch) -> dict[str, CodedColumn]:
        """Return the attributes that are lists of words."""
        return {name: decoder.decode(rows[name]) for name, decoder in self._word_decoders.items()}

    def _to_label_words(self, metadata: pa.Array) -> dict[str, CodedColumn]:
        """Return the word columns that come from the metadata of the records."""
        self._duckdb.register("metadata_rows", pa.table({"metadata": metadata}))
        labels = self._duckdb.sql(_SELECT_LABELS).to_arrow_table()
        return {name: decoder.decode(labels[name].combine_chunks()) for name, decoder in self._label_decoders.items()}


def _to_columns(rows: pa.RecordBatch) -> dict[str, NDArray[Any]]:
    """Return the columns of numbers, flags, ids and times."""
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
    """Return the high and the low half of each UUID, which consists of 16 bytes, the most significant first."""
    _, values_buffer = uuids.buffers()
    # The buffer may be that of a longer array, in which these UUIDs begin at `uuids.offset`.
    halves = np.frombuffer(values_buffer, ">u8", count=2 * len(uuids), offset=16 * uuids.offset).reshape(-1, 2)
    return halves[:, 0].astype(np.uint64), halves[:, 1].astype(np.uint64)


def _to_texts(rows: pa.RecordBatch) -> dict[str, pa.Array]:
    """Return the columns of texts; a hidden record counts as a private one."""
    texts = {name: rows[name] for name in TEXT_COLUMNS}

    is_public = pc.and_(pc.equal(rows["visibility"], "public"), pc.invert(rows["is_hidden"]))
    public = pa.scalar("public", pa.large_string())
    private = pa.scalar("private", pa.large_string())
    texts["visibility"] = pc.if_else(is_public, public, private)
    return texts


def _to_word_list(words: Any) -> Words | None:
    """Return the words of an attribute; None is "not known", which is not the same as an empty list."""
    return None if words is None else tuple(words)


class _WordListDecoder:
    """Decodes lists of words of a column from JSON, each distinct text only once."""

    def __init__(self, to_words: Callable[[Any], Words | None]) -> None:
        """Prepare to decode; `to_words` converts a decoded value, or None for null, to words."""
        self._to_words = to_words
        self._words_by_text: dict[str, Words | None] = {}

    def decode(self, texts: pa.Array) -> CodedColumn:
        """Return the list of words of each text."""
        coded_texts = encode_arrow_values(texts)
        distinct_texts = coded_texts.values[1:]
        if len(self._words_by_text) + len(distinct_texts) > _MAX_KNOWN_TEXTS:
            self._words_by_text.clear()
        self._add([text for text in distinct_texts if text not in self._words_by_text])

        # Different texts may stand for the same words, so the words get codes of their own.
        words_of_texts = [self._words_by_text[text] for text in distinct_texts]
        word_lists = encode_values([self._to_words(None), *words_of_texts])
        return CodedColumn(word_lists.codes[coded_texts.codes], word_lists.values)

    def _add(self, texts: Sequence[str]) -> None:
        """Decode texts that have not been decoded yet."""
        values = msgspec.json.decode("[" + ",".join(texts) + "]")
        self._words_by_text |= {text: self._to_words(value) for text, value in zip(texts, values, strict=True)}


def _to_owners(owners: pa.Array) -> CodedColumn:
    """Return the owners of the records."""
    coded_owners = encode_arrow_values(owners)
    uuids = [UUID(bytes=octets) for octets in coded_owners.values[1:]]
    return CodedColumn(coded_owners.codes, [None, *uuids])


class _EvidenceDecoder:
    """Decodes the evidence about records from JSON, each distinct text only once."""

    def __init__(self) -> None:
        self._forget()

    def _forget(self) -> None:
        """Forget the texts that have been decoded so far."""
        self._evidence = EvidenceWriter()
        # For each text the place of its evidence in the columns of the writer, or _NO_PLACE if it states none.
        self._places: dict[str, int] = {}

    def decode(self, texts: pa.Array) -> EvidenceColumns:
        """Return the evidence about the records that have any."""
        coded_texts = encode_arrow_values(texts)
        distinct_texts = coded_texts.values[1:]
        if len(self._places) + len(distinct_texts) > _MAX_KNOWN_TEXTS:
            self._forget()
        self._add([text for text in distinct_texts if text not in self._places])

        # Code 0, of a record without evidence, precedes the codes of the distinct texts.
        places_by_code = np.array([_NO_PLACE, *(self._places[text] for text in distinct_texts)])
        places = places_by_code[coded_texts.codes]
        positions = np.flatnonzero(places != _NO_PLACE)
        return self._evidence.snapshot().select(places[positions], positions)

    def _add(self, texts: Sequence[str]) -> None:
        """Decode texts that have not been decoded yet."""
        evidence_by_text = msgspec.json.decode("[" + ",".join(texts) + "]", type=list[dict[str, AttributeEvidence]])
        evidence = encode_evidence(evidence_by_text)

        first_place = len(self._evidence.snapshot().positions)
        self._places |= dict.fromkeys(texts, _NO_PLACE)
        for place, index in enumerate(evidence.positions.tolist(), start=first_place):
            self._places[texts[index]] = place
        self._evidence.extend(evidence, first_position=0)
