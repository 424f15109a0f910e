"""Collecting what a report states from the catalog in memory and from the database."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import NamedTuple
from uuid import UUID

import msgspec

from touchstone.core.errors import DatasetNotFound
from touchstone.database.engine import Database
from touchstone.ranking.formula_version import FORMULA_VERSION
from touchstone.services.selection.catalog.live_catalog import LiveCatalog
from touchstone.services.selection.datasets.scoring_request import ScoringRequest
from touchstone.services.selection.evidence.claim_editor import EvidenceEditor
from touchstone.services.selection.projects.project_ranking import ProjectNeed
from touchstone.services.selection.projects.store import ProjectRecord
from touchstone.services.selection.report.choice_facts import ChoiceFacts, load_choice_facts
from touchstone.services.selection.report.evidence_facts import (
    current_evidence,
    find_sources,
    kept_evidence,
    reported_dataset,
)
from touchstone.services.selection.report.fact_types import (
    VERSION,
    ReportContent,
    ReportedChoice,
    ReportedComparison,
    ReportedDataset,
    ReportedEvidence,
    ReportedNeed,
    ReportedProject,
    ReportedRanking,
    ReportedSource,
    ReportedTraining,
    WeightShare,
)
from touchstone.services.selection.report.job_facts import load_explanations, load_trainings
from touchstone.services.selection.report.legal_points import ReportPart
from touchstone.services.selection.report.limitations import find_limitations
from touchstone.services.selection.report.model_comparison_facts import load_model_comparison
from touchstone.services.selection.report.ranking_facts import ProjectRanking, find_standing, rank_for_report
from touchstone.services.selection.report.reason_facts import compare_with_rival, find_prospects, measure_robustness


class _Subject(NamedTuple):
    """The dataset about which a report gives the evidence, and the owner of the project, who has to see it."""

    dataset_id: int
    viewer: UUID
    is_chosen: bool


class ReportReader:
    """Collects what reports state about projects, each on behalf of its owner."""

    def __init__(self, database: Database, catalog: LiveCatalog, evidence: EvidenceEditor) -> None:
        self._database = database
        self._catalog = catalog
        self._evidence = evidence

    async def read(self, project: ProjectRecord) -> ReportContent:
        """Return what a report on a project states now.

        Raises:
            IndexBuilding: the project searches words that have not been indexed yet.
        """
        scoring = ProjectNeed.of(project).scoring()
        need = _reported_need(project, scoring)
        async with self._database.reading() as connection:
            choice_facts = await load_choice_facts(connection, project)
            trainings = await load_trainings(connection, project)
            explanations = await load_explanations(connection, project)
            model_comparison = await load_model_comparison(connection, project)

        ranking = await rank_for_report(self._catalog, scoring, project.assurance, project.user_id)
        choice = await self._read_choice(project, choice_facts, ranking)
        comparison = await asyncio.to_thread(compare_with_rival, ranking, choice)
        if comparison is not None:
            comparison = await self._with_sources(comparison, need, project.user_id)
        subject = _subject_of_evidence(project, ranking.reported, choice_facts)
        parts = _present_parts(ranking.reported, choice, trainings)
        evidence = None if subject is None else await self._read_evidence(subject, need, choice_facts, parts)

        return ReportContent(
            version=VERSION,
            formula_version=FORMULA_VERSION,
            project=_reported_project(project),
            need=need,
            ranking=ranking.reported,
            choice=choice,
            history=choice_facts.history,
            comparison=comparison,
            robustness=await asyncio.to_thread(measure_robustness, ranking),
            prospects=await asyncio.to_thread(find_prospects, ranking, comparison, choice),
            evidence=evidence,
            trainings=trainings,
            explanations=explanations,
            model_comparison=model_comparison,
            limitations=find_limitations(need, ranking.reported, choice, evidence, trainings),
        )

    async def _read_choice(
        self, project: ProjectRecord, facts: ChoiceFacts, ranking: ProjectRanking
    ) -> ReportedChoice | None:
        """Return the choice of a project; None if nothing is chosen."""
        chosen = facts.chosen
        if chosen is None:
            return None

        record = await self._catalog.records.stored_record(chosen.id, project.user_id)
        if record is not None:
            dataset = reported_dataset(record)
        elif facts.kept is not None:
            dataset = facts.kept.dataset
        else:
            dataset = ReportedDataset(id=chosen.id, dataset_id=None, name=chosen.name, objective=None)

        return ReportedChoice(
            dataset=dataset,
            digest=chosen.digest,
            state=chosen.state,
            changed_fields=[change.field for change in chosen.changes],
            reason=project.choice_reason,
            standing=await asyncio.to_thread(find_standing, ranking, chosen.id),
        )

    async def _with_sources(
        self, comparison: ReportedComparison, need: ReportedNeed, viewer: UUID
    ) -> ReportedComparison:
        """Return a comparison that also says where the values behind the weighted criteria come from."""
        above_sources = await self._read_sources(comparison.above.id, need, viewer)
        below_sources = await self._read_sources(comparison.below.id, need, viewer)
        return msgspec.structs.replace(comparison, above_sources=above_sources, below_sources=below_sources)

    async def _read_sources(self, dataset_id: int, need: ReportedNeed, viewer: UUID) -> list[ReportedSource]:
        """Return where the values of a dataset come from; none if it has been deleted a moment ago."""
        try:
            evidence = await self._evidence.read(dataset_id, viewer)
        except DatasetNotFound:
            return []
        return find_sources(evidence, need, datetime.now(UTC))

    async def _read_evidence(
        self,
        subject: _Subject,
        need: ReportedNeed,
        facts: ChoiceFacts,
        parts: Sequence[ReportPart],
    ) -> ReportedEvidence | None:
        """Return what is known about a dataset.

        If it was chosen and has gone, it is what was known when it was chosen, or None if that was not kept.
        """
        try:
            evidence = await self._evidence.read(subject.dataset_id, subject.viewer)
        except DatasetNotFound:
            return kept_evidence(facts.kept, need, parts) if facts.kept else None
        return current_evidence(evidence, need, parts, datetime.now(UTC), is_chosen=subject.is_chosen)


def _subject_of_evidence(project: ProjectRecord, ranking: ReportedRanking, facts: ChoiceFacts) -> _Subject | None:
    """Return the chosen dataset, or the first of the ranking if nothing is chosen; None if there is none at all."""
    if facts.chosen is not None:
        return _Subject(facts.chosen.id, project.user_id, is_chosen=True)
    if ranking.items:
        return _Subject(ranking.items[0].id, project.user_id, is_chosen=False)
    return None


def _reported_project(project: ProjectRecord) -> ReportedProject:
    """Return a project as its report names it."""
    return ReportedProject(
        id=project.id,
        name=project.name,
        description=project.description,
        created_at=project.created_at,
        updated_at=project.updated_at,
    )


def _reported_need(project: ProjectRecord, scoring: ScoringRequest) -> ReportedNeed:
    """Return what a project asks of a dataset."""
    shares = {share.criterion_name: share.weight for share in scoring.effective_weights()}
    weights = [WeightShare(name, scoring.weights[name], share) for name, share in shares.items()]
    return ReportedNeed(
        filters=scoring.filters,
        gates=scoring.gates,
        weights=weights,
        has_own_weights=bool(project.weights),
        assurance=project.assurance,
    )


def _present_parts(
    ranking: ReportedRanking, choice: ReportedChoice | None, trainings: Sequence[ReportedTraining]
) -> list[ReportPart]:
    """Return the parts of a report that have something to say."""
    parts = [ReportPart.NEED]
    if choice is not None and choice.reason:
        parts.append(ReportPart.CHOICE)
    if len(ranking.items) > 1:
        parts.append(ReportPart.RANKING)
    if any(training.group_metrics for training in trainings):
        parts.append(ReportPart.GROUP_METRICS)
    return parts
