"""Types of the service's responses about reasons: why one dataset ranks above another, and what would change that."""

from typing import Literal

from msgspec import Struct

from touchstone.client.response_parts import DatasetReference, Weight
from touchstone.core.evidence import Assurance

Verdict = Literal["robust", "fragile"]


class ComparedDataset(DatasetReference, frozen=True, kw_only=True):
    """One of the datasets of a comparison.

    Attributes:
        rank: Its rank among the records that match the filters; None if it does not match them.
        known: How many of the ten ethical attributes are true or false.
        ethical_interval: Between which bounds the ethical score is, whatever is found out about the other attributes.
        criterion_scores: The values of the twelve criteria.
        points: What each weighted criterion adds to the score.
        unknown: The criteria of which nothing is known, whose 0 is therefore no finding.
        points_by_level: The share of the score that each level of evidence supports.
    """

    score: float
    rank: int | None = None
    known: int
    ethical_interval: tuple[float, float]
    criterion_scores: dict[str, float]
    points: dict[str, float]
    unknown: list[str]
    points_by_level: dict[str, float]


class CriterionDifference(Struct, frozen=True, kw_only=True):
    """How two datasets differ in one criterion.

    Attributes:
        weight: The weight of the criterion, as it was given.
        above, below: The values of the criterion for the two datasets.
        points: By how many points the upper dataset is better; negative where it is worse.
        reversing_weight: The weight beyond which the lower dataset comes first, all others unchanged; None if there is
            none.
    """

    criterion_name: str
    weight: float
    above: float
    below: float
    points: float
    reversing_weight: float | None = None


class Reversal(Struct, frozen=True, kw_only=True):
    """The smallest change of a single weight that reverses the order of two datasets.

    `weight` is the weight at which both have the same score, `weight_before` what it is, and `change` the difference.
    """

    criterion_name: str
    weight: float
    weight_before: float
    change: float


class DatasetPair(Struct, frozen=True, kw_only=True):
    """Why one dataset ranks above another.

    Attributes:
        above, below: The ids of the two datasets.
        lead: By how much the score of the upper one is higher.
        differences: One for each of the twelve criteria.
        reversal: The smallest change of a single weight that reverses the order; None if there is none.
        sentence: The reason in one sentence.
    """

    above: int
    below: int
    lead: float
    differences: list[CriterionDifference]
    reversal: Reversal | None = None
    sentence: str = ""


class Comparison(Struct, frozen=True, kw_only=True):
    """Two to five datasets in the order of their ranking, and every pair of them."""

    datasets: list[ComparedDataset]
    pairs: list[DatasetPair]
    total_count: int
    effective_weights: list[Weight]
    profile: str | None = None
    assurance: Assurance = Assurance.DECLARED


class RankRange(Struct, frozen=True, kw_only=True):
    """The ranks that a dataset can have, depending on what is still unknown."""

    best: int
    worst: int


class Lift(Struct, frozen=True, kw_only=True):
    """What a dataset would gain if one of its attributes were established.

    Attributes:
        value: The value that counts most: False for `has_missing_values`, True for all others.
        current: What is known at the assurance of the request.
        declared: What is declared.
        criteria: The weighted criteria that would rise.
        gain: By how much the score would rise.
        score, rank: What the dataset would have then.
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
    """A score and the rank that belongs to it."""

    score: float
    rank: int


class EstablishedSet(Standing, frozen=True, kw_only=True):
    """The score and the rank of a dataset if these attributes were established."""

    attributes: list[str]


class Lifts(DatasetReference, frozen=True, kw_only=True):
    """What would raise a dataset in a ranking.

    Attributes:
        matches_filters: Whether the dataset is in the ranking at all; its rank counts it in, whether or not.
        unknown_ranks: The ranks that unknown ethical attributes allow.
        lifts: One for each attribute that does not have its best value, the largest gain first.
        all_established: The standing of the dataset if all of them were established.
        target_rank: The rank to be reached, if the request named one.
        smallest_set: A smallest set of attributes that reaches it; None if there is none.
        sentence: In one sentence, what would bring the dataset to the rank to be reached.
    """

    score: float
    rank: int
    total_count: int
    matches_filters: bool = True
    known: int
    ethical_interval: tuple[float, float]
    unknown_ranks: RankRange | None = None
    lifts: list[Lift]
    all_established: Standing
    target_rank: int | None = None
    smallest_set: EstablishedSet | None = None
    sentence: str | None = None


class Overtaker(DatasetReference, frozen=True, kw_only=True):
    """The closest dataset that overtakes another in some samples; `share` says in how many of them."""

    rank: int
    share: float


class DatasetStability(DatasetReference, frozen=True, kw_only=True):
    """How robust the rank of one dataset is.

    Attributes:
        share: The share of samples in which it stays among the first k.
        best_rank, worst_rank: Its ranks in the samples; None where they are beyond 10 k.
        overtaken_by: The closest dataset after it that overtakes it; None if none does.
        verdict: `robust` if the share is at least 0.9.
        unknown_ranks: The ranks that unknown ethical attributes allow, on request.
        sentence: The verdict with its reason in one sentence.
    """

    score: float
    rank: int
    share: float
    best_rank: int | None = None
    worst_rank: int | None = None
    overtaken_by: Overtaker | None = None
    verdict: Verdict
    unknown_ranks: RankRange | None = None
    sentence: str = ""


class Stability(Struct, frozen=True, kw_only=True):
    """How robust the first k ranks are against changes of the weights."""

    datasets: list[DatasetStability]
    total_count: int
    k: int
    samples: int
    spread: float
    seed: int
    effective_weights: list[Weight]
    profile: str | None = None
    assurance: Assurance = Assurance.DECLARED
