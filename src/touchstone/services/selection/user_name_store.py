"""Queries for the display names of users."""

from collections.abc import Collection, Mapping
from typing import Any, TypeAlias
from uuid import UUID

import sqlalchemy as sa

from touchstone.database.engine import Reader
from touchstone.database.tables import users

Pseudos: TypeAlias = Mapping[UUID, str | None]


async def read_pseudos(connection: Reader, user_ids: Collection[UUID]) -> dict[UUID, str | None]:
    """Return the display names of the given users, or None for users without a name or without an account."""
    pseudos: dict[UUID, str | None] = dict.fromkeys(user_ids)
    if user_ids:
        query = sa.select(users.c.id, users.c.pseudo).where(users.c.id.in_(user_ids))
        pseudos |= {row["id"]: row["pseudo"] for row in await connection.all(query)}

    return pseudos


def person_json(user_id: UUID | None, pseudos: Pseudos) -> dict[str, Any] | None:
    """Return the public JSON view of a user, or None if there is no user. It never contains the e-mail address."""
    if user_id is None:
        return None
    return {"id": user_id, "pseudo": pseudos.get(user_id)}
