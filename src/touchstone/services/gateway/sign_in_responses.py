"""What the response to every kind of sign-in contains: the tokens of the session, and the device cookie."""

from starlette.requests import Request
from starlette.responses import Response

from touchstone.http.cookie_attributes import cookie_attributes
from touchstone.services.gateway import device_cookies
from touchstone.services.gateway.context import GatewayState
from touchstone.services.gateway.public_routes import LOGIN_PATH
from touchstone.services.gateway.schemas import Grant
from touchstone.services.gateway.sessions import SessionCredentials
from touchstone.services.gateway.user_store import UserRecord


def grant_tokens(response: Response, state: GatewayState, session: SessionCredentials) -> Grant:
    """Return a new access token and the refresh token of a session, and keep caches from storing the response."""
    response.headers["Cache-Control"] = "no-store"
    return Grant(
        access_token=state.access_tokens.create_token(session.user_id, session.session_id),
        token_type="bearer",  # noqa: S106 - the name of a scheme
        expires_in=state.access_tokens.lifetime_seconds,
        refresh_token=session.refresh_token,
    )


def renew_device_cookie(response: Response, request: Request, state: GatewayState, user: UserRecord) -> None:
    """Renew the device cookie, which the browser then sends with later requests to sign in."""
    previous_cookie = request.cookies.get(device_cookies.COOKIE_NAME)
    new_cookie = state.device_cookies.issue_cookie(previous_cookie, user)
    attributes = cookie_attributes(request, path=LOGIN_PATH, seconds=device_cookies.LIFETIME_SECONDS)
    response.set_cookie(device_cookies.COOKIE_NAME, new_cookie, **attributes)
