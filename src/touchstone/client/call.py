"""Descriptions of API calls, which the synchronous and the asynchronous client carry out alike."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, BinaryIO, Final, Generic, TypeVar
from urllib.parse import quote

import httpx2
import msgspec

from touchstone.client.errors import TouchstoneError

T = TypeVar("T")
API_PREFIX: Final = "/api/v1"
SAFE_METHODS: Final = frozenset({"GET", "HEAD"})


@dataclass(frozen=True, slots=True)
class Call(Generic[T]):
    """One request of the API and how its response is read.

    Attributes:
        method, path: The values in the path are already percent-encoded.
        read: Converts the response to its type.
        query: The parameters; None is left out, and a list is repeated.
        json, content, files: The body; at most one of them is set.
        headers: Headers in addition to those of the session.
        public: Whether the call is sent without a token.
        reading: Whether the call changes nothing whatever its method, so that it can be sent again after a failure.
        streamed: Whether the caller reads the response while it arrives, and closes it.
    """

    method: str
    path: str
    read: Callable[[httpx2.Response], T]
    query: Mapping[str, Any] = field(default_factory=dict)
    json: Any = None
    content: bytes | None = None
    files: Mapping[str, tuple[str, BinaryIO | bytes, str]] | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    public: bool = False
    reading: bool = False
    streamed: bool = False

    @property
    def repeatable(self) -> bool:
        """Whether sending the call twice has the same effect as sending it once."""
        return self.reading or self.method in SAFE_METHODS


def read_json(kind: type[T]) -> Callable[[httpx2.Response], T]:
    """Return a function that decodes the JSON of a response as `kind`.

    The function raises TouchstoneError if the response has another shape.
    """
    decoder = msgspec.json.Decoder(kind)

    def read(response: httpx2.Response) -> T:
        try:
            return decoder.decode(response.content)
        except msgspec.DecodeError as problem:
            raise TouchstoneError(
                response.status_code, "unreadable", f"The answer is not one of this service: {problem}"
            ) from problem

    return read


def read_json_with_etag(kind: type[T]) -> Callable[[httpx2.Response], T]:
    """Return a function that decodes a response as `kind` and stores its ETag in the field `etag`."""
    read = read_json(kind)

    def read_with_tag(response: httpx2.Response) -> T:
        etag = response.headers.get("etag")
        decoded: Any = read(response)
        tagged: T = msgspec.structs.replace(decoded, etag=etag)
        return tagged

    return read_with_tag


def read_nothing(response: httpx2.Response) -> None:
    """Ignore the response, which has no body."""


def read_bytes(response: httpx2.Response) -> bytes:
    """Return the body of a response unchanged."""
    return response.content


def keep_open(response: httpx2.Response) -> httpx2.Response:
    """Return a response whose body has not been read yet."""
    return response


def build_path(*parts: object) -> str:
    """Return the path below the API prefix that consists of these segments, percent-encoded."""
    return "/".join((API_PREFIX, *(quote(str(part), safe="") for part in parts)))


def query_pairs(query: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the pairs of a query string: None is left out, lists are repeated, and booleans are in lower case."""
    for name, value in query.items():
        for item in _values_of(value):
            if item is not None:
                yield name, str(item).lower() if isinstance(item, bool) else str(item)


def _values_of(value: Any) -> Sequence[Any]:
    if not isinstance(value, list | tuple | set | frozenset):
        return (value,)

    values = tuple(value)
    if len(values) == 1 and "," in str(values[0]):
        # The service splits a parameter at its commas unless it is repeated.
        return values * 2
    return values


def without_none(**values: Any) -> dict[str, Any]:
    """Return the values that are not None, for a body in which null has a meaning."""
    return {name: value for name, value in values.items() if value is not None}


def if_match_header(etag: str | None) -> dict[str, str]:
    """Return the header that makes a change conditional on the version that was read."""
    return {"If-Match": etag} if etag else {}
