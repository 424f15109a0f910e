"""Conversion of dataset records to JSON for clients, and to rows of the in-memory catalog."""

import math
from collections.abc import Mapping, Sequence
from datetime import datetime
from hashlib import blake2b
from typing import Any, Final, NamedTuple
from uuid import UUID

import msgspec
import numpy as np
from numpy.typing import NDArray

from touchstone.core.attributes import BY_NAME, WORDS, Kind
from touchstone.ranking.columns.segment import CatalogRow
from touchstone.ranking.criteria import COMPOSITES, CRITERIA
from touchstone.services.selection.datasets.dataset_record import DatasetRecord
from touchstone.services.selection.datasets.label_words import label_words

_COMPOSITE_CRITERIA: Final = tuple(criterion for criterion in CRITERIA if criterion.name in COMPOSITES)
_COMPOSITE_FACTS: Final = frozenset(fact for criterion in _COMPOSITE_CRITERIA for fact in criterion.facts)


class EncodedRecord(NamedTuple):
    """The JSON of a dataset record, with the information about who may see it."""

    id: int
    body: bytes
    is_public: bool
    owner: UUID | None
    content_bytes: int

    @property
    def etag(self) -> str:
        """The strong entity tag of the record (RFC 9110, section 8.8.3), which is a digest of its JSON.

        A version number would reveal how often other users write to the catalog, whereas a digest reveals nothing.
        """
        return f'"{blake2b(self.body, digest_size=16).hexdigest()}"'

    def is_visible_to(self, viewer: UUID | None) -> bool:
        """Return whether the viewer may see the record."""
        return self.is_public or (viewer is not None and viewer == self.owner)


def record_objects(records: Sequence[DatasetRecord]) -> list[dict[str, Any]]:
    """Convert dataset records to the JSON objects that clients receive, in the same order."""
    scores_of_records = _composite_scores(records)
    return [_to_json(record, scores) for record, scores in zip(records, scores_of_records, strict=True)]


def encode_records(records: Sequence[DatasetRecord]) -> dict[int, EncodedRecord]:
    """Encode dataset records as the JSON that clients receive, and return them by id."""
    encoded_records: dict[int, EncodedRecord] = {}
    for record, json_object in zip(records, record_objects(records), strict=True):
        encoded_records[record.id] = EncodedRecord(
            id=record.id,
            body=msgspec.json.encode(json_object),
            is_public=record.is_public,
            owner=record.owner,
            content_bytes=record.content_bytes,
        )

    return encoded_records


def encode_records_without_metadata(records: Sequence[DatasetRecord]) -> dict[int, bytes]:
    """Return the JSON of records that were read without their `metadata`, keyed by id.

    The member `metadata_omitted` tells clients to request the record individually if they need its `metadata`.
    """
    bodies: dict[int, bytes] = {}
    for record, json_object in zip(records, record_objects(records), strict=True):
        bodies[record.id] = msgspec.json.encode({**json_object, "metadata_omitted": True})

    return bodies


def _composite_scores(records: Sequence[DatasetRecord]) -> list[dict[str, float]]:
    """Return the composite scores of each record, keyed by name, in the order of the records.

    They are computed from the given records, because the in-memory catalog may be newer or older.
    """
    columns = {name: _attribute_column(records, name) for name in _COMPOSITE_FACTS}
    score_columns = [criterion.compute(columns).tolist() for criterion in _COMPOSITE_CRITERIA]
    return [dict(zip(COMPOSITES, scores, strict=True)) for scores in zip(*score_columns, strict=True)]


def _attribute_column(records: Sequence[DatasetRecord], name: str) -> NDArray[Any]:
    """Return a flag or a number of all records, with -1 for an unknown flag and NaN for an unknown number."""
    values: list[Any] = [record.attributes[name] for record in records]
    if BY_NAME[name].kind is Kind.FLAG:
        return np.array([-1 if value is None else value for value in values], np.int8)
    return np.array([math.nan if value is None else value for value in values], np.float64)


def encode_members(value: msgspec.Struct) -> bytes:
    """Return the JSON of an object without its opening brace, to append it to an incomplete object.

    Long responses are assembled from pieces that are encoded already, which saves most of the encoding time.
    """
    return msgspec.json.encode(value)[1:]


def to_catalog_row(record: DatasetRecord) -> CatalogRow:
    """Convert a stored record to a row of the in-memory catalog.

    Lists of words become tuples, times become microseconds, and hidden records become private.
    """
    attributes: dict[str, Any] = dict(record.attributes)
    for name in WORDS:
        if attributes[name] is not None:
            attributes[name] = tuple(attributes[name])

    return CatalogRow(
        id=record.id,
        dataset_id=record.dataset_id,
        owner=record.owner,
        visibility="public" if record.is_public else "private",
        description=record.description,
        file_path=record.file_path,
        file_type=record.file_type,
        **label_words(record.labels),
        created_at=to_microseconds(record.created_at),
        updated_at=to_microseconds(record.updated_at),
        evidence=record.attribute_evidence,
        **attributes,
    )


def to_microseconds(time: datetime) -> int:
    """Convert a time to the number of microseconds since 1970.

    The microseconds are added separately, because a float timestamp is not exact enough.
    """
    whole_seconds = int(time.timestamp())
    return whole_seconds * 1_000_000 + time.microsecond


def _to_json(record: DatasetRecord, scores: Mapping[str, float]) -> dict[str, Any]:
    """Convert a record and its composite scores to the JSON object that clients receive.

    The object contains the name of the dataset as both `name` and `dataset_name`. Hidden records appear as private.
    """
    name = record.attributes["dataset_name"]
    other_attributes = {key: value for key, value in record.attributes.items() if key != "dataset_name"}

    return {
        "id": record.id,
        "dataset_id": record.dataset_id,
        "name": name,
        "dataset_name": name,
        "description": record.description,
        "file_path": record.file_path,
        "file_type": record.file_type,
        "metadata": _metadata_json(record),
        "visibility": "public" if record.is_public else "private",
        "hidden": record.is_hidden,
        "hidden_reason": record.hidden_reason,
        "declared_by": _owner_json(record),
        **other_attributes,
        **scores,
        "created_at": record.created_at,
        "updated_at": record.updated_at,
    }


def _metadata_json(record: DatasetRecord) -> dict[str, Any] | None:
    """Return the metadata of a record, with the attributes that were filled in from the measurement."""
    metadata = record.metadata
    if not metadata or "measured" not in metadata:
        return metadata
    return {**metadata, "measured": {**metadata["measured"], "filled": record.measured_attributes or []}}


def _owner_json(record: DatasetRecord) -> dict[str, Any] | None:
    """Convert the owner of a record to JSON, or return None if there is no owner."""
    if record.owner is None:
        return None
    return {"id": record.owner, "pseudo": record.owner_pseudo}
