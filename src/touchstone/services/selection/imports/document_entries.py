"""The entries in `metadata.imported` about the documents that a record was imported from.

An entry contains all values that its document stated. A later version of the document can then replace exactly these
values, while values that the owner of the record has changed in the meantime are kept.
"""

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any, Final
from uuid import UUID

import msgspec

from touchstone.core.attributes import FLAGS, NUMBERS
from touchstone.metadata.documents import ImportedDocument
from touchstone.metadata.reading_protocol import ReadDataset
from touchstone.services.selection.datasets.source_digests import old_source_digest, source_digest
from touchstone.services.selection.imports.schemas import ImportOrder
from touchstone.services.selection.json_fields import IMPORTED

# Flags and numbers of an imported record come only from claims, so that withdrawing a claim removes its value.
CLAIMED: Final = frozenset((*FLAGS, *NUMBERS))


class DocumentEntry(ImportedDocument, frozen=True, kw_only=True):
    """An entry about one document that a record was imported from.

    Attributes:
        digest: the digest of everything that was read about the dataset, which shows whether a new version has changed.
            It is empty for a document that another catalog had imported before it exported the dataset.
        claims: the ids of the claims that the document makes, including claims that were rejected or withdrawn later.
        remembered_claims: the ids of the claims that only earlier versions of the document made and that somebody has
            rejected or withdrawn. A later version that makes them again does not overrule this decision.
        is_complete: whether `claims` is complete; otherwise, importing the same document again adds the others.
    """

    digest: str = ""
    claims: tuple[UUID, ...] = ()
    remembered_claims: tuple[UUID, ...] = ()
    is_complete: bool = True


def read_entries(metadata: Mapping[str, Any] | None) -> list[DocumentEntry]:
    """Return the entries about documents that this catalog imported, from the `metadata` of their record."""
    return [entry for entry in _all_entries(metadata) if entry.digest]


def entries_to_json(
    metadata: Mapping[str, Any] | None, entries: Sequence[DocumentEntry], foreign_documents: Sequence[ImportedDocument]
) -> list[dict[str, Any]]:
    """Return the new value of `metadata.imported`, which begins with the documents of other catalogs.

    Args:
        metadata: the current `metadata` of the record.
        entries: the entries about documents that this catalog imported.
        foreign_documents: the documents of another catalog, as listed in the last imported document. If there are
            none, the foreign documents in `metadata` are kept.
    """
    stored_foreign_documents = [entry for entry in _all_entries(metadata) if not entry.digest]
    all_documents = [*(foreign_documents or stored_foreign_documents), *entries]
    json_entries: list[dict[str, Any]] = msgspec.to_builtins(all_documents)
    return json_entries


def _all_entries(metadata: Mapping[str, Any] | None) -> list[DocumentEntry]:
    """Return the entries about documents that this or another catalog imported.

    The result is empty if a client had stored another value under this key before the key was reserved.
    """
    try:
        return msgspec.convert((metadata or {}).get(IMPORTED, []), list[DocumentEntry], strict=False)
    except msgspec.ValidationError:
        return []


def earlier_version(entries: Sequence[DocumentEntry], entry: DocumentEntry) -> DocumentEntry | None:
    """Return the entry about an earlier version of a document, or None if there is none.

    An earlier version follows the same standard. In order of preference, it has the same content, the same path, or a
    path that differs only in leading folders that one of the two paths lacks.
    """
    same_standard = [other for other in entries if other.standard == entry.standard]
    same_content = [other for other in same_standard if other.digest == entry.digest]
    same_path = [other for other in same_standard if other.document == entry.document]
    similar_path = [other for other in same_standard if _has_common_end(other.document, entry.document)]
    return next(iter([*same_content, *same_path, *similar_path]), None)


def _has_common_end(path: str, other: str) -> bool:
    """Return whether the shorter one of two paths is equal to the end of the longer one."""
    shorter, longer = sorted((PurePosixPath(path).parts, PurePosixPath(other).parts), key=len)
    return longer[len(longer) - len(shorter) :] == shorter


def with_version(entries: Sequence[DocumentEntry], entry: DocumentEntry) -> list[DocumentEntry]:
    """Return the entries with `entry` in place of its earlier version, or appended if there is none."""
    earlier = earlier_version(entries, entry)
    if earlier is None:
        return [*entries, entry]
    return [entry if other is earlier else other for other in entries]


def stated_values(entries: Sequence[DocumentEntry]) -> dict[str, Any]:
    """Return the combined values of several documents. If two documents differ, the first one wins.

    The members of `metadata` are merged individually.
    """
    values: dict[str, Any] = {}
    metadata: dict[str, Any] = {}
    for entry in reversed(entries):
        values |= entry.record
        metadata |= entry.record.get("metadata") or {}
    return {**values, "metadata": metadata}


def merge_values(current: Mapping[str, Any], before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """Return the current values with the changes from `before` to `after` applied.

    A current value that differs from the one in `before` was changed by somebody else, and is kept. Unknown values are
    None or missing.
    """
    merged = dict(current)
    for name in {**before, **after}:
        if current.get(name) == before.get(name):
            merged[name] = after.get(name)
    return merged


def source_digests(owner: UUID | None, dataset: ReadDataset, order: ImportOrder) -> list[str]:
    """Return the digests that may identify the record of a dataset. A new record gets the first one."""
    document = dataset.dataset
    identity = (owner, document.standard, order.source_name, document.key)
    return [source_digest(*identity), old_source_digest(*identity)]


def content_digest(dataset: ReadDataset, level: str, source_url: str | None) -> str:
    """Return the digest of the content of a dataset, the level of its claims, and the source URL."""
    content = [level, source_url, dataset.dataset, dataset.proposals]
    return hashlib.sha256(msgspec.json.encode(content)).hexdigest()
