"""The command line: which command lives in which module, in the order of a first day with it."""

import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Final

import typer

ROOMS: Final[Mapping[str, str]] = {
    "serve": "server_commands",
    "login": "sign_in_commands",
    "logout": "sign_in_commands",
    "rank": "catalog_commands",
    "catalog": "catalog_commands",
    "project": "project_commands",
    "train": "job_commands",
    "explain": "job_commands",
    "jobs": "job_commands",
    "user": "user_commands",
    "db": "server_commands",
    "openapi": "server_commands",
    "bench": "server_commands",
}


def application(arguments: Sequence[str] = ()) -> typer.Typer:
    """Return the application with the commands that the arguments need, or with all commands.

    A question to a running server must not first load the server: that would be most of the time it takes.
    """
    app = typer.Typer(
        name="touchstone",
        help="Choose data for machine learning, and answer for the choice.",
        epilog="Exit status: 0 done, 1 refused or failed, 2 wrong usage or setting, 3 sign in first, 4 no server.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        # The boxes of the rich help cut the names of options in a terminal of 80 columns.
        rich_markup_mode=None,
    )
    app.callback()(_nothing_before)
    first = arguments[0] if arguments else ""
    for room in [ROOMS[first]] if first in ROOMS else dict.fromkeys(ROOMS.values()):
        import_module(f"touchstone.cli.{room}").register(app)
    return app


def main() -> None:
    """Run the command that the arguments name."""
    application(sys.argv[1:])(prog_name="touchstone")


def _nothing_before() -> None:
    pass
