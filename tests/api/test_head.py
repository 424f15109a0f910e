"""HEAD is answered wherever GET is: with the same status and headers, and without a body."""

import asyncio

import httpx2
import pytest

from tests.listening import listening
from tests.serving import Service
from touchstone.core.settings import Settings
from touchstone.services.gateway.public_routes import BACKENDS, PUBLIC_ROUTES
from touchstone.startup.separate_services import open_backend

# The headers that differ between two answers to the same request.
VARYING_HEADERS = {"date", "x-request-id", "server-timing"}
PUBLIC_PATHS = sorted(
    {address for route in PUBLIC_ROUTES if route.method == "GET" for address in route.addresses if "{" not in address}
    - {"/openapi.json", "/docs/static", "/users/me/picture", "/api/v1/users/me/picture"}
)
PAGES = ("/app/sign-in", "/app/", "/favicon.ico", "/app/static/mark.svg", "/openapi.json", "/nowhere")


async def check_head(client: httpx2.AsyncClient, path: str) -> None:
    """Check that GET and HEAD of a path have the same status and headers."""
    get, head = await client.get(path), await client.head(path)
    assert (head.status_code, head.content) == (get.status_code, b""), path
    expected = {
        name: value for name, value in get.headers.items() if name not in VARYING_HEADERS | {"transfer-encoding"}
    }
    assert {name: value for name, value in head.headers.items() if name not in VARYING_HEADERS} == expected, path


async def test_head_of_every_public_get(service: Service) -> None:
    """Every public path is requested through the gateway over a real connection, in both topologies."""
    user = await service.register("head@example.org")
    async with listening(service.app) as address:
        headers = {"Authorization": user.headers["Authorization"]}
        async with httpx2.AsyncClient(base_url=address, headers=headers, timeout=60) as client:
            for path in (*PUBLIC_PATHS, *PAGES):
                await check_head(client, path)
    await user.aclose()


async def test_head_shows_no_more_than_get(service: Service) -> None:
    """HEAD needs a token wherever GET does."""
    async with service.client() as guest:
        assert (await guest.head("/api/v1/datasets/")).status_code == 401
        assert (await guest.head("/api/v1/auth/login")).status_code == 405


@pytest.mark.parametrize("name", BACKENDS)
async def test_head_of_a_backend_called_directly(settings: Settings, name: str) -> None:
    """Each backend supports HEAD on its own listener."""
    async with (
        open_backend(name, settings) as app,
        listening(app) as address,
        httpx2.AsyncClient(base_url=address, timeout=60) as client,
    ):
        paths = ["/health/live", "/health/ready", "/docs", "/openapi.json"]
        paths += ["/datasets/", "/datasets/facets"] if name == "selection" else []
        await asyncio.gather(*(check_head(client, path) for path in paths))
