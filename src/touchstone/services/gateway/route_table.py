"""The table of every public route: what exists, where it goes, and whether it asks for a token."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

API: Final = "/api/v1"
BACKENDS: Final = ("selection", "training", "explanation")


@dataclass(frozen=True, slots=True)
class PublicRoute:
    """One method at one address.

    Attributes:
        method: HTTP method.
        path: canonical public path, with `{name}` for each value; the one in the OpenAPI document.
        backend: who answers; None is the gateway itself.
        target: path at the backend, with the same values.
        aliases: further public addresses.
        is_open: answers without a token.
        is_large: takes bodies up to the upload limit.
        is_making: may answer with the address of what it has made.
        is_documented: stands in the OpenAPI document.
    """

    method: str
    path: str
    backend: str | None
    target: str
    aliases: tuple[str, ...] = ()
    is_open: bool = False
    is_large: bool = False
    is_making: bool = False
    is_documented: bool = True

    @property
    def addresses(self) -> tuple[str, ...]:
        """Every public path, the canonical one first."""
        return (self.path, *self.aliases)


def _datasets(method: str, path: str, *, is_large: bool = False, is_making: bool = False) -> PublicRoute:
    return PublicRoute(method, API + path, "selection", path, is_large=is_large, is_making=is_making)


def _projects(method: str, path: str, backend: str = "selection", *, is_making: bool = False) -> PublicRoute:
    # The interface names these without a prefix, and wants every public route below one: both addresses answer.
    return PublicRoute(method, API + path, backend, path, aliases=(path,), is_making=is_making)


def _own(method: str, path: str, *, is_open: bool = False) -> PublicRoute:
    aliases = (path,) if path.startswith("/users/me") else ()
    return PublicRoute(method, API + path, None, API + path, aliases=aliases, is_open=is_open)


def _jobs(backend: str, room: str, start: str) -> Iterable[PublicRoute]:
    for method, path in (
        ("POST", start),
        ("GET", "/jobs"),
        ("GET", "/jobs/{job_id}"),
        ("DELETE", "/jobs/{job_id}"),
        ("POST", "/jobs/{job_id}/cancel"),
        ("GET", "/jobs/{job_id}/events"),
        ("GET", "/jobs/{job_id}/artifacts/{name}"),
    ):
        yield PublicRoute(method, API + room + path, backend, path, is_making=path == start)


def _documents(prefix: str, backend: str | None) -> Iterable[PublicRoute]:
    for path in ("/docs", "/docs/start.js", "/docs/static/{asset}", "/openapi.json"):
        # The gateway's own application describes the gateway alone; the public document is put together elsewhere.
        target = "/openapi/public.json" if backend is None and path == "/openapi.json" else path
        yield PublicRoute("GET", prefix + path, backend, target, is_open=True, is_documented=False)


def _health(path: str) -> PublicRoute:
    return PublicRoute("GET", path, None, path, is_open=True)


PUBLIC_ROUTES: Final[tuple[PublicRoute, ...]] = (
    _own("POST", "/auth/register", is_open=True),
    _own("POST", "/auth/login", is_open=True),
    _own("POST", "/auth/refresh", is_open=True),
    _own("POST", "/auth/logout"),
    _own("POST", "/auth/reset-password", is_open=True),
    _own("GET", "/users/me"),
    _own("PATCH", "/users/me"),
    _own("PATCH", "/users/me/password"),
    _own("GET", "/users/me/picture"),
    _own("PUT", "/users/me/picture"),
    _own("DELETE", "/users/me/picture"),
    _own("GET", "/users/me/sessions"),
    _own("DELETE", "/users/me/sessions/{session_id}"),
    _own("GET", "/admin/users"),
    _own("PATCH", "/admin/users/{user_id}"),
    _own("POST", "/admin/users/{user_id}/reset-token"),
    _datasets("GET", "/datasets/"),
    _datasets("POST", "/datasets/", is_making=True),
    _datasets("POST", "/datasets/search"),
    _datasets("POST", "/datasets/score"),
    _datasets("GET", "/datasets/facets"),
    _datasets("GET", "/datasets/criteria"),
    _datasets("GET", "/datasets/{dataset_id}"),
    _datasets("PATCH", "/datasets/{dataset_id}"),
    _datasets("DELETE", "/datasets/{dataset_id}"),
    _datasets("GET", "/files"),
    _datasets("POST", "/files", is_large=True),
    _datasets("DELETE", "/files/{file_id}"),
    _projects("GET", "/projects"),
    _projects("POST", "/projects", is_making=True),
    _projects("GET", "/projects/{project_id}"),
    _projects("PUT", "/projects/{project_id}"),
    _projects("DELETE", "/projects/{project_id}"),
    _projects("GET", "/projects/{project_id}/recommendations"),
    # Both kinds of jobs are rows of one table: the training backend lists them for a project.
    _projects("GET", "/projects/{project_id}/jobs", "training"),
    *_jobs("training", "/ml", "/train"),
    PublicRoute("POST", f"{API}/ml/jobs/{{job_id}}/predict", "training", "/jobs/{job_id}/predict"),
    *_jobs("explanation", "/xai", "/explain"),
    _health("/health/live"),
    _health("/health/ready"),
    *_documents("", None),
    *(route for backend in BACKENDS for route in _documents(f"/{backend}", backend)),
)


# Where a body may be as large as an upload, publicly and at the backend, without a trailing slash.
LARGE_BODIES: Final = frozenset(
    address.rstrip("/") for route in PUBLIC_ROUTES if route.is_large for address in (*route.addresses, route.target)
)
