"""Collects the facts of a report from the catalog in memory and from the database."""

import asyncio
import contextlib
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from uuid import UUID

import msgspec

from touchstone.core.errors import DatasetNotFound
from touchstone.database.engine import Database, Reader
from touchstone.ranking.formula_version import FORMULA_VERSION
from touchstone.services.selection.catalog.live_catalog import LiveCatalog
from touchstone.services.selection.datasets.scoring_request import ScoringRequest
from touchstone.services.selection.datasets.store import visible_datasets_without_metadata
from touchstone.services.selection.evidence.claim_editor import EvidenceEditor, RecordEvidence
from touchstone.services.selection.projects.project_ranking import ProjectNeed
from touchstone.services.selection.projects.store import ProjectRecord
from touchstone.services.selection.report.choice_facts import ChoiceFacts, load_choice_facts
from touchstone.services.selection.report.dataset_facts import present_dataset, unknown_dataset
from touchstone.services.selection.report.evidence_facts import (
    current_evidence,
    find_sources,
    stored_evidence,
)
from touchstone.services.selection.report.fact_types import (
    VERSION,
    ReportContent,
    ReportedChoice,
    ReportedComparison,
    ReportedNeed,
    ReportedProject,
    ReportedRanking,
    WeightShare,
)
from touchstone.services.selection.report.job_facts import (
    ReportedTraining,
    count_trainings,
    load_explanations,
    load_trainings,
)
from touchstone.services.selection.report.legal_points import ReportPart
from touchstone.services.selection.report.limitations import find_limitations
from touchstone.services.selection.report.model_comparison_facts import load_model_comparison
from touchstone.services.selection.report.ranking_facts import ProjectRanking, find_item, rank_for_report
from touchstone.services.selection.report.reason_facts import compare_with_rival, find_prospects, measure_robustness


class ReportReader:
    """Collects the facts of reports on projects, with the permissions of the owner of each project."""

    def __init__(self, database: Database, catalog: LiveCatalog, evidence: EvidenceEditor) -> None:
        self._database = database
        self._catalog = catalog
        self._evidence = evidence

    async def read(self, project: ProjectRecord) -> ReportContent:
        """Return the facts of the report on a project.

        Raises:
            IndexBuilding: the filters of the project contain words, and the word index of the catalog is not ready yet.
        """
        scoring = ProjectNeed.from_project(project).scoring()
        project_need = _reported_need(project, scoring)
        async with self._database.reading() as connection:
            choice_facts = await load_choice_facts(connection, project)

        ranking = await rank_for_report(self._catalog, scoring, project.assurance, project.user_id)
        choice = await self._read_choice(project, choice_facts, ranking)
        comparison = await asyncio.to_thread(compare_with_rival, ranking, choice)
        subject_id = _find_subject_id(ranking.reported, choice_facts)
        described_ids = _list_described_ids(subject_id, comparison)
        evidence_by_id = await self._read_evidence(described_ids, project.user_id)

        ranked_ids = {item.id for item in ranking.reported.items}
        async with self._database.reading() as connection:
            catalog_changed_at = await _find_latest_change(connection, ranked_ids | described_ids, project.user_id)
            trainings = await load_trainings(connection, project, subject_id)
            training_counts = await count_trainings(connection, project)
            explanations = await load_explanations(connection, project)
            model_comparison = await load_model_comparison(connection, project)
        trainings_on_subject = [
            training for training in trainings if subject_id is not None and training.dataset_id == subject_id
        ]

        now = datetime.now(UTC)
        if comparison is not None:
            comparison = _with_sources(comparison, evidence_by_id, project_need, now)
        parts = _list_present_parts(ranking.reported, choice, trainings_on_subject)
        evidence = None
        if subject_id in evidence_by_id:
            is_chosen = choice is not None
            evidence = current_evidence(evidence_by_id[subject_id], project_need, parts, now, is_chosen=is_chosen)
        elif choice is not None and choice_facts.stored_content is not None:
            evidence = stored_evidence(choice_facts.stored_content, project_need, parts)

        return ReportContent(
            version=VERSION,
            formula_version=FORMULA_VERSION,
            project=_reported_project(project),
            need=project_need,
            ranking=ranking.reported,
            choice=choice,
            history=choice_facts.history,
            history_count=choice_facts.history_count,
            catalog_changed_at=catalog_changed_at,
            comparison=comparison,
            robustness=await asyncio.to_thread(measure_robustness, ranking),
            prospects=await asyncio.to_thread(find_prospects, ranking, comparison, choice),
            evidence=evidence,
            trainings=trainings,
            training_counts=training_counts,
            explanations=explanations,
            model_comparison=model_comparison,
            limitations=find_limitations(project_need, ranking.reported, choice, evidence, trainings_on_subject),
        )

    async def _read_choice(
        self, project: ProjectRecord, choice_facts: ChoiceFacts, ranking: ProjectRanking
    ) -> ReportedChoice | None:
        """Return the present choice for a project, or None if nothing is chosen."""
        chosen = choice_facts.chosen
        if chosen is None:
            return None

        record = await self._catalog.records.stored_record(chosen.id, project.user_id)
        if record is not None:
            dataset = present_dataset(record)
        elif choice_facts.stored_content is not None:
            dataset = choice_facts.stored_content.dataset
        else:
            dataset = unknown_dataset(chosen.id, chosen.name)

        return ReportedChoice(
            dataset=dataset,
            digest=chosen.digest,
            state=chosen.state,
            changed_fields=[change.field for change in chosen.changes],
            changes=chosen.changes,
            reason=project.choice_reason,
            standing=await asyncio.to_thread(find_item, ranking, chosen.id),
        )

    async def _read_evidence(self, dataset_ids: Collection[int], viewer: UUID) -> dict[int, RecordEvidence]:
        """Return the evidence about datasets by id, without datasets that do not exist any more."""
        evidence_by_id = {}
        for dataset_id in dataset_ids:
            with contextlib.suppress(DatasetNotFound):
                evidence_by_id[dataset_id] = await self._evidence.read(dataset_id, viewer)
        return evidence_by_id


async def _find_latest_change(connection: Reader, dataset_ids: Collection[int], viewer: UUID) -> datetime | None:
    """Return the time of the latest change to any dataset that the viewer can see, or None if there are none."""
    records = await visible_datasets_without_metadata(connection, sorted(dataset_ids), viewer)
    return max((record.updated_at for record in records), default=None)


def _find_subject_id(ranking: ReportedRanking, choice_facts: ChoiceFacts) -> int | None:
    """Return the id of the dataset whose evidence a report shows, or None if nothing is chosen or ranked.

    It is the chosen dataset, or the first one of the ranking if nothing is chosen.
    """
    if choice_facts.chosen is not None:
        return choice_facts.chosen.id
    return ranking.items[0].id if ranking.items else None


def _list_described_ids(subject_id: int | None, comparison: ReportedComparison | None) -> set[int]:
    """Return the ids of the datasets whose evidence a report needs: its subject and the two compared datasets."""
    dataset_ids = set() if subject_id is None else {subject_id}
    if comparison is not None:
        dataset_ids |= {comparison.above.id, comparison.below.id}
    return dataset_ids


def _with_sources(
    comparison: ReportedComparison,
    evidence_by_id: Mapping[int, RecordEvidence],
    project_need: ReportedNeed,
    now: datetime,
) -> ReportedComparison:
    """Return a comparison together with the sources of the attribute values of both datasets.

    A dataset has no sources if it was deleted while the report was being created.
    """
    above_sources, below_sources = (
        find_sources(evidence_by_id[item.id], project_need, now) if item.id in evidence_by_id else []
        for item in (comparison.above, comparison.below)
    )
    return msgspec.structs.replace(comparison, above_sources=above_sources, below_sources=below_sources)


def _reported_project(project: ProjectRecord) -> ReportedProject:
    """Return the identity of a project for its report."""
    return ReportedProject(
        id=project.id,
        name=project.name,
        description=project.description,
        created_at=project.created_at,
        updated_at=project.updated_at,
    )


def _reported_need(project: ProjectRecord, scoring: ScoringRequest) -> ReportedNeed:
    """Return the requirements of a project for datasets, with the share of each weight."""
    shares = {share.criterion_name: share.weight for share in scoring.effective_weights()}
    weights = [WeightShare(name, scoring.weights[name], share) for name, share in shares.items()]
    return ReportedNeed(
        filters=scoring.filters,
        gates=scoring.gates,
        weights=weights,
        has_own_weights=bool(project.weights),
        assurance=project.assurance,
    )


def _list_present_parts(
    ranking: ReportedRanking, choice: ReportedChoice | None, trainings_on_subject: Sequence[ReportedTraining]
) -> list[ReportPart]:
    """Return the parts of a report that are not empty and therefore are evidence for legal points."""
    parts = [ReportPart.NEED]
    if choice is not None and choice.reason:
        parts.append(ReportPart.CHOICE)
    if len(ranking.items) > 1:
        parts.append(ReportPart.RANKING)
    if any(training.group_metrics for training in trainings_on_subject):
        parts.append(ReportPart.GROUP_METRICS)
    return parts
