"""`touchstone serve`, `db`, `openapi` and `bench`: what runs on this machine without a client."""

import asyncio
import subprocess
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from touchstone import compose
from touchstone.cli.command_context import json_text
from touchstone.cli.command_runner import Exit, fail
from touchstone.cli.local_command import local_command
from touchstone.core.settings import Settings
from touchstone.http import server

database = typer.Typer(help="The database's schema.", no_args_is_help=True)


class Part(StrEnum):
    """What can be served on its own."""

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
    server.run(compose.serve(part and part.value, Settings.load(), typer.echo))


@local_command(database, "upgrade")
def upgrade() -> None:
    """Bring the database to the schema of this version."""
    before, after = asyncio.run(compose.upgrade_database(Settings.load()))
    typer.echo(f"Already at {after}." if before == after else f"From {before or 'an empty database'} to {after}.")


def openapi() -> None:
    """Print the OpenAPI document of the whole product."""
    typer.echo(json_text(asyncio.run(compose.openapi(Settings.load()))))


def bench(arguments: Annotated[list[str] | None, typer.Argument(help="Passed on to the benchmarks.")] = None) -> None:
    """Run the benchmarks and print their tables; needs the source tree."""
    if not Path("benchmarks", "__main__.py").exists():
        fail("the benchmarks are part of the source tree; run this at its root", Exit.USAGE)
    # A process of its own: measuring must not share an interpreter with the command line.
    raise typer.Exit(subprocess.run([sys.executable, "-m", "benchmarks", *(arguments or [])], check=False).returncode)  # noqa: S603


def register(app: typer.Typer) -> None:
    """Put `serve`, `openapi`, `bench` and `db` into the main application."""
    for function in (serve, openapi, bench):
        local_command(app, function.__name__)(function)
    app.add_typer(database, name="db")
