"""What the handlers of job services work with: the service, the caller, and the request's own headers."""

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
from touchstone.jobs import store
from touchstone.jobs.kinds import JobKind
from touchstone.jobs.records import JobRecord
from touchstone.jobs.runtime import Jobs
from touchstone.jobs.selection_client import SelectionClient

_IDEMPOTENCY_KEY: Final = re.compile(r"[\x21-\x7e]{1,255}")


@dataclass(frozen=True, slots=True)
class JobService:
    """The state of a job service's application: its kind of job, the job runtime, and the selection service."""

    kind: JobKind
    jobs: Jobs
    selection: SelectionClient


@dataclass(frozen=True, slots=True)
class JobRequestContext:
    """One request to a job service."""

    request: Request
    service: JobService
    caller: Caller

    @property
    def jobs(self) -> Jobs:
        """Return the job runtime."""
        return self.service.jobs

    @property
    def database(self) -> Database:
        """Return the database."""
        return self.service.jobs.database

    @property
    def locale(self) -> str:
        """Return the caller's language."""
        return request_locale(self.request.scope)

    def idempotency_key(self) -> str | None:
        """Return the request's Idempotency-Key, if it has one.

        Raises:
            InvalidValue: it is repeated, empty, longer than 255 characters, or not printable ASCII.
        """
        keys = self.request.headers.getlist("idempotency-key")
        if not keys:
            return None
        if len(keys) > 1 or not _IDEMPOTENCY_KEY.fullmatch(keys[0]):
            raise InvalidValue(FieldError(("header", "Idempotency-Key"), "idempotency_key"))
        return keys[0]

    def require_single_values(self) -> None:
        """Raise InvalidValue if a query parameter is given more than once."""
        parameters = self.request.query_params
        for name in parameters:
            count = len(parameters.getlist(name))
            if count > 1:
                raise InvalidValue(FieldError(("query", name), "given_twice", {"count": count}))

    async def load_job(self, job_id: str) -> JobRecord:
        """Return one of the caller's jobs of this service. Raises JobNotFound."""
        async with self.database.reading() as rows:
            return await store.load_owned_job(rows, job_id, self.caller.id, (self.service.kind.name,))


async def job_request_context(request: Request) -> JobRequestContext:
    """Return the context of a request. Raises InvalidUserId if the caller is unknown."""
    service: JobService = request.app.state.job_service
    return JobRequestContext(request, service, require_caller(request.scope))


Context = Annotated[JobRequestContext, Depends(job_request_context)]
