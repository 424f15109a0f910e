"""The cost of requests: moving averages of the time for which requests of the same kind held the event loop."""

import functools
import re
from typing import Final, NamedTuple

DEFAULT_SECONDS: Final = 0.001  # expected cost of a kind of request that has not been seen yet
WEIGHT_OF_NEWEST: Final = 0.2
MAX_KINDS: Final = 1000
MAX_CACHED_LENGTH: Final = 500  # of the path and the query together, in characters
_ID: Final = re.compile(r"(?<=/)(?:[0-9]+|[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})(?=/|$)")
_LIMIT: Final = re.compile(rb"(?:^|&)(?:limit|page_size)=([0-9]{1,9})(?=&|$)")
_EXPLAIN: Final = re.compile(rb"(?:^|&)explain=(?:true|1)(?=&|$)", re.IGNORECASE)


class RequestKind(NamedTuple):
    """What decides the cost of a request.

    `limit_bits` is the length in bits of the number of items asked for, or -1 if the request does not say.
    """

    method: str
    route: str
    limit_bits: int
    is_explained: bool


class RequestCosts:
    """The expected costs of all kinds of requests that were answered lately, in seconds of the event loop."""

    def __init__(self) -> None:
        self._averages: dict[RequestKind, float] = {}

    def expected(self, kind: RequestKind) -> float:
        """Return the expected cost of the next request of this kind."""
        return self._averages.get(kind, DEFAULT_SECONDS)

    def learn(self, kind: RequestKind, seconds: float) -> None:
        """Add the cost of a request to the moving average of its kind."""
        if kind not in self._averages and len(self._averages) >= MAX_KINDS:
            self._averages.clear()  # the frequent kinds are soon learned again

        average = self.expected(kind)
        self._averages[kind] = average + WEIGHT_OF_NEWEST * (seconds - average)


def kind_of(method: str, path: str, query: bytes) -> RequestKind:
    """Return the kind of a request, by which its cost is predicted before it is handled.

    Requests are of the same kind if they have the same route, ask for about as many items (in powers of two), and
    either all or none of them ask for explanations.
    """
    if len(path) + len(query) <= MAX_CACHED_LENGTH:
        return _cached_kind(method, path, query)

    # Long addresses are rare, and would let a client fill the cache with large entries.
    return _parse_kind(method, path[:MAX_CACHED_LENGTH], query)


def _parse_kind(method: str, path: str, query: bytes) -> RequestKind:
    """Return the kind of a request; the ids in its path are replaced by `*` to make them the same route."""
    limit = _LIMIT.search(query)
    limit_bits = int(limit[1]).bit_length() if limit else -1

    return RequestKind(
        method=method,
        route=_ID.sub("*", path),
        limit_bits=limit_bits,
        is_explained=_EXPLAIN.search(query) is not None,
    )


_cached_kind: Final = functools.lru_cache(maxsize=4096)(_parse_kind)
