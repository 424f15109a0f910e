"""The OpenAPI document declares the headers of refusals and of unchanged resources."""

from typing import Any

import httpx2

from tests.serving import Service
from touchstone.core.errors import BackendUnavailable, TooManyAttempts

# Sent by the server with every response, or described by the media type of the response.
GENERAL_HEADERS = {
    "content-length",
    "content-type",
    "date",
    "server-timing",
    "transfer-encoding",
    "vary",
    "x-content-type-options",
    "x-request-id",
}


def declared_headers(document: dict[str, Any], method: str, path: str, status: int) -> set[str]:
    """Return the names of the headers that an operation declares for a status, in lower case."""
    responses = document["paths"][path][method]["responses"]
    response = responses.get(str(status)) or responses[f"{status // 100}XX"]
    return {name.lower() for name in response.get("headers", {})}


def special_headers(headers: httpx2.Headers) -> set[str]:
    """Return the names of the headers of a response that not every response has, in lower case."""
    return set(headers) - GENERAL_HEADERS


async def test_headers_of_refusals_and_unchanged_resources_are_declared(service: Service) -> None:
    """Whoever generates a client from the document finds the headers that the service sends."""
    user = await service.register("headers@example.org")
    async with service.client() as guest:
        document = (await guest.get("/openapi.json")).json()
        unauthorized = await guest.get("/api/v1/datasets/")
    project_path = (await user.post("/api/v1/projects", json={"name": "Need"})).headers["Location"]
    project = await user.get(project_path)
    unchanged = await user.get(project_path, headers={"If-None-Match": project.headers["ETag"]})
    await user.aclose()

    assert (unauthorized.status_code, unchanged.status_code) == (401, 304)
    for response, path in ((unauthorized, "/api/v1/datasets/"), (unchanged, "/api/v1/projects/{project_id}")):
        headers = special_headers(response.headers)
        assert headers
        assert headers <= declared_headers(document, "get", path, response.status_code), path


async def test_headers_of_waiting_times_are_declared(service: Service) -> None:
    """Every operation declares the waiting time of requests that are refused for now."""
    async with service.client() as guest:
        document = (await guest.get("/openapi.json")).json()
    del document["paths"]["/health/ready"]  # its 503 is no refusal: it says which resources do not respond

    for error in (TooManyAttempts(seconds=3), BackendUnavailable(backend="selection")):
        headers = {name.lower() for name in error.headers or {}}
        assert headers
        for path, operations in document["paths"].items():
            for method in operations:
                assert headers <= declared_headers(document, method, path, error.status), (method, path)
