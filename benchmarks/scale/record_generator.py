"""Random rows of the table `datasets` as Arrow batches, with the size and the distribution of real data.

Values are drawn from the demo catalog, so that the share of missing values is realistic, and numbers are varied at
random. Names and descriptions also contain invented place names, a few of which are frequent while most are rare.
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from functools import cached_property
from itertools import product
from typing import Any, Final
from uuid import UUID

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from touchstone.core.attributes import ATTRIBUTES, Kind
from touchstone.core.evidence import CLAIMED_ATTRIBUTES, AttributeEvidence, EvidenceLevel
from touchstone.demo.packaged_records import PackagedRecord, read_records
from touchstone.services.selection.datasets.source_digests import source_digest

BATCH_RECORDS: Final = 50_000
EVIDENCE_SHARE: Final = 0.08
PRIVATE_SHARE: Final = 0.02
_REVIEWED_SHARE: Final = 0.2  # of the records with evidence
_DATA_FILE_SHARE: Final = 0.3
_WITHOUT_OWNER_SHARE: Final = 0.3
_OWNER_COUNT: Final = 1000
_RECORDS_PER_IMPORT: Final = 1000  # records of one import have the same times
_FIRST_IMPORT: Final = datetime(2020, 1, 1, tzinfo=UTC)
_SECONDS_BETWEEN_IMPORTS: Final = 600
_BYTES_OF_SMALL_FIELDS: Final = 700
_MAX_DEMO_NAME: Final = 180
_VARIED_NUMBERS: Final = ("instances_number", "features_number", "citations")

_FIRST_SYLLABLES: Final = "ba ce di fo gu ha je ki lo mu na or pe qui ro sa te ul vi wé"
_MIDDLE_SYLLABLES: Final = "bar cen dil fon gur han jen kil lor mun nar ost per ril sol tan uln vin wer zur"
_LAST_SYLLABLES: Final = (
    "berg burn by dale deen don field ford gate ham holm hurst ière land ley mar mere minster mont more mouth na "
    "nesse polis port ridge rock sea stead stock stone stow thorpe ton vale ville water wick wold worth"
)

Generator = np.random.Generator


class _Source(msgspec.Struct):
    """The source in the metadata of a record, as far as it identifies the record."""

    name: str
    key: str


class _Metadata(msgspec.Struct):
    """The part of the metadata of a record that identifies it."""

    source: _Source


class RecordGenerator:
    """A generator of catalog rows. A batch depends only on the seed, the first id and the number of rows."""

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed
        self._records = [record for record in read_records() if record.claims]
        self._place_names = pa.array(invented_words())
        self._source_openings = pa.array([_source_opening(record) for record in self._records])
        self._labels = pa.array([_label_members(record) for record in self._records])

    def batches(self, first_id: int, count: int) -> Iterator[pa.RecordBatch]:
        """Yield `count` rows with ids from `first_id` on."""
        end_id = first_id + count
        for batch_first_id in range(first_id, end_id, BATCH_RECORDS):
            batch_count = min(BATCH_RECORDS, end_id - batch_first_id)
            yield self.batch(batch_first_id, batch_count)

    def batch(self, first_id: int, count: int) -> pa.RecordBatch:
        """Return `count` rows of the table `datasets`, with JSON and UUIDs as strings."""
        rng = np.random.default_rng([self.seed, first_id])
        ids = np.arange(first_id, first_id + count)
        description = self._descriptions(rng, count)
        metadata = self._metadata(rng, ids)
        owner_and_visibility = _owner_and_visibility(rng, count)

        columns = {
            "id": pa.array(ids),
            "dataset_id": _random_hexadecimals(rng, count, 16),
            **owner_and_visibility,
            "description": description,
            **_data_files(rng, ids),
            **self._attributes(rng, count),
            "metadata": metadata,
            "measured_attributes": pa.nulls(count, pa.string()),
            "declared_at": pa.nulls(count, pa.string()),
            "is_hidden": pa.repeat(pa.scalar(False), count),
            "hidden_reason": pa.nulls(count, pa.string()),
            "source_digest": _source_digests(owner_and_visibility["owner"], metadata),
            **_times(ids),
            "changed_at_version": pa.array(np.ones(count, np.int64)),
            "bytes": _content_sizes(description, metadata),
        }
        return pa.RecordBatch.from_pydict(columns)

    def _attributes(self, rng: Generator, count: int) -> dict[str, pa.Array]:
        """Return the attributes of all records, and the evidence about a share of them.

        Each attribute is drawn independently of the others. If a record has evidence, however, this evidence and the
        attributes that it is about come from one record of the demo catalog, because they have to agree.
        """
        has_evidence = rng.random(count) < EVIDENCE_SHARE
        evidence_sources = rng.integers(0, len(self._records), count)

        columns: dict[str, pa.Array] = {}
        for attribute in ATTRIBUTES:
            sources = rng.integers(0, len(self._records), count)
            if attribute.name in CLAIMED_ATTRIBUTES:
                sources = np.where(has_evidence, evidence_sources, sources)
            columns[attribute.name] = self._attribute_values[attribute.name].take(pa.array(sources))

        for name in _VARIED_NUMBERS:
            columns[name] = _vary_numbers(rng, columns[name], is_fixed=has_evidence)
        columns["dataset_name"] = self._names(rng, columns["dataset_name"])

        is_reviewed = rng.random(count) < _REVIEWED_SHARE
        evidence_numbers = np.where(is_reviewed, evidence_sources + len(self._records), evidence_sources)
        evidence = self._evidence.take(pa.array(evidence_numbers))
        columns["attribute_evidence"] = pc.if_else(pa.array(has_evidence), evidence, None)
        return columns

    @cached_property
    def _attribute_values(self) -> dict[str, pa.Array]:
        """The values of each attribute in the demo catalog, with lists of words as JSON."""
        values_by_attribute: dict[str, pa.Array] = {}
        for attribute in ATTRIBUTES:
            values = [record.attributes[attribute.name] for record in self._records]
            if attribute.kind is Kind.WORDS:
                values = [None if words is None else _json_text(words) for words in values]
            values_by_attribute[attribute.name] = pa.array(values, _ARROW_TYPES[attribute.kind])
        return values_by_attribute

    @cached_property
    def _evidence(self) -> pa.Array:
        """The evidence for each record of the demo catalog as JSON: first all of it as documented, then as reviewed."""
        documented_evidence = [_evidence_json(record, EvidenceLevel.DOCUMENTED) for record in self._records]
        reviewed_evidence = [_evidence_json(record, EvidenceLevel.REVIEWED) for record in self._records]
        return pa.array(documented_evidence + reviewed_evidence)

    def _names(self, rng: Generator, demo_names: pa.Array) -> pa.Array:
        """Return names that consist of a demo name, a place and a number. Not all of them are unique."""
        beginnings = pc.utf8_slice_codeunits(demo_names, 0, _MAX_DEMO_NAME)
        editions = _as_strings(rng.integers(1, 20, len(demo_names)))
        return pc.binary_join_element_wise(beginnings, self._places(rng, len(demo_names)), editions, " ")

    def _descriptions(self, rng: Generator, count: int) -> pa.Array:
        """Return descriptions that consist of two descriptions of the demo catalog and a sentence about places."""
        demo_descriptions = pa.array([record.description for record in self._records])
        first_parts = _draw(rng, demo_descriptions, count)
        second_parts = _draw(rng, demo_descriptions, count)
        years = _as_strings(rng.integers(1980, 2026, count))

        places = pc.binary_join_element_wise(
            "Collected in", self._places(rng, count), "and", self._places(rng, count), "since", years, " "
        )
        return pc.binary_join_element_wise(first_parts, second_parts, places, " ")

    def _places(self, rng: Generator, count: int) -> pa.Array:
        """Return invented place names, a few of which are frequent while most are rare."""
        indices = _skewed_choices(rng, len(self._place_names), count)
        return self._place_names.take(pa.array(indices))

    def _metadata(self, rng: Generator, ids: NDArray[np.int64]) -> pa.Array:
        """Return the metadata as JSON: a source with a key, labels, and for a share of the records a file profile."""
        count = len(ids)
        source_openings = _draw(rng, self._source_openings, count)
        labels = _draw(rng, self._labels, count)
        digests = _random_hexadecimals(rng, count, 32)
        keys = _as_strings(ids)

        is_measured = pa.array(rng.random(count) < _DATA_FILE_SHARE)
        row_counts = np.exp(rng.normal(8.0, 2.0, count)).astype(np.int64)
        measurements = pc.binary_join_element_wise(
            ',"measured":{"rows":',
            _as_strings(row_counts),
            ',"columns":12,"missing_percentage":0.5,"sha256":"',
            digests,
            '"}',
            "",
        )
        return pc.binary_join_element_wise(
            source_openings,
            keys,
            '","sha256":"',
            digests,
            '"}',
            labels,
            pc.if_else(is_measured, measurements, ""),
            "}",
            "",
        )


_ARROW_TYPES: Final = {
    Kind.TEXT: pa.string(),
    Kind.WORDS: pa.string(),
    Kind.INTEGER: pa.int64(),
    Kind.PERCENTAGE: pa.float64(),
    Kind.FLAG: pa.bool_(),
}


def invented_words() -> list[str]:
    """Return all words that can be made of the syllables, in random order. The first ones are used most often."""
    middle_syllables = _MIDDLE_SYLLABLES.split()
    combinations = product(_FIRST_SYLLABLES.split(), middle_syllables, middle_syllables, _LAST_SYLLABLES.split())
    words = ["".join(syllables).capitalize() for syllables in combinations]

    np.random.default_rng(0).shuffle(words)
    return words


def _source_opening(record: PackagedRecord) -> str:
    """Return the metadata of a record as JSON, cut off where the value of the key in its source begins."""
    source = record.metadata.get("source") or {}
    members = {name: source[name] for name in ("kind", "name", "url") if name in source}
    source_with_empty_key = _json_text({"source": {**members, "key": ""}})
    return source_with_empty_key.removesuffix('"}}')


def _label_members(record: PackagedRecord) -> str:
    """Return the licence, the language and the tags of a record as members of a JSON object, after a comma."""
    members = {name: record.metadata[name] for name in ("licence", "language", "tags") if name in record.metadata}
    if not members:
        return ""
    json_members = _json_text(members).removeprefix("{").removesuffix("}")
    return f",{json_members}"


def _evidence_json(record: PackagedRecord, level: EvidenceLevel) -> str:
    """Return the evidence for the claimed attributes of a record as JSON, with the same level for all of them."""
    evidence: dict[str, AttributeEvidence] = {}
    for name in {claim.attribute for claim in record.claims}:
        shown_value = record.attributes[name]
        reviewed_value = shown_value if level is EvidenceLevel.REVIEWED else None
        evidence[name] = AttributeEvidence(level=level, documented=shown_value, reviewed=reviewed_value)
    return _json_text(evidence)


def _json_text(value: Any) -> str:
    """Return a value as compact JSON."""
    return msgspec.json.encode(value).decode()


def _draw(rng: Generator, values: pa.Array, count: int) -> pa.Array:
    """Return uniformly distributed random values of an array."""
    indices = rng.integers(0, len(values), count)
    return values.take(pa.array(indices))


def _as_strings(numbers: NDArray[np.int64]) -> pa.Array:
    """Return numbers as strings."""
    return pa.array(numbers).cast(pa.string())


def _skewed_choices(rng: Generator, choice_count: int, count: int) -> NDArray[np.int64]:
    """Return random indices below `choice_count`; the n-th index is n times as rare as the first one (Zipf's law)."""
    frequencies = 1.0 / np.arange(1, choice_count + 1)
    cumulative_shares = np.cumsum(frequencies / frequencies.sum())
    indices = np.searchsorted(cumulative_shares, rng.random(count))
    return indices.clip(0, choice_count - 1)


def _random_hexadecimals(rng: Generator, count: int, byte_count: int) -> pa.Array:
    """Return random strings of hexadecimal digits that encode `byte_count` bytes each."""
    digit_count = 2 * byte_count
    digits = rng.bytes(count * byte_count).hex().encode()
    offsets = np.arange(0, (count + 1) * digit_count, digit_count, dtype=np.int32)
    return pa.Array.from_buffers(pa.string(), count, [None, pa.py_buffer(offsets), pa.py_buffer(digits)])


def _owner_and_visibility(rng: Generator, count: int) -> dict[str, pa.Array]:
    """Return the owner and the visibility of each record. A few owners have most of the records."""
    owner_ids = pa.array([f"{number:032x}" for number in range(1, _OWNER_COUNT + 1)])
    owner_indices = _skewed_choices(rng, _OWNER_COUNT, count)
    owner = owner_ids.take(pa.array(owner_indices))
    has_owner = rng.random(count) >= _WITHOUT_OWNER_SHARE
    is_private = has_owner & (rng.random(count) < PRIVATE_SHARE)
    return {
        "owner": pc.if_else(pa.array(has_owner), owner, None),
        "visibility": pc.if_else(pa.array(is_private), "private", "public"),
    }


def _source_digests(owners: pa.Array, metadata: pa.Array) -> pa.Array:
    """Return the import keys of the records."""
    decode = msgspec.json.Decoder(_Metadata).decode
    digests: list[str] = []
    for owner, metadata_json in zip(owners.to_pylist(), metadata.to_pylist(), strict=True):
        source = decode(metadata_json).source
        owner_id = None if owner is None else UUID(owner)
        digests.append(source_digest(owner_id, None, source.name, source.key))
    return pa.array(digests)


def _data_files(rng: Generator, ids: NDArray[np.int64]) -> dict[str, pa.Array]:
    """Return the paths and types of the data files, or empty strings for records without a file."""
    has_file = pa.array(rng.random(len(ids)) < _DATA_FILE_SHARE)
    file_type = _draw(rng, pa.array(["csv", "parquet", "json"]), len(ids))
    file_path = pc.binary_join_element_wise("bench/", _as_strings(ids), ".", file_type, "")
    return {"file_path": pc.if_else(has_file, file_path, ""), "file_type": pc.if_else(has_file, file_type, "")}


def _vary_numbers(rng: Generator, values: pa.Array, *, is_fixed: NDArray[np.bool_]) -> pa.Array:
    """Return whole numbers multiplied by random factors, except those for which `is_fixed` is true."""
    factors = np.where(is_fixed, 1.0, np.exp(rng.normal(0.0, 0.5, len(values))))
    varied_numbers = pc.floor(pc.multiply(values.cast(pa.float64()), pa.array(factors)))
    return varied_numbers.cast(pa.int64())


def _times(ids: NDArray[np.int64]) -> dict[str, pa.Array]:
    """Return the import timestamps of the records, which are equal for each thousand records."""
    import_numbers = ids // _RECORDS_PER_IMPORT
    seconds = int(_FIRST_IMPORT.timestamp()) + import_numbers * _SECONDS_BETWEEN_IMPORTS
    times = pa.array(seconds * 1_000_000, pa.timestamp("us", tz="UTC"))
    return {"created_at": times, "updated_at": times}


def _content_sizes(description: pa.Array, metadata: pa.Array) -> pa.Array:
    """Return the approximate size of the records as JSON, in bytes."""
    text_bytes = pc.add(pc.binary_length(description), pc.binary_length(metadata))
    return pc.add(text_bytes, _BYTES_OF_SMALL_FIELDS).cast(pa.int64())
