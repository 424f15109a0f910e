"""Health routes: `/health/live` for the process, `/health/ready` for the resources that it needs."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Final

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from touchstone.http.error_responses import ERROR_RESPONSES
from touchstone.http.responses import JsonResponse
from touchstone.http.stop_event import stop_event

PING_SECONDS: Final = 3.0


@dataclass(frozen=True, slots=True)
class Resource:
    """Something that must respond before the application is ready, with the coroutine function that checks it."""

    name: str
    ping: Callable[[], Awaitable[None]]


async def check_resources(resources: tuple[Resource, ...]) -> Mapping[str, bool]:
    """Ping all resources at once, and return for each of them, by name, whether it responds within three seconds."""
    pings = [asyncio.wait_for(resource.ping(), PING_SECONDS) for resource in resources]
    outcomes = await asyncio.gather(*pings, return_exceptions=True)  # None, or the exception that a ping raised

    return {
        resource.name: not isinstance(outcome, BaseException)
        for resource, outcome in zip(resources, outcomes, strict=True)
    }


def health_router(resources: tuple[Resource, ...]) -> APIRouter:
    """Return the routes by which load balancers learn whether this process can serve requests.

    `/health/live` responds as long as the process runs. `/health/ready` reports the state of each resource, with status
    503 if one of them does not respond or if the server is stopping.
    """
    router = APIRouter(prefix="/health", tags=["health"], responses=ERROR_RESPONSES)

    @router.get("/live", summary="The process answers")
    async def live() -> dict[str, str]:
        return {"status": "live"}

    @router.get("/ready", summary="Every resource answers")
    async def ready(request: Request) -> Response:
        stopping = stop_event(request.scope)
        if stopping is not None and stopping.is_set():
            return JsonResponse({"status": "stopping", "resources": {}}, status_code=503)

        is_up_by_name = await check_resources(resources)
        states = {name: "ok" if is_up else "down" for name, is_up in is_up_by_name.items()}

        if all(is_up_by_name.values()):
            return JsonResponse({"status": "ready", "resources": states})
        return JsonResponse({"status": "not ready", "resources": states}, status_code=503)

    return router
