"""The metadata standards that can be read, in one table: how each is recognised, and what reads it."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, Final

from touchstone.metadata.documents import DatasetDocument, RejectedPart
from touchstone.metadata.parsing import DocumentError
from touchstone.metadata.readers import (
    ckan,
    croissant,
    data_package,
    datasheet,
    dcat,
    dpi,
    fairground,
    hf_card,
    openml,
    pmlb,
    rdatasets,
    schema_org,
    tfds,
    uci,
)
from touchstone.metadata.readers.source_document import SourceDocument
from touchstone.metadata.readers.touchstone_export import restore_exact_values


@dataclass(frozen=True, slots=True)
class Standard:
    """A metadata standard.

    Attributes:
        key: its name in the interface (`?format=`) and in claims.
        title: its name for people.
        detect: returns whether a document follows the standard.
        read: yields the datasets of a document, and the reasons for those of them that cannot be used; raises a
            DocumentError if the document as a whole cannot be used.
        companions: names of files of the same dataset that the reader uses as well.
    """

    key: str
    title: str
    detect: Callable[[SourceDocument], bool]
    read: Callable[[SourceDocument], Iterator[DatasetDocument | RejectedPart]]
    companions: tuple[str, ...] = ()


def _standard(module: ModuleType, title: str, *companions: str) -> Standard:
    return Standard(module.STANDARD, title, module.detect, module.read, companions)


# The first standard that recognises a document reads it, so the special ones stand before the general ones.
STANDARDS: Final[tuple[Standard, ...]] = (
    _standard(tfds, "TensorFlow Datasets", tfds.TAGS_FILE, tfds.CITATIONS_FILE),
    _standard(hf_card, "Hugging Face dataset card", hf_card.INFOS_FILE),
    _standard(croissant, "Croissant"),
    _standard(ckan, "CKAN"),
    _standard(dcat, "DCAT-AP and DCAT-US"),
    _standard(data_package, "Data Package", data_package.README),
    _standard(schema_org, "schema.org"),
    _standard(openml, "OpenML"),
    _standard(uci, "UCI repository"),
    _standard(pmlb, "Penn Machine Learning Benchmarks"),
    _standard(dpi, "Data Provenance Initiative"),
    _standard(fairground, "FairGround"),
    _standard(rdatasets, "Rdatasets index"),
    _standard(datasheet, "Markdown datasheet"),
)
BY_KEY: Final = {standard.key: standard for standard in STANDARDS}


@dataclass(frozen=True, slots=True)
class Reading:
    """What was read from one document.

    Attributes:
        standard: the key of the standard, or None if the document follows none.
        documents: the datasets that the document describes.
        rejected: further datasets in it that cannot be used, with reasons.
        code, facts: why the document as a whole was rejected; None and empty if it was not.
    """

    standard: str | None
    documents: tuple[DatasetDocument, ...] = ()
    rejected: tuple[RejectedPart, ...] = ()
    code: str | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)


def read_document(source: SourceDocument, standard_key: str | None = None) -> Reading:
    """Read the datasets of a document, or say by a stable code why there are none.

    The standard is detected unless the caller names it. A fault in a document never raises.
    """
    standard: Standard | None = None
    try:
        standard = BY_KEY[standard_key] if standard_key is not None else detect_standard(source)
        return collect(standard, standard.read(source))
    except DocumentError as error:
        return Reading(standard.key if standard else None, code=error.code, facts=error.facts)
    except RecursionError:
        return Reading(standard.key if standard else None, code="too_deep")


def collect(standard: Standard, results: Iterator[DatasetDocument | RejectedPart]) -> Reading:
    """Return the datasets of a document, each key once, and what was rejected of it."""
    documents: dict[str, DatasetDocument] = {}
    rejected: list[RejectedPart] = []
    for result in results:
        if isinstance(result, RejectedPart):
            rejected.append(result)
            continue

        document = restore_exact_values(result)
        if document.key in documents:
            rejected.append(RejectedPart("", "duplicate_dataset", {"key": document.key}))
        else:
            documents[document.key] = document

    if documents:
        return Reading(standard.key, tuple(documents.values()), tuple(rejected))
    if len(rejected) == 1:
        return Reading(standard.key, code=rejected[0].code, facts=rejected[0].facts)
    return Reading(standard.key, rejected=tuple(rejected), code="no_dataset")


def detect_standard(source: SourceDocument) -> Standard:
    """Return the standard that a document follows, or raise a DocumentError that says what it is instead."""
    if not source.content.strip():
        raise DocumentError("empty_document")

    for standard in STANDARDS:
        if standard.detect(source):
            return standard
    raise DocumentError(describe_other_document(source))


def describe_other_document(source: SourceDocument) -> str:
    """Return a code that tells the user what a document is that follows no known standard.

    It may be a JSON schema, an error message, a file that only belongs to another document, or a data file.
    """
    has_definitions = "properties" in source.members or "definitions" in source.members
    if "$schema" in source.members and has_definitions:
        return "schema_document"
    if set(source.members) == {"error"}:
        return "error_reply"
    if is_companion(source):
        return "companion_document"
    if source.suffix in (".csv", ".tsv", ".arff", ".parquet"):
        return "data_file"
    return "unknown_standard"


def is_companion(source: SourceDocument) -> bool:
    """Return whether a file belongs to the main document of a dataset. A README does only beside a Data Package."""
    if source.path.name == data_package.README:
        return data_package.FILE_NAME in source.companions
    return any(source.path.name in standard.companions for standard in STANDARDS)
