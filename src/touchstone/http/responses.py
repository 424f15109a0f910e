"""Response classes for JSON and for long responses, and the OpenAPI descriptions that several routes share."""

import asyncio
from collections.abc import AsyncIterable, AsyncIterator
from typing import Any, Final

import msgspec
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

OCTET_STREAM: Final = "application/octet-stream"
# OpenAPI content of any binary type. Generated clients only return bytes if they find this media type, so responses
# with another binary type list this one first.
BINARY_CONTENT: Final[dict[str, Any]] = {OCTET_STREAM: {"schema": {"type": "string", "format": "binary"}}}
# OpenAPI descriptions of response headers.
ETAG: Final = {"ETag": {"description": "Version of the response.", "schema": {"type": "string"}}}
FILE_NAME: Final = {"Content-Disposition": {"description": "A name for the file.", "schema": {"type": "string"}}}
# OpenAPI description of status 304.
NOT_MODIFIED: Final = {"description": "Unchanged since the version in `If-None-Match`.", "headers": ETAG}


class JsonResponse(Response):
    """A JSON response encoded by msgspec. Content of type `bytes` is sent unchanged."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        """Return the body of the response."""
        if isinstance(content, bytes):
            return content
        return msgspec.json.encode(content)


class ContentStream(StreamingResponse):
    """A long response whose chunks are computed while it is sent.

    Unlike in Starlette, the chunks are computed in the task of the request, because admission control measures its use
    of the event loop. Computing stops if the client disconnects.
    """

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the response, and stop computing chunks once the client has disconnected."""
        disconnection = asyncio.create_task(self.listen_for_disconnect(receive))
        self.body_iterator = _yield_until_done(self.body_iterator, disconnection)

        try:
            await self.stream_response(send)
        finally:
            disconnection.cancel()


class JsonStream(ContentStream):
    """A long JSON response whose chunks are computed while it is sent."""

    media_type = JsonResponse.media_type


async def _yield_until_done(chunks: AsyncIterable[Any], task: asyncio.Task[None]) -> AsyncIterator[Any]:
    """Yield chunks until there are no more, or until the task is done."""
    async for chunk in chunks:
        if task.done():
            return

        yield chunk
