"""The server's stop event, which lets long responses end when the server stops.

The server stores it in the state of each request's scope (ASGI lifespan protocol, section "Lifespan State").
"""

import asyncio
from typing import Final

from starlette.types import Scope

STOP_EVENT_KEY: Final = "stopping"


def stop_event(scope: Scope) -> asyncio.Event | None:
    """Return the event that is set when the server stops, or None for another server."""
    event: asyncio.Event | None = scope.get("state", {}).get(STOP_EVENT_KEY)
    return event
