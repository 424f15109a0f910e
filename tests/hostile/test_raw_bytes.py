"""Bytes that no client library would send get a clear error, and the next request is answered."""

import asyncio
import json
from pathlib import Path

import httpx2
import pytest

from tests.hostile.corpus import corpus
from tests.listening import listening
from tests.serving import Service, running
from touchstone.core.settings import Settings

TIMEOUT_SECONDS = 20


async def exchange(address: str, request_bytes: bytes) -> bytes:
    """Send these bytes, and return what the server sends until it closes the connection."""
    host, port = address.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    try:
        writer.write(request_bytes)
        await writer.drain()
        return await asyncio.wait_for(reader.read(), TIMEOUT_SECONDS)
    except (ConnectionResetError, BrokenPipeError):
        return b""
    finally:
        writer.close()


def status_of(response: bytes) -> int:
    """Return the status of a response; 400 for a connection that was closed without one."""
    return int(response.split(b" ", 2)[1]) if response.startswith(b"HTTP/1.1 ") else 400


def problem_with(response: bytes) -> str | None:
    """Return what is wrong with an error response, or None; the HTTP parser itself responds without JSON."""
    head, _, body = response.partition(b"\r\n\r\n")
    if status_of(response) >= 500:
        return f"{status_of(response)}: {body[:200]!r}"
    if status_of(response) < 400 or b"application/json" not in head or not body:
        return None
    error = json.loads(body)
    if not isinstance(error["detail"], str) or not error["code"] or not isinstance(error["errors"], list):
        return f"shape: {body[:200]!r}"
    return f"trace: {body[:300]!r}" if b"Traceback" in body or b"sqlite" in body.lower() else None


@pytest.mark.parametrize("kind", ["sqlite"])
async def test_no_bytes_bring_the_service_to_a_server_error(kind: str, tmp_path: Path) -> None:
    """Every request of the corpus gets a status below 500 and a well-formed error, and the service keeps running."""
    settings = Settings.load({"TOUCHSTONE_DATA_DIR": str(tmp_path), "TOUCHSTONE_DEMO": "false"})
    async with running(settings, "embedded") as service, listening(service.app) as address:
        token = (await register_user(service)).encode()
        requests = list(corpus(token))
        assert len(requests) >= 300
        problems = {}
        for name, request_bytes in requests:
            if problem := problem_with(await exchange(address, request_bytes)):
                problems[name] = problem
        assert problems == {}
        async with httpx2.AsyncClient() as client:
            assert (await client.get(f"{address}/health/ready")).status_code == 200


async def register_user(service: Service) -> str:
    """Register a user and return an access token."""
    client = await service.register("hostile@example.org")
    token: str = client.headers["Authorization"].removeprefix("Bearer ")
    await client.aclose()
    return token
