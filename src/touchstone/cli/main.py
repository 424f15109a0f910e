"""The application of the command line, and the modules that its commands are in."""

import atexit
import gc
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Final

import typer

# The module of each command, in the order in which a new user needs the commands.
COMMAND_MODULES: Final[Mapping[str, str]] = {
    "serve": "server_commands",
    "login": "sign_in_commands",
    "logout": "sign_in_commands",
    "rank": "catalog_commands",
    "suggest": "catalog_commands",
    "compare": "reason_commands",
    "lifts": "reason_commands",
    "stability": "reason_commands",
    "catalog": "catalog_commands",
    "import": "import_commands",
    "evidence": "evidence_commands",
    "export": "document_commands",
    "project": "project_commands",
    "train": "job_commands",
    "compare-models": "comparison_commands",
    "explain": "job_commands",
    "jobs": "job_commands",
    "user": "user_commands",
    "db": "server_commands",
    "doctor": "doctor_command",
    "openapi": "server_commands",
    "bench": "server_commands",
}


def main() -> None:
    """Run the command that the arguments of this process name."""
    # Libraries report as leaks what is still exempt from garbage collection when the process ends.
    atexit.register(gc.unfreeze)

    application = build_application(sys.argv[1:])
    application(prog_name="touchstone")


def build_application(arguments: Sequence[str] = ()) -> typer.Typer:
    """Return the application with the command that the arguments name, or with all commands if they name none.

    Only the modules of these commands are imported. Importing the server takes longer than most commands, which merely
    call one.
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

    @app.callback()
    def accept_no_options() -> None:
        # With a callback, Typer expects the name of a command even if the application has only one.
        pass

    with _without_garbage_collection():
        for module_name in _command_modules(arguments):
            module = import_module(f"touchstone.cli.{module_name}")
            module.register(app)
    return app


@contextmanager
def _without_garbage_collection() -> Iterator[None]:
    """Pause the garbage collector in the block, which imports modules, and keep it from what the block has created.

    Modules are needed until the end, but they are so many objects that the collector would look at them again and
    again: a quarter of the time of an import of the server.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def _command_modules(arguments: Sequence[str]) -> list[str]:
    """Return the names of the modules with the command that the arguments name, or with all commands, each once."""
    if arguments and arguments[0] in COMMAND_MODULES:
        command_name = arguments[0]
        return [COMMAND_MODULES[command_name]]
    return list(dict.fromkeys(COMMAND_MODULES.values()))
