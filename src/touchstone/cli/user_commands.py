"""`touchstone user`: administration of accounts, directly in the database."""

import asyncio
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Annotated, Final

import typer
from pydantic import ValidationError
from rich.console import Console

from touchstone.cli.command_context import json_text
from touchstone.cli.local_command import local_command
from touchstone.cli.option_groups import Option, OptionGroup
from touchstone.cli.tables import Column, build_facts_table, build_table
from touchstone.core.settings import Settings
from touchstone.database.engine import Database
from touchstone.database.migrations import prepare_schema
from touchstone.services.gateway import accounts, password_resets_and_changes
from touchstone.services.gateway.schemas import Registration, ResetToken, UserView
from touchstone.startup.database_error_messages import startup_errors
from touchstone.startup.database_preparation import open_database

user = typer.Typer(help="Accounts, directly in the database (no server needed).", no_args_is_help=True)

MAX_LISTED_USERS: Final = 10_000
USER_COLUMNS: Final = (
    Column[UserView]("E-mail", lambda account: account.email, is_key=True),
    Column[UserView]("Active", lambda account: account.is_active),
    Column[UserView]("Admin", lambda account: account.is_superuser),
    Column[UserView]("Curator", lambda account: account.is_curator),
    Column[UserView]("Since", lambda account: account.created_at),
)
PROFILE_OPTIONS: Final = OptionGroup(
    (
        Option("pseudo", str, "Name shown to other users."),
        Option("given_name", str, "First name."),
        Option("family_name", str, "Last name."),
        Option("locale", str, "fr or en."),
    ),
)
Email = Annotated[str, typer.Argument(help="E-mail address.")]


@local_command(user, "create", profile=PROFILE_OPTIONS)
def create(
    email: Email,
    admin: Annotated[bool, typer.Option("--admin", help="Give the account the role of an administrator.")] = False,
    password: Annotated[str | None, typer.Option(help="Password (default: a random one, which is shown once).")] = None,
    *,
    profile: dict[str, str],
) -> None:
    """Create an account."""
    is_password_generated = not password
    if not password:
        password = secrets.token_urlsafe(12)

    registration = _validate_registration({"email": email, "password": password, **profile})
    account = asyncio.run(_create_account(registration, is_superuser=admin))
    _print_account(account, generated_password=password if is_password_generated else None)


def _validate_registration(fields: dict[str, str]) -> Registration:
    """Return the fields of a new account in the form that the service requires of a registration.

    Raises:
        typer.BadParameter: a field is invalid, such as an e-mail address that is none.
    """
    try:
        return Registration.model_validate(fields)
    except ValidationError as error:
        reasons = [f"{problem['loc'][0]}: {problem['msg']}" for problem in error.errors()]
        raise typer.BadParameter("; ".join(reasons)) from None


async def _create_account(registration: Registration, *, is_superuser: bool) -> UserView:
    profile = accounts.UserProfile(
        pseudo=registration.pseudo,
        given_name=registration.given_name,
        family_name=registration.family_name,
        locale=registration.locale,
    )
    async with _open_accounts(must_exist=False) as database:
        return await accounts.create_user(
            database,
            email=registration.email,
            password=registration.password,
            is_superuser=is_superuser,
            profile=profile,
        )


@local_command(user, "list")
def list_users(json: Annotated[bool, typer.Option("--json", help="JSON instead of a table.")] = False) -> None:
    """List the accounts, oldest first."""
    users, total_count = asyncio.run(_load_accounts())

    if json:
        typer.echo(json_text([account.model_dump(mode="json") for account in users]))
    else:
        Console().print(build_table(USER_COLUMNS, users, title=f"Accounts: {total_count}"))


async def _load_accounts() -> tuple[list[UserView], int]:
    async with _open_accounts(must_exist=True) as database:
        return await accounts.list_users(database, limit=MAX_LISTED_USERS)


@local_command(user, "deactivate")
def deactivate(email: Email) -> None:
    """Deactivate an account, and end all its sessions immediately."""
    _before, account = asyncio.run(_change_account(email, is_active=False))
    _print_account(account)


@local_command(user, "activate")
def activate(email: Email) -> None:
    """Activate an account again."""
    _before, account = asyncio.run(_change_account(email, is_active=True))
    _print_account(account)


@local_command(user, "curator")
def curator(email: Email, remove: Annotated[bool, typer.Option("--remove", help="Remove the role.")] = False) -> None:
    """Give a user the role of a curator, who reviews claims about datasets."""
    before, after = asyncio.run(_change_account(email, is_curator=not remove))
    _print_account(after)
    typer.echo(_describe_role_change(before, after))


@local_command(user, "reset")
def reset(email: Email) -> None:
    """Issue a single-use token for choosing a new password."""
    reset_token = asyncio.run(_issue_reset_token(email))

    values_by_label = {"Token": reset_token.token, "Good until": reset_token.expires_at}
    Console().print(build_facts_table(values_by_label, title=email))


async def _issue_reset_token(email: str) -> ResetToken:
    lifetime = timedelta(minutes=Settings.load().reset_token_minutes)

    async with _open_accounts(must_exist=True) as database:
        account = await accounts.find_user(database, email)
        return await password_resets_and_changes.issue_reset_token(database, account.id, lifetime=lifetime)


async def _change_account(email: str, **changes: bool) -> tuple[UserView, UserView]:
    """Change an account, and return it as it was before and as it is now."""
    async with _open_accounts(must_exist=True) as database:
        before = await accounts.find_user(database, email)
        after = await accounts.change_user(database, before.id, **changes)
        return before, after


def _describe_role_change(before: UserView, after: UserView) -> str:
    """Return a sentence that says whether a user has become or ceased to be a curator."""
    if after.is_superuser:
        return f"{after.email} is a curator in any case, because administrators are curators."

    if before.is_curator == after.is_curator:
        return f"Nothing has changed: {after.email} was {'already' if after.is_curator else 'not'} a curator."
    return f"{after.email} is {'now' if after.is_curator else 'no longer'} a curator."


def _print_account(account: UserView, *, generated_password: str | None = None) -> None:
    """Print an account as a table, with its password if it has just been generated."""
    values_by_label = {
        "E-mail": account.email,
        "Id": account.id,
        "Active": account.is_active,
        "Administrator": account.is_superuser,
        "Curator": account.is_curator,
        "Password": generated_password,
    }
    Console().print(build_facts_table(values_by_label))


@asynccontextmanager
async def _open_accounts(*, must_exist: bool) -> AsyncIterator[Database]:
    """Open the database of this installation for the duration of the block.

    A missing database is created unless it `must_exist`, and an empty one gets its schema. An older schema is not
    upgraded, because a server may be using it.

    Raises:
        SettingsError: the database cannot be opened, or is missing although it must exist.
        SchemaError: the database needs `touchstone db upgrade`, or is newer than this code.
    """
    settings = Settings.load()
    async with open_database(settings, must_exist=must_exist) as database:
        with startup_errors(settings):
            await prepare_schema(database)
            yield database


def register(app: typer.Typer) -> None:
    """Add `user` to the application."""
    app.add_typer(user, name="user")
