"""Types of the response to an import of documents."""

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
    """The record of an imported dataset; its id is None if a dry run would create it."""

    id: int | None = None
    name: str = ""
    metadata: dict[str, Any] | None = None
    visibility: str = "public"


class SkippedPart(Struct, frozen=True, kw_only=True):
    """A part of a document that was not used, with its position and the reason."""

    place: str
    code: str
    detail: str
    facts: dict[str, Any] = {}


class ImportProblem(Struct, frozen=True, kw_only=True):
    """The reason why a document was rejected, or a dataset at a `place` in it."""

    code: str
    detail: str
    place: str = ""


class DocumentResult(Struct, frozen=True, kw_only=True):
    """The result of an import for one dataset, or for a document that cannot be used.

    Attributes:
        status: whether the record was created, updated or left unchanged, or the document was rejected.
        document: the name of the document.
        standard: the key of its metadata standard, such as `croissant`.
        key: the identifier of the dataset in its source.
        dataset: the record.
        evidence: the claims in fields of the document.
        proposals: the claims in its prose, which must be accepted before they take effect.
        unmapped: the fields without a counterpart in a record; `metadata["imported"]` contains their values.
        skipped: the parts of the document that were not used, with reasons.
        error: the reason why the document was rejected.
        details_omitted: whether the details of this result were left out to shorten the response.
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
    """The results of an import, one for each dataset and one for each document that cannot be used."""

    total: int
    results: list[DocumentResult]
