"""How whoever answers for long learns that the server stops: an event in the state of each request's scope.

The state is that of the ASGI lifespan protocol, section "Lifespan State".
"""

import asyncio
from typing import Final

from starlette.types import Scope

STOPPING: Final = "stopping"


def stopping(scope: Scope) -> asyncio.Event | None:
    """Set when the server that took this request stops; None where no server of ours did."""
    found: asyncio.Event | None = scope.get("state", {}).get(STOPPING)
    return found
