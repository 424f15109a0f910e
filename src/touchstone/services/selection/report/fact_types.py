"""What a report states: facts without words, the same in every language and format.

The digest of a report is computed over these facts, so they contain nothing that depends on the moment of the report
or on the installation that makes it.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

import msgspec

from touchstone.core.canonical_json import canonical_digest
from touchstone.core.evidence import Assurance, ClaimValue, EvidenceLevel
from touchstone.ranking.reasons.stability import Verdict
from touchstone.services.selection.datasets.ranking_response import ExplainedItem
from touchstone.services.selection.evidence.claim_records import ClaimSource, Decision
from touchstone.services.selection.projects.chosen_dataset import ChosenDatasetState
from touchstone.services.selection.report.model_comparison_facts import ReportedModelComparison
from touchstone.services.selection.weights import CriterionWeight

VERSION: Final = 1
"""The version of the form of reports; it changes with the meaning of a member."""


class ReportedProject(msgspec.Struct, frozen=True, kw_only=True):
    """The project that a report is about."""

    id: UUID
    name: str
    description: str | None
    created_at: datetime
    updated_at: datetime


class WeightShare(msgspec.Struct, frozen=True):
    """The weight of a criterion as given, and its share of all weights."""

    criterion_name: str
    weight: float
    share: float


class ReportedNeed(msgspec.Struct, frozen=True, kw_only=True):
    """What the project asks of a dataset.

    Attributes:
        filters: the filters that a dataset has to satisfy to be ranked at all.
        gates: the requirements that are judged for each dataset and do not change the ranking.
        weights: the weights of the criteria, those of the default profile if the project has none.
        has_own_weights: whether the project has weights of its own.
        assurance: the weakest level of evidence that counts.
    """

    filters: Mapping[str, Any]
    gates: Mapping[str, Any]
    weights: Sequence[WeightShare]
    has_own_weights: bool
    assurance: Assurance


class ReportedNote(msgspec.Struct, frozen=True):
    """A weighted criterion that does not distinguish the first datasets of a ranking, as recommendations note it."""

    code: str
    criterion_name: str
    value: float | None


class ReportedRanking(msgspec.Struct, frozen=True, kw_only=True):
    """The first datasets of the ranking with notes on them, and the number of all that satisfy the filters."""

    total_count: int
    items: Sequence[ExplainedItem]
    notes: Sequence[ReportedNote]


class ReportedDataset(msgspec.Struct, frozen=True, kw_only=True):
    """A dataset as a report names it."""

    id: int
    dataset_id: UUID | None
    name: str
    objective: str | None


class ReportedChoice(msgspec.Struct, frozen=True, kw_only=True):
    """The choice that a project makes at present.

    Attributes:
        dataset: the chosen dataset, as it was when it was chosen if it is withdrawn.
        digest: the digest of what the dataset said when it was chosen; None if that was not kept.
        state: what has become of the dataset since.
        changed_fields: the fields of the dataset that have changed since.
        reason: the reason in the words of the owner.
        standing: its place in the ranking now; None if it does not satisfy the filters of the project.
    """

    dataset: ReportedDataset
    digest: str | None
    state: ChosenDatasetState
    changed_fields: Sequence[str]
    reason: str | None
    standing: ExplainedItem | None


class ReportedDecision(msgspec.Struct, frozen=True, kw_only=True):
    """An entry in the history of the choices for a project.

    Attributes:
        by: the name of the author; None if there is none.
        is_by_owner: whether the author is the owner of the project. Other roles of people are not kept with a choice.
        dataset: the dataset as it was then; None if the choice before was taken back.
        digest: the digest of what the dataset said then.
        is_withdrawn: whether the dataset has gone since.
        rank, score, total_count: the position of the dataset in the ranking then.
        place, tied_with: the rank that it shared with datasets of the same score, and how many others these were; None
            and 0 if this was not recorded.
        assurance: the level of evidence that counted then.
        superseded_at: when the next choice was made; None for the current one.
    """

    at: datetime
    by: str | None
    is_by_owner: bool
    dataset: ReportedDataset | None
    digest: str | None
    is_withdrawn: bool
    reason: str | None
    rank: int | None
    place: int | None
    tied_with: int
    score: float | None
    total_count: int | None
    weights: Sequence[CriterionWeight]
    assurance: Assurance | None
    formula_version: str | None
    superseded_at: datetime | None


class ReportedDifference(msgspec.Struct, frozen=True, kw_only=True):
    """How two datasets differ in one criterion.

    Attributes:
        weight: the weight of the criterion.
        above_value, below_value: the values of the criterion for the two; None if nothing is known about it.
        above_points, below_points: what it adds to the scores of the two.
        difference: how many points more the upper one has.
        reversing_weight: the weight beyond which the lower one would be first; None if no weight reverses the two.
    """

    criterion_name: str
    weight: float
    above_value: float | None
    below_value: float | None
    above_points: float
    below_points: float
    difference: float
    reversing_weight: float | None


class ReportedSource(msgspec.Struct, frozen=True, kw_only=True):
    """The source of an attribute's value, for an attribute that a criterion of a dataset is computed from.

    Attributes:
        value: the value that counts at the assurance of the project; None if there is none.
        level: how well this value is supported; None if there is no value.
        quote, place, source: the quote that shows the value, and where it stands; None if nothing is quoted.
    """

    attribute: str
    value: ClaimValue
    level: EvidenceLevel | None
    quote: str | None
    place: str | None
    source: ClaimSource | None


class ReportedReversal(msgspec.Struct, frozen=True):
    """The smallest change of a single weight that reverses two datasets."""

    criterion_name: str
    weight_before: float
    weight: float


class ReportedComparison(msgspec.Struct, frozen=True, kw_only=True):
    """Two datasets of the ranking, why one of them is above the other, and what would reverse them.

    Attributes:
        above_sources, below_sources: where the values of the attributes behind the weighted criteria come from.
    """

    above: ExplainedItem
    below: ExplainedItem
    differences: Sequence[ReportedDifference]
    reversal: ReportedReversal | None
    above_sources: Sequence[ReportedSource] = ()
    below_sources: Sequence[ReportedSource] = ()


class ReportedPlace(msgspec.Struct, frozen=True, kw_only=True):
    """How a dataset among the first k fares when the weights vary.

    Attributes:
        place, tied_with: the rank that it shares with datasets of the same score, and how many others these are.
        share: the share of the samples in which it stays among the first k.
        same_rank_share: the share of the samples in which it keeps its rank.
        best_rank, worst_rank: its best and its worst rank in any sample; None beyond the first 10 k.
        best_place, worst_place: the same, where datasets of the same score share a rank.
        overtaken_by: the name of the nearest dataset that overtakes it in a sample; None if none does.
    """

    dataset_id: int
    name: str
    rank: int
    place: int
    tied_with: int
    share: float
    same_rank_share: float
    best_rank: int | None
    worst_rank: int | None
    best_place: int | None
    worst_place: int | None
    overtaken_by: str | None
    verdict: Verdict


class ReportedRobustness(msgspec.Struct, frozen=True, kw_only=True):
    """The behaviour of the first k places when each weight varies by up to `spread`."""

    k: int
    samples: int
    spread: float
    seed: int
    places: Sequence[ReportedPlace]


class ReportedLift(msgspec.Struct, frozen=True):
    """What a dataset would gain if an attribute had a value, with the score and the rank that it would then have."""

    attribute: str
    value: bool
    gain: float
    score: float
    rank: int


class ReportedProspects(msgspec.Struct, frozen=True, kw_only=True):
    """What could change the rank of a dataset.

    Attributes:
        place, tied_with: the rank that it shares with datasets of the same score, and how many others these are.
        best_rank: its rank if all its unknown ethical attributes were true.
        worst_rank: its rank if those of all other datasets were.
        lifts: the attributes that would raise it, the largest gain first.
        target_rank: a rank to reach, and `smallest_set` the fewest attributes that reach it together; None if none do.
        reached_rank: the rank to which these attributes bring it, which may be better than `target_rank`.
    """

    dataset_id: int
    name: str
    rank: int
    place: int
    tied_with: int
    best_rank: int
    worst_rank: int
    lifts: Sequence[ReportedLift]
    target_rank: int | None
    smallest_set: Sequence[str] | None
    reached_rank: int | None


class ReportedReview(msgspec.Struct, frozen=True, kw_only=True):
    """The decision of a curator about a claim."""

    by: str | None
    at: datetime
    decision: Decision
    note: str | None


class ReportedClaim(msgspec.Struct, frozen=True, kw_only=True):
    """A claim that counts, with its quote and its source; one kept of a withdrawn dataset has no author and time."""

    value: ClaimValue
    not_applicable: bool
    level: EvidenceLevel
    quote: str | None
    place: str | None
    source: ClaimSource | None
    standard: str | None
    by: str | None
    at: datetime | None
    until: datetime | None
    review: ReportedReview | None


class ReportedAttribute(msgspec.Struct, frozen=True, kw_only=True):
    """What is known about one attribute of a dataset.

    Attributes:
        value: what the record shows; None if nothing is known.
        not_applicable: whether the attribute does not apply to the dataset.
        level: how well the value is supported.
        counted_value: the value at the assurance of the project.
        is_conflicting: whether claims say different things.
        claims: the claims that count, the newest first.
    """

    name: str
    value: ClaimValue
    not_applicable: bool
    level: EvidenceLevel | None
    counted_value: ClaimValue
    is_conflicting: bool
    claims: Sequence[ReportedClaim]

    @property
    def is_evident(self) -> bool:
        """Whether something better than a declaration is known."""
        return any(claim.level is not EvidenceLevel.DECLARED for claim in self.claims)


class ReportedPoint(msgspec.Struct, frozen=True, kw_only=True):
    """A point of law with what speaks to it.

    Attributes:
        point: the key of the point in the table of legal points.
        attributes: the attributes that speak to it.
        evident: those about which something better than a declaration is known.
        parts: the parts of the report that speak to it and are not empty.
        has_evidence: whether there is an evident attribute or such a part.
    """

    point: str
    attributes: Sequence[str]
    evident: Sequence[str]
    parts: Sequence[str]
    has_evidence: bool


class ReportedEvidence(msgspec.Struct, frozen=True, kw_only=True):
    """What is known about one dataset, by attribute and by points of law.

    Attributes:
        is_chosen: whether it is the chosen dataset, and not the first of the ranking.
        kept_at: for a withdrawn dataset the time of the choice, at which this was known.
    """

    dataset: ReportedDataset
    is_chosen: bool
    kept_at: datetime | None
    attributes: Sequence[ReportedAttribute]
    gdpr: Sequence[ReportedPoint]
    ai_act: Sequence[ReportedPoint]


class ReportedTraining(msgspec.Struct, frozen=True, kw_only=True):
    """A training of the project that succeeded, as its result describes it.

    Attributes:
        dataset_name: the name of the dataset; None if its record has gone.
        evaluation: sentences about how the rows were divided and which class is positive, each in both languages.
        test_rows: the number of rows on which the model was measured; None if the result does not say it.
        metrics: the value of each metric, with the ends of its interval of confidence.
        baseline: the value that the main metric has without any learning.
        group_metrics, warnings: as in the result of the job.
    """

    job_id: UUID
    name: str | None
    finished_at: datetime | None
    dataset_id: int | None
    dataset_name: str | None
    data_sha256: str | None
    rows: int | None
    target: str
    task: str
    algorithm: str
    evaluation: Sequence[Mapping[str, str]]
    test_rows: int | None
    metric: str
    metrics: Mapping[str, Any]
    baseline: float | None
    group_metrics: Sequence[Any]
    warnings: Sequence[Any]
    seed: int | None


class ReportedExplanation(msgspec.Struct, frozen=True, kw_only=True):
    """An explanation of the project that succeeded: what it says of the model, and its limits, in both languages.

    What it says of single rows is left out, since a row may be about a person.
    """

    job_id: UUID
    finished_at: datetime | None
    method: str
    narrative: Mapping[str, str]
    limits: Mapping[str, Sequence[str]]


class ReportContent(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that a report states.

    Attributes:
        version: the version of this form.
        formula_version: the version of the formula of the scores.
        project: the id, name, description and times of the project.
        need: the filters, the gates, the assurance and the weights with their shares, and whether these are the
            project's own.
        ranking: the first ten datasets as items of the recommendations, the number of all that match, and notes.
        choice: the chosen dataset with its digest, what has become of it, the reason and its place in the ranking; null
            if nothing is chosen.
        history: the choices for this project, the newest first, at most fifty.
        history_count: the number of all choices for this project.
        catalog_changed_at: when any of the datasets that are ranked here or chosen was last changed; null if there are
            none.
        comparison: the chosen dataset and the runner-up, or the first of the ranking and the chosen dataset, with the
            differences of their points, where their values come from, and the smallest change of a weight that reverses
            them.
        robustness: how the first ten places fare when the weights vary.
        prospects: for each of the two datasets that are compared the ranks that unknown attributes allow, and the
            attributes that would raise it.
        evidence: what is known about the chosen dataset, or about the first of the ranking if nothing is chosen, by
            attribute with the claims that count, and by points of law.
        trainings, explanations: the newest five of each that have succeeded in this project, and the newest five
            trainings on the dataset of `evidence`; what an explanation says of single rows is left out, since a row may
            be about a person.
        model_comparison: the newest comparison of models of this project that has ended: which of the ranked datasets
            trains best, with the scores and their intervals; null if there is none.
        limitations: codes of what limits the conclusions from the report.
    """

    version: int
    formula_version: str
    project: ReportedProject
    need: ReportedNeed
    ranking: ReportedRanking
    choice: ReportedChoice | None
    history: Sequence[ReportedDecision]
    history_count: int
    catalog_changed_at: datetime | None
    comparison: ReportedComparison | None
    robustness: ReportedRobustness | None
    prospects: Sequence[ReportedProspects]
    evidence: ReportedEvidence | None
    trainings: Sequence[ReportedTraining]
    explanations: Sequence[ReportedExplanation]
    model_comparison: ReportedModelComparison | None
    limitations: Sequence[str]

    def digest(self) -> str:
        """Return the SHA-256 of what the report states, over its canonical JSON (RFC 8785), in hexadecimal."""
        return canonical_digest(self)
