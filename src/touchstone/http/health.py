"""Health routes for the process and for the resources that it needs."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from fastapi import APIRouter
from pydantic import BaseModel, Field
from starlette.requests import Request
from starlette.responses import Response

from touchstone.core.errors import CatalogLoading
from touchstone.http.error_responses import ERROR_RESPONSES
from touchstone.http.responses import JsonResponse
from touchstone.http.stop_event import stop_event

PING_SECONDS: Final = 3.0


class Readiness(BaseModel):
    """Whether a process can serve requests."""

    status: Literal["ready", "loading", "not ready", "stopping"]
    resources: dict[str, Literal["ok", "loading", "down"]] = Field(description="The state of each resource by name.")
    records: int | None = Field(default=None, description="While the catalog is loading: the records that are loaded.")
    total_records: int | None = Field(default=None, description="While the catalog is loading: all of its records.")


_NOT_READY: Final[dict[int | str, dict[str, Any]]] = {
    503: {"model": Readiness, "description": "A resource does not answer or is loading, or the process is stopping."}
}


@dataclass(frozen=True, slots=True)
class Resource:
    """Something that must respond before the application is ready, such as the database.

    Attributes:
        name: the name in the response of `/health/ready`.
        ping: checks the resource, and raises an exception if it does not respond.
    """

    name: str
    ping: Callable[[], Awaitable[None]]


async def check_resources(resources: tuple[Resource, ...]) -> Mapping[str, BaseException | None]:
    """Ping all resources at the same time.

    Returns:
        the exception raised by each resource by name, or None if it responded within `PING_SECONDS`.
    """
    pings = [asyncio.wait_for(resource.ping(), PING_SECONDS) for resource in resources]
    outcomes = await asyncio.gather(*pings, return_exceptions=True)  # None, or the exception that a ping raised
    return {resource.name: outcome for resource, outcome in zip(resources, outcomes, strict=True)}


def health_router(resources: tuple[Resource, ...]) -> APIRouter:
    """Return the health routes, where load balancers check whether this process can serve requests.

    `/health/live` responds as long as the process runs. `/health/ready` reports the state of each resource, with status
    503 if one of them does not respond, if the catalog is still being loaded, or if the server is stopping.
    """
    router = APIRouter(prefix="/health", tags=["health"], responses=ERROR_RESPONSES)

    @router.get("/live", summary="The process answers")
    async def live() -> dict[str, str]:
        return {"status": "live"}

    @router.get("/ready", summary="Every resource answers", response_model=Readiness, responses=_NOT_READY)
    async def ready(request: Request) -> Response:
        stopping = stop_event(request.scope)
        if stopping is not None and stopping.is_set():
            return JsonResponse({"status": "stopping", "resources": {}}, status_code=503)

        problems = await check_resources(resources)
        states = {name: _describe_state(problem) for name, problem in problems.items()}

        if all(state == "ok" for state in states.values()):
            return JsonResponse({"status": "ready", "resources": states})
        if "down" in states.values():
            return JsonResponse({"status": "not ready", "resources": states}, status_code=503)

        progress = _loading_progress(problems.values())
        return JsonResponse({"status": "loading", "resources": states, **progress}, status_code=503)

    return router


def _describe_state(problem: BaseException | None) -> str:
    """Return the state of a resource in one word."""
    if problem is None:
        return "ok"
    return "loading" if isinstance(problem, CatalogLoading) else "down"


def _loading_progress(problems: Iterable[BaseException | None]) -> dict[str, int]:
    """Return the numbers of loaded and total records if the catalog is being loaded."""
    for problem in problems:
        if isinstance(problem, CatalogLoading):
            return dict(problem.facts)
    return {}
