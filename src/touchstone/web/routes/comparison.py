"""The page that compares the pinned datasets."""

import asyncio
from typing import Final

from starlette.responses import Response
from starlette.routing import Route

from touchstone.web.api_queries import fetch_score, find_datasets, read_rank_state
from touchstone.web.page_context import PageContext
from touchstone.web.page_endpoint import page_endpoint
from touchstone.web.views.comparison import compare
from touchstone.web.views.rank_table import weighted_criteria


async def comparison_page(ctx: PageContext) -> Response:
    """Show the pinned datasets side by side, with their scores under the weights in the address.

    Datasets that no longer exist are left out, and the page says how many they are.
    """
    requested_state = await read_rank_state(ctx)
    datasets = await find_datasets(ctx, requested_state.pins)
    state = requested_state.change(pins=tuple(dataset.id for dataset in datasets))
    missing_count = len(requested_state.pins) - len(datasets)

    scores = await asyncio.gather(*(fetch_score(ctx, state, dataset) for dataset in datasets))
    criteria = weighted_criteria(await ctx.criteria(), state, ctx.localizer)
    comparison = compare(datasets, scores, criteria, ctx.localizer)

    return await ctx.render("compare.html", state=state, compared=comparison, gone=missing_count)


ROUTES: Final = (Route("/app/compare", page_endpoint(comparison_page)),)
