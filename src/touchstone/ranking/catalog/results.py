"""The results that a view returns."""

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Final, NamedTuple

from touchstone.ranking.column_types import Floats, Ints

_RECORDS_PER_CHUNK: Final = 8192


class RankedWindow:
    """One page of a ranking.

    Attributes:
        positions, scores: The positions of its records in order, and their scores.
        plan: How they were found: `gather`, `best first` or `full order`.
    """

    def __init__(self, positions: Ints, scores: Floats, plan: str, count: Callable[[], int]) -> None:
        self.positions = positions
        self.scores = scores
        self.plan = plan
        self._count = count

    @cached_property
    def total_count(self) -> int:
        """How many records match in all, counted when this is first read."""
        return self._count()

    def chunks(self, size: int = _RECORDS_PER_CHUNK) -> Iterator[tuple[Ints, Floats]]:
        """Iterate over the positions and scores in pieces, for responses that are encoded while they are sent."""
        for start in range(0, len(self.positions), size):
            yield self.positions[start : start + size], self.scores[start : start + size]


class SortedWindow(NamedTuple):
    """One page of a sorted list: the positions of its records in order, and how many records match in all."""

    positions: Ints
    total_count: int


class ScoredItems(NamedTuple):
    """The fields of scored items (interface, section 2.6), column by column, as plain Python values.

    `known` counts the ethical attributes of which it is known whether they are true or false.
    """

    id: list[int]
    dataset_id: list[str]
    dataset_name: list[str]
    ethical_score: list[float]
    technical_score: list[float]
    popularity_score: list[float]
    instances_number: list[int | None]
    features_number: list[int | None]
    objective: list[str | None]
    known: list[int]
