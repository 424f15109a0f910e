"""The content of a snapshot: a project, its choice, and the recommended datasets, all at the time of the snapshot.

A snapshot preserves the first recommendations for a project, so that they can be shown and explained even after the
catalog has changed.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final
from uuid import UUID

import msgspec

from touchstone.core.evidence import Assurance
from touchstone.ranking.formula_version import FORMULA_VERSION
from touchstone.services.selection.datasets.ranking_response import ScoredItem
from touchstone.services.selection.projects.choice_store import ChoiceRecord
from touchstone.services.selection.projects.dataset_content import ContentChange, DatasetContent
from touchstone.services.selection.projects.project_ranking import ProjectNeed
from touchstone.services.selection.projects.ranking_differences import RankedDataset
from touchstone.services.selection.projects.store import ProjectRecord
from touchstone.services.selection.weights import CriterionWeight

CONTENT_VERSION: Final = 1


class FrozenProject(msgspec.Struct, frozen=True, kw_only=True):
    """The part of a project in a snapshot: its identity, and everything that determines its ranking."""

    id: UUID
    name: str
    description: str | None
    criteria: dict[str, Any]
    weights: list[CriterionWeight]
    assurance: Assurance
    gates: dict[str, Any]

    @classmethod
    def from_record(cls, project: ProjectRecord) -> "FrozenProject":
        """Copy the relevant fields of a project."""
        return cls(
            id=project.id,
            name=project.name,
            description=project.description,
            criteria=project.criteria,
            weights=project.weights,
            assurance=project.assurance,
            gates=project.gates,
        )

    def project_need(self) -> ProjectNeed:
        """Return the need of the project at the time of the snapshot."""
        return ProjectNeed(criteria=self.criteria, weights=self.weights, assurance=self.assurance, gates=self.gates)


class FrozenChoice(msgspec.Struct, frozen=True, kw_only=True):
    """The chosen dataset at the time of the snapshot."""

    id: int
    name: str
    digest: str | None
    reason: str | None

    @classmethod
    def from_choice(cls, choice: ChoiceRecord | None) -> "FrozenChoice | None":
        """Return the dataset of the last choice with the reason, or None if no dataset was chosen."""
        if choice is None or choice.dataset is None:
            return None

        dataset = choice.dataset
        return cls(id=dataset.id, name=dataset.name, digest=dataset.digest, reason=choice.reason)


class SnapshotContent(msgspec.Struct, frozen=True, kw_only=True):
    """The content of a snapshot, which is stored as canonical JSON together with the digest of this JSON.

    Attributes:
        version: the version of this format.
        limit: the requested maximum number of datasets.
        effective_weights: the weights as shares that add up to 1.
        total_count: the number of datasets that matched.
        items: the recommended datasets with the explanations of their scores, and with the `digest`, the `record` and
            the `claims` of each dataset.
    """

    version: int = CONTENT_VERSION
    formula_version: str = FORMULA_VERSION
    project: FrozenProject
    choice: FrozenChoice | None
    limit: int
    effective_weights: list[CriterionWeight]
    total_count: int
    items: list[dict[str, Any]]

    def ranked_datasets(self) -> list[RankedDataset]:
        """Return the recommended datasets for the comparison with the present ones."""
        return [_ranked_dataset(item) for item in self.items]

    def project_changes(self, project: ProjectRecord) -> list[ContentChange]:
        """Return the fields of the project that have changed since the snapshot."""
        before = msgspec.to_builtins(self.project)
        after = msgspec.to_builtins(FrozenProject.from_record(project))
        return [ContentChange(name, before[name], after[name]) for name in before if before[name] != after[name]]


def freeze_items(items: Sequence[ScoredItem], contents: Mapping[int, DatasetContent]) -> list[dict[str, Any]]:
    """Combine the items of a ranking with the contents of their datasets for a snapshot.

    Args:
        items: the items without sentences, because snapshots are independent of the language.
        contents: the contents by dataset id. Datasets that were withdrawn after the ranking have none, and are left
            out of the result.
    """
    frozen_items: list[dict[str, Any]] = []
    for item in items:
        content = contents.get(item.id)
        if content is None:
            continue
        frozen_item = {
            **msgspec.to_builtins(item),
            "digest": content.digest,
            "record": content.record,
            "claims": content.claims,
        }
        frozen_items.append(frozen_item)
    return frozen_items


def _ranked_dataset(item: Mapping[str, Any]) -> RankedDataset:
    """Convert an item of a snapshot for the comparison with the present state of the dataset."""
    content = {name: item[name] for name in DatasetContent.__struct_fields__}
    return RankedDataset(
        id=item["id"],
        dataset_id=UUID(item["dataset_id"]),
        name=item["dataset_name"],
        rank=item["rank"],
        place=item["place"],
        tied_with=item["tied_with"],
        score=float(item["score"]),
        points={name: float(points) for name, points in item["points"].items()},
        content=msgspec.convert(content, DatasetContent),
    )
