"""Descriptions of API calls, shared by the synchronous and the asynchronous client."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import isnan
from typing import Any, BinaryIO, Final, Generic, TypeAlias, TypeVar
from urllib.parse import quote

import httpx2
import msgspec

from touchstone.client.errors import impossible_id, unreadable_response
from touchstone.client.json_values import json_value
from touchstone.core.json_decoding import decode_json

T = TypeVar("T")
FormFile: TypeAlias = tuple[str, BinaryIO | bytes, str]  # name, content and media type
API_PREFIX: Final = "/api/v1"
AMBIGUOUS_SEGMENTS: Final = frozenset({"", ".", ".."})
HTML_MEDIA_TYPE: Final = "text/html"
HTML_SUFFIXES: Final = (".html", ".htm")
JSON_MEDIA_TYPE: Final = "application/json"
SAFE_METHODS: Final = frozenset({"GET", "HEAD"})


@dataclass(frozen=True, slots=True)
class Call(Generic[T]):
    """A request to the API, and a function that reads its response.

    Attributes:
        method, path: the HTTP method, and the path with percent-encoded segments.
        read: a function that returns the content of a successful response.
        query: the query parameters. None is left out, and a list becomes a repeated parameter.
        json, content, files: the body; at most one of them is set.
        headers: headers in addition to the headers that identify the caller.
        public: whether the call is sent without a token.
        read_only: whether the call changes nothing, even if its method is POST, so that it can be retried.
        unchanged_on_error: whether an error response means that nothing was changed. The call can then be retried
            after a temporary error, but not after a broken connection.
        streamed: whether the caller reads the response while it arrives, and closes it.
        min_timeout_seconds: the shortest time limit for the response; the client's own limit applies if it is longer.
        other_statuses: the statuses besides 2xx whose responses `read` understands.
    """

    method: str
    path: str
    read: Callable[[httpx2.Response], T]
    query: Mapping[str, Any] = field(default_factory=dict)
    json: Any = None
    content: bytes | None = None
    files: Mapping[str, FormFile] | Sequence[tuple[str, FormFile]] | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    public: bool = False
    read_only: bool = False
    unchanged_on_error: bool = False
    streamed: bool = False
    min_timeout_seconds: float = 0.0
    other_statuses: frozenset[int] = frozenset()

    @property
    def repeatable(self) -> bool:
        """Whether sending the call twice has the same effect as sending it once."""
        return self.read_only or self.method in SAFE_METHODS


def read_json(result_type: type[T]) -> Callable[[httpx2.Response], T]:
    """Return a function that decodes the JSON body of a response as `result_type`.

    If the body has another form, because a proxy or another service has responded, the function raises
    `TouchstoneError` with the code `unreadable`.
    """

    def read(response: httpx2.Response) -> T:
        try:
            return decode_json(response.content, result_type)
        except msgspec.DecodeError as error:
            raise unreadable_response(response.status_code, error) from error

    return read


def read_json_with_etag(result_type: type[T]) -> Callable[[httpx2.Response], T]:
    """Return a function that decodes a response as `result_type`, with the ETag in the field `etag`."""
    read_body = read_json(result_type)

    def read(response: httpx2.Response) -> T:
        content: Any = read_body(response)
        etag = response.headers.get("etag")
        content_with_etag: T = msgspec.structs.replace(content, etag=etag)
        return content_with_etag

    return read


def read_nothing(response: httpx2.Response) -> None:
    """Check that the body of a response is empty or JSON, and ignore its content.

    Raises:
        TouchstoneError: the body has another form, because a proxy or another service has responded.
    """
    if response.content and media_type_of(response) != JSON_MEDIA_TYPE:
        raise unreadable_response(response.status_code, "a body was not expected")


def read_bytes(response: httpx2.Response) -> bytes:
    """Return the body of a response, which must not be a web page.

    Raises:
        TouchstoneError: the response is a web page, because a proxy or another service has responded.
    """
    refuse_web_page(response)
    return response.content


def refuse_web_page(response: httpx2.Response, *, file_name: str = "") -> None:
    """Check that a response is not a web page, unless an HTML file was requested.

    Proxies and the sign-in pages of networks also respond with status 200, and their pages must not be stored as data.

    Args:
        response: the response, whose body need not have been read.
        file_name: the name of the requested file, or an empty string if it cannot be an HTML file.

    Raises:
        TouchstoneError: the response is a web page.
    """
    is_html_requested = file_name.lower().endswith(HTML_SUFFIXES)
    is_web_page = media_type_of(response) == HTML_MEDIA_TYPE
    if is_web_page and not is_html_requested:
        raise unreadable_response(response.status_code, "it is a web page instead of the requested file")


def media_type_of(response: httpx2.Response) -> str:
    """Return the media type of a response in lower case and without parameters, or an empty string if it has none."""
    content_type: str = response.headers.get("content-type", "")
    return content_type.partition(";")[0].strip().lower()


def keep_streaming(response: httpx2.Response) -> httpx2.Response:
    """Return a streamed response unchanged; the caller reads and closes it."""
    return response


def build_path(*segments: object) -> str:
    """Return the API path with these segments, percent-encoded.

    Raises:
        TouchstoneError: a segment is empty, `.` or `..`, which would make it the path of another resource.
    """
    encoded_segments = []
    for segment in segments:
        if str(segment) in AMBIGUOUS_SEGMENTS:
            raise impossible_id(segment)
        encoded_segments.append(quote(str(segment), safe=""))
    return "/".join([API_PREFIX, *encoded_segments])


def require_header_text(value: str, name: str) -> str:
    """Return a value for a header.

    Raises:
        ValueError: a header cannot carry the value, which is not quoted because it may be secret.
    """
    if value.isascii() and value.isprintable():
        return value
    raise ValueError(
        f"The {name} contains a character that no HTTP header may contain: only printable ASCII is allowed."
    )


def query_pairs(query: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the name and the value of each query parameter, as the service expects them.

    None is left out, a list becomes one pair for each item, and booleans are in lower case.

    Raises:
        ValueError: a value is NaN. Without a filter that was computed as NaN, the answer would contain too much.
    """
    for name, value in query.items():
        if isinstance(value, float) and isnan(value):
            raise ValueError(f"{name} is NaN")
        for item in _items_of(json_value(value)):
            if isinstance(item, bool):
                yield name, str(item).lower()
            elif item is not None:
                yield name, str(item)


def _items_of(value: Any) -> Sequence[Any]:
    """Return the items of a list, or a single value as a sequence of one item."""
    if not isinstance(value, list):
        return (value,)

    if len(value) == 1 and "," in str(value[0]):
        # The service splits a single parameter at its commas, but not a repeated one.
        return value * 2
    return value


def without_none(**values: Any) -> dict[str, Any]:
    """Return the values that are not None, for a request body that must not contain null."""
    return {name: value for name, value in values.items() if value is not None}


def if_match_header(etag: str | None) -> dict[str, str]:
    """Return the header that makes a change conditional on this ETag, or no header if `etag` is None."""
    return {"If-Match": etag} if etag else {}
