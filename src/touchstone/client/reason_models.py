"""Types of the service's responses about the reasons of a ranking, which `reason_calls` asks for.

A score is made of points: each weighted criterion adds its value, between 0 and 1, times its share of all weights.
"""

from typing import Literal

from msgspec import Struct, field

from touchstone.client.response_parts import BestCase, DatasetReference, Weight
from touchstone.core.evidence import Assurance

Verdict = Literal["robust", "fragile"]


class ComparedDataset(DatasetReference, frozen=True, kw_only=True):
    """One of the datasets of a comparison.

    Attributes:
        rank: Its rank among the datasets that match the filters; None if it does not match them.
        place, tied_with: The rank that it shares with datasets of the same score, and how many others these are.
        known: How many of the ten ethical attributes are known to be true or false.
        ethical_interval: The lowest and the highest ethical score that the unknown ones of these attributes allow.
        criterion_scores: The values of the twelve criteria, by name.
        points: What each weighted criterion adds to the score, by name.
        unknown: The criteria about which nothing is known; their value is 0 for want of a better one.
        points_by_level: How much of the score rests on each level of evidence.
        best_case: The highest score that the unknown values allow.
    """

    score: float
    rank: int | None = None
    place: int | None = None
    tied_with: int = 0
    known: int
    ethical_interval: tuple[float, float]
    criterion_scores: dict[str, float]
    points: dict[str, float]
    unknown: list[str]
    points_by_level: dict[str, float]
    best_case: BestCase | None = None


class CriterionDifference(Struct, frozen=True, kw_only=True):
    """How two datasets differ in one criterion.

    Attributes:
        weight: The weight of the criterion, as the request gives it.
        above, below: The values of the criterion for the dataset that ranks above and for the one below.
        points: How many points more the criterion adds to the score of the upper dataset; negative if it adds fewer.
        reversing_weight: The weight of this criterion beyond which the lower dataset ranks above the other, if no other
            weight changes; None if there is none.
    """

    criterion_name: str
    weight: float
    above: float
    below: float
    points: float
    reversing_weight: float | None = None


class Reversal(Struct, frozen=True, kw_only=True):
    """The smallest change of a single weight that reverses the order of two datasets.

    Attributes:
        weight: The changed weight, at which both datasets have the same score; beyond it, their order is reversed.
        weight_before: The weight as the request gives it.
        change: How much the weight rises; negative if it falls.
    """

    criterion_name: str
    weight: float
    weight_before: float
    change: float


class DatasetPair(Struct, frozen=True, kw_only=True):
    """Why one dataset ranks above another.

    Attributes:
        above, below: The ids of the two datasets.
        lead: The score of the upper dataset minus that of the lower one.
        differences: Their differences in each of the twelve criteria.
        reversal: The smallest change of a single weight that reverses their order; None if there is none.
        sentence: All of this in one sentence that can be quoted.
    """

    above: int
    below: int
    lead: float
    differences: list[CriterionDifference]
    reversal: Reversal | None = None
    sentence: str = ""


class Comparison(Struct, frozen=True, kw_only=True):
    """A comparison of two to five datasets: the datasets, best first, and the reasons for the order of each pair."""

    datasets: list[ComparedDataset]
    pairs: list[DatasetPair]
    total_count: int
    effective_weights: list[Weight]
    profile: str | None = None
    assurance: Assurance = Assurance.DECLARED


class RankRange(Struct, frozen=True, kw_only=True):
    """The best and the worst rank that a dataset can have, depending on what is still unknown."""

    best: int
    worst: int


class Lift(Struct, frozen=True, kw_only=True):
    """How much better a dataset would rank if one of its attributes were established with its best value.

    Attributes:
        attribute: The name of the attribute, which is true, false or unknown.
        value: Its best value: False for `has_missing_values`, True for all others.
        current: The value that counts in this ranking; None if the evidence that the request asks for is missing.
        declared: The value that the creator of the dataset declares; None if there is none.
        criteria: The weighted criteria that would rise.
        gain: By how much the score would rise.
        score, rank: The score and the rank that the dataset would have.
    """

    attribute: str
    value: bool
    current: bool | None = None
    declared: bool | None = None
    criteria: list[str] = []
    gain: float
    score: float
    rank: int


class Standing(Struct, frozen=True, kw_only=True):
    """The score and the rank that a dataset would have if certain attributes were established."""

    score: float
    rank: int


class EstablishedSet(Standing, frozen=True, kw_only=True):
    """The score and the rank that a dataset would have if these attributes were established with their best values."""

    attributes: list[str]


class Lifts(DatasetReference, frozen=True, kw_only=True):
    """How much better a dataset would rank if more were established about it.

    Attributes:
        rank: The present rank. A dataset that does not match the filters has the rank that it would have among those
            that do.
        place, tied_with: The rank that it shares with datasets of the same score, and how many others these are.
        unknown: The criteria about which nothing is known; their value is 0 for want of a better one.
        best_case: The highest score that the unknown values allow.
        matches_filters: Whether the dataset matches the filters.
        unknown_ranks: The best and the worst rank that unknown ethical attributes allow.
        lifts: One for each attribute that does not have its best value, the largest gain first.
        all_established: The score and the rank of the dataset if all of these attributes had their best values.
        target_rank: The rank that the dataset is to reach; None if the request names none.
        smallest_set: As few attributes as possible that bring the dataset to this rank; None if no attributes do.
        sentence: What would bring the dataset to this rank, in one sentence that can be quoted.
    """

    score: float
    rank: int
    place: int | None = None
    tied_with: int = 0
    total_count: int
    matches_filters: bool = True
    known: int
    ethical_interval: tuple[float, float]
    unknown: list[str] = field(default_factory=list)
    best_case: BestCase | None = None
    unknown_ranks: RankRange | None = None
    lifts: list[Lift]
    all_established: Standing
    target_rank: int | None = None
    smallest_set: EstablishedSet | None = None
    sentence: str | None = None
    effective_weights: list[Weight] = field(default_factory=list)


class Overtaker(DatasetReference, frozen=True, kw_only=True):
    """A dataset that overtakes another in some of the samples; `share` is their share of all samples."""

    rank: int
    share: float


class DatasetStability(DatasetReference, frozen=True, kw_only=True):
    """Whether one of the first k datasets keeps its rank when the ranking is repeated with slightly different weights.

    Attributes:
        place, tied_with: The rank that it shares with datasets of the same score, and how many others these are.
        share: The share of these samples in which the dataset stays among the first k.
        best_rank, worst_rank: Its best and its worst rank in the samples; None if that is beyond 10 k.
        best_place, worst_place: The same, where datasets of the same score share a rank.
        overtaken_by: The closest dataset behind it that ranks above it in any sample; None if none does.
        verdict: `robust` if `share` is at least 0.9, otherwise `fragile`.
        unknown_ranks: The best and the worst rank that unknown ethical attributes allow; None unless requested.
        sentence: The verdict with its reasons, in one sentence that can be quoted.
    """

    score: float
    rank: int
    place: int | None = None
    tied_with: int = 0
    share: float
    best_rank: int | None = None
    worst_rank: int | None = None
    best_place: int | None = None
    worst_place: int | None = None
    overtaken_by: Overtaker | None = None
    verdict: Verdict
    unknown_ranks: RankRange | None = None
    sentence: str = ""


class Stability(Struct, frozen=True, kw_only=True):
    """Whether the first k datasets of a ranking keep their ranks under slightly different weights.

    Attributes:
        datasets: The first k datasets, best first.
        samples: How many times the ranking was repeated with other weights.
        spread: By which share each weight was raised or lowered at most.
        seed: What the random numbers started from.
    """

    datasets: list[DatasetStability]
    total_count: int
    k: int
    samples: int
    spread: float
    seed: int
    effective_weights: list[Weight]
    profile: str | None = None
    assurance: Assurance = Assurance.DECLARED
