"""What the response to every kind of sign-in contains: the tokens of the session, and the device cookie."""

from typing import Literal, TypedDict

from starlette.requests import Request
from starlette.responses import Response

from touchstone.services.gateway import device_cookies
from touchstone.services.gateway.context import GatewayState
from touchstone.services.gateway.public_routes import API
from touchstone.services.gateway.schemas import Grant
from touchstone.services.gateway.sessions import SessionCredentials
from touchstone.services.gateway.user_store import UserRecord


class CookieAttributes(TypedDict):
    """The attributes of a cookie, as arguments of `Response.set_cookie`."""

    max_age: int
    path: str
    secure: bool
    httponly: bool
    samesite: Literal["lax"]


def grant_tokens(state: GatewayState, session: SessionCredentials) -> Grant:
    """Return a new access token and the refresh token of a session."""
    return Grant(
        access_token=state.access_tokens.create_token(session.user_id, session.session_id),
        expires_in=state.access_tokens.lifetime_seconds,
        refresh_token=session.refresh_token,
    )


def renew_device_cookie(response: Response, request: Request, state: GatewayState, user: UserRecord) -> None:
    """Renew the device cookie, which the browser then sends with later requests to sign in."""
    previous_cookie = request.cookies.get(device_cookies.COOKIE_NAME)
    new_cookie = state.device_cookies.issue_cookie(previous_cookie, user)
    attributes = cookie_attributes(request, path=f"{API}/auth/login", seconds=device_cookies.LIFETIME_SECONDS)
    response.set_cookie(device_cookies.COOKIE_NAME, new_cookie, **attributes)


def cookie_attributes(request: Request, *, path: str, seconds: int) -> CookieAttributes:
    """Return the attributes of a cookie that neither scripts nor other sites can use.

    If the request has come over HTTPS, the cookie is only sent over HTTPS.
    """
    is_secure = request.url.scheme == "https"
    return CookieAttributes(max_age=seconds, path=path, secure=is_secure, httponly=True, samesite="lax")
