"""The attributes of cookies that neither scripts nor other sites can use."""

from typing import Literal, TypedDict

from starlette.requests import Request


class CookieAttributes(TypedDict):
    """The attributes of a cookie, as arguments of `Response.set_cookie`."""

    max_age: int | None
    path: str
    secure: bool
    httponly: bool
    samesite: Literal["lax"]


def cookie_attributes(request: Request, *, path: str, seconds: int | None) -> CookieAttributes:
    """Return the attributes of a cookie for the paths below `path`.

    It expires after `seconds`, or when the browser is closed if `seconds` is None. If the request has come over HTTPS,
    the cookie is only sent over HTTPS.
    """
    is_secure = request.url.scheme == "https"
    return CookieAttributes(max_age=seconds, path=path, secure=is_secure, httponly=True, samesite="lax")
