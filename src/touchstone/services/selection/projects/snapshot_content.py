"""What a snapshot freezes: the need of a project, its choice, and the recommended datasets with what they say."""

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
from touchstone.services.selection.projects.replay import RankedDataset
from touchstone.services.selection.projects.store import ProjectRecord
from touchstone.services.selection.weights import CriterionWeight

CONTENT_VERSION: Final = 1


class FrozenProject(msgspec.Struct, frozen=True, kw_only=True):
    """A project as a snapshot has it: its name and what it asked of datasets."""

    id: UUID
    name: str
    description: str | None
    criteria: dict[str, Any]
    weights: list[CriterionWeight]
    assurance: Assurance
    gates: dict[str, Any]

    @classmethod
    def of(cls, project: ProjectRecord) -> "FrozenProject":
        """Return a project as a snapshot has it."""
        return cls(**{name: getattr(project, name) for name in cls.__struct_fields__})

    def need(self) -> ProjectNeed:
        """Return what the project asked for."""
        return ProjectNeed(criteria=self.criteria, weights=self.weights, assurance=self.assurance, gates=self.gates)


class FrozenChoice(msgspec.Struct, frozen=True, kw_only=True):
    """The dataset that was chosen when the snapshot was made."""

    id: int
    name: str
    digest: str | None
    reason: str | None

    @classmethod
    def of(cls, choice: ChoiceRecord | None) -> "FrozenChoice | None":
        """Return the last choice for a project as a snapshot has it, or None if no dataset is chosen."""
        if choice is None or choice.dataset is None:
            return None

        dataset = choice.dataset
        return cls(id=dataset.id, name=dataset.name, digest=dataset.digest, reason=choice.reason)


class SnapshotContent(msgspec.Struct, frozen=True, kw_only=True):
    """What a snapshot freezes; its canonical JSON is stored and has the digest.

    Attributes:
        version: the version of this format.
        limit: how many datasets were asked for.
        effective_weights: the weights as shares that add up to 1.
        total_count: how many datasets matched.
        items: the recommended datasets as the recommendations explain them, each with the `digest`, the `record` and
            the `claims` of its content.
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
        """Return the recommended datasets, to compare them with the present."""
        return [_ranked_dataset(item) for item in self.items]

    def project_changes(self, project: ProjectRecord) -> list[ContentChange]:
        """Return what the project asks for now that it did not ask for in the snapshot, field by field."""
        before, after = msgspec.to_builtins(self.project), msgspec.to_builtins(FrozenProject.of(project))
        return [ContentChange(name, before[name], after[name]) for name in before if before[name] != after[name]]


def freeze_items(items: Sequence[ScoredItem], contents: Mapping[int, DatasetContent]) -> list[dict[str, Any]]:
    """Return recommended datasets as a snapshot has them; `contents` says what they say, by id.

    The items have no sentences, because a snapshot has no language. A dataset that has been withdrawn since it was
    ranked is left out.
    """
    frozen_items: list[dict[str, Any]] = []
    for item in items:
        content = contents.get(item.id)
        if content is not None:
            said = {"digest": content.digest, "record": content.record, "claims": content.claims}
            frozen_items.append({**msgspec.to_builtins(item), **said})

    return frozen_items


def _ranked_dataset(item: Mapping[str, Any]) -> RankedDataset:
    """Return a dataset of a snapshot as it was ranked."""
    content = {name: item[name] for name in DatasetContent.__struct_fields__}
    return RankedDataset(
        id=item["id"],
        dataset_id=UUID(item["dataset_id"]),
        name=item["dataset_name"],
        rank=item["rank"],
        score=float(item["score"]),
        points={name: float(points) for name, points in item["points"].items()},
        content=msgspec.convert(content, DatasetContent),
    )
