"""`touchstone login` and `touchstone logout`."""

from typing import Annotated

import typer

from touchstone.cli.command_context import CommandContext
from touchstone.cli.command_runner import server_command
from touchstone.client import TouchstoneError


def login(
    email: Annotated[str, typer.Option(prompt=True, help="Your e-mail address.")],
    password: Annotated[str, typer.Option(prompt=True, hide_input=True, help="Your password (default: asked for).")],
    *,
    context: CommandContext,
) -> None:
    """Sign in to a server, which later commands use."""
    # The tokens are saved below. The callback would save them for the previous user of this server.
    context.client.identity.on_tokens = None
    tokens = context.client.login(email, password)
    context.save_sign_in(email, tokens, is_default_server=True)

    user = context.client.get_me()
    context.show(user, f"Signed in at {context.url} as {user.email}")


def logout(*, context: CommandContext) -> None:
    """Sign out from a server, and delete the saved session."""
    try:
        context.client.logout()
    except TouchstoneError as error:
        # The saved sign-in is deleted even if the server cannot be reached.
        if error.status != 0:
            raise

    context.delete_sign_in()
    context.show(None, f"Signed out at {context.url}")


def register(app: typer.Typer) -> None:
    """Add `login` and `logout` to the application."""
    server_command(app, "login")(login)
    server_command(app, "logout")(logout)
