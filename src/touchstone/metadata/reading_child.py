"""The program of the confined process that reads documents for `reading_process`.

It gets documents of unknown origin on its standard input, and writes the datasets in them to its standard output, with
the claims that the extractor proposes from their prose. `reading_protocol` describes both.
"""

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any, BinaryIO, Final

import msgspec
from msgspec import UnsetType

from touchstone.core.confined_process import ProcessLimits, limit_this_process
from touchstone.metadata.documents import Claim, DatasetDocument, DocumentSource, ImportedDocument, RejectedPart
from touchstone.metadata.exact_values import POINTER
from touchstone.metadata.extraction.proposals import propose_claims
from touchstone.metadata.extraction.sentences import MAX_QUOTE_LENGTH
from touchstone.metadata.readers.source_document import SourceDocument
from touchstone.metadata.readers.standards import Reading, read_document
from touchstone.metadata.reading_protocol import (
    ReadCompanion,
    ReadDataset,
    ReadingEnd,
    ReadingLine,
    ReadingRequest,
    RejectedDataset,
    UploadedDocument,
)

MAX_DATASETS: Final = 5_000
MAX_CLAIMS: Final = 200
# The place, field, note and original source of a claim are cut to this length.
MAX_DETAIL_LENGTH: Final = 1_000
# The size limit, as JSON, for the unmapped fields of a dataset and its documents from other catalogs.
MAX_UNMAPPED_BYTES: Final = 1024 * 1024
_COMPANION: Final = "companion_document"


def main() -> None:
    """Apply the process limits, read documents from standard input, and write the reply to standard output."""
    limit_this_process(msgspec.json.decode(sys.argv[1], type=ProcessLimits))
    request, documents = receive_documents(sys.stdin.buffer)

    for line in read_all(documents, request.standard):
        sys.stdout.buffer.write(msgspec.json.encode(line) + b"\n")
        sys.stdout.buffer.flush()


def receive_documents(stream: BinaryIO) -> tuple[ReadingRequest, list[UploadedDocument]]:
    """Read the request and the documents that follow it from a stream."""
    request = msgspec.json.decode(stream.readline(), type=ReadingRequest)
    documents = [UploadedDocument(name=file.name, content=stream.read(file.size)) for file in request.files]
    return request, documents


def read_all(documents: Sequence[UploadedDocument], standard_key: str | None) -> Iterator[ReadingLine]:
    """Read all documents, and yield the lines of the reply: datasets, rejections and the end marker.

    Documents in the same folder are companions: the reader of a README may need the list of tags next to it.
    """
    sources = [with_companions(document, documents) for document in documents]
    folders_with_datasets: set[PurePosixPath] = set()
    companions: list[tuple[int, Reading]] = []
    dataset_count = 0

    for index, source in enumerate(sources):
        reading = read_document(source, standard_key)
        if reading.rejection_code == _COMPANION:
            # Whether a dataset uses it is known only after all documents of the folder have been read.
            companions.append((index, reading))
            continue
        if reading.documents:
            folders_with_datasets.add(source.path.parent)

        # The limit applies to the total number of datasets.
        accepted = reading.documents[: MAX_DATASETS - dataset_count]
        dataset_count += len(accepted)
        yield from lines_about_file(index, replace(reading, documents=accepted))
        if len(accepted) < len(reading.documents):
            facts = {"limit": MAX_DATASETS, "left_out": len(reading.documents) - len(accepted)}
            yield _rejection(index, reading, RejectedPart("", "too_many_datasets", facts))

    # A companion is rejected only if its folder contains no dataset.
    for index, reading in companions:
        if sources[index].path.parent in folders_with_datasets:
            yield ReadCompanion(file=index)
        else:
            yield from lines_about_file(index, reading)

    yield ReadingEnd()


def with_companions(document: UploadedDocument, documents: Sequence[UploadedDocument]) -> SourceDocument:
    """Return a document with the other documents of the same folder as its companions."""
    folder = SourceDocument(b"", document.name).path.parent
    companions: dict[str, bytes] = {}
    for other in documents:
        path = SourceDocument(b"", other.name).path
        if other is not document and path.parent == folder:
            companions[path.name] = other.content
    return SourceDocument(document.content, document.name, companions)


def lines_about_file(file_index: int, reading: Reading) -> Iterator[ReadingLine]:
    """Yield the lines of the reply about one file: first its rejected parts, then its datasets."""
    if reading.rejection_code is not None:
        whole_file = RejectedPart("", reading.rejection_code, reading.rejection_facts)
        yield _rejection(file_index, reading, whole_file)

    for part in reading.rejected:
        yield _rejection(file_index, reading, part)

    for document in reading.documents:
        # Rejected proposals are not reported, because they are suggestions of the extractor, not parts of the document.
        proposals, _rejected = _claims_within_limits(propose_claims(document.sections))
        # Only the search for proposals needs the sections, so they are not sent.
        dataset = within_limits(replace(document, sections=()))
        yield ReadDataset(file=file_index, dataset=dataset, proposals=tuple(proposals))


def within_limits(document: DatasetDocument) -> DatasetDocument:
    """Reject the claims, unmapped fields and earlier documents of a dataset that exceed the limits."""
    claims, rejected = _claims_within_limits(document.claims)
    if len(claims) > MAX_CLAIMS:
        facts = {"limit": MAX_CLAIMS, "left_out": len(claims) - MAX_CLAIMS}
        rejected.append(RejectedPart("", "too_many_claims", facts))

    # Fields and earlier documents share one limit.
    remaining_bytes = MAX_UNMAPPED_BYTES
    unmapped: dict[str, Any] = {}
    for path, value in document.unmapped.items():
        size = len(json.dumps({path: value}, default=str))
        if size > remaining_bytes:
            rejected.append(_too_large(path, size))
        else:
            unmapped[path] = value
            remaining_bytes -= size

    earlier: list[ImportedDocument] = []
    for index, imported_document in enumerate(document.earlier):
        size = len(msgspec.json.encode(imported_document))
        if size > remaining_bytes:
            rejected.append(_too_large(f"{POINTER}/imported/{index}", size))
        else:
            earlier.append(imported_document)
            remaining_bytes -= size

    return replace(
        document,
        claims=tuple(claims[:MAX_CLAIMS]),
        unmapped=unmapped,
        earlier=tuple(earlier),
        rejected=(*document.rejected, *rejected),
    )


def _claims_within_limits(claims: Iterable[Claim]) -> tuple[list[Claim], list[RejectedPart]]:
    """Return the claims with quotes of acceptable length, and the rejections of all others.

    The details of accepted claims, such as their notes, are shortened if necessary. A shortened quote would no longer
    be the complete statement, so a claim with an overlong one is rejected.
    """
    accepted_claims: list[Claim] = []
    rejected_parts: list[RejectedPart] = []
    for claim in claims:
        location = claim.place[:MAX_DETAIL_LENGTH]
        if len(claim.quote) > MAX_QUOTE_LENGTH:
            rejected_parts.append(RejectedPart(location, "quote_too_long", {"limit": MAX_QUOTE_LENGTH}))
            continue

        accepted_claims.append(
            replace(
                claim,
                place=location,
                field=_shorten(claim.field),
                note=claim.note[:MAX_DETAIL_LENGTH],
                original_source=_shorten_source(claim.original_source),
            )
        )
    return accepted_claims, rejected_parts


def _shorten(text: str | None) -> str | None:
    """Return a detail of a claim, cut to the permitted length."""
    return None if text is None else text[:MAX_DETAIL_LENGTH]


def _shorten_source(source: DocumentSource | UnsetType) -> DocumentSource | UnsetType:
    """Return a source with each of its details cut to the permitted length."""
    if isinstance(source, UnsetType):
        return source
    return DocumentSource(
        kind=_shorten(source.kind),
        name=_shorten(source.name),
        url=_shorten(source.url),
        sha256=_shorten(source.sha256),
    )


def _too_large(place: str, size: int) -> RejectedPart:
    """Return the rejection of a field or document that exceeds the size limit of a dataset."""
    return RejectedPart(place, "field_too_large", {"bytes": size, "limit": MAX_UNMAPPED_BYTES})


def _rejection(file_index: int, reading: Reading, part: RejectedPart) -> RejectedDataset:
    """Return the line of the reply about a rejected part of a file."""
    return RejectedDataset(
        file=file_index, standard=reading.standard, place=part.place, code=part.code, facts=dict(part.facts)
    )


if __name__ == "__main__":
    main()
