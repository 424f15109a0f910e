"""Routes for the management of users by administrators."""

import math
from datetime import timedelta
from typing import Annotated
from uuid import UUID

from fastapi import Depends, Query, Response

from touchstone.core.errors import UserNotFound
from touchstone.core.identity import parse_uuid
from touchstone.http.query_checks import require_single_values
from touchstone.http.routing import strict_router
from touchstone.services.gateway import accounts, password_resets_and_changes
from touchstone.services.gateway.context import Context, require_administrator
from touchstone.services.gateway.public_routes import API
from touchstone.services.gateway.schemas import ResetToken, UserChange, UserPage, UserQuery, UserView

# As a dependency, the check of the role precedes the validation of the body and the query, so that other users always
# get the same error.
router = strict_router(
    prefix=f"{API}/admin/users",
    tags=["admin"],
    dependencies=[Depends(require_administrator)],
)


@router.get("", summary="All users", dependencies=[Depends(require_single_values)])
async def list_users(ctx: Context, query: Annotated[UserQuery, Query()]) -> UserPage:
    """Return a page of all users, the oldest account first. Only administrators may call this."""
    offset = (query.page - 1) * query.page_size
    users, total_count = await accounts.list_users(
        ctx.database, email_part=query.q, offset=offset, limit=query.page_size
    )

    return UserPage(
        users=users,
        total_count=total_count,
        page=query.page,
        page_size=query.page_size,
        total_pages=math.ceil(total_count / query.page_size),
    )


@router.patch("/{user_id}", summary="Change the state or the role of a user")
async def change_user(user_id: str, change: UserChange, ctx: Context) -> UserView:
    """Deactivate or reactivate a user, or change whether the user is a curator.

    Deactivation ends all sessions of the user immediately.

    Only administrators may call this.
    """
    user = await accounts.change_user(ctx.database, _parse_user_id(user_id), **change.provided_fields())

    ctx.state.authenticator.clear_cache()
    return user


@router.post("/{user_id}/reset-token", status_code=201, summary="Let a user set a new password")
async def make_reset_token(user_id: str, response: Response, ctx: Context) -> ResetToken:
    """Return a token with which the user can set a new password at `/auth/reset-password`.

    Only administrators may call this. The token works once; a newer one replaces it.
    """
    lifetime = timedelta(minutes=ctx.state.settings.reset_token_minutes)
    reset_token = await password_resets_and_changes.issue_reset_token(
        ctx.database, _parse_user_id(user_id), lifetime=lifetime
    )

    response.headers["Cache-Control"] = "no-store"
    return reset_token


def _parse_user_id(user_id: str) -> UUID:
    """Parse the id of a user in a path.

    Raises:
        UserNotFound: the id is malformed. The response is the same as for an unknown id.
    """
    parsed_id = parse_uuid(user_id)
    if parsed_id is None:
        raise UserNotFound
    return parsed_id
