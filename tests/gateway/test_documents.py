"""The public OpenAPI document, the documents of the backends, and other origins."""

from collections.abc import Iterator
from typing import Any

from tests.gateway.harness import PASSWORD, GatewayHarness, in_process_upstreams, recording_backends
from touchstone.core.settings import Settings
from touchstone.database.engine import Database
from touchstone.http.upstream import RemoteBackend, Upstream
from touchstone.services.gateway.app import Gateway
from touchstone.services.gateway.public_routes import PUBLIC_ROUTES

INFO = {"title": "x", "version": "1"}
REF = "#/components/schemas/"


def described(paths: dict[str, Any], **schemas: Any) -> dict[str, Any]:
    """Return the document of a backend."""
    return {"openapi": "3.1.0", "info": INFO, "paths": paths, "components": {"schemas": schemas}}


def answering(schema: str, *parameters: tuple[str, str]) -> dict[str, Any]:
    """Return an operation that responds with a schema."""
    content = {"application/json": {"schema": {"$ref": REF + schema}}}
    given = [{"name": name, "in": where, "required": True, "schema": {}} for where, name in parameters]
    return {"operationId": "same", "parameters": given, "responses": {"200": {"description": "", "content": content}}}


def text(description: str) -> dict[str, Any]:
    """Return a schema."""
    return {"type": "string", "description": description}


SELECTION = described(
    {
        "/datasets/": {"get": answering("Page", ("query", "skip"), ("header", "X-User-ID"))},
        "/datasets/{id}": {"get": answering("Page", ("path", "id"))},
        "/datasets/{dataset_id}/source": {"get": answering("Secret", ("path", "dataset_id"))},
    },
    Page={"type": "array", "items": {"$ref": REF + "Item"}},
    Item=text("a dataset"),
    Secret=text("not public"),
)
TRAINING = described(
    {
        "/jobs": {"get": answering("Page")},
        "/jobs/{job_id}": {"get": answering("Shared", ("path", "job_id"))},
        "/jobs/{job_id}/artifacts/{file}": {"get": answering("Shared", ("path", "job_id"), ("path", "file"))},
    },
    Page={"type": "array", "items": {"$ref": REF + "Item"}},
    Item=text("a job"),
    Shared=text("the same everywhere"),
)
EXPLANATION = described({"/jobs": {"get": answering("Shared")}}, Shared=text("the same everywhere"))


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
    canonical = {route.path for route in PUBLIC_ROUTES if route.is_documented}
    assert set(paths) <= canonical
    assert {"/api/v1/users/me", "/api/v1/datasets/", "/api/v1/ml/jobs", "/api/v1/xai/jobs", "/health/live"} <= set(
        paths
    )
    assert [p["name"] for p in paths["/api/v1/datasets/"]["get"]["parameters"]] == ["skip"]
    assert [p["name"] for p in paths["/api/v1/datasets/{dataset_id}"]["get"]["parameters"]] == ["dataset_id"]
    artifact = paths["/api/v1/ml/jobs/{job_id}/artifacts/{name}"]["get"]
    assert [p["name"] for p in artifact["parameters"]] == ["job_id", "name"]
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


async def test_every_route_of_the_gateway_itself_is_described(harness: GatewayHarness) -> None:
    """The routes of the gateway are included, with all their parameters."""
    async with harness.client() as guest:
        document = (await guest.get("/openapi.json")).json()
    for route in PUBLIC_ROUTES:
        if route.backend is None and route.is_documented:
            operation = document["paths"][route.path][route.method.lower()]
            declared = {p["name"] for p in operation.get("parameters", ()) if p["in"] == "path"}
            assert declared == {part[1:-1] for part in route.path.split("/") if part.startswith("{")}


async def test_a_backend_that_is_down_is_left_out(settings: Settings, database: Database) -> None:
    """The document describes the rest while a backend is unavailable."""
    nobody = RemoteBackend("training", "http://127.0.0.1:1", timeout=2)
    backends = recording_backends()
    upstreams: dict[str, Upstream] = {**in_process_upstreams(backends), "training": nobody}
    backends["selection"].document = SELECTION
    gateway = await Gateway.open(settings, database, None, upstreams)
    document = await gateway.openapi()
    assert "/api/v1/datasets/" in document["paths"]
    assert "/api/v1/ml/jobs" not in document["paths"]
    await gateway.close()
    await nobody.close()


async def test_documents_open_for_people(harness: GatewayHarness) -> None:
    """The description, its assets and the documents of the backends need no token."""
    async with harness.client() as guest:
        page = await guest.get("/docs")
        assert "swagger-ui" in page.text
        for asset in ("docs/start.js", "docs/static/swagger-ui.css", "docs/static/swagger-ui-bundle.js"):
            assert (await guest.get(f"/{asset}")).status_code == 200
        for name, backend in harness.backends.items():
            for path in ("/docs", "/docs/start.js", "/docs/static/swagger-ui.css", "/openapi.json"):
                assert (await guest.get(f"/{name}{path}")).status_code == 200
                assert backend.last()["path"] == path


ORIGIN = "https://app.example.org"


async def test_other_origins_are_let_in_by_name(settings: Settings, database: Database) -> None:
    """A configured origin may send requests with a token and read errors; other origins may not."""
    allowed = settings.model_copy(update={"cors_origins": (ORIGIN,)})
    gateway = await Gateway.open(allowed, database, None, in_process_upstreams(recording_backends()))
    harness = GatewayHarness(gateway, allowed, database, {})
    asked = {"Access-Control-Request-Method": "PATCH", "Access-Control-Request-Headers": "authorization, if-match"}
    async with harness.client() as guest:
        preflight = await guest.options("/users/me", headers={"Origin": ORIGIN, **asked})
        assert preflight.status_code == 200
        assert preflight.headers["access-control-allow-origin"] == ORIGIN
        assert "PATCH" in preflight.headers["access-control-allow-methods"]
        refused = await guest.get("/users/me", headers={"Origin": ORIGIN})
        assert (refused.status_code, refused.headers["access-control-allow-origin"]) == (401, ORIGIN)
        assert "access-control-allow-credentials" not in refused.headers
        other = await guest.get("/users/me", headers={"Origin": "https://evil.example.org"})
        assert "access-control-allow-origin" not in other.headers
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
        ready = await guest.get("/health/ready")
        assert ready.status_code == 200
        assert ready.json()["resources"] == dict.fromkeys(("database", *harness.backends), "ok")
        assert (await guest.get("/health/live/")).status_code == 200
