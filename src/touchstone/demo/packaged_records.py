"""Access to the packaged demo records, the excerpts of their sources, and their tables."""

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
    """The source document of a claim.

    Attributes:
        kind: the metadata standard of the document.
        name: the display name of the source.
        url: the address of this version of the document, or of its collection.
        sha256: the digest of the document.
    """

    kind: str
    name: str
    url: str
    sha256: str


class PackagedClaim(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A documented claim about an attribute of a demo record.

    Attributes:
        quote: the words of the source, verbatim.
        place: the location of the quote: headings joined by " > ", a JSON pointer, or the name of a column or file.
        field: the field of the metadata standard that contains the value, or None if the value comes from prose.
        note: the applied rule, or the computation of a number.
        source: the index of its document in the `sources` of the record.
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
        attributes: the values of all attributes in `core.attributes`, with None for unknown ones. Flags and numbers
            result from the claims and the profile of the table, or from the package of a table without a document.
        metadata: further known values: `source`, `licence`, `language`, `tags`, `warnings`, `variant_of`, `variants`
            and `part_of`; the profile of the table as `measured`; and suggestions for a training as `target`,
            `sensitive_columns`, `exclude_columns` and `note`.
        sources: the source documents of the claims.
        claims: the documented claims about flags and numbers.
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
    """The passages of one source document that contain its quotes."""

    sha256: str
    texts: tuple[str, ...]


def read_records() -> Iterator[PackagedRecord]:
    """Yield the records of the demo catalog in file order."""
    decoder = msgspec.json.Decoder(PackagedRecord)
    with (_FOLDER / CATALOG_FILE).open("rb") as lines:
        for line in lines:
            record = decoder.decode(line)
            attributes = dict.fromkeys(BY_NAME) | record.attributes
            yield msgspec.structs.replace(record, attributes=attributes)


def read_excerpts() -> Mapping[str, tuple[str, ...]]:
    """Return the packaged passages of each source document, by the digest of the document."""
    decoder = msgspec.json.Decoder(SourceExcerpts)
    with (_FOLDER / EXCERPTS_FILE).open("rb") as lines:
        excerpts = [decoder.decode(line) for line in lines]
    return {entry.sha256: entry.texts for entry in excerpts}


def tables_folder() -> Path:
    """Return the folder of the tables, which the `file_path` of a record calls `demo/`."""
    return _FOLDER / "tables"
