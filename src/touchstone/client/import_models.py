"""Types of the answer to an import of documents."""

from enum import StrEnum
from typing import Any

from msgspec import Struct

from touchstone.client.evidence_models import Claim


class ImportStatus(StrEnum):
    """The outcome of importing a record or a document."""

    CREATED = "created"
    UPDATED = "updated"
    UNCHANGED = "unchanged"
    REJECTED = "rejected"


class ImportedDataset(Struct, frozen=True, kw_only=True):
    """The record of an imported dataset; its ids are None if a dry run would create it."""

    id: int | None = None
    name: str = ""
    metadata: dict[str, Any] | None = None
    visibility: str = "public"


class SkippedPart(Struct, frozen=True, kw_only=True):
    """A part of a document that was not used: where it stands, and why."""

    place: str
    code: str
    detail: str
    facts: dict[str, Any] = {}


class ImportProblem(Struct, frozen=True, kw_only=True):
    """Why a document, or a dataset in it, was rejected; `place` is empty if it is the document."""

    code: str
    detail: str
    place: str = ""


class DocumentResult(Struct, frozen=True, kw_only=True):
    """What an import has done with one dataset, or with a document that cannot be used.

    Attributes:
        status: Whether the record was created, updated, left unchanged, or the document rejected.
        document: The name of the document.
        standard: The key of its metadata standard, such as `croissant`.
        key: What identifies the dataset in its source.
        dataset: The record.
        evidence: The claims that the document makes in fields.
        proposals: The claims that were found in its prose, and that somebody has to accept.
        unmapped: The fields that have no place in a record; `metadata["imported"]` has their values.
        skipped: Parts of the document that were not used, with reasons.
        error: Why the document was rejected.
        details_omitted: Whether the answer was too long for the details of this result.
    """

    status: ImportStatus
    document: str = ""
    standard: str | None = None
    key: str | None = None
    dataset: ImportedDataset | None = None
    evidence: list[Claim] = []
    proposals: list[Claim] = []
    unmapped: list[str] = []
    skipped: list[SkippedPart] = []
    error: ImportProblem | None = None
    details_omitted: bool = False


class ImportReport(Struct, frozen=True, kw_only=True):
    """What an import has done: one result for each dataset, and one for each document that cannot be used."""

    total: int
    results: list[DocumentResult]
