"""A client of the selection service, which knows where the file of a dataset is and to whom a project belongs."""

from collections.abc import Mapping
from typing import Any, Final
from uuid import UUID

import msgspec
from msgspec import Struct

from touchstone.core.attributes import ETHICAL
from touchstone.core.errors import (
    DataFileUnreadable,
    DatasetNotFound,
    FieldError,
    InvalidUserId,
    ProjectNotFound,
    ServiceError,
    Unavailable,
)
from touchstone.core.identity import Caller, parse_uuid
from touchstone.http.internal_client import InternalClient
from touchstone.jobs.job_records import Json

# The attributes of a dataset's record that results compare with the measured ones.
DECLARED_ATTRIBUTES: Final = ("instances_number", "features_number", "missing_values_percentage")


class DatasetSource(Struct, frozen=True):
    """The data file of a dataset, and the record that describes the dataset.

    `target` is the column that the record suggests to predict, and `licenses` are those that one may choose from.
    `levels` says how well the known flags and numbers of the record are supported, and `purposes` what documents say
    about what the data are for.
    """

    dataset_id: int
    file_path: str
    file_type: str
    record: Json
    name: str = ""
    target: str | None = None
    licenses: list[str] = []
    levels: dict[str, str] = {}
    purposes: list[Json] = []

    @property
    def declared(self) -> Json:
        """The declared attributes that results compare with the measured ones."""
        return {name: self.record.get(name) for name in DECLARED_ATTRIBUTES}

    @property
    def columns(self) -> list[str]:
        """The columns of the table, as they were measured when the record was made; empty if that was impossible."""
        measured = self._metadata.get("measured") or {}
        return [profile["name"] for profile in measured.get("column_profiles") or ()]

    @property
    def excluded_columns(self) -> list[str]:
        """The columns of the table from which the record suggests not to learn."""
        suggested_columns = self._metadata.get("exclude_columns")
        if not isinstance(suggested_columns, list):
            return []
        return [column for column in self.columns if column in suggested_columns]

    @property
    def description(self) -> Json:
        """The description of the dataset in the model card of a trained model.

        It is kept as it is when the job is accepted, even if the record of the dataset changes later.
        """
        source = self._metadata.get("source")

        # The level says how well a value is supported.
        ethical_record = [
            {"attribute": name, "value": self.record.get(name), "level": self.levels.get(name)} for name in ETHICAL
        ]

        return {
            "id": self.dataset_id,
            "uuid": self.record.get("dataset_id"),
            "name": self.record.get("name"),
            "objective": self.record.get("objective"),
            "licenses": self.licenses,
            "source": source if isinstance(source, dict) else None,
            "ethical_record": ethical_record,
            "purposes": self.purposes,
        }

    @property
    def _metadata(self) -> Json:
        """The metadata of the record."""
        return self.record.get("metadata") or {}


class ProjectSource(Struct, frozen=True):
    """A project of the caller, and the need that it describes."""

    id: UUID
    name: str
    description: str | None = None

    @property
    def need(self) -> Json:
        """What the card of a trained model says about the need for it, as it is known when the job is accepted."""
        return {"name": self.name, "description": self.description}


class RankedDataset(Struct, frozen=True):
    """A dataset in the ranking of a project."""

    id: int
    dataset_name: str
    rank: int


class SelectionClient:
    """Asks the selection service about datasets and projects, on behalf of a caller."""

    def __init__(self, backend: InternalClient) -> None:
        self._backend = backend

    async def load_dataset_source(self, dataset_id: int | str, caller: Caller) -> DatasetSource:
        """Ask the selection service for the data file of a dataset, and for the record that describes the dataset.

        Raises:
            DatasetNotFound: the caller may see no such dataset.
            DataFileUnreadable: the dataset has no data file.
            InvalidUserId, Unavailable: the selection service does not know the caller, or is not available.
        """
        error_by_status: Mapping[int, ServiceError] = {
            404: DatasetNotFound(),
            422: DataFileUnreadable(FieldError(("body", "dataset_id"), "no_table")),
        }
        source = await self._get(f"/datasets/{dataset_id}/source", caller, error_by_status)
        return msgspec.convert(source, DatasetSource)

    async def load_project(self, project_id: str, caller: Caller) -> ProjectSource:
        """Return a project of the caller.

        Raises:
            ProjectNotFound: the caller has no such project, or the id is malformed.
            InvalidUserId, Unavailable: the selection service does not know the caller, or is not available.
        """
        project_uuid = parse_uuid(project_id)
        if project_uuid is None:
            raise ProjectNotFound

        project = await self._get(f"/projects/{project_uuid}", caller, {404: ProjectNotFound()})
        return msgspec.convert(project, ProjectSource)

    async def load_ranking(self, project_id: UUID, caller: Caller, *, skip: int, limit: int) -> list[RankedDataset]:
        """Return a part of the ranking of a project, best first.

        Raises:
            ProjectNotFound: the caller has no such project.
            InvalidUserId, Unavailable: the selection service does not know the caller, or is not available.
        """
        path = f"/projects/{project_id}/recommendations"
        recommendations = await self._get(path, caller, {404: ProjectNotFound()}, query=f"skip={skip}&limit={limit}")
        return msgspec.convert(recommendations["datasets"], list[RankedDataset])

    async def _get(
        self, path: str, caller: Caller, error_by_status: Mapping[int, ServiceError], *, query: str = ""
    ) -> Any:
        """Return the JSON value at a path of the selection service, or raise the error for the response's status."""
        response = await self._backend.get(path, caller, query=query)
        if response.status == 200:
            return response.value
        if response.status == 401:
            raise InvalidUserId
        raise error_by_status.get(response.status, Unavailable())
