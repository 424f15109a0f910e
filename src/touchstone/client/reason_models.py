"""Types of the responses about the reasons of a ranking, which `reason_calls` requests.

A score is a sum of points: each weighted criterion adds its value, 0-1, times its share of the total weight.
"""

from typing import Literal

from msgspec import Struct, field

from touchstone.client.response_parts import BestCase, DatasetReference, Weight
from touchstone.core.evidence import Assurance

Verdict = Literal["robust", "fragile"]


class ComparedDataset(DatasetReference, frozen=True, kw_only=True):
    """One of the datasets of a comparison.

    Attributes:
        rank: its rank among the datasets that match the filters, or None if it does not match them.
        place, tied_with: the rank that it shares with datasets of the same score, and the number of the others.
        known: the number of ethical attributes, of ten, that are known to be true or false.
        ethical_interval: the lowest and the highest ethical score that the unknown attributes allow.
        criterion_scores: the values of the twelve criteria, keyed by name.
        points: the points that each weighted criterion adds to the score, keyed by name.
        unknown: the criteria without any known value, which count as 0.
        points_by_level: the part of the score that is supported by each level of evidence.
        best_case: the highest score that the unknown values allow.
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
    """The difference between two datasets in one criterion.

    Attributes:
        weight: the weight of the criterion in the request.
        above, below: the values of the criterion for the upper and for the lower dataset.
        points: the points of the upper dataset minus the points of the lower one.
        reversing_weight: the weight of this criterion at which both scores are equal if no other weight changes, or
            None if there is none. Beyond it, the lower dataset ranks above the other.
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
        weight: the changed weight that gives both datasets the same score; beyond it, their order is reversed.
        weight_before: the weight in the request.
        change: the increase of the weight, which is negative if the weight falls.
    """

    criterion_name: str
    weight: float
    weight_before: float
    change: float


class DatasetPair(Struct, frozen=True, kw_only=True):
    """The reasons why one dataset ranks above another.

    Attributes:
        above, below: the ids of the upper and of the lower dataset.
        lead: the score of the upper dataset minus the score of the lower one.
        differences: their differences in each of the twelve criteria.
        reversal: the smallest change of a single weight that reverses their order, or None if there is none.
        sentence: a summary in one sentence that can be quoted.
    """

    above: int
    below: int
    lead: float
    differences: list[CriterionDifference]
    reversal: Reversal | None = None
    sentence: str = ""


class Comparison(Struct, frozen=True, kw_only=True):
    """A comparison of two to five datasets, best first, with the reasons for the order of each pair."""

    datasets: list[ComparedDataset]
    pairs: list[DatasetPair]
    total_count: int
    effective_weights: list[Weight]
    profile: str | None = None
    assurance: Assurance = Assurance.DECLARED


class RankRange(Struct, frozen=True, kw_only=True):
    """The best and the worst rank of a dataset that the unknown values allow."""

    best: int
    worst: int


class Lift(Struct, frozen=True, kw_only=True):
    """The score and the rank of a dataset if one of its attributes were verified to have its best value.

    Attributes:
        attribute: the name of the yes-or-no attribute.
        value: its best value, which is False for `has_missing_values` and True for all others.
        current: the value that counts in this ranking, or None without the evidence that the request requires.
        declared: the value that the creator of the dataset declares, or None if there is none.
        criteria: the weighted criteria that would rise.
        gain: the increase of the score.
        score, rank: the score and the rank that the dataset would have.
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
    """The score and the rank that a dataset would have if certain attributes were verified."""

    score: float
    rank: int


class EstablishedSet(Standing, frozen=True, kw_only=True):
    """The score and the rank that a dataset would have if these attributes had their best values."""

    attributes: list[str]


class Lifts(DatasetReference, frozen=True, kw_only=True):
    """The improvements in the rank of a dataset if more of its attributes were verified.

    Attributes:
        rank: the current rank. For a dataset that does not match the filters, this is its rank if it did.
        place, tied_with: the rank that it shares with datasets of the same score, and the number of the others.
        unknown: the criteria without any known value, which count as 0.
        best_case: the highest score that the unknown values allow.
        matches_filters: whether the dataset matches the filters.
        unknown_ranks: the best and the worst rank that unknown ethical attributes allow.
        lifts: the lifts of all attributes without their best values, the largest gain first.
        all_established: the score and the rank of the dataset if all attributes had their best values.
        target_rank: the rank that the dataset is to reach, or None if the request contains none.
        smallest_set: a minimal set of attributes that would bring the dataset to this rank, or None if there is none.
        sentence: a summary of the way to this rank, in one sentence that can be quoted.
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
    profile: str | None = None
    assurance: Assurance = Assurance.DECLARED


class Overtaker(DatasetReference, frozen=True, kw_only=True):
    """A dataset that overtakes another in the share `share` of all samples."""

    rank: int
    share: float


class DatasetStability(DatasetReference, frozen=True, kw_only=True):
    """The stability of one of the first k datasets in samples of the ranking with slightly different weights.

    Attributes:
        place, tied_with: the rank that it shares with datasets of the same score, and the number of the others.
        share: the share of the samples in which the dataset stays among the first k.
        best_rank, worst_rank: its best and its worst rank in the samples, or None for a rank beyond 10 k.
        best_place, worst_place: the same ranks if datasets of the same score share a rank.
        overtaken_by: the closest dataset behind it that ranks above it in any sample, or None if there is none.
        verdict: `robust` if `share` is at least 0.9, otherwise `fragile`.
        unknown_ranks: the best and the worst rank that unknown ethical attributes allow; None unless requested.
        sentence: the verdict with its reasons, in one sentence that can be quoted.
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
    """The result of a test whether the first k datasets keep their ranks under slightly different weights.

    Attributes:
        datasets: the first k datasets, best first.
        samples: the number of repetitions of the ranking with other weights.
        spread: the largest relative change of a weight, such as 0.2.
        seed: the seed of the random numbers.
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
