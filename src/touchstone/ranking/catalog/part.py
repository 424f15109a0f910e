"""The interface of the parts of a catalog. Each part contains a share of the records."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from touchstone.ranking.array_types import Floats, Ints
from touchstone.ranking.catalog.results import PartRanking, SortedWindow
from touchstone.ranking.query.facets import FacetCounter
from touchstone.ranking.query.predicates import Query
from touchstone.ranking.query.sort_order import PageRequest
from touchstone.ranking.text.query_words import QueryWord
from touchstone.ranking.text.relevance import WordStatistics
from touchstone.ranking.weighted_mean import WeightSets


class NameAndId(NamedTuple):
    """The tie-breaker for records with equal scores: the folded name, then the id."""

    folded_name: str
    id: int


class PartSearch(NamedTuple):
    """The data of one part for the relevance of records.

    Attributes:
        statistics: the statistics of all live and public records of the part.
        weights: for each word of the query, its weight in each record.
        lengths: the length of each record.
    """

    statistics: WordStatistics
    weights: Sequence[Ints]
    lengths: NDArray[Any]


class CatalogPart(Protocol):
    """Immutable records at the positions 0 to `span - 1`.

    Deleted records remain at their positions but never match.
    """

    @property
    def span(self) -> int:
        """The number of positions."""

    @property
    def size(self) -> int:
        """The number of live records."""

    def count(self, query: Query) -> int:
        """Return the number of live records that match."""

    def rank(self, query: Query, weights: Mapping[str, float], *, end: int | None, min_score: float) -> PartRanking:
        """Return the best `end` matches, or all matches if `end` is None.

        Matches with scores below `min_score` may be omitted.
        """

    def rank_by_sets(self, query: Query, sets: WeightSets, *, end: int) -> list[PartRanking]:
        """Return the best `end` matches for each set of weights."""

    def sort(self, query: Query, request: PageRequest) -> SortedWindow:
        """Return one page of the matches in the order of a column.

        Records without a value come last, and ties are sorted by id.
        """

    def sort_value(self, column: str, position: int) -> Any:
        """Return a sort value that is comparable across parts, such as a folded text, or None if there is none."""

    def count_facets(self, query: Query, counter: FacetCounter) -> None:
        """Add the facets of the matches to a counter."""

    def matching_positions(self, query: Query) -> Ints:
        """Return the ascending positions of the live records that match."""

    def find_position(self, dataset_id: int) -> int | None:
        """Return the position of the live record with an integer id, or None if there is none."""

    def count_before(self, name_and_id: NameAndId, positions: Ints) -> int:
        """Return the number of records at the given positions that precede a folded name and id alphabetically."""

    def search(self, query_words: Sequence[QueryWord], positions: Ints) -> PartSearch:
        """Return the data for the relevance of records that contain every word of a query.

        Args:
            query_words: the words of the query.
            positions: the ascending positions of the records.
        """

    def find_most_cited_by_name(self, prefixes: Sequence[str], query: Query, limit: int) -> Ints:
        """Return the positions of the `limit` most cited matches whose names have a word for each prefix.

        The most cited records come first, and ties are sorted by id.
        """

    def ids(self, positions: NDArray[Any]) -> Ints:
        """Return the integer ids of the records at the given positions."""

    def dataset_ids(self, positions: NDArray[Any]) -> list[str]:
        """Return the UUIDs of the records at the given positions as strings."""

    def texts(self, column: str, positions: NDArray[Any]) -> list[str | None]:
        """Return a text attribute of the records at the given positions, or None where it is unknown."""

    def folded_name(self, position: int) -> str:
        """Return the folded name of the record at a position."""

    def words(self, column: str, positions: NDArray[Any]) -> list[tuple[str, ...]]:
        """Return the folded words of the records at the given positions, or empty tuples where they are unknown."""

    def attribute(self, name: str, positions: NDArray[Any]) -> NDArray[Any]:
        """Return a number (NaN if unknown), a flag (-1 if unknown) or KNOWN_ETHICAL at the given positions."""

    def criterion(self, name: str, positions: NDArray[Any]) -> Floats:
        """Return a criterion of the records at the given positions."""

    def scores(self, positions: NDArray[Any], weights: Mapping[str, float]) -> Floats:
        """Return the scores of the records at the given positions."""

    def packed_levels(self, positions: NDArray[Any]) -> NDArray[np.uint64]:
        """Return the packed evidence levels of the records at the given positions, two bits for each attribute."""


def read_name_and_id(part: CatalogPart, position: int) -> NameAndId:
    """Return the folded name and the id of the record at a position of a part."""
    [id_] = part.ids(np.array([position])).tolist()
    return NameAndId(part.folded_name(position), id_)


_HEX_DIGITS: Final = np.frombuffer(b"0123456789abcdef", np.uint8)
_UUID_LENGTH: Final = 36
_HYPHENS: Final = (8, 13, 18, 23)
_DIGIT_COLUMNS: Final = [column for column in range(_UUID_LENGTH) if column not in _HYPHENS]


def format_uuids(high: NDArray[np.uint64], low: NDArray[np.uint64]) -> list[str]:
    """Format UUIDs, given as their high and low 64 bits, as strings with hyphens.

    Array operations format all of them at once, because `str(UUID(...))` is too slow for all records of a catalog.
    """
    uuid_count = len(high)
    uuid_bytes = np.stack([high, low], axis=1).astype(">u8").view(np.uint8)  # 16 bytes each, big-endian

    # Each byte has two hexadecimal digits, one for the upper and one for the lower four bits.
    digits = np.stack([uuid_bytes >> 4, uuid_bytes & 15], axis=2).reshape(uuid_count, 32)
    characters = np.full((uuid_count, _UUID_LENGTH), ord("-"), np.uint8)
    characters[:, _DIGIT_COLUMNS] = _HEX_DIGITS[digits]

    text = characters.tobytes().decode("ascii")
    return [text[start : start + _UUID_LENGTH] for start in range(0, len(text), _UUID_LENGTH)]
