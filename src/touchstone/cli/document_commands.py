"""`touchstone export`: a dataset as a document in a metadata standard."""

import sys
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from touchstone.cli.command_context import CommandContext
from touchstone.cli.command_runner import ExitStatus, exit_with_error, server_command
from touchstone.cli.option_groups import Option, OptionGroup
from touchstone.metadata.writers.formats import FORMATS

STANDARD_STREAM: Final = Path("-")
FORMAT_LIST: Final = ", ".join(FORMATS)
EXPORT_OPTIONS: Final = OptionGroup((Option("format", str, f"{FORMAT_LIST} (default: croissant)."),))


def register(app: typer.Typer) -> None:
    """Add the commands of this module to the command line."""
    server_command(app, "export", options=EXPORT_OPTIONS)(export)


def export(
    dataset: Annotated[str, typer.Argument(help="Id or UUID.")],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="File to write, - for the standard output (default: a name made of its own)."
        ),
    ] = None,
    *,
    context: CommandContext,
    options: dict[str, Any],
) -> None:
    """Write a dataset with its claims as a document in a metadata standard."""
    file = context.client.export_dataset(dataset, **options)
    if output == STANDARD_STREAM:
        sys.stdout.buffer.write(file.content)
        return

    path = output or Path(file.name)
    try:
        path.write_bytes(file.content)
    except OSError as error:
        exit_with_error(f"{path}: {error.strerror}", ExitStatus.USAGE)
    context.show({"file": str(path), "bytes": len(file.content)}, f"{path}: {len(file.content)} bytes")
