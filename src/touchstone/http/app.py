"""The application factory: routes, health checks, documentation and error responses of one part of the service."""

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
    """Return the FastAPI application of one part of the service, such as the gateway or a backend.

    In addition to the routes of `routers`, each application gets health checks that ask its `resources`, API
    documentation at `/docs`, and exception handlers that report every error in the service's own format.
    """
    app = FastAPI(
        title=f"Touchstone {name}",
        version=version("touchstone"),
        lifespan=lifespan,
        # FastAPI's own documentation pages load their scripts from a public server.
        docs_url=None,
        redoc_url=None,
        # Middleware of our own accepts addresses with and without a trailing slash, and saves the client a redirect.
        redirect_slashes=False,
        # Clients may leave the Content-Type header out: every request body is JSON.
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
