"""The files that jobs produce, and the scratch folders in which their workers write them.

A worker writes into a scratch folder. When its attempt succeeds, the files are synced to disk and the folder is
renamed to its final place, so that an artifact is either complete or absent.
"""

import asyncio
import hashlib
import os
import re
import shutil
import stat
from collections.abc import Sequence
from io import BufferedReader
from pathlib import Path
from typing import BinaryIO, Final
from uuid import UUID

from touchstone.jobs.execution.protocol import OutputFile
from touchstone.jobs.job_records import ArtifactRecord, AttemptId

ARTIFACT_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
MAX_QUOTED_CHARACTERS: Final = 100
_SCRATCH_PARENT: Final = ".scratch"
_SCRATCH_NAME: Final = re.compile(r"(?P<job_id>[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})-(?P<attempt>[0-9]+)")


class BrokenArtifact(Exception):
    """A task has reported an output file that is missing, is not a regular file, or has a forbidden name."""


class ArtifactStore:
    """The folder with the artifacts of all jobs, at the paths `<job id>/<attempt>/<file name>`.

    It also contains a scratch folder `.scratch/<job id>-<attempt>` for each running attempt.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    async def create_scratch(self, attempt_id: AttemptId) -> Path:
        """Create an empty scratch folder for an attempt, replacing the folders of the job's earlier attempts."""
        return await asyncio.to_thread(self._create_scratch_folder, attempt_id)

    async def publish(self, attempt_id: AttemptId, output_files: Sequence[OutputFile]) -> list[ArtifactRecord]:
        """Move the output files of a successful attempt durably to its final folder, and return their records.

        Raises:
            BrokenArtifact: a file is missing, is not a regular file, or has a forbidden name.
            OSError: the disk is full or fails.
        """
        if not output_files:
            return []
        return await asyncio.to_thread(self._publish, attempt_id, output_files)

    async def unpublish(self, attempt_id: AttemptId) -> None:
        """Remove all files of an attempt, whether they are published or not."""
        for folder in (self._scratch_folder(attempt_id), self._final_folder(attempt_id)):
            await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)

    async def remove_scratch(self, attempt_id: AttemptId) -> None:
        """Remove the scratch folder of an attempt, if it still exists."""
        await asyncio.to_thread(shutil.rmtree, self._scratch_folder(attempt_id), ignore_errors=True)

    async def delete_job(self, job_id: UUID) -> None:
        """Remove all files of a job."""
        for folder in (self.folder / str(job_id), *self._list_scratch_folders(f"{job_id}-*")):
            await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)

    async def list_attempts_with_scratch(self) -> list[AttemptId]:
        """Return the attempts that have a scratch folder, whether they are running or not."""
        scratch_folders = await asyncio.to_thread(self._list_scratch_folders, "*")
        name_matches = [_SCRATCH_NAME.fullmatch(folder.name) for folder in scratch_folders]
        # Other programs may leave entries of their own, such as `.nfs…` or `.DS_Store`, among the folders.
        return [AttemptId(UUID(match["job_id"]), int(match["attempt"])) for match in name_matches if match]

    def open(self, path: str) -> BinaryIO:
        """Open the artifact at the path from its record for reading.

        Raises:
            OSError: the file does not exist or cannot be read.
        """
        return (self.folder / path).open("rb")

    def _scratch_folder(self, attempt_id: AttemptId) -> Path:
        """Return the scratch folder of an attempt."""
        return self.folder / _SCRATCH_PARENT / f"{attempt_id.job_id}-{attempt_id.number}"

    def _list_scratch_folders(self, name_pattern: str) -> list[Path]:
        """Return the scratch folders whose name, `<job id>-<attempt>`, matches a glob pattern."""
        return list((self.folder / _SCRATCH_PARENT).glob(name_pattern))

    def _final_folder(self, attempt_id: AttemptId) -> Path:
        """Return the folder for the published files of an attempt."""
        return self.folder / str(attempt_id.job_id) / str(attempt_id.number)

    def _create_scratch_folder(self, attempt_id: AttemptId) -> Path:
        """Create an empty scratch folder that only this user can read, and return its absolute path."""
        # If the process of an earlier attempt was lost, its folder still exists.
        for abandoned_folder in self._list_scratch_folders(f"{attempt_id.job_id}-*"):
            shutil.rmtree(abandoned_folder, ignore_errors=True)

        scratch_folder = self._scratch_folder(attempt_id)
        scratch_folder.mkdir(parents=True, mode=0o700)
        return scratch_folder.absolute()

    def _publish(self, attempt_id: AttemptId, output_files: Sequence[OutputFile]) -> list[ArtifactRecord]:
        """Sync the output files of an attempt to disk, then rename its scratch folder to the final folder.

        The rename publishes all files together, so that after a crash either all of them exist or none.
        """
        scratch_folder = self._scratch_folder(attempt_id)
        final_folder = self._final_folder(attempt_id)
        recorded_folder = final_folder.relative_to(self.folder)

        artifacts = [_record_output_file(scratch_folder, file, recorded_folder) for file in output_files]
        _remove_all_except(scratch_folder, kept_names={file.name for file in output_files})
        _sync_folder(scratch_folder)

        final_folder.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        scratch_folder.rename(final_folder)
        _sync_folder(final_folder.parent)
        return artifacts


def _record_output_file(scratch_folder: Path, output_file: OutputFile, recorded_folder: Path) -> ArtifactRecord:
    """Sync an output file to disk, and return its record.

    Args:
        scratch_folder: the folder that contains the file.
        output_file: the file as reported by the task.
        recorded_folder: the final folder of the file, for the path in the record.

    Raises:
        BrokenArtifact: the file is missing, is not a regular file, or has a forbidden name.
        OSError: the disk is full or fails.
    """
    with _open_output_file(scratch_folder, output_file.name) as stream:
        sha256 = hashlib.file_digest(stream, "sha256").hexdigest()
        os.fsync(stream.fileno())
        size_in_bytes = os.fstat(stream.fileno()).st_size

    return ArtifactRecord(
        name=output_file.name,
        media_type=output_file.media_type,
        bytes=size_in_bytes,
        sha256=sha256,
        path=str(recorded_folder / output_file.name),
    )


def _open_output_file(scratch_folder: Path, file_name: str) -> BufferedReader:
    """Open a file that a task claims to have written, without trusting the task.

    The name might lead out of the folder, or the file might be a link or a pipe.

    Raises:
        BrokenArtifact: the file is missing, is not a regular file, or has a forbidden name.
    """
    if not ARTIFACT_NAME.fullmatch(file_name):
        raise BrokenArtifact(file_name[:MAX_QUOTED_CHARACTERS])

    # O_NOFOLLOW rejects links, and O_NONBLOCK prevents a pipe without a writer from blocking this process.
    try:
        descriptor = os.open(scratch_folder / file_name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        raise BrokenArtifact(file_name) from error

    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise BrokenArtifact(file_name)
    return os.fdopen(descriptor, "rb")


def _remove_all_except(folder: Path, *, kept_names: set[str]) -> None:
    """Remove the files, links and folders in `folder` whose name is not in `kept_names`."""
    for entry in folder.iterdir():
        if entry.name in kept_names:
            continue

        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        else:
            entry.unlink()


def _sync_folder(folder: Path) -> None:
    """Sync the directory entries of a folder to disk, because syncing a file does not include its name."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
