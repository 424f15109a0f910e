"""The HTML pages that report an error instead of the requested page.

An error that a page shows beside its form has its wording in `readable_errors.py` instead.
"""

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from touchstone.client import TouchstoneError
from touchstone.core.errors import BackendUnavailable, InternalError, NotFound, ServiceError, Unauthorized
from touchstone.http.error_rendering import render_detail
from touchstone.web.page_context import PageContext
from touchstone.web.session_expiry import require_sign_in


async def render_error(ctx: PageContext, error: TouchstoneError | ServiceError) -> Response:
    """Return the page about an error that a page handler has raised.

    If the error says that the session has ended, the reader is asked to sign in instead. The head of the page shows the
    signed-in user. If the API cannot return that user either, the page is shown as if nobody were signed in.
    """
    if isinstance(error, ServiceError):
        error = _as_client_error(error, ctx.locale)

    if error.status == Unauthorized.status and ctx.session is not None:
        ctx.sign_out()
        return await require_sign_in(ctx)

    status = error.status or BackendUnavailable.status
    try:
        return await ctx.render("error.html", error=error, status=status)
    except TouchstoneError:
        ctx.sign_out()
        return ctx.render_template("error.html", error=error, status=status, user=None)


def render_early_error(error: ServiceError, request: Request) -> Response:
    """Return the page about a request that was refused before any handler was called, such as too large a form."""
    path = request.url.path
    # The forms of the account page have addresses without a page of their own.
    page_address = "/app/account" if path.startswith("/app/account/") else path
    ctx = PageContext(request, page_address=page_address)
    return ctx.render_template("error.html", error=_as_client_error(error, ctx.locale), user=None)


async def handle_http_exception(request: Request, exception: Exception) -> Response:
    """Return the page about an address that does not exist, or that does not accept the request's method."""
    assert isinstance(exception, HTTPException)
    ctx = PageContext(request)
    is_unknown_address = exception.status_code == NotFound.status
    code = "not_found" if is_unknown_address else "method_not_allowed"
    error = TouchstoneError(exception.status_code, code, ctx.text(code))
    return ctx.write_cookies(await render_error(ctx, error))


async def handle_service_error(request: Request, exception: Exception) -> Response:
    """Return the page about a refusal that did not come from the API, such as a static file that does not exist."""
    assert isinstance(exception, ServiceError)
    ctx = PageContext(request)
    return ctx.write_cookies(await render_error(ctx, _as_client_error(exception, ctx.locale)))


async def handle_unexpected_error(request: Request, _: Exception) -> Response:
    """Return the page for an unexpected exception, which the server logs."""
    ctx = PageContext(request)
    error = _as_client_error(InternalError(), ctx.locale)
    return ctx.write_cookies(ctx.render_template("error.html", error=error, user=None))


def _as_client_error(error: ServiceError, locale: str) -> TouchstoneError:
    """Return an error of our own as if the API had reported it, with its message in a language."""
    return TouchstoneError(error.status, error.code, render_detail(error, locale))
