"""The table of all public routes, with their addresses, backends and access rules."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain
from typing import Final

API: Final = "/api/v1"
# The cookies that take part in a sign-in with a password are only sent to this route.
LOGIN_PATH: Final = f"{API}/auth/login"
BACKENDS: Final = ("selection", "training", "explanation")


@dataclass(frozen=True, slots=True)
class PublicRoute:
    """A method at a public address.

    Attributes:
        method: the HTTP method.
        path: the canonical public path, as in the OpenAPI document, with placeholders such as `{job_id}`.
        backend: the name of the backend, or None for the gateway itself.
        target: the path at the backend, with the same placeholders.
        aliases: other public paths of the same route.
        is_open: whether the route can be called without a token.
        has_large_body: whether the size limit for uploads applies to the body.
        streams_body: whether the body is processed while it arrives, so that its size is not limited.
        returns_location: whether the response may have a Location header, whose path at the backend is then translated
            to a public path.
        is_documented: whether the route is included in the OpenAPI document.
    """

    method: str
    path: str
    backend: str | None
    target: str
    aliases: tuple[str, ...] = ()
    is_open: bool = False
    has_large_body: bool = False
    streams_body: bool = False
    returns_location: bool = False
    is_documented: bool = True

    @property
    def addresses(self) -> tuple[str, ...]:
        """All public paths, the canonical one first."""
        return (self.path, *self.aliases)


def _gateway_route(method: str, path: str, *, is_open: bool = False) -> PublicRoute:
    """Return a route of the gateway itself.

    Routes for the user's own account can also be called without the prefix `/api/v1`.
    """
    aliases = (path,) if path.startswith("/users/me") else ()
    return PublicRoute(method, API + path, backend=None, target=API + path, aliases=aliases, is_open=is_open)


def _selection_route(
    method: str,
    path: str,
    *,
    has_large_body: bool = False,
    streams_body: bool = False,
    returns_location: bool = False,
) -> PublicRoute:
    """Return a route of the selection backend at the same path below `/api/v1`.

    Unlike a route for projects, it has no alias without the prefix. The flags are those of `PublicRoute`.
    """
    return PublicRoute(
        method,
        API + path,
        backend="selection",
        target=path,
        has_large_body=has_large_body,
        streams_body=streams_body,
        returns_location=returns_location,
    )


def _project_route(
    method: str, path: str, backend: str = "selection", *, returns_location: bool = False
) -> PublicRoute:
    """Return a route for projects, which can be called with and without the prefix `/api/v1`.

    The specification lists these routes without the prefix, but also requires the prefix for all public routes.
    """
    return PublicRoute(
        method, API + path, backend=backend, target=path, aliases=(path,), returns_location=returns_location
    )


# The routes for the jobs that a backend has started.
_STARTED_JOB_ROUTES: Final = (
    ("GET", "/jobs"),
    ("GET", "/jobs/{job_id}"),
    ("DELETE", "/jobs/{job_id}"),
    ("POST", "/jobs/{job_id}/cancel"),
    ("GET", "/jobs/{job_id}/events"),
    ("GET", "/jobs/{job_id}/artifacts/{name}"),
)


def _job_routes(backend: str, prefix: str, start_path: str) -> Iterable[PublicRoute]:
    """Yield the routes of a backend that runs jobs.

    Args:
        backend: the name of the backend.
        prefix: the prefix of the public paths, without `/api/v1`.
        start_path: the path at the backend of the route that starts a job.
    """
    yield PublicRoute("POST", API + prefix + start_path, backend, target=start_path, returns_location=True)
    for method, path in _STARTED_JOB_ROUTES:
        yield PublicRoute(method, API + prefix + path, backend, target=path)


def _comparison_route(method: str, path: str, *, returns_location: bool = False) -> PublicRoute:
    """Return a route for comparisons of trainings."""
    return PublicRoute(method, f"{API}/ml{path}", "training", target=path, returns_location=returns_location)


def _documentation_routes(prefix: str, backend: str | None) -> Iterable[PublicRoute]:
    """Yield the routes of the API documentation of the gateway or of a backend.

    Args:
        prefix: the prefix of the public paths.
        backend: the name of the backend, or None for the gateway.
    """
    for path in ("/docs", "/docs/static/{asset}", "/openapi.json"):
        # The gateway's application has the document of the public API at another path, because FastAPI uses
        # "/openapi.json" for the document of the gateway's own routes.
        is_public_document = backend is None and path == "/openapi.json"
        target = "/openapi/public.json" if is_public_document else path
        yield PublicRoute("GET", prefix + path, backend, target, is_open=True, is_documented=False)


def _health_route(path: str) -> PublicRoute:
    """Return a route for the health of the gateway, without a prefix or a token, as monitors expect it."""
    return PublicRoute("GET", path, backend=None, target=path, is_open=True)


PUBLIC_ROUTES: Final[tuple[PublicRoute, ...]] = (
    _gateway_route("POST", "/auth/register", is_open=True),
    _gateway_route("POST", "/auth/login", is_open=True),
    _gateway_route("POST", "/auth/refresh", is_open=True),
    _gateway_route("POST", "/auth/logout"),
    _gateway_route("POST", "/auth/reset-password", is_open=True),
    _gateway_route("GET", "/auth/oidc/{provider}/login", is_open=True),
    _gateway_route("GET", "/auth/oidc/{provider}/callback", is_open=True),
    _gateway_route("GET", "/users/me"),
    _gateway_route("PATCH", "/users/me"),
    _gateway_route("PATCH", "/users/me/password"),
    _gateway_route("GET", "/users/me/picture"),
    _gateway_route("PUT", "/users/me/picture"),
    _gateway_route("DELETE", "/users/me/picture"),
    _gateway_route("GET", "/users/me/sessions"),
    _gateway_route("DELETE", "/users/me/sessions/{session_id}"),
    _gateway_route("DELETE", "/users/me/oauth-accounts/{oauth_account_id}"),
    _gateway_route("GET", "/admin/users"),
    _gateway_route("PATCH", "/admin/users/{user_id}"),
    _gateway_route("POST", "/admin/users/{user_id}/reset-token"),
    _selection_route("GET", "/datasets/"),
    _selection_route("POST", "/datasets/", returns_location=True),
    _selection_route("POST", "/datasets/search"),
    _selection_route("POST", "/datasets/score"),
    _selection_route("POST", "/datasets/compare"),
    _selection_route("POST", "/datasets/stability"),
    _selection_route("POST", "/datasets/import", has_large_body=True),
    _selection_route("GET", "/datasets/export.jsonl"),
    _selection_route("GET", "/datasets/export.parquet"),
    _selection_route("POST", "/datasets/bulk", streams_body=True),
    _selection_route("GET", "/datasets/facets"),
    _selection_route("GET", "/datasets/suggest"),
    _selection_route("GET", "/datasets/criteria"),
    _selection_route("GET", "/datasets/{dataset_id}"),
    _selection_route("PATCH", "/datasets/{dataset_id}"),
    _selection_route("DELETE", "/datasets/{dataset_id}"),
    _selection_route("POST", "/datasets/{dataset_id}/lifts"),
    _selection_route("GET", "/datasets/{dataset_id}/evidence"),
    _selection_route("POST", "/datasets/{dataset_id}/evidence"),
    _selection_route("POST", "/datasets/{dataset_id}/evidence/{claim_id}/review"),
    _selection_route("POST", "/datasets/{dataset_id}/evidence/{claim_id}/withdraw"),
    _selection_route("GET", "/evidence/proposals"),
    _selection_route("GET", "/admin/datasets/hidden"),
    _selection_route("PUT", "/admin/datasets/{dataset_id}/hidden"),
    _selection_route("GET", "/datasets/{dataset_id}/export"),
    _selection_route("GET", "/files"),
    _selection_route("POST", "/files", has_large_body=True),
    _selection_route("DELETE", "/files/{file_id}"),
    _project_route("GET", "/projects"),
    _project_route("POST", "/projects", returns_location=True),
    _project_route("GET", "/projects/{project_id}"),
    _project_route("PUT", "/projects/{project_id}"),
    _project_route("DELETE", "/projects/{project_id}"),
    _project_route("GET", "/projects/{project_id}/recommendations"),
    _project_route("GET", "/projects/{project_id}/choices"),
    _project_route("POST", "/projects/{project_id}/snapshots", returns_location=True),
    _project_route("GET", "/projects/{project_id}/snapshots"),
    _project_route("GET", "/projects/{project_id}/snapshots/{snapshot_id}"),
    _project_route("DELETE", "/projects/{project_id}/snapshots/{snapshot_id}"),
    _project_route("GET", "/projects/{project_id}/snapshots/{snapshot_id}/replay"),
    _project_route("GET", "/projects/{project_id}/report"),
    # Trainings and explanations are in the same table, so the training backend can list both for a project.
    _project_route("GET", "/projects/{project_id}/jobs", "training"),
    *_job_routes("training", "/ml", "/train"),
    PublicRoute("POST", f"{API}/ml/train/preview", "training", "/train/preview"),
    PublicRoute("POST", f"{API}/ml/jobs/{{job_id}}/predict", "training", "/jobs/{job_id}/predict"),
    _comparison_route("POST", "/compare", returns_location=True),
    _comparison_route("GET", "/compare"),
    _comparison_route("GET", "/compare/{comparison_id}"),
    _comparison_route("DELETE", "/compare/{comparison_id}"),
    _comparison_route("GET", "/compare/{comparison_id}/events"),
    _comparison_route("POST", "/compare/{comparison_id}/cancel"),
    *_job_routes("explanation", "/xai", "/explain"),
    _health_route("/health/live"),
    _health_route("/health/ready"),
    *_documentation_routes("", backend=None),
    *chain.from_iterable(_documentation_routes(f"/{backend}", backend) for backend in BACKENDS),
)


def _body_paths(routes: Iterable[PublicRoute]) -> frozenset[str]:
    """Return the public and target paths of the routes, without trailing slashes."""
    paths: set[str] = set()
    for route in routes:
        paths.update(path.rstrip("/") for path in (*route.addresses, route.target))
    return frozenset(paths)


LARGE_BODY_PATHS: Final = _body_paths(route for route in PUBLIC_ROUTES if route.has_large_body)
"""The paths with the size limit for uploads."""
STREAMED_BODY_PATHS: Final = _body_paths(route for route in PUBLIC_ROUTES if route.streams_body)
"""The paths without a size limit, because their bodies are processed while they arrive."""
