"""The metadata standards that can be read, in one table: how each is recognised, and what reads it."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, Final

from touchstone.metadata.documents import DatasetDocument
from touchstone.metadata.parsing import DocumentError
from touchstone.metadata.readers import (
    croissant,
    datasheet,
    hf_card,
    schema_org,
)
from touchstone.metadata.readers.source import SourceDocument


@dataclass(frozen=True, slots=True)
class Standard:
    """A metadata standard.

    Attributes:
        key: its name in the interface (`?format=`) and in claims.
        title: its name for people.
        detect: returns whether a document follows the standard.
        read: yields the datasets of a document, or raises a DocumentError.
        companions: names of files of the same dataset that the reader uses as well.
    """

    key: str
    title: str
    detect: Callable[[SourceDocument], bool]
    read: Callable[[SourceDocument], Iterator[DatasetDocument]]
    companions: tuple[str, ...] = ()


def _standard(module: ModuleType, title: str, *companions: str) -> Standard:
    return Standard(module.STANDARD, title, module.detect, module.read, companions)


# The first standard that recognises a document reads it, so the special ones stand before the general ones.
STANDARDS: Final[tuple[Standard, ...]] = (
    _standard(hf_card, "Hugging Face dataset card", hf_card.INFOS_FILE),
    _standard(croissant, "Croissant"),
    _standard(schema_org, "schema.org"),
    _standard(datasheet, "Markdown datasheet"),
)
BY_KEY: Final = {standard.key: standard for standard in STANDARDS}


@dataclass(frozen=True, slots=True)
class Reading:
    """What was read from one document.

    Attributes:
        standard: the key of the standard, or None if the document follows none.
        documents: the datasets that the document describes.
        code, facts: why the document as a whole was rejected; None and empty if it was not.
    """

    standard: str | None
    documents: tuple[DatasetDocument, ...] = ()
    code: str | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)


def read_document(source: SourceDocument, standard_key: str | None = None) -> Reading:
    """Read the datasets of a document, or say by a stable code why there are none.

    The standard is detected unless the caller names it. A fault in a document never raises.
    """
    standard: Standard | None = None
    try:
        standard = BY_KEY[standard_key] if standard_key is not None else detect_standard(source)
        documents = tuple(standard.read(source))
    except DocumentError as error:
        return Reading(standard.key if standard else None, code=error.code, facts=error.facts)
    except RecursionError:
        return Reading(standard.key if standard else None, code="too_deep")

    if not documents:
        return Reading(standard.key, code="no_dataset")
    return Reading(standard.key, documents)


def detect_standard(source: SourceDocument) -> Standard:
    """Return the standard that a document follows, or raise a DocumentError that says what it is instead."""
    if not source.content.strip():
        raise DocumentError("empty_document")

    for standard in STANDARDS:
        if standard.detect(source):
            return standard
    raise DocumentError(describe_other_document(source))


def describe_other_document(source: SourceDocument) -> str:
    """Return the code for a document that follows no standard: a schema, a file that belongs
    to a dataset's main document, a data file, or something unknown.
    """
    if "$schema" in source.members and ("properties" in source.members or "definitions" in source.members):
        return "schema_document"
    if any(source.path.name in standard.companions for standard in STANDARDS):
        return "companion_document"
    if source.suffix in (".csv", ".tsv", ".arff", ".parquet"):
        return "data_file"
    return "unknown_standard"
