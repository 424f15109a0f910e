"""Prediction of the event loop time of requests from moving averages of similar requests."""

import functools
import re
from typing import Final, NamedTuple

DEFAULT_SECONDS: Final = 0.001  # expected cost of a new kind of request
NEWEST_WEIGHT: Final = 0.2  # of the latest request in the moving average
MAX_KINDS: Final = 1000
MAX_CACHED_LENGTH: Final = 500  # of the path and the query string together, in characters
_ID_IN_PATH: Final = re.compile(r"(?<=/)(?:[0-9]+|[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})(?=/|$)")
_LIMIT_PARAMETER: Final = re.compile(rb"(?:^|&)(?:limit|page_size)=([0-9]{1,9})(?=&|$)")
_EXPLAIN_PARAMETER: Final = re.compile(rb"(?:^|&)explain=(?:true|1)(?=&|$)", re.IGNORECASE)


class RequestKind(NamedTuple):
    """The properties of a request that determine its cost.

    Attributes:
        method: the HTTP method.
        route: the path, with ids replaced by `*`.
        limit_bits: the bit length of the requested number of items, so that similar numbers are of the same kind, or -1
            if the request does not set a limit.
        is_explained: whether the request asks for explanations.
    """

    method: str
    route: str
    limit_bits: int
    is_explained: bool


class RequestCosts:
    """The expected cost of each recent kind of request, in seconds of event loop time."""

    def __init__(self) -> None:
        self._averages: dict[RequestKind, float] = {}

    def expected_seconds(self, kind: RequestKind) -> float:
        """Return the expected cost of the next request of this kind."""
        return self._averages.get(kind, DEFAULT_SECONDS)

    def record(self, kind: RequestKind, seconds: float) -> None:
        """Update the moving average of a kind with the cost of one request."""
        if kind not in self._averages and len(self._averages) >= MAX_KINDS:
            self._averages.clear()  # frequent kinds soon have an average again

        average = self.expected_seconds(kind)
        self._averages[kind] = average + NEWEST_WEIGHT * (seconds - average)


def classify_request(method: str, path: str, query: bytes) -> RequestKind:
    """Return the kind of a request, which predicts its cost before it is handled.

    Requests are of the same kind if they have the same method and route, if their numbers of requested items have the
    same bit length, and if either all or none of them ask for explanations.
    """
    if len(path) + len(query) <= MAX_CACHED_LENGTH:
        return _parse_kind_cached(method, path, query)

    # Long URLs are rare, and caching them would let a client fill the memory.
    return _parse_kind(method, path[:MAX_CACHED_LENGTH], query)


def _parse_kind(method: str, path: str, query: bytes) -> RequestKind:
    """Return the kind of a request, with `*` instead of the ids in its path."""
    limit = _LIMIT_PARAMETER.search(query)
    limit_bits = int(limit[1]).bit_length() if limit else -1

    return RequestKind(
        method=method,
        route=_ID_IN_PATH.sub("*", path),
        limit_bits=limit_bits,
        is_explained=_EXPLAIN_PARAMETER.search(query) is not None,
    )


_parse_kind_cached: Final = functools.lru_cache(maxsize=4096)(_parse_kind)
