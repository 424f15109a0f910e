"""The datasets that a comparison trains on: those that the request names, or the first tables of a ranking."""

from collections.abc import AsyncIterator
from typing import Final
from uuid import UUID

from msgspec import Struct

from touchstone.core.errors import DataFileUnreadable, DatasetNotFound, FieldError, InvalidJobRequest
from touchstone.jobs.request_context import JobRequestContext
from touchstone.jobs.selection_client import DatasetSource
from touchstone.learning.comparison_request import DatasetOptions, TrainingComparisonRequest
from touchstone.learning.request_definitions import DatasetKey

# A ranking may go on for millions of datasets without a table.
MAX_RANKED_DATASETS: Final = 200
_RANKING_PAGE: Final = 50


class Candidate(Struct, frozen=True):
    """A dataset to train on: its source, its position in the ranking if it has one, and what the request says about it.

    `target` is the column to predict, which may also be the one that the record suggests.
    """

    source: DatasetSource
    rank: int | None
    target: str | None
    options: DatasetOptions


async def load_named_datasets(ctx: JobRequestContext, request: TrainingComparisonRequest) -> list[Candidate]:
    """Return the datasets that a request names.

    Raises:
        DatasetNotFound: the caller may see no such dataset.
        DataFileUnreadable: the file of a dataset cannot be opened.
        InvalidJobRequest: the request names a dataset by its number and again by its UUID.
    """
    candidates: list[Candidate] = []
    for position, dataset_key in enumerate(request.dataset_ids):
        try:
            source = await ctx.service.selection.load_dataset_source(dataset_key, ctx.caller)
        except DataFileUnreadable as error:
            raise DataFileUnreadable(FieldError(("body", "dataset_ids", position), "no_table")) from error

        if any(candidate.source.dataset_id == source.dataset_id for candidate in candidates):
            field = f"dataset_ids.{position}"
            raise InvalidJobRequest("duplicate_value", field=field, facts={"name": str(dataset_key)})

        candidates.append(_candidate(request, source, dataset_key))
    return candidates


async def iterate_ranked_tables(
    ctx: JobRequestContext, request: TrainingComparisonRequest, project_id: UUID
) -> AsyncIterator[Candidate]:
    """Yield the datasets with a file in the ranking of a project, best first.

    Only the first `MAX_RANKED_DATASETS` of the ranking are looked at.
    """
    selection = ctx.service.selection
    for skip in range(0, MAX_RANKED_DATASETS, _RANKING_PAGE):
        ranking = await selection.load_ranking(project_id, ctx.caller, skip=skip, limit=_RANKING_PAGE)
        for dataset in ranking:
            try:
                source = await selection.load_dataset_source(dataset.id, ctx.caller)
            except (DataFileUnreadable, DatasetNotFound):
                # It has no file, or was deleted since the ranking was made.
                continue

            dataset_uuid = str(source.record["dataset_id"])
            yield _candidate(request, source, dataset_uuid, rank=dataset.rank)

        if len(ranking) < _RANKING_PAGE:
            return


def _candidate(
    request: TrainingComparisonRequest, source: DatasetSource, dataset_key: DatasetKey, *, rank: int | None = None
) -> Candidate:
    """Return a dataset with what the request says about it, under its number or under another key."""
    keys = (dataset_key, source.dataset_id)
    target = request.target_of(*keys) or source.target
    return Candidate(source, rank, target, request.options_of(*keys))
