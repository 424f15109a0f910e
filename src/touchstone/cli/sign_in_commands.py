"""`touchstone login` and `logout`: one's own sign-in at a server."""

from typing import Annotated

import typer

from touchstone.cli.command_context import Session
from touchstone.cli.command_runner import command
from touchstone.client import TouchstoneError


def login(
    email: Annotated[str, typer.Option(prompt=True, help="Your e-mail address.")],
    password: Annotated[str, typer.Option(prompt=True, hide_input=True, help="Asked for when left out.")],
    *,
    session: Session,
) -> None:
    """Sign in at a server; later commands use it."""
    session.client.identity.on_tokens = None
    session.keep(email, session.client.login(email, password))
    me = session.client.get_me()
    session.show(me, f"Signed in at {session.url} as {me.email}")


def logout(*, session: Session) -> None:
    """Sign out at a server, here and there."""
    try:
        session.client.logout()
    except TouchstoneError as problem:
        if problem.status not in (0, 401):  # a session that is over, or a server that is gone: nothing to end there
            raise
    session.forget()
    session.show(None, f"Signed out at {session.url}")


def register(app: typer.Typer) -> None:
    """Put `login` and `logout` into the main application."""
    command(app, "login")(login)
    command(app, "logout")(logout)
