"""The form in which every call is described once, for the synchronous and the asynchronous client alike."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, BinaryIO, Final, Generic, TypeVar
from urllib.parse import quote

import httpx2
import msgspec

from touchstone.client.errors import TouchstoneError

T = TypeVar("T")
API: Final = "/api/v1"
SAFE: Final = frozenset({"GET", "HEAD"})


@dataclass(frozen=True, slots=True)
class Call(Generic[T]):
    """One request of the contract and how its answer is read.

    Attributes:
        method, path: as in the contract; values in the path are percent-encoded already.
        read: turns the answer into its type.
        query: parameters; None is left out, a list is repeated.
        json, content, files: the body, at most one of them.
        headers: beside those of the session.
        public: needs no token, and is sent without one.
        reading: changes nothing, whatever its method, so that it may be sent again after a failure.
        streamed: the answer is read while it arrives, and closed by whoever reads it.
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
        """Whether sending it twice does the same as sending it once."""
        return self.reading or self.method in SAFE


def into(kind: type[T]) -> Callable[[httpx2.Response], T]:
    """Read an answer's JSON as `kind`.

    Raises (when reading):
        TouchstoneError: the answer is not of this shape.
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


def tagged(kind: type[T]) -> Callable[[httpx2.Response], T]:
    """Read an answer's JSON as `kind`, with the version (ETag) in its field `etag`."""
    read = into(kind)

    def read_with_tag(response: httpx2.Response) -> T:
        tag = response.headers.get("etag")
        answer: Any = read(response)
        found: T = msgspec.structs.replace(answer, etag=tag)
        return found

    return read_with_tag


def nothing(response: httpx2.Response) -> None:
    """Read an answer without a body."""


def raw(response: httpx2.Response) -> bytes:
    """Read an answer as it is."""
    return response.content


def opened(response: httpx2.Response) -> httpx2.Response:
    """Hand over an answer that has only begun."""
    return response


def address(*parts: object) -> str:
    """A path below the API's prefix; each part is one segment, encoded whatever is in it."""
    return "/".join((API, *(quote(str(part), safe="") for part in parts)))


def parameters(query: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The query's pairs: None left out, lists repeated, booleans in lower case."""
    for name, value in query.items():
        for one in _all(value):
            if one is not None:
                yield name, str(one).lower() if isinstance(one, bool) else str(one)


def _all(value: Any) -> Sequence[Any]:
    if not isinstance(value, list | tuple | set | frozenset):
        return (value,)
    values = tuple(value)
    # A parameter that is given once is split at its commas; one that is repeated is taken as it stands.
    return values * 2 if len(values) == 1 and "," in str(values[0]) else values


def given(**values: Any) -> dict[str, Any]:
    """The values that are not None: for a body in which null would mean something."""
    return {name: value for name, value in values.items() if value is not None}


def if_match(etag: str | None) -> dict[str, str]:
    """The header that makes a change conditional on the version that was read."""
    return {"If-Match": etag} if etag else {}
