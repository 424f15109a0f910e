"""The synchronous client."""

import copy
import functools
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
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


def now(describe: Callable[P, Call[T]]) -> Callable[Concatenate["Touchstone", P], T]:
    """Return a method that carries out the call that `describe` returns."""

    @functools.wraps(describe)
    def method(client: "Touchstone", /, *args: P.args, **kwargs: P.kwargs) -> T:
        return client.run(describe(*args, **kwargs))

    return method


class Touchstone:
    """A client of a Touchstone server; may be shared by threads.

    Every method raises `TouchstoneError` when the service refuses or does not answer. Calls that change nothing are
    tried again while that may help; after `login` an expired token is renewed by itself.
    """

    def __init__(
        self,
        base_url: str,
        token: str | None = None,
        *,
        transport: httpx2.BaseTransport | None = None,
        timeout: float = 30.0,
        **identity: Unpack[IdentityFields],
    ) -> None:
        self.identity = Identity(token, **identity)
        self._http = httpx2.Client(transport=transport, **http_options(base_url, timeout))
        self._renewing = threading.Lock()

    list_datasets = now(catalog_calls.list_datasets)
    page_datasets = now(catalog_calls.page_datasets)
    get_dataset = now(catalog_calls.get_dataset)
    create_dataset = now(catalog_calls.create_dataset)
    update_dataset = now(catalog_calls.update_dataset)
    delete_dataset = now(catalog_calls.delete_dataset)
    search_datasets = now(catalog_calls.search_datasets)
    score_datasets = now(catalog_calls.score_datasets)
    get_facets = now(catalog_calls.get_facets)
    get_criteria = now(catalog_calls.get_criteria)
    upload_file = now(catalog_calls.upload_file)
    list_files = now(catalog_calls.list_files)
    delete_file = now(catalog_calls.delete_file)

    list_projects = now(catalog_calls.list_projects)
    page_projects = now(catalog_calls.page_projects)
    get_project = now(catalog_calls.get_project)
    create_project = now(catalog_calls.create_project)
    update_project = now(catalog_calls.update_project)
    delete_project = now(catalog_calls.delete_project)
    get_recommendations = now(catalog_calls.get_recommendations)

    register = now(account_calls.register)
    reset_password = now(account_calls.reset_password)
    get_me = now(account_calls.get_me)
    update_me = now(account_calls.update_me)
    change_password = now(account_calls.change_password)
    get_picture = now(account_calls.get_picture)
    set_picture = now(account_calls.set_picture)
    delete_picture = now(account_calls.delete_picture)
    list_sessions = now(account_calls.list_sessions)
    delete_session = now(account_calls.delete_session)
    page_users = now(account_calls.page_users)
    update_user = now(account_calls.update_user)
    reset_user = now(account_calls.reset_user)
    get_health = now(account_calls.get_health)

    train = now(job_calls.train)
    explain = now(job_calls.explain)
    get_job = now(job_calls.get_job)
    page_jobs = now(job_calls.page_jobs)
    page_project_jobs = now(job_calls.page_project_jobs)
    cancel_job = now(job_calls.cancel_job)
    delete_job = now(job_calls.delete_job)
    get_artifact = now(job_calls.get_artifact)
    predict = now(job_calls.predict)

    def login(self, email: str, password: str) -> Tokens:
        """Sign in; all later calls use and renew the tokens."""
        tokens = self.run(account_calls.sign_in(email, password, self.identity.device))
        self.identity.keep(tokens)
        return tokens

    def logout(self) -> None:
        """End the session on the server and discard its tokens."""
        if self.identity.refresh_token is not None:
            self.run(account_calls.revoke(self.identity.refresh_token))
        self.identity.forget()

    def iterate_datasets(
        self,
        *,
        page_size: int = 100,
        sort_by: str | None = None,
        sort_order: Order | None = None,
        **filters: Unpack[Filters],
    ) -> Iterator[Dataset]:
        """Iterate over all records that match the filters, fetching one page at a time."""
        number, last = 0, 1
        while number < last:
            number += 1
            page = self.page_datasets(
                page=number, page_size=page_size, sort_by=sort_by, sort_order=sort_order, **filters
            )
            last = page.total_pages
            for dataset in page.datasets:
                yield self.get_dataset(dataset.id) if dataset.metadata_omitted else dataset

    def iterate_jobs(self, kind: Kind, *, project_id: str | None = None) -> Iterator[Job]:
        """Iterate over the trainings or explanations of the caller, newest first."""
        number, last = 0, 1
        while number < last:
            number += 1
            page = self.page_jobs(kind, project_id=project_id, page=number, page_size=100)
            last = page.total_pages
            yield from page.jobs

    def wait(self, job: Job, *, report: Callable[[Job], None] | None = None) -> Job:
        """Wait until a job is done, successful or not; call `report` with the job after each poll."""
        return self._perform(wait_for_job(job, self.identity, report))

    def events(self, job: Job, *, after: str | None = None) -> Iterator[JobEvent]:
        """Iterate over the events of a job until it is done; reconnect when a connection breaks."""
        log = EventLog(after)
        while log.goes_on():
            try:
                with closing(self.run(job_calls.follow_job(job.kind, job.id, after=log.last_id))) as response:
                    for message in httpx2.EventSource(response):
                        if event := log.take(message):
                            yield event
            except httpx2.RequestError as problem:
                log.broke(problem)
            time.sleep(log.pause)

    def download(self, job: Job, name: str, into: BinaryIO) -> int:
        """Write an artifact of a job to an open file in chunks; return the number of bytes."""
        with closing(self.run(job_calls.stream_artifact(job.kind, job.id, name))) as response:
            return sum(into.write(chunk) for chunk in response.iter_bytes())

    def with_token(self, token: str | None, **identity: Unpack[IdentityFields]) -> Self:
        """Return a client for another caller that shares the connections of this one."""
        other = copy.copy(self)
        other.identity = Identity(token, **identity)
        other._renewing = threading.Lock()
        return other

    def run(self, call: Call[T]) -> T:
        """Carry out a call and return what its response contains."""
        return self._perform(carry_out(call, self.identity))

    def close(self) -> None:
        """Close the connections, which other clients may share."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def _perform(self, talk: Conversation[T]) -> T:
        outcome: Outcome = None
        try:
            while True:
                outcome = self._step(talk.send(outcome))
        except StopIteration as done:
            result: T = done.value
            return result

    def _step(self, step: Step) -> Outcome:
        match step:
            case Send(call):
                return self._send(call)
            case Renew(stale):
                return self._renew(stale)
            case Pause(seconds):
                time.sleep(seconds)
        return None

    def _send(self, call: Call[Any]) -> Outcome:
        try:
            response = self._http.send(build_request(self._http, call, self.identity), stream=call.streamed)
            if call.streamed and response.is_error:
                response.read()
        except httpx2.RequestError as problem:
            return problem
        return response

    def _renew(self, stale: str | None) -> bool:
        with self._renewing:
            if self.identity.token != stale:
                return True
            try:
                self.identity.keep(self.run(account_calls.renew(self.identity.refresh_token or "")))
            except TouchstoneError:
                return False
            return True
