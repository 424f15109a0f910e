"""`touchstone serve`, `db`, `openapi` and `bench`, which work on this machine without a client."""

import asyncio
import subprocess
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from touchstone.cli.command_context import json_text
from touchstone.cli.command_runner import ExitStatus, exit_with_error
from touchstone.cli.local_command import local_command
from touchstone.core.settings import Settings
from touchstone.http import server
from touchstone.startup.database_preparation import upgrade_database
from touchstone.startup.server_start import serve as serve_services
from touchstone.startup.whole_product import openapi as build_openapi_document

database = typer.Typer(help="The database's schema.", no_args_is_help=True)


class Part(StrEnum):
    """A service that can be served on its own."""

    GATEWAY = "gateway"
    SELECTION = "selection"
    TRAINING = "training"
    EXPLANATION = "explanation"


def serve(
    part: Annotated[Part | None, typer.Argument(help="One part; the whole product when left out.")] = None,
) -> None:
    """Serve the whole product, or one part of it, until Ctrl-C.

    Everything is chosen by TOUCHSTONE_* variables, such as TOUCHSTONE_PORT; a wrong one is named and nothing starts.
    """
    service_name = None if part is None else part.value
    server.run(serve_services(service_name, Settings.load(), print_line=typer.echo))


@local_command(database, "upgrade")
def upgrade() -> None:
    """Bring the database to the schema of this version."""
    revision_before, revision_after = asyncio.run(upgrade_database(Settings.load()))
    if revision_before == revision_after:
        typer.echo(f"Already at {revision_after}.")
    else:
        typer.echo(f"From {revision_before or 'an empty database'} to {revision_after}.")


def openapi() -> None:
    """Print the OpenAPI document of the whole product."""
    document = asyncio.run(build_openapi_document(Settings.load()))
    typer.echo(json_text(document))


def bench(
    arguments: Annotated[
        list[str] | None, typer.Argument(help="Passed on to the benchmarks; options need `--` before them.")
    ] = None,
) -> None:
    """Run the benchmarks and print their tables; needs the source tree."""
    if not Path("benchmarks", "__main__.py").exists():
        exit_with_error("the benchmarks are part of the source tree; run this at its root", ExitStatus.USAGE)

    # A separate process does not share its interpreter with the command line, which would distort measurements.
    command = [sys.executable, "-m", "benchmarks", *(arguments or [])]
    completed_process = subprocess.run(command, check=False)  # noqa: S603
    raise typer.Exit(completed_process.returncode)


def register(app: typer.Typer) -> None:
    """Add `serve`, `openapi`, `bench` and `db` to the application."""
    for function in (serve, openapi, bench):
        local_command(app, function.__name__)(function)
    app.add_typer(database, name="db")
