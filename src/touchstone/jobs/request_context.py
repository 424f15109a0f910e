"""The context for the request handlers of job services: the request, the service and the caller."""

import re
from dataclasses import dataclass
from typing import Annotated, Final

from fastapi import Depends
from starlette.requests import Request

from touchstone.core.errors import FieldError, InvalidValue
from touchstone.core.identity import Caller
from touchstone.database.engine import Database
from touchstone.http.backend_auth import require_caller
from touchstone.http.error_responses import request_locale
from touchstone.jobs import job_store
from touchstone.jobs.job_kinds import JobKind
from touchstone.jobs.job_records import JobRecord
from touchstone.jobs.job_runtime import JobRuntime
from touchstone.jobs.selection_client import SelectionClient

_VALID_IDEMPOTENCY_KEY: Final = re.compile(r"[\x21-\x7e]{1,255}")


@dataclass(frozen=True, slots=True)
class JobServiceState:
    """The state of a job service that is shared by all requests."""

    kind: JobKind
    jobs: JobRuntime
    selection: SelectionClient


@dataclass(frozen=True, slots=True)
class JobRequestContext:
    """A request to a job service, with the service and the caller."""

    request: Request
    service: JobServiceState
    caller: Caller

    @property
    def jobs(self) -> JobRuntime:
        """The job runtime of this process."""
        return self.service.jobs

    @property
    def database(self) -> Database:
        """The database that holds the jobs."""
        return self.service.jobs.database

    @property
    def locale(self) -> str:
        """The language of the response."""
        return request_locale(self.request.scope)

    def idempotency_key(self) -> str | None:
        """Return the Idempotency-Key header of the request, or None if there is none.

        Raises:
            InvalidValue: the header is repeated, empty, longer than 255 characters, or not printable ASCII.
        """
        keys = self.request.headers.getlist("idempotency-key")
        if not keys:
            return None

        if len(keys) > 1 or not _VALID_IDEMPOTENCY_KEY.fullmatch(keys[0]):
            raise InvalidValue(FieldError(("header", "Idempotency-Key"), "idempotency_key"))
        return keys[0]

    async def load_job(self, job_id: str) -> JobRecord:
        """Return one of the caller's jobs of this service.

        Raises:
            JobNotFound: the caller has no such job here.
        """
        async with self.database.reading() as connection:
            return await job_store.load_owned_job(connection, job_id, self.caller.id, (self.service.kind.name,))


async def job_request_context(request: Request) -> JobRequestContext:
    """Return the context of a request, as a FastAPI dependency of each handler.

    Raises:
        InvalidUserId: the request does not identify the caller.
    """
    service: JobServiceState = request.app.state.job_service
    return JobRequestContext(request, service, require_caller(request.scope))


Context = Annotated[JobRequestContext, Depends(job_request_context)]
