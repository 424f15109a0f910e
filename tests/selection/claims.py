"""Callers of the selection backend with roles, and claims to post."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import httpx2
import sqlalchemy as sa
from starlette.types import Receive, Scope, Send

from touchstone.core.identity import Caller
from touchstone.database.engine import Database
from touchstone.database.tables import users
from touchstone.http.backend_auth import CALLER
from touchstone.services.selection.app import Selection

CURATOR = Caller(UUID(int=0xC0), is_curator=True)
OTHER_CURATOR = Caller(UUID(int=0xC1), is_curator=True)
ADMINISTRATOR = Caller(UUID(int=0xAD), is_admin=True, is_curator=True)
QUOTED_CLAIM = {"attribute": "informed_consent", "value": True, "quote": "All gave written consent.", "place": "Ethics"}


@asynccontextmanager
async def calling_as(selection: Selection, caller: Caller) -> AsyncIterator[httpx2.AsyncClient]:
    """Yield a client that acts as a user with roles, as if a gateway in the same process had authenticated the user."""

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await selection.app({**scope, CALLER: caller}, receive, send)

    async with httpx2.AsyncClient(
        transport=httpx2.ASGITransport(app), base_url="http://selection.test", timeout=60
    ) as client:
        yield client


async def insert_user(database: Database, user_id: UUID, pseudo: str) -> None:
    """Insert an account with a name."""
    email = f"{user_id.hex}@example.org"
    values = {"id": user_id, "email": email, "email_folded": email, "pseudo": pseudo, "created_at": datetime.now(UTC)}
    flags = {"is_active": True, "is_superuser": False, "is_verified": False}
    async with database.writing() as transaction:
        await transaction.execute(sa.insert(users).values(**values, **flags))


async def post_claim(client: httpx2.AsyncClient, dataset_id: int, **members: Any) -> dict[str, Any]:
    """Post a claim and return the claim in the response."""
    answer = await client.post(f"/datasets/{dataset_id}/evidence", json={**QUOTED_CLAIM, **members})
    assert answer.status_code == 201, answer.text
    claim: dict[str, Any] = answer.json()
    return claim


async def review_claim(client: httpx2.AsyncClient, claim: dict[str, Any], decision: str) -> httpx2.Response:
    """Decide about a claim and return the response."""
    path = f"/datasets/{claim['dataset_id']}/evidence/{claim['id']}/review"
    return await client.post(path, json={"decision": decision, "note": "read"})


async def withdraw_claim(client: httpx2.AsyncClient, claim: dict[str, Any]) -> httpx2.Response:
    """Withdraw a claim and return the response."""
    return await client.post(f"/datasets/{claim['dataset_id']}/evidence/{claim['id']}/withdraw")


async def evidence(client: httpx2.AsyncClient, dataset_id: int) -> dict[str, Any]:
    """Return the claims about a record and the states of its attributes."""
    answer = await client.get(f"/datasets/{dataset_id}/evidence")
    assert answer.status_code == 200, answer.text
    content: dict[str, Any] = answer.json()
    return content


async def state(client: httpx2.AsyncClient, dataset_id: int, attribute: str = "informed_consent") -> dict[str, Any]:
    """Return the state of one attribute."""
    attributes: dict[str, Any] = (await evidence(client, dataset_id))["attributes"]
    attribute_state: dict[str, Any] = attributes[attribute]
    return attribute_state
