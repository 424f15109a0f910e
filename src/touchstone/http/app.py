"""The factory for the FastAPI applications of the gateway and the backends."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from importlib.metadata import version

from fastapi import APIRouter, FastAPI

from touchstone.http.docs_pages import add_docs_pages
from touchstone.http.error_responses import EXCEPTION_HANDLERS, handle_defect
from touchstone.http.health import Resource, health_router


def create_app(
    name: str,
    *routers: APIRouter,
    resources: tuple[Resource, ...] = (),
    lifespan: Callable[[FastAPI], AbstractAsyncContextManager[None]] | None = None,
) -> FastAPI:
    """Create the FastAPI application of the gateway or of a backend.

    Each application has health checks, API documentation at `/docs`, and exception handlers that report all errors in
    the same format.

    Args:
        name: the name in the title of the documentation.
        *routers: the routes of the application.
        resources: the resources that must respond before the application is ready.
        lifespan: the lifespan context manager, or None if the application needs none.
    """
    app = FastAPI(
        title=f"Touchstone {name}",
        version=version("touchstone"),
        lifespan=lifespan,
        # FastAPI's own documentation pages load their scripts from a public server.
        docs_url=None,
        redoc_url=None,
        # Our own middleware accepts paths with and without a trailing slash, which saves the client a redirect.
        redirect_slashes=False,
        # Clients may omit the Content-Type header, because every request body is JSON.
        strict_content_type=False,
    )

    for router in routers:
        app.include_router(router)
    app.include_router(health_router(resources))
    add_docs_pages(app)

    for error_class, handler in EXCEPTION_HANDLERS.items():
        app.add_exception_handler(error_class, handler)
    app.add_exception_handler(Exception, handle_defect)

    return app
