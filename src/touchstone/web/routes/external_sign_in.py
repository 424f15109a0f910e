"""Signing in on the pages with an external identity provider.

The provider sends the reader back to the API, which redirects to the second page here, because only the pages can store
the session in the cookies of the browser.
"""

from typing import Final

from starlette.datastructures import FormData
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from touchstone.client import Tokens, TouchstoneError, external_sign_in_calls
from touchstone.client.external_sign_in_calls import LinkRequest
from touchstone.core.identity_provider_errors import IdentityProviderNotFound
from touchstone.web import cookies
from touchstone.web.addresses import HOME, local_address
from touchstone.web.page_context import PageContext
from touchstone.web.page_endpoint import page_endpoint
from touchstone.web.routes.sign_in import continue_after_sign_in, render_entrance
from touchstone.web.session_expiry import SIGN_IN

# The parameters with which providers send readers back.
_ANSWER_PARAMETERS: Final = ("state", "code", "error", "iss")
# The API stores the address to continue with in a cookie, so the length of the address is limited.
_MAX_NEXT_LENGTH: Final = 2000
_SEE_OTHER: Final = 303


async def begin_external_sign_in(ctx: PageContext) -> Response:
    """Redirect the reader to the identity provider, or show why that is not possible on the sign-in page."""
    next_page = local_address(ctx.request.query_params.get("next"))
    if len(next_page) > _MAX_NEXT_LENGTH or not next_page.isascii():
        next_page = HOME

    call = external_sign_in_calls.begin(ctx.path_params["provider"], next_page)
    try:
        begun_sign_in = await ctx.api.run(call)
    except TouchstoneError as error:
        return _render_refusal(ctx, error)

    response = RedirectResponse(begun_sign_in.url, status_code=_SEE_OTHER)
    cookies.write_external_sign_in(response, ctx.request, begun_sign_in.state)
    return response


async def complete_external_sign_in(ctx: PageContext) -> Response:
    """Sign in the reader whom the identity provider has sent back, and continue to the requested page.

    If there already is an account with this e-mail address, the sign-in page asks once for the password of the account.
    """
    query = ctx.request.query_params
    answer = {name: query[name] for name in _ANSWER_PARAMETERS if name in query}
    call = external_sign_in_calls.complete(
        ctx.path_params["provider"],
        answer,
        state=cookies.read_external_sign_in(ctx.request),
        device=ctx.api.identity.device,
    )
    try:
        result = await ctx.api.run(call)
    except TouchstoneError as error:
        response = _render_refusal(ctx, error)
    else:
        response = await _respond_to_result(ctx, result)

    cookies.delete_external_sign_in(response)
    return response


async def _respond_to_result(ctx: PageContext, result: Tokens | LinkRequest) -> Response:
    """Continue to the requested page, or show the sign-in form that links the account."""
    next_page = ctx.request.query_params.get("next", "")
    if isinstance(result, LinkRequest):
        form = FormData({"next": next_page, "link": result.link})
        return render_entrance(ctx, "sign_in.html", form, error=result.error)

    ctx.api.identity.replace_tokens(result)
    return await continue_after_sign_in(ctx, FormData({"next": next_page}))


def _render_refusal(ctx: PageContext, error: TouchstoneError) -> Response:
    """Return the sign-in page with the reason why the reader cannot sign in with a provider.

    Raises:
        TouchstoneError: there is no such provider, and therefore no such page.
    """
    if error.code == IdentityProviderNotFound.code:
        raise error
    return render_entrance(
        ctx, "sign_in.html", FormData({"next": ctx.request.query_params.get("next", "")}), error=error
    )


ROUTES: Final = (
    Route(
        f"{SIGN_IN}/{{provider:str}}",
        page_endpoint(begin_external_sign_in, is_public=True, form_page=SIGN_IN),
        methods=["GET"],
    ),
    Route(
        f"{SIGN_IN}/{{provider:str}}/callback",
        page_endpoint(complete_external_sign_in, is_public=True, form_page=SIGN_IN),
        methods=["GET"],
    ),
)
