"""Routes for registering, signing in and out, and resetting a password."""

from fastapi import Response
from starlette.requests import Request

from touchstone.core.errors import InvalidRefreshToken
from touchstone.http.request_tracking import identify_user
from touchstone.http.routing import strict_router
from touchstone.services.gateway import (
    accounts,
    device_cookies,
    password_resets_and_changes,
    refresh_tokens,
    session_store,
    sessions,
    sign_in,
    sign_in_responses,
)
from touchstone.services.gateway.context import Context, GatewayContext
from touchstone.services.gateway.login_body import LOGIN_OPERATION, LoginBody
from touchstone.services.gateway.oidc import account_links
from touchstone.services.gateway.public_routes import API, LOGIN_PATH
from touchstone.services.gateway.random_tokens import digest_token
from touchstone.services.gateway.schemas import Grant, PasswordReset, RefreshToken, Registration, UserView
from touchstone.services.gateway.user_store import UserRecord

router = strict_router(prefix=f"{API}/auth", tags=["auth"])


@router.post("/register", status_code=201, summary="Create an account")
async def register(registration: Registration, ctx: Context) -> UserView:
    """Create an account, unless registration is closed. The new user is never an administrator."""
    ctx.count_registration()
    profile = accounts.UserProfile(
        pseudo=registration.pseudo,
        given_name=registration.given_name,
        family_name=registration.family_name,
        locale=registration.locale,
    )
    user = await accounts.create_user(
        ctx.database, email=registration.email, password=registration.password, profile=profile
    )
    return await accounts.read_user(ctx.database, user.id, locale=ctx.locale)


@router.post("/login", summary="Sign in", openapi_extra=LOGIN_OPERATION)
async def login(credentials: LoginBody, request: Request, response: Response, ctx: Context) -> Grant:
    """Sign in with `username` (the e-mail address) and `password`, sent as a form or as JSON.

    The response sets a device cookie. A device that sends it again can sign in even when too many sign-ins from its
    network address have failed. After a sign-in with an identity provider was refused with `account_not_linked`, this
    sign-in links the account, if the cookie of that response is sent.
    """
    device_cookie = request.cookies.get(device_cookies.COOKIE_NAME)
    device_nonce = await _recognize_device(device_cookie, credentials.username, ctx)

    # The throttle counts wrong passwords, and refuses further attempts after too many.
    account = accounts.fold_email(credentials.username)
    async with ctx.state.throttle.limit_password_attempts(account, ctx.address, device=device_nonce):
        user = await sign_in.authenticate(ctx.database, credentials.username, credentials.password)
    identify_user(user.id)
    session = await sign_in.start_session(ctx.database, user, ctx.device, lifetime=ctx.state.session_lifetime)

    await _link_identity(request, response, ctx, user)

    sign_in_responses.renew_device_cookie(response, request, ctx.state, user)
    return sign_in_responses.grant_tokens(response, ctx.state, session)


@router.post("/refresh", summary="Exchange a refresh token for new tokens")
async def refresh(body: RefreshToken, response: Response, ctx: Context) -> Grant:
    """Return new tokens for a refresh token, which can be used once.

    If it is used again within ten seconds, while the new refresh token is unused, the response contains the same
    refresh token. Any other repeated use ends the session.
    """
    try:
        session = await refresh_tokens.rotate_refresh_token(
            ctx.database,
            body.refresh_token,
            key=ctx.state.successor_key,
            lifetime=ctx.state.session_lifetime,
        )
    except InvalidRefreshToken:
        # Reusing the token may have ended its session, so cached access tokens may be invalid now.
        ctx.state.authenticator.clear_cache()
        raise

    return sign_in_responses.grant_tokens(response, ctx.state, session)


@router.post("/logout", status_code=204, summary="Sign out")
async def logout(body: RefreshToken, ctx: Context) -> None:
    """End the session of the refresh token, or the session of this request if the token is not the caller's."""
    user_id = ctx.caller.id
    async with ctx.database.writing(may_use_reserve=True) as transaction:
        token = await session_store.read_refresh_token(transaction, digest_token(body.refresh_token))

        is_session_ended = False
        if token is not None:
            is_session_ended = await sessions.revoke_session(transaction, user_id, token.session_id)
        if not is_session_ended:
            await sessions.revoke_session(transaction, user_id, ctx.identity.session_id)

    ctx.state.authenticator.clear_cache()


@router.post("/reset-password", status_code=204, summary="Set a new password with a reset token")
async def reset_password(body: PasswordReset, ctx: Context) -> None:
    """Set a new password with a token from an administrator, which works once. All sessions of the user end."""
    async with ctx.state.throttle.limit_reset_attempts(ctx.address):
        await password_resets_and_changes.reset_password(ctx.database, body.token, body.password)

    ctx.state.authenticator.clear_cache()


async def _recognize_device(cookie: str | None, email: str, ctx: GatewayContext) -> str | None:
    """Return the nonce of a device on which this user has signed in before, or None."""
    if cookie is None:
        return None

    user = await accounts.find_user_record(ctx.database, email)
    return ctx.state.device_cookies.find_nonce(cookie, user)


async def _link_identity(request: Request, response: Response, ctx: GatewayContext, user: UserRecord) -> None:
    """Link the account to the identity with which the user has tried to sign in before, if there is one."""
    cookie = request.cookies.get(account_links.COOKIE_NAME)
    if cookie is None:
        return

    await account_links.link_account(ctx.database, user, ctx.state.identity_providers.link_tokens.verify(cookie))
    response.delete_cookie(account_links.COOKIE_NAME, path=LOGIN_PATH)
