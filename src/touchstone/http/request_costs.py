"""What requests cost: moving averages of the time that requests of the same kind held the event loop."""

import functools
import re
from typing import Final

DEFAULT_SECONDS: Final = 0.001
WEIGHT_OF_NEWEST: Final = 0.2
MAX_KINDS: Final = 1000
MAX_LENGTH: Final = 500
_ID: Final = re.compile(r"(?<=/)(?:[0-9]+|[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})(?=/|$)")
_SIZE: Final = re.compile(rb"(?:^|&)(?:limit|page_size)=([0-9]{1,9})(?=&|$)")
_EXPLAINED: Final = re.compile(rb"(?:^|&)explain=(?:true|1)(?=&|$)", re.IGNORECASE)

Kind = tuple[str, str, int, bool]


class Costs:
    """The expected costs of all kinds of requests that were answered lately, in seconds of the event loop."""

    def __init__(self) -> None:
        self._averages: dict[Kind, float] = {}

    def expected(self, kind: Kind) -> float:
        """Return what the next request of this kind is expected to cost."""
        return self._averages.get(kind, DEFAULT_SECONDS)

    def learn(self, kind: Kind, seconds: float) -> None:
        """Take the cost of a request that was answered into the average of its kind."""
        if kind not in self._averages and len(self._averages) >= MAX_KINDS:
            self._averages.clear()  # what matters is soon learned again
        average = self.expected(kind)
        self._averages[kind] = average + WEIGHT_OF_NEWEST * (seconds - average)


def kind_of(method: str, path: str, query: bytes) -> Kind:
    """Return what decides the cost of a request: the route, how many items are wanted (in powers of two), and how."""
    is_short = len(path) + len(query) <= MAX_LENGTH
    return _remembered_kind(method, path, query) if is_short else _kind_of(method, path[:MAX_LENGTH], query)


def _kind_of(method: str, path: str, query: bytes) -> Kind:
    size = _SIZE.search(query)
    return method, _ID.sub("*", path), int(size[1]).bit_length() if size else -1, bool(_EXPLAINED.search(query))


_remembered_kind: Final = functools.lru_cache(maxsize=4096)(_kind_of)
