"""The application factory: routes, health checks, documentation and error responses of one part of the service."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from importlib.metadata import version

from fastapi import APIRouter, FastAPI

from touchstone.http.docs_pages import add_docs_pages
from touchstone.http.error_responses import EXCEPTION_HANDLERS
from touchstone.http.health import Resource, health_router


def create_app(
    name: str,
    *routers: APIRouter,
    resources: tuple[Resource, ...] = (),
    lifespan: Callable[[FastAPI], AbstractAsyncContextManager[None]] | None = None,
) -> FastAPI:
    """Return an application with these routes, `/docs`, `/openapi.json`, `/health/*` and our error responses."""
    app = FastAPI(
        title=f"Touchstone {name}",
        version=version("touchstone"),
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        strict_content_type=False,
        lifespan=lifespan,
    )

    for router in routers:
        app.include_router(router)
    app.include_router(health_router(resources))
    add_docs_pages(app)

    for error_class, handler in EXCEPTION_HANDLERS.items():
        app.add_exception_handler(error_class, handler)
    return app
