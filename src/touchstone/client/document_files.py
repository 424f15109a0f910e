"""Metadata documents in files and folders, divided into batches that fit into one request."""

from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path, PurePosixPath
from typing import Final, NamedTuple

# The suffixes of documents, and of files that complete a document.
DOCUMENT_SUFFIXES: Final = frozenset(
    {
        ".json",
        ".jsonld",
        ".geojson",
        ".yaml",
        ".yml",
        ".csv",
        ".tsv",
        ".md",
        ".markdown",
        ".txt",
        ".bib",
        ".ttl",
        ".turtle",
        ".n3",
        ".nt",
        ".rdf",
        ".owl",
        ".xml",
    }
)
JSON_LINES_SUFFIX: Final = ".jsonl"
MAX_BATCH_DOCUMENTS: Final = 50
MAX_BATCH_BYTES: Final = 8 * 2**20
# The service rejects larger documents.
MAX_DOCUMENT_BYTES: Final = 32 * 2**20


class Document(NamedTuple):
    """The content of a document, and its name: the path of its file, which begins with a folder."""

    name: str
    content: bytes


def documents_in(path: Path) -> Iterator[Document]:
    """Yield the documents in a file or in a folder and its subfolders.

    A JSON Lines file contains one document on each line. In folders, hidden files are skipped, and so are files without
    the suffix of a document.

    Raises:
        OSError: a file cannot be read.
    """
    root = path.resolve()
    if not root.is_dir():
        yield from _read_file(root, root.parent.parent)
        return

    for file in sorted(root.rglob("*")):
        path_in_root = file.relative_to(root)
        is_hidden = any(name.startswith(".") for name in path_in_root.parts)
        has_document_suffix = file.suffix.lower() in (*DOCUMENT_SUFFIXES, JSON_LINES_SUFFIX)
        if is_hidden or not has_document_suffix or not file.is_file():
            continue

        if file.stat().st_size <= MAX_DOCUMENT_BYTES:
            yield from _read_file(file, root.parent)


def _read_file(file: Path, root: Path) -> Iterator[Document]:
    """Yield the document in a file, or the documents on the lines of a JSON Lines file.

    Names are relative to `root`. All documents of a JSON Lines file have the same name, because they have one source.
    """
    name = file.relative_to(root).as_posix()
    if file.suffix.lower() != JSON_LINES_SUFFIX:
        yield Document(name, file.read_bytes())
        return

    document_name = str(PurePosixPath(name).with_suffix(".json"))
    with file.open("rb") as lines:
        for line in lines:
            if line.strip():
                yield Document(document_name, line)


def batches(documents: Iterable[Document]) -> Iterator[list[Document]]:
    """Divide documents into batches that are small enough for one request, and yield the batches.

    Documents in the same folder complete each other, so they stay together unless they do not fit into one batch.
    """
    batch: list[Document] = []

    for _, members in groupby(documents, key=lambda document: PurePosixPath(document.name).parent):
        folder = list(members)
        if batch and not _fits([*batch, *folder]):
            yield batch
            batch = []

        for document in folder:
            if batch and not _fits([*batch, document]):
                yield batch
                batch = []
            batch.append(document)

    if batch:
        yield batch


def _fits(documents: list[Document]) -> bool:
    """Return whether the documents fit into one batch."""
    byte_count = sum(len(document.content) for document in documents)
    return len(documents) <= MAX_BATCH_DOCUMENTS and byte_count <= MAX_BATCH_BYTES
