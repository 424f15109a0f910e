"""Schemas of the answers to questions about a ranking."""

from collections.abc import Mapping
from uuid import UUID

from pydantic import BaseModel, Field

from touchstone.core.evidence import Assurance, EvidenceLevel
from touchstone.ranking.reasons.stability import Verdict
from touchstone.services.selection.datasets.schemas import BestCaseView, WeightView


class RankingContext(BaseModel):
    """The ranking that an answer is about."""

    total_count: int = Field(description="The number of datasets that match the filters.")
    effective_weights: list[WeightView] = Field(description="The weights as shares that add up to 1.")
    profile: str | None
    assurance: Assurance


class DatasetName(BaseModel):
    """A dataset by its ids and its name."""

    id: int
    dataset_id: UUID
    dataset_name: str


class RankRangeView(BaseModel):
    """The best and the worst rank that a dataset can have, given the unknown ethical attributes of all datasets.

    It has the best rank if its own unknown attributes are true and the unknown attributes of all other datasets are
    false. It has the worst rank in the opposite case.
    """

    best: int
    worst: int


class ComparedDatasetView(DatasetName):
    """A dataset that is compared with others."""

    score: float = Field(ge=0, le=1)
    rank: int | None = Field(description="Null if the dataset does not match the filters.")
    place: int | None = Field(description="1 + the number of matches with a higher score; null like `rank`.")
    tied_with: int = Field(ge=0, description="The number of other matches with exactly this score.")
    known: int = Field(ge=0, le=10, description="The number of ethical attributes with a known value, out of ten.")
    ethical_interval: tuple[float, float]
    criterion_scores: Mapping[str, float]
    points: Mapping[str, float] = Field(description="By weighted criterion; they add up to the score.")
    unknown: list[str] = Field(description="The criteria without any known value; each counts as 0.")
    points_by_level: Mapping[EvidenceLevel, float]
    best_case: BestCaseView


class DifferenceView(BaseModel):
    """The difference between the upper and the lower dataset of a pair in one criterion."""

    criterion_name: str
    weight: float = Field(description="The given weight, or 0.")
    above: float
    below: float
    points: float = Field(description="The lead of the upper dataset, in points of the score.")
    reversing_weight: float | None = Field(
        description="The weight beyond which the lower dataset is first, the other weights unchanged; null if there is "
        "none."
    )


class ReversalView(BaseModel):
    """The smallest change of a single weight that reverses the order of a pair."""

    criterion_name: str
    weight: float = Field(description="The weight beyond which the lower dataset is first.")
    weight_before: float
    change: float = Field(description="0 if both have the same score, so that the name decides.")


class PairView(BaseModel):
    """Two datasets, given by their ids, and the reasons why one of them is above the other."""

    above: int
    below: int
    lead: float = Field(ge=0, description="The difference of the two scores.")
    differences: list[DifferenceView] = Field(description="All twelve criteria; their points add up to the lead.")
    reversal: ReversalView | None = Field(description="Null if no weight can reverse the pair.")
    sentence: str = Field(description="The reason in one sentence, French or English by Accept-Language.")


class ComparisonView(RankingContext):
    """Two to five datasets in the order of the ranking, and the comparison of each pair."""

    datasets: list[ComparedDatasetView]
    pairs: list[PairView]


class LiftView(BaseModel):
    """The rise of a dataset if one of its attributes were verified to have its best value."""

    attribute: str
    value: bool = Field(description="The best value: true, except for `has_missing_values`.")
    current: bool | None = Field(description="The value at this assurance; null if it is not known.")
    declared: bool | None = Field(description="The declared value.")
    criteria: list[str] = Field(description="The weighted criteria that would rise.")
    gain: float = Field(ge=0)
    score: float = Field(ge=0, le=1)
    rank: int


class LiftedRankView(BaseModel):
    """The score and rank that a dataset would have with all attributes at their best value."""

    score: float = Field(ge=0, le=1)
    rank: int


class LiftedSetView(LiftedRankView):
    """A set of attributes, and the score and rank that a dataset would have if they had their best values."""

    attributes: list[str]


class LiftsView(RankingContext, DatasetName):
    """The rise of a dataset in a ranking if its attributes were verified, one by one and together."""

    score: float = Field(ge=0, le=1)
    rank: int = Field(description="Among the datasets that match the filters, whether or not this one does.")
    place: int = Field(description="1 + the number of matches with a higher score.")
    tied_with: int = Field(ge=0, description="The number of other matches with exactly this score.")
    matches_filters: bool
    known: int = Field(ge=0, le=10)
    ethical_interval: tuple[float, float]
    unknown: list[str] = Field(description="The criteria without any known value; each counts as 0.")
    best_case: BestCaseView
    unknown_ranks: RankRangeView
    lifts: list[LiftView] = Field(description="All booleans without their best value, the largest gain first.")
    all_established: LiftedRankView
    target_rank: int | None
    smallest_set: LiftedSetView | None = Field(description="Null without a target, or if no set reaches it.")
    sentence: str | None = Field(
        description="Which attributes would bring the dataset to the target; null without one."
    )


class OvertakerView(DatasetName):
    """The nearest lower dataset that is above another one in some samples."""

    rank: int
    share: float = Field(ge=0, le=1, description="The share of the samples in which it is before the other one.")


class DatasetStabilityView(DatasetName):
    """The stability of the place of one of the first datasets."""

    score: float = Field(ge=0, le=1)
    rank: int
    place: int = Field(description="1 + the number of datasets with a higher score.")
    tied_with: int = Field(ge=0, description="The number of other datasets with exactly this score.")
    share: float = Field(ge=0, le=1, description="The share of the samples in which it is among the first k.")
    best_rank: int | None = Field(description="Its best rank in any sample; null beyond the first 10 k.")
    worst_rank: int | None = Field(description="Its worst rank in any sample; null beyond the first 10 k.")
    best_place: int | None = Field(description="Its best place in any sample; null beyond the first 10 k.")
    worst_place: int | None = Field(description="Its worst place in any sample; null beyond the first 10 k.")
    overtaken_by: OvertakerView | None
    verdict: Verdict = Field(description="`robust` from a share of 0.9 on; says nothing if at most k datasets match.")
    unknown_ranks: RankRangeView | None = Field(description="Null unless the request asks for it.")
    sentence: str = Field(description="The verdict with its reason in one sentence, by Accept-Language.")


class StabilityView(RankingContext):
    """The stability of the first places of a ranking."""

    k: int
    samples: int
    spread: float
    seed: int
    datasets: list[DatasetStabilityView]
