"""Queries on the single-use tokens for password resets."""

from dataclasses import asdict, dataclass
from datetime import datetime
from uuid import UUID

import sqlalchemy as sa

from touchstone.database.engine import Writer
from touchstone.database.tables import reset_tokens


@dataclass(frozen=True, slots=True)
class ResetTokenRecord:
    """A reset token. Only its digest is stored."""

    digest: str
    user_id: UUID
    expires_at: datetime
    used_at: datetime | None = None


async def insert_reset_token(transaction: Writer, token: ResetTokenRecord) -> None:
    """Insert a reset token."""
    await transaction.execute(sa.insert(reset_tokens).values(asdict(token)))


async def use_reset_token(transaction: Writer, digest: str, now: datetime) -> bool:
    """Mark a reset token as used, or return False if it is unknown, expired or already used."""
    update = sa.update(reset_tokens).where(
        reset_tokens.c.digest == digest, reset_tokens.c.used_at.is_(None), reset_tokens.c.expires_at > now
    )
    result = await transaction.execute(update.values(used_at=now))
    return result.rowcount == 1


async def delete_reset_tokens(transaction: Writer, user_id: UUID) -> None:
    """Delete every reset token of the user."""
    await transaction.execute(sa.delete(reset_tokens).where(reset_tokens.c.user_id == user_id))
