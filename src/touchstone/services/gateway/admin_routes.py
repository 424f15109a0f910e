"""Routes with which administrators manage users."""

from datetime import timedelta
from typing import Annotated
from uuid import UUID

from fastapi import Depends, Query, Response

from touchstone.core.errors import UserNotFound
from touchstone.core.identity import parse_uuid
from touchstone.http.routing import strict_router
from touchstone.services.gateway import accounts, password_changes
from touchstone.services.gateway.context import Context, require_administrator
from touchstone.services.gateway.route_table import API
from touchstone.services.gateway.schemas import ResetToken, UserChange, UserPage, UserQuery, UserView

# Dependencies are resolved before the body and the query are validated, so that other users learn nothing about these.
router = strict_router(
    prefix=f"{API}/admin/users",
    tags=["admin"],
    dependencies=[Depends(require_administrator)],
)


@router.get("", summary="All users")
async def list_users(ctx: Context, query: Annotated[UserQuery, Query()]) -> UserPage:
    """For administrators: return a page of the users, oldest account first."""
    offset = (query.page - 1) * query.page_size
    total, users = await accounts.list_users(ctx.database, offset=offset, limit=query.page_size)

    return UserPage(
        users=users,
        total_count=total,
        page=query.page,
        page_size=query.page_size,
        total_pages=-(-total // query.page_size),
    )


@router.patch("/{user_id}", summary="Deactivate or reactivate a user")
async def change_user(user_id: str, change: UserChange, ctx: Context) -> UserView:
    """For administrators: deactivate a user, which ends all sessions of that user at once, or reactivate a user."""
    user = await accounts.set_active(ctx.database, _parse_user_id(user_id), is_active=change.is_active)
    ctx.state.authenticator.clear_cache()
    return user


@router.post("/{user_id}/reset-token", status_code=201, summary="Let a user set a new password")
async def make_reset_token(user_id: str, response: Response, ctx: Context) -> ResetToken:
    """For administrators: return a token for the user, who sets a new password with it at `/auth/reset-password`."""
    response.headers["Cache-Control"] = "no-store"
    lifetime = timedelta(minutes=ctx.state.settings.reset_token_minutes)
    return await password_changes.issue_reset_token(ctx.database, _parse_user_id(user_id), lifetime=lifetime)


def _parse_user_id(user_id: str) -> UUID:
    """Return the id of a user in a path; raise `UserNotFound` if it is malformed."""
    parsed_id = parse_uuid(user_id)
    if parsed_id is None:
        raise UserNotFound
    return parsed_id
