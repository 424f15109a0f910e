"""The page that compares the pinned datasets."""

import asyncio
from typing import Final

from starlette.responses import Response
from starlette.routing import Route

from touchstone.web.api_queries import fetch_score, find_datasets, read_rank_state
from touchstone.web.page_context import PageContext
from touchstone.web.page_endpoint import page
from touchstone.web.views.comparison import compare
from touchstone.web.views.rank_table import weighted_criteria


async def comparison_page(ctx: PageContext) -> Response:
    """Show the pinned datasets side by side, and say how many of them no longer exist."""
    state = await read_rank_state(ctx)
    datasets = await find_datasets(ctx, state.pins)
    missing = len(state.pins) - len(datasets)
    state = state.change(pins=tuple(dataset.id for dataset in datasets))

    scores = await asyncio.gather(*(fetch_score(ctx, state, dataset) for dataset in datasets))
    criteria = weighted_criteria(await ctx.criteria(), state, ctx.localizer)
    return await ctx.render(
        "compare.html", state=state, compared=compare(datasets, scores, criteria, ctx.localizer), gone=missing
    )


ROUTES: Final = (Route("/app/compare", page(comparison_page)),)
