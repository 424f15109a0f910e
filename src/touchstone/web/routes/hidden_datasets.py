"""The list of hidden records for administrators, and the action that hides or shows a record."""

from functools import partial
from typing import Final

from starlette.responses import Response
from starlette.routing import Route

from touchstone.web.addresses import DATASET_PATH, dataset_address, list_page_address
from touchstone.web.flash_messages import FlashMessage
from touchstone.web.forms import text_field
from touchstone.web.ignored_parameters import describe_ignored_parameters
from touchstone.web.list_pages import is_beyond_last_page, requested_page
from touchstone.web.page_context import PageContext
from touchstone.web.page_endpoint import page_endpoint

_HIDDEN_DATASETS: Final = "/app/hidden"
_PAGE_SIZE: Final = 50


async def hidden_datasets_page(ctx: PageContext) -> Response:
    """Show one page of the hidden records; only administrators may see it."""
    page = await ctx.api.page_hidden_datasets(page=requested_page(ctx), page_size=_PAGE_SIZE)
    if is_beyond_last_page(page):
        return ctx.redirect(_HIDDEN_DATASETS, page=page.total_pages)

    return await ctx.render(
        "hidden_datasets.html",
        address_notes=describe_ignored_parameters(ctx, numbers=["page"]),
        page=page,
        link=partial(list_page_address, _HIDDEN_DATASETS),
    )


async def hide_dataset(ctx: PageContext) -> Response:
    """Hide a record from everybody but its author, or show it again.

    After hiding a record, redirect to the list of hidden records, because even administrators can no longer see its
    page.
    """
    form = await ctx.form()
    dataset_id = ctx.path_params["dataset_id"]
    is_hidden = text_field(form, "hidden") == "yes"

    await ctx.api.hide_dataset(dataset_id, hidden=is_hidden, reason=text_field(form, "reason") or None)

    if is_hidden:
        return ctx.redirect(_HIDDEN_DATASETS, done=FlashMessage.DATASET_HIDDEN)
    return ctx.redirect(dataset_address(dataset_id), done=FlashMessage.DATASET_SHOWN)


ROUTES: Final = (
    Route(_HIDDEN_DATASETS, page_endpoint(hidden_datasets_page)),
    Route("/app/datasets/{dataset_id:int}/hide", page_endpoint(hide_dataset, form_page=DATASET_PATH), methods=["POST"]),
)
