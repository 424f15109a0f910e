"""`touchstone user`: the accounts, directly in the database."""

import asyncio
import secrets
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Annotated, Any, Final, TypeVar

import typer
from rich.console import Console

from touchstone import compose
from touchstone.cli.command_context import json_text
from touchstone.cli.local_command import local_command
from touchstone.cli.option_groups import Flag, Group
from touchstone.cli.tables import Column, facts, table
from touchstone.core.settings import Settings
from touchstone.database.engine import Database
from touchstone.database.migrations import prepare
from touchstone.services.gateway import accounts, password_changes
from touchstone.services.gateway.schemas import UserView

user = typer.Typer(help="Accounts, directly in the database (no server needed).", no_args_is_help=True)
T = TypeVar("T")
Email = Annotated[str, typer.Argument(help="E-mail address.")]
USERS: Final = (
    Column[UserView]("E-mail", lambda one: one.email, is_key=True),
    Column[UserView]("Active", lambda one: one.is_active),
    Column[UserView]("Admin", lambda one: one.is_superuser),
    Column[UserView]("Since", lambda one: one.created_at),
)


NAMES: Final = Group(
    (
        Flag("pseudo", str, "Name to show."),
        Flag("given_name", str, "First name."),
        Flag("family_name", str, "Last name."),
        Flag("locale", str, "fr or en."),
    )
)


@local_command(user, "create", names=NAMES)
def create(
    email: Email,
    admin: Annotated[bool, typer.Option("--admin", help="Make an administrator.")] = False,
    password: Annotated[str | None, typer.Option(help="Password; made up and shown once when left out.")] = None,
    *,
    names: dict[str, Any],
) -> None:
    """Make an account."""
    chosen = password or secrets.token_urlsafe(12)
    profile = accounts.UserProfile(**names)
    account = _on_database(
        lambda database: accounts.create_user(
            database, email=email, password=chosen, is_superuser=admin, profile=profile
        )
    )
    _print(account, {"Password": None if password else chosen})


@local_command(user, "list")
def list_users(json: Annotated[bool, typer.Option("--json", help="JSON instead of a table.")] = False) -> None:
    """List the accounts, oldest first."""
    total, users = _on_database(lambda database: accounts.list_users(database, limit=10_000))
    if json:
        typer.echo(json_text([account.model_dump(mode="json") for account in users]))
    else:
        Console().print(table(USERS, users, f"Accounts: {total}"))


@local_command(user, "deactivate")
def deactivate(email: Email) -> None:
    """Shut someone out: every session ends at once."""
    _print(_on_database(lambda database: _set_active(database, email, is_active=False)))


@local_command(user, "activate")
def activate(email: Email) -> None:
    """Let someone in again."""
    _print(_on_database(lambda database: _set_active(database, email, is_active=True)))


@local_command(user, "reset")
def reset(email: Email) -> None:
    """Issue a token with which someone chooses a new password, once."""
    life = timedelta(minutes=Settings.load().reset_token_minutes)

    async def issue(database: Database) -> Any:
        account = await accounts.find_user(database, email)
        return await password_changes.issue_reset_token(database, account.id, lifetime=life)

    token = _on_database(issue)
    Console().print(facts({"Token": token.token, "Good until": token.expires_at}, email))


async def _set_active(database: Database, email: str, *, is_active: bool) -> UserView:
    account = await accounts.find_user(database, email)
    return await accounts.set_active(database, account.id, is_active=is_active)


def _print(one: UserView, extra: dict[str, Any] | None = None) -> None:
    pairs = {"E-mail": one.email, "Id": one.id, "Active": one.is_active, "Administrator": one.is_superuser}
    Console().print(facts({**pairs, **(extra or {})}))


def _on_database(work: Callable[[Database], Awaitable[T]]) -> T:
    """Open the configured database, call a function with it, and return the result.

    Raises:
        SettingsError, SchemaError, ServiceError: it cannot be opened, or the work is refused.
    """

    async def run() -> T:
        settings = Settings.load()
        async with compose.opened_database(settings) as database:
            with compose.startup_errors(settings):
                await prepare(database)
            return await work(database)

    return asyncio.run(run())


def register(app: typer.Typer) -> None:
    """Put `user` into the main application."""
    app.add_typer(user, name="user")
