"""Schemas of projects: the request bodies, and the responses as documented by OpenAPI."""

from datetime import datetime
from typing import Annotated, Any, ClassVar
from uuid import UUID

from pydantic import BaseModel, BeforeValidator, Field

from touchstone.core.evidence import Assurance
from touchstone.core.text import is_blank
from touchstone.http.request_models import Name, RequestModel, RowId, Text
from touchstone.services.selection.datasets.schemas import RankingNoteView, ScoredView, WeightView
from touchstone.services.selection.json_fields import JsonList, JsonObject
from touchstone.services.selection.projects.chosen_dataset import ChosenDatasetState


def _blank_as_null(value: Any) -> Any:
    """Strip a string, or return None if it is blank. Values of other types are returned unchanged."""
    if isinstance(value, str):
        return None if is_blank(value) else value.strip()
    return value


Reason = Annotated[Text | None, BeforeValidator(_blank_as_null)]


class _ProjectFields(RequestModel):
    """The fields of a project that clients can set."""

    # Clients may send back a whole project, so the fields that the service sets are accepted and ignored.
    ignored_keys: ClassVar[frozenset[str]] = frozenset({"id", "user_id", "chosen_dataset", "created_at", "updated_at"})
    description: Text | None = None
    criteria: JsonObject | None = Field(None, description="A filter object, as in scoring.")
    weights: JsonList | None = Field(None, description="A list of weights, as in scoring.")
    chosen_dataset_id: RowId | None = Field(None, description="The dataset that was chosen.")
    choice_reason: Reason = Field(None, description="Why it was chosen.")
    assurance: Assurance | None = Field(
        None, description="The weakest level of evidence that counts in recommendations; `declared` unless given."
    )
    gates: JsonObject | None = Field(None, description="Requirements that do not affect the score.")


class ProjectCreate(_ProjectFields):
    """A project to create, which will belong to the caller."""

    name: Name


class ProjectChange(_ProjectFields):
    """The changes to a project. Fields that are left out keep their values, and null clears a field."""

    name: Name = Field(None)  # type: ignore[assignment]


class ContentChangeView(BaseModel):
    """A field of a dataset with its values at two different times."""

    field: str = Field(
        description="A name in the record, or `metadata.NAME`, `evidence.ATTRIBUTE` or `claims.ATTRIBUTE`."
    )
    before: Any
    after: Any


class ChosenDatasetStateView(BaseModel):
    """The chosen dataset of a project, and its changes since the choice."""

    id: int
    dataset_id: UUID | None
    name: str = Field(description="Its name when it was chosen.")
    digest: str | None = Field(description="The digest of its content when it was chosen.")
    state: ChosenDatasetState
    changes: list[ContentChangeView] = Field(description="What has changed since it was chosen.")


class ProjectView(BaseModel):
    """A project."""

    id: UUID
    user_id: UUID
    name: str
    description: str | None
    criteria: dict[str, Any]
    weights: list[WeightView]
    chosen_dataset_id: int | None
    choice_reason: str | None
    chosen_dataset: ChosenDatasetStateView | None = Field(description="The state of the chosen dataset now.")
    assurance: Assurance
    gates: dict[str, Any]
    created_at: datetime
    updated_at: datetime


class ProjectPageView(BaseModel):
    """A page of the list of projects."""

    projects: list[ProjectView]
    total_count: int
    page: int
    page_size: int
    total_pages: int


class RecommendationsView(BaseModel):
    """The datasets that the catalog recommends for a project."""

    project: ProjectView
    datasets: list[ScoredView]
    total_count: int
    effective_weights: list[WeightView]
    assurance: Assurance
    notes: list[RankingNoteView]
