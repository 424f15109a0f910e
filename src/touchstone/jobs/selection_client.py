"""A client of the selection service, which knows where a dataset's file is and whose a project is."""

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
    """A dataset's data file, and the record that describes it."""

    dataset_id: int
    file_path: str
    file_type: str
    record: Json

    @property
    def declared(self) -> Json:
        """Return the declared attributes that results compare with the measured ones."""
        return {name: self.record.get(name) for name in DECLARED_ATTRIBUTES}


class SelectionClient:
    """Asks the selection service."""

    def __init__(self, backend: InternalClient) -> None:
        self._backend = backend

    async def load_dataset_source(self, dataset_id: int | str, caller: Caller) -> DatasetSource:
        """Return where the data file of a dataset is.

        Raises:
            DatasetNotFound: the caller may see no such dataset.
            DataFileUnreadable: the dataset has no table.
        """
        errors = {404: DatasetNotFound(), 422: DataFileUnreadable(FieldError(("body", "dataset_id"), "no_table"))}
        value = await self._get(f"/datasets/{dataset_id}/source", caller, errors)
        return msgspec.convert(value, DatasetSource)

    async def require_project(self, project_id: str, caller: Caller) -> UUID:
        """Return the id of one of the caller's projects.

        Raises:
            ProjectNotFound: the caller has no such project.
        """
        project_uuid = parse_uuid(project_id)
        if project_uuid is None:
            raise ProjectNotFound
        await self._get(f"/projects/{project_uuid}", caller, {404: ProjectNotFound()})
        return project_uuid

    async def _get(self, path: str, caller: Caller, errors: Mapping[int, ServiceError]) -> Any:
        answer = await self._backend.get(path, caller)
        if answer.status == 200:
            return answer.value
        if answer.status == 401:
            raise InvalidUserId
        raise errors.get(answer.status, Unavailable())
