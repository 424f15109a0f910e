"""Routes for the signed-in user: profile, password, picture and sessions."""

from typing import Annotated, Any, Final

from fastapi import Depends
from starlette.requests import Request
from starlette.responses import Response

from touchstone.core.errors import PictureNotFound, SessionNotFound, TooLarge
from touchstone.core.identity import parse_uuid
from touchstone.core.identity_provider_errors import OAuthAccountNotFound
from touchstone.http.conditional import is_not_modified
from touchstone.http.responses import BINARY_CONTENT, ETAG, NOT_MODIFIED, OCTET_STREAM
from touchstone.http.routing import strict_router
from touchstone.services.gateway import accounts, password_resets_and_changes, profile_pictures, sessions, user_store
from touchstone.services.gateway.context import Context
from touchstone.services.gateway.oidc import account_links
from touchstone.services.gateway.public_routes import API
from touchstone.services.gateway.schemas import PasswordChange, ProfileChange, SessionView, UserView

# The image format is detected from the content, so the media type sent by the client is ignored.
_PICTURE_REQUEST_BODY: Final[dict[str, Any]] = {
    "requestBody": {
        "description": "The file itself: PNG, JPEG or WebP.",
        "required": True,
        "content": BINARY_CONTENT,
    }
}
_PICTURE_RESPONSES: Final[dict[int | str, dict[str, Any]]] = {
    200: {"headers": ETAG, "content": BINARY_CONTENT | {profile_pictures.MEDIA_TYPE: BINARY_CONTENT[OCTET_STREAM]}},
    304: NOT_MODIFIED,
}

router = strict_router(prefix=f"{API}/users/me", tags=["users"])


async def _read_picture_body(request: Request) -> bytes:
    """Return the uploaded picture in the body of a request.

    Raises:
        TooLarge: the body is larger than a picture may be. The rest is not read.
    """
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > profile_pictures.MAX_BYTES:
            raise TooLarge(limit=profile_pictures.MAX_BYTES)

    return body


# The parameter type of a handler that receives a picture.
PictureBody = Annotated[bytes, Depends(_read_picture_body)]


@router.get("", summary="Your account")
async def read_me(ctx: Context) -> UserView:
    """Return the user who is signed in."""
    return await accounts.read_user(ctx.database, ctx.caller.id, locale=ctx.locale)


@router.patch("", summary="Change your profile")
async def change_me(change: ProfileChange, ctx: Context) -> UserView:
    """Change the fields that are sent. If one of them is unknown, nothing changes."""
    return await accounts.change_profile(ctx.database, ctx.caller.id, change, locale=ctx.locale)


@router.patch("/password", status_code=204, summary="Change your password")
async def change_password(change: PasswordChange, ctx: Context) -> None:
    """Change the password and end all sessions, including this one."""
    account = accounts.fold_email(ctx.caller.email)
    async with ctx.state.throttle.limit_password_attempts(account, ctx.address):
        await password_resets_and_changes.change_password(
            ctx.database, ctx.caller.id, change.current_password, change.new_password
        )

    ctx.state.authenticator.clear_cache()


@router.delete(
    "/oauth-accounts/{oauth_account_id}", status_code=204, summary="No longer sign in with an identity provider"
)
async def unlink_oauth_account(oauth_account_id: str, ctx: Context) -> None:
    """Unlink your account from an account at an identity provider. Sessions continue."""
    parsed_id = parse_uuid(oauth_account_id)
    if parsed_id is None:
        raise OAuthAccountNotFound
    await account_links.unlink_account(ctx.database, ctx.caller.id, parsed_id)


@router.get("/picture", summary="Your picture", response_class=Response, responses=_PICTURE_RESPONSES)
async def read_picture(request: Request, ctx: Context) -> Response:
    """Return your picture, a WebP image of at most 512 pixels a side."""
    async with ctx.database.reading() as connection:
        picture = await user_store.read_picture(connection, ctx.caller.id)
    if picture is None:
        raise PictureNotFound

    etag = f'"{picture.picture_digest}"'
    headers = {"ETag": etag, "Cache-Control": "private, no-cache"}
    if is_not_modified(request, etag):
        return Response(status_code=304, headers=headers)
    return Response(picture.picture, media_type=profile_pictures.MEDIA_TYPE, headers=headers)


@router.put(
    "/picture",
    status_code=204,
    summary="Set your picture",
    responses={204: {"headers": ETAG}},
    openapi_extra=_PICTURE_REQUEST_BODY,
)
async def set_picture(body: PictureBody, response: Response, ctx: Context) -> None:
    """Set the picture: a PNG, JPEG or WebP file of up to 2 MB.

    It is stored scaled down, upright, and without its metadata.
    """
    picture = await profile_pictures.reencode_picture(body)
    async with ctx.database.writing() as transaction:
        await user_store.update_picture(transaction, ctx.caller.id, picture)
    response.headers["ETag"] = f'"{picture.picture_digest}"'


@router.delete("/picture", status_code=204, summary="Remove your picture")
async def remove_picture(ctx: Context) -> None:
    """Remove the picture, if there is one."""
    async with ctx.database.writing(may_use_reserve=True) as transaction:
        await user_store.delete_picture(transaction, ctx.caller.id)


@router.get("/sessions", summary="Where you are signed in")
async def read_sessions(ctx: Context) -> list[SessionView]:
    """Return the sessions that can still be used, the most recently used first."""
    records = await sessions.list_active_sessions(ctx.database, ctx.caller.id, lifetime=ctx.state.session_lifetime)
    return [SessionView.from_record(record, current_id=ctx.identity.session_id) for record in records]


@router.delete("/sessions/{session_id}", status_code=204, summary="Sign out elsewhere")
async def end_session(session_id: str, ctx: Context) -> None:
    """End a session; its access tokens become invalid immediately."""
    parsed_id = parse_uuid(session_id)
    if parsed_id is None:
        raise SessionNotFound

    async with ctx.database.writing(may_use_reserve=True) as transaction:
        if not await sessions.revoke_session(transaction, ctx.caller.id, parsed_id):
            raise SessionNotFound
    ctx.state.authenticator.clear_cache()
