"""One catalog record in its two forms: the evaluator's row, and the encoded answer that is kept for the next reader."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from hashlib import blake2b
from typing import Any, Final, NamedTuple
from uuid import UUID

import msgspec

from touchstone.core.attributes import ATTRIBUTES, WORDS, Kind
from touchstone.ranking.columns.segment import CatalogRow, SegmentWriter
from touchstone.ranking.criteria import COMPOSITES

CACHE_BYTES: Final = 64 * 1024 * 1024
_SAME: Final = tuple(name for name in CatalogRow.__struct_fields__ if name not in (*WORDS, "created_at", "updated_at"))
_BEFORE: Final = ("description", "file_path", "file_type", "metadata", "visibility")
_ATTRIBUTES: Final = tuple(a.name for a in ATTRIBUTES if a.name != "dataset_name")
_PERCENTAGES: Final = tuple(a.name for a in ATTRIBUTES if a.kind is Kind.PERCENTAGE)


class Entry(NamedTuple):
    """An encoded record: its JSON, and who may see it."""

    id: int
    body: bytes
    public: bool
    owner: UUID | None
    content_bytes: int

    @property
    def etag(self) -> str:
        """The record's entity tag (RFC 9110, section 8.8.3): a digest of the JSON.

        It tells nothing but what the JSON says. The version of the catalog would count the writes of everybody.
        """
        return f'"{blake2b(self.body, digest_size=16).hexdigest()}"'

    def visible_to(self, viewer: UUID | None) -> bool:
        """Whether the viewer may see it."""
        return self.public or (viewer is not None and viewer == self.owner)


def microseconds(instant: datetime) -> int:
    """A point in time as microseconds since the epoch, exactly."""
    return int(instant.timestamp()) * 1_000_000 + instant.microsecond


def row_of(found: Mapping[str, Any]) -> CatalogRow:
    """The evaluator's row of a database row."""
    return CatalogRow(
        **{name: found[name] for name in _SAME},
        domain=None if found["domain"] is None else tuple(found["domain"]),
        task=None if found["task"] is None else tuple(found["task"]),
        created_at=microseconds(found["created_at"]),
        updated_at=microseconds(found["updated_at"]),
    )


def record_of(found: Mapping[str, Any], scores: Mapping[str, float]) -> dict[str, Any]:
    """A record as callers see it: both shapes of the interface in one object."""
    return {
        "id": found["id"],
        "dataset_id": found["dataset_id"],
        "name": found["dataset_name"],
        "dataset_name": found["dataset_name"],
        **{name: found[name] for name in _BEFORE},
        **{name: found[name] for name in _ATTRIBUTES},
        # A whole percentage is written alike, from memory and from the database: the entity tag is a digest of it.
        **{name: float(found[name]) for name in _PERCENTAGES if found[name] is not None},
        **scores,
        "created_at": found["created_at"],
        "updated_at": found["updated_at"],
    }


def encoded(found: Sequence[Mapping[str, Any]]) -> dict[int, Entry]:
    """Database rows, encoded, by id. The scores come from the very rows, whatever the columns hold by now."""
    writer = SegmentWriter()
    writer.extend([row_of(one) for one in found])
    criteria = writer.segment().criteria
    composites = {name: criteria[name].tolist() for name in COMPOSITES}
    return {
        one["id"]: _entry(one, {name: composites[name][index] for name in COMPOSITES})
        for index, one in enumerate(found)
    }


def encoded_without_metadata(found: Sequence[Mapping[str, Any]]) -> dict[int, bytes]:
    """Return the JSON of database rows that were read without their `metadata`, by id; it says what was left out."""
    bodies = ((id_, entry.body) for id_, entry in encoded(found).items())
    return {id_: body[:-1] + b',"metadata_omitted":true}' for id_, body in bodies}


def _entry(found: Mapping[str, Any], scores: Mapping[str, float]) -> Entry:
    body = msgspec.json.encode(record_of(found, scores))
    return Entry(found["id"], body, found["visibility"] == "public", found["owner"], found.get("bytes", 0))


class RecordCache:
    """Encoded records by id, up to a number of bytes; the one that came first goes first."""

    def __init__(self, limit: int = CACHE_BYTES) -> None:
        self.limit = limit
        self.bytes = 0
        self._entries: dict[int, Entry] = {}
        self.get = self._entries.get

    def put(self, entries: Mapping[int, Entry]) -> None:
        """Keep entries."""
        self.drop(entries)
        for id_, entry in entries.items():
            self._entries[id_] = entry
            self.bytes += len(entry.body)
        while self.bytes > self.limit:
            self.drop((next(iter(self._entries)),))

    def drop(self, ids: Iterable[int] | Collection[int]) -> None:
        """Forget the entries with these ids."""
        for id_ in ids:
            entry = self._entries.pop(id_, None)
            self.bytes -= len(entry.body) if entry else 0
