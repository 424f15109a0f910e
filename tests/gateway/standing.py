"""A gateway on a real database in front of backends that record what reaches them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

import httpx2
import msgspec
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from touchstone.core.settings import Settings
from touchstone.database.engine import Database
from touchstone.http.upstream import InProcessBackend, Upstream
from touchstone.services.gateway import accounts
from touchstone.services.gateway.app import Gateway

PASSWORD = "correct horse battery"


@dataclass(slots=True)
class Recorder:
    """A backend that keeps every scope and body that reaches it, and answers 200 with their gist."""

    name: str
    scopes: list[Scope] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    location: str | None = None
    document: Mapping[str, Any] = field(default_factory=lambda: {"openapi": "3.1.0", "info": {}, "paths": {}})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.scopes.append(scope)
        self.bodies.append(await _body(receive))
        value: Any = {"backend": self.name, "path": scope["path"]}
        if scope["path"] == "/openapi.json":
            value = self.document
        headers = [(b"content-type", b"application/json"), (b"x-total-count", b"7")]
        if self.location:
            headers.append((b"location", self.location.encode()))
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": msgspec.json.encode(value)})

    def last(self) -> Scope:
        """The scope of the last request."""
        return self.scopes[-1]

    def header(self, name: bytes) -> list[bytes]:
        """The values of a header in the last request."""
        return [value for given, value in self.last()["headers"] if given == name]


@dataclass(slots=True)
class Standing:
    """A gateway that is open, and what stands behind it."""

    gateway: Gateway
    settings: Settings
    database: Database
    backends: Mapping[str, Recorder]

    @property
    def app(self) -> ASGIApp:
        """The public door."""
        return self.gateway.app

    def client(self, token: str | None = None, *, address: str = "192.0.2.1", **headers: str) -> httpx2.AsyncClient:
        """A client of the gateway from `address`, signed in when given a token."""
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        if token:
            given["Authorization"] = f"Bearer {token}"
        transport = httpx2.ASGITransport(self.app, client=(address, 40_000))
        return httpx2.AsyncClient(transport=transport, base_url="http://gateway.test", headers=given)

    async def user(self, email: str = "ada@example.org", *, is_superuser: bool = False) -> httpx2.AsyncClient:
        """A client signed in as a new user."""
        await accounts.create_user(self.database, email=email, password=PASSWORD, is_superuser=is_superuser)
        return self.client((await self.sign_in(email))["access_token"])

    async def sign_in(self, email: str = "ada@example.org", password: str = PASSWORD) -> dict[str, Any]:
        """The tokens of a new session."""
        async with self.client() as guest:
            answer = await guest.post("/api/v1/auth/login", data={"username": email, "password": password})
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found


@dataclass(slots=True)
class Answer:
    """What came back to a request made without a client library."""

    status: int = 0
    headers: dict[bytes, bytes] = field(default_factory=dict)
    body: bytes = b""

    async def send(self, message: Message) -> None:
        """Take a part of the answer."""
        if message["type"] == "http.response.start":
            self.status, self.headers = message["status"], dict(message["headers"])
        self.body += message.get("body", b"")

    def json(self) -> Any:
        """The value of the body."""
        return msgspec.json.decode(self.body)


async def ask(
    app: ASGIApp, method: str, raw_path: bytes, headers: list[tuple[bytes, bytes]], *, query: bytes = b""
) -> Answer:
    """Make a request as a server would hand it over, with a path and headers that no client library lets through."""
    scope: Scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": unquote(raw_path.decode("latin-1")),
        "raw_path": raw_path,
        "root_path": "",
        "query_string": query,
        "headers": headers,
        "client": ("192.0.2.1", 40_000),
        "server": ("gateway.test", 80),
    }
    answer = Answer()
    await app(scope, _nothing, answer.send)
    return answer


async def _nothing() -> Message:
    return {"type": "http.request", "body": b"", "more_body": False}


def recorders() -> dict[str, Recorder]:
    """One recording backend for each name."""
    return {name: Recorder(name) for name in ("selection", "training", "explanation")}


def in_process(backends: Mapping[str, Recorder]) -> dict[str, Upstream]:
    """The recorders as backends in this process."""
    return {name: InProcessBackend(backend) for name, backend in backends.items()}


async def _body(receive: Receive) -> bytes:
    body = b""
    while True:
        message: Message = await receive()
        body += message.get("body", b"")
        if not message.get("more_body", False):
            return body
