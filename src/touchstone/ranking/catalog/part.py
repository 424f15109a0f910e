"""What a catalog is made of: parts that each hold some records and answer the same questions about them."""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple, Protocol
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from touchstone.ranking.criteria import Floats, Ints
from touchstone.ranking.query.facets import Counts
from touchstone.ranking.query.predicates import Query


class Window(NamedTuple):
    """A piece of a ranking: positions in order, their scores, and the plan that found them."""

    positions: NDArray[Any]
    scores: Floats
    plan: str


class Listed(NamedTuple):
    """A piece of a sorted list: positions in order, and how many records match in all."""

    positions: Ints
    total_count: int


class Part(Protocol):
    """Some records, at positions from 0 to `span - 1`, of which `size` are alive; never changes."""

    @property
    def span(self) -> int:
        """How many positions there are."""

    @property
    def size(self) -> int:
        """How many records are alive."""

    def find(self, id_: int) -> int | None:
        """The position of the live record with an id."""

    def find_uuid(self, dataset_id: UUID) -> int | None:
        """The position of the live record with a UUID."""

    def count(self, query: Query) -> int:
        """How many live records match."""

    def matches(self, query: Query, position: int) -> bool:
        """Whether the live record at a position matches."""

    def rank(self, query: Query, weights: Mapping[str, float], end: int | None, floor: float) -> Window:
        """The best `end` records that match (all for None), leaving out those with a score below `floor`."""

    def ordered(self, query: Query, column: str, *, descending: bool, skip: int, limit: int | None) -> Listed:
        """Positions by a sort column, those without a value last, then by id."""

    def sort_key(self, column: str, position: int) -> Any:
        """The value that a record is sorted by, comparable across parts; None when it has none."""

    def before(self, query: Query, weights: Mapping[str, float], score: float, name: str, id_: int) -> int:
        """How many other records that match come before one with this score, folded name and id."""

    def tally(self, query: Query, counts: Counts) -> None:
        """Add the records that match to facets in the making."""

    def ids(self, positions: NDArray[Any]) -> Ints:
        """Integer ids."""

    def dataset_ids(self, positions: NDArray[Any]) -> list[str]:
        """UUIDs as text."""

    def texts(self, column: str, positions: NDArray[Any]) -> list[str | None]:
        """A text column."""

    def fact(self, name: str, positions: NDArray[Any]) -> NDArray[Any]:
        """A number (NaN: not known) or a flag (-1: not known)."""

    def criterion(self, name: str, positions: NDArray[Any]) -> Floats:
        """One criterion."""


_HEX: Final = np.frombuffer(b"0123456789abcdef", np.uint8)
_DIGITS: Final = [place for place in range(36) if place not in (8, 13, 18, 23)]  # the others are hyphens


def uuid_texts(high: NDArray[np.uint64], low: NDArray[np.uint64]) -> list[str]:
    """UUIDs as text, from their halves."""
    halves = np.stack([high, low], axis=1).astype(">u8").view(np.uint8)
    digits = np.stack([halves >> 4, halves & 15], axis=2).reshape(len(high), 32)
    written = np.full((len(high), 36), ord("-"), np.uint8)
    written[:, _DIGITS] = _HEX[digits]
    whole = written.tobytes().decode("ascii")
    return [whole[start : start + 36] for start in range(0, len(whole), 36)]
