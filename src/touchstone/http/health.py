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
from touchstone.http.shutdown import stop_event

PING_SECONDS: Final = 3.0


@dataclass(frozen=True, slots=True)
class Resource:
    """Something that must respond before the application is ready, with the coroutine function that checks it."""

    name: str
    ping: Callable[[], Awaitable[None]]


async def check_resources(resources: tuple[Resource, ...]) -> Mapping[str, bool]:
    """Return for each resource, by name, whether it responds within three seconds."""
    pings = [asyncio.wait_for(resource.ping(), PING_SECONDS) for resource in resources]
    results = await asyncio.gather(*pings, return_exceptions=True)

    return {
        resource.name: not isinstance(result, BaseException)
        for resource, result in zip(resources, results, strict=True)
    }


def health_router(resources: tuple[Resource, ...]) -> APIRouter:
    """Return the health routes of an application with these resources."""
    router = APIRouter(prefix="/health", tags=["health"], responses=ERROR_RESPONSES)

    @router.get("/live", summary="The process answers")
    async def live() -> dict[str, str]:
        return {"status": "live"}

    @router.get("/ready", summary="Every resource answers")
    async def ready(request: Request) -> Response:
        stop = stop_event(request.scope)
        if stop is not None and stop.is_set():
            return JsonResponse({"status": "stopping", "resources": {}}, status_code=503)

        is_up = await check_resources(resources)
        states = {name: "ok" if up else "down" for name, up in is_up.items()}
        if not all(is_up.values()):
            return JsonResponse({"status": "not ready", "resources": states}, status_code=503)
        return JsonResponse({"status": "ready", "resources": states})

    return router
