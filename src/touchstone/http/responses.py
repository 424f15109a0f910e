"""Responses that every part of the service sends: JSON, and the media types of binary content."""

import asyncio
from collections.abc import AsyncIterable, AsyncIterator
from typing import Any, Final

import msgspec
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

OCTET_STREAM: Final = "application/octet-stream"
# OpenAPI content of any binary type. Generated clients know this media type and no other binary one, so responses
# of another type list this one first; the clients then return bytes.
BINARY_CONTENT: Final[dict[str, Any]] = {OCTET_STREAM: {"schema": {"type": "string", "format": "binary"}}}


class JsonResponse(Response):
    """A JSON response encoded by msgspec; content of type `bytes` is sent as it is."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        """Return the body of the response."""
        if isinstance(content, bytes):
            return content
        return msgspec.json.encode(content)


class ContentStream(StreamingResponse):
    """A long response whose chunks are computed while it is sent.

    They are computed in the task of the request, whose use of the event loop is measured by admission control, and only
    until the client disconnects. Starlette's own streams use a second task for the chunks.
    """

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the response, and stop computing chunks once the client has disconnected."""
        disconnection = asyncio.create_task(self.listen_for_disconnect(receive))
        self.body_iterator = _until_done(self.body_iterator, disconnection)

        try:
            await self.stream_response(send)
        finally:
            disconnection.cancel()


class JsonStream(ContentStream):
    """A long JSON response whose chunks are computed while it is sent."""

    media_type = JsonResponse.media_type


async def _until_done(chunks: AsyncIterable[Any], task: asyncio.Task[None]) -> AsyncIterator[Any]:
    """Yield chunks until there are no more of them, or the task is done."""
    async for chunk in chunks:
        if task.done():
            return

        yield chunk
