"""Queries to the API that several pages share."""

import asyncio
from collections.abc import Collection
from typing import Any, Final

from touchstone.client import Dataset, Job, Project, Ranking, ScoredDataset, TouchstoneError
from touchstone.client.models import Kind
from touchstone.core.attributes import ATTRIBUTES
from touchstone.core.attributes import Kind as AttributeKind
from touchstone.core.errors import Invalid, NotFound
from touchstone.web.page_context import PageContext
from touchstone.web.rank_state import PAGE_SIZE, RankState

_JOB_KINDS: Final[tuple[Kind, ...]] = ("train", "explain")
_RECENT_JOBS: Final = 50
_SIMILAR_DATASETS: Final = 1000  # requested at once
EMPTY_RANKING: Final = Ranking(datasets=[], total_count=0, effective_weights=[])


async def read_rank_state(ctx: PageContext) -> RankState:
    """Return the state of the ranking in the address, without the ids of the previous ranking."""
    state = RankState.from_pairs(ctx.query_pairs, await ctx.weight_profiles())
    return state.change(previous_ids=())


async def find_dataset(ctx: PageContext, dataset_id: int) -> Dataset | None:
    """Return a dataset; None if it does not exist."""
    try:
        return await ctx.api.get_dataset(dataset_id)
    except TouchstoneError as error:
        if error.status != NotFound.status:
            raise
        return None


async def find_datasets(ctx: PageContext, dataset_ids: Collection[int]) -> list[Dataset]:
    """Return the existing ones among the datasets, in their order."""
    datasets = await asyncio.gather(*(find_dataset(ctx, dataset_id) for dataset_id in dataset_ids))
    return [dataset for dataset in datasets if dataset is not None]


async def find_chosen_dataset(ctx: PageContext, project: Project) -> Dataset | None:
    """Return the dataset that a project has chosen; None if there is none or it no longer exists."""
    if project.chosen_dataset_id is None:
        return None
    return await find_dataset(ctx, project.chosen_dataset_id)


async def list_recent_jobs(ctx: PageContext, project_id: str | None = None) -> list[Job]:
    """Return the reader's latest jobs, newest first, without those of an unavailable backend."""
    jobs_by_kind = await asyncio.gather(*(_list_jobs_of_kind(ctx, kind, project_id) for kind in _JOB_KINDS))
    jobs = [job for jobs_of_kind in jobs_by_kind for job in jobs_of_kind]
    return sorted(jobs, key=lambda job: job.created_at, reverse=True)


async def _list_jobs_of_kind(ctx: PageContext, kind: Kind, project_id: str | None) -> list[Job]:
    try:
        page = await ctx.api.page_jobs(kind, project_id=project_id, page_size=_RECENT_JOBS)
    except TouchstoneError as error:
        # Everything from 422 on: the other backend may still answer.
        if error.status < Invalid.status:
            raise
        return []
    return page.jobs


async def fetch_ranking(ctx: PageContext, state: RankState) -> Ranking:
    """Return the page of the ranking that the state describes; an empty one if all weights are zero."""
    if not state.weights:
        return EMPTY_RANKING
    return await ctx.api.score_datasets(
        state.filter_body(),  # type: ignore[arg-type]
        weights=state.weight_body(),
        limit=PAGE_SIZE,
        skip=(state.page - 1) * PAGE_SIZE,
        explain=True,
    )


async def fetch_score(ctx: PageContext, state: RankState, dataset: Dataset) -> ScoredDataset | None:
    """Return the score of one dataset under the weights of the state; None if all weights are zero.

    The API scores the datasets that pass filters. It is therefore asked for those that resemble this one, page by page
    until it appears.
    """
    if not state.weights:
        return None

    skip, total = 0, 1
    while skip < total:
        ranking = await ctx.api.score_datasets(
            _filters_matching(dataset),  # type: ignore[arg-type]
            weights=state.weight_body(),
            limit=_SIMILAR_DATASETS,
            skip=skip,
            explain=True,
        )
        for scored in ranking.datasets:
            if scored.id == dataset.id:
                return scored
        skip += _SIMILAR_DATASETS
        total = ranking.total_count
    return None


def _filters_matching(dataset: Dataset) -> dict[str, Any]:
    """Return filters that a dataset passes and few others do: its name, its known numbers and flags."""
    filters: dict[str, Any] = {"dataset_name": dataset.dataset_name}
    for attribute in ATTRIBUTES:
        if attribute.kind not in (AttributeKind.INTEGER, AttributeKind.FLAG):
            continue
        value = getattr(dataset, attribute.name)
        if value is None:
            continue
        if attribute.kind is AttributeKind.INTEGER:
            filters[f"{attribute.name}_min"] = value
            filters[f"{attribute.name}_max"] = value
        else:
            filters[attribute.name] = value
    return filters
