"""A dataset to be exported: its record, the claims about it, and the documents that it was imported from."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import msgspec

from touchstone.core.attributes import ATTRIBUTES
from touchstone.core.evidence import ClaimValue, EvidenceLevel
from touchstone.metadata.documents import DocumentSource, ImportedDocument, Scope

# The members of `metadata` that only the service writes: the imported documents, the profile of the data file, and the
# reason why a file has none. Users cannot change them, so an export does not treat them as parts of the record.
IMPORTED_DOCUMENTS_KEY: Final = "imported"
FILE_PROFILE_KEY: Final = "measured"
SERVICE_KEYS: Final = (IMPORTED_DOCUMENTS_KEY, FILE_PROFILE_KEY, "unmeasured")
PRIVATE: Final = "private"
# The profile measured by another catalog is stored with the imported fields, separate from our own measurements.
FOREIGN_MEASUREMENT: Final = "/touchstone:measured"
RECORD_FIELDS: Final = (*(attribute.name for attribute in ATTRIBUTES), "description", "file_path", "file_type")
# A record has an empty string for an unknown value of a required text, such as its description.
_UNKNOWN_VALUES: Final = (None, "")


class ClaimSource(DocumentSource, frozen=True, kw_only=True, omit_defaults=True):
    """The document that a claim was taken from.

    Attributes:
        original: the document that the claim was first taken from, if this document restates it.
    """

    original: DocumentSource | None = None


class ExportedClaim(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A claim about one attribute as it is exported.

    Attributes:
        attribute, value: what is claimed; the value is None with `not_applicable`.
        level: how well the claim is supported in the catalog that exports it.
        scope: the people that the statement is about, if it is about people.
        quote, place: the words that show the value, and their location in the source.
        field, standard: the field that contains the value, and its metadata standard.
        note: which rule was applied.
        source: the document that contains the claim.
        by: the public name of the user who made the claim.
        at, until: the times at which the claim was made and at which it expires.
    """

    attribute: str
    value: ClaimValue = None
    level: EvidenceLevel = EvidenceLevel.DECLARED
    not_applicable: bool = False
    scope: Scope | None = None
    quote: str = ""
    place: str = ""
    field: str | None = None
    standard: str | None = None
    note: str = ""
    source: ClaimSource | None = None
    by: str | None = None
    at: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class ExportedDataset:
    """A dataset of the catalog, as writers of metadata standards receive it.

    Attributes:
        identifier: the globally unique identifier of the record, a URN.
        record: the known values of the record by their names. Its `metadata` lacks the members that the service writes.
        claims: the claims that are in force.
        documents: the documents that the record was imported from, the latest one last.
        measured_profile: the profile of the data file that this catalog measured, or None if it could not read a file.
        is_private: whether only the owner sees the record.
    """

    identifier: str
    record: Mapping[str, Any]
    claims: tuple[ExportedClaim, ...] = ()
    documents: tuple[ImportedDocument, ...] = ()
    measured_profile: Mapping[str, Any] | None = None
    is_private: bool = False

    @classmethod
    def from_record(cls, record: Mapping[str, Any], claims: Iterable[ExportedClaim]) -> "ExportedDataset":
        """Create a dataset from its claims and from the JSON of its record in the API.

        An export contains only what authors and sources state. Unknown values are left out, and so are values that the
        catalog computes, such as scores. The service itself has written some members of `metadata`, which users cannot
        change. They become `documents` and `measured_profile`. A record without a visibility is public.
        """
        stated_values = {name: record[name] for name in RECORD_FIELDS if record.get(name) not in _UNKNOWN_VALUES}
        metadata = record.get("metadata") or {}
        stated_metadata = {name: value for name, value in metadata.items() if name not in SERVICE_KEYS}
        if stated_metadata:
            stated_values["metadata"] = stated_metadata

        return cls(
            identifier=f"urn:uuid:{record['dataset_id']}",
            record=stated_values,
            claims=tuple(claims),
            documents=_imported_documents(metadata),
            measured_profile=metadata.get(FILE_PROFILE_KEY),
            is_private=record.get("visibility") == PRIVATE,
        )

    @property
    def name(self) -> str:
        """The name of the dataset."""
        return str(self.record["dataset_name"])

    @property
    def key(self) -> str:
        """The key of the dataset in the source that it was imported from, or its URN if it was not imported."""
        return self.text("metadata.source.key") or self.identifier

    @property
    def page(self) -> str:
        """The address of the dataset's page in its source, or its URN if there is none."""
        return self.text("metadata.url") or self.identifier

    def text(self, path: str) -> str | None:
        """Return a string of the record by its path, such as `metadata.url`, or None if it is empty or not a string."""
        value = value_at(self.record, path)
        return value if isinstance(value, str) and value.strip() else None

    def texts(self, path: str) -> list[str]:
        """Return a list of strings of the record by its path. A single string is returned as a list of one."""
        value = value_at(self.record, path)
        values = value if isinstance(value, list) else [value]
        return [member for member in values if isinstance(member, str) and member.strip()]

    def quotes(self, attribute: str) -> list[str]:
        """Return the different quotes that show an attribute, in the order of the claims."""
        quotes = (claim.quote for claim in self.claims if claim.attribute == attribute and claim.quote)
        return list(dict.fromkeys(quotes))

    @property
    def file_profile(self) -> Mapping[str, Any]:
        """The profile of the data file, or an empty mapping if there is none.

        It was measured by this catalog or, failing that, by the catalog whose export the record was imported from.
        """
        if self.measured_profile:
            return self.measured_profile
        for document in self.documents:
            if FOREIGN_MEASUREMENT in document.unmapped:
                profile = document.unmapped[FOREIGN_MEASUREMENT]
                return profile if isinstance(profile, Mapping) else {}
        return {}

    def columns(self) -> list[tuple[str, str]]:
        """Return the names and types of the columns in the data file."""
        column_profiles = self.file_profile.get("column_profiles")
        if not isinstance(column_profiles, list):
            return []
        return [
            (str(profile.get("name")), str(profile.get("type")))
            for profile in column_profiles
            if isinstance(profile, Mapping)
        ]

    def document_to_update(self, standard: str) -> ImportedDocument | None:
        """Return the latest imported document in a standard, which an export in this standard updates, or None.

        A document without unmapped fields was completely generated from a record, so that it has nothing to keep.
        """
        documents = [document for document in self.documents if document.standard == standard and document.unmapped]
        return documents[-1] if documents else None


def _imported_documents(metadata: Mapping[str, Any]) -> tuple[ImportedDocument, ...]:
    """Return the documents that a record was imported from.

    The result is empty if a client stored other data under this key before it was reserved.
    """
    try:
        return msgspec.convert(metadata.get(IMPORTED_DOCUMENTS_KEY) or [], tuple[ImportedDocument, ...])
    except msgspec.ValidationError:
        return ()


def value_at(record: Mapping[str, Any], path: str) -> Any:
    """Return the value at a dotted path, or None if there is none."""
    value: Any = record
    for name in path.split("."):
        value = value.get(name) if isinstance(value, Mapping) else None
    return value
