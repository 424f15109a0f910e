"""Sentences that explain a ranking, in French and English.

There is one function for each question that a reader may ask:

- `rank_sentence`: Why does this dataset have its rank?
- `comparison_sentence`: Why does one dataset rank above another?
- `stability_sentence`: Would the dataset keep its rank if the weights were slightly different?
- `target_rank_sentence`: Which attributes would have to be verified for the dataset to reach a better rank?
- `rank_range_sentence`: Which ranks can the dataset have, depending on its unknown attributes?

The argument of each function contains all facts of the sentence. A sentence consists of clauses with the wording in
`REASON_PHRASES`. Every clause after the first begins with its punctuation, so that clauses can simply be joined.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from touchstone.messages.locales import Text, in_language
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
from touchstone.messages.reason_phrases import enumeration, phrase, quoted

_MAX_NAMED_CRITERIA: Final = 3
_ETHICAL_ATTRIBUTE_COUNT: Final = 10
_MIN_ROBUST_SHARE: Final = 0.9  # a rank is robust if the dataset is among the first k in this share of the samples
_KNOWN_RANKS_PER_K: Final = 10  # ranks beyond this multiple of k are not computed
_EXACT_DECIMALS: Final = 12  # of points; further decimals are rounding errors
# Smaller differences of points, and smaller relative differences of scores, are ignored.
_ROUNDING_ERROR: Final = 10.0**-_EXACT_DECIMALS


@dataclass(frozen=True, slots=True)
class LabeledPoints:
    """The contribution of one criterion to a score, or to the difference between two scores.

    Attributes:
        label: the name of the criterion in French and in English.
        points: the contribution.
    """

    label: Text
    points: float


@dataclass(frozen=True, slots=True)
class RankFacts:
    """The facts that explain the rank of a dataset.

    Attributes:
        name: the name of the dataset.
        place: 1 plus the number of datasets with a higher score, so that datasets with the same score share a place.
        tied_with: the number of other datasets with the same score.
        total_count: the number of ranked datasets.
        score: the score of the dataset.
        points: the contribution of each weighted criterion to the score.
        unknown: the labels of the unknown weighted criteria.
        known: the number of known attributes among the ten ethical ones; None if they have no weight in the ranking.
        highest_score: the score if all unknown attributes turned out favourably; None if it was not computed.
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

    Attributes:
        label: the name of the criterion in French and in English.
        weight: the present weight.
        reversing_weight: the weight that gives both datasets the same score. Beyond it, their order is reversed.
    """

    label: Text
    weight: float
    reversing_weight: float


@dataclass(frozen=True, slots=True)
class ComparisonFacts:
    """The facts that explain why one dataset ranks above another.

    Attributes:
        above, below: the names of the two datasets.
        above_score, below_score: their scores.
        differences: the lead of the upper dataset in each criterion; negative where the lower dataset leads.
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
    """The ranks of one of the first k datasets in samples with slightly different weights.

    Attributes:
        name: the name of the dataset.
        k: the number of datasets at the top of the ranking that are examined.
        total_count: the number of ranked datasets.
        samples: the number of times that the ranking was repeated with other weights.
        spread: the largest share by which a weight was raised or lowered.
        share: the share of the samples with the dataset among the first k.
        best_place, worst_place: its best and its worst rank in the samples; None for ranks beyond 10 k. Datasets with
            the same score share a rank.
        overtaken_by: the name of the closest dataset that overtakes it in a sample; None if there is none.
        has_tie_at_limit: whether, with the given weights, it has the same score as a dataset beyond the first k.
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
    has_tie_at_limit: bool = False


@dataclass(frozen=True, slots=True)
class VerifiedValue:
    """The value, yes or no, that an attribute would have if it were verified."""

    label: Text
    value: bool


@dataclass(frozen=True, slots=True)
class TargetRankFacts:
    """The attributes of a dataset that would bring it to a better rank if they were verified.

    Attributes:
        name: the name of the dataset.
        rank: its present rank.
        target_rank: the rank to reach.
        attributes: a minimal set of attributes with the values that would bring the dataset to `target_rank`; None if
            no set does.
        reached_rank: the rank that these attributes would give, at least as good as `target_rank`; None without them.
        place: its present rank, with the same rank for datasets with the same score.
        is_ranked: whether it passes the filters and gates of the ranking. If not, its ranks are hypothetical ranks
            among the datasets that pass them.
    """

    name: str
    rank: int
    target_rank: int
    attributes: Sequence[VerifiedValue] | None
    reached_rank: int | None
    place: int
    is_ranked: bool = True


@dataclass(frozen=True, slots=True)
class RankRangeFacts:
    """The best and the worst rank that the unknown ethical attributes of a dataset allow."""

    name: str
    rank: int
    best_rank: int
    worst_rank: int


class _ListPhrases(NamedTuple):
    """The wording of a list of criteria with their points.

    Attributes:
        first, later: the keys of the phrases for the first criterion and for each of the others.
        others: the key of the phrase for the criteria that are not named, but added up.
        format_points: the function that formats the points.
    """

    first: str
    later: str
    others: str
    format_points: Callable[[float, str], str]


# The verb appears only once: "A" adds 0.3, "B" 0.2 and 2 other criteria 0.1.
_CONTRIBUTION_PHRASES: Final = _ListPhrases("first_points", "later_points", "points_of_others", format_points)
_DIFFERENCE_PHRASES: Final = _ListPhrases("difference", "difference", "difference_of_others", format_signed)


def rank_sentence(facts: RankFacts, locale: str) -> str:
    """Return the sentence that explains why a dataset has its rank.

    It states the rank, the score, and the criteria that contribute most to the score. If criteria or attributes of the
    dataset are unknown, it also states them and the highest possible score.
    """
    if facts.highest_score is not None and facts.highest_score > facts.score:
        score, highest_score = format_with_limit(facts.score, facts.highest_score, locale)
    else:
        score = format_points(facts.score, locale)
        highest_score = ""

    clauses = [_rank_clause(facts, score, locale), _points_clause(facts.points, locale)]

    if facts.unknown:
        labels = [quoted(label, locale) for label in facts.unknown]
        clauses.append(phrase("unknown_criteria", locale, labels=enumeration(labels, locale)))

    if facts.known is not None and facts.known < _ETHICAL_ATTRIBUTE_COUNT:
        unknown_count = _ETHICAL_ATTRIBUTE_COUNT - facts.known
        clauses.append(
            phrase("unknown_ethical_attributes", locale, count=unknown_count, total=_ETHICAL_ATTRIBUTE_COUNT)
        )

    if highest_score:
        clauses.append(phrase("highest_score", locale, score=highest_score))

    return "".join(clauses) + "."


def _rank_clause(facts: RankFacts, score: str, locale: str) -> str:
    """Return the clause about the rank and the score of a dataset, and others that share them."""
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
    """Return the clause that lists the contributions of the criteria to a score."""
    contributions = [criterion for criterion in points if criterion.points > 0]
    if not contributions:
        return phrase("no_points", locale)
    return phrase("points", locale, points=_list_criteria(contributions, _CONTRIBUTION_PHRASES, locale))


def _list_criteria(criteria: Sequence[LabeledPoints], phrases: _ListPhrases, locale: str) -> str:
    """List criteria with their points, largest first.

    If there are many criteria, only the first few are named, and the points of the others are added up.
    """
    named_criteria, other_criteria = _split_top_criteria(criteria)
    items: list[str] = []
    for criterion in named_criteria:
        key = phrases.later if items else phrases.first
        label = quoted(criterion.label, locale)
        points = phrases.format_points(criterion.points, locale)
        items.append(phrase(key, locale, label=label, points=points))

    if other_criteria:
        sum_of_others = sum(criterion.points for criterion in other_criteria)
        other_points = phrases.format_points(sum_of_others, locale)
        items.append(phrase(phrases.others, locale, count=len(other_criteria), points=other_points))

    return enumeration(items, locale)


def _split_top_criteria(criteria: Sequence[LabeledPoints]) -> tuple[Sequence[LabeledPoints], Sequence[LabeledPoints]]:
    """Return the criteria with the most points, which a list names, and the others, which it adds up.

    Both are sorted by the absolute value of their points, largest first.
    """
    # A rounding error must not decide which of two equal contributions comes first.
    largest_first = sorted(criteria, key=lambda criterion: round(abs(criterion.points), _EXACT_DECIMALS), reverse=True)
    # Naming a single remaining criterion takes no more room than "1 other criterion".
    if len(largest_first) == _MAX_NAMED_CRITERIA + 1:
        return largest_first, []
    return largest_first[:_MAX_NAMED_CRITERIA], largest_first[_MAX_NAMED_CRITERIA:]


def comparison_sentence(facts: ComparisonFacts, locale: str) -> str:
    """Return the sentence that explains why one dataset ranks above another.

    It lists the advantages and the drawbacks of the upper dataset, and ends with the change of a single weight that
    would reverse the order. If both scores are equal, or differ only by a rounding error, it states just that.
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

    advantages = [criterion for criterion in facts.differences if criterion.points > _ROUNDING_ERROR]
    if advantages:
        differences = _list_criteria(advantages, _DIFFERENCE_PHRASES, locale)
        clauses.append(phrase("advantages", locale, differences=differences))

    drawbacks = [criterion for criterion in facts.differences if criterion.points < -_ROUNDING_ERROR]
    if drawbacks:
        differences = _list_criteria(drawbacks, _DIFFERENCE_PHRASES, locale)
        clauses.append(phrase("drawbacks", locale, below=facts.below, differences=differences))

    clauses.append(_reversal_clause(facts.reversal, locale))
    return "".join(clauses) + "."


def _same_score_sentence(facts: ComparisonFacts, locale: str) -> str:
    """Return the sentence about two datasets whose scores are equal or differ only by a rounding error."""
    key = "same_score" if facts.above_score == facts.below_score else "same_score_but_for_rounding"
    score = format_points(facts.above_score, locale)
    return phrase(key, locale, above=facts.above, below=facts.below, score=score)


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
    """Return the sentence about whether a rank is robust against small changes of the weights.

    It begins with the verdict, robust or fragile, followed by the counts and ranks that support it. If at most k
    datasets are ranked, each of them is always among the first k, and the sentence says so instead of a verdict.
    """
    if facts.total_count == 1:
        return phrase("only_dataset", locale, name=facts.name)

    clauses = [*_share_clauses(facts, locale), _sampled_ranks_clause(facts, locale)]

    # Datasets with the same score share a rank, but not all of them may be among the first k. If they have the same
    # score in all samples, too, only the alphabet makes their ranks robust.
    shares_rank_at_limit = facts.share < 1 and facts.worst_place is not None and facts.worst_place <= facts.k
    if shares_rank_at_limit or facts.has_tie_at_limit:
        key = "alphabet_decides_first" if facts.k == 1 else "alphabet_decides_among_first"
        clauses.append(phrase(key, locale, k=facts.k))

    if facts.overtaken_by is not None:
        clauses.append(phrase("overtaken", locale, name=facts.overtaken_by))
    return "".join(clauses) + "."


def _share_clauses(facts: StabilityFacts, locale: str) -> list[str]:
    """Return the clauses about the verdict and about the samples with the dataset among the first k."""
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

    is_robust = facts.share >= _MIN_ROBUST_SHARE
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
    """Return the clause about the best and the worst rank of a dataset in the samples.

    Ranks beyond ten times k were not computed, so the clause only says that they are beyond this limit.
    """
    last_known_rank = _KNOWN_RANKS_PER_K * facts.k
    if facts.best_place is None:
        return phrase("ranks_beyond", locale, limit=last_known_rank)
    if facts.worst_place is None:
        return phrase("ranks_from_to_beyond", locale, best=facts.best_place, limit=last_known_rank)
    if facts.worst_place == facts.best_place:
        return phrase("same_rank", locale, best=facts.best_place)
    return phrase("ranks_from_to", locale, best=facts.best_place, worst=facts.worst_place)


def target_rank_sentence(facts: TargetRankFacts, locale: str) -> str:
    """Return the sentence about the attributes to verify for reaching the target rank.

    If the dataset has already reached the target rank, or no attributes would bring it there, the sentence says so. If
    the dataset is not ranked, the sentence begins with this fact.
    """
    # A dataset outside of the ranking has only a hypothetical rank, so it has other phrases.
    key_suffix = "" if facts.is_ranked else "_outside"

    if facts.rank <= facts.target_rank:
        return phrase(f"target_rank_reached{key_suffix}", locale, name=facts.name, rank=facts.rank)

    # A dataset with the same score as the one at the target rank shares this rank, and any higher score would reach it.
    shares_target_rank = facts.place <= facts.target_rank
    if facts.attributes is None:
        key = "target_rank_shared_for_good" if shares_target_rank else "target_rank_out_of_reach"
        return phrase(key + key_suffix, locale, name=facts.name, rank=facts.place, target=facts.target_rank)

    attribute_phrases = []
    for attribute in facts.attributes:
        key = "attribute_is_true" if attribute.value else "attribute_is_false"
        attribute_phrases.append(phrase(key, locale, label=in_language(attribute.label, locale)))

    key = "target_rank_shared" if shares_target_rank else "target_rank_within_reach"
    return phrase(
        key + key_suffix,
        locale,
        name=facts.name,
        rank=facts.place,
        target=facts.reached_rank,
        attributes=enumeration(attribute_phrases, locale),
    )


def rank_range_sentence(facts: RankRangeFacts, locale: str) -> str:
    """Return the sentence about the best and the worst rank that unknown ethical attributes allow.

    If both ranks are the same, the sentence says that the rank is certain.
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
