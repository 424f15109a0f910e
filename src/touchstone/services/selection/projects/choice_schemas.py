"""Response schemas of choices, and the conversion of choices to JSON."""

from collections.abc import Collection
from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic import BaseModel, Field

from touchstone.core.evidence import Assurance, EvidenceLevel
from touchstone.services.selection.datasets.schemas import PersonView, WeightView
from touchstone.services.selection.evidence.schemas import SourceView
from touchstone.services.selection.gates import GateOutcome
from touchstone.services.selection.projects.choice_store import ChoiceRecord, ChosenDataset
from touchstone.services.selection.user_name_store import Pseudos, person_json


class ContentClaimView(BaseModel):
    """An active claim about a dataset at the time of the choice, or a declaration of its creator."""

    attribute: str
    value: bool | int | float | None
    not_applicable: bool
    level: EvidenceLevel
    scope: str | None
    quote: str | None
    place: str | None
    source: SourceView | None
    standard: str | None
    field: str | None
    note: str | None
    until: datetime | None


class ChosenDatasetContentView(BaseModel):
    """A dataset at the time of the choice."""

    id: int
    dataset_id: UUID | None
    name: str
    digest: str | None = Field(description="SHA-256 over the canonical JSON of `dataset_id`, `record` and `claims`.")
    withdrawn: bool = Field(description="It has been deleted, or the owner of the project may no longer see it.")
    record: dict[str, Any] | None = Field(description="Its attributes, texts and metadata.")
    claims: list[ContentClaimView]


class ChoiceRankingView(BaseModel):
    """The place of the chosen dataset in the ranking of the project."""

    rank: int | None = Field(description="Null if it did not match the filters.")
    place: int | None = Field(description="1 + the number of datasets with a higher score; null if not recorded.")
    tied_with: int = Field(ge=0, description="The number of other datasets with exactly this score.")
    score: float | None
    total_count: int
    weights: list[WeightView]
    filters: dict[str, Any]
    gates: dict[str, Any]
    gate_outcomes: dict[str, GateOutcome] = Field(description="The outcome of each gate for the dataset.")
    assurance: Assurance
    formula_version: str
    catalog_version: str = Field(description="An opaque token that stands for the state of the catalog.")


class ChoiceView(BaseModel):
    """A choice for a project."""

    at: datetime
    by: PersonView
    dataset: ChosenDatasetContentView | None = Field(description="Null if the previous choice was withdrawn.")
    reason: str | None
    ranking: ChoiceRankingView | None
    superseded_at: datetime | None = Field(description="When the next choice was made.")


class ChoicePageView(BaseModel):
    """A page of the history of choices."""

    choices: list[ChoiceView]
    total_count: int
    page: int
    page_size: int
    total_pages: int


def choice_json(choice: ChoiceRecord, visible_ids: Collection[int], pseudos: Pseudos) -> dict[str, Any]:
    """Return the JSON object of a choice for the owner of the project.

    Args:
        choice: the choice.
        visible_ids: the ids of the datasets that the owner can still see.
        pseudos: the names of the authors, by user id.
    """
    dataset = choice.dataset
    return {
        "at": choice.created_at,
        "by": person_json(choice.author, pseudos),
        "dataset": None if dataset is None else _dataset_json(dataset, is_withdrawn=dataset.id not in visible_ids),
        "reason": choice.reason,
        "ranking": choice.ranking,
        "superseded_at": choice.superseded_at,
    }


def _dataset_json(dataset: ChosenDataset, *, is_withdrawn: bool) -> dict[str, Any]:
    """Return the JSON object of a chosen dataset, with its content at the time of the choice."""
    content = dataset.content
    return {
        "id": dataset.id,
        "dataset_id": content.dataset_id if content else None,
        "name": dataset.name,
        "digest": dataset.digest,
        "withdrawn": is_withdrawn,
        "record": content.record if content else None,
        "claims": content.claims if content else [],
    }
