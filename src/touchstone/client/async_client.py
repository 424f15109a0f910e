"""The asynchronous client."""

import asyncio
import copy
import functools
import itertools
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import aclosing
from typing import Any, BinaryIO, Concatenate, ParamSpec, Self, TypeAlias, TypeVar, Unpack
from uuid import UUID

import httpx2
import msgspec

from touchstone.client import (
    account_calls,
    catalog_calls,
    choice_calls,
    comparison_calls,
    document_calls,
    evidence_calls,
    export_calls,
    import_calls,
    job_calls,
    reason_calls,
)
from touchstone.client.bulk_calls import LINES_PER_REQUEST, BulkSource, bulk_import_calls
from touchstone.client.bulk_models import BulkBatch
from touchstone.client.call import Call, refuse_web_page
from touchstone.client.catalog_calls import Order
from touchstone.client.choice_models import Choice, SnapshotSummary
from touchstone.client.comparison_models import TrainingComparison
from touchstone.client.errors import TouchstoneError, connection_error
from touchstone.client.event_stream import EventStream, OpenStream
from touchstone.client.evidence_models import AssuranceName
from touchstone.client.export_calls import CatalogFormat, ExportedRecords
from touchstone.client.fields import Filters
from touchstone.client.http_requests import build_request, http_client_options
from touchstone.client.identity import Identity
from touchstone.client.job_polling import wait_for_comparison, wait_for_job
from touchstone.client.method_signatures import copy_signature
from touchstone.client.models import Dataset, Job, JobEvent, Kind, Project, Tokens
from touchstone.client.retries_and_renewals import (
    Pause,
    RenewTokens,
    SendCall,
    Step,
    StepResult,
    Steps,
    is_temporary,
    send_with_retries,
)
from touchstone.client.whole_lists import read_whole_list

P = ParamSpec("P")
T = TypeVar("T")

# A method of the client with the parameters P and the result type T.
AsyncMethod: TypeAlias = Callable[Concatenate["AsyncTouchstone", P], Coroutine[Any, Any, T]]


def async_method(describe_call: Callable[P, Call[T]]) -> AsyncMethod[P, T]:
    """Convert a function that describes an API call to a client method that makes the call.

    The method has the parameters and the docstring of `describe_call`, and returns the content of the response. For
    example, `catalog_calls.get_dataset(dataset_id)` only describes a request, while the method
    `await client.get_dataset(dataset_id)` sends this request and returns the dataset.
    """

    @functools.wraps(describe_call, assigned=("__name__", "__doc__"))
    async def method(client: "AsyncTouchstone", /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await client.run(describe_call(*args, **kwargs))

    copy_signature(describe_call, method, "AsyncTouchstone")
    return method


class AsyncTouchstone:
    """A client of a Touchstone server for one event loop; several tasks may share it.

    Every method raises `TouchstoneError` if the service refuses the call or does not respond. Calls that change
    nothing are retried after temporary failures. After `login`, an expired access token is renewed automatically.

    Attributes:
        identity: the caller that the client represents, with the tokens of the last sign-in or renewal.
    """

    def __init__(
        self,
        base_url: str,
        token: str | None = None,
        *,
        locale: str | None = None,
        transport: httpx2.AsyncBaseTransport | None = None,
        timeout: float = 30.0,
    ) -> None:
        """Create a client of the server at `base_url`; the first call opens a connection.

        Args:
            base_url: the address of the server, such as `http://127.0.0.1:8000`.
            token: an access token; without one, calls are anonymous until `login`.
            locale: the language of error messages, `fr` or `en`.
            transport: a replacement for the network, such as `InProcess`.
            timeout: the time limit of a call in seconds.
        """
        self.identity = Identity(token=token, locale=locale)
        self._http_client = httpx2.AsyncClient(transport=transport, **http_client_options(base_url, timeout))
        self._renewal_lock = asyncio.Lock()

    list_datasets = async_method(catalog_calls.list_datasets)
    page_datasets = async_method(catalog_calls.page_datasets)
    get_dataset = async_method(catalog_calls.get_dataset)
    create_dataset = async_method(catalog_calls.create_dataset)
    update_dataset = async_method(catalog_calls.update_dataset)
    delete_dataset = async_method(catalog_calls.delete_dataset)
    search_datasets = async_method(catalog_calls.search_datasets)
    score_datasets = async_method(catalog_calls.score_datasets)
    get_facets = async_method(catalog_calls.get_facets)
    suggest = async_method(catalog_calls.suggest)
    get_criteria = async_method(catalog_calls.get_criteria)
    compare_datasets = async_method(reason_calls.compare_datasets)
    get_lifts = async_method(reason_calls.get_lifts)
    get_stability = async_method(reason_calls.get_stability)
    export_dataset = async_method(document_calls.export_dataset)
    import_documents = async_method(import_calls.import_documents)
    upload_file = async_method(catalog_calls.upload_file)
    list_files = async_method(catalog_calls.list_files)
    delete_file = async_method(catalog_calls.delete_file)

    get_evidence = async_method(evidence_calls.get_evidence)
    add_claim = async_method(evidence_calls.add_claim)
    review_claim = async_method(evidence_calls.review_claim)
    withdraw_claim = async_method(evidence_calls.withdraw_claim)
    page_proposals = async_method(evidence_calls.page_proposals)

    page_projects = async_method(catalog_calls.page_projects)
    get_project = async_method(catalog_calls.get_project)
    create_project = async_method(catalog_calls.create_project)
    update_project = async_method(catalog_calls.update_project)
    delete_project = async_method(catalog_calls.delete_project)
    get_recommendations = async_method(catalog_calls.get_recommendations)
    page_choices = async_method(choice_calls.page_choices)
    create_snapshot = async_method(choice_calls.create_snapshot)
    page_snapshots = async_method(choice_calls.page_snapshots)
    get_snapshot = async_method(choice_calls.get_snapshot)
    delete_snapshot = async_method(choice_calls.delete_snapshot)
    replay_snapshot = async_method(choice_calls.replay_snapshot)
    get_report = async_method(choice_calls.get_report)

    register = async_method(account_calls.register)
    reset_password = async_method(account_calls.reset_password)
    get_me = async_method(account_calls.get_me)
    update_me = async_method(account_calls.update_me)
    change_password = async_method(account_calls.change_password)
    get_picture = async_method(account_calls.get_picture)
    set_picture = async_method(account_calls.set_picture)
    delete_picture = async_method(account_calls.delete_picture)
    list_sessions = async_method(account_calls.list_sessions)
    delete_session = async_method(account_calls.delete_session)
    delete_oauth_account = async_method(account_calls.delete_oauth_account)
    page_users = async_method(account_calls.page_users)
    update_user = async_method(account_calls.update_user)
    reset_user = async_method(account_calls.reset_user)
    hide_dataset = async_method(account_calls.hide_dataset)
    page_hidden_datasets = async_method(account_calls.page_hidden_datasets)
    get_health = async_method(account_calls.get_health)

    train = async_method(job_calls.train)
    preview_training = async_method(job_calls.preview_training)
    explain = async_method(job_calls.explain)
    get_job = async_method(job_calls.get_job)
    page_jobs = async_method(job_calls.page_jobs)
    page_project_jobs = async_method(job_calls.page_project_jobs)
    cancel_job = async_method(job_calls.cancel_job)
    delete_job = async_method(job_calls.delete_job)
    get_artifact = async_method(job_calls.get_artifact)
    predict = async_method(job_calls.predict)

    compare_trainings = async_method(comparison_calls.compare_trainings)
    get_training_comparison = async_method(comparison_calls.get_training_comparison)
    page_training_comparisons = async_method(comparison_calls.page_training_comparisons)
    cancel_training_comparison = async_method(comparison_calls.cancel_training_comparison)
    delete_training_comparison = async_method(comparison_calls.delete_training_comparison)

    async def login(self, email: str, password: str) -> Tokens:
        """Sign in with an e-mail address and a password, and use the tokens for all later calls."""
        tokens = await self.run(account_calls.sign_in(email, password, device=self.identity.device))
        self.identity.replace_tokens(tokens)
        return tokens

    async def logout(self) -> None:
        """End the session on the server, and discard its tokens."""
        if self.identity.refresh_token is not None:
            await self.run(account_calls.revoke(self.identity.refresh_token))
        self.identity.discard_tokens()

    async def iterate_datasets(
        self,
        *,
        page_size: int = 100,
        sort_by: str | None = None,
        sort_order: Order | None = None,
        assurance: AssuranceName | None = None,
        **filters: Unpack[Filters],
    ) -> AsyncIterator[Dataset]:
        """Iterate over all records that match the filters, fetching one page at a time.

        No record is repeated or skipped if others are added or deleted during the iteration.

        The service may leave out the metadata of records to shorten a page. Each of these records is fetched again
        separately, so that all records are complete.
        """
        order = {"sort_by": sort_by, "sort_order": sort_order}
        next_query: Mapping[str, Any] | None = {"limit": page_size, **order, "assurance": assurance, **filters}
        while next_query is not None:
            part = await self.run(catalog_calls.list_datasets_part(next_query))
            for dataset in part.datasets:
                if dataset.metadata_omitted:
                    yield await self.get_dataset(dataset.id)
                else:
                    yield dataset
            next_query = part.next_query

    async def export_records(
        self,
        *,
        sort_by: str | None = None,
        sort_order: Order | None = None,
        assurance: AssuranceName | None = None,
        **filters: Unpack[Filters],
    ) -> AsyncIterator[Dataset]:
        """Export all records that match the filters with a single request, and iterate over them as they arrive.

        Raises:
            TouchstoneError: the service refused the call, or the connection was lost before the last record.
        """
        call = export_calls.stream_export(
            "jsonl", sort_by=sort_by, sort_order=sort_order, assurance=assurance, **filters
        )
        response = await self.run(call)

        records = ExportedRecords()
        async with aclosing(response):
            refuse_web_page(response)  # from a proxy that requires signing in, for example
            try:
                async for chunk in response.aiter_bytes():
                    for record in records.read_chunk(chunk):
                        yield record
            except httpx2.RequestError as error:
                raise connection_error(error) from error
        records.check_completeness()

    async def export_to_file(
        self, file: BinaryIO, export_format: CatalogFormat = "parquet", **filters: Unpack[Filters]
    ) -> int:
        """Write all records that match the filters to an open file, and return the number of bytes written.

        Raises:
            TouchstoneError: the service refused the call, or the connection was lost before the export was complete.
        """
        response = await self.run(export_calls.stream_export(export_format, **filters))
        return await self._write_body(response, file)

    async def import_bulk(
        self, source: BulkSource, *, lines_per_request: int = LINES_PER_REQUEST
    ) -> AsyncIterator[BulkBatch]:
        """Import any number of records, and yield the result of each batch as soon as it is stored.

        The source is a JSON Lines file, which may be compressed with gzip, or an iterable of records: mappings, lines
        of JSON, or records exported from another catalog. A record with `metadata.source.name` and `.key` replaces the
        record that the caller has imported with the same name and key, so an import can be repeated. All other records
        are created. Lines without a valid record are refused, and the others are imported.

        The records are sent while the caller iterates over the batches, so stopping early leaves out the rest.

        Raises:
            TouchstoneError: the service stopped the import; the batches so far are stored.
            OSError: the file cannot be read.
            ValueError: the file is not JSON Lines, but a Parquet file or compressed in another way.
            TypeError: the source is a single record, or a path as a string.
        """
        for call in bulk_import_calls(source, lines_per_request):
            result = await self.run(call)
            for batch in result.batches:
                yield batch
            if result.error is not None:
                raise result.error

    async def list_projects(self) -> list[Project]:
        """List all projects of the caller, most recently changed first."""
        return await self._perform(read_whole_list(catalog_calls.list_projects, self.identity))

    async def list_choices(self, project_id: str | UUID, *, skip: int = 0, limit: int | None = None) -> list[Choice]:
        """List the choices that were made in a project, newest first; all of them unless `limit` is given."""
        list_part = functools.partial(choice_calls.list_choices, project_id)
        return await self._perform(read_whole_list(list_part, self.identity, skip=skip, limit=limit))

    async def list_snapshots(
        self, project_id: str | UUID, *, skip: int = 0, limit: int | None = None
    ) -> list[SnapshotSummary]:
        """List the snapshots of a project, newest first, without their contents; all unless `limit` is given."""
        list_part = functools.partial(choice_calls.list_snapshots, project_id)
        return await self._perform(read_whole_list(list_part, self.identity, skip=skip, limit=limit))

    async def iterate_jobs(self, kind: Kind, *, project_id: str | UUID | None = None) -> AsyncIterator[Job]:
        """Iterate over the trainings or explanations of the caller, newest first, fetching one page at a time."""
        for page_number in itertools.count(start=1):
            page = await self.page_jobs(kind, project_id=project_id, page=page_number, page_size=100)
            for job in page.jobs:
                yield job

            if page_number >= page.total_pages:
                return

    async def wait(self, job: Job, *, report: Callable[[Job], None] | None = None) -> Job:
        """Wait until a job is done, and return it; `report` is called with the job after each poll.

        The job may have failed or been cancelled, as its `status` shows. It survives a restart of the service, for
        which this method waits up to a minute.
        """
        return await self._perform(wait_for_job(job, self.identity, report))

    async def wait_for_comparison(
        self, comparison: TrainingComparison, *, report: Callable[[TrainingComparison], None] | None = None
    ) -> TrainingComparison:
        """Wait until all trainings of a comparison have ended, and return the comparison.

        `report` is called with the comparison after each poll.
        """
        return await self._perform(wait_for_comparison(comparison, self.identity, report))

    async def events(self, job: Job, *, after: str | None = None) -> AsyncIterator[JobEvent]:
        """Iterate over the events of a job as they happen, until the job is done.

        If the connection is lost, a new one continues after the last event. `after` is the id of an event; the
        iteration begins with the next one.

        Raises:
            TouchstoneError: the service refused the call, or was away for more than a minute.
        """
        open_stream = functools.partial(job_calls.follow_job, job.kind, job.id)
        async for event in self._follow(open_stream, after):
            yield event

    async def comparison_states(self, comparison: TrainingComparison) -> AsyncIterator[TrainingComparison]:
        """Iterate over the states of a comparison as they change, until all its trainings have ended.

        Raises:
            TouchstoneError: the service refused the call, or was away for more than a minute.
        """
        open_stream = functools.partial(comparison_calls.follow_training_comparison, comparison.id)
        async for event in self._follow(open_stream, None):
            yield msgspec.convert(event.data, TrainingComparison)

    async def _follow(self, open_stream: OpenStream, after: str | None) -> AsyncIterator[JobEvent]:
        """Iterate over the events of a stream, over several connections if necessary, until it has ended."""
        stream = EventStream(after)
        while not stream.has_ended:
            stream.begin_connection()
            try:
                response = await self.run(open_stream(after=stream.last_event_id))
                async with aclosing(response):
                    if not stream.has_events(response):
                        break  # the job is done
                    async for message in httpx2.EventSource(response):
                        event = stream.read_message(message)
                        if event is not None:
                            yield event
            except (httpx2.RequestError, TouchstoneError) as error:
                stream.record_failure(error)

            # A proxy may also end a connection without an error, so the stream is continued in both cases.
            await asyncio.sleep(stream.reconnect_delay_seconds)

        stream.check_completeness()

    async def download(self, job: Job, name: str, into: BinaryIO) -> int:
        """Write an artifact of a job to an open file in chunks, and return the number of bytes written.

        Raises:
            TouchstoneError: the service refused the call, or the connection was lost before the file was complete.
        """
        response = await self.run(job_calls.stream_artifact(job.kind, job.id, name))
        return await self._write_body(response, into, file_name=name)

    async def _write_body(self, response: httpx2.Response, file: BinaryIO, *, file_name: str = "") -> int:
        """Write the body of a streamed response to an open file, and return the number of bytes written.

        Raises:
            TouchstoneError: the response is a web page instead of the file, or the connection was lost.
        """
        byte_count = 0
        async with aclosing(response):
            refuse_web_page(response, file_name=file_name)
            try:
                async for chunk in response.aiter_bytes():
                    byte_count += file.write(chunk)
            except httpx2.RequestError as error:
                raise connection_error(error) from error
        return byte_count

    def with_identity(self, identity: Identity) -> Self:
        """Return a client for another caller that shares the connections of this client."""
        other_client = copy.copy(self)
        other_client.identity = identity
        other_client._renewal_lock = asyncio.Lock()
        return other_client

    async def run(self, call: Call[T]) -> T:
        """Make a call, with retries after temporary failures, and return the content of its response.

        Raises:
            TouchstoneError: the service refused the call or did not respond.
        """
        return await self._perform(send_with_retries(call, self.identity))

    async def close(self) -> None:
        """Close the connections, which are shared with all clients from `with_identity`."""
        await self._http_client.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        await self.close()

    async def _perform(self, steps: Steps[T]) -> T:
        """Perform the steps that a generator yields, and return the result of the generator.

        The result of each step is sent back to the generator.
        """
        step_result: StepResult = None
        while True:
            try:
                step = steps.send(step_result)
            except StopIteration as finished:
                result: T = finished.value
                return result
            step_result = await self._perform_step(step)

    async def _perform_step(self, step: Step) -> StepResult:
        """Send a call, renew the tokens or pause, and return the documented result of this kind of step."""
        match step:
            case SendCall(call):
                return await self._send(call)
            case RenewTokens(expired_token):
                return await self._renew_tokens(expired_token)
            case Pause(seconds):
                await asyncio.sleep(seconds)
                return None

    async def _send(self, call: Call[Any]) -> httpx2.Response | httpx2.RequestError:
        """Send the request of a call once, and return the response, or the error if there was none."""
        try:
            request = build_request(self._http_client, call, self.identity)
            response = await self._http_client.send(request, stream=call.streamed)
            if call.streamed and not response.is_success:
                # The caller receives an exception instead of the stream, so the body is read here.
                await response.aread()
        except httpx2.RequestError as error:
            return error
        return response

    async def _renew_tokens(self, expired_token: str | None) -> bool:
        """Exchange the refresh token for new tokens. Return False if the session has ended.

        A refresh token can be used only once. If several tasks notice the expired access token at the same time, one of
        them renews it, and the others wait for the result.
        """
        async with self._renewal_lock:
            # Another task may have renewed the token while this one waited for the lock.
            if self.identity.token != expired_token:
                return True

            try:
                tokens = await self.run(account_calls.renew(self.identity.refresh_token or ""))
            except TouchstoneError as error:
                if is_temporary(error):
                    raise
                return False
            self.identity.replace_tokens(tokens)
            return True
