"""Commands that work on this machine, without a server: what can go wrong there, in one line."""

from collections.abc import Callable
from typing import Final

import typer

from touchstone.cli.command_runner import Exit, Failures, Function, registered
from touchstone.cli.option_groups import Group
from touchstone.core.errors import ServiceError
from touchstone.core.settings import SettingsError
from touchstone.database.migrations import SchemaError
from touchstone.http.error_rendering import render_detail

FAILURES: Final[Failures] = {
    ServiceError: lambda problem: (render_detail(problem, "en"), Exit.REFUSED),
    SettingsError: lambda problem: (str(problem), Exit.USAGE),
    SchemaError: lambda problem: (str(problem), Exit.USAGE),
}


def local_command(app: typer.Typer, name: str, **groups: Group) -> Callable[[Function], Function]:
    """Register a function that works on this machine."""
    return registered(app, name, groups, FAILURES)
