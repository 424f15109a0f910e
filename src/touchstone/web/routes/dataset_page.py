"""The page of a dataset, with its score, its evidence and its measured data file."""

from dataclasses import dataclass
from typing import Any, Final

from starlette.responses import Response
from starlette.routing import Route

from touchstone.client import Dataset, Evidence, Lifts, ScoredDataset, TouchstoneError
from touchstone.core.attributes import ETHICAL
from touchstone.core.errors import Invalid, NotFound
from touchstone.core.evidence import Assurance, EvidenceLevel
from touchstone.metadata.writers.formats import FORMATS
from touchstone.web.addresses import dataset_address
from touchstone.web.api_queries import (
    TARGET_RANK,
    fetch_lifts,
    fetch_ranked_dataset,
    fetch_score,
    load_reader,
    read_rank_state,
)
from touchstone.web.ignored_parameters import describe_ignored_settings, describe_refused_filter
from touchstone.web.page_context import PageContext
from touchstone.web.page_endpoint import page_endpoint
from touchstone.web.rank_state import RankState
from touchstone.web.session_expiry import require_sign_in
from touchstone.web.views import dataset_view, related_datasets
from touchstone.web.views.criterion_cell import criterion_cells
from touchstone.web.views.evidence_view import OTHER_ATTRIBUTES, attribute_details, merely_declared
from touchstone.web.views.lifts_view import lifts_view
from touchstone.web.views.score_range import score_range
from touchstone.web.views.search_engine_description import (
    fetch_search_engine_description,
    page_address,
    to_script,
)
from touchstone.web.views.weighted_criteria import criteria_with_weight, weighted_criteria


@dataclass(frozen=True, slots=True)
class LoweredScore:
    """The effect of merely declared values, which do not count in the score for lack of evidence.

    Attributes:
        count: the number of merely declared values.
        first_attribute: the name of the first attribute with such a value.
        declared_score: the score that the dataset would have if these values counted, formatted for display.
    """

    count: int
    first_attribute: str
    declared_score: str


async def dataset_page(ctx: PageContext) -> Response:
    """Show the score of a dataset, everything that is known about it, and the evidence.

    Links from the ranking contain its weights and its level of evidence, so that the page shows the same score.
    Without them, the default profile and the default level apply. Readers who have not signed in see only the public
    record.
    """
    if ctx.session is None:
        return await public_dataset_page(ctx)

    dataset = await ctx.api.get_dataset(ctx.path_params["dataset_id"])
    evidence = await ctx.api.get_evidence(dataset.id)

    state = await read_rank_state(ctx)
    lifts, ranked, filter_problems = await _load_place(ctx, state, dataset)
    score = ranked or await fetch_score(ctx, state, dataset, evidence)
    criteria = weighted_criteria(await ctx.criteria(), state, ctx.localizer)
    used_criteria = criteria_with_weight(criteria)

    return await ctx.render(
        "dataset.html",
        address_notes=(*await describe_ignored_settings(ctx), *filter_problems),
        dataset=dataset,
        state=state,
        declared_assurance=Assurance.DECLARED,
        # Evidence
        declared_by=evidence.declared_by,
        reader=await load_reader(ctx, evidence),
        levels=[level.value for level in EvidenceLevel],
        ethics=attribute_details(evidence, dataset, ETHICAL, state.assurance),
        other_attributes=attribute_details(evidence, dataset, OTHER_ATTRIBUTES, state.assurance),
        stated_evidence=dataset_view.stated_evidence(dataset),
        # Related records
        warnings=related_datasets.warnings_about(dataset),
        collection=related_datasets.collection_name(dataset),
        variant_group=related_datasets.variant_group(dataset),
        variants=related_datasets.variants_of(dataset),
        # Score
        scored=score is not None,
        score_range=score_range(score, used_criteria, ctx.localizer),
        ranked=ranked,
        lifts=lifts_view(lifts, ctx.localizer) if lifts is not None else None,
        target_rank=TARGET_RANK,
        cells=criterion_cells(score, used_criteria, ctx.localizer) if score else (),
        lowered=await _lowered_score(ctx, state, dataset, evidence, score),
        # Data file
        measured_attributes=dataset_view.measured_attributes(dataset, evidence),
        columns=dataset_view.column_summaries(dataset),
        measured=dataset_view.measurement(dataset),
        unmeasured=dataset_view.measurement_failure(dataset),
        is_empty_table=dataset_view.is_empty_table(dataset),
        trainable=dataset_view.is_trainable(dataset),
        export_formats=tuple(FORMATS),
        search_engine_description=await fetch_search_engine_description(ctx, dataset),
        projects=await ctx.api.list_projects(),
    )


async def dataset_page_by_uuid(ctx: PageContext) -> Response:
    """Redirect from the UUID of a dataset to its page.

    Records refer to one another by UUID.
    """
    dataset = await ctx.api.get_dataset(ctx.path_params["dataset_id"])
    return ctx.redirect(dataset_address(dataset.id))


async def public_dataset_page(ctx: PageContext) -> Response:
    """Show a public dataset to a reader who has not signed in.

    Private, hidden and missing datasets all lead to the sign-in page, so that nobody can tell which of them exist.
    """
    records = ctx.state.public_records
    if records is None:
        return await require_sign_in(ctx)

    dataset_id = ctx.path_params["dataset_id"]
    dataset = await records.read(dataset_id)
    if dataset is None:
        return await require_sign_in(ctx)

    metadata = dataset.metadata or {}
    description = await records.describe(dataset_id)
    return ctx.render_template(
        "public_dataset.html",
        user=None,
        dataset=dataset,
        attributes={name: getattr(dataset, name) for name in (*OTHER_ATTRIBUTES, *ETHICAL)},
        licence=metadata.get("licence"),
        search_engine_description=to_script(description, page_address(ctx)),
    )


async def _load_place(
    ctx: PageContext, state: RankState, dataset: Dataset
) -> tuple[Lifts | None, ScoredDataset | None, tuple[str, ...]]:
    """Return the lifts of a dataset, the dataset in its place of the ranking, and what is wrong with the filters.

    If the API refuses a filter or a gate in the address, the dataset has no place, but its page still exists.
    """
    try:
        lifts = await fetch_lifts(ctx, state, dataset)
        ranked = await fetch_ranked_dataset(ctx, state, lifts) if lifts is not None else None
    except TouchstoneError as error:
        if error.status != Invalid.status:
            raise
        return None, None, (describe_refused_filter(error, ctx.localizer),)
    return lifts, ranked, ()


async def _lowered_score(
    ctx: PageContext, state: RankState, dataset: Dataset, evidence: Evidence, score: ScoredDataset | None
) -> LoweredScore | None:
    """Return the effect of merely declared values, or None if the score would not be higher with them.

    Args:
        ctx: the request.
        state: the weights and the required level of evidence.
        dataset: the dataset.
        evidence: the claims about the dataset.
        score: the score of the dataset at the required level; None if it has no score.
    """
    attributes = attribute_details(evidence, dataset, (*ETHICAL, *OTHER_ATTRIBUTES), state.assurance)
    uncounted_attributes = merely_declared(attributes)
    if score is None or not uncounted_attributes:
        return None

    declared_state = state.change(assurance=Assurance.DECLARED)
    declared_score = await fetch_score(ctx, declared_state, dataset, evidence)
    if declared_score is None or declared_score.score <= score.score:
        return None

    return LoweredScore(
        count=len(uncounted_attributes),
        first_attribute=uncounted_attributes[0].name,
        declared_score=ctx.localizer.number(declared_score.score, digits=3),
    )


async def export_dataset(ctx: PageContext) -> Response:
    """Return a dataset as a downloadable document in a metadata standard."""
    format_key: Any = ctx.path_params["format"]
    if format_key not in FORMATS:
        raise NotFound

    file = await ctx.api.export_dataset(ctx.path_params["dataset_id"], format_key)
    headers = {"content-disposition": f'attachment; filename="{file.name}"'}
    return Response(file.content, media_type=file.media_type, headers=headers)


ROUTES: Final = (
    Route("/app/datasets/{dataset_id:int}", page_endpoint(dataset_page, is_public=True)),
    Route("/app/datasets/{dataset_id:int}/export/{format:str}", page_endpoint(export_dataset)),
    Route("/app/datasets/{dataset_id:uuid}", page_endpoint(dataset_page_by_uuid)),
)
