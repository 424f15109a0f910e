"""Queries to the API that several pages share."""

import asyncio
import itertools
from collections.abc import Collection, Mapping
from typing import Any, Final
from uuid import UUID

from touchstone.client import (
    Dataset,
    Evidence,
    Job,
    Lifts,
    Project,
    Ranking,
    Recommendations,
    ScoredDataset,
    Stability,
    TouchstoneError,
    TrainingComparison,
)
from touchstone.client.evidence_models import Person
from touchstone.client.models import Kind
from touchstone.core.attributes import ATTRIBUTES
from touchstone.core.attributes import Kind as AttributeKind
from touchstone.core.errors import Invalid, NotFound, Unauthorized
from touchstone.core.evidence import Assurance, ClaimValue
from touchstone.web.page_context import PageContext
from touchstone.web.rank_state import PAGE_SIZE, RankState
from touchstone.web.views.evidence_view import Reader, values_at
from touchstone.web.views.ranked_evidence import RankingBackground
from touchstone.web.views.record_changes import ChangeDescriber
from touchstone.web.views.robustness import describe_robustness, robustness_by_id
from touchstone.web.views.weighted_criteria import criterion_labels

_JOB_KINDS: Final[tuple[Kind, ...]] = ("train", "explain")
_RECENT_JOBS: Final = 50
_RECENT_COMPARISONS: Final = 5
TARGET_RANK: Final = 10  # the page of a dataset says which attributes would bring it to this rank
_SIMILAR_DATASETS: Final = 1000  # datasets on one page when the score of a single one is searched for
EMPTY_RANKING: Final = Ranking(datasets=[], total_count=0, effective_weights=[])


async def read_rank_state(ctx: PageContext) -> RankState:
    """Return the state of the ranking in the address, for pages other than the ranking itself.

    The ids of the previous ranking are left out, because only the ranking compares itself with it.
    """
    state = await read_rank_page_state(ctx)
    return state.change(previous_ids=())


async def read_rank_page_state(ctx: PageContext) -> RankState:
    """Return the state of the ranking in the address, with the ids of the previous ranking.

    A list of words may be one text with commas, as in the API. Whether a comma belongs to a value instead, only the
    catalog can tell.
    """
    state = RankState.from_pairs(ctx.query_pairs, await ctx.weight_profiles())
    if not state.joined_lists:
        return state

    facets = await ctx.api.get_facets(assurance=Assurance.DECLARED)
    known_values = {name: [entry["value"] for entry in entries] for name, entries in facets["values"].items()}
    return state.with_separate_words(known_values)


async def load_reader(ctx: PageContext, evidence: Evidence) -> Reader:
    """Load the reader's permissions for the claims about a dataset.

    Raises:
        Unauthorized: Nobody is signed in.
    """
    user = await ctx.load_user()
    if user is None:
        raise Unauthorized
    return Reader.of(user, evidence.declared_by)


async def load_change_describer(ctx: PageContext) -> ChangeDescriber:
    """Return an object that describes changes of records and projects in the language of the reader."""
    labels = criterion_labels(await ctx.criteria(), ctx.locale)
    return ChangeDescriber(ctx.localizer, labels)


async def find_dataset(ctx: PageContext, dataset_id: int | str) -> Dataset | None:
    """Return a dataset, or None if it does not exist."""
    try:
        return await ctx.api.get_dataset(dataset_id)
    except TouchstoneError as error:
        if error.status != NotFound.status:
            raise
        return None


async def find_datasets(ctx: PageContext, dataset_ids: Collection[int]) -> list[Dataset]:
    """Return the existing datasets, in the order of `dataset_ids`."""
    datasets = await asyncio.gather(*(find_dataset(ctx, dataset_id) for dataset_id in dataset_ids))
    return [dataset for dataset in datasets if dataset is not None]


async def find_chosen_dataset(ctx: PageContext, project: Project) -> Dataset | None:
    """Return the dataset that a project has chosen, or None if there is none or it no longer exists."""
    if project.chosen_dataset_id is None:
        return None
    return await find_dataset(ctx, project.chosen_dataset_id)


async def list_recent_jobs(ctx: PageContext, project_id: str | None = None) -> list[Job]:
    """Return the reader's latest jobs, or those of one project, newest first.

    Trainings and explanations come from two backends. If one of them is unavailable, only the jobs of the other are
    returned.
    """
    jobs_by_kind = await asyncio.gather(*(_list_jobs_of_kind(ctx, kind, project_id) for kind in _JOB_KINDS))
    jobs = itertools.chain.from_iterable(jobs_by_kind)
    return sorted(jobs, key=lambda job: job.created_at, reverse=True)


async def _list_jobs_of_kind(ctx: PageContext, kind: Kind, project_id: str | None) -> list[Job]:
    """Return the latest jobs of one kind, or an empty list if their backend is unavailable."""
    try:
        page = await ctx.api.page_jobs(kind, project_id=project_id, page_size=_RECENT_JOBS)
    except TouchstoneError as error:
        # Errors below 422, such as the end of the session, concern the whole page and not only this backend.
        if error.status < Invalid.status:
            raise
        return []
    return page.jobs


def dataset_id_of_job(job: Job) -> int | str | None:
    """Return an id of the dataset that a job has used or will use, or None if that is not known yet."""
    inputs = job.inputs or {}
    dataset_id: int | str | None = inputs.get("dataset_id") or job.request.get("dataset_id")
    return dataset_id


async def find_dataset_names(ctx: PageContext, jobs: Collection[Job]) -> dict[UUID, str]:
    """Return the names of the datasets of jobs by the id of the job, without datasets that no longer exist."""
    dataset_id_by_job = {job.id: dataset_id_of_job(job) for job in jobs}
    dataset_ids = {dataset_id for dataset_id in dataset_id_by_job.values() if dataset_id is not None}
    datasets = await asyncio.gather(*(find_dataset(ctx, dataset_id) for dataset_id in dataset_ids))

    name_by_id = {
        dataset_id: dataset.dataset_name
        for dataset_id, dataset in zip(dataset_ids, datasets, strict=True)
        if dataset is not None
    }
    return {
        job_id: name_by_id[dataset_id]
        for job_id, dataset_id in dataset_id_by_job.items()
        if dataset_id is not None and dataset_id in name_by_id
    }


async def list_comparisons(ctx: PageContext, project_id: str) -> list[TrainingComparison]:
    """Return the latest comparisons of a project, newest first; none if the training backend is unavailable."""
    try:
        page = await ctx.api.page_training_comparisons(project_id=project_id, page_size=_RECENT_COMPARISONS)
    except TouchstoneError as error:
        if error.status < Invalid.status:
            raise
        return []
    return page.comparisons


async def fetch_ranking(ctx: PageContext, state: RankState) -> Ranking:
    """Return the page of the ranking that the state describes, or an empty ranking if all weights are zero.

    Raises:
        InvalidFilterValue: A filter or a gate of the state does not accept its value.
        TouchstoneError: The API refuses the request.
    """
    if not state.weights:
        return EMPTY_RANKING

    filters: Any = state.filter_body()
    gates: Any = state.gate_body()
    return await ctx.api.score_datasets(
        filters,
        weights=state.weight_body(),
        gates=gates,
        gate=state.gate_mode,
        limit=PAGE_SIZE,
        skip=(state.page - 1) * PAGE_SIZE,
        explain=True,
        assurance=state.assurance,
    )


async def fetch_ranked_dataset(ctx: PageContext, state: RankState, lifts: Lifts) -> ScoredDataset | None:
    """Return a dataset with its place in the ranking, or None if it does not match the filters.

    Args:
        ctx: The request.
        state: The filters, the gates, the weights and the level of evidence of the ranking; those filters and gates
            that do not accept their value are left out.
        lifts: The lifts of the dataset in the same ranking, which contain its rank.
    """
    if not lifts.matches_filters:
        return None

    valid_state = state.with_valid_requirements()
    filters: Any = valid_state.filter_body()
    gates: Any = valid_state.gate_body()
    ranking = await ctx.api.score_datasets(
        filters,
        weights=state.weight_body(),
        gates=gates,
        gate=state.gate_mode,
        limit=1,
        skip=lifts.rank - 1,
        explain=True,
        assurance=state.assurance,
    )
    # A write between the two requests may have moved the dataset.
    return next((dataset for dataset in ranking.datasets if dataset.id == lifts.id), None)


async def load_background(ctx: PageContext, state: RankState, ranking: Ranking | Recommendations) -> RankingBackground:
    """Load the evidence and the robustness that a page shows beside a ranking.

    - `declarers`: who has declared each dataset. Recommendations for a project have nothing else.
    - `declared_ranking`: the ranking that would result if every declaration counted without evidence.
    - `robustness`: whether the first ranks depend on small changes of the weights, if the state asks for it.
    """
    if not ranking.datasets:
        return RankingBackground()

    declarers = await find_declarers(ctx, [dataset.id for dataset in ranking.datasets])
    if isinstance(ranking, Recommendations):
        return RankingBackground(declarers=declarers)

    stability = await fetch_stability(ctx, state) if state.with_robustness else None
    declared_ranking: Ranking | None = None
    if state.assurance is not Assurance.DECLARED:
        declared_ranking = await fetch_ranking(ctx, state.change(assurance=Assurance.DECLARED))

    return RankingBackground(
        declared_ranking=declared_ranking,
        declarers=declarers,
        robustness=robustness_by_id(stability, ctx.localizer),
        robustness_summary=describe_robustness(stability, ctx.localizer),
    )


async def fetch_stability(ctx: PageContext, state: RankState) -> Stability:
    """Return the robustness of the first ranks, for the filters, gates and weights of a state."""
    filters: Any = state.filter_body()
    gates: Any = state.gate_body()
    return await ctx.api.get_stability(
        filters,
        weights=state.weight_body(),
        gates=gates,
        gate=state.gate_mode,
        assurance=state.assurance,
    )


async def fetch_lifts(ctx: PageContext, state: RankState, dataset: Dataset) -> Lifts | None:
    """Return the lifts of a dataset: how far it would rise if single attributes were established.

    Filters and gates that do not accept their value are left out. Returns None if all weights are zero.
    """
    if not state.weights:
        return None

    valid_state = state.with_valid_requirements()
    filters: Any = valid_state.filter_body()
    gates: Any = valid_state.gate_body()
    return await ctx.api.get_lifts(
        dataset.id,
        filters=filters,
        weights=state.weight_body(),
        gates=gates,
        gate=state.gate_mode,
        assurance=state.assurance,
        rank=TARGET_RANK,
    )


async def find_declarers(ctx: PageContext, dataset_ids: Collection[int]) -> dict[int, Person | None]:
    """Return who has declared each dataset, by its id.

    The rankings of the API do not contain this. While a reader moves a slider, a page shows the same datasets again and
    again, so the result of the additional request is kept in a cache for a short time.
    """
    cache = ctx.state.declarers
    declarers = cache.known(dataset_ids)
    missing_ids = [dataset_id for dataset_id in dataset_ids if dataset_id not in declarers]

    for dataset in await find_datasets(ctx, missing_ids):
        declarers[dataset.id] = dataset.declared_by

    # A dataset that no longer exists is remembered too, with None.
    fetched_declarers = {dataset_id: declarers.get(dataset_id) for dataset_id in missing_ids}
    cache.remember(fetched_declarers)
    return declarers


async def fetch_score(ctx: PageContext, state: RankState, dataset: Dataset, evidence: Evidence) -> ScoredDataset | None:
    """Return the score of one dataset with the reader's weights, or None if all weights are zero.

    The API cannot score a single dataset, only all datasets that pass some filters. This function therefore filters by
    the attributes of the dataset itself. Few other datasets pass these filters, so the first page of the result usually
    contains the dataset.
    """
    if not state.weights:
        return None

    filters: Any = _filters_matching(dataset, values_at(evidence, state.assurance))
    skipped_count = 0
    while True:
        ranking = await ctx.api.score_datasets(
            filters,
            weights=state.weight_body(),
            limit=_SIMILAR_DATASETS,
            skip=skipped_count,
            explain=True,
            assurance=state.assurance,
        )
        for scored_dataset in ranking.datasets:
            if scored_dataset.id == dataset.id:
                return scored_dataset

        skipped_count += _SIMILAR_DATASETS
        if skipped_count >= ranking.total_count:
            return None


def _filters_matching(dataset: Dataset, values: Mapping[str, ClaimValue]) -> dict[str, Any]:
    """Return filters that a dataset passes and few others do: those for its own name, words, numbers and flags.

    `values` has the numbers and flags that count at the level of evidence that the reader requires. The API takes all
    others for unknown, so that the dataset would not pass a filter for them.
    """
    filters: dict[str, Any] = {"dataset_name": dataset.dataset_name, "visibility": dataset.visibility}

    for attribute in ATTRIBUTES:
        if attribute.kind is AttributeKind.WORDS:
            filters[attribute.name] = getattr(dataset, attribute.name)

        value = values.get(attribute.name)
        if value is None:
            continue
        if attribute.kind is AttributeKind.INTEGER:
            filters[f"{attribute.name}_min"] = value
            filters[f"{attribute.name}_max"] = value
        elif attribute.kind is AttributeKind.FLAG:
            filters[attribute.name] = value

    return filters
