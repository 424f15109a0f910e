"""Reading of the packaged demo records with their claims, of the excerpts that hold their quotes, and of tables."""

from collections.abc import Iterator, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

import msgspec

from touchstone.core.attributes import BY_NAME
from touchstone.core.evidence import ClaimValue

CATALOG_FILE: Final = "catalog.jsonl"
EXCERPTS_FILE: Final = "excerpts.jsonl"
_FOLDER: Final = Path(str(files(__package__)))


class PackagedSource(msgspec.Struct, frozen=True, kw_only=True):
    """The document that a claim was taken from.

    Attributes:
        kind: the metadata standard of the document.
        name: the name of the source for people.
        url: the address of this very version of the document, or of the collection that it is in.
        sha256: the digest of the document as it was read.
    """

    kind: str
    name: str
    url: str
    sha256: str


class PackagedClaim(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A documented claim about an attribute of a demo record.

    Attributes:
        quote: the words of the source, verbatim.
        place: where the quote stands: headings joined by " > ", a JSON pointer, or the name of a column or file.
        field: the field of the metadata standard, if the value was taken from one.
        note: which rule was applied, or how a number was computed.
        source: the position of its document among the `sources` of the record.
    """

    attribute: str
    value: ClaimValue
    quote: str
    place: str = ""
    field: str | None = None
    scope: str | None = None
    note: str = ""
    source: int
    standard_version: str | None = None


class PackagedRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A record of the demo catalog.

    Attributes:
        attributes: every attribute of `core.attributes`, with None for an unknown one. Flags and numbers are what the
            claims and the measurement of the table amount to; for a table without a document, what its package says.
        metadata: what else is known: `source`, `licence`, `language`, `tags`, `warnings`, `variant_of`, `variants` and
            `part_of`, where they are known; the profile of a table as `measured`; and for a training `target`,
            `sensitive_columns`, `exclude_columns` and `note`.
        sources: the documents that the claims were taken from.
        claims: what documents say about the flags and numbers.
    """

    dataset_id: str
    name: str
    description: str
    file_path: str
    file_type: str
    attributes: dict[str, Any]
    metadata: dict[str, Any]
    sources: tuple[PackagedSource, ...]
    claims: tuple[PackagedClaim, ...]


class SourceExcerpts(msgspec.Struct, frozen=True, kw_only=True):
    """The passages of one source document in which the quotes from it stand."""

    sha256: str
    texts: tuple[str, ...]


def read_records() -> Iterator[PackagedRecord]:
    """Yield the records of the demo catalog in the order of the file."""
    decoder = msgspec.json.Decoder(PackagedRecord)
    with (_FOLDER / CATALOG_FILE).open("rb") as lines:
        for line in lines:
            record = decoder.decode(line)
            attributes = dict.fromkeys(BY_NAME) | record.attributes
            yield msgspec.structs.replace(record, attributes=attributes)


def read_excerpts() -> Mapping[str, tuple[str, ...]]:
    """Return the packaged passages of each source document by its digest."""
    decoder = msgspec.json.Decoder(SourceExcerpts)
    with (_FOLDER / EXCERPTS_FILE).open("rb") as lines:
        excerpts = [decoder.decode(line) for line in lines]
    return {entry.sha256: entry.texts for entry in excerpts}


def tables_folder() -> Path:
    """Return the folder of the tables, for which `demo/` stands in the `file_path` of a record."""
    return _FOLDER / "tables"
