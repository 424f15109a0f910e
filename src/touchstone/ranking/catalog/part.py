"""The parts that a catalog consists of: each holds some records and answers the same questions about them."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from touchstone.core.text import fold
from touchstone.ranking.array_types import Floats, Ints
from touchstone.ranking.catalog.results import PartRanking, SortedWindow
from touchstone.ranking.query.facets import FacetCounter
from touchstone.ranking.query.predicates import Query
from touchstone.ranking.query.sort_order import PageRequest
from touchstone.ranking.text.query_words import QueryWord
from touchstone.ranking.text.relevance import WordStatistics
from touchstone.ranking.weighted_mean import WeightSets


class NameAndId(NamedTuple):
    """What decides between equal scores: the folded name of a record, then its id."""

    folded_name: str
    id: int


class PartSearch(NamedTuple):
    """The words of a query in some records of one part.

    Attributes:
        statistics: What there is in the whole part, among its live and public records.
        weights: For each word its weight in each of the records.
        lengths: The length of each of the records.
    """

    statistics: WordStatistics
    weights: Sequence[Ints]
    lengths: NDArray[Any]


class CatalogPart(Protocol):
    """Some records that never change, at positions from 0 to `span - 1`, of which `size` are alive."""

    @property
    def span(self) -> int:
        """How many positions there are."""

    @property
    def size(self) -> int:
        """How many records are alive."""

    def count(self, query: Query) -> int:
        """Return how many live records match."""

    def rank(self, query: Query, weights: Mapping[str, float], *, end: int | None, min_score: float) -> PartRanking:
        """Return the best `end` records that match, or all for None; scores below `min_score` may be left out."""

    def rank_by_sets(self, query: Query, sets: WeightSets, *, end: int) -> list[PartRanking]:
        """Return the best `end` records that match for each of several sets of weights."""

    def sort(self, query: Query, request: PageRequest) -> SortedWindow:
        """Return a page of the records that match by a sort column, those without a value last, then by id."""

    def sort_value(self, column: str, position: int) -> Any:
        """Return what a record is sorted by, comparable with records of other parts; None if it has no value."""

    def count_facets(self, query: Query, counter: FacetCounter) -> None:
        """Add the records that match to a counter of facets."""

    def matching_positions(self, query: Query) -> Ints:
        """Return the positions of the live records that match, ascending."""

    def find_position(self, dataset_id: int) -> int | None:
        """Return the position of the live record with an integer id; None if there is none."""

    def count_before(self, name_and_id: NameAndId, positions: Ints) -> int:
        """Return how many of the records at some positions come before a folded name and an id in the alphabet."""

    def search(self, query_words: Sequence[QueryWord], positions: Ints) -> PartSearch:
        """Return what the relevance of some records depends on, which contain every word of a query.

        Their positions are in ascending order.
        """

    def most_cited_names(self, prefixes: Sequence[str], query: Query, limit: int) -> Ints:
        """Return the first `limit` records that match and whose names have a word for each of some prefixes.

        Returns their positions, the most cited records first, ties by id.
        """

    def ids(self, positions: NDArray[Any]) -> Ints:
        """Return the integer ids of the records at some positions."""

    def dataset_ids(self, positions: NDArray[Any]) -> list[str]:
        """Return the UUIDs of the records at some positions, as text."""

    def texts(self, column: str, positions: NDArray[Any]) -> list[str | None]:
        """Return a text attribute of the records at some positions (None: not known)."""

    def words(self, column: str, positions: NDArray[Any]) -> list[tuple[str, ...]]:
        """Return the words of the records at some positions, as they are compared; no words if none is known."""

    def fact(self, name: str, positions: NDArray[Any]) -> NDArray[Any]:
        """Return a number (NaN: not known), a flag (-1: not known) or KNOWN_ETHICAL of some records."""

    def criterion(self, name: str, positions: NDArray[Any]) -> Floats:
        """Return the value of a criterion for the records at some positions."""

    def scores(self, positions: NDArray[Any], weights: Mapping[str, float]) -> Floats:
        """Return the scores of the records at some positions."""

    def packed_levels(self, positions: NDArray[Any]) -> NDArray[np.uint64]:
        """Return the levels of the evidence about the records at some positions, two bits for each attribute."""


def read_name_and_id(part: CatalogPart, position: int) -> NameAndId:
    """Return the folded name and the id of the record at a position of a part."""
    positions = np.array([position])
    [name] = part.texts("dataset_name", positions)
    [id_] = part.ids(positions).tolist()
    return NameAndId(fold(name or ""), id_)


_HEX_DIGITS: Final = np.frombuffer(b"0123456789abcdef", np.uint8)
_UUID_LENGTH: Final = 36
_HYPHENS: Final = (8, 13, 18, 23)
_DIGIT_COLUMNS: Final = [column for column in range(_UUID_LENGTH) if column not in _HYPHENS]


def format_uuids(high: NDArray[np.uint64], low: NDArray[np.uint64]) -> list[str]:
    """Return UUIDs, given as their high and low 64 bits, as text with hyphens.

    All of them are formatted at once, because `str(UUID(...))` would take too long for all records of a catalog.
    """
    uuid_count = len(high)
    uuid_bytes = np.stack([high, low], axis=1).astype(">u8").view(np.uint8)  # 16 bytes each, the highest first

    # Each byte is written as two hexadecimal digits: one for its upper, and one for its lower four bits.
    digits = np.stack([uuid_bytes >> 4, uuid_bytes & 15], axis=2).reshape(uuid_count, 32)
    characters = np.full((uuid_count, _UUID_LENGTH), ord("-"), np.uint8)
    characters[:, _DIGIT_COLUMNS] = _HEX_DIGITS[digits]

    text = characters.tobytes().decode("ascii")
    return [text[start : start + _UUID_LENGTH] for start in range(0, len(text), _UUID_LENGTH)]
