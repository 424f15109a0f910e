"""The table of supported metadata standards, and `read_document`, which all documents are read with.

Bytes and a file name come in. A `Reading` comes out: the datasets of the document, and error codes for what cannot be
used.
"""

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
    datacite,
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
    """Return the standard that a module reads. Each of these modules has `STANDARD`, `detect` and `read`."""
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
    _standard(datacite, "DataCite"),
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
        rejection_code: the code of the error if the whole document was rejected, or None.
        rejection_facts: the details of this error.
    """

    standard: str | None
    documents: tuple[DatasetDocument, ...] = ()
    rejected: tuple[RejectedPart, ...] = ()
    rejection_code: str | None = None
    rejection_facts: Mapping[str, Any] = field(default_factory=dict)


def read_document(source: SourceDocument, standard_key: str | None = None) -> Reading:
    """Read the datasets of a document, or return an error code if it has none.

    The standard is detected unless the caller names it. Errors in the document never raise an exception.
    """
    standard: Standard | None = None  # for errors before a standard is detected
    try:
        standard = BY_KEY[standard_key] if standard_key is not None else detect_standard(source)
        return collect(standard, standard.read(source))
    except DocumentError as error:
        return _reject_document(standard, error.code, error.facts)
    except RecursionError:
        return _reject_document(standard, "too_deep", {})


def _reject_document(standard: Standard | None, code: str, facts: Mapping[str, Any]) -> Reading:
    """Return the result for a document that cannot be used as a whole."""
    return Reading(standard.key if standard else None, rejection_code=code, rejection_facts=facts)


def collect(standard: Standard, results: Iterator[DatasetDocument | RejectedPart]) -> Reading:
    """Collect the datasets and rejections of a document.

    Datasets with the key of an earlier one are rejected. If no dataset remains, the whole document is rejected.
    """
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
        # The error of the only dataset says more than "no_dataset".
        return _reject_document(standard, rejected[0].code, rejected[0].facts)
    return Reading(standard.key, rejected=tuple(rejected), rejection_code="no_dataset")


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
    # A JSON Schema defines the structure of other documents. A dataset may also have `$schema`, as its own standard.
    has_definitions = "properties" in source.members or "definitions" in source.members
    if "$schema" in source.members and has_definitions:
        return "schema_document"
    # The services of OpenML and DataCite answer with one of these members if a request fails.
    if set(source.members) in ({"error"}, {"errors"}):
        return "error_reply"
    if is_companion(source):
        return "companion_document"
    if source.suffix in (".csv", ".tsv", ".arff", ".parquet"):
        return "data_file"
    return "unknown_standard"


def is_companion(source: SourceDocument) -> bool:
    """Return whether a file accompanies the main document of a dataset, such as `dataset_infos.json` a card.

    A README is only a companion next to a Data Package. Elsewhere, it is a document of its own.
    """
    if source.path.name == data_package.README:
        return data_package.FILE_NAME in source.companions
    return any(source.path.name in standard.companions for standard in STANDARDS)
