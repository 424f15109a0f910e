"""A client of the selection service, which knows where the file of a dataset is and to whom a project belongs."""

from collections.abc import Mapping
from typing import Any, Final
from uuid import UUID

import msgspec
from msgspec import Struct

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
from touchstone.jobs.records import Json

# The attributes of a dataset's record that results compare with the measured ones.
DECLARED_ATTRIBUTES: Final = ("instances_number", "features_number", "missing_values_percentage")


class DatasetSource(Struct, frozen=True):
    """The data file of a dataset, and the record that describes the dataset."""

    dataset_id: int
    file_path: str
    file_type: str
    record: Json

    @property
    def declared(self) -> Json:
        """The declared attributes that results compare with the measured ones."""
        return {name: self.record.get(name) for name in DECLARED_ATTRIBUTES}


class SelectionClient:
    """Asks the selection service about datasets and projects, on behalf of a caller."""

    def __init__(self, backend: InternalClient) -> None:
        self._backend = backend

    async def load_dataset_source(self, dataset_id: int | str, caller: Caller) -> DatasetSource:
        """Return the path and the type of the data file of a dataset, with the record that describes the dataset.

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

    async def require_project(self, project_id: str, caller: Caller) -> UUID:
        """Check that a project belongs to the caller, and return its id.

        Raises:
            ProjectNotFound: the caller has no such project, or the id is malformed.
            InvalidUserId, Unavailable: the selection service does not know the caller, or is not available.
        """
        project_uuid = parse_uuid(project_id)
        if project_uuid is None:
            raise ProjectNotFound

        await self._get(f"/projects/{project_uuid}", caller, {404: ProjectNotFound()})
        return project_uuid

    async def _get(self, path: str, caller: Caller, error_by_status: Mapping[int, ServiceError]) -> Any:
        """Return the JSON value at a path of the selection service, or raise the error for the response's status."""
        response = await self._backend.get(path, caller)
        if response.status == 200:
            return response.value
        if response.status == 401:
            raise InvalidUserId
        raise error_by_status.get(response.status, Unavailable())
