"""The files that jobs leave: written aside by the work, made durable, then put in their place in one step."""

import asyncio
import hashlib
import os
import re
import shutil
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO, Final
from uuid import UUID

from touchstone.jobs.execution.protocol import Produced
from touchstone.jobs.store import Claim, KeptFile

NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_ASIDE: Final = ".scratch"


class BrokenArtifact(Exception):
    """The work named a file that it did not write, or may not name."""


class Shelf:
    """The artefacts folder: `<job>/<attempt>/<name>`, and a scratch folder for each attempt that is under way."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    async def scratch(self, mine: Claim) -> Path:
        """A fresh folder for what an attempt writes."""
        return await asyncio.to_thread(self._scratch, mine)

    async def keep(self, mine: Claim, files: Sequence[Produced]) -> list[KeptFile]:
        """Put an attempt's files in their place, durably.

        Raises:
            BrokenArtifact: a file is missing, not a plain file, or badly named.
            OSError: there is no room.
        """
        return await asyncio.to_thread(self._keep, mine, files) if files else []

    async def drop(self, mine: Claim) -> None:
        """Remove what an attempt has written, in its place or aside."""
        for folder in (self._aside(mine), self._place(mine)):
            await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)

    async def clear(self, mine: Claim) -> None:
        """Remove what an attempt has left aside."""
        await asyncio.to_thread(shutil.rmtree, self._aside(mine), ignore_errors=True)

    async def delete(self, job_id: UUID) -> None:
        """Remove every file of a job, in its place or aside."""
        for folder in (self.folder / str(job_id), *self._left_aside(job_id)):
            await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)

    async def aside(self) -> list[Claim]:
        """The attempts that have left something aside, or are about to."""
        return await asyncio.to_thread(lambda: [_attempt(found) for found in self._left_aside("*")])

    def open(self, path: str) -> BinaryIO:
        """An artefact by its recorded path. Raises OSError when it is not there."""
        return (self.folder / path).open("rb")

    def _aside(self, mine: Claim) -> Path:
        return self.folder / _ASIDE / f"{mine.id}-{mine.attempt}"

    def _left_aside(self, job: UUID | str) -> list[Path]:
        return list((self.folder / _ASIDE).glob(f"{job}-*"))

    def _place(self, mine: Claim) -> Path:
        return self.folder / str(mine.id) / str(mine.attempt)

    def _scratch(self, mine: Claim) -> Path:
        folder = self._aside(mine)
        for left in self._left_aside(mine.id):  # by earlier attempts whose dispatcher was lost
            shutil.rmtree(left, ignore_errors=True)
        folder.mkdir(parents=True, mode=0o700)
        return folder.absolute()

    def _keep(self, mine: Claim, files: Sequence[Produced]) -> list[KeptFile]:
        aside, place = self._aside(mine), self._place(mine)
        kept = [_durable(aside, one, place.relative_to(self.folder)) for one in files]
        wanted = {one.name for one in files}
        for left in aside.iterdir():
            if left.name not in wanted:
                shutil.rmtree(left) if left.is_dir() and not left.is_symlink() else left.unlink()
        _sync_folder(aside)
        place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        aside.rename(place)
        _sync_folder(place.parent)
        return kept


def _attempt(folder: Path) -> Claim:
    job, _, attempt = folder.name.rpartition("-")
    return Claim(UUID(job), int(attempt))


def _durable(folder: Path, file: Produced, place: Path) -> KeptFile:
    if not NAME.fullmatch(file.name):
        raise BrokenArtifact(file.name[:100])
    try:
        descriptor = os.open(folder / file.name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as problem:
        raise BrokenArtifact(file.name) from problem
    with os.fdopen(descriptor, "rb") as stream:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise BrokenArtifact(file.name)
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
        os.fsync(descriptor)
        size = os.fstat(descriptor).st_size
    path = str(place / file.name)
    return KeptFile(name=file.name, media_type=file.media_type, bytes=size, sha256=digest, path=path)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
