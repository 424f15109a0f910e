"""Sessions: one sign-in on one device, kept alive by a chain of single-use refresh tokens."""

import base64
import hashlib
import hmac
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final
from uuid import UUID, uuid4

from touchstone.core.errors import InvalidRefreshToken
from touchstone.database import versions
from touchstone.database.engine import Database, Writer
from touchstone.services.gateway import store

# Two tabs may refresh at the same moment, and an answer may get lost: the same token comes again, from no thief.
GRACE: Final = timedelta(seconds=10)
MAX_AGENT: Final = 300


@dataclass(frozen=True, slots=True)
class Device:
    """Where a sign-in comes from: what it calls itself, and its address."""

    user_agent: str | None
    address: str


@dataclass(frozen=True, slots=True)
class Renewal:
    """A session that goes on: whose it is, and its next refresh token."""

    user_id: UUID
    session_id: UUID
    refresh_token: str


def digest_of(token: str) -> str:
    """What is stored of a token."""
    return hashlib.sha256(token.encode()).hexdigest()


def new_token() -> str:
    """A token of 256 random bits."""
    return secrets.token_urlsafe(32)


def successor_of(token: str, key: bytes) -> str:
    """Return the refresh token that follows `token` in its session.

    It is derived and not drawn, so that the same successor can be handed out twice although only digests are stored.
    Without the key it is as unpredictable as any other token.
    """
    derived = hmac.digest(key, token.encode(), "sha256")
    return base64.urlsafe_b64encode(derived).rstrip(b"=").decode()


async def start(rows: Writer, user_id: UUID, device: Device, *, life: timedelta) -> Renewal:
    """Begin a session, and forget those of the user that have long run out."""
    now = datetime.now(UTC)
    await store.delete_old_sessions(rows, user_id, used_before=now - life - timedelta(days=1))
    session_id = uuid4()
    facts = {"user_agent": device.user_agent and device.user_agent[:MAX_AGENT], "address": device.address}
    times = {"created_at": now, "used_at": now, "revoked_at": None}
    await store.insert_session(rows, {"id": session_id, "user_id": user_id, **facts, **times})
    token = new_token()
    await _insert_token(rows, token, session_id, now=now, life=life)
    return Renewal(user_id, session_id, token)


async def renew(database: Database, token: str, *, key: bytes, life: timedelta) -> Renewal:
    """Exchange a refresh token for its successor, which is derived with `key`.

    A token that comes again within ten seconds, while its successor is unused, gets the same successor: two tabs have
    refreshed at once, or an answer was lost. In any other case two parties hold it, and the session ends for both.

    Raises:
        InvalidRefreshToken: unknown, expired, of a session that has ended, or reused.
    """
    async with database.writing(essential=True) as rows:
        renewal = await _renew_or_revoke(rows, token, key, life)
    # Raised only now: the revocation of a reused family must be committed.
    if renewal is None:
        raise InvalidRefreshToken
    return renewal


async def revoke(rows: Writer, user_id: UUID, session_id: UUID | None = None) -> int:
    """End one session of the user, or all; their access tokens end with them. How many were ended."""
    ended = await store.revoke_sessions(rows, user_id, datetime.now(UTC), session_id)
    # Last: every transaction locks users, sessions, versions in this order, so that none waits for another in a ring.
    await versions.bump(rows, versions.ACCOUNTS)
    return ended


async def live(database: Database, user_id: UUID, *, life: timedelta) -> Sequence[store.Found]:
    """The sessions of the user that can still be used, latest use first."""
    async with database.reading() as rows:
        return await store.live_sessions(rows, user_id, used_since=datetime.now(UTC) - life)


async def _renew_or_revoke(rows: Writer, token: str, key: bytes, life: timedelta) -> Renewal | None:
    digest = digest_of(token)
    known = await store.refresh_token(rows, digest)
    session = known and await store.lock_session(rows, known["session_id"])
    if not session or session["revoked_at"] is not None:
        return None

    user = await store.user_by_id(rows, session["user_id"])
    now = datetime.now(UTC)
    # Read again under the session's lock: another tab may have used it a moment ago.
    current = await store.refresh_token(rows, digest)
    if current is None or user is None or not user["is_active"] or current["expires_at"] <= now:
        return None

    successor = successor_of(token, key)
    if current["used_at"] is None:
        await store.use_refresh_token(rows, digest, now)
        await _insert_token(rows, successor, session["id"], now=now, life=life)
    elif not await _may_repeat(rows, current["used_at"], successor, now):
        await revoke(rows, user["id"], session["id"])
        return None

    await store.touch_session(rows, session["id"], now)
    return Renewal(user["id"], session["id"], successor)


async def _may_repeat(rows: Writer, used_at: datetime, successor: str, now: datetime) -> bool:
    next_token = await store.refresh_token(rows, digest_of(successor))
    return next_token is not None and next_token["used_at"] is None and now - used_at <= GRACE


async def _insert_token(rows: Writer, token: str, session_id: UUID, *, now: datetime, life: timedelta) -> None:
    facts = {"digest": digest_of(token), "session_id": session_id}
    await store.insert_refresh_token(rows, {**facts, "created_at": now, "expires_at": now + life, "used_at": None})
