"""Uploaded tables: received into a temporary file, made durable, counted against their owner's quota."""

import asyncio
import hashlib
import os
import re
import unicodedata
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final
from uuid import UUID, uuid4

from starlette.datastructures import UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import Request

from touchstone.core.errors import (
    BadRequest,
    FieldError,
    InvalidValue,
    QuotaExceeded,
    ServiceError,
    TooLarge,
    UploadNotFound,
)
from touchstone.core.identity import parse_uuid
from touchstone.core.settings import Settings
from touchstone.database.engine import Database
from touchstone.database.failures import service_error_for
from touchstone.database.versions import bump
from touchstone.datafiles.profiler import FILE_TYPES
from touchstone.services.selection import store
from touchstone.services.selection.parameters import Form, Parameter, Parameters

FORM_BYTES: Final = 64 * 1024  # what a multipart body may have around its file
_BUFFER: Final = 1024 * 1024
_UNSAFE: Final = re.compile(r"[^\w.-]+")
_NAME_BYTES: Final = 150  # with the id before it, a name that every file system takes
UPLOAD_PARAMETERS: Final = Parameters(
    Parameter(name="name", form=Form.TEXT, description="Name of the file, when the body is the file itself.")
)


@dataclass(frozen=True, slots=True)
class Room:
    """How many bytes may still come, and the refusal of more."""

    limit: int
    refusal: ServiceError


class Uploading:
    """Stores uploads."""

    def __init__(self, settings: Settings, database: Database) -> None:
        self._database = database
        self._folder = settings.uploads_dir
        self._most = settings.upload_max_bytes
        self._quota = settings.upload_quota_bytes

    async def keep(self, request: Request, owner: UUID) -> Mapping[str, Any]:
        """Store the file in a request's body: what the caller is told about it.

        Raises:
            BadRequest, InvalidValue: not a form with one file, or a name that tells no known type.
            TooLarge, QuotaExceeded: more than one file, or one user, may take.
            StorageFull: the disk is full.
        """
        declared = request.headers.get("content-length", "")
        self._database.check_room(int(declared) if declared.isdigit() else 0)
        aside = self._folder / f".{uuid4().hex}.part"
        try:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            name, size, digest = await _received(request, aside, await self._room(owner))
            file_id = uuid4()
            kept = self._folder / f"{file_id}-{name}"
            await asyncio.to_thread(_settle, aside, kept)
        except OSError as problem:
            raise service_error_for(problem) or problem from problem
        finally:
            aside.unlink(missing_ok=True)
        values: dict[str, Any] = {
            "id": file_id,
            "file_path": f"{store.UPLOADS}/{kept.name}",
            "bytes": size,
            "sha256": digest,
        }
        values["created_at"] = datetime.now(UTC)
        await self._note({**values, "owner": owner}, kept)
        return _shown(values)

    async def listed(self, owner: UUID) -> Mapping[str, Any]:
        """An owner's uploads, newest first, how many bytes they take, and how many they may take."""
        async with self._database.reading() as rows:
            found = await store.files_of(rows, owner)
        used = sum(file["bytes"] for file in found)
        return {"files": [_shown(file) for file in found], "used_bytes": used, "quota_bytes": self._quota}

    async def remove(self, file_id: str, owner: UUID) -> None:
        """Delete an upload; records that name it stay, without a file that can be opened.

        Raises:
            UploadNotFound: the owner has none with this id.
        """
        known = parse_uuid(file_id)
        async with self._database.writing(essential=True) as rows:
            found = await store.delete_file(rows, known, owner) if known else None
            if found is None:
                raise UploadNotFound
            # Before the commit: whatever happens in between, the owner still sees the row and can delete again.
            (self._folder / _kept_name(found)).unlink(missing_ok=True)

    async def _room(self, owner: UUID) -> Room:
        async with self._database.reading() as rows:
            left = self._quota - await store.used_bytes(rows, owner)
        if left < self._most:
            return Room(max(0, left), QuotaExceeded(limit=self._quota))
        return Room(self._most, TooLarge(limit=self._most))

    async def _note(self, values: Mapping[str, Any], kept: Path) -> None:
        try:
            async with self._database.writing() as rows:
                # Uploads take turns here, in every process: two together must not pass the quota.
                await bump(rows, store.UPLOADS)
                if await store.used_bytes(rows, values["owner"]) + values["bytes"] > self._quota:
                    raise QuotaExceeded(limit=self._quota)
                await store.insert_file(rows, values)
        except BaseException:
            os.unlink(kept)  # noqa: PTH108 - at once, even when cancelled
            raise


def _kept_name(file: Mapping[str, Any]) -> str:
    """The name of the stored file: its id and the safe end of the caller's name."""
    name: str = file["file_path"].removeprefix(f"{store.UPLOADS}/")
    return name


def _shown(file: Mapping[str, Any]) -> Mapping[str, Any]:
    """A stored upload as its owner sees it."""
    name = _kept_name(file).removeprefix(f"{file['id']}-")
    values = {key: value for key, value in file.items() if key != "owner"}
    return {**values, "name": name, "file_type": file_type_of(name)}


def file_type_of(name: str) -> str:
    """The type of a table, told by the ending of its name.

    Raises:
        InvalidValue: it is none that can be read.
    """
    _, dot, ending = name.lower().rpartition(".")
    if not dot or ending not in FILE_TYPES:
        endings = ", ".join(f".{known}" for known in FILE_TYPES)
        raise InvalidValue(FieldError(("query", "name"), "file_type", {"endings": endings}))
    return ending


async def _received(request: Request, aside: Path, room: Room) -> tuple[str, int, str]:
    """The file's name, its size in bytes and its digest; its content is in `aside`."""
    if request.headers.get("content-type", "").startswith("multipart/form-data"):
        upload = await _form_file(request, room)
        try:
            name = _safe(upload.filename or "")
            file_type_of(name)
            return name, *await _written(_chunks(upload), aside, room)
        finally:
            await upload.close()
    values = UPLOAD_PARAMETERS.from_query(request.scope["query_string"])
    name = _safe(str(values.get("name", "")))
    file_type_of(name)
    return name, *await _written(request.stream(), aside, room)


async def _form_file(request: Request, room: Room) -> UploadFile:
    """The one file of a multipart form; it is received to a temporary file by the parser."""
    whole = Room(room.limit + FORM_BYTES, room.refusal)
    try:
        form = await MultiPartParser(request.headers, _bounded(request.stream(), whole), max_files=1).parse()
    except MultiPartException as problem:
        raise BadRequest from problem
    files = [part for _, part in form.multi_items() if isinstance(part, UploadFile)]
    if len(files) != 1:
        raise BadRequest
    return files[0]


async def _chunks(upload: UploadFile) -> AsyncIterator[bytes]:
    while chunk := await upload.read(_BUFFER):
        yield chunk


async def _bounded(chunks: AsyncIterator[bytes], room: Room) -> AsyncGenerator[bytes, None]:
    taken = 0
    async for chunk in chunks:
        taken += len(chunk)
        if taken > room.limit:
            raise room.refusal
        yield chunk


async def _written(chunks: AsyncIterator[bytes], aside: Path, room: Room) -> tuple[int, str]:
    """Write the chunks to a new file; size and SHA-256."""
    digest, size, waiting = hashlib.sha256(), 0, bytearray()
    file = await asyncio.to_thread(aside.open, "xb")
    with file:
        async for chunk in _bounded(chunks, room):
            digest.update(chunk)
            size += len(chunk)
            waiting += chunk
            if len(waiting) >= _BUFFER:
                await asyncio.to_thread(file.write, bytes(waiting))
                waiting.clear()
        file.write(waiting)
    return size, digest.hexdigest()


def _settle(aside: Path, kept: Path) -> None:
    """Give the file its name once it is on the disk: after a crash there is all of it or none."""
    with aside.open("rb") as file:
        os.fsync(file.fileno())
    aside.rename(kept)
    folder = os.open(kept.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _safe(name: str) -> str:
    """The caller's file name without folders, in letters, digits and what is plain everywhere."""
    last = unicodedata.normalize("NFC", name.replace("\\", "/").rpartition("/")[2])
    return _UNSAFE.sub("_", last).lstrip(".").encode()[-_NAME_BYTES:].decode(errors="ignore")
