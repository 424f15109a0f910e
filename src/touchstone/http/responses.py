"""Responses that every part of the service sends: JSON, and the media types of binary content."""

from typing import Any, Final

import msgspec
from starlette.responses import Response

OCTET_STREAM: Final = "application/octet-stream"
# OpenAPI content of any binary type. Generated clients know this media type and no other binary one, so responses
# of another type list this one first; the clients then return bytes.
BINARY_CONTENT: Final[dict[str, Any]] = {OCTET_STREAM: {"schema": {"type": "string", "format": "binary"}}}


class JsonResponse(Response):
    """A JSON response encoded by msgspec; content of type `bytes` is sent as it is."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        """Return the encoded content."""
        if isinstance(content, bytes):
            return content
        return msgspec.json.encode(content)
