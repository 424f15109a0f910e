"""Records without an index, which every query scans: a small catalog, or the tail of a large one."""

from collections.abc import Mapping, Sequence
from functools import cached_property, reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from touchstone.core.attributes import FLAGS
from touchstone.core.evidence import Assurance
from touchstone.ranking.array_types import Bools, Floats, Ints
from touchstone.ranking.catalog.part import NameAndId, PartSearch, format_uuids
from touchstone.ranking.catalog.repeated_rankings import MatchingRecords, rank_gathered_by_sets
from touchstone.ranking.catalog.results import NO_MATCHES, PartRanking, SortedWindow
from touchstone.ranking.catalog.ties import count_in_unordered
from touchstone.ranking.columns.segment import DecodedColumns, Segment
from touchstone.ranking.criteria import COMPOSITES, CRITERION_NAMES
from touchstone.ranking.kernels.constants import FLOAT32_TOLERANCE
from touchstone.ranking.query.facets import FacetCounter, count_segment
from touchstone.ranking.query.predicate_evaluation import evaluate_query
from touchstone.ranking.query.predicates import Query, Visible, group_by_assurance
from touchstone.ranking.query.sort_order import PageRequest, select_window, sort_values, to_ascending
from touchstone.ranking.text.query_words import QueryWord
from touchstone.ranking.text.record_words import DecodedWords
from touchstone.ranking.text.relevance import count_words
from touchstone.ranking.weighted_mean import WeightSets, score_segment, weight_shares


class UnindexedPart:
    """A segment with a mask of its live records."""

    def __init__(self, segment: Segment, alive: Bools, declared: "UnindexedPart | None" = None) -> None:
        """Combine a segment with its live records.

        Args:
            segment: the segment.
            alive: a mask of the live records.
            declared: the same part at the assurance `declared`, or None for this part itself.
        """
        self._segment = segment
        self._alive = alive
        # The part at `declared` has no reference to itself, because its large arrays would then not be freed before the
        # next garbage collection.
        self._declared_part = declared
        self.is_searchable = segment.words is not None
        self.span = segment.size
        self.size = int(np.count_nonzero(alive))
        self._parts_by_assurance: dict[Assurance, UnindexedPart] = {}

    def at(self, assurance: Assurance) -> "UnindexedPart":
        """Return the same records at an assurance."""
        declared = self._declared_part or self
        if assurance is Assurance.DECLARED:
            return declared

        part = declared._parts_by_assurance.get(assurance)
        if part is None:
            part = UnindexedPart(declared._segment.at(assurance), self._alive, declared)
            declared._parts_by_assurance[assurance] = part
        return part

    def _evaluate(self, query: Query, positions: Ints | None = None) -> Bools:
        """Return a mask of the records at the given positions, or of all records for None, that are alive and match."""
        matches = self._alive if positions is None else self._alive[positions]
        for assurance, predicates in group_by_assurance(query, self._segment.assurance).items():
            segment = self.at(assurance)._segment
            records = segment if positions is None else segment.take(positions)
            matches = evaluate_query(records, predicates, matches)
        return matches

    def count(self, query: Query) -> int:
        """Return the number of live records that match."""
        return int(np.count_nonzero(self._evaluate(query)))

    def rank(self, query: Query, weights: Mapping[str, float], *, end: int | None, min_score: float) -> PartRanking:
        """Return the best `end` matches, or all matches if `end` is None.

        Matches with scores below `min_score` may be omitted. With a minimum score, a quick estimate rules out most
        records before the query is evaluated.
        """
        if min_score > 0.0:
            candidates = self._find_candidates(weights, min_score)
            if not len(candidates):
                return NO_MATCHES
            positions = candidates[self._evaluate(query, candidates)]
        else:
            positions = self.matching_positions(query)

        scores = score_segment(self._segment, positions, weights)
        name_ranks = self._segment.name_ranks(positions)
        ids = self._segment.columns["id"][positions]
        best = select_window((-scores, name_ranks, ids), skip=0, limit=end)
        plan = "full order" if end is None else "gather"
        return PartRanking(positions[best], scores[best], plan, count_in_unordered(scores))

    def rank_by_sets(self, query: Query, sets: WeightSets, *, end: int) -> list[PartRanking]:
        """Return the best `end` matches for each set of weights."""
        positions = self.matching_positions(query)
        criteria = {name: self.criterion(name, positions) for name in sets.names}
        tie_keys = (self._segment.name_ranks(positions), self._segment.columns["id"][positions])
        return rank_gathered_by_sets(MatchingRecords(positions, criteria, tie_keys), sets, end)

    def _find_candidates(self, weights: Mapping[str, float], min_score: float) -> Ints:
        """Return the positions of the records that may reach a minimum score according to float32 estimates."""
        estimates = weight_shares(weights) @ self._criteria_float32
        threshold = np.float32(min_score - FLOAT32_TOLERANCE)

        # Usually no record reaches the threshold, and `max` is three times as fast as `flatnonzero`.
        if estimates.max() < threshold:
            return np.empty(0, np.int64)
        return np.flatnonzero(estimates >= threshold)

    @cached_property
    def _criteria_float32(self) -> NDArray[np.float32]:
        """The criteria in float32 as a matrix with one row for each criterion."""
        segment = self._segment
        if segment.criteria_float32.size:
            return segment.criteria_float32
        return np.stack([segment.criteria[name].astype(np.float32) for name in CRITERION_NAMES])

    def sort(self, query: Query, request: PageRequest) -> SortedWindow:
        """Return one page of the matches in the order of a column.

        Records without a value come last, and ties are sorted by id.
        """
        positions = self.matching_positions(query)
        values_by_key = sort_values(self._segment, request.column)
        keys = [to_ascending(values[positions], request.descending) for values in values_by_key]
        keys.append(self._segment.columns["id"][positions])

        if request.is_before is None:
            page = positions[select_window(keys, request.skip, request.limit)]
        else:
            sorted_positions = positions[np.lexsort(keys[::-1])]
            start = request.first_index(sorted_positions) + request.skip
            page = sorted_positions[start:][: request.limit]
        return SortedWindow(page, total_count=len(positions))

    def matching_positions(self, query: Query) -> Ints:
        """Return the ascending positions of the live records that match."""
        return np.flatnonzero(self._evaluate(query))

    def find_position(self, dataset_id: int) -> int | None:
        """Return the position of the live record with an integer id, or None if there is none."""
        has_id = self._alive & (self._segment.columns["id"] == dataset_id)
        positions = np.flatnonzero(has_id)
        return int(positions[0]) if len(positions) else None

    def count_before(self, name_and_id: NameAndId, positions: Ints) -> int:
        """Return the number of records at the given positions that precede a folded name and id alphabetically."""
        name_codes = self._segment.columns["dataset_name"][positions]
        names = self._segment.vocabularies["dataset_name"]

        is_before = names.match_codes(name_codes, lambda name: name < name_and_id.folded_name)
        has_same_name = names.match_codes(name_codes, lambda name: name == name_and_id.folded_name)
        has_lower_id = self._segment.columns["id"][positions] < name_and_id.id
        return int(np.count_nonzero(is_before | (has_same_name & has_lower_id)))

    def search(self, query_words: Sequence[QueryWord], positions: Ints) -> PartSearch:
        """Return the data for the relevance of records that contain every word of a query."""
        words = self._segment.words
        assert words is not None
        matches = tuple(map(words.find, query_words))
        lengths = words.lengths()
        is_public = self._evaluate((Visible(None),))

        weights = [word_matches.weights_at(positions) for word_matches in matches]
        return PartSearch(count_words(matches, lengths, is_public), weights, lengths[positions])

    def find_most_cited_by_name(self, prefixes: Sequence[str], query: Query, limit: int) -> Ints:
        """Return the positions of the `limit` most cited matches whose names have a word for each prefix."""
        assert self._segment.words is not None
        positions = reduce(np.intersect1d, map(self._segment.words.find_name_prefix, prefixes))
        positions = positions[self._evaluate(query, positions)]

        keys = (-self.criterion("popularity_score", positions), self.ids(positions))
        return np.asarray(positions[select_window(keys, skip=0, limit=limit)])

    def sort_value(self, column: str, position: int) -> Any:
        """Return a sort value that is comparable across parts, such as a folded text, or None if there is none."""
        segment = self._segment
        if column == "dataset_id":
            return segment.dataset_id(position).int
        if column in COMPOSITES:
            return float(segment.criteria[column][position])

        value = segment.columns[column][position].item()
        if column in segment.vocabularies:
            return segment.vocabularies[column].folded[value]

        is_unknown = np.isnan(value) or (column in FLAGS and value < 0)
        return None if is_unknown else value

    def count_facets(self, query: Query, counter: FacetCounter) -> None:
        """Add the facets of the matches to a counter."""
        count_segment(counter, self._segment, self.matching_positions(query))

    def ids(self, positions: NDArray[Any]) -> Ints:
        """Return the integer ids of the records at the given positions."""
        return np.asarray(self._segment.columns["id"][positions])

    def dataset_ids(self, positions: NDArray[Any]) -> list[str]:
        """Return the UUIDs of the records at the given positions as strings."""
        columns = self._segment.columns
        return format_uuids(columns["uuid_high"][positions], columns["uuid_low"][positions])

    def texts(self, column: str, positions: NDArray[Any]) -> list[str | None]:
        """Return a text attribute of the records at the given positions, or None where it is unknown."""
        values = self._segment.vocabularies[column].values
        return [values[code] for code in self._segment.columns[column][positions].tolist()]

    def folded_name(self, position: int) -> str:
        """Return the folded name of the record at a position."""
        names = self._segment.vocabularies["dataset_name"]
        folded_name: str | None = names.folded[int(self._segment.columns["dataset_name"][position])]
        return folded_name or ""

    def words(self, column: str, positions: NDArray[Any]) -> list[tuple[str, ...]]:
        """Return the folded words of the records at the given positions, or empty tuples where they are unknown."""
        folded_lists = self._segment.vocabularies[column].folded
        return [folded_lists[code] or () for code in self._segment.columns[column][positions].tolist()]

    def attribute(self, name: str, positions: NDArray[Any]) -> NDArray[Any]:
        """Return a number (NaN if unknown), a flag (-1 if unknown) or KNOWN_ETHICAL at the given positions."""
        return np.asarray(self._segment.columns[name][positions])

    def criterion(self, name: str, positions: NDArray[Any]) -> Floats:
        """Return a criterion of the records at the given positions."""
        return np.asarray(self._segment.criteria[name][positions])

    def scores(self, positions: NDArray[Any], weights: Mapping[str, float]) -> Floats:
        """Return the scores of the records at the given positions."""
        return score_segment(self._segment, positions, weights)

    def packed_levels(self, positions: NDArray[Any]) -> NDArray[np.uint64]:
        """Return the packed evidence levels of the records at the given positions, two bits for each attribute."""
        return self._segment.evidence.packed_levels(self._segment.assurance).at(positions)

    def decode(self) -> DecodedColumns:
        """Return the live records, for example to build a new index from them."""
        columns = {name: values[self._alive] for name, values in self._segment.columns.items()}
        values = {name: vocabulary.values for name, vocabulary in self._segment.vocabularies.items()}

        # The new position of a live record is the number of live records before it.
        evidence = self._segment.evidence
        is_alive = self._alive[evidence.positions]
        new_positions = np.cumsum(self._alive)[evidence.positions] - 1

        return DecodedColumns(columns, values, evidence.select(is_alive, new_positions[is_alive]))

    def decode_words(self) -> DecodedWords | None:
        """Return the words of the live records in the same order, or None if they are not searchable."""
        words = self._segment.words
        return words.decode(np.flatnonzero(self._alive)) if words else None
