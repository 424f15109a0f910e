"""The exact values of a record inside an exported document, which make a later import lossless.

No metadata standard has fields for everything in a record. Exported documents therefore contain an additional member
`touchstone:dataset`, which our readers prefer to the fields of the standard. `docs/reference/exports.md` describes it.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from touchstone.metadata.documents import ImportedDocument
from touchstone.metadata.exported_dataset import PRIVATE, ExportedClaim, ExportedDataset
from touchstone.metadata.parsing import escape_pointer, parse_json

PREFIX: Final = "touchstone"
VOCABULARY: Final = "urn:touchstone:terms:"
MEMBER: Final = f"{PREFIX}:dataset"
POINTER: Final = f"/{MEMBER}"
FORMAT_VERSION: Final = 1


class ExactValues(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The content of the member `touchstone:dataset`.

    Attributes:
        format: the version of this structure.
        key: what identifies the dataset in the source that it came from.
        record: the values of the record by their names. Its `metadata` is serialized to a string if it contains names
            with a meaning in JSON-LD.
        claims: the claims that were in force.
        measured: the profile of the data file.
        visibility: `private` if only the owner sees the record.
        kept: the names of the members that the document repeats unchanged from an import.
        written: the names of the members that were generated from the record.
        imported: the documents that the record was imported from, as a serialized JSON array. A string adds no levels
            of nesting, and its names mean nothing to readers of the standard.
    """

    format: int = FORMAT_VERSION
    key: str
    record: dict[str, Any]
    claims: tuple[ExportedClaim, ...] = ()
    measured: dict[str, Any] | None = None
    visibility: str | None = None
    kept: tuple[str, ...] = ()
    written: tuple[str, ...] = ()
    imported: str | None = None

    def documents(self, fields: Mapping[str, Any]) -> tuple[ImportedDocument, ...]:
        """Return the imported documents, with the kept members restored in the last one.

        An export does not store these members twice, so they are read from the exported document itself.

        Args:
            fields: the fields of the exported document by their paths.

        Raises:
            DocumentError: `imported` is not JSON or exceeds the limits for documents.
            msgspec.ValidationError: `imported` does not have the structure that a writer produces.
        """
        data = parse_json(self.imported or "[]").data
        documents = msgspec.convert(data, tuple[ImportedDocument, ...])
        if not documents or not self.kept:
            return documents

        pointers = [f"/{escape_pointer(name)}" for name in self.kept]
        kept_fields = {pointer: fields[pointer] for pointer in pointers if pointer in fields}
        latest = documents[-1]
        return (*documents[:-1], msgspec.structs.replace(latest, unmapped={**kept_fields, **latest.unmapped}))

    def added_fields(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """Return the fields that were added to the document after its export, by their paths."""
        exported_pointers = {f"/{escape_pointer(name)}" for name in (*self.kept, *self.written, MEMBER)}
        # Other paths, such as `#body` for the Markdown of a card, are not members of the document.
        return {
            pointer: value
            for pointer, value in fields.items()
            if pointer.startswith("/") and pointer not in exported_pointers
        }


def stated_key(members: Mapping[str, Any]) -> str | None:
    """Return the key of the dataset in the exact values of an exported document, or None for any other document.

    Args:
        members: the members of the document by their names.
    """
    values = members.get(MEMBER)
    key = values.get("key") if isinstance(values, Mapping) else None
    return key if isinstance(key, str) else None


def build_exact_values(
    dataset: ExportedDataset, original: ImportedDocument | None, kept: Sequence[str], written: Sequence[str]
) -> dict[str, Any]:
    """Build the member `touchstone:dataset`, which lets a later import restore the dataset exactly.

    Args:
        dataset: the dataset to export.
        original: the imported document in the same standard as the export, or None.
        kept: the names of the fields that the export repeats unchanged. They are not stored a second time.
        written: the names of the fields that were generated from the record.
    """
    documents = [document for document in dataset.documents if document is not original]
    if original is not None:
        documents.append(_without_fields(original, kept))

    values = ExactValues(
        key=dataset.key,
        record=_with_serialized_keywords(dataset.record),
        claims=dataset.claims,
        measured=dict(dataset.measured_profile) if dataset.measured_profile else None,
        visibility=PRIVATE if dataset.is_private else None,
        kept=tuple(kept),
        written=tuple(written),
        imported=msgspec.json.encode(documents).decode() if documents else None,
    )
    member: dict[str, Any] = msgspec.to_builtins(values)
    # Default values are left out of the member, but the version must always be there.
    return {"format": FORMAT_VERSION, **member}


def _with_serialized_keywords(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record in which `metadata` is a string if it contains names with a meaning in JSON-LD, such as `@id`."""
    metadata = record.get("metadata")
    if not _has_keywords(metadata):
        return dict(record)
    return {**record, "metadata": json.dumps(metadata)}


def _has_keywords(value: Any) -> bool:
    """Return whether a name anywhere in a value starts with "@", like the keywords of JSON-LD."""
    if isinstance(value, Mapping):
        return any(name.startswith("@") or _has_keywords(member) for name, member in value.items())
    return isinstance(value, list) and any(_has_keywords(member) for member in value)


def _without_fields(document: ImportedDocument, names: Sequence[str]) -> ImportedDocument:
    """Return an imported document without the named fields."""
    pointers = {f"/{escape_pointer(name)}" for name in names}
    unmapped = {pointer: value for pointer, value in document.unmapped.items() if pointer not in pointers}
    return msgspec.structs.replace(document, unmapped=unmapped)
