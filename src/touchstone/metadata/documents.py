"""The types that readers return: a record, claims with quotes, prose sections and rejected parts."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

ClaimValue = bool | int | float | None


class Scope(StrEnum):
    """The people that a statement is about: the subjects of the data or its annotators."""

    SUBJECTS = "subjects"
    ANNOTATORS = "annotators"


class DocumentSource(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The document that a claim was taken from, as an exported document states it.

    Attributes:
        kind: the kind of document, for example the key of its metadata standard.
        name: the name of the document.
        url: the address of the document.
        sha256: the SHA-256 digest of its bytes, in hexadecimal.
    """

    kind: str | None = None
    name: str | None = None
    url: str | None = None
    sha256: str | None = None


@dataclass(frozen=True, slots=True)
class Section:
    """A passage of prose under one heading.

    Attributes:
        path: the headings from the outermost to the innermost one, or the path of a field in a structured document.
        text: the passage exactly as in the document, so that quotes from it are verbatim.
        is_structured: whether the passage is the value of a named field (`rai:dataCollection`) instead of free prose.
    """

    path: tuple[str, ...]
    text: str
    is_structured: bool = False


@dataclass(frozen=True, slots=True)
class Claim:
    """A value that a document gives to one attribute of a dataset.

    Attributes:
        attribute: one of the sixteen flags or five numbers of the interface.
        value: the value, in the type of the attribute; None with `is_not_applicable`.
        quote: the words of the document that show the value, verbatim.
        place: the location of the quote: headings joined by " > ", or a JSON pointer.
        field: the field of the metadata standard that contains the value, or None if the value comes from prose.
        scope: the people that the statement is about, or None if it is not about people.
        note: which rule was applied.
        until: when the claim ceases to count, which only exported documents say.
        is_restated: whether the claim comes from a document that another catalog exported. Such a claim only counts as
            declared, even if a curator imports it, because anyone can write such a document.
        original_source: the document that a restated claim was first taken from, as far as the export says. It is unset
            in all other claims, so that it does not change the digests of their documents.
    """

    attribute: str
    value: ClaimValue
    quote: str = ""
    place: str = ""
    field: str | None = None
    scope: Scope | None = None
    is_not_applicable: bool = False
    note: str = ""
    until: datetime | None = None
    is_restated: bool = False
    original_source: DocumentSource | UnsetType = UNSET


@dataclass(frozen=True, slots=True)
class RejectedPart:
    """A part of a document that was skipped: its location, a stable error code, and the details of the error."""

    place: str
    code: str
    facts: Mapping[str, Any] = field(default_factory=dict)


class ImportedDocument(msgspec.Struct, frozen=True, kw_only=True):
    """The part of an imported document that is stored with a record.

    Attributes:
        document: the name of the file, or an empty string.
        standard: the key of the metadata standard.
        standard_version: the version of the standard, if the document names one.
        key: what identifies the dataset in its source.
        sha256: the digest of the document.
        record: the strings, lists and metadata that the document states, by the field names of a record.
        unmapped: the values of the fields that have no counterpart in a record, by their paths.
    """

    document: str = ""
    standard: str
    standard_version: str | None = None
    key: str = ""
    sha256: str | None = None
    record: Mapping[str, Any] = {}
    unmapped: Mapping[str, Any] = {}


@dataclass(frozen=True, slots=True)
class DatasetDocument:
    """One dataset as a document describes it.

    Attributes:
        standard: the key of the metadata standard ("croissant", "hf_card", ...).
        standard_version: the version of the standard, or None if the document does not name one.
        key: what identifies the dataset in its source, so that importing it again finds the same record.
        record: the known values of the record by their names in the API.
        claims: values stated in fields of the standard, with quotes.
        sections: prose that the extractor searches for proposals.
        unmapped: the values of the fields that have no counterpart in a record, by their paths, for a lossless export.
        rejected: parts that were skipped, with reasons.
        earlier: the documents that another catalog had imported before it exported this one.
        is_private: whether the document is the export of a record that only its owner sees.
    """

    standard: str
    standard_version: str | None
    key: str
    record: Mapping[str, Any]
    claims: tuple[Claim, ...] = ()
    sections: tuple[Section, ...] = ()
    unmapped: Mapping[str, Any] = field(default_factory=dict)
    rejected: tuple[RejectedPart, ...] = ()
    earlier: tuple[ImportedDocument, ...] = ()
    is_private: bool = False
