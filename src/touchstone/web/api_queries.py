"""Queries to the API that several pages share."""

import asyncio
import itertools
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final, NamedTuple
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
from touchstone.client.models import JobPage, Kind
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
_JOBS_PER_PAGE: Final = 50  # of each kind
_RECENT_COMPARISONS: Final = 5
TARGET_RANK: Final = 10  # the page of a dataset names the attributes that would bring it to this rank
_SCORE_PAGE_SIZE: Final = 1000  # ranked datasets per request when the score of a single dataset is searched for
EMPTY_RANKING: Final = Ranking(datasets=[], total_count=0, effective_weights=[])


async def read_rank_state(ctx: PageContext) -> RankState:
    """Return the state of the ranking in the address, for all pages except the rank page.

    The ids of the previous ranking are dropped, because only the rank page shows how datasets have moved since then.
    """
    state = await read_rank_page_state(ctx)
    return state.change(previous_ids=())


async def read_rank_page_state(ctx: PageContext) -> RankState:
    """Return the filters, the weights and the options of the rank page, which are stated in its address.

    As in the API, the values of a filter may be joined by commas. A string that is a value in the catalog is not split,
    because values may contain commas themselves.
    """
    state = RankState.from_pairs(ctx.query_pairs, await ctx.weight_profiles())
    if not state.joined_lists:
        return state

    facets = await ctx.api.get_facets(assurance=Assurance.DECLARED)
    known_values = {name: [choice["value"] for choice in choices] for name, choices in facets["values"].items()}
    return state.with_separate_words(known_values)


async def load_reader(ctx: PageContext, evidence: Evidence) -> Reader:
    """Load the permissions of the reader for the claims about a dataset.

    Raises:
        Unauthorized: nobody is signed in.
    """
    user = await ctx.load_user()
    if user is None:
        raise Unauthorized
    return Reader.from_user(user, evidence.declared_by)


async def load_change_describer(ctx: PageContext) -> ChangeDescriber:
    """Return a describer of changes in the language of the reader, after loading its labels."""
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
    """Return the datasets with the given ids in the same order; ids of missing datasets are skipped."""
    datasets = await asyncio.gather(*(find_dataset(ctx, dataset_id) for dataset_id in dataset_ids))
    return [dataset for dataset in datasets if dataset is not None]


async def find_chosen_dataset(ctx: PageContext, project: Project) -> Dataset | None:
    """Return the chosen dataset of a project, or None if there is none or it no longer exists."""
    if project.chosen_dataset_id is None:
        return None
    return await find_dataset(ctx, project.chosen_dataset_id)


async def list_recent_jobs(ctx: PageContext, project_id: str | None = None) -> list[Job]:
    """Return the latest jobs of the reader, or only those of one project, newest first.

    Trainings and explanations come from two backends. If one backend is unavailable, its jobs are left out.
    """
    page = await page_jobs(ctx, 1, project_id)
    return page.jobs


class JobListPage(NamedTuple):
    """One page of the list of jobs. Its number may exceed that of the last page."""

    jobs: list[Job]
    page: int
    total_pages: int


async def page_jobs(ctx: PageContext, page_number: int, project_id: str | None = None) -> JobListPage:
    """Return one page of the jobs of the reader, or only of those of one project, newest first.

    Trainings and explanations come from two backends, so each page has the trainings and the explanations of that page
    of their lists. If one backend is unavailable, its jobs are left out.
    """
    requests = (_page_jobs_of_kind(ctx, kind, page_number, project_id) for kind in _JOB_KINDS)
    pages = [page for page in await asyncio.gather(*requests) if page is not None]

    jobs = itertools.chain.from_iterable(page.jobs for page in pages)
    newest_first = sorted(jobs, key=lambda job: job.created_at, reverse=True)
    return JobListPage(newest_first, page_number, max((page.total_pages for page in pages), default=0))


async def _page_jobs_of_kind(ctx: PageContext, kind: Kind, page_number: int, project_id: str | None) -> JobPage | None:
    """Return one page of the jobs of one kind, or None if their backend is unavailable."""
    try:
        return await ctx.api.page_jobs(kind, project_id=project_id, page=page_number, page_size=_JOBS_PER_PAGE)
    except TouchstoneError as error:
        if _concerns_whole_page(error):
            raise
        return None


def _concerns_whole_page(error: TouchstoneError) -> bool:
    """Return whether an error concerns the whole page, such as an expired session, and not only one backend.

    Errors of a single backend, such as its unavailability, have higher statuses.
    """
    return error.status < Invalid.status


def dataset_id_of_job(job: Job) -> int | str | None:
    """Return the id of the dataset that a job uses, or None if it is not known yet."""
    inputs = job.inputs or {}
    dataset_id: int | str | None = inputs.get("dataset_id") or job.request.get("dataset_id")
    return dataset_id


async def find_dataset_of_job(ctx: PageContext, job: Job) -> Dataset | None:
    """Return the dataset that a job uses, or None if it is not known yet or no longer exists."""
    dataset_id = dataset_id_of_job(job)
    return None if dataset_id is None else await find_dataset(ctx, dataset_id)


async def find_dataset_names(ctx: PageContext, jobs: Collection[Job]) -> dict[UUID, str]:
    """Return the name of the dataset of each job, by job id.

    Jobs whose dataset is not known yet or no longer exists are left out.
    """
    jobs_by_dataset: dict[int | str, list[Job]] = defaultdict(list)
    for job in jobs:
        dataset_id = dataset_id_of_job(job)
        if dataset_id is not None:
            jobs_by_dataset[dataset_id].append(job)

    # Each dataset is requested only once, even if several jobs use it.
    datasets = await asyncio.gather(*(find_dataset(ctx, dataset_id) for dataset_id in jobs_by_dataset))

    names: dict[UUID, str] = {}
    for dataset, jobs_of_dataset in zip(datasets, jobs_by_dataset.values(), strict=True):
        if dataset is not None:
            names |= {job.id: dataset.dataset_name for job in jobs_of_dataset}
    return names


async def list_comparisons(ctx: PageContext, project_id: str) -> list[TrainingComparison]:
    """Return the latest model comparisons of a project, newest first.

    The list is empty if the training backend is unavailable.
    """
    try:
        page = await ctx.api.page_training_comparisons(project_id=project_id, page_size=_RECENT_COMPARISONS)
    except TouchstoneError as error:
        if _concerns_whole_page(error):
            raise
        return []
    return page.comparisons


async def fetch_ranking(ctx: PageContext, state: RankState) -> Ranking:
    """Return a page of the ranking of a state, or an empty ranking if all weights are zero.

    Raises:
        InvalidFilterValue: a filter or a gate of the state has an invalid value.
        TouchstoneError: the API refuses the request.
    """
    if not state.has_weights:
        return EMPTY_RANKING

    return await ctx.api.score_datasets(
        **state.ranking_arguments(),
        limit=PAGE_SIZE,
        skip=(state.page - 1) * PAGE_SIZE,
        explain=True,
    )


async def fetch_ranked_dataset(ctx: PageContext, state: RankState, lifts: Lifts) -> ScoredDataset | None:
    """Return a dataset with its score and place, or None if it does not match the filters.

    Args:
        ctx: the request.
        state: the state of the ranking. Filters and gates with invalid values are ignored.
        lifts: the lifts of the dataset in the same ranking, which contain its rank.
    """
    if not lifts.matches_filters:
        return None

    arguments = state.with_valid_requirements().ranking_arguments()
    ranking = await ctx.api.score_datasets(**arguments, limit=1, skip=lifts.rank - 1, explain=True)

    # The ranking may have changed since the lifts were computed, so the rank may belong to another dataset now.
    return _find_scored_dataset(ranking.datasets, lifts.id)


def _find_scored_dataset(datasets: Iterable[ScoredDataset], dataset_id: int) -> ScoredDataset | None:
    """Return the dataset with the given id, or None if it is not among the datasets."""
    return next((dataset for dataset in datasets if dataset.id == dataset_id), None)


async def load_background(ctx: PageContext, state: RankState, ranking: Ranking | Recommendations) -> RankingBackground:
    """Load the declarers, the declared ranking and the robustness that a page shows beside a ranking.

    The declared ranking counts every declaration without requiring evidence. It is only loaded for the first page. A
    dataset on a later page of the declared ranking that is not on the same page of the present one may rank lower or
    higher than there. Robustness means that small changes of the weights would not change the first ranks; it is only
    loaded if the state asks for it. Recommendations for a project are shown with their declarers only.
    """
    if not ranking.datasets:
        return RankingBackground()

    declarers = await find_declarers(ctx, [dataset.id for dataset in ranking.datasets])
    if isinstance(ranking, Recommendations):
        return RankingBackground(declarers=declarers)

    stability = await fetch_stability(ctx, state) if state.with_robustness else None
    declared_ranking: Ranking | None = None
    if state.assurance is not Assurance.DECLARED and state.page == 1:
        declared_ranking = await fetch_ranking(ctx, state.change(assurance=Assurance.DECLARED))

    return RankingBackground(
        declared_ranking=declared_ranking,
        declarers=declarers,
        robustness=robustness_by_id(stability, ctx.localizer),
        robustness_summary=describe_robustness(stability, ctx.localizer),
    )


async def fetch_stability(ctx: PageContext, state: RankState) -> Stability:
    """Return the robustness of the first ranks, for the filters, gates and weights of a state."""
    return await ctx.api.get_stability(**state.ranking_arguments())


async def fetch_lifts(ctx: PageContext, state: RankState, dataset: Dataset) -> Lifts | None:
    """Return the lifts of a dataset, or None if all weights are zero.

    A lift is the score and rank that the dataset would have if one more of its attributes were verified. Filters and
    gates with invalid values are ignored.
    """
    if not state.has_weights:
        return None

    arguments = state.with_valid_requirements().ranking_arguments()
    return await ctx.api.get_lifts(dataset.id, **arguments, rank=TARGET_RANK)


async def find_declarers(ctx: PageContext, dataset_ids: Collection[int]) -> dict[int, Person | None]:
    """Return the declarer of each dataset by dataset id.

    Rankings of the API do not contain the declarers, so every dataset takes a request. While the reader moves a slider,
    a page shows the same datasets again and again, so the results are cached for a short time.
    """
    cache = ctx.state.declarers
    declarers = cache.get_many(dataset_ids)
    missing_ids = [dataset_id for dataset_id in dataset_ids if dataset_id not in declarers]

    for dataset in await find_datasets(ctx, missing_ids):
        declarers[dataset.id] = dataset.declared_by

    # A dataset that no longer exists is cached as well, with None.
    cache.store({dataset_id: declarers.get(dataset_id) for dataset_id in missing_ids})
    return declarers


async def fetch_score(ctx: PageContext, state: RankState, dataset: Dataset, evidence: Evidence) -> ScoredDataset | None:
    """Return the score of one dataset with the reader's weights, or None if all weights are zero.

    The API has no request for the score of a single dataset. This function therefore ranks the datasets with the same
    attributes, which are usually so few that the first page contains the dataset.
    """
    if not state.has_weights:
        return None

    filters: Any = _attribute_filters(dataset, values_at(evidence, state.assurance))
    skipped_count = 0
    while True:
        ranking = await ctx.api.score_datasets(
            filters,
            weights=state.weight_body(),
            limit=_SCORE_PAGE_SIZE,
            skip=skipped_count,
            explain=True,
            assurance=state.assurance,
        )
        scored_dataset = _find_scored_dataset(ranking.datasets, dataset.id)
        if scored_dataset is not None:
            return scored_dataset

        skipped_count += _SCORE_PAGE_SIZE
        if skipped_count >= ranking.total_count:
            return None


def _attribute_filters(dataset: Dataset, values: Mapping[str, ClaimValue]) -> dict[str, Any]:
    """Return filters that match a dataset and only few others, built from its attributes.

    Args:
        dataset: the dataset.
        values: its numbers and flags that count at the required level of evidence. The API treats its other numbers
            and flags as unknown, so the dataset would not pass filters for them.
    """
    filters: dict[str, Any] = {"dataset_name": dataset.dataset_name, "visibility": dataset.visibility}

    for attribute in ATTRIBUTES:
        name = attribute.name
        value = values.get(name)
        if attribute.kind is AttributeKind.WORDS:
            filters[name] = getattr(dataset, name)
        elif attribute.kind is AttributeKind.FLAG and value is not None:
            filters[name] = value
        elif attribute.kind is AttributeKind.INTEGER and value is not None:
            filters[f"{name}_min"] = value
            filters[f"{name}_max"] = value

    return filters
