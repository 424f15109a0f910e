"""Which requests reach a backend, and which are stopped by the proxy in front of it."""

import re
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from urllib.parse import unquote

import pytest

from tests.gateway.harness import GatewayHarness, RecordingBackend, recording_backends, send_raw_request
from tests.listening import listening
from touchstone.core.errors import Unavailable
from touchstone.core.internal_tokens import InternalTokens
from touchstone.core.settings import Settings
from touchstone.database.engine import Database
from touchstone.http.backend_auth import CALLER
from touchstone.http.upstream import AbsentBackend, InProcessBackend, RemoteBackend, Upstream
from touchstone.services.gateway import accounts
from touchstone.services.gateway.app import Gateway
from touchstone.services.gateway.public_routes import LARGE_BODY_PATHS, PUBLIC_ROUTES, STREAMED_BODY_PATHS
from touchstone.services.gateway.route_matcher import NOT_FOUND_ERRORS, RouteMatcher, fill_template, public_addresses

UNAUTHORIZED = {"detail": "Non autorisé", "code": "unauthorized", "errors": []}
PROJECT_MISSING = {"detail": "Projet non trouvé", "code": "project_not_found", "errors": []}
KEY = "k" * 32


def addresses(*, are_open: bool) -> Iterator[tuple[str, str]]:
    """Return the method and a concrete path for every route of the table."""
    for route in PUBLIC_ROUTES:
        for address in route.addresses:
            if route.is_open is are_open:
                yield route.method, address.replace("{", "").replace("}", "")


@pytest.fixture
async def remote_harness(settings: Settings, database: Database) -> AsyncIterator[GatewayHarness]:
    """Open a gateway with every backend behind a real HTTP connection."""
    backends = recording_backends()
    tokens = InternalTokens(KEY)
    async with AsyncExitStack() as stack:
        upstreams: dict[str, Upstream] = {}
        for name, backend in backends.items():
            remote = RemoteBackend(name, await stack.enter_async_context(listening(backend)), timeout=5)
            stack.push_async_callback(remote.close)
            upstreams[name] = remote
        gateway = await Gateway.open(settings, database, tokens, upstreams)
        stack.push_async_callback(gateway.close)
        yield GatewayHarness(gateway, settings, database, backends)


async def test_every_route_but_the_open_ones_asks_for_a_token(harness: GatewayHarness) -> None:
    """Every route that is not marked as open returns 401 without a token, and the request reaches no backend."""
    async with harness.client(accept_language="en") as guest:
        for method, path in addresses(are_open=False):
            for spelling in (path, path.rstrip("/"), path.rstrip("/") + "/"):
                answer = await guest.request(method, spelling)
                assert (answer.status_code, answer.json()) == (401, UNAUTHORIZED), path
                assert answer.headers["www-authenticate"] == "Bearer"
    assert [backend.scopes for backend in harness.backends.values()] == [[], [], []]


async def test_open_routes_answer_without_a_token(harness: GatewayHarness) -> None:
    """Every route that is marked as open responds, even if the request has an invalid token."""
    async with harness.client("worthless") as guest:
        for method, path in addresses(are_open=True):
            answer = await guest.request(method, path)
            assert answer.status_code != 405, path
            assert answer.json() != UNAUTHORIZED if "json" in answer.headers["content-type"] else True, path


async def test_a_response_that_breaks_off_is_not_followed_by_another_one(harness: GatewayHarness) -> None:
    """If the database is lost in the middle of an export, the server has to close the connection."""
    harness.backends["selection"].failure = Unavailable()
    async with await harness.user() as user:
        with pytest.raises(Unavailable):
            await user.get("/api/v1/datasets/export.jsonl")


async def test_the_open_routes_are_these(harness: GatewayHarness) -> None:
    """Opening a route is a deliberate decision, so the list is repeated here."""
    open_paths = {path for method, path in addresses(are_open=True) if "docs" not in path and "openapi" not in path}
    assert open_paths == {
        "/api/v1/auth/register",
        "/api/v1/auth/login",
        "/api/v1/auth/refresh",
        "/api/v1/auth/reset-password",
        "/api/v1/auth/oidc/provider/login",
        "/api/v1/auth/oidc/provider/callback",
        "/health/live",
        "/health/ready",
    }


async def test_every_address_leads_to_its_own_row() -> None:
    """No row of the table is hidden by another one."""
    matcher = RouteMatcher(public_addresses(PUBLIC_ROUTES))
    for route in PUBLIC_ROUTES:
        for address in route.addresses:
            match = matcher.find_path(address.replace("{", "").replace("}", ""))
            assert match is not None
            assert match.routes[route.method] is route
            assert fill_template(route.target, match.values) == route.target.replace("{", "").replace("}", "")


UNKNOWN_PATHS = (
    b"/api/v1/nothing",
    b"/nothing",
    b"/",
    b"",
    b"//api/v1/datasets/",
    b"/api/v1//datasets/",
    b"/api/v1/datasets//",
    b"/api/v1/datasets/1/2/3",
    b"/api%2Fv1%2Fauth%2Flogin",
    b"/health%2flive",
    b"/api/v1/datasets/%2e%2e/auth/login",
    b"/docs/../api/v1/datasets/",
    b"/docs;/api/v1/datasets/",
    b"http://gateway.test/docs/x",
)


async def test_unknown_paths_look_like_protected_ones(harness: GatewayHarness) -> None:
    """Without a token, an unknown path is answered like a protected one; with a token, it is not found."""
    ada = await harness.user()
    headers = [(b"authorization", ada.headers["authorization"].encode())]
    for raw_path in UNKNOWN_PATHS:
        guest_response = await send_raw_request(harness.app, "GET", raw_path, [])
        assert (guest_response.status, guest_response.json()) == (401, UNAUTHORIZED), raw_path
        user_response = await send_raw_request(harness.app, "GET", raw_path, headers)
        assert (user_response.status, user_response.json()["code"]) == (404, "not_found"), raw_path
    assert not any(backend.scopes for backend in harness.backends.values())


async def test_static_files_stay_in_their_folder(harness: GatewayHarness) -> None:
    """No path to the public assets of the documentation leads out of their folder."""
    for name in (b"..", b"%2e%2e", b"..%2f..%2fsigning.key", b"%2fetc%2fpasswd", b"..%5c..%5csigning.key"):
        answer = await send_raw_request(harness.app, "GET", b"/docs/static/" + name, [])
        assert (answer.status, answer.json()["code"]) == (404, "not_found")
    async with harness.client() as guest:
        assert (await guest.get("/docs/static/swagger-ui.css")).status_code == 200


async def test_a_crafted_host_opens_nothing(harness: GatewayHarness) -> None:
    """Only the path decides which routes are open, and never the Host header."""
    for host in (b"gateway.test/docs?", b"gateway.test/health/live#", b"x/openapi.json", b""):
        answer = await send_raw_request(harness.app, "GET", b"/api/v1/datasets/", [(b"host", host)])
        assert (answer.status, answer.json()) == (401, UNAUTHORIZED)


async def test_a_wrong_method_names_the_right_ones(harness: GatewayHarness) -> None:
    """A wrong method gives 405 with Allow, if the caller has a token or the path is open."""
    async with await harness.user() as ada:
        answer = await ada.delete("/api/v1/datasets/")
        assert (answer.status_code, answer.headers["allow"]) == (405, "GET, POST")
    async with harness.client() as guest:
        assert (await guest.delete("/api/v1/datasets/")).status_code == 401
        answer = await guest.get("/api/v1/auth/login")
        assert (answer.status_code, answer.headers["allow"]) == (405, "POST")


BACKEND_TARGETS = (
    ("GET", "/api/v1/datasets", "selection", "/datasets/"),
    ("GET", "/api/v1/datasets/", "selection", "/datasets/"),
    ("GET", "/api/v1/datasets/7", "selection", "/datasets/7"),
    ("GET", "/api/v1/datasets/7/", "selection", "/datasets/7"),
    ("POST", "/api/v1/datasets/score/", "selection", "/datasets/score"),
    ("GET", "/projects", "selection", "/projects"),
    ("GET", "/api/v1/projects/", "selection", "/projects"),
    ("GET", "/projects/abc/recommendations", "selection", "/projects/abc/recommendations"),
    ("GET", "/api/v1/projects/a%20b%3Fc", "selection", "/projects/a b?c"),
    ("GET", "/projects/p/jobs/", "training", "/projects/p/jobs"),
    ("POST", "/api/v1/ml/train", "training", "/train"),
    ("POST", "/api/v1/ml/jobs/j/predict", "training", "/jobs/j/predict"),
    ("POST", "/api/v1/xai/explain", "explanation", "/explain"),
    ("GET", "/api/v1/xai/jobs/j/artifacts/roc.svg", "explanation", "/jobs/j/artifacts/roc.svg"),
    ("GET", "/training/openapi.json", "training", "/openapi.json"),
)


async def test_requests_reach_their_backend(harness: GatewayHarness) -> None:
    """All aliases of a route reach the backend with the same path, without the prefix of the gateway."""
    async with await harness.user() as ada:
        for method, path, backend, target in BACKEND_TARGETS:
            answer = await ada.request(method, path)
            assert (answer.status_code, harness.backends[backend].last()["path"]) == (200, target)


async def test_an_impossible_project_id_is_a_missing_project(harness: GatewayHarness) -> None:
    """A value that cannot be an id is answered at once like a missing project, in French."""
    ada = await harness.user()
    headers = [(b"authorization", ada.headers["authorization"].encode()), (b"accept-language", b"en")]
    for value in (b"a%2Fb", b"%2e%2e", b".", b"a%00b", b"%0d%0a", b"x" * 300, b"..%2Fdatasets%2F1"):
        for prefix in (b"/projects/", b"/api/v1/projects/"):
            answer = await send_raw_request(harness.app, "GET", prefix + value, headers)
            assert (answer.status, answer.json()) == (404, PROJECT_MISSING), value
    assert harness.backends["selection"].scopes == []


def test_every_value_in_a_path_has_its_refusal() -> None:
    """Without an error for a value, the service would fail instead of reporting that something does not exist."""
    names = {name for route in PUBLIC_ROUTES for name in re.findall(r"{(\w+)}", route.target)}
    assert names <= set(NOT_FOUND_ERRORS)


@pytest.mark.parametrize("path", ["/api/v1/datasets%2fscore", "/api/v1%2Fdatasets/score"])
def test_an_encoded_slash_is_no_slash(path: str) -> None:
    """A path without values is found in one step, but only in its own spelling."""
    scope = {"type": "http", "path": unquote(path), "raw_path": path.encode()}
    matcher = RouteMatcher(public_addresses(PUBLIC_ROUTES))
    match = matcher.find(scope)
    assert match is None or "POST" not in match.routes
    assert matcher.find({**scope, "raw_path": b"/api/v1/datasets/score"}) is not None


async def test_a_location_is_a_public_address(harness: GatewayHarness) -> None:
    """A Location with a path of a backend is replaced by the canonical public path; others are unchanged."""
    public_locations = {
        "/datasets/7": "/api/v1/datasets/7",
        "/projects/a%20b": "/api/v1/projects/a%20b",
        "/api/v1/ml/jobs/j": "/api/v1/ml/jobs/j",
        "https://elsewhere.example.org/datasets/7": "https://elsewhere.example.org/datasets/7",
    }
    async with await harness.user() as ada:
        for location, public_location in public_locations.items():
            harness.backends["selection"].location = location
            assert (await ada.post("/projects", json={})).headers["location"] == public_location

        for backend, location, path, public_location in (
            ("training", "/jobs/j", "/ml/train", "/api/v1/ml/jobs/j"),
            ("training", "/compare/c", "/ml/compare", "/api/v1/ml/compare/c"),
            ("explanation", "/jobs/j", "/xai/explain", "/api/v1/xai/jobs/j"),
        ):
            harness.backends[backend].location = location
            assert (await ada.post(f"/api/v1{path}", json={})).headers["location"] == public_location


def headers_with_token(token: str, *more_headers: tuple[bytes, bytes]) -> list[tuple[bytes, bytes]]:
    """Return the headers of a request with a token."""
    return [(b"authorization", b"Bearer " + token.encode()), *more_headers]


SPOOFED_HEADERS = (
    (b"x-user-id", b"00000000-0000-0000-0000-000000000001"),
    (b"x_user_id", b"00000000-0000-0000-0000-000000000002"),
    (b"x.user.id", b"00000000-0000-0000-0000-000000000003"),
    (b"X-User-ID", b"00000000-0000-0000-0000-000000000004"),
    (b"x-user-email", b"root@example.org"),
    (b"x_user_email", b"root@example.org"),
    (b"x-touchstone-internal", b"forged"),
    (b"connection", b"X-User-ID, x-request-id"),
    (b"x-forwarded-for", b"127.0.0.1"),
    (b"x-forwarded-user", b"root"),
    (b"cookie", b"session=1"),
    (b"touchstone.caller", b"root"),
)


async def test_identity_is_rebuilt_and_never_passed_on(harness: GatewayHarness) -> None:
    """Identity headers of a client are dropped, and the backend sees only the user of the token."""
    user = await accounts.create_user(harness.database, email="ada@example.org", password="correct horse battery")
    token = (await harness.sign_in())["access_token"]
    passed_headers = ((b"content-type", b"application/json"), (b"if-match", b'"1"'), (b"x-request-id", b"12345678"))
    for extra_headers in ((), SPOOFED_HEADERS, SPOOFED_HEADERS[::-1]):
        answer = await send_raw_request(
            harness.app, "GET", b"/projects", headers_with_token(token, *extra_headers, *passed_headers)
        )
        assert answer.status == 200
        recorder = harness.backends["selection"]
        assert sorted(recorder.last()["headers"]) == sorted(
            [*passed_headers, (b"x-user-id", str(user.id).encode()), (b"x-user-email", b"ada@example.org")]
        )
        assert recorder.last()[CALLER].id == user.id
        assert recorder.last()[CALLER].is_admin is False


async def test_an_open_route_is_forwarded_without_any_identity(harness: GatewayHarness) -> None:
    """The documents of backends are open, so these requests reach the backend without any user."""
    answer = await send_raw_request(harness.app, "GET", b"/selection/openapi.json", list(SPOOFED_HEADERS))
    assert answer.status == 200
    recorder = harness.backends["selection"]
    assert (recorder.last()["headers"], recorder.last()[CALLER]) == ([], None)


async def test_remote_backends_get_the_same_headers_and_a_signed_token(remote_harness: GatewayHarness) -> None:
    """Between processes, the backend gets the same headers over HTTP, and the signed token of the gateway."""
    user = await accounts.create_user(
        remote_harness.database, email="adà@example.org", password="correct horse battery", is_superuser=True
    )
    token = (await remote_harness.sign_in("adà@example.org"))["access_token"]
    async with remote_harness.client(
        token, x_user_id="forged", x_touchstone_internal="forged", idempotency_key="k1"
    ) as ada:
        answer = await ada.post("/api/v1/datasets/score/?limit=2&a=%C3%A9", json={"weights": []})
    assert answer.json() == {"backend": "selection", "path": "/datasets/score"}
    assert answer.headers["x-total-count"] == "7"
    recorder = remote_harness.backends["selection"]
    assert (recorder.bodies, recorder.last()["query_string"]) == ([b'{"weights":[]}'], b"limit=2&a=%C3%A9")
    assert recorder.header(b"x-user-id") == [str(user.id).encode()]
    assert recorder.header(b"x-user-email") == [b"ad%C3%A0@example.org"]
    assert recorder.header(b"idempotency-key") == [b"k1"]
    assert recorder.header(b"authorization") == []
    caller = InternalTokens(KEY).verify(recorder.last()["headers"])
    assert caller is not None
    assert (caller.id, caller.email, caller.is_admin) == (user.id, "adà@example.org", True)


async def test_a_hostile_value_stays_a_value_over_the_hop(remote_harness: GatewayHarness) -> None:
    """Special characters reach a remote backend as part of the value, on the host of the backend."""
    await accounts.create_user(remote_harness.database, email="ada@example.org", password="correct horse battery")
    token = (await remote_harness.sign_in())["access_token"]
    answer = await send_raw_request(
        remote_harness.app,
        "GET",
        b"/projects/@evil.test:80%3Fa=1%23b%5C%25",
        headers_with_token(token),
        query=b'q=\xe9 #<>"\\',
    )
    assert answer.status == 200
    recorder = remote_harness.backends["selection"]
    assert recorder.last()["path"] == "/projects/@evil.test:80?a=1#b\\%"
    assert recorder.last()["query_string"] == b"q=%E9%20%23%3C%3E%22%5C"


async def test_a_backend_that_is_not_there_is_503(settings: Settings, database: Database) -> None:
    """A missing backend and a closed port give 503 with Retry-After; only the second is reported as down."""
    unreachable_backend = RemoteBackend("training", "http://127.0.0.1:1", timeout=2)
    upstreams: dict[str, Upstream] = {
        "selection": InProcessBackend(RecordingBackend("selection")),
        "training": unreachable_backend,
    }
    gateway = await Gateway.open(settings, database, None, {**upstreams, "explanation": AbsentBackend("explanation")})
    harness = GatewayHarness(gateway, settings, database, {})
    async with await harness.user() as ada:
        for path in ("/api/v1/ml/train", "/api/v1/xai/explain"):
            answer = await ada.post(path, json={})
            assert (answer.status_code, answer.json()["code"]) == (503, "backend_unavailable")
            assert int(answer.headers["retry-after"]) > 0
        assert (await ada.get("/projects")).status_code == 200
        readiness = await ada.get("/health/ready")
    assert readiness.status_code == 503
    assert readiness.json()["resources"] == {"database": "ok", "selection": "ok", "training": "down"}
    await unreachable_backend.close()
    await gateway.close()


def test_uploads_alone_may_be_large() -> None:
    """Only uploads and imported documents may be as large as an upload, and only a bulk import of any length."""
    assert {"/api/v1/files", "/files", "/api/v1/datasets/import", "/datasets/import"} == LARGE_BODY_PATHS
    assert {"/api/v1/datasets/bulk", "/datasets/bulk"} == STREAMED_BODY_PATHS
