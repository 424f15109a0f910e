"""What every start of a job checks before it is accepted: the key, the dataset, its file, the project."""

import asyncio
import contextlib
import hashlib
import re
from typing import Any, Final, TypeVar
from uuid import UUID

import msgspec
from starlette.requests import Request

from touchstone.core.errors import (
    DataFileUnreadable,
    DatasetNotFound,
    FieldError,
    InvalidJobRequest,
    InvalidUserId,
    InvalidValue,
    ProjectNotFound,
    Unavailable,
)
from touchstone.core.identity import Caller, parse_uuid
from touchstone.http.internal_client import InternalClient
from touchstone.jobs.kinds import PREFLIGHT
from touchstone.jobs.runtime import Jobs
from touchstone.jobs.store import Json, NewJob
from touchstone.learning.errors import LearningError

DECLARED: Final = ("instances_number", "features_number", "missing_values_percentage")
_KEY: Final = re.compile(r"[\x21-\x7e]{1,255}")
T = TypeVar("T")


class Starting:
    """Asks the selection backend on the caller's behalf, and looks into files."""

    def __init__(self, jobs: Jobs, selection: InternalClient) -> None:
        self._jobs = jobs
        self._selection = selection

    async def subject(self, new: NewJob, dataset_id: int | str, caller: Caller, *, model: Json) -> Json:
        """What a job works on, as columns of its row, once a first look has found nothing to refuse.

        `model` says where the model is that an explanation asks about; it is empty when there is none.

        Raises:
            DatasetNotFound: there is none that the caller may see.
            DataFileUnreadable: its file cannot be opened.
            InvalidJobRequest: the request contradicts the table or the model, or there is nothing to learn from.
        """
        refusals = {404: DatasetNotFound, 422: DataFileUnreadable(FieldError(("body", "dataset_id"), "no_table"))}
        found = await self._asked(f"/datasets/{dataset_id}/source", caller, refusals)
        declared = {name: found["record"].get(name) for name in DECLARED}
        source = {name: found[name] for name in ("file_path", "file_type")} | {"declared": declared} | model
        with contextlib.ExitStack() as opened:
            files = await asyncio.to_thread(opened.enter_context, self._jobs.inputs.opened(source))
            facts = await self._jobs.errands.run(PREFLIGHT[new.kind], new.request, source=source, files=files)
        source["sha256"] = facts["sha256"]
        dataset = found["dataset_id"]
        return {"dataset_id": dataset, "inputs": {"dataset_id": dataset, **facts}, "source": source}

    async def project(self, project_id: str | None, caller: Caller) -> UUID | None:
        """The project that the job belongs to.

        Raises:
            ProjectNotFound: the caller has no such project.
        """
        if project_id is None:
            return None
        if (known := parse_uuid(project_id)) is None:
            raise ProjectNotFound
        await self._asked(f"/projects/{known}", caller, {404: ProjectNotFound})
        return known

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
        raise InvalidValue(FieldError(("header", "Idempotency-Key"), "idempotency_key"))
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
        raise InvalidJobRequest(problem.code, field=problem.field, facts=problem.facts) from problem
