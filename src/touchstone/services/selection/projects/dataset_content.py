"""What a dataset says at one moment: its record and the claims about it, with their digest.

Projects keep this of the datasets that they choose or freeze, because records change and can be deleted. It contains no
number, author or time that another catalog with the same dataset would give differently, so that equal content has an
equal digest everywhere.
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final
from uuid import UUID

import msgspec

from touchstone.core.canonical_json import canonical_digest, canonical_json
from touchstone.core.evidence import ClaimValue, EvidenceLevel
from touchstone.database.engine import Reader
from touchstone.services.selection.datasets import store as dataset_store
from touchstone.services.selection.datasets.store import DatasetRecord
from touchstone.services.selection.evidence import store as evidence_store
from touchstone.services.selection.evidence.declarations import declarations
from touchstone.services.selection.evidence.records import ClaimRecord, ClaimSource, ClaimStatus
from touchstone.services.selection.json_fields import IMPORTED

# Contents are read in batches of so many datasets, each of which takes some tens of milliseconds.
_BATCH: Final = 100
# Members of `metadata` that take more bytes as JSON are represented by their digest.
MAX_MEMBER_BYTES: Final = 1000
# What an import keeps has ids of claims in it, and why a file was not measured depends on the machine.
_MEMBERS_LEFT_OUT: Final = (IMPORTED, "unmeasured")
# The profiles of columns follow from the data file, of which the measurement has a digest.
_MEASURED: Final = "measured"
_COLUMN_PROFILES: Final = "column_profiles"


class ContentClaim(msgspec.Struct, frozen=True, kw_only=True):
    """A claim as the content of a dataset has it: what is said and on what grounds, without its id and author."""

    attribute: str
    value: ClaimValue
    not_applicable: bool
    level: EvidenceLevel
    scope: str | None
    quote: str | None
    place: str | None
    source: ClaimSource | None
    standard: str | None
    field: str | None
    note: str | None
    until: datetime | None

    @property
    def is_mere_declaration(self) -> bool:
        """Whether the claim says nothing but a value."""
        return self.level is EvidenceLevel.DECLARED and self.quote is None and self.source is None

    @classmethod
    def of(cls, claim: ClaimRecord) -> "ContentClaim":
        """Return a claim of the ledger at the level that it has after its review."""
        return cls(
            attribute=claim.attribute,
            value=_whole_as_integer(claim.value),
            not_applicable=claim.is_not_applicable,
            level=claim.effective_level,
            scope=claim.scope,
            quote=claim.quote,
            place=claim.place,
            source=claim.source,
            standard=claim.standard,
            field=claim.field,
            note=claim.note,
            until=claim.until,
        )


class DatasetContent(msgspec.Struct, frozen=True, kw_only=True):
    """What a dataset says at one moment.

    Attributes:
        dataset_id: identifies the dataset in every catalog that has a copy of it.
        record: its attributes, texts and metadata by name, and under `evidence` what its claims amount to.
        claims: the active claims about it, with what its creator merely declares.
    """

    dataset_id: UUID
    record: dict[str, Any]
    claims: list[ContentClaim]

    @property
    def name(self) -> str:
        """The name of the dataset."""
        return str(self.record["dataset_name"])

    @property
    def digest(self) -> str:
        """The SHA-256 digest of the canonical JSON of this content."""
        return canonical_digest(self)


class ContentChange(msgspec.Struct, frozen=True):
    """A field in which two contents of a dataset differ; None stands for a field that is missing.

    `field` is a name in the record, or `metadata.NAME`, `evidence.ATTRIBUTE` or `claims.ATTRIBUTE`. The values of the
    latter are the claims that only one of the two contents has.
    """

    field: str
    before: Any
    after: Any


async def read_contents(
    connection: Reader, dataset_ids: Sequence[int], viewer: UUID | None
) -> dict[int, DatasetContent]:
    """Return what these datasets say now, by the integer id, without those that the viewer may not see."""
    contents: dict[int, DatasetContent] = {}
    now = datetime.now(UTC)
    # Other requests run while each batch is read.
    for start in range(0, len(dataset_ids), _BATCH):
        batch = dataset_ids[start : start + _BATCH]
        records = await dataset_store.visible_datasets(connection, batch, viewer)
        claims_by_dataset = await evidence_store.read_claims_by_dataset(connection, [record.id for record in records])
        contents |= {record.id: content_of(record, claims_by_dataset.get(record.id, []), now) for record in records}

    return contents


def content_of(record: DatasetRecord, claims: Sequence[ClaimRecord], now: datetime) -> DatasetContent:
    """Return what a dataset says at a moment; `claims` are the claims about it in the ledger."""
    active_claims = [claim for claim in claims if claim.status_at(now)[0] is ClaimStatus.ACTIVE]
    presented_claims = [ContentClaim.of(claim) for claim in (*active_claims, *declarations(record, claims))]
    presented_claims.sort(key=msgspec.json.encode)

    return DatasetContent(dataset_id=record.dataset_id, record=_record_content(record), claims=presented_claims)


def content_changes(before: DatasetContent, after: DatasetContent) -> list[ContentChange]:
    """Return the fields in which two contents of a dataset differ: those of its record, and then its claims."""
    if _is_same(before, after):
        return []

    fields_before, fields_after = _fields(before.record), _fields(after.record)
    names = list(fields_before | fields_after)
    changes = [
        ContentChange(name, fields_before.get(name), fields_after.get(name))
        for name in names
        if not _is_same(fields_before.get(name), fields_after.get(name))
    ]
    changed_attributes = {change.field.removeprefix("evidence.") for change in changes}
    return changes + _claim_changes(before.claims, after.claims, changed_attributes)


def _record_content(record: DatasetRecord) -> dict[str, Any]:
    """Return the attributes, texts and metadata of a record, and what the claims about it amount to, as JSON values."""
    content: dict[str, Any] = msgspec.to_builtins(
        {
            **record.attributes,
            "description": record.description,
            "file_path": record.file_path,
            "file_type": record.file_type,
            "evidence": record.attribute_evidence or {},
        }
    )
    return {**content, "metadata": _metadata_content(record.metadata or {})}


def _metadata_content(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return the members of the metadata of a record, those that are large as their size and digest."""
    content: dict[str, Any] = {}
    for name, member in metadata.items():
        if name in _MEMBERS_LEFT_OUT:
            continue
        if name == _MEASURED and isinstance(member, Mapping):
            member = {key: value for key, value in member.items() if key != _COLUMN_PROFILES}
        content[name] = _short_form(member)

    return content


def _short_form(member: Any) -> Any:
    """Return a member of the metadata as it is, or its size as JSON and its digest if it is large."""
    byte_count = len(msgspec.json.encode(member))
    if byte_count <= MAX_MEMBER_BYTES:
        return member
    return {"sha256": canonical_digest(member), "bytes": byte_count}


def _fields(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of the record in a content by name, with each member of `metadata` and `evidence` apart."""
    fields: dict[str, Any] = {}
    for name, value in record.items():
        if name in ("metadata", "evidence"):
            fields |= {f"{name}.{member_name}": member for member_name, member in value.items()}
        else:
            fields[name] = value

    return fields


def _whole_as_integer(value: ClaimValue) -> ClaimValue:
    """Return a whole number as an integer, as which canonical JSON writes it, and any other value unchanged."""
    is_whole = isinstance(value, float) and value.is_integer()
    return int(value) if is_whole and value is not None else value


def _claim_changes(
    before: Sequence[ContentClaim], after: Sequence[ContentClaim], changed_attributes: Collection[str]
) -> list[ContentChange]:
    """Return for each attribute whose claims differ the claims that only one of two contents has.

    Mere declarations are left out if the attribute is among `changed_attributes`, where their values stand already.
    """
    removed_claims = [claim for claim in before if claim not in after]
    added_claims = [claim for claim in after if claim not in before]

    changes: list[ContentChange] = []
    for attribute in sorted({claim.attribute for claim in (*removed_claims, *added_claims)}):
        removed = [claim for claim in removed_claims if claim.attribute == attribute]
        added = [claim for claim in added_claims if claim.attribute == attribute]
        is_mere = all(claim.is_mere_declaration for claim in (*removed, *added))
        if not (is_mere and attribute in changed_attributes):
            changes.append(ContentChange(f"claims.{attribute}", removed, added))

    return changes


def _is_same(value: Any, other: Any) -> bool:
    """Return whether two JSON values, or structs, have the same canonical JSON.

    Values are rarely different, and plain JSON with sorted keys, which is much faster, proves most of them equal. It
    does not know that 1 and 1.0 are the same number.
    """
    if msgspec.json.encode(value, order="sorted") == msgspec.json.encode(other, order="sorted"):
        return True
    return canonical_json(value) == canonical_json(other)
