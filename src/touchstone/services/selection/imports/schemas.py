"""The parameters of an import, and the OpenAPI schemas of its response."""

from enum import StrEnum
from typing import Any, Final

import msgspec
from pydantic import BaseModel, Field

from touchstone.metadata.readers.standards import BY_KEY
from touchstone.services.selection.datasets.schemas import DatasetView
from touchstone.services.selection.evidence.schemas import ClaimView
from touchstone.services.selection.parameters import Parameter, ParameterTable, ParameterType

IMPORT_PARAMETERS: Final = ParameterTable(
    Parameter(
        name="format",
        type=ParameterType.CHOICE,
        description="The metadata standard of the documents; detected if left out.",
        choices=tuple(BY_KEY),
    ),
    Parameter(
        name="name",
        type=ParameterType.TEXT,
        description="Path of the document in its source, such as `squad/README.md`, if it is the body.",
    ),
    Parameter(
        name="source_name",
        type=ParameterType.TEXT,
        description="Name of the source, such as `UCI Machine Learning Repository`.",
    ),
    Parameter(
        name="source_url",
        type=ParameterType.TEXT,
        description="Address of the source; it is kept and never fetched.",
    ),
    Parameter(
        name="visibility",
        type=ParameterType.CHOICE,
        description=(
            "Who can see the records. By default, new records are public unless they are exports of private records, "
            "and existing records keep their visibility."
        ),
        choices=("public", "private"),
    ),
    Parameter(
        name="accept",
        type=ParameterType.FLAG,
        description="Activate claims that are found in prose immediately, instead of proposing them.",
    ),
    Parameter(
        name="dry_run", type=ParameterType.FLAG, description="Report what would be done, without changing anything."
    ),
)


class ImportOrder(msgspec.Struct, frozen=True, kw_only=True):
    """The options of an import, from the query string of the request."""

    format: str | None = None
    name: str | None = None
    source_name: str | None = None
    source_url: str | None = None
    visibility: str | None = None
    accept: bool = False
    dry_run: bool = False

    @classmethod
    def parse(cls, query_string: bytes) -> "ImportOrder":
        """Parse the query string of a request.

        Raises:
            Invalid: a parameter is unknown, or has an invalid value.
        """
        return msgspec.convert(IMPORT_PARAMETERS.parse_query(query_string), cls)


class ImportStatus(StrEnum):
    """The outcome of an import for a dataset."""

    CREATED = "created"
    UPDATED = "updated"
    UNCHANGED = "unchanged"
    REJECTED = "rejected"


class SkippedPartView(BaseModel):
    """A part of a document that was not used."""

    place: str = Field(description="The place in the document: a JSON pointer, a heading or the name of a file.")
    code: str
    detail: str
    facts: dict[str, Any]


class ImportErrorView(BaseModel):
    """The reason why a document, or a dataset in it, was rejected."""

    place: str = Field(description="The place in the document; empty if the whole document was rejected.")
    code: str
    detail: str


class ImportResultView(BaseModel):
    """The outcome of an import for one dataset, or for a document that cannot be used."""

    status: ImportStatus
    document: str = Field(description="The name of the document.")
    standard: str | None
    key: str | None = Field(description="The key of the dataset in its source.")
    dataset: DatasetView | None = Field(description="The record; its ids are null if a dry run would create it.")
    evidence: list[ClaimView] = Field(description="The claims that the document makes in fields.")
    proposals: list[ClaimView] = Field(description="The claims that were found in the prose of the document.")
    unmapped: list[str] = Field(
        description="Fields that have no place in a record; `metadata.imported` has their values."
    )
    skipped: list[SkippedPartView]
    error: ImportErrorView | None
    details_omitted: bool = Field(
        False,
        description="True if the report would be too large with the details: read the record and its evidence instead.",
    )


class ImportReportView(BaseModel):
    """The outcome of an import: one result for each dataset, and one for each document that cannot be used."""

    total: int
    results: list[ImportResultView]
