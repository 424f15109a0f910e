"""Routes for registering, signing in and out, and resetting a password."""

from fastapi import Response
from starlette.requests import Request

from touchstone.core.errors import InvalidRefreshToken, RegistrationClosed
from touchstone.http.routing import strict_router
from touchstone.services.gateway import (
    accounts,
    device_cookies,
    password_resets_and_changes,
    refresh_tokens,
    session_store,
    sessions,
    sign_in,
)
from touchstone.services.gateway.context import Context, GatewayContext, GatewayState
from touchstone.services.gateway.login_body import LOGIN_REQUEST_BODY, LoginBody
from touchstone.services.gateway.public_routes import API
from touchstone.services.gateway.random_tokens import digest_token
from touchstone.services.gateway.schemas import Grant, PasswordReset, RefreshToken, Registration, UserView
from touchstone.services.gateway.sessions import SessionCredentials

router = strict_router(prefix=f"{API}/auth", tags=["auth"])


@router.post("/register", status_code=201, summary="Make an account")
async def register(registration: Registration, ctx: Context) -> UserView:
    """Create an account, unless registration is closed. The new user is never an administrator."""
    if ctx.state.settings.registration == "closed":
        raise RegistrationClosed

    ctx.state.throttle.count_registration(ctx.address)

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


@router.post("/login", summary="Sign in", openapi_extra=LOGIN_REQUEST_BODY)
async def login(credentials: LoginBody, request: Request, response: Response, ctx: Context) -> Grant:
    """Sign in with `username` (the e-mail address) and `password`, sent as a form or as JSON.

    The response sets a device cookie. A device that sends it again can sign in even when too many sign-ins from its
    network address have failed.
    """
    device_cookie = request.cookies.get(device_cookies.COOKIE_NAME)
    device_nonce = await _recognize_device(device_cookie, credentials.username, ctx)

    # The throttle counts wrong passwords, and refuses further attempts after too many.
    account = accounts.fold_email(credentials.username)
    async with ctx.state.throttle.limit_password_attempts(account, ctx.address, device=device_nonce):
        user = await sign_in.authenticate(ctx.database, credentials.username, credentials.password)
    session = await sign_in.start_session(ctx.database, user, ctx.device, lifetime=ctx.state.session_lifetime)

    renewed_cookie = ctx.state.device_cookies.renew(device_cookie, user)
    _set_device_cookie(response, renewed_cookie, is_secure=request.url.scheme == "https")
    response.headers["Cache-Control"] = "no-store"
    return _grant_tokens(ctx.state, session)


@router.post("/refresh", summary="Exchange a refresh token for new tokens")
async def refresh(body: RefreshToken, response: Response, ctx: Context) -> Grant:
    """Return new tokens for a refresh token, which can be used once.

    If it is used again within ten seconds, while the new refresh token is unused, the response is the same refresh
    token; later use ends the session.
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

    response.headers["Cache-Control"] = "no-store"
    return _grant_tokens(ctx.state, session)


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


def _set_device_cookie(response: Response, cookie: str, *, is_secure: bool) -> None:
    """Set the device cookie, which the browser then sends with later requests to sign in.

    Neither scripts nor other sites can use it. If `is_secure` is true, it is only sent over HTTPS.
    """
    response.set_cookie(
        device_cookies.COOKIE_NAME,
        cookie,
        max_age=device_cookies.LIFETIME_SECONDS,
        path=f"{API}/auth/login",
        secure=is_secure,
        httponly=True,
        samesite="lax",
    )


def _grant_tokens(state: GatewayState, session: SessionCredentials) -> Grant:
    """Return a new access token and the refresh token of a session."""
    return Grant(
        access_token=state.access_tokens.create_token(session.user_id, session.session_id),
        expires_in=state.access_tokens.lifetime_seconds,
        refresh_token=session.refresh_token,
    )
