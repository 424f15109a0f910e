"""Comparisons, lifts and unknown ranks, against rankings of changed catalogs and weights."""

import math
from collections.abc import Iterator, Mapping
from random import Random
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.ranking import by_hand
from tests.ranking.catalogs import known_at, row
from tests.ranking.catalogs import query as random_query
from tests.ranking.catalogs import weights as random_weights
from tests.ranking.test_ranking_view import catalog_row
from touchstone.core.attributes import ETHICAL, FLAGS
from touchstone.core.evidence import Assurance
from touchstone.core.text import fold
from touchstone.ranking.catalog.catalog import Catalog, Layout
from touchstone.ranking.catalog.view import View
from touchstone.ranking.columns.segment import CatalogRow
from touchstone.ranking.criteria import CRITERION_NAMES
from touchstone.ranking.reasons.comparison import PairComparison, compare_records, order_records
from touchstone.ranking.reasons.lifts import find_lifts
from touchstone.ranking.reasons.points import add_rounding_error, points_by_criterion
from touchstone.ranking.reasons.points_by_level import SupportedFacts, points_by_level
from touchstone.ranking.reasons.rank_lookup import RankLookup, find_possible_ranks

Weights = Mapping[str, float]


def views_of(rows: list[CatalogRow]) -> Iterator[View]:
    """Yield views of the same records: without an index, behind one, and half behind one and half in the tail."""
    yield Catalog.build(rows).view
    yield Catalog.build(rows, Layout(index_from=1, leaf_words=1)).view
    half_indexed = Catalog.build(rows[: len(rows) // 2], Layout(index_from=1, leaf_words=1))
    half_indexed.apply(upserts=rows[len(rows) // 2 :], deleted=())
    yield half_indexed.view


def _position(view: View, id_: int) -> int:
    position = view.find_position(id_)
    assert position is not None
    return position


def _with_values(record: CatalogRow, **values: Any) -> CatalogRow:
    """Return a copy of a record with some other values."""
    return msgspec.structs.replace(record, **values)


def _rank_by_hand(rows: list[CatalogRow], query: Any, weights: Weights, id_: int) -> int:
    """Return the rank of a record among those that match a query and itself."""
    matches = [record for record in by_hand.matching(rows, query) if record.id != id_]
    [subject] = [record for record in rows if record.id == id_]
    return [ranked_id for ranked_id, _ in by_hand.rank([*matches, subject], (), weights)].index(id_) + 1


# Comparisons


def _is_still_above(view: View, pair: PairComparison, weights: Weights) -> bool:
    """Return whether the upper record of a pair is above the lower one when the whole catalog is ranked."""
    positions = view.rank((), weights, skip=0, limit=None).positions.tolist()
    return bool(positions.index(pair.above) < positions.index(pair.below))


def _with_weight(weights: Weights, criterion: str, weight: float) -> dict[str, float]:
    return {**weights, criterion: weight}


def _confirm_reversing_weight(view: View, pair: PairComparison, weights: Weights, criterion: str) -> None:
    """Rank the whole catalog just below and just above the weight at which two records change places."""
    [difference] = [difference for difference in pair.differences if difference.criterion == criterion]
    assert difference.reversing_weight is not None
    direction = 1.0 if difference.above < difference.below else -1.0
    step = 1e-7 * max(sum(weights.values()), difference.reversing_weight)

    weight_beyond = max(0.0, difference.reversing_weight + direction * step)
    assert not _is_still_above(view, pair, _with_weight(weights, criterion, weight_beyond))
    weight_before = difference.reversing_weight - direction * step
    if (weight_before - difference.weight) * direction > 0:
        assert _is_still_above(view, pair, _with_weight(weights, criterion, weight_before))


def test_two_thousand_pairs_are_reversed_just_beyond_their_weight_and_not_just_before_it() -> None:
    """Each reported reversing weight is confirmed by two rankings of a whole catalog of sixty records.

    The change that is reported as the smallest is the smallest of all.
    """
    random = Random(12)
    rows = [row(random, id_) for id_ in range(1, 61)]
    view = next(views_of(rows))
    reversal_count = 0
    for _ in range(2000):
        weights = random_weights(random)
        positions = np.array([_position(view, id_) for id_ in random.sample(range(1, 61), 2)])
        [pair] = compare_records(view, order_records(view, positions, weights), weights)

        changes = {}
        for difference in pair.differences:
            if difference.reversing_weight is not None:
                _confirm_reversing_weight(view, pair, weights, difference.criterion)
                changes[difference.criterion] = abs(difference.reversing_weight - difference.weight)

        assert (pair.reversal is None) == (not changes)
        if pair.reversal:
            reversal_count += 1
            assert abs(pair.reversal.change) == min(changes.values()) == changes[pair.reversal.criterion]
    assert reversal_count > 1900


def test_no_weight_reverses_a_pair_if_none_is_reported() -> None:
    """A grid of weights for each criterion, from zero on, does not reverse the pair either."""
    random = Random(5)
    rows = [row(random, id_) for id_ in range(1, 61)]
    view = next(views_of(rows))
    checked_count = 0
    for _ in range(150):
        weights = random_weights(random)
        positions = np.array([_position(view, id_) for id_ in random.sample(range(1, 61), 2)])
        [pair] = compare_records(view, order_records(view, positions, weights), weights)
        for difference in pair.differences:
            if difference.reversing_weight is None:
                for factor in (0.0, 0.5, 0.9, 1.1, 2.0, 100.0):
                    changed_weights = _with_weight(weights, difference.criterion, factor * (difference.weight or 1.0))
                    if any(changed_weights.values()):
                        checked_count += 1
                        assert _is_still_above(view, pair, changed_weights)
    assert checked_count > 1000


def test_pairs_are_compared_in_the_order_of_the_ranking_and_their_points_add_up() -> None:
    """Five records give ten pairs; the difference of each pair in points adds up to the difference of its scores."""
    random = Random(8)
    rows = [row(random, id_) for id_ in range(1, 101)]
    for view in views_of(rows):
        for _ in range(8):
            weights = random_weights(random)
            ids = random.sample(range(1, 101), 5)
            order = order_records(view, np.array([_position(view, id_) for id_ in ids]), weights)
            ranked_ids = [id_ for id_, _ in by_hand.rank(rows, (), weights) if id_ in ids]
            assert view.ids(order).tolist() == ranked_ids

            pairs = compare_records(view, order, weights)
            assert len(pairs) == 10
            for pair in pairs:
                assert [difference.criterion for difference in pair.differences] == list(CRITERION_NAMES)
                assert pair.lead >= 0
                points = math.fsum(difference.points for difference in pair.differences)
                assert points == pytest.approx(pair.lead, abs=1e-12)


def test_the_points_of_every_record_add_up_to_its_score() -> None:
    """The sums are exact to 1e-12 in a whole catalog, for weights of any size."""
    random = Random(2)
    view = Catalog.build(row(random, id_) for id_ in range(1, 1001)).view
    for weights in (
        random_weights(random),
        random_weights(random),
        {"ethical_score": 1.7e308, "year": 1.7e308},
        {"year": 5e-324},
    ):
        window = view.rank((), weights, skip=0, limit=None)
        points = points_by_criterion(view.criterion_scores(window.positions), weights)
        sums = [math.fsum(record_points.values()) for record_points in points]
        assert sums == pytest.approx(window.scores.tolist(), abs=1e-12)


POINTS = st.floats(0, 1) | st.sampled_from([0.0, 0.1, 0.25, 1 / 3, 5e-324, 2.0**-53, 1 - 2.0**-53, 1.0])


@given(st.lists(st.tuples(POINTS, st.floats(5e-324, 1e300) | POINTS), min_size=1, max_size=12))
def test_corrected_points_add_up_to_the_score_exactly(terms: list[tuple[float, float]]) -> None:
    """Their sum, correctly rounded, is the score, for weights of any size; what adds nothing keeps its zero."""
    total_weight = sum(weight for _, weight in terms)
    assume(1e-290 < total_weight < math.inf)
    score = sum(value * weight for value, weight in terms) / total_weight
    points = [value * weight / total_weight for value, weight in terms]

    exact_points = add_rounding_error(points, score)
    assert math.fsum(exact_points) == score
    assert exact_points == pytest.approx(points, rel=0, abs=1e-14)
    largest = points.index(max(points))
    assert all(exact_points[index] == 0 for index, value in enumerate(points) if value == 0 and index != largest)


@pytest.mark.parametrize("seed", range(20))
def test_the_points_of_a_catalog_add_up_exactly(seed: int) -> None:
    """By criterion and by level of evidence, the sums are the scores to the last digit."""
    random = Random(seed)
    view = Catalog.build(row(random, id_) for id_ in range(1, 301)).view
    weights = {name: random.choice([0.0, random.random(), 10.0 ** random.randint(-12, 12)]) for name in CRITERION_NAMES}
    weights["year"] = random.random()
    window = view.rank((), weights, skip=0, limit=None)
    criterion_scores = view.criterion_scores(window.positions)
    supported = SupportedFacts.from_packed_levels(view.facts(window.positions), view.evidence_levels(window.positions))
    for points in (
        points_by_criterion(criterion_scores, weights),
        points_by_level(supported, criterion_scores, weights),
    ):
        assert [math.fsum(record_points.values()) for record_points in points] == window.scores.tolist()


def test_equal_scores_are_reversed_by_the_smallest_step() -> None:
    """Where only the name decides, a change of 0 is named, and any step in its direction reverses the pair."""
    view = Catalog.build(
        [catalog_row(1, dataset_name="A", transparency=True), catalog_row(2, dataset_name="B", citations=1000)]
    ).view
    weights = {"transparency": 0.5, "citations": 0.5}
    [pair] = compare_records(view, order_records(view, np.array([0, 1]), weights), weights)
    assert pair.lead == 0.0
    assert pair.reversal is not None
    assert pair.reversal.change == 0.0
    _confirm_reversing_weight(view, pair, weights, pair.reversal.criterion)


def test_records_with_equal_criteria_cannot_be_reversed() -> None:
    """No weight distinguishes them."""
    view = Catalog.build([catalog_row(1, year=2010), catalog_row(2, year=2010)]).view
    [pair] = compare_records(view, order_records(view, np.array([0, 1]), {"year": 1.0}), {"year": 1.0})
    assert pair.reversal is None


def test_a_weight_that_would_have_to_be_negative_reverses_nothing() -> None:
    """The upper record is better in the only criterion that has a weight, and no worse in any other."""
    view = Catalog.build([catalog_row(1, transparency=True), catalog_row(2)]).view
    [pair] = compare_records(view, order_records(view, np.array([0, 1]), {"year": 1.0}), {"transparency": 1.0})
    assert pair.reversal is None


def test_a_reversing_weight_of_zero_is_exactly_zero() -> None:
    """Where the weights 0.1 + 0.2 outweigh 0.3 by a rounding error alone, the remaining weight has to fall to 0."""
    upper_flags = {"transparency": True, "metadata_provided_with_dataset": True}
    lower_flags = {"informed_consent": True, "anonymization_applied": True}
    view = Catalog.build([catalog_row(1, **upper_flags), catalog_row(2, **lower_flags)]).view
    weights = {"transparency": 0.2, "documentation": 0.3, "informed_consent": 0.1, "anonymization": 0.2}
    [pair] = compare_records(view, order_records(view, np.array([0, 1]), weights), weights)
    [difference] = [difference for difference in pair.differences if difference.criterion == "transparency"]
    assert difference.reversing_weight == 0.0
    assert not _is_still_above(view, pair, _with_weight(weights, "transparency", 0.0))


def test_huge_weights_are_compared_without_overflow() -> None:
    """The sum of the weights exceeds the largest float, and the reversing weight is still exact."""
    view = Catalog.build([catalog_row(1, transparency=True, citations=10), catalog_row(2, citations=1000)]).view
    small_weights = {"transparency": 1.0, "citations": 1.0}
    huge_weights = {name: weight * 2.0**1023 for name, weight in small_weights.items()}
    reversals = []
    for weights in (small_weights, huge_weights):
        [pair] = compare_records(view, order_records(view, np.array([0, 1]), weights), weights)
        assert pair.reversal is not None
        reversals.append(pair.reversal)
    assert reversals[1].criterion == reversals[0].criterion
    assert reversals[1].weight == reversals[0].weight * 2.0**1023


# Ranks


@pytest.mark.parametrize("seed", range(6))
def test_a_rank_is_looked_up_for_any_score(seed: int) -> None:
    """The rank is that among the matching records and the record itself, with and without an index."""
    random = Random(seed)
    rows = [row(random, id_) for id_ in range(1, 81)]
    for view in views_of(rows):
        weights, query = random_weights(random), random_query(random)
        lookup = RankLookup.for_query(view, query, weights)
        assert len(lookup) == len(by_hand.matching(rows, query))
        for record in random.sample(rows, 12):
            position = _position(view, record.id)
            rank = lookup.rank_of(position, by_hand.score(record, weights))
            assert rank == _rank_by_hand(rows, query, weights, record.id)
            assert lookup.contains(position) == bool(by_hand.matching([record], query))


@pytest.mark.parametrize("seed", range(4))
def test_unknown_ethical_attributes_allow_a_range_of_ranks(seed: int) -> None:
    """The ends of the range are the ranks in catalogs whose unknown attributes were filled in accordingly."""
    random = Random(seed)
    rows = [row(random, id_) for id_ in range(1, 61)]
    for view in views_of(rows):
        weights, query = random_weights(random), random_query(random)
        subjects = random.sample(rows, 8)
        positions = np.array([_position(view, record.id) for record in subjects])
        ranges = find_possible_ranks(view, query, weights, positions)

        for subject, rank_range in zip(subjects, ranges, strict=True):
            matches = [record for record in by_hand.matching(rows, query) if record.id != subject.id]
            best_case = [*matches, _with_unknowns_true(subject)]
            worst_case = [*map(_with_unknowns_true, matches), subject]
            assert _rank_by_hand(best_case, (), weights, subject.id) == rank_range.best
            assert _rank_by_hand(worst_case, (), weights, subject.id) == rank_range.worst
            assert rank_range.best <= rank_range.worst


def _with_unknowns_true(record: CatalogRow) -> CatalogRow:
    return _with_values(record, **{name: True for name in ETHICAL if getattr(record, name) is None})


# Lifts


def _best_value(flag: str) -> bool:
    """Return the value of a flag that raises scores."""
    return flag != "has_missing_values"


@pytest.mark.parametrize("seed", range(4))
def test_a_lift_is_what_ranking_the_changed_record_gives(seed: int) -> None:
    """Every flag without its best value is listed, with the score and rank that this value would give the record."""
    random = Random(seed)
    rows = [row(random, id_) for id_ in range(1, 61)]
    for view in views_of(rows):
        weights, query = random_weights(random), random_query(random)
        [subject] = random.sample(rows, 1)
        report = find_lifts(view, query, weights, _position(view, subject.id))

        assert report.rank == _rank_by_hand(rows, query, weights, subject.id)
        assert report.matches == bool(by_hand.matching([subject], query))
        matches = [record for record in by_hand.matching(rows, query) if record.id != subject.id]
        assert report.total_count == len(matches) + report.matches
        assert {lift.attribute for lift in report.lifts} == {
            flag for flag in FLAGS if getattr(subject, flag) is not _best_value(flag)
        }
        assert [lift.gain for lift in report.lifts] == sorted((lift.gain for lift in report.lifts), reverse=True)

        for lift in report.lifts:
            changed_record = _with_values(subject, **{lift.attribute: lift.value})
            assert lift.value is _best_value(lift.attribute)
            assert lift.current is getattr(subject, lift.attribute)
            assert lift.score == by_hand.score(changed_record, weights)
            assert lift.gain == lift.score - report.score
            assert lift.rank == _rank_by_hand([*matches, changed_record], (), weights, subject.id)
            assert lift.criteria == tuple(
                name
                for name in CRITERION_NAMES
                if weights.get(name) and by_hand.CRITERIA[name](changed_record) > by_hand.CRITERIA[name](subject)
            )


@pytest.mark.parametrize("seed", range(8))
def test_the_smallest_set_reaches_the_rank_and_no_smaller_one_does(seed: int) -> None:
    """All sets of flags are tried one by one."""
    random = Random(seed)
    rows = [row(random, id_) for id_ in range(1, 41)]
    view = next(views_of(rows))
    weights = random_weights(random)
    ranked_ids = [id_ for id_, _ in by_hand.rank(rows, (), weights)]
    subject_id = ranked_ids[20]
    [subject] = [record for record in rows if record.id == subject_id]
    other_records = [record for record in rows if record.id != subject_id]
    flags = [flag for flag in FLAGS if getattr(subject, flag) is not _best_value(flag)]

    ranks_by_size: dict[int, int] = {}
    for number in range(2 ** len(flags)):
        chosen_flags = [flag for bit, flag in enumerate(flags) if number >> bit & 1]
        changed_record = _with_values(subject, **{flag: _best_value(flag) for flag in chosen_flags})
        key = (-by_hand.score(changed_record, weights), fold(changed_record.dataset_name), changed_record.id)
        if number == 0:
            other_keys = [
                (-by_hand.score(record, weights), fold(record.dataset_name), record.id) for record in other_records
            ]
        rank = 1 + sum(other_key < key for other_key in other_keys)
        ranks_by_size[len(chosen_flags)] = min(rank, ranks_by_size.get(len(chosen_flags), 100))

    for target_rank in (1, 3, 10, 21, 40):
        report = find_lifts(view, (), weights, _position(view, subject_id), target_rank)
        sizes = [size for size, rank in ranks_by_size.items() if rank <= target_rank]
        if not sizes:
            assert report.smallest_set is None
            assert report.all_established.rank > target_rank
            continue
        assert report.smallest_set is not None
        assert len(report.smallest_set.attributes) == min(sizes)
        assert report.smallest_set.rank == ranks_by_size[min(sizes)]


def test_a_lift_is_about_what_is_known_at_the_assurance() -> None:
    """What is merely declared is not known at a stricter assurance, and the lift says that it is declared."""
    random = Random(4)
    rows = [row(random, id_) for id_ in range(1, 16)]
    view = Catalog.build(rows).view.at(Assurance.DOCUMENTED)
    documented_rows = [known_at(record, Assurance.DOCUMENTED) for record in rows]
    weights = {"ethical_score": 1.0, "transparency": 0.5}
    for record, documented_row in zip(rows, documented_rows, strict=True):
        report = find_lifts(view, (), weights, _position(view, record.id))
        assert report.score == by_hand.score(documented_row, weights)
        for lift in report.lifts:
            assert lift.current is getattr(documented_row, lift.attribute)
            assert lift.declared is getattr(record, lift.attribute)
