"""Commands whose result is a file: which file they write, and how."""

import sys
from pathlib import Path
from typing import Annotated, Final

import typer

from touchstone.cli.command_context import CommandContext
from touchstone.cli.command_runner import ExitStatus, exit_with_error
from touchstone.client import ExportedFile

STANDARD_OUTPUT: Final = Path("-")

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
    """Write a file from the service to the path that the user has named, or else under the name that it has.

    A path of `-` means the standard output. If the file cannot be written, the command ends with an error message.
    """
    if output == STANDARD_OUTPUT:
        sys.stdout.buffer.write(file.content)
        return

    path = output or Path(file.name)
    try:
        path.write_bytes(file.content)
    except OSError as error:
        exit_with_error(f"{path}: {error.strerror}", ExitStatus.USAGE)

    byte_count = len(file.content)
    context.show({"file": str(path), "bytes": byte_count}, f"{path}: {byte_count} bytes")
