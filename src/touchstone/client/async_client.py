"""The asynchronous client."""

import asyncio
import copy
import functools
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import aclosing
from typing import Any, BinaryIO, Concatenate, ParamSpec, Self, TypeVar, Unpack

import httpx2

from touchstone.client import account_calls, catalog_calls, job_calls
from touchstone.client.call import Call
from touchstone.client.catalog_calls import Order
from touchstone.client.conversation import (
    Conversation,
    Identity,
    IdentityFields,
    Outcome,
    Pause,
    Renew,
    Send,
    Step,
    build_request,
    carry_out,
    http_options,
    wait_for_job,
)
from touchstone.client.errors import TouchstoneError
from touchstone.client.event_stream import EventLog
from touchstone.client.fields import Filters
from touchstone.client.models import Dataset, Job, JobEvent, Kind, Tokens

P = ParamSpec("P")
T = TypeVar("T")


def later(describe: Callable[P, Call[T]]) -> Callable[Concatenate["AsyncTouchstone", P], Coroutine[Any, Any, T]]:
    """Return a method that carries out the call that `describe` returns."""

    @functools.wraps(describe)
    async def method(client: "AsyncTouchstone", /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await client.run(describe(*args, **kwargs))

    return method


class AsyncTouchstone:
    """A client of a Touchstone server, for one event loop; may be shared by its tasks.

    Every method raises `TouchstoneError` when the service refuses or does not answer. Calls that change nothing are
    tried again while that may help; after `login` an expired token is renewed by itself.
    """

    def __init__(
        self,
        base_url: str,
        token: str | None = None,
        *,
        transport: httpx2.AsyncBaseTransport | None = None,
        timeout: float = 30.0,
        **identity: Unpack[IdentityFields],
    ) -> None:
        self.identity = Identity(token, **identity)
        self._http = httpx2.AsyncClient(transport=transport, **http_options(base_url, timeout))
        self._renewing = asyncio.Lock()

    list_datasets = later(catalog_calls.list_datasets)
    page_datasets = later(catalog_calls.page_datasets)
    get_dataset = later(catalog_calls.get_dataset)
    create_dataset = later(catalog_calls.create_dataset)
    update_dataset = later(catalog_calls.update_dataset)
    delete_dataset = later(catalog_calls.delete_dataset)
    search_datasets = later(catalog_calls.search_datasets)
    score_datasets = later(catalog_calls.score_datasets)
    get_facets = later(catalog_calls.get_facets)
    get_criteria = later(catalog_calls.get_criteria)
    upload_file = later(catalog_calls.upload_file)
    list_files = later(catalog_calls.list_files)
    delete_file = later(catalog_calls.delete_file)

    list_projects = later(catalog_calls.list_projects)
    page_projects = later(catalog_calls.page_projects)
    get_project = later(catalog_calls.get_project)
    create_project = later(catalog_calls.create_project)
    update_project = later(catalog_calls.update_project)
    delete_project = later(catalog_calls.delete_project)
    get_recommendations = later(catalog_calls.get_recommendations)

    register = later(account_calls.register)
    reset_password = later(account_calls.reset_password)
    get_me = later(account_calls.get_me)
    update_me = later(account_calls.update_me)
    change_password = later(account_calls.change_password)
    get_picture = later(account_calls.get_picture)
    set_picture = later(account_calls.set_picture)
    delete_picture = later(account_calls.delete_picture)
    list_sessions = later(account_calls.list_sessions)
    delete_session = later(account_calls.delete_session)
    page_users = later(account_calls.page_users)
    update_user = later(account_calls.update_user)
    reset_user = later(account_calls.reset_user)
    get_health = later(account_calls.get_health)

    train = later(job_calls.train)
    explain = later(job_calls.explain)
    get_job = later(job_calls.get_job)
    page_jobs = later(job_calls.page_jobs)
    page_project_jobs = later(job_calls.page_project_jobs)
    cancel_job = later(job_calls.cancel_job)
    delete_job = later(job_calls.delete_job)
    get_artifact = later(job_calls.get_artifact)
    predict = later(job_calls.predict)

    async def login(self, email: str, password: str) -> Tokens:
        """Sign in; all later calls use and renew the tokens."""
        tokens = await self.run(account_calls.sign_in(email, password, self.identity.device))
        self.identity.keep(tokens)
        return tokens

    async def logout(self) -> None:
        """End the session on the server and discard its tokens."""
        if self.identity.refresh_token is not None:
            await self.run(account_calls.revoke(self.identity.refresh_token))
        self.identity.forget()

    async def iterate_datasets(
        self,
        *,
        page_size: int = 100,
        sort_by: str | None = None,
        sort_order: Order | None = None,
        **filters: Unpack[Filters],
    ) -> AsyncIterator[Dataset]:
        """Iterate over all records that match the filters, fetching one page at a time."""
        number, last = 0, 1
        while number < last:
            number += 1
            page = await self.page_datasets(
                page=number, page_size=page_size, sort_by=sort_by, sort_order=sort_order, **filters
            )
            last = page.total_pages
            for dataset in page.datasets:
                yield await self.get_dataset(dataset.id) if dataset.metadata_omitted else dataset

    async def iterate_jobs(self, kind: Kind, *, project_id: str | None = None) -> AsyncIterator[Job]:
        """Iterate over the trainings or explanations of the caller, newest first."""
        number, last = 0, 1
        while number < last:
            number += 1
            page = await self.page_jobs(kind, project_id=project_id, page=number, page_size=100)
            last = page.total_pages
            for job in page.jobs:
                yield job

    async def wait(self, job: Job, *, report: Callable[[Job], None] | None = None) -> Job:
        """Wait until a job is done, successful or not; call `report` with the job after each poll."""
        return await self._perform(wait_for_job(job, self.identity, report))

    async def events(self, job: Job, *, after: str | None = None) -> AsyncIterator[JobEvent]:
        """Iterate over the events of a job until it is done; reconnect when a connection breaks."""
        log = EventLog(after)
        while log.goes_on():
            try:
                response = await self.run(job_calls.follow_job(job.kind, job.id, after=log.last_id))
                async with aclosing(response):
                    async for message in httpx2.EventSource(response):
                        if event := log.take(message):
                            yield event
            except httpx2.RequestError as problem:
                log.broke(problem)
            await asyncio.sleep(log.pause)

    async def download(self, job: Job, name: str, into: BinaryIO) -> int:
        """Write an artifact of a job to an open file in chunks; return the number of bytes."""
        async with aclosing(await self.run(job_calls.stream_artifact(job.kind, job.id, name))) as response:
            return sum([into.write(chunk) async for chunk in response.aiter_bytes()])

    def with_token(self, token: str | None, **identity: Unpack[IdentityFields]) -> Self:
        """Return a client for another caller that shares the connections of this one."""
        other = copy.copy(self)
        other.identity = Identity(token, **identity)
        other._renewing = asyncio.Lock()
        return other

    async def run(self, call: Call[T]) -> T:
        """Carry out a call and return what its response contains."""
        return await self._perform(carry_out(call, self.identity))

    async def close(self) -> None:
        """Close the connections, which other clients may share."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.close()

    async def _perform(self, talk: Conversation[T]) -> T:
        outcome: Outcome = None
        try:
            while True:
                outcome = await self._step(talk.send(outcome))
        except StopIteration as done:
            result: T = done.value
            return result

    async def _step(self, step: Step) -> Outcome:
        match step:
            case Send(call):
                return await self._send(call)
            case Renew(stale):
                return await self._renew(stale)
            case Pause(seconds):
                await asyncio.sleep(seconds)
        return None

    async def _send(self, call: Call[Any]) -> Outcome:
        try:
            response = await self._http.send(build_request(self._http, call, self.identity), stream=call.streamed)
            if call.streamed and response.is_error:
                await response.aread()
        except httpx2.RequestError as problem:
            return problem
        return response

    async def _renew(self, stale: str | None) -> bool:
        async with self._renewing:
            if self.identity.token != stale:
                return True
            try:
                self.identity.keep(await self.run(account_calls.renew(self.identity.refresh_token or "")))
            except TouchstoneError:
                return False
            return True
