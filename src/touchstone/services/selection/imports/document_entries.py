"""What a record keeps of the documents that it was imported from, and how a new version of a document changes it.

The entries stand in `metadata.imported`. They say what each document has stated, so that a later version replaces
exactly that: a value that its owner has changed in the meantime stays as it is.
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

# Flags and numbers of an imported record come from claims alone, so that withdrawing a claim takes its value away.
CLAIMED: Final = frozenset((*FLAGS, *NUMBERS))


class DocumentEntry(ImportedDocument, frozen=True, kw_only=True):
    """One document that a record was imported from.

    Attributes:
        digest: the digest of everything that was read about this dataset, by which an unchanged one is recognised. It
            is empty for a document that another catalog had imported before it exported the dataset.
        claims: the ids of the claims that the document makes, including those that were rejected or withdrawn since.
        is_complete: whether these are all its claims; otherwise, importing the same document again adds the others.
    """

    digest: str = ""
    claims: tuple[UUID, ...] = ()
    is_complete: bool = True


def read_entries(metadata: Mapping[str, Any] | None) -> list[DocumentEntry]:
    """Return the documents that a record with these metadata was imported from, by this catalog."""
    return [entry for entry in _all_entries(metadata) if entry.digest]


def entries_json(
    metadata: Mapping[str, Any] | None, entries: Sequence[DocumentEntry], earlier: Sequence[ImportedDocument]
) -> list[dict[str, Any]]:
    """Return documents as they are to stand in `metadata.imported`, those of other catalogs first.

    `earlier` are the documents of another catalog that the last document names; without any, those in `metadata` stay.
    """
    known_earlier = [entry for entry in _all_entries(metadata) if not entry.digest]
    json_entries: list[dict[str, Any]] = msgspec.to_builtins([*(earlier or known_earlier), *entries])
    return json_entries


def _all_entries(metadata: Mapping[str, Any] | None) -> list[DocumentEntry]:
    """Return the documents that this catalog and others have imported.

    There are none if a client has stored something else under their name before it was reserved.
    """
    try:
        return msgspec.convert((metadata or {}).get(IMPORTED, []), list[DocumentEntry], strict=False)
    except msgspec.ValidationError:
        return []


def earlier_version(entries: Sequence[DocumentEntry], entry: DocumentEntry) -> DocumentEntry | None:
    """Return the version of a document that was imported before, or None.

    It has exactly the same content, or the same path, of which one of the two may lack the first folders.
    """
    same_standard = [other for other in entries if other.standard == entry.standard]
    same_content = [other for other in same_standard if other.digest == entry.digest]
    same_path = [other for other in same_standard if other.document == entry.document]
    similar_path = [other for other in same_standard if _is_end_of_path(other.document, entry.document)]
    return next(iter([*same_content, *same_path, *similar_path]), None)


def _is_end_of_path(path: str, other: str) -> bool:
    """Return whether one of two paths is the end of the other one."""
    shorter, longer = sorted((PurePosixPath(path).parts, PurePosixPath(other).parts), key=len)
    return longer[len(longer) - len(shorter) :] == shorter


def with_version(entries: Sequence[DocumentEntry], entry: DocumentEntry) -> list[DocumentEntry]:
    """Return the entries with the earlier version of a document replaced by a new one, or with a new one at the end."""
    earlier = earlier_version(entries, entry)
    if earlier is None:
        return [*entries, entry]
    return [entry if other is earlier else other for other in entries]


def stated_values(entries: Sequence[DocumentEntry]) -> dict[str, Any]:
    """Return the values that documents give together; where two differ, the first document wins.

    The members of `metadata` are merged one by one.
    """
    values: dict[str, Any] = {}
    metadata: dict[str, Any] = {}
    for entry in reversed(entries):
        values |= entry.record
        metadata |= entry.record.get("metadata") or {}
    return {**values, "metadata": metadata}


def merge_values(current: Mapping[str, Any], before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """Return the current values with what a new version of a document changes: from `before` to `after`.

    A value that somebody else has changed in the meantime stays as it is. Unknown values are None or missing.
    """
    merged = dict(current)
    for name in {**before, **after}:
        if current.get(name) == before.get(name):
            merged[name] = after.get(name)
    return merged


def source_digests(owner: UUID | None, dataset: ReadDataset, order: ImportOrder) -> list[str]:
    """Return the digests under which the record of a dataset may be stored already; the first is that of a new one."""
    document = dataset.dataset
    identity = (owner, document.standard, order.source_name, document.key)
    return [source_digest(*identity), old_source_digest(*identity)]


def content_digest(dataset: ReadDataset, level: str, source_url: str | None) -> str:
    """Return the digest of everything that was read about a dataset, of the level of its claims, and of its address."""
    content = [level, source_url, dataset.dataset, dataset.proposals]
    return hashlib.sha256(msgspec.json.encode(content)).hexdigest()
