"""The list of accounts, where administrators appoint curators."""

from functools import partial
from typing import Final

from starlette.responses import Response
from starlette.routing import Route

from touchstone.web.addresses import page_address
from touchstone.web.flash_messages import FlashMessage
from touchstone.web.forms import text_field
from touchstone.web.ignored_parameters import describe_ignored_parameters
from touchstone.web.page_context import PageContext
from touchstone.web.page_endpoint import page_endpoint
from touchstone.web.rank_state import parse_small_integer

_USERS: Final = "/app/users"
_PAGE_SIZE: Final = 50


async def users_page(ctx: PageContext) -> Response:
    """Show one page of the accounts; only administrators may see it."""
    page_number = parse_small_integer(ctx.request.query_params.get("page", "")) or 1
    page = await ctx.api.page_users(page=page_number, page_size=_PAGE_SIZE)
    address_notes = describe_ignored_parameters(ctx, numbers=["page"])
    return await ctx.render("users.html", address_notes=address_notes, page=page, link=partial(page_address, _USERS))


async def change_curator(ctx: PageContext) -> Response:
    """Appoint a user as a curator or end the appointment, and return to the list of accounts."""
    form = await ctx.form()
    is_curator = text_field(form, "is_curator") == "yes"
    await ctx.api.update_user(ctx.path_params["user_id"], is_curator=is_curator)

    page_number = parse_small_integer(text_field(form, "page"))
    return ctx.redirect(_USERS, page=page_number, done=FlashMessage.CURATOR_CHANGED)


ROUTES: Final = (
    Route(_USERS, page_endpoint(users_page)),
    Route("/app/users/{user_id:uuid}/curator", page_endpoint(change_curator, form_page=_USERS), methods=["POST"]),
)
