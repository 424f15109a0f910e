"""Commands that work on this machine, without a server, and the errors that they report."""

import functools
from typing import Any, Final

import typer

from touchstone.cli.command_runner import CommandFunction, Decorator, ErrorReports, ExitStatus, register_command
from touchstone.cli.option_groups import OptionGroup
from touchstone.core.errors import ServiceError
from touchstone.core.logs import log_to_error_stream
from touchstone.core.settings import SettingsError
from touchstone.database.migrations import SchemaError
from touchstone.http.error_rendering import render_detail

LOCAL_ERRORS: Final[ErrorReports] = {
    ServiceError: lambda error: (render_detail(error, "en"), ExitStatus.REFUSED),
    SettingsError: lambda error: (str(error), ExitStatus.USAGE),
    SchemaError: lambda error: (str(error), ExitStatus.USAGE),
}


def local_command(app: typer.Typer, name: str, **groups: OptionGroup) -> Decorator:
    """Return a decorator that registers a function as a command without a server.

    The function receives the value of each option group as the argument with the name of the group.
    """

    def decorate(function: CommandFunction) -> CommandFunction:
        @functools.wraps(function)
        def command(**arguments: Any) -> None:
            log_to_error_stream()
            function(**arguments)

        register_command(app, name, command, groups=groups, error_reports=LOCAL_ERRORS)
        return function

    return decorate
