"""The endpoint around every page handler: CSRF check, sign-in, errors and cookies."""

from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.responses import Response

from touchstone.client import TouchstoneError
from touchstone.core.errors import Forbidden, ServiceError
from touchstone.web.csrf import is_forged
from touchstone.web.error_pages import render_error
from touchstone.web.page_context import PageContext
from touchstone.web.session_expiry import require_sign_in

PageHandler = Callable[[PageContext], Awaitable[Response]]
Endpoint = Callable[[Request], Awaitable[Response]]


def page(handler: PageHandler, *, public: bool = False, shown_on: str | None = None) -> Endpoint:
    """Return the Starlette endpoint of a page handler.

    Args:
        handler: The function that responds to the request.
        public: Whether the page may be requested without signing in.
        shown_on: The address of the page with the form, for handlers that only accept a form. It may contain the
            path parameters of the handler.
    """

    async def endpoint(request: Request) -> Response:
        page_address = shown_on.format(**request.path_params) if shown_on else None
        ctx = PageContext(request, page_address=page_address)
        try:
            response = await _respond(ctx, handler, public=public)
        except (TouchstoneError, ServiceError) as error:
            response = await render_error(ctx, error)
        return ctx.write_cookies(response)

    return endpoint


async def _respond(ctx: PageContext, handler: PageHandler, *, public: bool) -> Response:
    if is_forged(ctx.request):
        raise TouchstoneError(Forbidden.status, Forbidden.code, ctx.text("page_other_site"))
    if ctx.session is None and not public:
        return await require_sign_in(ctx)
    return await handler(ctx)
