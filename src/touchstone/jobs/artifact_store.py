"""The artifact store: the files that jobs leave behind, and the scratch folders in which they are written.

A worker writes into a scratch folder. When its attempt succeeds, the files are synced to disk and the folder is
renamed into its final place, so that an artifact is either whole or absent.
"""

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

from touchstone.jobs.execution.protocol import OutputFile
from touchstone.jobs.records import ArtifactRecord, Claim

ARTIFACT_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_SCRATCH: Final = ".scratch"


class BrokenArtifact(Exception):
    """A task named an output file that it did not write, or whose name is not allowed."""


class ArtifactStore:
    """The artifacts folder, laid out as `<job>/<attempt>/<name>`, with a scratch folder for each running attempt."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    async def create_scratch(self, claim: Claim) -> Path:
        """Create an empty folder for the files of an attempt, and remove those of the job's earlier attempts."""
        return await asyncio.to_thread(self._create_scratch, claim)

    async def publish(self, claim: Claim, files: Sequence[OutputFile]) -> list[ArtifactRecord]:
        """Move an attempt's output files durably to their final place.

        Raises:
            BrokenArtifact: a file is missing, not a regular file, or badly named.
            OSError: the disk is full or fails.
        """
        return await asyncio.to_thread(self._publish, claim, files) if files else []

    async def unpublish(self, claim: Claim) -> None:
        """Remove everything that an attempt has written, published or not."""
        for folder in (self._scratch_folder(claim), self._final_folder(claim)):
            await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)

    async def remove_scratch(self, claim: Claim) -> None:
        """Remove an attempt's scratch folder."""
        await asyncio.to_thread(shutil.rmtree, self._scratch_folder(claim), ignore_errors=True)

    async def delete_job(self, job_id: UUID) -> None:
        """Remove every file of a job."""
        for folder in (self.folder / str(job_id), *self._scratch_folders(job_id)):
            await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)

    async def attempts_with_scratch(self) -> list[Claim]:
        """Return the attempts that have a scratch folder."""
        folders = await asyncio.to_thread(self._scratch_folders, "*")
        return [_attempt_of(folder) for folder in folders]

    def open(self, path: str) -> BinaryIO:
        """Open an artifact by its recorded path. Raises OSError if it does not exist."""
        return (self.folder / path).open("rb")

    def _scratch_folder(self, claim: Claim) -> Path:
        return self.folder / _SCRATCH / f"{claim.id}-{claim.attempt}"

    def _scratch_folders(self, job_id: UUID | str) -> list[Path]:
        return list((self.folder / _SCRATCH).glob(f"{job_id}-*"))

    def _final_folder(self, claim: Claim) -> Path:
        return self.folder / str(claim.id) / str(claim.attempt)

    def _create_scratch(self, claim: Claim) -> Path:
        # Attempts whose dispatcher was lost have left their folders behind.
        for abandoned in self._scratch_folders(claim.id):
            shutil.rmtree(abandoned, ignore_errors=True)

        folder = self._scratch_folder(claim)
        folder.mkdir(parents=True, mode=0o700)
        return folder.absolute()

    def _publish(self, claim: Claim, files: Sequence[OutputFile]) -> list[ArtifactRecord]:
        scratch = self._scratch_folder(claim)
        destination = self._final_folder(claim)

        artifacts = [_sync_artifact(scratch, file, destination.relative_to(self.folder)) for file in files]
        _remove_all_except(scratch, {file.name for file in files})
        _sync_folder(scratch)

        destination.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        scratch.rename(destination)
        _sync_folder(destination.parent)
        return artifacts


def _attempt_of(folder: Path) -> Claim:
    """Return the attempt that a scratch folder is named after."""
    job_id, _, attempt = folder.name.rpartition("-")
    return Claim(UUID(job_id), int(attempt))


def _sync_artifact(folder: Path, file: OutputFile, destination: Path) -> ArtifactRecord:
    """Sync an output file to disk, and return its record as if it were in `destination` already.

    Raises:
        BrokenArtifact: the file is missing, not a regular file, or badly named.
    """
    if not ARTIFACT_NAME.fullmatch(file.name):
        raise BrokenArtifact(file.name[:100])

    try:
        # The task may have left a link or a pipe under this name: follow neither, and do not wait for a writer.
        descriptor = os.open(folder / file.name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        raise BrokenArtifact(file.name) from error

    with os.fdopen(descriptor, "rb") as stream:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise BrokenArtifact(file.name)
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
        os.fsync(descriptor)
        size = os.fstat(descriptor).st_size

    path = str(destination / file.name)
    return ArtifactRecord(name=file.name, media_type=file.media_type, bytes=size, sha256=digest, path=path)


def _remove_all_except(folder: Path, names: set[str]) -> None:
    for entry in folder.iterdir():
        if entry.name in names:
            continue
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        else:
            entry.unlink()


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
