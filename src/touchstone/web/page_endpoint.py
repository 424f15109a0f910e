"""The endpoint around every page handler.

It refuses forged requests, and handles sign-in, errors and cookies.
"""

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


def page_endpoint(handler: PageHandler, *, is_public: bool = False, form_page: str | None = None) -> Endpoint:
    """Wrap a page handler in an endpoint for a Starlette route.

    The endpoint refuses forged requests, asks readers to sign in, shows errors as pages, and writes changed cookies.
    The handler therefore only has to respond to valid requests.

    Args:
        handler: The function that responds to the request.
        is_public: Whether the page may be requested without signing in.
        form_page: The address of the page that shows the form, for handlers that only receive a submitted form. It may
            contain path parameters of the handler. Readers return to it after switching the language.
    """

    async def endpoint(request: Request) -> Response:
        page_address = form_page.format(**request.path_params) if form_page else None
        ctx = PageContext(request, page_address=page_address)
        try:
            response = await _respond(ctx, handler, is_public=is_public)
        except (TouchstoneError, ServiceError) as error:
            response = await render_error(ctx, error)
        return ctx.write_cookies(response)

    return endpoint


async def _respond(ctx: PageContext, handler: PageHandler, *, is_public: bool) -> Response:
    """Call the handler, or return the sign-in page if the reader must sign in first.

    Raises:
        TouchstoneError: The request is forged.
    """
    if is_forged(ctx.request):
        raise TouchstoneError(Forbidden.status, Forbidden.code, ctx.text("page_other_site"))

    if ctx.session is None and not is_public:
        return await require_sign_in(ctx)
    return await handler(ctx)
