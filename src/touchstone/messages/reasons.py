"""Sentences that explain a ranking, made to be quoted: in French and English, and the same wherever they are shown.

There is one function for each question that a reader may ask:

- `rank_sentence`: why does this dataset have its rank?
- `comparison_sentence`: why does one dataset rank above another?
- `stability_sentence`: would the dataset keep its rank if the weights were slightly different?
- `target_rank_sentence`: what would have to be established about the dataset for it to reach a better rank?
- `rank_range_sentence`: which ranks can the dataset have, depending on what is still unknown?

Each function has the facts of its sentence as an argument and looks nothing up. A sentence consists of clauses, whose
wording is in `REASON_PHRASES`. Every clause after the first starts with its own punctuation, so that clauses are simply
put one after the other.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from touchstone.messages.locales import Text
from touchstone.messages.numbers import (
    format_distinguishably,
    format_lower_bound,
    format_ordinal,
    format_percentage,
    format_points,
    format_signed,
    format_significant,
    format_upper_bound,
    format_with_limit,
)
from touchstone.messages.reason_phrases import enumeration, in_language, phrase, quoted

_MAX_NAMED_CRITERIA: Final = 3
_ETHICAL_ATTRIBUTE_COUNT: Final = 10
_ROBUST_SHARE: Final = 0.9  # a dataset is robust if it stays among the first in so many of the samples
_RANKS_KNOWN_PER_K: Final = 10  # ranks beyond this multiple of k are not determined
_ROUNDING_ERROR: Final = 1e-12  # points and, relative to their size, scores that differ by less are equal


@dataclass(frozen=True, slots=True)
class LabeledPoints:
    """The points of one criterion: what it adds to a score, or to the difference of two scores.

    Attributes:
        label: the name of the criterion in French and in English.
    """

    label: Text
    points: float


@dataclass(frozen=True, slots=True)
class RankFacts:
    """Why a dataset has its rank.

    Attributes:
        place: 1 plus the number of datasets with a higher score, so that datasets with the same score share a place.
        tied_with: how many other datasets have the same score.
        total_count: how many datasets are ranked.
        points: what each weighted criterion adds to the score.
        unknown: the labels of the weighted criteria about which nothing is known.
        known: how many of the ten ethical attributes are known; None if they have no weight in this ranking.
        highest_score: the score if everything unknown were as favourable as possible; None if it was not determined.
    """

    name: str
    place: int
    tied_with: int
    total_count: int
    score: float
    points: Sequence[LabeledPoints]
    unknown: Sequence[Text] = ()
    known: int | None = None
    highest_score: float | None = None


@dataclass(frozen=True, slots=True)
class WeightChange:
    """A change of the weight of one criterion that reverses the order of two datasets.

    At `reversing_weight`, both have the same score; beyond it, the lower one ranks above the other.
    """

    label: Text
    weight: float
    reversing_weight: float


@dataclass(frozen=True, slots=True)
class ComparisonFacts:
    """Why one dataset ranks above another.

    Attributes:
        above, below: the names of the two datasets.
        differences: the points of the upper dataset minus the points of the lower one, for each criterion.
        reversal: the smallest change of a single weight that reverses the order; None if there is none.
    """

    above: str
    below: str
    above_score: float
    below_score: float
    differences: Sequence[LabeledPoints]
    reversal: WeightChange | None


@dataclass(frozen=True, slots=True)
class StabilityFacts:
    """Which ranks one of the first k datasets has when the ranking is repeated with slightly different weights.

    Attributes:
        total_count: how many datasets are ranked.
        samples: how many times the ranking was repeated, each time with other weights.
        spread: by which share a weight was raised or lowered at most.
        share: the share of these samples in which the dataset is among the first k.
        best_place, worst_place: the extremes of its ranks in the samples, where datasets with the same score share one;
            None where they are beyond 10 k.
        overtaken_by: the name of the closest dataset that overtakes it in any sample; None if none does.
    """

    name: str
    k: int
    total_count: int
    samples: int
    spread: float
    share: float
    best_place: int | None
    worst_place: int | None
    overtaken_by: str | None


@dataclass(frozen=True, slots=True)
class EstablishedValue:
    """The value, yes or no, that an attribute would have if somebody established it."""

    label: Text
    value: bool


@dataclass(frozen=True, slots=True)
class TargetRankFacts:
    """What would have to be established about a dataset for it to reach a rank.

    Attributes:
        attributes: as few attributes as possible that bring the dataset to `target_rank` if they have these values;
            None if no attributes do.
        reached_rank: the rank to which these attributes bring it, at least as good as `target_rank`; None without them.
        place: its rank where datasets with the same score share one.
        is_ranked: whether it passes the filters and gates of the ranking; if not, its ranks are those that it would
            have among the datasets that pass them.
    """

    name: str
    rank: int
    target_rank: int
    attributes: Sequence[EstablishedValue] | None
    reached_rank: int | None
    place: int
    is_ranked: bool = True


@dataclass(frozen=True, slots=True)
class RankRangeFacts:
    """The best and the worst rank that a dataset can have, depending on ethical attributes that are still unknown."""

    name: str
    rank: int
    best_rank: int
    worst_rank: int


def rank_sentence(facts: RankFacts, locale: str) -> str:
    """Return the sentence that explains why a dataset has its rank.

    It gives the rank, the score, and the criteria that contribute most to the score. If anything about the dataset is
    unknown, the sentence goes on with what that is, and with the highest score that the dataset could have.
    """
    score, limit = format_points(facts.score, locale), ""
    if facts.highest_score is not None and facts.highest_score > facts.score:
        score, limit = format_with_limit(facts.score, facts.highest_score, locale)
    clauses = [_rank_clause(facts, score, locale), _points_clause(facts.points, locale)]

    if facts.unknown:
        labels = [quoted(label, locale) for label in facts.unknown]
        clauses.append(phrase("unknown_criteria", locale, labels=enumeration(labels, locale)))

    if facts.known is not None and facts.known < _ETHICAL_ATTRIBUTE_COUNT:
        unknown_count = _ETHICAL_ATTRIBUTE_COUNT - facts.known
        clauses.append(
            phrase("unknown_ethical_attributes", locale, count=unknown_count, total=_ETHICAL_ATTRIBUTE_COUNT)
        )

    if limit:
        clauses.append(phrase("highest_score", locale, score=limit))

    return "".join(clauses) + "."


def _rank_clause(facts: RankFacts, score: str, locale: str) -> str:
    """Return the clause that states the rank and the score of a dataset, and how many others share them."""
    place = format_ordinal(facts.place, locale)
    if facts.tied_with == 0:
        return phrase("rank", locale, name=facts.name, place=place, total=facts.total_count, score=score)

    return phrase(
        "shared_rank",
        locale,
        name=facts.name,
        place=place,
        total=facts.total_count,
        others=facts.tied_with,
        score=score,
    )


def _points_clause(points: Sequence[LabeledPoints], locale: str) -> str:
    """Return the clause that lists what the criteria add to a score, the largest contribution first.

    If there are many criteria, only the first few are named, and the others are added up.
    """
    contributions = [criterion for criterion in points if criterion.points > 0]
    if not contributions:
        return phrase("no_points", locale)

    named_criteria, other_criteria = _split_top_criteria(contributions)
    phrases: list[str] = []
    for criterion in named_criteria:
        # The verb appears only once: "A" adds 0.3, "B" 0.2 and 2 other criteria 0.1.
        key = "later_points" if phrases else "first_points"
        label = quoted(criterion.label, locale)
        criterion_points = format_points(criterion.points, locale)
        phrases.append(phrase(key, locale, label=label, points=criterion_points))

    if other_criteria:
        sum_of_others = sum(criterion.points for criterion in other_criteria)
        other_points = format_points(sum_of_others, locale)
        phrases.append(phrase("points_of_others", locale, count=len(other_criteria), points=other_points))

    return phrase("points", locale, points=enumeration(phrases, locale))


def comparison_sentence(facts: ComparisonFacts, locale: str) -> str:
    """Return the sentence that explains why one dataset ranks above another.

    The sentence lists the advantages of the upper dataset, then its drawbacks, and ends with the change of a single
    weight that would reverse the order. If both scores are equal, or differ only by a rounding error, it states just
    that.
    """
    if math.isclose(facts.above_score, facts.below_score, rel_tol=_ROUNDING_ERROR):
        return _same_score_sentence(facts, locale)

    above_score, below_score = format_distinguishably(facts.above_score, facts.below_score, locale)
    main_clause = phrase(
        "ranks_above",
        locale,
        above=facts.above,
        below=facts.below,
        above_score=above_score,
        below_score=below_score,
    )
    clauses = [main_clause]

    advantages = [difference for difference in facts.differences if difference.points > _ROUNDING_ERROR]
    if advantages:
        clauses.append(phrase("advantages", locale, differences=_list_differences(advantages, locale)))

    drawbacks = [difference for difference in facts.differences if difference.points < -_ROUNDING_ERROR]
    if drawbacks:
        differences = _list_differences(drawbacks, locale)
        clauses.append(phrase("drawbacks", locale, below=facts.below, differences=differences))

    clauses.append(_reversal_clause(facts.reversal, locale))
    return "".join(clauses) + "."


def _same_score_sentence(facts: ComparisonFacts, locale: str) -> str:
    """Return the sentence about two datasets whose scores are equal or differ only by a rounding error."""
    key = "same_score" if facts.above_score == facts.below_score else "same_score_but_for_rounding"
    score = format_points(facts.above_score, locale)
    return phrase(key, locale, above=facts.above, below=facts.below, score=score)


def _list_differences(differences: Sequence[LabeledPoints], locale: str) -> str:
    """List the point difference for each criterion, largest first.

    If there are many criteria, only the first few are named, and the differences in the others are added up.
    """
    named_criteria, other_criteria = _split_top_criteria(differences)
    phrases = []
    for criterion in named_criteria:
        label = quoted(criterion.label, locale)
        points = format_signed(criterion.points, locale)
        phrases.append(phrase("difference", locale, label=label, points=points))

    if other_criteria:
        sum_of_others = sum(criterion.points for criterion in other_criteria)
        other_points = format_signed(sum_of_others, locale)
        phrases.append(phrase("difference_of_others", locale, count=len(other_criteria), points=other_points))

    return enumeration(phrases, locale)


def _reversal_clause(reversal: WeightChange | None, locale: str) -> str:
    """Return the clause about the change of a single weight that would reverse the order, or about its absence."""
    if reversal is None:
        return phrase("not_reversible", locale)

    label = quoted(reversal.label, locale)
    weight = format_significant(reversal.weight, locale)

    if reversal.reversing_weight >= reversal.weight:
        bound = format_lower_bound(reversal.reversing_weight, locale)
        return phrase("reversed_above", locale, label=label, weight=weight, bound=bound)

    # Weights are never negative, so the sentence must not ask for a weight below zero.
    if reversal.reversing_weight == 0:
        return phrase("reversed_at_zero", locale, label=label, weight=weight)

    bound = format_upper_bound(reversal.reversing_weight, locale)
    return phrase("reversed_below", locale, label=label, weight=weight, bound=bound)


def stability_sentence(facts: StabilityFacts, locale: str) -> str:
    """Return the sentence that judges whether a dataset would keep its rank if the weights were slightly different.

    The verdict, `robust` or `fragile`, comes first, and then the counts and ranks that it rests on. If no more than k
    datasets are ranked, each of them is always among the first k, and the sentence says that instead of a verdict.
    """
    if facts.total_count == 1:
        return phrase("only_dataset", locale, name=facts.name)

    clauses = [*_share_clauses(facts, locale), _sampled_ranks_clause(facts, locale)]
    # Those with the same score share a rank, but not all of them may be among the first k.
    is_shared_at_limit = facts.share < 1 and facts.worst_place is not None and facts.worst_place <= facts.k
    if is_shared_at_limit:
        key = "alphabet_decides_first" if facts.k == 1 else "alphabet_decides_among_first"
        clauses.append(phrase(key, locale, k=facts.k))
    if facts.overtaken_by is not None:
        clauses.append(phrase("overtaken", locale, name=facts.overtaken_by))
    return "".join(clauses) + "."


def _share_clauses(facts: StabilityFacts, locale: str) -> list[str]:
    """Return the clauses that say whether a rank is robust or fragile, and how often a dataset is among the first k."""
    spread = "±" + format_percentage(facts.spread, locale)

    is_always_among_first = facts.total_count <= facts.k
    if is_always_among_first:
        only_clause = phrase(
            "always_among_first",
            locale,
            name=facts.name,
            k=facts.k,
            total=facts.total_count,
            samples=facts.samples,
            spread=spread,
        )
        return [only_clause]

    is_robust = facts.share >= _ROBUST_SHARE
    verdict = phrase("robust" if is_robust else "fragile", locale, name=facts.name)

    share_key = "share_at_first_rank" if facts.k == 1 else "share_among_first"
    samples_among_first = round(facts.share * facts.samples)
    share_clause = phrase(
        share_key,
        locale,
        k=facts.k,
        total=facts.total_count,
        kept=samples_among_first,
        samples=facts.samples,
        spread=spread,
    )
    return [verdict, share_clause]


def _sampled_ranks_clause(facts: StabilityFacts, locale: str) -> str:
    """Return the clause with the best and the worst rank of a dataset under the sampled weights.

    Ranks beyond ten times k were not determined; the clause only says that they are beyond.
    """
    last_known_rank = _RANKS_KNOWN_PER_K * facts.k
    if facts.best_place is None:
        return phrase("ranks_beyond", locale, limit=last_known_rank)
    if facts.worst_place is None:
        return phrase("ranks_from_to_beyond", locale, best=facts.best_place, limit=last_known_rank)
    if facts.worst_place == facts.best_place:
        return phrase("same_rank", locale, best=facts.best_place)
    return phrase("ranks_from_to", locale, best=facts.best_place, worst=facts.worst_place)


def target_rank_sentence(facts: TargetRankFacts, locale: str) -> str:
    """Return the sentence that says which unknown attributes somebody would have to establish to improve a rank.

    If the dataset has already reached the target rank, or no attributes would bring it there, the sentence says that
    instead. If it is not ranked, the sentence begins with that.
    """
    # A dataset outside of the ranking has no rank yet, so each sentence about it is hypothetical.
    outside = "" if facts.is_ranked else "_outside"

    if facts.rank <= facts.target_rank:
        return phrase(f"target_rank_reached{outside}", locale, name=facts.name, rank=facts.rank)

    # Any higher score would put a dataset before those with which it shares the target rank.
    shares_target_rank = facts.place <= facts.target_rank
    if facts.attributes is None:
        key = "target_rank_shared_for_good" if shares_target_rank else "target_rank_out_of_reach"
        return phrase(key + outside, locale, name=facts.name, rank=facts.place, target=facts.target_rank)

    phrases = []
    for attribute in facts.attributes:
        key = "attribute_is_true" if attribute.value else "attribute_is_false"
        phrases.append(phrase(key, locale, label=in_language(attribute.label, locale)))

    key = "target_rank_shared" if shares_target_rank else "target_rank_within_reach"
    return phrase(
        key + outside,
        locale,
        name=facts.name,
        rank=facts.place,
        target=facts.reached_rank,
        attributes=enumeration(phrases, locale),
    )


def rank_range_sentence(facts: RankRangeFacts, locale: str) -> str:
    """Return the sentence that gives the best and the worst rank that unknown ethical attributes allow.

    If both are the same, the rank is certain, and the sentence says so.
    """
    if facts.best_rank == facts.worst_rank:
        return phrase("rank_certain", locale, name=facts.name, rank=facts.rank)

    return phrase(
        "rank_range",
        locale,
        name=facts.name,
        rank=facts.rank,
        best=facts.best_rank,
        worst=facts.worst_rank,
    )


def _split_top_criteria(criteria: Sequence[LabeledPoints]) -> tuple[Sequence[LabeledPoints], Sequence[LabeledPoints]]:
    """Return the criteria with the most points, which a sentence names, and the others, which it adds up.

    Both are sorted by the size of their points, whatever the sign.
    """
    largest_first = sorted(criteria, key=lambda criterion: abs(criterion.points), reverse=True)
    # A single remaining criterion takes no more room by its name than as "1 other criterion".
    if len(largest_first) == _MAX_NAMED_CRITERIA + 1:
        return largest_first, []
    return largest_first[:_MAX_NAMED_CRITERIA], largest_first[_MAX_NAMED_CRITERIA:]
