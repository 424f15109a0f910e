"""Sessions: one sign-in on one device, kept alive by a chain of single-use refresh tokens."""

import hashlib
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import Enum, auto
from typing import Final
from uuid import UUID, uuid4

from touchstone.core import versions
from touchstone.core.db import Database, Writer
from touchstone.core.errors import InvalidRefreshToken
from touchstone.gateway import store

# Two tabs may refresh at the same moment with the same token: the second is not a thief.
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


class _Standing(Enum):
    FRESH = auto()  # never used
    REPEATED = auto()  # the last one used, moments ago
    REUSED = auto()  # used before: two parties hold it


def digest_of(token: str) -> str:
    """What is stored of a token."""
    return hashlib.sha256(token.encode()).hexdigest()


def new_token() -> str:
    """A token of 256 random bits."""
    return secrets.token_urlsafe(32)


async def start(rows: Writer, user_id: UUID, device: Device, *, life: timedelta) -> Renewal:
    """Begin a session, and forget those of the user that have long run out."""
    now = datetime.now(UTC)
    await store.delete_old_sessions(rows, user_id, used_before=now - life - timedelta(days=1))
    session_id = uuid4()
    facts = {"user_agent": device.user_agent and device.user_agent[:MAX_AGENT], "address": device.address}
    times = {"created_at": now, "used_at": now, "revoked_at": None}
    await store.insert_session(rows, {"id": session_id, "user_id": user_id, **facts, **times})
    return await _renewed(rows, user_id, session_id, now=now, life=life)


async def renew(database: Database, token: str, *, life: timedelta) -> Renewal:
    """Exchange a refresh token for the session's next one.

    A token that comes again is either a second tab (the last one used, within ten seconds) or a copy in other hands:
    then the whole session ends, for both.

    Raises:
        InvalidRefreshToken: unknown, expired, of a session that has ended, or reused.
    """
    async with database.writing() as rows:
        found = await _renewed_or_revoked(rows, digest_of(token), life)
    # Raised only now: the revocation of a reused family must be committed.
    if found is None:
        raise InvalidRefreshToken
    return found


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


async def _renewed_or_revoked(rows: Writer, digest: str, life: timedelta) -> Renewal | None:
    known = await store.refresh_token(rows, digest)
    session = known and await store.lock_session(rows, known["session_id"])
    if not session or session["revoked_at"] is not None:
        return None
    user = await store.user_by_id(rows, session["user_id"])
    now = datetime.now(UTC)
    # Read again under the session's lock: another tab may have used it a moment ago.
    token = await store.refresh_token(rows, digest)
    if token is None or user is None or not user["is_active"] or token["expires_at"] <= now:
        return None
    standing = await _standing(rows, token, now)
    if standing is _Standing.REUSED:
        await revoke(rows, user["id"], session["id"])
        return None
    if standing is _Standing.FRESH:
        await store.use_refresh_token(rows, digest, now)
    await store.touch_session(rows, session["id"], now)
    return await _renewed(rows, user["id"], session["id"], now=now, life=life)


async def _standing(rows: Writer, token: store.Found, now: datetime) -> _Standing:
    if token["used_at"] is None:
        return _Standing.FRESH
    is_last = await store.last_refresh(rows, token["session_id"]) == token["used_at"]
    return _Standing.REPEATED if is_last and now - token["used_at"] <= GRACE else _Standing.REUSED


async def _renewed(rows: Writer, user_id: UUID, session_id: UUID, *, now: datetime, life: timedelta) -> Renewal:
    token = new_token()
    facts = {"digest": digest_of(token), "session_id": session_id}
    await store.insert_refresh_token(rows, {**facts, "created_at": now, "expires_at": now + life, "used_at": None})
    return Renewal(user_id, session_id, token)
