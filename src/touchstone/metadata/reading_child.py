"""The confined process that reads documents for `reading_process`, and looks for proposals in their prose."""

import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any, BinaryIO, Final

import msgspec

from touchstone.core.confined_process import ProcessLimits, limit_this_process
from touchstone.metadata.documents import Claim, DatasetDocument, RejectedPart
from touchstone.metadata.extraction.proposals import propose_claims
from touchstone.metadata.readers.source import SourceDocument
from touchstone.metadata.readers.standards import Reading, read_document
from touchstone.metadata.reading_protocol import (
    CompanionRead,
    ReadDataset,
    ReadingEnd,
    ReadingLine,
    ReadingRequest,
    RejectedDataset,
    UploadedDocument,
)

MAX_DATASETS: Final = 5_000
MAX_QUOTE_LENGTH: Final = 4_000
# What is kept of the fields of one dataset that have no place in a record, as JSON.
MAX_UNMAPPED_BYTES: Final = 1024 * 1024
_COMPANION: Final = "companion_document"


def main() -> None:
    """Limit this process, read the documents on standard input, and write what was read to standard output."""
    limit_this_process(msgspec.json.decode(sys.argv[1], type=ProcessLimits))
    request, documents = receive_documents(sys.stdin.buffer)

    for line in read_all(documents, request.standard):
        sys.stdout.buffer.write(msgspec.json.encode(line) + b"\n")
        sys.stdout.buffer.flush()


def receive_documents(stream: BinaryIO) -> tuple[ReadingRequest, list[UploadedDocument]]:
    """Return the request and the documents that follow it on a stream."""
    request = msgspec.json.decode(stream.readline(), type=ReadingRequest)
    documents = [UploadedDocument(name=file.name, content=stream.read(file.size)) for file in request.files]
    return request, documents


def read_all(documents: Sequence[UploadedDocument], standard_key: str | None) -> Iterator[ReadingLine]:
    """Yield what is read from each document, and an end. Documents in the same folder are companions of each other."""
    sources = [with_companions(document, documents) for document in documents]
    folders_with_datasets: set[PurePosixPath] = set()
    companions: list[tuple[int, Reading]] = []
    dataset_count = 0

    for index, source in enumerate(sources):
        reading = read_document(source, standard_key)
        if reading.code == _COMPANION:
            companions.append((index, reading))
            continue
        if reading.documents:
            folders_with_datasets.add(source.path.parent)

        accepted = reading.documents[: MAX_DATASETS - dataset_count]
        dataset_count += len(accepted)
        yield from lines_of(index, replace(reading, documents=accepted))
        if len(accepted) < len(reading.documents):
            facts = {"limit": MAX_DATASETS, "left_out": len(reading.documents) - len(accepted)}
            yield _rejection(index, reading, RejectedPart("", "too_many_datasets", facts))

    for index, reading in companions:
        if sources[index].path.parent in folders_with_datasets:
            yield CompanionRead(file=index)
        else:
            yield from lines_of(index, reading)

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


def lines_of(index: int, reading: Reading) -> Iterator[ReadingLine]:
    """Yield the datasets of one document, and what was rejected of it."""
    if reading.code is not None:
        yield _rejection(index, reading, RejectedPart("", reading.code, reading.facts))

    for part in reading.rejected:
        yield _rejection(index, reading, part)

    for document in reading.documents:
        proposals = propose_claims(document.sections)
        dataset = within_limits(replace(document, sections=()))
        yield ReadDataset(file=index, dataset=dataset, proposals=tuple(filter(_has_short_quote, proposals)))


def within_limits(document: DatasetDocument) -> DatasetDocument:
    """Return a dataset without quotes and fields that are too long to be kept; what was left out is listed."""
    rejected = list(document.rejected)

    claims: list[Claim] = []
    for claim in document.claims:
        if _has_short_quote(claim):
            claims.append(claim)
        else:
            rejected.append(RejectedPart(claim.place, "quote_too_long", {"limit": MAX_QUOTE_LENGTH}))

    unmapped: dict[str, Any] = {}
    remaining_bytes = MAX_UNMAPPED_BYTES
    for path, value in document.unmapped.items():
        size = len(json.dumps({path: value}, default=str))
        if size > remaining_bytes:
            rejected.append(RejectedPart(path, "field_too_large", {"bytes": size, "limit": MAX_UNMAPPED_BYTES}))
        else:
            unmapped[path] = value
            remaining_bytes -= size

    return replace(document, claims=tuple(claims), unmapped=unmapped, rejected=tuple(rejected))


def _has_short_quote(claim: Claim) -> bool:
    return len(claim.quote) <= MAX_QUOTE_LENGTH


def _rejection(index: int, reading: Reading, part: RejectedPart) -> RejectedDataset:
    """Return the line for a part of a document that was rejected."""
    return RejectedDataset(
        file=index, standard=reading.standard, place=part.place, code=part.code, facts=dict(part.facts)
    )


if __name__ == "__main__":
    main()
