"""`touchstone export`: a dataset as a document in a metadata standard."""

from typing import Annotated, Final

import typer

from touchstone.cli.command_context import CommandContext
from touchstone.cli.command_runner import server_command
from touchstone.cli.file_output import OutputPath, write_file
from touchstone.metadata.writers.formats import FORMATS

FORMAT_LIST: Final = ", ".join(FORMATS)


def register(app: typer.Typer) -> None:
    """Add the commands of this module to the command line."""
    server_command(app, "export")(export)


def export(
    dataset: Annotated[str, typer.Argument(help="Id or UUID.")],
    output: OutputPath = None,
    export_format: Annotated[str, typer.Option("--format", help=f"One of {FORMAT_LIST}.")] = "croissant",
    *,
    context: CommandContext,
) -> None:
    """Write a dataset with its claims as a document in a metadata standard."""
    # The service refuses an unknown format with a list of the known ones.
    file = context.client.export_dataset(dataset, export_format)  # type: ignore[arg-type]
    write_file(file, output, context)
