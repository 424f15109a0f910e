"""What requests cost: moving averages of the time that requests of the same kind held the event loop."""

import functools
import re
from typing import Final

DEFAULT_SECONDS: Final = 0.001
WEIGHT_OF_NEWEST: Final = 0.2
MAX_KINDS: Final = 1000
_ID: Final = re.compile(r"(?<=/)(?:[0-9]+|[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})(?=/|$)")
_SIZE: Final = re.compile(rb"(?:^|&)(?:limit|page_size)=([0-9]{1,9})(?=&|$)")
_EXPLAINED: Final = re.compile(rb"(?:^|&)explain=(?:true|1)(?=&|$)", re.IGNORECASE)

Kind = tuple[str, str, int, bool]


class Cost:
    """The expected cost of one kind of request, in seconds of the event loop."""

    __slots__ = ("seconds",)

    def __init__(self) -> None:
        self.seconds = DEFAULT_SECONDS

    def learn(self, seconds: float) -> None:
        """Take a measured cost into the average."""
        self.seconds += WEIGHT_OF_NEWEST * (seconds - self.seconds)


class Costs:
    """The expected costs of all kinds of requests that were seen lately."""

    def __init__(self) -> None:
        self._costs: dict[Kind, Cost] = {}

    def of(self, method: str, path: str, query: bytes) -> Cost:
        """Return the expected cost of a request."""
        kind = kind_of(method, path, query)
        cost = self._costs.get(kind)
        if cost is None:
            # Addresses that nobody serves must not fill the memory; what matters is soon learned again.
            if len(self._costs) >= MAX_KINDS:
                self._costs.clear()
            cost = self._costs[kind] = Cost()
        return cost


@functools.lru_cache(maxsize=4096)
def kind_of(method: str, path: str, query: bytes) -> Kind:
    """Return what decides the cost of a request: the route, how many items are wanted (in powers of two), and how."""
    size = _SIZE.search(query)
    return method, _ID.sub("*", path), int(size[1]).bit_length() if size else -1, bool(_EXPLAINED.search(query))
