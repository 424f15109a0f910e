"""Requests as bytes on a kept connection: a client library would take more time than the responses being measured."""

import re
from typing import Final

LIST_QUERY: Final = "page=1&page_size=20&sort_by=dataset_name&year_min=2000"
SCORE_BODY: Final = (
    b'{"filters":{"year_min":2000},"weights":[{"criterion_name":"ethical_score","weight":0.4},'
    b'{"criterion_name":"technical_score","weight":0.4},{"criterion_name":"popularity_score","weight":0.2}]}'
)
MAX_READ_BYTES: Final = 1 << 20
_CONTENT_LENGTH: Final = re.compile(rb"content-length: (\d+)", re.IGNORECASE)
_END_OF_HEADERS: Final = b"\r\n\r\n"
_LAST_CHUNK: Final = b"\r\n0\r\n\r\n"


def encode_request(method: str, target: str, body: bytes = b"", *, token: str = "", user_id: str = "") -> bytes:
    """Return the bytes of a request that keeps its connection open.

    It is made on behalf of a user if there is a `token` (at the gateway) or a `user_id` (at a backend).
    """
    lines = [f"{method} {target} HTTP/1.1", "Host: bench", f"Content-Length: {len(body)}"]
    if body:
        lines.append("Content-Type: application/json")
    if token:
        lines.append(f"Authorization: Bearer {token}")
    if user_id:
        lines.append(f"X-User-ID: {user_id}")

    return "\r\n".join(lines).encode() + _END_OF_HEADERS + body


def is_complete_response(response: bytes | bytearray) -> bool:
    """Return whether these bytes are a whole response, according to its `Content-Length` or its last chunk."""
    headers_end = response.find(_END_OF_HEADERS)
    content_length = _CONTENT_LENGTH.search(response, 0, headers_end)
    if content_length is None:
        return response.endswith(_LAST_CHUNK)

    body_bytes = len(response) - headers_end - len(_END_OF_HEADERS)
    return body_bytes >= int(content_length[1])


def host_and_port(address: str) -> tuple[str, int]:
    """Return the host and the port of an address such as `http://127.0.0.1:8000`."""
    host, port = address.removeprefix("http://").split(":")
    return host, int(port)
