"""How a command is made: its options spread out, its failures one line on the error stream and an exit status."""

import functools
from collections.abc import Callable, Mapping
from enum import IntEnum
from typing import Any, Final

import typer
from rich.console import Console

from touchstone.cli.command_context import SESSION, Session
from touchstone.cli.option_groups import Group, with_groups
from touchstone.client import RecordError, TouchstoneError


class Exit(IntEnum):
    """What the exit status of a command says."""

    DONE = 0
    REFUSED = 1  # the service refused, or the work failed
    USAGE = 2  # the command, a file or a setting is wrong
    SIGN_IN = 3  # one has to sign in first
    UNREACHABLE = 4  # no answer


Function = Callable[..., None]
Failures = Mapping[type[Exception], Callable[[Any], tuple[str, Exit]]]


def command(app: typer.Typer, name: str, **groups: Group) -> Callable[[Function], Function]:
    """Register a function that works on the server: it gets `session` beside the values of its groups."""
    register = registered(app, name, {**groups, "session": SESSION}, FAILURES)
    return lambda function: register(_closing(function))


def _closing(function: Function) -> Function:
    @functools.wraps(function)
    def command(*, session: Session, **given: Any) -> None:
        with session.client:
            function(session=session, **given)

    return command


def registered(
    app: typer.Typer, name: str, groups: Mapping[str, Group], failures: Failures
) -> Callable[[Function], Function]:
    """Register a function with its groups; a failure is one line and the status that the table says."""

    def register(function: Function) -> Function:
        app.command(name)(with_groups(guarded(function, failures), groups))
        return function

    return register


def guarded(function: Function, failures: Failures) -> Function:
    """Return the function with its failures reported as one line on the error stream and an exit status."""

    @functools.wraps(function)
    def command(**given: Any) -> None:
        try:
            function(**given)
        except tuple(failures) as problem:
            say = next(say for kind, say in failures.items() if isinstance(problem, kind))
            fail(*say(problem))

    return command


def fail(message: str, status: Exit) -> None:
    """Say in one line what is wrong, and leave.

    Raises:
        typer.Exit: always.
    """
    Console(stderr=True).print(f"touchstone: {message}", markup=False, highlight=False, soft_wrap=True)
    raise typer.Exit(status)


def status_of(problem: TouchstoneError) -> Exit:
    """Return the exit status for an error of the service."""
    return {0: Exit.UNREACHABLE, 401: Exit.SIGN_IN}.get(problem.status, Exit.REFUSED)


def sentence(problem: TouchstoneError) -> str:
    """Return the error message of the service, followed by a hint if the remedy is always the same."""
    hint = {0: " Is it running? Try: touchstone serve", 401: " Sign in first: touchstone login"}
    reasons = [str(error.get("msg", "")) for error in problem.errors]
    said = dict.fromkeys([problem.detail, *(reason for reason in reasons if reason and reason not in problem.detail)])
    detail = ": ".join(said)
    return (detail if detail.endswith((".", "!", "?")) else detail + ".") + hint.get(problem.status, "")


FAILURES: Final[Failures] = {
    TouchstoneError: lambda problem: (sentence(problem), status_of(problem)),
    RecordError: lambda problem: (str(problem), Exit.USAGE),
}
