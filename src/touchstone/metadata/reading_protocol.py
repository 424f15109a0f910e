"""The messages between the service and the confined process that reads documents.

The service sends a `ReadingRequest` as one line of JSON, followed by the contents of the files. The process replies
with one `ReadingLine` per line of JSON. The last one is a `ReadingEnd`.
"""

from collections.abc import Mapping
from typing import Any, TypeAlias

import msgspec

from touchstone.metadata.documents import Claim, DatasetDocument


class UploadedDocument(msgspec.Struct, frozen=True, kw_only=True):
    """A document as it was received.

    Attributes:
        name: its path in the source, such as `squad/README.md`, or only the part of it that the sender has given.
        content: its bytes.
    """

    name: str
    content: bytes


class FileEntry(msgspec.Struct, frozen=True, kw_only=True):
    """The name and the length of one of the files that follow a request."""

    name: str
    size: int


class ReadingRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The files to read, and the key of their standard, or None to detect it."""

    files: tuple[FileEntry, ...]
    standard: str | None


class ReadDataset(msgspec.Struct, frozen=True, kw_only=True, tag="dataset"):
    """A dataset that one of the files describes.

    Attributes:
        file: the index of the file in the request.
        dataset: the dataset without its prose sections, which have been searched already.
        proposals: the claims that the extractor proposes from the prose.
    """

    file: int
    dataset: DatasetDocument
    proposals: tuple[Claim, ...]


class RejectedDataset(msgspec.Struct, frozen=True, kw_only=True, tag="rejected"):
    """A file that cannot be used, or one part of it, with a stable error code. `place` is empty for a whole file."""

    file: int
    standard: str | None
    place: str
    code: str
    facts: Mapping[str, Any]


class ReadCompanion(msgspec.Struct, frozen=True, kw_only=True, tag="companion"):
    """A file that was read as a companion of the main document of a dataset."""

    file: int


class ReadingEnd(msgspec.Struct, frozen=True, kw_only=True, tag="end"):
    """The end of the reply: every file has been read."""


ReadingLine: TypeAlias = ReadDataset | RejectedDataset | ReadCompanion | ReadingEnd
