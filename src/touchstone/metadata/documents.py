"""What a document about a dataset states: a record, claims with their quotes, prose, and what could not be used."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

import msgspec

ClaimValue = bool | int | float | None


class Scope(StrEnum):
    """The people that a statement is about: those in the data, or those who annotated it."""

    SUBJECTS = "subjects"
    ANNOTATORS = "annotators"


@dataclass(frozen=True, slots=True)
class Section:
    """A passage of prose under one heading.

    Attributes:
        path: the headings from the outermost to that of the passage, or the path of a field in a structured document.
        text: the passage as it stands in the document, so that quotes from it are verbatim.
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
        quote: the words of the document, verbatim, that show the value.
        place: where the quote stands: headings joined by " > ", or a JSON pointer.
        field: the field of the metadata standard that the value was taken from, if it was taken from one.
        scope: the people that the statement is about, if it is about people.
        note: which rule was applied.
        until: when the claim ceases to count, which only exported documents say.
        is_restated: whether another catalog makes the claim in a document that it has exported. Whoever imports it,
            such a claim is merely declared, because anyone can write such a document.
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


@dataclass(frozen=True, slots=True)
class RejectedPart:
    """A part of a document that was skipped: where it stands, a stable code for the reason, and the facts of it."""

    place: str
    code: str
    facts: Mapping[str, Any] = field(default_factory=dict)


class ImportedDocument(msgspec.Struct, frozen=True, kw_only=True):
    """What a record keeps of a document that it was imported from.

    Attributes:
        document: the name of the file, or an empty text.
        standard: the key of the metadata standard.
        standard_version: the version of the standard, if the document names one.
        key: what identifies the dataset in its source.
        sha256: the digest of the document.
        record: the texts, lists and metadata that the document states, by the names of a record.
        unmapped: the fields that have no place in a record, by their path, with their values.
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
        standard: the key of the metadata standard ("croissant", "hf_card", ...), and its version if it names one.
        key: what identifies the dataset in its source, so that importing it again finds the same record.
        record: values of the record by the names of the interface (section 2.4), without unknown ones.
        claims: values that the standard states in a field, with the words that state them.
        sections: prose in which the extractor looks for proposals.
        unmapped: fields that have no place in a record, by their path, with their values, for a lossless export.
        rejected: parts that were skipped, with reasons.
        earlier: the documents that another catalog had imported before it exported this one.
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
