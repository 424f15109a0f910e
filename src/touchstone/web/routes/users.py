"""The list of accounts, where administrators appoint curators, lock accounts and reset passwords."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final, Unpack

from starlette.datastructures import FormData
from starlette.responses import Response
from starlette.routing import Route

from touchstone.client.account_calls import AccountChanges
from touchstone.client.models import ResetToken
from touchstone.web.addresses import list_page_address
from touchstone.web.flash_messages import FlashMessage
from touchstone.web.forms import text_field
from touchstone.web.ignored_parameters import describe_ignored_parameters
from touchstone.web.list_pages import is_beyond_last_page
from touchstone.web.page_context import PageContext
from touchstone.web.page_endpoint import page_endpoint
from touchstone.web.rank_state import parse_small_integer

_USERS: Final = "/app/users"
_PAGE_SIZE: Final = 50
_MAX_SEARCH_LENGTH: Final = 320


async def users_page(ctx: PageContext) -> Response:
    """Show one page of the accounts; only administrators may see it."""
    address_notes = describe_ignored_parameters(ctx, numbers=["page"], names=["q"])
    return await _render_users(ctx, ctx.request.query_params, address_notes=address_notes)


async def change_curator(ctx: PageContext) -> Response:
    """Appoint a user as a curator or end the appointment, and return to the list of accounts."""
    form = await ctx.form()
    return await _change_account(ctx, form, is_curator=text_field(form, "is_curator") == "yes")


async def change_activity(ctx: PageContext) -> Response:
    """Lock or unlock an account, and return to the list of accounts. Locking ends all sessions of the user."""
    form = await ctx.form()
    return await _change_account(ctx, form, is_active=text_field(form, "is_active") == "yes")


async def _change_account(ctx: PageContext, form: FormData, **changes: Unpack[AccountChanges]) -> Response:
    """Change the account in the address, and return to the page of the list from which the form was sent."""
    await ctx.api.update_user(ctx.path_params["user_id"], **changes)

    page_number = parse_small_integer(text_field(form, "page"))
    search = text_field(form, "q") or None
    return ctx.redirect(_USERS, q=search, page=page_number, done=FlashMessage.ACCOUNT_CHANGED)


async def issue_reset_token(ctx: PageContext) -> Response:
    """Issue a token for choosing a new password, and show the list of accounts with the address that contains it.

    There is no redirect, because its address would keep the token in the history of the browser.
    """
    form = await ctx.form()
    reset_token = await ctx.api.reset_user(ctx.path_params["user_id"])
    return await _render_users(ctx, form, reset_token=reset_token, email=text_field(form, "email"))


async def _render_users(
    ctx: PageContext,
    parameters: Mapping[str, Any],
    *,
    address_notes: Sequence[str] = (),
    reset_token: ResetToken | None = None,
    email: str = "",
) -> Response:
    """Return one page of the accounts.

    Args:
        ctx: the request.
        parameters: the address or the form, with the number of the `page` and the part `q` of the e-mail addresses.
        address_notes: sentences about ignored parameters of the address.
        reset_token: the reset token that has just been issued.
        email: the e-mail address of the account that the token is for.
    """
    page_number = parse_small_integer(str(parameters.get("page", ""))) or 1
    search = str(parameters.get("q", "")).strip()[:_MAX_SEARCH_LENGTH] or None
    page = await ctx.api.page_users(q=search, page=page_number, page_size=_PAGE_SIZE)
    # A redirect would lose the token, which is shown only once.
    if is_beyond_last_page(page) and reset_token is None:
        return ctx.redirect(_USERS, q=search, page=page.total_pages)

    return await ctx.render(
        "users.html",
        address_notes=address_notes,
        page=page,
        search=search or "",
        link=partial(list_page_address, _USERS, q=search),
        reset_token=reset_token,
        reset_email=email,
    )


ROUTES: Final = (
    Route(_USERS, page_endpoint(users_page)),
    Route("/app/users/{user_id:uuid}/curator", page_endpoint(change_curator, form_page=_USERS), methods=["POST"]),
    Route("/app/users/{user_id:uuid}/active", page_endpoint(change_activity, form_page=_USERS), methods=["POST"]),
    Route("/app/users/{user_id:uuid}/reset", page_endpoint(issue_reset_token, form_page=_USERS), methods=["POST"]),
)
