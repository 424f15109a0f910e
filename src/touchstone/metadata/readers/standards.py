"""The table of supported metadata standards, and the detection of a document's standard."""

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
        key: its name in the API (`?format=`) and in claims.
        title: its display name.
        detect: returns whether a document follows the standard.
        read: yields the datasets of a document and rejections of unusable ones. It raises a DocumentError if the whole
            document is unusable.
        companions: the names of additional files that the reader uses.
    """

    key: str
    title: str
    detect: Callable[[SourceDocument], bool]
    read: Callable[[SourceDocument], Iterator[DatasetDocument | RejectedPart]]
    companions: tuple[str, ...] = ()


def _standard(module: ModuleType, title: str, *companions: str) -> Standard:
    return Standard(module.STANDARD, title, module.detect, module.read, companions)


# The first standard that detects a document is used, so specific standards precede general ones.
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
    """The result of reading one document.

    Attributes:
        standard: the key of the standard, or None if none was detected.
        documents: the datasets in the document.
        rejected: the datasets that cannot be used, with reasons.
        code: the code of the error if the whole document was rejected, or None.
        facts: the details of the error.
    """

    standard: str | None
    documents: tuple[DatasetDocument, ...] = ()
    rejected: tuple[RejectedPart, ...] = ()
    code: str | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)


def read_document(source: SourceDocument, standard_key: str | None = None) -> Reading:
    """Read the datasets of a document, or return an error code if it has none.

    The standard is detected unless the caller names it. Errors in the document never raise an exception.
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
    """Collect the datasets and rejections of a document, and reject datasets with a repeated key."""
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
    """Return the standard of a document.

    Raises:
        DocumentError: the document is empty or follows no known standard. The code says what it may be instead.
    """
    if not source.content.strip():
        raise DocumentError("empty_document")

    for standard in STANDARDS:
        if standard.detect(source):
            return standard
    raise DocumentError(describe_other_document(source))


def describe_other_document(source: SourceDocument) -> str:
    """Return an error code for a document without a known standard, such as "schema_document" or "data_file"."""
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
    """Return whether a file is a companion of a main document. A README is one only next to a Data Package."""
    if source.path.name == data_package.README:
        return data_package.FILE_NAME in source.companions
    return any(source.path.name in standard.companions for standard in STANDARDS)
