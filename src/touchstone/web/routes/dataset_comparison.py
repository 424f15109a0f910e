"""The page that compares the pinned datasets."""

import asyncio
from typing import Final

from starlette.responses import Response
from starlette.routing import Route

from touchstone.client import Comparison, Dataset, TouchstoneError
from touchstone.core.errors import Invalid
from touchstone.web.api_queries import fetch_score, find_datasets, read_rank_state
from touchstone.web.ignored_parameters import describe_ignored_settings, describe_refused_filter
from touchstone.web.page_context import PageContext
from touchstone.web.page_endpoint import page_endpoint
from touchstone.web.rank_state import RankState
from touchstone.web.views.dataset_comparison import ComparedDataset, compare
from touchstone.web.views.pair_view import PairView, pair_views
from touchstone.web.views.weighted_criteria import weighted_criteria

_MIN_COMPARED: Final = 2


async def comparison_page(ctx: PageContext) -> Response:
    """Show the pinned datasets side by side, and explain for each pair why one ranks above the other.

    The scores depend on the weights in the address. Datasets that no longer exist are left out, and the page says how
    many are missing. It also says which datasets are not part of the ranking, because of its filters or gates.
    """
    requested_state = await read_rank_state(ctx)
    datasets = await find_datasets(ctx, requested_state.pins)
    state = requested_state.change(pins=tuple(dataset.id for dataset in datasets))
    missing_count = len(requested_state.pins) - len(datasets)

    compared_datasets = await asyncio.gather(*(_load_compared(ctx, state, dataset) for dataset in datasets))
    criteria = weighted_criteria(await ctx.criteria(), state, ctx.localizer)

    comparison, filter_problems = await _load_comparison(ctx, state)
    pairs: tuple[PairView, ...] = ()
    unranked: tuple[str, ...] = ()
    if comparison is not None:
        pairs = pair_views(comparison, criteria, state, ctx.localizer)
        unranked = tuple(dataset.dataset_name for dataset in comparison.datasets if dataset.rank is None)

    return await ctx.render(
        "compare.html",
        address_notes=(*await describe_ignored_settings(ctx), *filter_problems),
        state=state,
        compared=compare(compared_datasets, criteria, ctx.localizer),
        pairs=pairs,
        unranked=unranked,
        gone=missing_count,
    )


async def _load_comparison(ctx: PageContext, state: RankState) -> tuple[Comparison | None, tuple[str, ...]]:
    """Return the comparison of the pinned datasets, and what is wrong with the filters if the API refuses one."""
    try:
        return await _fetch_comparison(ctx, state), ()
    except TouchstoneError as error:
        if error.status != Invalid.status:
            raise
        return None, (describe_refused_filter(error, ctx.localizer),)


async def _fetch_comparison(ctx: PageContext, state: RankState) -> Comparison | None:
    """Return the comparison of the pinned datasets, or None if they cannot be compared.

    A comparison needs at least two datasets and a weight above zero.
    """
    is_comparable = len(state.pins) >= _MIN_COMPARED and state.has_weights
    if not is_comparable:
        return None

    arguments = state.with_valid_requirements().ranking_arguments()
    return await ctx.api.compare_datasets(state.pins, **arguments)


async def _load_compared(ctx: PageContext, state: RankState, dataset: Dataset) -> ComparedDataset:
    """Return a dataset with its evidence and its score at the level of evidence in the address."""
    evidence = await ctx.api.get_evidence(dataset.id)
    score = await fetch_score(ctx, state, dataset, evidence)
    return ComparedDataset(dataset, evidence, score)


ROUTES: Final = (Route("/app/compare", page_endpoint(comparison_page)),)
