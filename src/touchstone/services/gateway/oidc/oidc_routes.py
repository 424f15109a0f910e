"""Routes for signing in with an external identity provider."""

from dataclasses import asdict
from typing import Annotated, Any, Final
from urllib.parse import quote, urlencode

from fastapi import Depends, Query, Response
from starlette.requests import Request
from starlette.responses import RedirectResponse

from touchstone.core.identity_provider_errors import AccountNotLinked
from touchstone.http.cookie_attributes import cookie_attributes
from touchstone.http.error_responses import error_response
from touchstone.http.query_checks import require_single_values
from touchstone.http.routing import strict_router
from touchstone.services.gateway import accounts, sign_in, sign_in_responses
from touchstone.services.gateway.context import Context, GatewayContext
from touchstone.services.gateway.oidc import account_links, identification, sign_in_states
from touchstone.services.gateway.oidc.external_identity import ExternalIdentity
from touchstone.services.gateway.oidc.identification import ProviderAnswer
from touchstone.services.gateway.oidc.sign_in_states import SignInState
from touchstone.services.gateway.public_routes import API, LOGIN_PATH
from touchstone.services.gateway.schemas import Grant
from touchstone.services.gateway.user_store import UserRecord

_SEE_OTHER: Final = 303
# The page that completes a sign-in in a browser. It calls the same route as any other client.
_PAGE: Final = "/app/sign-in/{provider}/callback"
# The address is in a cookie, so it must be shorter than the 4,096 bytes that browsers store.
_MAX_NEXT_LENGTH: Final = 2000
NextPage = Annotated[
    str | None,
    Query(
        alias="next",
        max_length=_MAX_NEXT_LENGTH,
        pattern="^[!-~]*$",
        description="Page to continue with, such as `/app/projects`; for sign-ins on the pages.",
    ),
]
_REDIRECT: Final[dict[int | str, dict[str, Any]]] = {
    _SEE_OTHER: {
        "description": "Continue at the address in `Location`.",
        "headers": {"Location": {"description": "Address to continue at.", "schema": {"type": "string"}}},
    }
}

router = strict_router(
    prefix=f"{API}/auth/oidc/{{provider}}", tags=["auth"], dependencies=[Depends(require_single_values)]
)


@router.get(
    "/login",
    status_code=_SEE_OTHER,
    response_class=Response,
    responses=_REDIRECT,
    summary="Begin to sign in with an identity provider",
)
async def begin_sign_in(provider: str, request: Request, ctx: Context, next_page: NextPage = None) -> Response:
    """Redirect the browser to the provider, which sends it back to `callback`.

    The response sets a cookie without which the sign-in cannot be completed.
    """
    providers = ctx.state.identity_providers
    client = providers.find(provider)
    metadata = await client.read_metadata()

    state = SignInState(provider, next_page)
    url = state.authorization_url(client.provider, metadata, providers.redirect_uri(provider))
    response = RedirectResponse(url, status_code=_SEE_OTHER, headers={"Cache-Control": "no-store"})

    # Both the API and the pages need the cookie.
    attributes = cookie_attributes(request, path="/", seconds=sign_in_states.LIFETIME_SECONDS)
    cookie = providers.state_tokens.sign(asdict(state), expires_at=state.expires_at)
    response.set_cookie(sign_in_states.COOKIE_NAME, cookie, **attributes)
    return response


@router.get(
    "/callback", response_model=Grant, responses=_REDIRECT, summary="Complete a sign-in with an identity provider"
)
async def complete_sign_in(
    provider: str, request: Request, response: Response, ctx: Context, answer: Annotated[ProviderAnswer, Query()]
) -> Grant | Response:
    """Sign in the user whom the provider has sent back, and respond as after any other sign-in.

    A browser that has begun to sign in on the pages is redirected to them instead.
    """
    providers = ctx.state.identity_providers
    client = providers.find(provider)
    state = _read_state(request, ctx)
    if _continues_on_pages(request, state):
        return _redirect_to_page(provider, request, state)

    async with ctx.state.throttle.limit_provider_attempts(ctx.address):
        state = await identification.require_unused_state(ctx.database, state, provider, answer)
        identity = await identification.identify(client, state, answer, providers.redirect_uri(provider))

    # The address is looked up before the identity. In the other order, the account that another request creates for
    # this identity in between would be taken for an account that is not linked.
    user_with_address = await accounts.find_user_record(ctx.database, identity.email)
    user = await account_links.find_user(ctx.database, identity)
    if user is None and user_with_address is not None:
        refusal = AccountNotLinked(provider=client.provider.label)
        return _ask_for_password(request, ctx, refusal, user_with_address, identity)
    if user is None:
        ctx.count_registration()
        user = await account_links.create_user(ctx.database, identity)

    session = await sign_in.start_session(ctx.database, user, ctx.device, lifetime=ctx.state.session_lifetime)
    sign_in_responses.renew_device_cookie(response, request, ctx.state, user)
    response.delete_cookie(sign_in_states.COOKIE_NAME)
    return sign_in_responses.grant_tokens(response, ctx.state, session)


def _read_state(request: Request, ctx: GatewayContext) -> SignInState | None:
    """Return the state of the sign-in that has begun in this browser, or None if there is none any more."""
    claims = ctx.state.identity_providers.state_tokens.verify(request.cookies.get(sign_in_states.COOKIE_NAME))
    return SignInState.from_claims(claims) if claims is not None else None


def _continues_on_pages(request: Request, state: SignInState | None) -> bool:
    """Return whether the pages have to complete a sign-in.

    The pages complete a sign-in that has begun on a page. They call this route for that, and ask for JSON like other
    programs. If the state is lost, only the media type tells whether the response is for a browser.
    """
    media_types = request.headers.get("accept", "")
    if state is None:
        return "text/html" in media_types

    has_begun_on_page = state.next_page is not None
    return has_begun_on_page and "application/json" not in media_types


def _redirect_to_page(provider: str, request: Request, state: SignInState | None) -> Response:
    """Redirect a browser to the page that completes the sign-in, with the answer of the provider.

    The page verifies that `next` does not lead to another site.
    """
    parameters = [(name, value) for name, value in request.query_params.multi_items() if name != "next"]
    if state is not None and state.next_page is not None:
        parameters.append(("next", state.next_page))

    address = f"{_PAGE.format(provider=quote(provider))}?{urlencode(parameters)}"
    return RedirectResponse(address, status_code=_SEE_OTHER, headers={"Cache-Control": "no-store"})


def _ask_for_password(
    request: Request, ctx: GatewayContext, refusal: AccountNotLinked, user: UserRecord, identity: ExternalIdentity
) -> Response:
    """Refuse to sign in to an account that is not linked, and remember the identity for a sign-in with its password."""
    response = error_response(refusal, request.scope)
    attributes = cookie_attributes(request, path=LOGIN_PATH, seconds=account_links.LIFETIME_SECONDS)
    cookie = account_links.sign_link(ctx.state.identity_providers.link_tokens, user, identity)
    response.set_cookie(account_links.COOKIE_NAME, cookie, **attributes)
    response.headers["Cache-Control"] = "no-store"
    return response
