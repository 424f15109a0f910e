"""The whole service for tests, opened in this process in either topology."""

import secrets
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

import httpx2
from starlette.types import ASGIApp

from tests.listening import listening
from touchstone.core.settings import Settings
from touchstone.services.gateway.public_routes import BACKENDS
from touchstone.startup.separate_services import open_backend, open_gateway
from touchstone.startup.whole_product import open_product


@dataclass(frozen=True, slots=True)
class Service:
    """A running product: its public application and its settings."""

    app: ASGIApp
    settings: Settings

    def client(self, token: str | None = None, **headers: str) -> httpx2.AsyncClient:
        """Return an HTTP client of the public API, signed in if a token is given."""
        if token:
            headers["Authorization"] = f"Bearer {token}"
        transport = httpx2.ASGITransport(self.app, raise_app_exceptions=False)
        return httpx2.AsyncClient(transport=transport, base_url="http://touchstone.test", headers=headers, timeout=60)

    async def register(self, email: str, password: str = "correct horse battery") -> httpx2.AsyncClient:
        """Register a user, and return a signed-in client."""
        async with self.client() as guest:
            registration = await guest.post("/api/v1/auth/register", json={"email": email, "password": password})
            assert registration.status_code == 201, registration.text
            login = await guest.post("/api/v1/auth/login", data={"username": email, "password": password})
        return self.client(login.json()["access_token"])


@asynccontextmanager
async def running(settings: Settings, topology: str) -> AsyncIterator[Service]:
    """Open the whole product in the given topology, and close it at the end of the block."""
    if topology == "embedded":
        async with open_product(settings) as app:
            yield Service(app, settings)
        return

    split_settings = Settings.model_validate({**settings.model_dump(), "internal_key": secrets.token_urlsafe(32)})
    async with AsyncExitStack() as stack:
        backend_urls: dict[str, str] = {}
        for name in BACKENDS:
            backend_settings = Settings.model_validate({**split_settings.model_dump(), **backend_urls})
            backend = await stack.enter_async_context(open_backend(name, backend_settings))
            backend_urls[f"{name}_url"] = await stack.enter_async_context(listening(backend))
        gateway_settings = Settings.model_validate({**split_settings.model_dump(), **backend_urls})
        yield Service(await stack.enter_async_context(open_gateway(gateway_settings)), split_settings)
