"""What a command works with: the server, who is signed in there, and how answers are shown."""

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import msgspec
import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from touchstone.cli.option_groups import Flag, Group
from touchstone.cli.tables import plain
from touchstone.client import Tokens, Touchstone
from touchstone.core.environment import URL_VARIABLE

DEFAULT_URL: Final = "http://127.0.0.1:8000"


class SignIn(msgspec.Struct):
    """What is kept of a sign-in."""

    email: str
    access_token: str
    refresh_token: str | None = None


class Saved(msgspec.Struct):
    """The user's configuration file: the server that was used last, and the sign-ins by server."""

    url: str = DEFAULT_URL
    sign_ins: dict[str, SignIn] = {}

    @staticmethod
    def path() -> Path:
        """Return the path of `touchstone/sessions.json` in the user's configuration folder."""
        return Path(typer.get_app_dir("touchstone")) / "sessions.json"

    @classmethod
    def load(cls) -> "Saved":
        """Read the file; a missing or damaged one is as good as none."""
        try:
            return msgspec.json.decode(cls.path().read_bytes(), type=cls)
        except (OSError, msgspec.DecodeError):
            return cls()

    def save(self) -> None:
        """Write the file whole or not at all, readable by its owner alone."""
        self.path().parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        # mkstemp makes the file with mode 0600 before a token is in it.
        handle, name = tempfile.mkstemp(dir=self.path().parent, prefix=".sessions-")
        with os.fdopen(handle, "wb") as file:
            file.write(msgspec.json.format(msgspec.json.encode(self)))
        Path(name).replace(self.path())


@dataclass(frozen=True, slots=True)
class Session:
    """The server that a command speaks to, and how it answers the person."""

    url: str
    as_json: bool
    client: Touchstone

    def show(self, value: Any, *pictures: Table | str) -> None:
        """Print tables and lines for a person, or the value as JSON for a program (nothing where there is none)."""
        if self.as_json:
            sys.stdout.write("" if value is None else json_text(value) + "\n")
            return
        for picture in pictures:
            Console().print(Text(plain(picture)) if isinstance(picture, str) else picture)

    def keep(self, email: str, tokens: Tokens) -> None:
        """Remember a sign-in at this server."""
        saved = Saved.load()
        saved.url = self.url
        saved.sign_ins[self.url] = SignIn(email, tokens.access_token, tokens.refresh_token)
        saved.save()

    def forget(self) -> None:
        """Forget the sign-in at this server."""
        saved = Saved.load()
        if saved.sign_ins.pop(self.url, None):
            saved.save()


def json_text(value: Any) -> str:
    """Return a value as indented JSON without a line break at the end."""
    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode()


def _session(given: dict[str, Any]) -> Session:
    saved = Saved.load()
    url = (_address(given.get("url")) or saved.url).rstrip("/")
    sign_in = saved.sign_ins.get(url)
    as_json = given.get("json", not sys.stdout.isatty())
    client = Touchstone(url, locale="en")
    session = Session(url, as_json, client)
    if sign_in is not None:
        client.identity.token, client.identity.refresh_token = sign_in.access_token, sign_in.refresh_token
        client.identity.on_tokens = lambda tokens: session.keep(sign_in.email, tokens)
    return session


def _address(given: str | None) -> str | None:
    """Return the server's address that the option gives, or else the environment, if one of them does.

    Raises:
        typer.BadParameter: it is not an HTTP address.
    """
    url = given or os.environ.get(URL_VARIABLE, "").strip()
    if not url:
        return None
    if urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).hostname:
        name = "--url" if given else URL_VARIABLE
        raise typer.BadParameter(f"{name}: {url!r} is not an address such as {DEFAULT_URL}")
    return url


SESSION: Final = Group(
    (
        Flag(
            "url",
            str,
            f"Address of the server (default: {URL_VARIABLE}, the one signed in to last, or {DEFAULT_URL}).",
        ),
        Flag(
            "json", bool, "JSON or tables (default: tables on a terminal, JSON otherwise).", spelling="--json/--table"
        ),
    ),
    build=_session,
    panel="Connection",
)


@contextmanager
def progress(label: str, total: float | None = None) -> Iterator[tuple[Progress, Any]]:
    """Show a progress bar on the error stream if that is a terminal."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        yield bar, bar.add_task(label, total=total)
