"""The context of a command: the server, the signed-in user, and the output of results."""

import functools
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

import httpx2
import msgspec
import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from touchstone.cli.option_groups import Option, OptionGroup
from touchstone.cli.saved_sign_ins import DEFAULT_URL, SavedSignIns, SignIn
from touchstone.cli.tables import replace_unprintable_characters
from touchstone.client import Tokens, Touchstone
from touchstone.core.environment_variable_names import URL_VARIABLE

MAX_PORT: Final = 65_535


@dataclass(frozen=True, slots=True)
class CommandContext:
    """The server that a command calls, and the format of its output.

    Attributes:
        url: the address of the server.
        as_json: whether results are printed as JSON for programs, instead of tables for people.
        client: a client of the server, which is signed in if there is a saved session.
    """

    url: str
    as_json: bool
    client: Touchstone

    def show(self, result: Any, *tables_and_lines: Table | str) -> None:
        """Print `result` as JSON for programs, or `tables_and_lines` for people.

        Nothing is printed as JSON if the result is None.
        """
        if self.as_json:
            if result is not None:
                sys.stdout.write(json_text(result) + "\n")
            return

        console = Console()
        for table_or_line in tables_and_lines:
            if isinstance(table_or_line, str):
                line = replace_unprintable_characters(table_or_line)
                console.print(Text(line))
            else:
                console.print(table_or_line)

    def resume_session(self, sign_in: SignIn) -> None:
        """Use the tokens of a saved sign-in for all calls, and save new tokens after each renewal."""
        identity = self.client.identity
        identity.token = sign_in.access_token
        identity.refresh_token = sign_in.refresh_token
        identity.on_tokens = functools.partial(self.save_sign_in, sign_in.email)

    def save_sign_in(self, email: str, tokens: Tokens, *, is_default_server: bool = False) -> None:
        """Save the tokens of a sign-in at this server for later commands.

        With `is_default_server`, commands without `--url` will use this server. If the tokens cannot be saved, a
        warning is printed, because the command itself can continue.
        """
        saved = SavedSignIns.load()
        if is_default_server:
            saved.url = self.url
        saved.sign_ins[self.url] = SignIn(email, tokens.access_token, tokens.refresh_token)

        try:
            saved.save()
        except OSError as error:
            warning = f"touchstone: the session cannot be saved in {saved.path()}: {error.strerror}"
            Console(stderr=True).print(warning, markup=False, highlight=False, soft_wrap=True)

    def delete_sign_in(self) -> None:
        """Delete the saved sign-in at this server, if there is one."""
        saved = SavedSignIns.load()
        if saved.sign_ins.pop(self.url, None):
            saved.save()


def json_text(value: Any) -> str:
    """Return a value as indented JSON, without a line break at the end."""
    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode()


def _build_context(given_options: dict[str, Any]) -> CommandContext:
    """Create the context of a command from the connection options that were given on the command line.

    The server is named by `--url` or the environment, or else is the server of the last sign-in. A saved session at
    this server is resumed. By default, results are tables on a terminal and JSON elsewhere.
    """
    saved = SavedSignIns.load()
    requested_url = _requested_url(given_options.get("url"))
    url = (requested_url or saved.url).rstrip("/")

    is_read_by_program = not sys.stdout.isatty()
    as_json = given_options.get("json", is_read_by_program)
    context = CommandContext(url, as_json, client=Touchstone(url, locale="en"))

    sign_in = saved.sign_ins.get(url)
    if sign_in is not None:
        context.resume_session(sign_in)
    return context


def _requested_url(url_option: str | None) -> str | None:
    """Return the address of the server that the user has named, or None.

    The option `--url` takes precedence over the environment variable.

    Raises:
        typer.BadParameter: the address is invalid; the message names the option or the variable.
    """
    url_in_environment = os.environ.get(URL_VARIABLE, "").strip()
    url = url_option or url_in_environment
    if not url:
        return None

    if not _is_server_address(url):
        source = "--url" if url_option else URL_VARIABLE
        raise typer.BadParameter(f"{source}: {url!r} is not an address such as {DEFAULT_URL}")
    return url


def _is_server_address(url: str) -> bool:
    """Return whether a URL is the address of a web server, with a valid port if it has one."""
    try:
        parsed_url = httpx2.URL(url)
    except httpx2.InvalidURL:
        return False

    is_port_valid = parsed_url.port is None or 0 < parsed_url.port <= MAX_PORT
    return parsed_url.scheme in ("http", "https") and bool(parsed_url.host) and is_port_valid


CONNECTION_OPTIONS: Final = OptionGroup(
    (
        Option(
            "url",
            str,
            f"Address of the server (default: {URL_VARIABLE}, the one signed in to last, or {DEFAULT_URL}).",
        ),
        Option("json", bool, "JSON or tables (default: tables on a terminal, JSON otherwise).", flags="--json/--table"),
    ),
    build=_build_context,
    help_panel="Connection",
)


@contextmanager
def progress_bar(label: str, total: float | None = None) -> Iterator[tuple[Progress, TaskID]]:
    """Show a progress bar during the block, if the error stream is a terminal.

    Yields:
        the progress display and the id of its task, which the block advances up to `total`.
    """
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task_id = progress.add_task(label, total=total)
        yield progress, task_id
