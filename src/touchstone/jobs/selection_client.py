"""A client of the selection service, which stores the records of datasets and projects."""

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

# The attributes of a dataset's record that a result compares with the measured ones.
DECLARED_ATTRIBUTES: Final = ("instances_number", "features_number", "missing_values_percentage")


class DatasetSource(Struct, frozen=True):
    """The data file and the record of a dataset.

    Attributes:
        dataset_id: the number of the dataset.
        file_path: the path of the data file.
        file_type: the type of the data file, such as `csv`.
        record: the record that describes the dataset.
        name: the name of the dataset.
        target: the column that the record suggests predicting, or None.
        licenses: the licences that a user may choose from.
        levels: the level of evidence for each known flag or number of the record.
        purposes: the purposes of the data that its documents state.
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
        """The declared attributes that a result compares with the measured ones."""
        return {name: self.record.get(name) for name in DECLARED_ATTRIBUTES}

    @property
    def columns(self) -> list[str]:
        """The measured columns of the table, or an empty list if the file could not be measured."""
        measured = self._metadata.get("measured") or {}
        return [profile["name"] for profile in measured.get("column_profiles") or ()]

    @property
    def excluded_columns(self) -> list[str]:
        """The columns of the table that the record suggests excluding from training."""
        suggested_columns = self._metadata.get("exclude_columns")
        if not isinstance(suggested_columns, list):
            return []
        return [column for column in self.columns if column in suggested_columns]

    @property
    def description(self) -> Json:
        """The description of the dataset for the model card, as of the time when the job is accepted.

        Each ethical attribute has the level of the evidence for its value. The `id` is the number of the dataset in
        this catalog, and the `uuid` is its identifier in every catalog.
        """
        source = self._metadata.get("source")
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
        """The description of the project for the model card, as of the time when the job is accepted."""
        return {"name": self.name, "description": self.description}


class RankedDataset(Struct, frozen=True):
    """A dataset in the ranking of a project."""

    id: int
    dataset_name: str
    rank: int


class SelectionClient:
    """Requests datasets and projects from the selection service on behalf of a caller."""

    def __init__(self, backend: InternalClient) -> None:
        self._backend = backend

    async def load_dataset_source(self, dataset_id: int | str, caller: Caller) -> DatasetSource:
        """Return the data file and the record of a dataset.

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
        """Return the JSON value at a path of the selection service, or raise the error for its status."""
        response = await self._backend.get(path, caller, query=query)
        if response.status == 200:
            return response.value
        if response.status == 401:
            raise InvalidUserId
        raise error_by_status.get(response.status, Unavailable())
