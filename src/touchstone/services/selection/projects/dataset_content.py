"""The content of a dataset at a given time: its record and the claims about it, with a digest of both.

Choices and snapshots store the contents of datasets, because records change and can be deleted. The content excludes
everything that depends on the catalog, such as integer ids, authors and the times of changes. Therefore, the same
dataset has the same digest in every catalog.
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
from touchstone.services.selection.datasets.dataset_record import DatasetRecord
from touchstone.services.selection.evidence import store as evidence_store
from touchstone.services.selection.evidence.claim_records import ClaimRecord, ClaimSource, ClaimStatus
from touchstone.services.selection.evidence.declarations import declarations_outside_ledger
from touchstone.services.selection.json_fields import IMPORTED

# A batch of this size takes some tens of milliseconds.
_DATASETS_PER_BATCH: Final = 100
# Larger members of `metadata` are replaced by their size and their digest.
MAX_MEMBER_BYTES: Final = 1000
# These members of `metadata` depend on the catalog: imports store ids of claims, and a file may be unmeasured due to a
# limit of the machine.
_EXCLUDED_MEMBERS: Final = (IMPORTED, "unmeasured")
# The column profiles of a measurement are redundant, since the measurement contains the digest of the data file.
_MEASURED: Final = "measured"
_COLUMN_PROFILES: Final = "column_profiles"


class ContentClaim(msgspec.Struct, frozen=True, kw_only=True):
    """A claim about an attribute of a dataset, with the evidence for it, but without its id and author."""

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
        """Whether the claim only states a value, without a quote or a source."""
        return self.level is EvidenceLevel.DECLARED and self.quote is None and self.source is None

    @classmethod
    def from_record(cls, claim: ClaimRecord) -> "ContentClaim":
        """Convert a claim of the ledger, with its level of evidence after its review."""
        return cls(
            attribute=claim.attribute,
            value=_integer_if_whole(claim.value),
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
    """The content of a dataset at a given time.

    Attributes:
        dataset_id: the id of the dataset, which is the same in every catalog.
        record: its attributes, texts and metadata by name, and the evidence for each attribute under `evidence`.
        claims: the active claims about it, including the declarations of its creator.
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
    """A field that differs between two contents of a dataset.

    Attributes:
        field: a name in the record, or `metadata.NAME`, `evidence.ATTRIBUTE` or `claims.ATTRIBUTE`.
        before, after: the two values of the field, or None where it is missing. For claims, these are the lists of the
            claims that only one of the two contents has.
    """

    field: str
    before: Any
    after: Any


async def read_contents(
    connection: Reader, dataset_ids: Sequence[int], viewer: UUID | None
) -> dict[int, DatasetContent]:
    """Return the present contents of datasets by integer id, without datasets that the viewer cannot see."""
    contents: dict[int, DatasetContent] = {}
    now = datetime.now(UTC)

    # Reading in batches lets other requests run in between.
    for start in range(0, len(dataset_ids), _DATASETS_PER_BATCH):
        batch = dataset_ids[start : start + _DATASETS_PER_BATCH]
        records = await dataset_store.visible_datasets(connection, batch, viewer)
        visible_ids = [record.id for record in records]
        claims_by_dataset = await evidence_store.read_claims_by_dataset(connection, visible_ids)

        for record in records:
            claims = claims_by_dataset.get(record.id, [])
            contents[record.id] = _create_content(record, claims, now)

    return contents


def _create_content(record: DatasetRecord, claims: Sequence[ClaimRecord], now: datetime) -> DatasetContent:
    """Return the content of a dataset at the time `now`, from its record and all stored claims about it."""
    active_claims = [claim for claim in claims if claim.status_at(now)[0] is ClaimStatus.ACTIVE]
    declarations = declarations_outside_ledger(record, claims)
    content_claims = [ContentClaim.from_record(claim) for claim in (*active_claims, *declarations)]
    # Sort the claims by their content, because the order of their ids differs between catalogs.
    content_claims.sort(key=msgspec.json.encode)

    return DatasetContent(dataset_id=record.dataset_id, record=_record_content(record), claims=content_claims)


def content_changes(before: DatasetContent, after: DatasetContent) -> list[ContentChange]:
    """Return the fields that differ between two contents of a dataset: record fields first, then claims."""
    if _have_same_json(before, after):
        return []

    record_changes = _record_changes(before.record, after.record)
    changed_attributes = {change.field.removeprefix("evidence.") for change in record_changes}
    return record_changes + _claim_changes(before.claims, after.claims, changed_attributes)


def _record_content(record: DatasetRecord) -> dict[str, Any]:
    """Return the attributes, strings and metadata of a record, and their levels of evidence, as JSON values."""
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
    """Return the metadata of a record without members that depend on the catalog, and with digests of large members."""
    content: dict[str, Any] = {}
    for name, member in metadata.items():
        if name in _EXCLUDED_MEMBERS:
            continue
        if name == _MEASURED and isinstance(member, Mapping):
            member = {key: value for key, value in member.items() if key != _COLUMN_PROFILES}
        content[name] = _member_or_digest(member)

    return content


def _member_or_digest(member: Any) -> Any:
    """Return a member of the metadata unchanged, or its digest and its size in bytes if it is large."""
    byte_count = len(msgspec.json.encode(member))
    if byte_count <= MAX_MEMBER_BYTES:
        return member
    return {"sha256": canonical_digest(member), "bytes": byte_count}


def _record_changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[ContentChange]:
    """Return the record fields that differ between two contents."""
    fields_before = _flatten_record(before)
    fields_after = _flatten_record(after)

    changes: list[ContentChange] = []
    for name in fields_before | fields_after:
        value_before, value_after = fields_before.get(name), fields_after.get(name)
        # A metadata member with the value null differs from a missing one, also in the digest. In contrast, a missing
        # attribute is equivalent to null, since only earlier releases omitted attributes.
        is_member_added_or_removed = name.startswith("metadata.") and (name in fields_before) != (name in fields_after)
        if is_member_added_or_removed or not _have_same_json(value_before, value_after):
            changes.append(ContentChange(name, value_before, value_after))

    return changes


def _flatten_record(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a record by name, with names such as `metadata.license` for the members of its objects."""
    fields: dict[str, Any] = {}
    for name, value in record.items():
        if name in ("metadata", "evidence"):
            fields |= {f"{name}.{member_name}": member for member_name, member in value.items()}
        else:
            fields[name] = value

    return fields


def _integer_if_whole(value: ClaimValue) -> ClaimValue:
    """Convert a float to an integer if it is a whole number, and return any other value unchanged.

    Stored contents are canonical JSON, which writes 1.0 as 1, so that such floats are read back as integers.
    """
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def _claim_changes(
    before: Sequence[ContentClaim], after: Sequence[ContentClaim], changed_attributes: Collection[str]
) -> list[ContentChange]:
    """Return the claims that only one of two contents has, as one change for each attribute.

    Args:
        before: the claims of the first content.
        after: the claims of the second content.
        changed_attributes: the attributes whose values differ between the two records. Mere declarations of these
            attributes are left out, since they repeat a change of the record.
    """
    removed_claims = [claim for claim in before if claim not in after]
    added_claims = [claim for claim in after if claim not in before]

    changes: list[ContentChange] = []
    for attribute in sorted({claim.attribute for claim in (*removed_claims, *added_claims)}):
        removed = [claim for claim in removed_claims if claim.attribute == attribute]
        added = [claim for claim in added_claims if claim.attribute == attribute]
        are_mere_declarations = all(claim.is_mere_declaration for claim in (*removed, *added))
        repeats_record_change = are_mere_declarations and attribute in changed_attributes
        if not repeats_record_change:
            changes.append(ContentChange(f"claims.{attribute}", removed, added))

    return changes


def _have_same_json(value: Any, other: Any) -> bool:
    """Return whether two JSON values, or structs, have the same canonical JSON.

    Compares plain JSON with sorted keys first, which is much faster to compute and the same for most equal values. Only
    canonical JSON recognizes that 1 and 1.0 are the same number.
    """
    if msgspec.json.encode(value, order="sorted") == msgspec.json.encode(other, order="sorted"):
        return True
    return canonical_json(value) == canonical_json(other)
