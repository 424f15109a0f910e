"""The gateway's own routes: signing in and out, one's profile, and the administration of users."""

from datetime import timedelta
from typing import Annotated, Any, Final, TypeVar
from uuid import UUID

from fastapi import Depends, Query
from starlette.requests import Request
from starlette.responses import Response

from touchstone.core.errors import (
    InvalidRefreshToken,
    PictureNotFound,
    RegistrationClosed,
    SessionNotFound,
    UserNotFound,
)
from touchstone.core.identity import parse_uuid
from touchstone.http.responses import BINARY_CONTENT, OCTET_STREAM
from touchstone.http.routing import strict_router
from touchstone.services.gateway import accounts, device_cookies, profile_pictures, sessions, store
from touchstone.services.gateway.context import Context, Ctx
from touchstone.services.gateway.form_bodies import LOGIN_BODY, limited_body, login_of
from touchstone.services.gateway.route_table import API
from touchstone.services.gateway.schemas import (
    Grant,
    PasswordChange,
    PasswordReset,
    ProfileChange,
    RefreshToken,
    Registration,
    ResetToken,
    SessionView,
    UserChange,
    UserPage,
    UserQuery,
    UserView,
)

# The bytes say which kind of picture it is; the media type that a client claims is not looked at.
_PICTURE_BODY: Final[dict[str, Any]] = {
    "requestBody": {
        "description": "The file itself: PNG, JPEG or WebP.",
        "required": True,
        "content": BINARY_CONTENT,
    }
}
_PICTURE_ANSWER: Final[dict[int | str, dict[str, Any]]] = {
    200: {"content": BINARY_CONTENT | {profile_pictures.MEDIA_TYPE: BINARY_CONTENT[OCTET_STREAM]}},
    304: {"description": "Unchanged since the version in `If-None-Match`."},
}
T = TypeVar("T")


async def _administrator(ctx: Ctx) -> None:
    ctx.administrator()


auth = strict_router(prefix=f"{API}/auth", tags=["auth"])
me = strict_router(prefix=f"{API}/users/me", tags=["users"])
# A dependency is solved before a body or a query is looked at: others learn nothing of what would fit.
admin = strict_router(prefix=f"{API}/admin/users", tags=["admin"], dependencies=[Depends(_administrator)])


@auth.post("/register", status_code=201, summary="Make an account")
async def register(wanted: Registration, ctx: Ctx) -> UserView:
    """Open to everyone unless registration is closed; never makes an administrator."""
    if ctx.desk.settings.registration == "closed":
        raise RegistrationClosed
    ctx.desk.throttle.registration(ctx.address)
    profile = accounts.Profile(**wanted.model_dump(include={"pseudo", "given_name", "family_name", "locale"}))
    user = await accounts.create_user(ctx.database, email=wanted.email, password=wanted.password, profile=profile)
    return await accounts.read_user(ctx.database, user.id, locale=ctx.locale)


@auth.post("/login", summary="Sign in", openapi_extra=LOGIN_BODY)
async def login(request: Request, response: Response, ctx: Ctx) -> Grant:
    """Takes `username` (the e-mail address) and `password`, as a form or as JSON.

    The answer sets a device cookie: a device that sends it again can sign in although others fail from its address.
    """
    given = await login_of(request)
    cookie = request.cookies.get(device_cookies.COOKIE)
    device = await _known_device(ctx, cookie, given.username)

    async with ctx.desk.throttle.attempt(accounts.folded(given.username), ctx.address, device=device):
        user = await accounts.authenticate(ctx.database, given.username, given.password)
    session = await accounts.start_session(ctx.database, user, ctx.device, life=ctx.desk.session_life)

    response.set_cookie(
        device_cookies.COOKIE,
        ctx.desk.devices.renewed(cookie, user),
        max_age=device_cookies.LIFE_SECONDS,
        path=f"{API}/auth/login",
        secure=request.url.scheme == "https",
        httponly=True,
        samesite="lax",
    )
    return _uncached(response, ctx.desk.grant(session))


@auth.post("/refresh", summary="Exchange a refresh token for new tokens")
async def refresh(given: RefreshToken, response: Response, ctx: Ctx) -> Grant:
    """Within ten seconds, while its successor is unused, a used token gets the same one; later it ends the session."""
    key, life = ctx.desk.successor_key, ctx.desk.session_life
    try:
        session = await sessions.renew(ctx.database, given.refresh_token, key=key, life=life)
    except InvalidRefreshToken:
        # It may have ended a session.
        ctx.desk.identities.forget()
        raise
    return _uncached(response, ctx.desk.grant(session))


@auth.post("/logout", status_code=204, summary="Sign out")
async def logout(given: RefreshToken, ctx: Ctx) -> None:
    """Ends the session of the refresh token, or the one of this request when the token is not the caller's."""
    async with ctx.database.writing(essential=True) as rows:
        known = await store.refresh_token(rows, sessions.digest_of(given.refresh_token))
        own = known and await sessions.revoke(rows, ctx.me.caller.id, known["session_id"])
        if not own:
            await sessions.revoke(rows, ctx.me.caller.id, ctx.me.session_id)
    ctx.desk.identities.forget()


@auth.post("/reset-password", status_code=204, summary="Set a new password with a reset token")
async def reset_password(given: PasswordReset, ctx: Ctx) -> None:
    """The token comes from an administrator; it works once, and every session of the user ends."""
    async with ctx.desk.throttle.reset(ctx.address):
        await accounts.reset_password(ctx.database, given.token, given.password)
    ctx.desk.identities.forget()


@me.get("", summary="Your account")
async def read_me(ctx: Ctx) -> UserView:
    """The user who is signed in."""
    return await accounts.read_user(ctx.database, ctx.me.caller.id, locale=ctx.locale)


@me.patch("", summary="Change your profile")
async def change_me(change: ProfileChange, ctx: Ctx) -> UserView:
    """Changes what is given; a field that is not in the profile is refused, and nothing changes."""
    return await accounts.change_profile(ctx.database, ctx.me.caller.id, change, locale=ctx.locale)


@me.patch("/password", status_code=204, summary="Change your password")
async def change_password(given: PasswordChange, ctx: Ctx) -> None:
    """Ends every session, this one included."""
    caller = ctx.me.caller
    async with ctx.desk.throttle.attempt(accounts.folded(caller.email), ctx.address):
        await accounts.change_password(ctx.database, caller.id, given.current_password, given.new_password)
    ctx.desk.identities.forget()


@me.get("/picture", summary="Your picture", response_class=Response, responses=_PICTURE_ANSWER)
async def read_picture(request: Request, ctx: Ctx) -> Response:
    """A WebP image of at most 512 pixels a side."""
    async with ctx.database.reading() as rows:
        found = await store.picture_of(rows, ctx.me.caller.id)
    if found is None:
        raise PictureNotFound
    etag = f'"{found["picture_digest"]}"'
    headers = {"ETag": etag, "Cache-Control": "private, no-cache"}
    if etag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    return Response(found["picture"], media_type=profile_pictures.MEDIA_TYPE, headers=headers)


@me.put("/picture", status_code=204, summary="Set your picture", openapi_extra=_PICTURE_BODY)
async def set_picture(request: Request, response: Response, ctx: Ctx) -> None:
    """PNG, JPEG or WebP of up to 2 MB; stored smaller, upright, and without its metadata."""
    picture = await profile_pictures.reencoded(await limited_body(request, profile_pictures.MAX_BYTES))
    async with ctx.database.writing() as rows:
        changes = {"picture": picture.data, "picture_digest": picture.digest}
        await store.update_user(rows, ctx.me.caller.id, changes)
    response.headers["ETag"] = f'"{picture.digest}"'


@me.delete("/picture", status_code=204, summary="Remove your picture")
async def remove_picture(ctx: Ctx) -> None:
    """Does nothing when there is none."""
    async with ctx.database.writing(essential=True) as rows:
        await store.update_user(rows, ctx.me.caller.id, {"picture": None, "picture_digest": None})


@me.get("/sessions", summary="Where you are signed in")
async def read_sessions(ctx: Ctx) -> list[SessionView]:
    """The sessions that can still be used, latest use first."""
    found = await sessions.live(ctx.database, ctx.me.caller.id, life=ctx.desk.session_life)
    return [SessionView.model_validate({**one, "current": one["id"] == ctx.me.session_id}) for one in found]


@me.delete("/sessions/{session_id}", status_code=204, summary="Sign out elsewhere")
async def end_session(session_id: str, ctx: Ctx) -> None:
    """The session's access tokens end at once."""
    known = parse_uuid(session_id)
    async with ctx.database.writing(essential=True) as rows:
        if known is None or not await sessions.revoke(rows, ctx.me.caller.id, known):
            raise SessionNotFound
    ctx.desk.identities.forget()


@admin.get("", summary="All users")
async def list_users(ctx: Ctx, query: Annotated[UserQuery, Query()]) -> UserPage:
    """For administrators: oldest account first."""
    page, size = query.page, query.page_size
    total, users = await accounts.list_users(ctx.database, offset=(page - 1) * size, size=size)
    return UserPage(users=users, total_count=total, page=page, page_size=size, total_pages=-(-total // size))


@admin.patch("/{user_id}", summary="Deactivate or reactivate a user")
async def change_user(user_id: str, change: UserChange, ctx: Ctx) -> UserView:
    """For administrators: a user who is deactivated is out at once."""
    user = await accounts.set_active(ctx.database, _addressed(user_id), is_active=change.is_active)
    ctx.desk.identities.forget()
    return user


@admin.post("/{user_id}/reset-token", status_code=201, summary="Let a user set a new password")
async def make_reset_token(user_id: str, response: Response, ctx: Ctx) -> ResetToken:
    """For administrators: hand the token to the user, who uses it at `/auth/reset-password`."""
    life = timedelta(minutes=ctx.desk.settings.reset_token_minutes)
    return _uncached(response, await accounts.issue_reset_token(ctx.database, _addressed(user_id), life=life))


async def _known_device(ctx: Context, cookie: str | None, email: str) -> str | None:
    if cookie is None:
        return None
    return ctx.desk.devices.verified_nonce(cookie, await accounts.find_row(ctx.database, email))


def _addressed(user_id: str) -> UUID:
    known = parse_uuid(user_id)
    if known is None:
        raise UserNotFound
    return known


def _uncached(response: Response, secret: T) -> T:
    response.headers["Cache-Control"] = "no-store"
    return secret


ROUTERS: Final = (auth, me, admin)
