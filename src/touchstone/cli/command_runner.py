"""Registration of functions as commands, with grouped options, one-line error messages and exit statuses."""

import functools
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from enum import IntEnum
from typing import Any, Final, NoReturn

import typer
from rich.console import Console

from touchstone.cli.command_context import CONNECTION_OPTIONS, CommandContext
from touchstone.cli.option_groups import OptionGroup, with_option_groups
from touchstone.client import RecordError, TouchstoneError


class ExitStatus(IntEnum):
    """The exit statuses of a command."""

    DONE = 0
    REFUSED = 1  # The service refused the request, or the work failed.
    USAGE = 2  # The command, a file or a setting is wrong.
    SIGN_IN = 3  # The user has to sign in first.
    UNREACHABLE = 4  # The server does not respond.
    INTERRUPTED = 130  # The user has pressed Ctrl-C; this is what shells expect.


CommandFunction = Callable[..., None]
Decorator = Callable[[CommandFunction], CommandFunction]
# A function for each type of expected error that returns the error message and the exit status.
ErrorReports = Mapping[type[Exception], Callable[[Any], tuple[str, ExitStatus]]]


def server_command(app: typer.Typer, name: str, **groups: OptionGroup) -> Decorator:
    """Return a decorator that registers a function as a command that calls a server.

    The function receives the value of each option group as the argument with the name of the group. Its argument
    `context` is a `CommandContext` with a client of the server, which is closed when the function ends.
    """
    groups_with_connection = {**groups, "context": CONNECTION_OPTIONS}

    def decorate(function: CommandFunction) -> CommandFunction:
        command = _close_client_after(function)
        register_command(app, name, command, groups=groups_with_connection, error_reports=SERVER_ERRORS)
        return function

    return decorate


def _close_client_after(function: CommandFunction) -> CommandFunction:
    """Wrap the function of a command, so that the client in its context is closed at the end."""

    @functools.wraps(function)
    def command(*, context: CommandContext, **arguments: Any) -> None:
        with context.client:
            function(context=context, **arguments)

    return command


def register_command(
    app: typer.Typer,
    name: str,
    function: CommandFunction,
    *,
    groups: Mapping[str, OptionGroup],
    error_reports: ErrorReports,
) -> None:
    """Register a function as the command `name`.

    The command has the parameters of the function and the options of all `groups`. Errors in `error_reports` end it
    with a one-line message instead of a traceback.
    """
    function_without_tracebacks = exit_on_errors(function, error_reports)
    command = with_option_groups(function_without_tracebacks, groups)

    add_command = app.command(name)
    add_command(command)


def exit_on_errors(function: CommandFunction, error_reports: ErrorReports) -> CommandFunction:
    """Wrap the function of a command, so that expected errors end it with a one-line message.

    For each expected type of error, `error_reports` contains a function that returns the message and the exit status.
    """
    expected_errors = tuple(error_reports)

    @functools.wraps(function)
    def command(**arguments: Any) -> None:
        try:
            function(**arguments)
        except expected_errors as error:
            # The error may be an instance of a subclass, so its type cannot be looked up directly.
            reports = (report for error_type, report in error_reports.items() if isinstance(error, error_type))
            report_error = next(reports)
            message, exit_status = report_error(error)
            exit_with_error(message, exit_status)

    return command


def exit_with_error(message: str, exit_status: ExitStatus) -> NoReturn:
    """Print a one-line message on the error stream, and end the command.

    Raises:
        typer.Exit: always, with the exit status.
    """
    Console(stderr=True).print(f"touchstone: {message}", markup=False, highlight=False, soft_wrap=True)
    raise typer.Exit(exit_status)


# Advice for the user, for error codes with a single remedy.
_HINTS: Final[Mapping[str, str]] = {
    "unreachable": " Is it running? Try: touchstone serve",
    "untrusted_certificate": " Set SSL_CERT_FILE to the certificate of the authority that issued it.",
    "unauthorized": " Sign in first: touchstone login",
}


def exit_status_of(error: TouchstoneError) -> ExitStatus:
    """Return the exit status for an error of a call to the service."""
    if error.status == 0:
        return ExitStatus.UNREACHABLE
    if error.status == 401:
        return ExitStatus.SIGN_IN
    return ExitStatus.REFUSED


def error_message(error: TouchstoneError) -> str:
    """Return a line that explains an error to the user, with advice if there is a single remedy.

    The line begins with the general message of the error. The reasons why single values are invalid follow, unless the
    general message already contains them.
    """
    reasons = [error.detail]
    for field_error in error.errors:
        reason = str(field_error.get("msg", ""))
        if reason not in error.detail and reason not in reasons:
            reasons.append(reason)

    hint = _HINTS.get(error.code, "")
    return as_sentence(": ".join(reasons)) + hint


def as_sentence(text: str) -> str:
    """Return a text with a full stop, unless it ends with a punctuation mark."""
    return text if text.endswith((".", "!", "?")) else f"{text}."


@contextmanager
def end_with_advice(advice: str) -> Iterator[None]:
    """End the command with advice if a call to the service fails or the user presses Ctrl-C in the `with` block.

    Raises:
        typer.Exit: a call has failed, or the user has pressed Ctrl-C.
    """
    try:
        yield
    except TouchstoneError as error:
        exit_with_error(f"{error_message(error)} {advice}", exit_status_of(error))
    except KeyboardInterrupt:
        exit_with_error(f"Interrupted. {advice}", ExitStatus.INTERRUPTED)


SERVER_ERRORS: Final[ErrorReports] = {
    TouchstoneError: lambda error: (error_message(error), exit_status_of(error)),
    RecordError: lambda error: (str(error), ExitStatus.USAGE),
}
