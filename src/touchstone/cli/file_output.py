"""Output files of commands, which replace existing files only after they are complete."""

import secrets
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, BinaryIO, Final

import typer

from touchstone.cli.command_context import CommandContext
from touchstone.cli.command_runner import ExitStatus, exit_with_error
from touchstone.client import ExportedFile

STANDARD_STREAM: Final = Path("-")  # means the standard input or output instead of a file
_OVERWRITE_ADVICE: Final = "to overwrite it anyway, write to - and redirect the standard output to the file"

OutputPath = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        help="The file to write, or - for the standard output (default: the name that the service suggests, "
        "in the current folder).",
    ),
]


def write_file(file: ExportedFile, output: Path | None, context: CommandContext) -> None:
    """Write a file from the service to the path that the user has named, or else under its own name.

    A path of `-` means the standard output. If the file cannot be written, the command ends with an error message.
    """
    path = output or Path(file.name)
    with open_output(path) as output_file:
        output_file.write(file.content)

    if path != STANDARD_STREAM:
        byte_count = len(file.content)
        context.show({"file": str(path), "bytes": byte_count}, f"{path}: {byte_count} bytes")


@contextmanager
def open_output(path: Path) -> Iterator[BinaryIO]:
    """Open a file for writing, or the standard output if the path is `-`.

    The content is written to a temporary file in the same folder, which replaces the file at the end of the block. If
    the block fails, an existing file is left unchanged. If the file cannot be written, the command ends with an error
    message.
    """
    if path == STANDARD_STREAM:
        yield sys.stdout.buffer
        return

    try:
        with _open_replacement(path) as file:
            yield file
    except OSError as error:
        exit_with_error(f"{path}: {error.strerror}", ExitStatus.USAGE)


@contextmanager
def _open_replacement(path: Path) -> Iterator[BinaryIO]:
    """Open a temporary file that replaces the file at `path`, with its permissions, unless the block fails."""
    if path.exists() and not path.is_file():
        # Devices and pipes are written to directly, and folders are refused.
        with path.open("wb") as file:
            yield file
        return

    target = path.resolve()  # a symbolic link stays a link
    temporary_path = target.with_name(f".{secrets.token_hex(8)}.part")
    try:
        new_file = temporary_path.open("xb")
    except OSError as error:
        if not target.exists():
            raise
        # Writing to the file itself would destroy it if the content then turned out to be incomplete.
        reason = f"it cannot be replaced, because its folder takes no new file ({error.strerror}); {_OVERWRITE_ADVICE}"
        raise OSError(error.errno, reason) from error

    try:
        with new_file as file:
            yield file
        if target.exists():
            shutil.copymode(target, temporary_path)
        temporary_path.replace(target)
    except BaseException:
        temporary_path.unlink(missing_ok=True)
        raise
