"""What the service and the confined process that reads documents tell each other.

The service sends a `ReadingRequest` as one line of JSON and then the contents of the files, one after the other. The
process replies with lines of JSON, one `ReadingLine` each; the last one is a `ReadingEnd`.
"""

from collections.abc import Mapping
from typing import Any, TypeAlias

import msgspec

from touchstone.metadata.documents import Claim, DatasetDocument


class UploadedDocument(msgspec.Struct, frozen=True, kw_only=True):
    """A document as it was received.

    Attributes:
        name: its path in the source, such as `squad/README.md`, as far as the sender has said.
        content: its bytes.
    """

    name: str
    content: bytes


class FileEntry(msgspec.Struct, frozen=True, kw_only=True):
    """The name and the length of one of the files that follow a request."""

    name: str
    size: int


class ReadingRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The files to read, and the key of their standard if it is not to be detected."""

    files: tuple[FileEntry, ...]
    standard: str | None


class ReadDataset(msgspec.Struct, frozen=True, kw_only=True, tag="dataset"):
    """A dataset that one of the files describes.

    Attributes:
        file: the number of the file, from 0.
        dataset: what the file states in fields; its prose has been read and is left out.
        proposals: what the extractor finds in its prose.
    """

    file: int
    dataset: DatasetDocument
    proposals: tuple[Claim, ...]


class RejectedDataset(msgspec.Struct, frozen=True, kw_only=True, tag="rejected"):
    """A file that cannot be used (`place` is empty then), or one dataset in it, with a stable code and facts."""

    file: int
    standard: str | None
    place: str
    code: str
    facts: Mapping[str, Any]


class CompanionRead(msgspec.Struct, frozen=True, kw_only=True, tag="companion"):
    """A file that was read together with the main document of a dataset."""

    file: int


class ReadingEnd(msgspec.Struct, frozen=True, kw_only=True, tag="end"):
    """The end of the reply: every file has been read."""


ReadingLine: TypeAlias = ReadDataset | RejectedDataset | CompanionRead | ReadingEnd
