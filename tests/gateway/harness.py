"""A gateway on a real database, in front of backends that record the requests they receive."""

import asyncio
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
class RecordingBackend:
    """A backend that records the scope and the body of every request, and responds with its name and the path.

    With a `failure`, it raises this exception after the beginning of the response.
    """

    name: str
    scopes: list[Scope] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    location: str | None = None
    failure: Exception | None = None
    document: Mapping[str, Any] = field(default_factory=lambda: {"openapi": "3.1.0", "info": {}, "paths": {}})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.scopes.append(scope)
        self.bodies.append(await _read_body(receive))

        content: Any = {"backend": self.name, "path": scope["path"]}
        if scope["path"] == "/openapi.json":
            content = self.document
        headers = [(b"content-type", b"application/json"), (b"x-total-count", b"7")]
        if self.location:
            headers.append((b"location", self.location.encode()))

        await send({"type": "http.response.start", "status": 200, "headers": headers})
        if self.failure:
            raise self.failure
        await send({"type": "http.response.body", "body": msgspec.json.encode(content)})

    def last(self) -> Scope:
        """Return the scope of the last request."""
        return self.scopes[-1]

    def header(self, name: bytes) -> list[bytes]:
        """Return the values of a header in the last request."""
        return [value for header_name, value in self.last()["headers"] if header_name == name]


@dataclass(slots=True)
class GatewayHarness:
    """An open gateway with its settings, its database and its backends."""

    gateway: Gateway
    settings: Settings
    database: Database
    backends: Mapping[str, RecordingBackend]

    @property
    def app(self) -> ASGIApp:
        """The ASGI app of the gateway."""
        return self.gateway.app

    def client(self, token: str | None = None, *, address: str = "192.0.2.1", **headers: str) -> httpx2.AsyncClient:
        """Return a client of the gateway at this network address, which is signed in if there is an access token."""
        client_headers = {name.replace("_", "-"): value for name, value in headers.items()}
        if token:
            client_headers["Authorization"] = f"Bearer {token}"
        transport = httpx2.ASGITransport(self.app, client=(address, 40_000))
        return httpx2.AsyncClient(transport=transport, base_url="http://gateway.test", headers=client_headers)

    async def user(self, email: str = "ada@example.org", *, is_superuser: bool = False) -> httpx2.AsyncClient:
        """Create a user, and return a client that is signed in as this user."""
        await accounts.create_user(self.database, email=email, password=PASSWORD, is_superuser=is_superuser)
        tokens = await self.sign_in(email)
        return self.client(tokens["access_token"])

    async def sign_in(self, email: str = "ada@example.org", password: str = PASSWORD) -> dict[str, Any]:
        """Start a session and return its tokens."""
        async with self.client() as guest:
            response = await guest.post("/api/v1/auth/login", data={"username": email, "password": password})
        assert response.status_code == 200, response.text
        tokens: dict[str, Any] = response.json()
        return tokens


@dataclass(slots=True)
class RawResponse:
    """The response to a request that was made without a client library."""

    status: int = 0
    headers: dict[bytes, bytes] = field(default_factory=dict)
    body: bytes = b""

    async def send(self, message: Message) -> None:
        """Receive a message of the response."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.headers = dict(message["headers"])
        self.body += message.get("body", b"")

    def json(self) -> Any:
        """Return the decoded body."""
        return msgspec.json.decode(self.body)


async def send_raw_request(
    app: ASGIApp, method: str, raw_path: bytes, headers: list[tuple[bytes, bytes]], *, query: bytes = b""
) -> RawResponse:
    """Send a request as a server would, with a path and headers that client libraries refuse to send."""
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
    response = RawResponse()
    await app(scope, _empty_body(), response.send)
    return response


def recording_backends() -> dict[str, RecordingBackend]:
    """Return a recording backend for each name."""
    return {name: RecordingBackend(name) for name in ("selection", "training", "explanation")}


def in_process_upstreams(backends: Mapping[str, RecordingBackend]) -> dict[str, Upstream]:
    """Return upstreams to the backends in this process."""
    return {name: InProcessBackend(backend) for name, backend in backends.items()}


def _empty_body() -> Receive:
    """Return the `receive` function of a client that sends no body and stays connected."""
    messages: list[Message] = [{"type": "http.request", "body": b"", "more_body": False}]

    async def receive() -> Message:
        if not messages:
            await asyncio.Event().wait()
        return messages.pop()

    return receive


async def _read_body(receive: Receive) -> bytes:
    body = b""
    more_body = True
    while more_body:
        message: Message = await receive()
        body += message.get("body", b"")
        more_body = message.get("more_body", False)
    return body
