"""The public OpenAPI document, the documents of the backends, and other origins."""

from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from tests.gateway.harness import PASSWORD, GatewayHarness, in_process_upstreams, recording_backends
from touchstone.core.errors import CatalogLoading
from touchstone.core.settings import Settings
from touchstone.database.engine import Database
from touchstone.http.app import create_app
from touchstone.http.health import Readiness, Resource
from touchstone.http.upstream import RemoteBackend, Upstream
from touchstone.services.gateway.app import Gateway
from touchstone.services.gateway.public_routes import PUBLIC_ROUTES

INFO = {"title": "x", "version": "1"}
REF = "#/components/schemas/"


def backend_document(paths: dict[str, Any], **schemas: Any) -> dict[str, Any]:
    """Return the document of a backend."""
    return {"openapi": "3.1.0", "info": INFO, "paths": paths, "components": {"schemas": schemas}}


def make_operation(schema: str, *parameters: tuple[str, str]) -> dict[str, Any]:
    """Return an operation that responds with a schema."""
    content = {"application/json": {"schema": {"$ref": REF + schema}}}
    declared_parameters = [{"name": name, "in": where, "required": True, "schema": {}} for where, name in parameters]
    return {
        "operationId": "same",
        "parameters": declared_parameters,
        "responses": {"200": {"description": "", "content": content}},
    }


def text_schema(description: str) -> dict[str, Any]:
    """Return a schema."""
    return {"type": "string", "description": description}


SELECTION = backend_document(
    {
        "/datasets/": {"get": make_operation("Page", ("query", "skip"), ("header", "X-User-ID"))},
        "/datasets/{id}": {"get": make_operation("Page", ("path", "id"))},
        "/datasets/{dataset_id}/source": {"get": make_operation("Secret", ("path", "dataset_id"))},
    },
    Page={"type": "array", "items": {"$ref": REF + "Item"}},
    Item=text_schema("a dataset"),
    Secret=text_schema("not public"),
)
TRAINING = backend_document(
    {
        "/jobs": {"get": make_operation("Page")},
        "/jobs/{job_id}": {"get": make_operation("Shared", ("path", "job_id"))},
        "/jobs/{job_id}/artifacts/{file}": {"get": make_operation("Shared", ("path", "job_id"), ("path", "file"))},
    },
    Page={"type": "array", "items": {"$ref": REF + "Item"}},
    Item=text_schema("a job"),
    Shared=text_schema("the same everywhere"),
)
EXPLANATION = backend_document({"/jobs": {"get": make_operation("Shared")}}, Shared=text_schema("the same everywhere"))


def references(value: Any) -> Iterator[str]:
    """Yield every reference in a document."""
    if isinstance(value, dict):
        if "$ref" in value:
            yield value["$ref"].removeprefix(REF)
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from references(item)


async def test_one_document_describes_everything_public(harness: GatewayHarness) -> None:
    """Each route occurs once, at its canonical path, as its backend describes it; equal names stay separate."""
    for name, document in (("selection", SELECTION), ("training", TRAINING), ("explanation", EXPLANATION)):
        harness.backends[name].document = document
    async with harness.client() as guest:
        answer = await guest.get("/openapi.json")
    document = answer.json()
    paths, schemas = document["paths"], document["components"]["schemas"]
    assert answer.status_code == 200
    canonical_paths = {route.path for route in PUBLIC_ROUTES if route.is_documented}
    assert set(paths) <= canonical_paths
    assert {"/api/v1/users/me", "/api/v1/datasets/", "/api/v1/ml/jobs", "/api/v1/xai/jobs", "/health/live"} <= set(
        paths
    )
    assert [parameter["name"] for parameter in paths["/api/v1/datasets/"]["get"]["parameters"]] == ["skip"]
    assert [parameter["name"] for parameter in paths["/api/v1/datasets/{dataset_id}"]["get"]["parameters"]] == [
        "dataset_id"
    ]
    artifact = paths["/api/v1/ml/jobs/{job_id}/artifacts/{name}"]["get"]
    assert [parameter["name"] for parameter in artifact["parameters"]] == ["job_id", "name"]
    assert set(references(paths["/api/v1/datasets/"])) == {"Page"}
    assert set(references(paths["/api/v1/ml/jobs"])) == {"TrainingPage"}
    assert set(references(schemas["TrainingPage"])) == {"TrainingItem"}
    assert set(references(paths["/api/v1/xai/jobs"])) == {"Shared"}
    assert set(references(document)) <= set(schemas)
    assert "Secret" not in schemas


async def test_the_document_says_which_routes_are_open(harness: GatewayHarness) -> None:
    """All routes except the open ones need a bearer token, and every operation has a unique id."""
    async with harness.client() as guest:
        document = (await guest.get("/openapi.json")).json()
    assert document["security"] == [{"bearer": []}]
    assert document["components"]["securitySchemes"]["bearer"]["scheme"] == "bearer"
    for route in PUBLIC_ROUTES:
        operation = document["paths"].get(route.path, {}).get(route.method.lower())
        if operation:
            assert ("security" in operation) is route.is_open
    ids = [operation["operationId"] for path in document["paths"].values() for operation in path.values()]
    assert len(set(ids)) == len(ids)


async def test_members_that_every_response_has_are_required(harness: GatewayHarness) -> None:
    """Whoever generates a client need not expect tokens without their type, or errors without their list."""
    async with harness.client() as guest:
        schemas = (await guest.get("/openapi.json")).json()["components"]["schemas"]
    for name in ("Grant", "Problem"):
        assert set(schemas[name]["required"]) == set(schemas[name]["properties"]), name


async def test_every_route_of_the_gateway_itself_is_described(harness: GatewayHarness) -> None:
    """The routes of the gateway are included, with all their parameters."""
    async with harness.client() as guest:
        document = (await guest.get("/openapi.json")).json()
    for route in PUBLIC_ROUTES:
        if route.backend is None and route.is_documented:
            operation = document["paths"][route.path][route.method.lower()]
            path_parameters = {
                parameter["name"] for parameter in operation.get("parameters", ()) if parameter["in"] == "path"
            }
            assert path_parameters == {part[1:-1] for part in route.path.split("/") if part.startswith("{")}


async def test_a_backend_that_is_down_is_left_out(settings: Settings, database: Database) -> None:
    """The document describes the rest while a backend is unavailable."""
    unreachable_backend = RemoteBackend("training", "http://127.0.0.1:1", timeout=2)
    backends = recording_backends()
    upstreams: dict[str, Upstream] = {**in_process_upstreams(backends), "training": unreachable_backend}
    backends["selection"].document = SELECTION
    gateway = await Gateway.open(settings, database, None, upstreams)
    document = await gateway.openapi()
    assert "/api/v1/datasets/" in document["paths"]
    assert "/api/v1/ml/jobs" not in document["paths"]
    await gateway.close()
    await unreachable_backend.close()


async def test_documents_open_for_people(harness: GatewayHarness) -> None:
    """The description, its assets and the documents of the backends need no token."""
    async with harness.client() as guest:
        page = await guest.get("/docs")
        assert "swagger-ui" in page.text
        for asset in ("docs/static/swagger-ui.css", "docs/static/swagger-ui-bundle.js"):
            assert (await guest.get(f"/{asset}")).status_code == 200
        for name, backend in harness.backends.items():
            for path in ("/docs", "/docs/static/swagger-ui.css", "/openapi.json"):
                assert (await guest.get(f"/{name}{path}")).status_code == 200
                assert backend.last()["path"] == path


ORIGIN = "https://app.example.org"


async def test_other_origins_are_let_in_by_name(settings: Settings, database: Database) -> None:
    """A configured origin may send requests with a token and read errors; other origins may not."""
    cors_settings = settings.model_copy(update={"cors_origins": (ORIGIN,)})
    gateway = await Gateway.open(cors_settings, database, None, in_process_upstreams(recording_backends()))
    harness = GatewayHarness(gateway, cors_settings, database, {})
    preflight_headers = {
        "Access-Control-Request-Method": "PATCH",
        "Access-Control-Request-Headers": "authorization, if-match",
    }
    async with harness.client() as guest:
        preflight = await guest.options("/users/me", headers={"Origin": ORIGIN, **preflight_headers})
        assert preflight.status_code == 200
        assert preflight.headers["access-control-allow-origin"] == ORIGIN
        assert "PATCH" in preflight.headers["access-control-allow-methods"]
        evil_preflight = await guest.options(
            "/users/me", headers={"Origin": "https://evil.example.org", "Accept-Language": "en", **preflight_headers}
        )
        assert evil_preflight.status_code == 422
        assert evil_preflight.json()["detail"] == (
            "Invalid value for Origin: pages of this origin cannot send this request"
        )
        assert "access-control-allow-origin" not in evil_preflight.headers
        for name, value in (("method", "TRACE"), ("headers", "x-user-id")):
            refused_headers = {"Origin": ORIGIN, **preflight_headers, f"Access-Control-Request-{name.title()}": value}
            refusal = await guest.options("/users/me", headers=refused_headers)
            assert refusal.json()["errors"][0]["loc"] == ["header", f"Access-Control-Request-{name.title()}"]
            assert refusal.headers["access-control-allow-origin"] == ORIGIN
        refusal = await guest.get("/users/me", headers={"Origin": ORIGIN})
        assert (refusal.status_code, refusal.headers["access-control-allow-origin"]) == (401, ORIGIN)
        assert "access-control-allow-credentials" not in refusal.headers
        other_origin_response = await guest.get("/users/me", headers={"Origin": "https://evil.example.org"})
        assert "access-control-allow-origin" not in other_origin_response.headers
    await gateway.close()


async def test_no_origin_is_let_in_by_default(harness: GatewayHarness) -> None:
    """Without configuration, no response names an origin."""
    login = {"username": "ada@example.org", "password": PASSWORD}
    async with harness.client() as guest:
        for answer in (
            await guest.options("/users/me", headers={"Origin": ORIGIN, "Access-Control-Request-Method": "GET"}),
            await guest.post("/api/v1/auth/login", json=login, headers={"Origin": ORIGIN}),
        ):
            assert not [name for name in answer.headers if name.startswith("access-control")]


async def test_readiness_names_the_resources(harness: GatewayHarness) -> None:
    """The service is ready if the database and every backend respond; they are listed by name, without details."""
    async with harness.client() as guest:
        readiness = await guest.get("/health/ready")
        assert readiness.status_code == 200
        assert readiness.json()["resources"] == dict.fromkeys(("database", *harness.backends), "ok")
        assert (await guest.get("/health/live/")).status_code == 200


@pytest.mark.parametrize(
    ("error", "status", "body"),
    [
        (None, 200, {"status": "ready", "resources": {"catalog": "ok"}}),
        (ConnectionError(), 503, {"status": "not ready", "resources": {"catalog": "down"}}),
        (
            CatalogLoading(records=3, total_records=7),
            503,
            {"status": "loading", "resources": {"catalog": "loading"}, "records": 3, "total_records": 7},
        ),
    ],
)
async def test_readiness_is_documented(error: Exception | None, status: int, body: dict[str, Any]) -> None:
    """Both statuses have the schema of what is really sent, also where other errors have another one."""

    async def ping() -> None:
        if error is not None:
            raise error

    app = create_app("service", resources=(Resource("catalog", ping),))
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://service") as client:
        answer = await client.get("/health/ready")
        document = (await client.get("/openapi.json")).json()

    assert (answer.status_code, answer.json()) == (status, body)
    assert Readiness.model_validate(body).model_dump(exclude_none=True) == body
    response = document["paths"]["/health/ready"]["get"]["responses"][str(status)]
    assert response["content"]["application/json"]["schema"] == {"$ref": REF + "Readiness"}
