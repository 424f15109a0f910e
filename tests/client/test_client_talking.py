"""How both kinds of client make calls: renewal, retries, errors, paging, waiting and following."""

import inspect
import io
import pydoc
from collections.abc import AsyncIterator, Iterator
from typing import is_typeddict

import httpx2
import msgspec
import pytest
from rich.pretty import pretty_repr

from tests.client.scripted import KINDS, Caller, Script, ok, refusal
from touchstone import client as client_package
from touchstone.client import (
    AsyncTouchstone,
    Dataset,
    Identity,
    Job,
    Touchstone,
    TouchstoneError,
    event_stream,
    fields,
    job_polling,
)

TOKENS = {"access_token": "new", "token_type": "bearer", "expires_in": 60, "refresh_token": "next"}
ME = {"id": "1b4e28ba-2fa1-41d2-883f-0016d3cca427", "email": "a@b.org"}
JOB = {
    "id": "6ba7b810-9dad-41d1-80b4-00c04fd430c8",
    "kind": "train",
    "status": "queued",
    "done": False,
    "created_at": "2026-01-01T00:00:00Z",
}
DATASET = {"dataset_id": "6ba7b810-9dad-41d1-80b4-00c04fd430c8", "name": "x", "dataset_name": "x"}

for_both_kinds = pytest.mark.parametrize("kind", KINDS)


def job_json(**changes: object) -> dict[str, object]:
    return {**JOB, **changes}


def typed_job(value: dict[str, object]) -> Job:
    return msgspec.convert(value, Job)


def test_both_clients_have_the_same_methods() -> None:
    """Both kinds of client have the same methods with the same parameters."""
    for name, method in inspect.getmembers(Touchstone, inspect.isfunction):
        if not name.startswith("_"):
            async_method = getattr(AsyncTouchstone, name)
            assert list(inspect.signature(method).parameters) == list(inspect.signature(async_method).parameters), name


@for_both_kinds
def test_signatures_of_methods_are_those_to_call(kind: str) -> None:
    """Notebooks complete arguments from the signature, which has the result of the call and not its description."""
    client = Caller(kind, Script()).client
    assert list(inspect.signature(client.get_dataset).parameters) == ["dataset_id"]
    assert list(inspect.signature(type(client).get_dataset).parameters) == ["self", "dataset_id"]
    assert inspect.signature(client.get_dataset).return_annotation is Dataset
    assert inspect.signature(client.delete_file).return_annotation is None

    described = pydoc.plain(pydoc.render_doc(type(client)))
    assert "-> touchstone.client.call.Call" not in described
    assert f"{type(client).__name__}.get_dataset" == type(client).get_dataset.__qualname__


def test_types_of_arguments_can_be_imported_from_the_package() -> None:
    """A program that keeps filters or options in variables needs their types, and `help` names them."""
    typed_dicts = {name for name, member in vars(fields).items() if is_typeddict(member)}
    assert typed_dicts <= set(client_package.__all__)


@for_both_kinds
def test_tokens_are_not_shown(kind: str) -> None:
    """A notebook whose cell ends with a sign-in stores no token, neither as plain text nor as `rich` shows it."""
    caller = Caller(kind, Script(ok(TOKENS)))
    tokens = caller("login", "a@b.org", "pw")
    shown = f"{tokens!r} {pretty_repr(tokens)} {caller.client.identity!r}"
    assert "expires_in=60" in shown
    assert not any(f"'{secret}'" in shown for secret in (tokens.access_token, tokens.refresh_token))


@for_both_kinds
@pytest.mark.parametrize("identity", [{"token": "secret\n"}, {"token": "s\u00e9cret"}, {"locale": "fran\u00e7ais"}])
def test_what_no_header_may_contain_is_refused_without_quoting_it(kind: str, identity: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="no HTTP header") as problem:
        Caller(kind, Script(), **identity)("get_me")
    assert not any(value.strip() in str(problem.value) for value in identity.values())


@for_both_kinds
def test_an_expired_token_is_renewed_once_and_kept(kind: str) -> None:
    """After a 401, the token is renewed and reported, and the call is sent again with the new token."""
    script = Script(refusal(401, "unauthorized"), ok(TOKENS), ok(ME))
    access_tokens: list[str] = []
    caller = Caller(
        kind, script, token="old", refresh_token="r", on_tokens=lambda tokens: access_tokens.append(tokens.access_token)
    )
    assert caller("get_me").email == "a@b.org"
    assert script.request_lines == ["GET /api/v1/users/me", "POST /api/v1/auth/refresh", "GET /api/v1/users/me"]
    assert [r.headers.get("authorization") for r in script.requests] == ["Bearer old", None, "Bearer new"]
    assert access_tokens == ["new"]
    assert caller.client.identity.refresh_token == "next"


@for_both_kinds
def test_a_session_that_is_over_stays_over(kind: str) -> None:
    """If renewing fails too, the caller gets the first error, and nothing is sent a third time."""
    script = Script(refusal(401, "unauthorized"), refusal(401, "invalid_refresh_token"))
    with pytest.raises(TouchstoneError) as problem:
        Caller(kind, script, token="old", refresh_token="r")("get_me")
    assert (problem.value.status, problem.value.code) == (401, "unauthorized")
    assert len(script.requests) == 2


@for_both_kinds
def test_reads_are_retried_and_writes_never(kind: str) -> None:
    """A read is repeated after a broken connection or an overload; a write is sent only once."""
    script = Script(httpx2.ConnectError("gone"), refusal(503, "unavailable", **{"Retry-After": "0"}), ok(ME))
    assert Caller(kind, script)("get_me").email == "a@b.org"
    script = Script(refusal(503, "unavailable", **{"Retry-After": "0"}))
    with pytest.raises(TouchstoneError) as problem:
        Caller(kind, script)("create_project", "p")
    assert (problem.value.status, problem.value.retry_after, len(script.requests)) == (503, 0.0, 1)


@for_both_kinds
def test_a_long_retry_after_is_left_to_the_caller(kind: str) -> None:
    """If the service asks to wait for a minute, the caller gets the error with the seconds at once."""
    script = Script(refusal(503, "unavailable", **{"Retry-After": "60"}))
    with pytest.raises(TouchstoneError) as problem:
        Caller(kind, script)("get_me")
    assert problem.value.retry_after == 60


@for_both_kinds
def test_no_answer_is_one_clear_error(kind: str) -> None:
    """If a server cannot be reached, the error after the last attempt contains its address."""
    script = Script(*(httpx2.ConnectError("refused") for _ in range(3)))
    with pytest.raises(TouchstoneError, match="http://localhost cannot be reached: refused") as problem:
        Caller(kind, script)("get_me")
    assert (problem.value.status, problem.value.code) == (0, "unreachable")


@for_both_kinds
def test_a_change_without_an_answer_may_have_been_made(kind: str) -> None:
    """If the connection breaks after a request was sent, the error does not claim that the server was not reached."""
    with pytest.raises(
        TouchstoneError, match="localhost may have carried out the request, but has not answered"
    ) as problem:
        Caller(kind, Script(httpx2.ReadTimeout("")))("create_project", "p")
    assert problem.value.code == "unreachable"

    script = Script(*(httpx2.ReadError("reset") for _ in range(3)))
    with pytest.raises(TouchstoneError, match="localhost has not answered completely: reset"):
        Caller(kind, script)("get_me")


@for_both_kinds
@pytest.mark.parametrize(
    ("status", "text"),
    [(200, "<html>"), (502, "<html>"), (200, '{"id": 5}'), (502, '{"errors": ' + "[" * 5000)],
    ids=["html", "proxy error", "other shape", "too many levels"],
)
def test_answers_of_something_else_are_unreadable(kind: str, status: int, text: str) -> None:
    """A page of a proxy, or JSON of another service, raises an error of its own."""
    with pytest.raises(TouchstoneError) as problem:
        Caller(kind, Script(*(httpx2.Response(status, text=text) for _ in range(3))))("get_me")
    assert problem.value.code == "unreadable"


@for_both_kinds
@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("delete_dataset", (5,)),
        ("get_me", ()),
        ("get_artifact", ("train", "x", "model.skops")),
        ("export_to_file", (io.BytesIO(),)),
        ("export_records", ()),
        ("events", (typed_job(JOB),)),
    ],
)
def test_redirects_are_no_success(kind: str, name: str, arguments: tuple[object, ...]) -> None:
    """A redirect, which comes from something else than the service, is an error that names its target."""
    redirect = httpx2.Response(301, headers={"location": "https://elsewhere.org/"}, html="<html>moved")
    with pytest.raises(TouchstoneError, match=r"301 .*https://elsewhere\.org/") as problem:
        Caller(kind, Script(redirect))(name, *arguments)
    assert (problem.value.status, problem.value.code) == (301, "unreadable")


@for_both_kinds
@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("delete_dataset", (5,)),
        ("get_artifact", ("train", "x", "model.skops")),
        ("export_dataset", (5,)),
        ("export_to_file", (io.BytesIO(),)),
        ("export_records", ()),
        ("download", (typed_job(JOB), "model.skops", io.BytesIO())),
        ("events", (typed_job(JOB),)),
    ],
)
def test_web_pages_are_not_taken_for_files(kind: str, name: str, arguments: tuple[object, ...]) -> None:
    """The sign-in page of a network has the status 200, too, but is neither data nor a confirmation."""
    with pytest.raises(TouchstoneError) as problem:
        Caller(kind, Script(httpx2.Response(200, html="<html>Please sign in")))(name, *arguments)
    assert problem.value.code == "unreadable"


@for_both_kinds
def test_files_may_be_web_pages_by_their_name(kind: str) -> None:
    """A report in HTML is a web page, as its name says."""
    headers = {"content-disposition": 'attachment; filename="report.html"'}
    report = Caller(kind, Script(httpx2.Response(200, html="<html>", headers=headers)))("get_report", "x")
    assert (report.name, report.media_type) == ("report.html", "text/html")


@for_both_kinds
@pytest.mark.parametrize("segment", ["", ".", ".."])
def test_ids_that_would_change_the_path_are_not_sent(kind: str, segment: str) -> None:
    """An empty id would be the address of the whole list, for example."""
    with pytest.raises(TouchstoneError, match="is not an id or a name") as problem:
        Caller(kind, Script())("get_dataset", segment)
    assert problem.value.status == 404


@for_both_kinds
def test_a_created_record_has_its_version(kind: str) -> None:
    """With the ETag of a new record, the first change can be conditional, too."""
    created = httpx2.Response(201, json={"id": 1, **DATASET}, headers={"etag": '"v1"'})
    script = Script(created, ok({"id": 1, **DATASET}))
    caller = Caller(kind, script)
    dataset = caller("create_dataset", "x")
    caller("update_dataset", 1, etag=dataset.etag, year=2020)
    assert script.requests[1].headers["if-match"] == '"v1"'


@for_both_kinds
def test_lists_are_read_to_their_end(kind: str) -> None:
    """Lists that are longer than one response are read with several calls."""
    choice = {"id": ME["id"], "at": "2026-01-01T00:00:00Z"}
    project = {"id": ME["id"], "user_id": ME["id"], "name": "x", "created_at": choice["at"], "updated_at": choice["at"]}
    script = Script(ok([project] * 1000), ok([project] * 5), ok([choice] * 1000), ok([]), ok([choice] * 3))
    caller = Caller(kind, script)
    assert len(caller("list_projects")) == 1005
    assert len(caller("list_choices", "x")) == 1000
    assert len(caller("list_choices", "x", skip=2, limit=3)) == 3
    assert [request.url.query for request in script.requests] == [
        b"skip=0&limit=1000",
        b"skip=1000&limit=1000",
        b"skip=0&limit=1000",
        b"skip=1000&limit=1000",
        b"skip=2&limit=3",
    ]


@for_both_kinds
def test_idempotency_keys_are_plain_text(kind: str) -> None:
    """A header cannot carry every character, which is said before anything is sent."""
    with pytest.raises(ValueError, match="printable ASCII"):
        Caller(kind, Script())("train", 1, "y", idempotency_key="é")


@for_both_kinds
def test_refusals_carry_what_the_service_said(kind: str) -> None:
    """The exception contains the status, the code, the sentence and the single errors."""
    with pytest.raises(TouchstoneError) as problem:
        Caller(kind, Script(refusal(422, "invalid_weights")))("score_datasets", weights={"year": -1})
    assert str(problem.value) == "No. (422 invalid_weights)"
    assert problem.value.errors[0]["type"] == "invalid_weights"


@for_both_kinds
def test_queries_are_written_as_the_contract_reads_them(kind: str) -> None:
    """Lists are repeated, booleans are in lower case, and None is omitted."""
    script = Script(ok([]))
    Caller(kind, script, locale="en")("list_datasets", domain=["a,b", "c"], is_split=False, year_min=None)
    assert script.requests[0].url.query == b"skip=0&limit=100&domain=a%2Cb&domain=c&is_split=false"
    assert script.requests[0].headers["accept-language"] == "en"


@for_both_kinds
def test_ids_never_become_paths(kind: str) -> None:
    """Whatever an id contains, it stays within its segment of the path."""
    script = Script(refusal(404, "project_not_found"))
    with pytest.raises(TouchstoneError):
        Caller(kind, script)("get_project", "../users/me?x=1#y")
    assert script.requests[0].url.raw_path == b"/api/v1/projects/..%2Fusers%2Fme%3Fx%3D1%23y"


@for_both_kinds
def test_iterating_follows_the_links_of_a_list(kind: str) -> None:
    """Records are returned one after the other, part after part, with the parameters of the links."""

    def part(request: httpx2.Request) -> httpx2.Response:
        number = int(request.url.params.get("cursor", "1"))
        records = [{"id": 2 * number - 1, **DATASET}, {"id": 2 * number, **DATASET}]
        first_link = '<?limit=2&domain=x>; rel="first"'
        next_link = f'<?limit=2&domain=x&cursor={number + 1}>; rel="next"'
        link_header = f"{first_link}, {next_link}" if number < 3 else first_link
        return httpx2.Response(200, json=records, headers={"Link": link_header})

    script = Script(part, part, part)
    records = Caller(kind, script)("iterate_datasets", page_size=2, sort_by="year", domain="x")
    assert [record.id for record in records] == [1, 2, 3, 4, 5, 6]
    assert {r.url.params["domain"] for r in script.requests} == {"x"}


@for_both_kinds
def test_iterating_goes_through_the_lists_of_an_older_service(kind: str) -> None:
    """Where lists do not link to their next part, the records that have been read are left out."""

    def part(request: httpx2.Request) -> httpx2.Response:
        skip = int(request.url.params.get("skip", "0"))
        return ok([{"id": id_, **DATASET} for id_ in range(1, 6)][skip : skip + 2])

    script = Script(part, part, part)
    records = Caller(kind, script)("iterate_datasets", page_size=2, sort_by="year", domain="x")
    assert [record.id for record in records] == [1, 2, 3, 4, 5]
    assert {r.url.params["domain"] for r in script.requests} == {"x"}


@for_both_kinds
def test_waiting_reports_every_poll_and_ends_with_the_job(kind: str) -> None:
    """`wait` polls until the job has ended in any state, and reports each poll."""
    script = Script(ok(job_json(status="running")), ok(job_json(status="failed", done=True)))
    statuses: list[str] = []
    finished_job = Caller(kind, script)("wait", typed_job(JOB), report=lambda job: statuses.append(job.status))
    assert finished_job.status == "failed"
    assert statuses == ["running", "failed"]


@for_both_kinds
def test_waiting_goes_on_after_a_restart(kind: str) -> None:
    """`wait` ignores that the service is away for a while, because jobs survive a restart."""
    gone = [httpx2.ConnectError("refused") for _ in range(3)]
    starting = refusal(503, "catalog_loading", **{"Retry-After": "9"})
    script = Script(ok(job_json(status="running")), *gone, *gone, starting, ok(job_json(status="succeeded", done=True)))
    assert Caller(kind, script)("wait", typed_job(JOB)).status == "succeeded"
    assert script.answers == []


@for_both_kinds
def test_waiting_ends_if_the_service_stays_away(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """`wait` and `events` give up after an outage that is too long, with the error of the last attempt."""
    monkeypatch.setattr(job_polling, "MAX_OUTAGE_SECONDS", 0.0)
    monkeypatch.setattr(event_stream, "MAX_OUTAGE_SECONDS", 0.0)
    for name in ("wait", "events"):
        script = Script(*(httpx2.ConnectError("refused") for _ in range(12)))
        with pytest.raises(TouchstoneError, match="http://localhost cannot be reached: refused"):
            Caller(kind, script)(name, typed_job(JOB))


def stream(*events: str) -> httpx2.Response:
    return httpx2.Response(200, headers={"content-type": "text/event-stream"}, text="".join(f"{e}\n\n" for e in events))


@for_both_kinds
def test_events_go_on_where_a_connection_broke(kind: str) -> None:
    """An event stream continues after broken connections and a restart of the service, and ends with the job."""
    script = Script(
        stream("retry: 10", ': hello\nid: 7\nevent: progress\ndata: {"percent": 5}'),
        httpx2.ReadError("broken"),
        *(httpx2.ConnectError("refused") for _ in range(5)),
        stream('id: 8\nevent: state\ndata: {"status": "succeeded", "done": true}'),
    )
    events = Caller(kind, script)("events", typed_job(JOB))
    assert [(event.id, event.event) for event in events] == [("7", "progress"), ("8", "state")]
    assert [r.headers.get("last-event-id") for r in script.requests] == [None, *["7"] * 7]


@for_both_kinds
def test_a_stream_without_further_events_has_ended(kind: str) -> None:
    """After its last event, the stream of a finished job is empty, which is no error."""
    script = Script(httpx2.Response(204))
    assert Caller(kind, script)("events", typed_job(JOB), after="9") == []
    assert script.requests[0].headers["last-event-id"] == "9"


@for_both_kinds
def test_a_job_that_cannot_be_followed_is_an_error(kind: str) -> None:
    """If an event stream is refused, the error of the service is raised."""
    with pytest.raises(TouchstoneError) as problem:
        Caller(kind, Script(refusal(404, "job_not_found")))("events", typed_job(JOB))
    assert problem.value.code == "job_not_found"


@for_both_kinds
def test_artifacts_are_written_as_they_come(kind: str) -> None:
    """A download is written to the open file, and returns the number of bytes."""
    script = Script(httpx2.Response(200, content=b"x" * 100_000))
    file = io.BytesIO()
    assert Caller(kind, script)("download", typed_job(JOB), "model.skops", file) == 100_000
    assert file.getvalue() == b"x" * 100_000


@for_both_kinds
def test_a_download_that_breaks_off_is_an_error(kind: str) -> None:
    """If the server closes the connection early, the error is the same as for every other call."""

    class BrokenStream(httpx2.SyncByteStream, httpx2.AsyncByteStream):
        def __iter__(self) -> Iterator[bytes]:
            yield b"x"
            raise httpx2.RemoteProtocolError("closed early")

        async def __aiter__(self) -> AsyncIterator[bytes]:
            yield b"x"
            raise httpx2.RemoteProtocolError("closed early")

    with pytest.raises(TouchstoneError) as problem:
        Caller(kind, Script(httpx2.Response(200, stream=BrokenStream())))(
            "download", typed_job(JOB), "model.skops", io.BytesIO()
        )
    assert problem.value.code == "unreachable"


@for_both_kinds
def test_signing_out_of_a_session_that_is_over_forgets_the_tokens(kind: str) -> None:
    """A session that was ended elsewhere is no obstacle to signing out."""
    script = Script(refusal(401, "unauthorized"), refusal(401, "invalid_refresh_token"))
    caller = Caller(kind, script, token="old", refresh_token="old")
    caller("logout")
    assert script.request_lines == ["POST /api/v1/auth/logout", "POST /api/v1/auth/refresh"]
    assert (caller.client.identity.token, caller.client.identity.refresh_token) == (None, None)


@for_both_kinds
def test_tokens_are_kept_if_their_session_may_still_exist(kind: str) -> None:
    """If the service cannot renew an expired token for a moment, it has not ended the session either."""
    script = Script(refusal(401, "unauthorized"), refusal(503, "unavailable"))
    caller = Caller(kind, script, token="old", refresh_token="old")
    with pytest.raises(TouchstoneError) as problem:
        caller("logout")
    assert problem.value.code == "unavailable"
    assert (caller.client.identity.token, caller.client.identity.refresh_token) == ("old", "old")


def test_an_address_without_a_scheme_is_named_as_the_reason() -> None:
    """The sentence has no empty address."""
    with (
        Touchstone("127.0.0.1:8000") as client,
        pytest.raises(TouchstoneError, match=r"^The server cannot be reached: .*'http://'"),
    ):
        client.get_me()


@for_both_kinds
def test_light_clients_share_connections_and_nothing_else(kind: str) -> None:
    """A client with another token uses that token, and the original keeps its own."""
    script = Script(ok(ME), ok(ME))
    caller = Caller(kind, script, token="first")
    second_identity = Identity(token="second", locale="en", user_agent="Browser")
    first_client, caller.client = caller.client, caller.client.with_identity(second_identity)
    caller("get_me")
    assert first_client.identity.token == "first"
    assert script.requests[0].headers["authorization"] == "Bearer second"
    assert script.requests[0].headers["user-agent"] == "Browser"


@for_both_kinds
def test_signing_in_and_out_keeps_and_forgets_the_tokens(kind: str) -> None:
    """Later calls use the tokens of a sign-in, until the user signs out."""
    script = Script(ok(TOKENS), ok(ME), httpx2.Response(204))
    caller = Caller(kind, script)
    caller("login", "a@b.org", "secret")
    caller("get_me")
    caller("logout")
    assert script.requests[1].headers["authorization"] == "Bearer new"
    assert (caller.client.identity.token, caller.client.identity.refresh_token) == (None, None)
