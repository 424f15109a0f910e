"""The facts of a report, which are the same in every language and format.

The digest of a report is computed over these facts. They therefore contain nothing that depends on the time of the
report or on the installation that creates it.
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
from touchstone.services.selection.gates import GateOutcome
from touchstone.services.selection.projects.chosen_dataset import ChosenDatasetState
from touchstone.services.selection.projects.dataset_content import ContentChange
from touchstone.services.selection.report.job_facts import ReportedExplanation, ReportedTraining
from touchstone.services.selection.report.model_comparison_facts import ReportedModelComparison
from touchstone.services.selection.weights import CriterionWeight

VERSION: Final = 1
"""The version of the structure of reports, which is increased when the meaning of a member changes."""


class ReportedProject(msgspec.Struct, frozen=True, kw_only=True):
    """The project that a report is about."""

    id: UUID
    name: str
    description: str | None
    created_at: datetime
    updated_at: datetime


class WeightShare(msgspec.Struct, frozen=True):
    """The weight of a criterion as given, and its share of the sum of all weights."""

    criterion_name: str
    weight: float
    share: float


class ReportedNeed(msgspec.Struct, frozen=True, kw_only=True):
    """The requirements of the project for datasets.

    Attributes:
        filters: the filters that a dataset has to satisfy to be ranked at all.
        gates: the requirements that are judged for each dataset and do not change the ranking.
        weights: the weights of the criteria, taken from the default profile if the project has none.
        has_own_weights: whether the weights were set for this project.
        assurance: the weakest level of evidence that counts.
    """

    filters: Mapping[str, Any]
    gates: Mapping[str, Any]
    weights: Sequence[WeightShare]
    has_own_weights: bool
    assurance: Assurance


class ReportedNote(msgspec.Struct, frozen=True):
    """A note that a weighted criterion does not distinguish the first datasets of a ranking."""

    code: str
    criterion_name: str
    value: float | None


class ReportedRanking(msgspec.Struct, frozen=True, kw_only=True):
    """The first datasets of the ranking with notes on them, and the number of all datasets that satisfy the filters."""

    total_count: int
    items: Sequence[ExplainedItem]
    notes: Sequence[ReportedNote]


class ReportedDataset(msgspec.Struct, frozen=True, kw_only=True):
    """The identity of a dataset in a report.

    Attributes:
        licences: the licences that one may choose from, as SPDX expressions if they were recognized, or only `unknown`.
            It is empty if the content of the dataset was not stored.
        source_name, source_url: the source that the record names, or None.
        data_sha256: the digest of the measured data file, or None.
    """

    id: int
    dataset_id: UUID | None
    name: str
    objective: str | None
    licences: Sequence[str]
    source_name: str | None
    source_url: str | None
    data_sha256: str | None


class ReportedChoice(msgspec.Struct, frozen=True, kw_only=True):
    """The present choice of a project.

    Attributes:
        dataset: the chosen dataset. For a withdrawn dataset, its state at the time of the choice.
        digest: the digest of the dataset's content at the time of the choice, or None if the content was not stored.
        state: whether the dataset has been changed or withdrawn since.
        changed_fields: the fields of the dataset that have changed since.
        changes: these fields with their values at the time of the choice and now.
        reason: the reason in the words of the owner.
        standing: the dataset's item in the present ranking, or None if it does not satisfy the filters of the project.
    """

    dataset: ReportedDataset
    digest: str | None
    state: ChosenDatasetState
    changed_fields: Sequence[str]
    changes: Sequence[ContentChange]
    reason: str | None
    standing: ExplainedItem | None


class ReportedDecision(msgspec.Struct, frozen=True, kw_only=True):
    """An entry in the history of the choices for a project.

    Attributes:
        at: the time of the choice.
        by: the name of the author, or None if the author has no name.
        is_by_owner: whether the author is the owner of the project. Other roles are not stored with a choice.
        dataset: the dataset at the time of the choice, or None if the previous choice was taken back.
        digest: the digest of the dataset's content at the time of the choice.
        is_withdrawn: whether the dataset has been withdrawn since.
        rank, score, total_count: the rank and the score of the dataset at the time, among `total_count` datasets.
        place, tied_with: the rank that datasets of the same score shared, and the number of other datasets with this
            score. They are None and 0 if this was not recorded.
        weights, filters, gates, assurance: the need of the project at the time, which the rank follows from.
        gate_outcomes: the outcome of each gate for the dataset at the time.
        superseded_at: the time of the next choice, or None for the present choice.
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
    filters: Mapping[str, Any]
    gates: Mapping[str, Any]
    gate_outcomes: Mapping[str, GateOutcome]
    assurance: Assurance | None
    formula_version: str | None
    superseded_at: datetime | None


class ReportedDifference(msgspec.Struct, frozen=True, kw_only=True):
    """The difference between two datasets in one criterion.

    Attributes:
        weight: the weight of the criterion.
        above_value, below_value: the values of the criterion for the two datasets, or None if unknown.
        above_points, below_points: the contributions of the criterion to the two scores.
        difference: the points of the upper dataset minus the points of the lower one.
        reversing_weight: the weight of the criterion beyond which the lower dataset would be ranked first, or None if
            no weight reverses the order.
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
    """The source of the value of one attribute of a dataset.

    Reports give the sources of the attributes that the weighted criteria are computed from.

    Attributes:
        value: the value at the assurance of the project, or None if there is none.
        level: the level of evidence for the value, or None if there is no value.
        quote, place, source: the quote that supports the value, its location and its document, or None if there is no
            quote.
    """

    attribute: str
    value: ClaimValue
    level: EvidenceLevel | None
    quote: str | None
    place: str | None
    source: ClaimSource | None


class ReportedReversal(msgspec.Struct, frozen=True):
    """The smallest change of a single weight that reverses the order of two datasets."""

    criterion_name: str
    weight_before: float
    weight: float


class ReportedComparison(msgspec.Struct, frozen=True, kw_only=True):
    """The reasons why one of two datasets is ranked above the other, and the changes that would reverse their order.

    Attributes:
        above, below: the two datasets in the order of the ranking.
        differences: their differences by criterion.
        reversal: the smallest change of a single weight that reverses their order, or None if there is none.
        above_sources, below_sources: the sources of the attribute values that the weighted criteria are computed from.
    """

    above: ExplainedItem
    below: ExplainedItem
    differences: Sequence[ReportedDifference]
    reversal: ReportedReversal | None
    above_sources: Sequence[ReportedSource] = ()
    below_sources: Sequence[ReportedSource] = ()


class ReportedPlace(msgspec.Struct, frozen=True, kw_only=True):
    """The stability of one dataset among the first k when the weights vary.

    Attributes:
        place, tied_with: the rank that datasets of the same score share, and the number of other datasets with this
            score.
        share: the share of the samples in which the dataset stays among the first k.
        same_rank_share: the share of the samples in which the dataset keeps its rank.
        best_rank, worst_rank: its best and its worst rank in any sample, or None beyond the first 10 k.
        best_place, worst_place: the same, but datasets of the same score share a rank.
        overtaken_by: the name of the nearest dataset that overtakes it in a sample, or None if none does.
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
    """The stability of the first k places when each weight varies by up to `spread`."""

    k: int
    samples: int
    spread: float
    seed: int
    places: Sequence[ReportedPlace]


class ReportedLift(msgspec.Struct, frozen=True):
    """The gain in score if an attribute of a dataset had the given value, and the resulting score and rank."""

    attribute: str
    value: bool
    gain: float
    score: float
    rank: int


class ReportedProspects(msgspec.Struct, frozen=True, kw_only=True):
    """The possible changes in the rank of a dataset.

    Attributes:
        place, tied_with: the rank that datasets of the same score share, and the number of other datasets with this
            score.
        best_rank: the rank of the dataset if all its unknown ethical attributes were true.
        worst_rank: its rank if all unknown ethical attributes of all other datasets were true.
        lifts: the attributes that would raise its score, the largest gain first.
        target_rank: a rank to reach, or None.
        smallest_set: the smallest set of attributes that reach `target_rank` together, or None if no set does.
        reached_rank: the rank after `smallest_set`, which may be better than `target_rank`.
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
    """An effective claim, with its quote and its source.

    Claims that were stored with the choice of a withdrawn dataset have no author, no time and no review.

    Attributes:
        note: the rule by which the value follows from the quote.
    """

    value: ClaimValue
    not_applicable: bool
    level: EvidenceLevel
    quote: str | None
    note: str | None
    place: str | None
    source: ClaimSource | None
    standard: str | None
    by: str | None
    at: datetime | None
    until: datetime | None
    review: ReportedReview | None


class ReportedAttribute(msgspec.Struct, frozen=True, kw_only=True):
    """One attribute of a dataset with its evidence.

    Attributes:
        value: the value that the record shows, or None if it is unknown.
        not_applicable: whether the attribute does not apply to the dataset.
        level: the level of evidence for the value.
        counted_value: the value at the assurance of the project.
        is_conflicting: whether claims state different values.
        claims: the effective claims, the newest first.
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
        """Whether any claim has better evidence than a mere declaration."""
        return any(claim.level is not EvidenceLevel.DECLARED for claim in self.claims)


class ReportedPoint(msgspec.Struct, frozen=True, kw_only=True):
    """A point of law and its evidence in the report.

    Attributes:
        point: the key of the point in `LEGAL_POINTS`.
        attributes: the attributes that are relevant to the point.
        evident: the relevant attributes with better evidence than a mere declaration.
        parts: the relevant parts of the report that are not empty.
        has_evidence: whether `evident` or `parts` is not empty.
    """

    point: str
    attributes: Sequence[str]
    evident: Sequence[str]
    parts: Sequence[str]
    has_evidence: bool


class ReportedEvidence(msgspec.Struct, frozen=True, kw_only=True):
    """The evidence about one dataset, by attribute and by points of law.

    Attributes:
        is_chosen: whether the dataset is the chosen one, rather than the first of the ranking.
        kept_at: the time of the choice if the dataset has been withdrawn, since the evidence was stored then.
    """

    dataset: ReportedDataset
    is_chosen: bool
    kept_at: datetime | None
    attributes: Sequence[ReportedAttribute]
    gdpr: Sequence[ReportedPoint]
    ai_act: Sequence[ReportedPoint]


class ReportContent(msgspec.Struct, frozen=True, kw_only=True):
    """All facts of a report.

    Attributes:
        version: the version of this structure.
        formula_version: the version of the formula of the scores.
        project: the id, name, description and times of the project.
        need: the filters, the gates, the assurance and the weights with their shares, and whether the weights were set
            for this project.
        ranking: the first ten datasets as items of the recommendations, the number of all that match, and notes.
        choice: the chosen dataset with its digest, its changes since, the reason and its place in the ranking, or null
            if nothing is chosen.
        history: the choices for this project, the newest first, at most fifty.
        history_count: the number of all choices for this project.
        catalog_changed_at: the time of the last change to any of the ranked datasets or the chosen one, or null if
            there are none.
        comparison: the chosen dataset and the runner-up, or the first of the ranking and the chosen dataset, with the
            differences of their points, the sources of their values, and the smallest change of a single weight that
            reverses their order.
        robustness: the stability of the first ten places when the weights vary.
        prospects: for each of the two compared datasets, the ranks that are possible given its unknown attributes, and
            the attributes that would raise its score.
        evidence: the evidence about the chosen dataset, or about the first of the ranking if nothing is chosen, by
            attribute with the effective claims, and by points of law.
        trainings, explanations: the newest five successful ones of each kind in this project, and the newest five
            trainings on the dataset of `evidence`. The `request` of a training gives the same model again for the same
            file. Statements of explanations about single rows are left out, since a row may describe a person.
        training_counts: the number of all trainings in this project that have ended and were not deleted, by their
            state.
        model_comparison: the newest finished comparison of models in this project, which shows which of several
            datasets trains the best model, with the scores and their intervals, or null if there is none. The datasets
            are the first ones of the ranking at that time, or those that the user named.
        limitations: the codes of the limitations of the report.
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
    training_counts: Mapping[str, int]
    explanations: Sequence[ReportedExplanation]
    model_comparison: ReportedModelComparison | None
    limitations: Sequence[str]

    def digest(self) -> str:
        """Return the SHA-256 digest of the canonical JSON (RFC 8785) of this report, in hexadecimal."""
        return canonical_digest(self)
