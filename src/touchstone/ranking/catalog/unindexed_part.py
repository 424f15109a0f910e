"""Records without an index: every query looks at all of them, column by column. Small catalogs, and what is fresh."""

from collections.abc import Mapping
from typing import Any, Final
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from touchstone.core.attributes import FLAGS
from touchstone.ranking.catalog.part import Listed, Window, uuid_texts
from touchstone.ranking.columns.segment import Decoded, Segment
from touchstone.ranking.criteria import COMPOSITES, Bools, Floats, Ints
from touchstone.ranking.query.facets import Counts, count_segment
from touchstone.ranking.query.predicate_evaluation import matching
from touchstone.ranking.query.predicates import Query
from touchstone.ranking.query.sort_order import ascending, smallest, sort_values
from touchstone.ranking.weighted_score import SLACK, scores, shares

_NOTHING: Final = Window(np.empty(0, np.int64), np.empty(0), "gather")


class Flat:
    """A segment and which of its records are alive."""

    def __init__(self, segment: Segment, alive: Bools) -> None:
        self._segment, self._alive = segment, alive
        self.span = segment.size
        self.size = int(np.count_nonzero(alive))

    def find(self, id_: int) -> int | None:
        """The position of the live record with an id."""
        return self._only(self._segment.columns["id"] == id_)

    def find_uuid(self, dataset_id: UUID) -> int | None:
        """The position of the live record with a UUID."""
        columns, number = self._segment.columns, dataset_id.int
        low = columns["uuid_low"] == np.uint64(number & (2**64 - 1))
        return self._only(low & (columns["uuid_high"] == np.uint64(number >> 64)))

    def _only(self, found: Bools) -> int | None:
        positions = np.flatnonzero(found & self._alive)
        return int(positions[0]) if len(positions) else None

    def _matching(self, query: Query) -> Ints:
        return np.flatnonzero(matching(self._segment, query, self._alive))

    def count(self, query: Query) -> int:
        """How many live records match."""
        return int(np.count_nonzero(matching(self._segment, query, self._alive)))

    def matches(self, query: Query, position: int) -> bool:
        """Whether the live record at a position matches."""
        return len(self._among(np.array([position]), query)) > 0

    def _among(self, positions: Ints, query: Query) -> Ints:
        """Those of a few positions that match: only these records are looked at."""
        alone = self._segment.at(positions)
        return positions[matching(alone, query, self._alive[positions])]

    def rank(self, query: Query, weights: Mapping[str, float], end: int | None, floor: float) -> Window:
        """The best records by score, folded name, id; a floor is looked at before the query."""
        if floor > 0.0:
            rough, least = shares(weights) @ self._segment.rough, np.float32(floor - SLACK)
            if rough.max() < least:  # the usual end, a third of the way to knowing which ones
                return _NOTHING
            positions = self._among(np.flatnonzero(rough >= least), query)
        else:
            positions = self._matching(query)
        found = scores(self._segment, positions, weights)
        names, ids = self._segment.name_order(positions), self._segment.columns["id"][positions]
        chosen = smallest((-found, names, ids), 0, end)
        plan = "full order" if end is None else "gather"
        return Window(positions[chosen], found[chosen], plan)

    def ordered(self, query: Query, column: str, *, descending: bool, skip: int, limit: int | None) -> Listed:
        """Positions by a sort column, those without a value last, then by id."""
        positions = self._matching(query)
        keys = [ascending(values[positions], descending) for values in sort_values(self._segment, column)]
        keys.append(self._segment.columns["id"][positions])
        return Listed(positions[smallest(keys, skip, limit)], len(positions))

    def sort_key(self, column: str, position: int) -> Any:
        """The value that a record is sorted by."""
        segment = self._segment
        if column == "dataset_id":
            return segment.dataset_id(position).int
        if column in COMPOSITES:
            return float(segment.criteria[column][position])
        value = segment.columns[column][position].item()
        if column in segment.vocabularies:
            return segment.vocabularies[column].folded[value]
        unknown = value != value or (column in FLAGS and value < 0)
        return None if unknown else value

    def before(self, query: Query, weights: Mapping[str, float], score: float, name: str, id_: int) -> int:
        """How many records other than the one with this id come before a score, folded name and id."""
        positions = self._matching(query)
        positions = positions[self._segment.columns["id"][positions] != id_]
        found = scores(self._segment, positions, weights)
        tied = positions[found == score].tolist()
        earlier = sum(self._name_and_id(position) < (name, id_) for position in tied)
        return int(np.count_nonzero(found > score)) + earlier

    def _name_and_id(self, position: int) -> tuple[str, int]:
        columns, names = self._segment.columns, self._segment.vocabularies["dataset_name"].folded
        return names[columns["dataset_name"][position]], int(columns["id"][position])

    def tally(self, query: Query, counts: Counts) -> None:
        """Add the records that match to facets in the making."""
        count_segment(counts, self._segment, self._matching(query))

    def ids(self, positions: NDArray[Any]) -> Ints:
        """Integer ids."""
        return np.asarray(self._segment.columns["id"][positions])

    def dataset_ids(self, positions: NDArray[Any]) -> list[str]:
        """UUIDs as text."""
        columns = self._segment.columns
        return uuid_texts(columns["uuid_high"][positions], columns["uuid_low"][positions])

    def texts(self, column: str, positions: NDArray[Any]) -> list[str | None]:
        """A text column."""
        values = self._segment.vocabularies[column].values
        return [values[code] for code in self._segment.columns[column][positions].tolist()]

    def fact(self, name: str, positions: NDArray[Any]) -> NDArray[Any]:
        """A number or a flag."""
        return np.asarray(self._segment.columns[name][positions])

    def criterion(self, name: str, positions: NDArray[Any]) -> Floats:
        """One criterion."""
        return np.asarray(self._segment.criteria[name][positions])

    def decoded(self) -> Decoded:
        """The live records, for another layout."""
        columns = {name: values[self._alive] for name, values in self._segment.columns.items()}
        return Decoded(columns, {name: known.values for name, known in self._segment.vocabularies.items()})
