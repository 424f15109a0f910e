"""What every start of a job checks before it is accepted: the key, the dataset, its file, the project."""

import asyncio
import hashlib
import re
from typing import Any, Final, TypeVar
from uuid import UUID

import msgspec
from msgspec import Struct
from starlette.requests import Request

from touchstone.core.asking import Asking
from touchstone.core.errors import (
    DataFileUnreadable,
    DatasetNotFound,
    InvalidJobRequest,
    InvalidUserId,
    InvalidValue,
    ProjectNotFound,
    Unavailable,
)
from touchstone.core.identity import Caller
from touchstone.jobs.errands import TableFacts
from touchstone.jobs.room import Jobs
from touchstone.jobs.store import Json
from touchstone.learning.errors import LearningError

DECLARED: Final = ("instances_number", "features_number", "missing_values_percentage")
_KEY: Final = re.compile(r"[\x21-\x7e]{1,255}")
T = TypeVar("T")


class Table(Struct, frozen=True):
    """A dataset whose file has been opened and looked at."""

    dataset_id: int
    file_path: str
    file_type: str
    declared: Json
    facts: TableFacts

    @property
    def inputs(self) -> Json:
        """What the job's owner is told of it."""
        shape = {"rows": self.facts.rows, "columns": len(self.facts.columns)}
        return {"dataset_id": self.dataset_id, "sha256": self.facts.sha256, **shape}

    @property
    def source(self) -> Json:
        """What the worker needs to know of it."""
        file = {"file_path": self.file_path, "file_type": self.file_type, "sha256": self.facts.sha256}
        return file | {"declared": self.declared}


class Starting:
    """Asks the selection backend on the caller's behalf, and looks into files."""

    def __init__(self, jobs: Jobs, selection: Asking) -> None:
        self._jobs = jobs
        self._selection = selection

    async def table(self, dataset_id: int | str, caller: Caller) -> Table:
        """The dataset's table.

        Raises:
            DatasetNotFound: there is none that the caller may see.
            DataFileUnreadable: its file cannot be opened.
            InvalidJobRequest: its file is not a table that can be learned from.
        """
        refusals = {404: DatasetNotFound, 422: DataFileUnreadable}
        found = await self._asked(f"/datasets/{dataset_id}/source", caller, refusals)
        file = await asyncio.to_thread(self._jobs.inputs.open_data, found["file_path"])
        with file:
            facts = await self._jobs.errands.inspect(file, found["file_type"])
        declared = {name: found["record"].get(name) for name in DECLARED}
        return Table(found["dataset_id"], found["file_path"], found["file_type"], declared, facts)

    async def project(self, project_id: str | None, caller: Caller) -> UUID | None:
        """The project that the job belongs to.

        Raises:
            ProjectNotFound: the caller has no such project.
        """
        if project_id is None:
            return None
        await self._asked(f"/projects/{project_id}", caller, {404: ProjectNotFound})
        return UUID(project_id)

    async def _asked(self, path: str, caller: Caller, refusals: dict[int, Any]) -> Any:
        answer = await self._selection.get(path, caller)
        if answer.status == 200:
            return answer.value
        raise ({401: InvalidUserId} | refusals).get(answer.status, Unavailable)


def starting_of(request: Request) -> Starting:
    """What checks the starts of the backend that answers."""
    starting: Starting = request.app.state.starting
    return starting


def idempotency_key(request: Request) -> str | None:
    """The request's Idempotency-Key.

    Raises:
        InvalidValue: it is repeated, empty, longer than 255 characters, or not plain ASCII.
    """
    given = request.headers.getlist("idempotency-key")
    if not given:
        return None
    if len(given) != 1 or not _KEY.fullmatch(given[0]):
        raise InvalidValue(name="Idempotency-Key", expected="1-255 ASCII")
    return given[0]


def digest_of(request: Json) -> str:
    """What tells two requests apart: their values, whatever the order of the keys."""
    return hashlib.sha256(msgspec.json.encode(request, order="deterministic")).hexdigest()


def ordered(request: Json, kind: type[T]) -> T:
    """A request as the learning room's order.

    Raises:
        InvalidJobRequest: it contradicts itself.
    """
    try:
        return msgspec.convert(request, kind)
    except LearningError as problem:
        raise refused(problem) from problem


def refused(problem: LearningError) -> InvalidJobRequest:
    """The refusal of a request that the learning room cannot follow."""
    return InvalidJobRequest(reason=problem.code, where=problem.field, **problem.facts)
