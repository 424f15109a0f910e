"""The HTML pages that report an error instead of the requested page.

`readable_errors` words the errors that a page shows beside its form.
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
    """Return the error page for an error that a page handler has raised.

    If the session has expired, the reader is asked to sign in instead. The head of the page shows the signed-in user.
    If the API cannot return the user either, the page is shown as if nobody were signed in.
    """
    if isinstance(error, ServiceError):
        error = _as_client_error(error, ctx.locale)

    if error.status == Unauthorized.status and ctx.session is not None:
        ctx.sign_out()
        return await require_sign_in(ctx)

    # An error without a response of the API has the status 0.
    status = error.status or BackendUnavailable.status
    try:
        return await ctx.render("error.html", error=error, status=status)
    except TouchstoneError:
        ctx.sign_out()
        return ctx.render_template("error.html", error=error, status=status, user=None)


def render_early_error(error: ServiceError, request: Request) -> Response:
    """Return the error page for a request that was refused before a handler was called.

    An example is a form that exceeds the size limit.
    """
    path = request.url.path
    # The addresses below the account page only receive its forms, so the reader returns to the account page.
    page_address = "/app/account" if path.startswith("/app/account/") else path
    ctx = PageContext(request, page_address=page_address)
    return ctx.render_template("error.html", error=_as_client_error(error, ctx.locale), user=None)


async def handle_http_exception(request: Request, exception: Exception) -> Response:
    """Return the error page for an unknown address, or for a method that the address does not accept."""
    assert isinstance(exception, HTTPException)
    ctx = PageContext(request)
    is_unknown_address = exception.status_code == NotFound.status
    code = "not_found" if is_unknown_address else "method_not_allowed"
    error = TouchstoneError(exception.status_code, code, ctx.text(code))
    response = ctx.write_cookies(await render_error(ctx, error))
    response.headers.update(exception.headers or {})
    return response


async def handle_service_error(request: Request, exception: Exception) -> Response:
    """Return the error page for an error outside of the API, such as a missing static file."""
    assert isinstance(exception, ServiceError)
    ctx = PageContext(request)
    response = ctx.write_cookies(await render_error(ctx, _as_client_error(exception, ctx.locale)))
    response.headers.update(exception.headers)
    return response


async def handle_unexpected_error(request: Request, _: Exception) -> Response:
    """Return the error page for an unexpected exception; the server logs it."""
    ctx = PageContext(request)
    error = _as_client_error(InternalError(), ctx.locale)
    return ctx.write_cookies(ctx.render_template("error.html", error=error, user=None))


def _as_client_error(error: ServiceError, locale: str) -> TouchstoneError:
    """Convert an error of the service to a localized client error, as if it came from the API."""
    return TouchstoneError(error.status, error.code, render_detail(error, locale))
