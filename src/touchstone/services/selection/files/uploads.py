"""Uploads of tables, which are stored durably and count towards their owner's quota."""

import asyncio
import hashlib
import os
import re
import unicodedata
from collections.abc import AsyncGenerator, AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO, Final
from uuid import UUID, uuid4

import structlog
from starlette.datastructures import UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import Request

from touchstone.core.errors import (
    BadRequest,
    FieldError,
    InvalidValue,
    QuotaExceeded,
    ServiceError,
    StorageFull,
    TooLarge,
    UploadNotFound,
)
from touchstone.core.identity import parse_uuid
from touchstone.core.settings import Settings
from touchstone.core.uninterrupted import repeat_uninterrupted
from touchstone.database.engine import Database
from touchstone.database.failures import translate_failures
from touchstone.datafiles.file_profile import FILE_TYPES
from touchstone.services.selection.files import store
from touchstone.services.selection.files.store import FileRecord
from touchstone.services.selection.files.upload_marker import UploadMarker, find_abandoned_uploads
from touchstone.services.selection.parameters import Parameter, ParameterTable, ParameterType

# The maximum size of everything in a multipart body besides the file.
FORM_OVERHEAD_BYTES: Final = 64 * 1024
_FORM_FIELD: Final = "file"
# How Starlette's message about too many files begins; its exceptions have no codes.
_TOO_MANY_FILES: Final = "Too many files"
_BUFFER_BYTES: Final = 1024 * 1024
ABANDONED_POLL_SECONDS: Final = 3600.0
"""The interval between two searches for abandoned uploads."""

_UNSAFE_CHARACTERS: Final = re.compile(r"[^\w.-]+")
# With the id in front of it, the name is still short enough for every file system.
_MAX_NAME_BYTES: Final = 150
_NAME: Final = Parameter(
    name="name",
    type=ParameterType.TEXT,
    description="Name of the file, instead of the name in the form; required if the body is the file itself.",
)
UPLOAD_PARAMETERS: Final = ParameterTable(_NAME)

log = structlog.get_logger("touchstone.uploads")


@dataclass(frozen=True, slots=True)
class SizeLimit:
    """The maximum size of an upload, and the error to raise if it is exceeded."""

    max_bytes: int
    error: ServiceError


@dataclass(frozen=True, slots=True)
class ReceivedFile:
    """The path, size and digest of a file that has been received completely."""

    path: Path
    size: int
    sha256: str


class Uploads:
    """The uploaded tables of all users."""

    def __init__(self, settings: Settings, database: Database) -> None:
        self.quota_bytes = settings.upload_quota_bytes
        self._database = database
        self._folder = settings.uploads_dir
        self._max_bytes = settings.upload_max_bytes

    async def receive(self, request: Request, owner: UUID) -> FileRecord:
        """Store the file in the body of a request as an upload of `owner`, and return its record.

        The file is received, flushed to the disk, and only then recorded in the database. If a step fails, the file is
        deleted. A marker beside the file exists until it is recorded. If the process is killed, or nobody knows whether
        the database has recorded the file, the marker stays, and `delete_abandoned` decides a day later.

        Raises:
            BadRequest: the body is a malformed form.
            InvalidValue: a form does not contain exactly one file, or the file name does not have the extension of a
                table, such as `.csv`.
            TooLarge, QuotaExceeded: the file is too large, or the owner's uploads together would be.
            StorageFull: the disk is full.
        """
        self._database.prepare_for_file(declared_length(request))

        file_id = uuid4()
        marker = UploadMarker.of_upload(self._folder, file_id)
        try:
            with translate_failures():
                self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
                size_limit = await self._size_limit(owner)
                marker.create()
                received_file = await _receive_file(request, self._folder / str(file_id), size_limit)
        except BaseException:
            marker.remove()
            raise

        record = FileRecord(
            id=file_id,
            owner=owner,
            file_path=f"{store.UPLOADS}/{received_file.path.name}",
            bytes=received_file.size,
            sha256=received_file.sha256,
            created_at=datetime.now(UTC),
        )
        try:
            await self._insert(record)
        except (QuotaExceeded, StorageFull):
            # After any other exception, such as a lost connection, the transaction may have been committed.
            received_file.path.unlink(missing_ok=True)
            marker.remove()
            raise

        marker.remove()
        return record

    async def delete_abandoned_regularly(self) -> None:
        """Delete abandoned uploads now and once an hour, until cancelled.

        Errors are logged, and the next round tries again. Every process runs this task.
        """
        await repeat_uninterrupted(
            self.delete_abandoned, ABANDONED_POLL_SECONDS, log, failure="abandoned uploads not deleted"
        )

    async def delete_abandoned(self) -> None:
        """Delete the files of uploads that began more than a day ago and have not been recorded.

        The process that received them was killed, or lost its connection to the database.
        """
        for marker in await asyncio.to_thread(find_abandoned_uploads, self._folder):
            async with self._database.reading() as connection:
                is_recorded = await store.is_recorded(connection, marker.file_id)
            if not is_recorded:
                await asyncio.to_thread(marker.delete_upload)
            marker.remove()

    async def list_files(self, owner: UUID) -> list[FileRecord]:
        """Return an owner's uploads, newest first."""
        async with self._database.reading() as connection:
            return await store.load_files(connection, owner)

    async def get(self, file_id: str, owner: UUID) -> FileRecord:
        """Return the record of an upload.

        Raises:
            UploadNotFound: the owner has no upload with this id.
        """
        uuid = parse_uuid(file_id)
        if uuid is None:
            raise UploadNotFound

        async with self._database.reading() as connection:
            record = await store.find_file(connection, uuid, owner)
        if record is None:
            raise UploadNotFound
        return record

    async def delete(self, file_id: UUID, owner: UUID) -> None:
        """Delete an upload. Records that refer to it are kept, but can no longer open the file.

        Raises:
            UploadNotFound: the owner has no upload with this id.
        """
        async with self._database.writing(may_use_reserve=True) as transaction:
            record = await store.delete_file(transaction, file_id, owner)
            if record is None:
                raise UploadNotFound

            # Delete the file before committing: if the service stops in between, the owner still sees the upload and
            # can delete it again.
            path = self._folder / record.stored_name
            path.unlink(missing_ok=True)

    async def _size_limit(self, owner: UUID) -> SizeLimit:
        """Return the maximum size of the owner's next upload, with the error for a larger one.

        The maximum is the rest of the owner's quota, or the general limit for files if that is smaller.
        """
        async with self._database.reading() as connection:
            used_bytes = await store.total_file_bytes(connection, owner)

        # The existing files may exceed the quota, because an operator can lower it.
        remaining_bytes = max(0, self.quota_bytes - used_bytes)
        if remaining_bytes < self._max_bytes:
            return SizeLimit(remaining_bytes, QuotaExceeded(limit=self.quota_bytes))
        return SizeLimit(self._max_bytes, TooLarge(limit=self._max_bytes))

    async def _insert(self, record: FileRecord) -> None:
        """Record a file in the database.

        Raises:
            QuotaExceeded: a concurrent upload has used up the quota.
        """
        async with self._database.writing() as transaction:
            await store.lock_uploads(transaction)
            used_bytes = await store.total_file_bytes(transaction, record.owner)
            if used_bytes + record.bytes > self.quota_bytes:
                raise QuotaExceeded(limit=self.quota_bytes)
            await store.insert_file(transaction, record)


def declared_length(request: Request) -> int:
    """Return the length of a request body according to its header, or 0 if the header is missing or invalid."""
    content_length = request.headers.get("content-length", "")
    return int(content_length) if content_length.isdigit() else 0


def parse_file_type(name: str) -> str:
    """Return the type of a table, such as `csv`, from the extension of its file name, ignoring case.

    Raises:
        InvalidValue: the extension is missing, or does not belong to a supported type of table.
    """
    _, dot, extension = name.lower().rpartition(".")
    if not dot or extension not in FILE_TYPES:
        known_extensions = ", ".join(f".{file_type}" for file_type in FILE_TYPES)
        raise InvalidValue(FieldError(("query", "name"), "file_type", {"endings": known_extensions}))

    return extension


async def _receive_file(request: Request, prefix: Path, limit: SizeLimit) -> ReceivedFile:
    """Write the file that a request uploads to the path `<prefix>-<name>`.

    The body is either a form with one file, or the file itself. A name in the query string replaces the name in the
    form.

    Raises:
        BadRequest: the body is a malformed form.
        InvalidValue: a form does not contain exactly one file, or the file name does not have the extension of a table,
            such as `.csv`.
        ServiceError: the file is larger than `limit` allows; the error is `limit.error`.
    """
    values = UPLOAD_PARAMETERS.parse_query(request.scope["query_string"])
    name = _NAME.text_in(values, default="")
    is_form = request.headers.get("content-type", "").startswith("multipart/form-data")
    if not is_form:
        return await _write_file(name, request.stream(), prefix, limit)

    upload = await _receive_form_file(request, limit)
    try:
        return await _write_file(name or upload.filename or "", _read_chunks(upload), prefix, limit)
    finally:
        await upload.close()


async def _receive_form_file(request: Request, limit: SizeLimit) -> UploadFile:
    """Receive a multipart form, and return the only file in it, which the caller must close.

    The form may be slightly larger than the limit, which applies to the file.

    Raises:
        BadRequest: the body is not a form.
        InvalidValue: the form does not contain exactly one file.
        ServiceError: the form is too large; the error is `limit.error`.
    """
    form_limit = SizeLimit(limit.max_bytes + FORM_OVERHEAD_BYTES, limit.error)
    body = enforce_limit(request.stream(), form_limit)
    try:
        form = await MultiPartParser(request.headers, body, max_files=1).parse()
    except MultiPartException as error:
        if error.message.startswith(_TOO_MANY_FILES):
            raise InvalidValue(FieldError(("body",), "one_file_expected")) from error
        raise BadRequest from error

    for _name, field in form.multi_items():
        if isinstance(field, UploadFile):
            return field
    raise InvalidValue(FieldError(("body", _FORM_FIELD), "missing"))


async def _read_chunks(upload: UploadFile) -> AsyncIterator[bytes]:
    """Yield the content of a form file in chunks."""
    while chunk := await upload.read(_BUFFER_BYTES):
        yield chunk


async def enforce_limit(chunks: AsyncIterator[bytes], limit: SizeLimit) -> AsyncGenerator[bytes, None]:
    """Yield the chunks, and raise `limit.error` once they exceed `limit.max_bytes` in total."""
    received_bytes = 0
    async for chunk in chunks:
        received_bytes += len(chunk)
        if received_bytes > limit.max_bytes:
            raise limit.error
        yield chunk


async def _write_file(name: str, chunks: AsyncIterator[bytes], prefix: Path, limit: SizeLimit) -> ReceivedFile:
    """Write the chunks of an upload to a new file at the path `<prefix>-<safe name>`, and flush it to the disk.

    If a step fails, the file is deleted.

    Raises:
        InvalidValue: the name does not have the extension of a table, such as `.csv`; nothing is written.
        ServiceError: the file is larger than `limit` allows; the error is `limit.error`.
    """
    safe_name = _sanitize_name(name)
    parse_file_type(safe_name)  # Refuse other files before anything is written.
    path = prefix.with_name(f"{prefix.name}-{safe_name}")

    try:
        file = await asyncio.to_thread(path.open, "xb")
        with file:
            received_file = await _copy_chunks(enforce_limit(chunks, limit), file, path)
        await asyncio.to_thread(_sync, path)
    except BaseException:
        # Without a thread, so that it also works when the task is cancelled.
        path.unlink(missing_ok=True)
        raise
    return received_file


async def _copy_chunks(chunks: AsyncIterator[bytes], file: BinaryIO, path: Path) -> ReceivedFile:
    """Write chunks to an open file with this path, and return its size and digest.

    Network chunks are small, so they are buffered and written a megabyte at a time.
    """
    digest = hashlib.sha256()
    size = 0
    buffer = bytearray()
    async for chunk in chunks:
        digest.update(chunk)
        size += len(chunk)

        buffer += chunk
        if len(buffer) >= _BUFFER_BYTES:
            await asyncio.to_thread(file.write, bytes(buffer))
            buffer.clear()

    file.write(buffer)
    return ReceivedFile(path, size, digest.hexdigest())


def _sync(path: Path) -> None:
    """Flush a new file to the disk, so that it exists with its complete content after a crash.

    This waits for the disk, so call it in a thread.
    """
    with path.open("rb") as file:
        os.fsync(file.fileno())

    # The new name is stored in the folder, which has to be flushed to the disk as well.
    folder_descriptor = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder_descriptor)
    finally:
        os.close(folder_descriptor)


def _sanitize_name(name: str) -> str:
    """Return a file name without folders, with all unsafe characters replaced by underscores.

    A name that is too long is cut at the beginning, because its extension determines the type of the table.
    """
    last_component = name.replace("\\", "/").rpartition("/")[2]
    normalized_name = unicodedata.normalize("NFC", last_component)
    safe_name = _UNSAFE_CHARACTERS.sub("_", normalized_name).lstrip(".")

    # Cutting may split a multi-byte character, whose remaining bytes are dropped.
    last_bytes = safe_name.encode()[-_MAX_NAME_BYTES:]
    return last_bytes.decode(errors="ignore")
