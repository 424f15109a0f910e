"""The limitations of a report, as codes for the sentences in `messages.report`."""

from collections.abc import Iterator
from enum import StrEnum
from typing import Final

from touchstone.core.evidence import Assurance
from touchstone.services.selection.projects.chosen_dataset import ChosenDatasetState
from touchstone.services.selection.report.fact_types import (
    ReportedChoice,
    ReportedEvidence,
    ReportedNeed,
    ReportedRanking,
)
from touchstone.services.selection.report.job_facts import ReportedTraining


class Limitation(StrEnum):
    """A limitation of the conclusions that a report supports."""

    NO_COMPLIANCE = "no_compliance"  # always
    CATALOG_ONLY = "catalog_only"  # always
    CLAIMS_OF_OTHERS = "claims_of_others"  # always
    NOTHING_CHOSEN = "nothing_chosen"
    NO_REASON = "no_reason"
    DATASET_CHANGED = "dataset_changed"
    DATASET_WITHDRAWN = "dataset_withdrawn"
    CONTENT_NOT_KEPT = "content_not_kept"
    CHOICE_NOT_RANKED = "choice_not_ranked"
    DECLARATIONS_COUNT = "declarations_count"
    UNKNOWN_ATTRIBUTES = "unknown_attributes"
    NO_OWN_WEIGHTS = "no_own_weights"
    NO_TRAINING = "no_training"
    NO_GROUP_METRICS = "no_group_metrics"
    GROUP_DIFFERENCES = "group_differences"


_LIMITATION_BY_STATE: Final = {
    ChosenDatasetState.CHANGED: Limitation.DATASET_CHANGED,
    ChosenDatasetState.WITHDRAWN: Limitation.DATASET_WITHDRAWN,
    ChosenDatasetState.UNKNOWN: Limitation.CONTENT_NOT_KEPT,
}

WARNINGS_OF_GROUP_DIFFERENCES: Final = frozenset({"group_ratio", "group_gap"})
"""The codes of warnings about differences between groups that chance does not explain."""


def find_limitations(
    project_need: ReportedNeed,
    ranking: ReportedRanking,
    choice: ReportedChoice | None,
    evidence: ReportedEvidence | None,
    trainings: list[ReportedTraining],
) -> list[Limitation]:
    """Return the limitations of a report, in the order in which the report lists them.

    Args:
        project_need: the requirements of the project.
        ranking: the ranking of the project.
        choice: the present choice, or None if nothing is chosen.
        evidence: the evidence about the chosen dataset, or about the first one of the ranking if nothing is chosen.
        trainings: the trainings on the same dataset as `evidence`.
    """
    return [
        Limitation.NO_COMPLIANCE,
        Limitation.CATALOG_ONLY,
        Limitation.CLAIMS_OF_OTHERS,
        *_limits_of_choice(choice),
        *_limits_of_ranking(project_need, ranking),
        *_limits_of_evidence(evidence),
        *_limits_of_trainings(evidence, trainings),
    ]


def _limits_of_choice(choice: ReportedChoice | None) -> Iterator[Limitation]:
    """Yield the limitations due to a choice that is missing, unexplained, outdated or not ranked."""
    if choice is None:
        yield Limitation.NOTHING_CHOSEN
        return
    if not choice.reason:
        yield Limitation.NO_REASON
    if choice.state is not ChosenDatasetState.UNCHANGED:
        yield _LIMITATION_BY_STATE[choice.state]
    if choice.standing is None:
        yield Limitation.CHOICE_NOT_RANKED


def _limits_of_ranking(project_need: ReportedNeed, ranking: ReportedRanking) -> Iterator[Limitation]:
    """Yield the limitations due to default weights, or to declarations without evidence."""
    if not project_need.has_own_weights:
        yield Limitation.NO_OWN_WEIGHTS
    if project_need.assurance is Assurance.DECLARED and ranking.items:
        yield Limitation.DECLARATIONS_COUNT


def _limits_of_evidence(evidence: ReportedEvidence | None) -> Iterator[Limitation]:
    """Yield the limitations due to unknown attributes of the dataset."""
    if evidence is not None and any(attribute.counted_value is None for attribute in evidence.attributes):
        yield Limitation.UNKNOWN_ATTRIBUTES


def _limits_of_trainings(evidence: ReportedEvidence | None, trainings: list[ReportedTraining]) -> Iterator[Limitation]:
    """Yield the limitations due to missing trainings, missing group metrics, or differences between groups.

    If there is no dataset to examine, no training is missing.
    """
    if evidence is None:
        return

    if not trainings:
        yield Limitation.NO_TRAINING
    elif not any(training.group_metrics for training in trainings):
        yield Limitation.NO_GROUP_METRICS

    warning_codes = {warning.get("code") for training in trainings for warning in training.warnings}
    if not warning_codes.isdisjoint(WARNINGS_OF_GROUP_DIFFERENCES):
        yield Limitation.GROUP_DIFFERENCES
