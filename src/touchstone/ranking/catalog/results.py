"""What a view answers with."""

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Final, NamedTuple

from touchstone.ranking.criteria import Floats, Ints

_CHUNK: Final = 8192


class RankedWindow:
    """A window of a ranking: positions in order, their scores, and the plan that found them.

    `total_count`, how many records match in all, is counted when it is first asked for.
    """

    def __init__(self, positions: Ints, scores: Floats, plan: str, count: Callable[[], int]) -> None:
        self.positions, self.scores, self.plan = positions, scores, plan
        self._count = count

    @cached_property
    def total_count(self) -> int:
        """How many records match in all."""
        return self._count()

    def chunks(self, size: int = _CHUNK) -> Iterator[tuple[Ints, Floats]]:
        """The same in pieces, for answers that are encoded and sent as they go."""
        for start in range(0, len(self.positions), size):
            yield self.positions[start : start + size], self.scores[start : start + size]


class SortedWindow(NamedTuple):
    """A window of a sorted list: positions in order, and how many records match in all."""

    positions: Ints
    total_count: int


class Items(NamedTuple):
    """The fields of scored items (interface, section 2.6), column by column, as plain Python values."""

    id: list[int]
    dataset_id: list[str]
    dataset_name: list[str]
    ethical_score: list[float]
    technical_score: list[float]
    popularity_score: list[float]
    instances_number: list[int | None]
    features_number: list[int | None]
    objective: list[str | None]
