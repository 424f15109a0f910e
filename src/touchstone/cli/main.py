"""The command-line application, and the modules of its commands."""

import atexit
import errno
import gc
import os
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Final, NoReturn

import typer

from touchstone.core.garbage_collection import without_garbage_collection

# The module of each command, in the order of the help text.
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

# The same values as in `command_runner.ExitStatus`, which is imported only with a command.
FAILURE_STATUS: Final = 1
USAGE_STATUS: Final = 2
OUTPUT_ERRORS: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EPIPE})


def main() -> None:
    """Run the command that the arguments of this process name."""
    # Otherwise, native libraries report the objects that are exempt from garbage collection as leaks.
    atexit.register(gc.unfreeze)

    arguments = sys.argv[1:]
    for argument in arguments:
        if not _is_utf8(argument):
            _exit_with_message(f"{argument!r} is not UTF-8 text", USAGE_STATUS)

    application = build_application(arguments)
    try:
        try:
            application(prog_name="touchstone")
        finally:
            sys.stdout.flush()
    except OSError as error:
        if error.errno not in OUTPUT_ERRORS:
            raise
        _exit_with_output_error(error)


def _is_utf8(argument: str) -> bool:
    """Return whether an argument was valid UTF-8; Python represents other bytes as lone surrogates."""
    try:
        argument.encode()
    except UnicodeEncodeError:
        return False
    return True


def _exit_with_output_error(error: OSError) -> NoReturn:
    """End the process after a failure to write to the standard output, with a message unless a pipe was closed."""
    # Otherwise, Python would try to write the buffered output again when the process ends.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

    if error.errno == errno.EPIPE:  # The reader, such as `head`, has read enough.
        sys.exit(FAILURE_STATUS)
    _exit_with_message(f"the output cannot be written: {error.strerror}", FAILURE_STATUS)


def _exit_with_message(message: str, status: int) -> NoReturn:
    """Print a message on the error stream, and end the process with an exit status."""
    sys.stderr.write(f"touchstone: {message}\n")
    sys.exit(status)


def build_application(arguments: Sequence[str] = ()) -> typer.Typer:
    """Build the application with the command in the arguments, or with all commands if there is none.

    Only the modules of these commands are imported, because importing the server takes longer than most commands run.
    """
    app = typer.Typer(
        name="touchstone",
        help="Choose data for machine learning, and answer for the choice.",
        epilog="Exit status: 0 done, 1 refused or failed, 2 wrong usage or setting, 3 sign in first, 4 no server, "
        "130 interrupted.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        # The boxes of the rich help truncate the names of options in a terminal of 80 columns.
        rich_markup_mode=None,
    )

    @app.callback()
    def accept_no_options() -> None:
        # Without a callback, Typer would not expect the name of the command if there is only one.
        pass

    with without_garbage_collection():
        for module_name in _command_modules(arguments):
            module = import_module(f"touchstone.cli.{module_name}")
            module.register(app)
    return app


def _command_modules(arguments: Sequence[str]) -> list[str]:
    """Return the module of the command that the arguments name, or all modules if they name none."""
    if arguments and arguments[0] in COMMAND_MODULES:
        command_name = arguments[0]
        return [COMMAND_MODULES[command_name]]
    return list(dict.fromkeys(COMMAND_MODULES.values()))
