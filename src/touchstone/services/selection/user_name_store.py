"""Queries on the names under which users see each other."""

from collections.abc import Collection, Mapping
from typing import Any, TypeAlias
from uuid import UUID

import sqlalchemy as sa

from touchstone.database.engine import Reader
from touchstone.database.tables import users

Pseudos: TypeAlias = Mapping[UUID, str | None]


async def read_pseudos(connection: Reader, user_ids: Collection[UUID]) -> dict[UUID, str | None]:
    """Return the names that these users have chosen; None stands for a user without a name or without an account."""
    pseudos: dict[UUID, str | None] = dict.fromkeys(user_ids)
    if user_ids:
        query = sa.select(users.c.id, users.c.pseudo).where(users.c.id.in_(user_ids))
        pseudos |= {row["id"]: row["pseudo"] for row in await connection.all(query)}

    return pseudos


def person_json(user_id: UUID | None, pseudos: Pseudos) -> dict[str, Any] | None:
    """Return a user as other users see them: the id and the chosen name, and never the e-mail address."""
    if user_id is None:
        return None
    return {"id": user_id, "pseudo": pseudos.get(user_id)}
