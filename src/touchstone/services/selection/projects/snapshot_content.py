"""The content of a snapshot: a project, its choice, and the datasets recommended for it, all as they were.

A snapshot freezes the first recommendations for a project, so that they can be shown and explained after the catalog
has changed.
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
    """The part of a project that a snapshot contains: its name, and everything that determines its ranking."""

    id: UUID
    name: str
    description: str | None
    criteria: dict[str, Any]
    weights: list[CriterionWeight]
    assurance: Assurance
    gates: dict[str, Any]

    @classmethod
    def of(cls, project: ProjectRecord) -> "FrozenProject":
        """Return the part of a project that a snapshot contains."""
        return cls(**{name: getattr(project, name) for name in cls.__struct_fields__})

    def need(self) -> ProjectNeed:
        """Return the need that the datasets were ranked for."""
        return ProjectNeed(criteria=self.criteria, weights=self.weights, assurance=self.assurance, gates=self.gates)


class FrozenChoice(msgspec.Struct, frozen=True, kw_only=True):
    """The dataset that was chosen when the snapshot was made."""

    id: int
    name: str
    digest: str | None
    reason: str | None

    @classmethod
    def of(cls, choice: ChoiceRecord | None) -> "FrozenChoice | None":
        """Return the dataset of the last choice with the reason, or None if no dataset was chosen."""
        if choice is None or choice.dataset is None:
            return None

        dataset = choice.dataset
        return cls(id=dataset.id, name=dataset.name, digest=dataset.digest, reason=choice.reason)


class SnapshotContent(msgspec.Struct, frozen=True, kw_only=True):
    """The content of a snapshot, which is stored as canonical JSON together with the digest of this JSON.

    Attributes:
        version: the version of this format.
        limit: how many datasets the snapshot was to contain at most.
        effective_weights: the weights as shares that add up to 1.
        total_count: how many datasets matched.
        items: the recommended datasets with the explanations of their scores, each completed with the `digest`, the
            `record` and the `claims` of the dataset.
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
        """Return the recommended datasets in the form that a replay compares with the present ones."""
        return [_ranked_dataset(item) for item in self.items]

    def project_changes(self, project: ProjectRecord) -> list[ContentChange]:
        """Return the fields of the project that have changed since the snapshot."""
        before = msgspec.to_builtins(self.project)
        after = msgspec.to_builtins(FrozenProject.of(project))
        return [ContentChange(name, before[name], after[name]) for name in before if before[name] != after[name]]


def freeze_items(items: Sequence[ScoredItem], contents: Mapping[int, DatasetContent]) -> list[dict[str, Any]]:
    """Return the items of a ranking for a snapshot, each completed with the content of its dataset.

    A dataset without a content is left out: it has been withdrawn since it was ranked. The items have to be without
    sentences, because a snapshot has no language.
    """
    frozen_items: list[dict[str, Any]] = []
    for item in items:
        content = contents.get(item.id)
        if content is not None:
            frozen_item = {
                **msgspec.to_builtins(item),
                "digest": content.digest,
                "record": content.record,
                "claims": content.claims,
            }
            frozen_items.append(frozen_item)

    return frozen_items


def _ranked_dataset(item: Mapping[str, Any]) -> RankedDataset:
    """Convert an item of a snapshot to the form that a replay compares with the present dataset."""
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
