"""The datasets of a comparison, which are named by the request or are the first tables of a ranking."""

from collections.abc import AsyncIterator
from typing import Final
from uuid import UUID

from msgspec import Struct

from touchstone.core.errors import DataFileUnreadable, DatasetNotFound, FieldError, InvalidJobRequest
from touchstone.jobs.request_context import JobRequestContext
from touchstone.jobs.selection_client import DatasetSource
from touchstone.learning.comparison_request import DatasetOptions, TrainingComparisonRequest
from touchstone.learning.request_definitions import DatasetKey

# A ranking may contain millions of datasets without a table.
MAX_RANKED_DATASETS: Final = 200
_RANKING_PAGE_SIZE: Final = 50


class Candidate(Struct, frozen=True):
    """A dataset to train on.

    Attributes:
        source: the data file and the record.
        rank: the position in the ranking, or None if the request names the dataset.
        keys: the number and the UUID of the dataset, after the key under which the request names it.
        target: the column to predict according to the request or the record, or None if neither names one.
        options: the options of the request for this dataset.
    """

    source: DatasetSource
    rank: int | None
    keys: tuple[DatasetKey, ...]
    target: str | None
    options: DatasetOptions


async def load_named_datasets(ctx: JobRequestContext, request: TrainingComparisonRequest) -> list[Candidate]:
    """Load the datasets named by a request.

    Raises:
        DatasetNotFound: the caller may see no such dataset.
        DataFileUnreadable: the file of a dataset cannot be opened.
        InvalidJobRequest: the request names the same dataset by its number and by its UUID.
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

        candidates.append(_create_candidate(request, source, dataset_key))
    return candidates


async def iterate_ranked_tables(
    ctx: JobRequestContext, request: TrainingComparisonRequest, project_id: UUID
) -> AsyncIterator[Candidate]:
    """Yield the datasets with a file among the first `MAX_RANKED_DATASETS` of a ranking, best first."""
    selection = ctx.service.selection
    for skip in range(0, MAX_RANKED_DATASETS, _RANKING_PAGE_SIZE):
        ranking = await selection.load_ranking(project_id, ctx.caller, skip=skip, limit=_RANKING_PAGE_SIZE)
        for dataset in ranking:
            try:
                source = await selection.load_dataset_source(dataset.id, ctx.caller)
            except (DataFileUnreadable, DatasetNotFound):
                # It has no file, or was deleted after the ranking was computed.
                continue

            yield _create_candidate(request, source, source.dataset_id, rank=dataset.rank)

        if len(ranking) < _RANKING_PAGE_SIZE:
            return


def _create_candidate(
    request: TrainingComparisonRequest, source: DatasetSource, dataset_key: DatasetKey, *, rank: int | None = None
) -> Candidate:
    """Combine a dataset with its options in the request, which may be under its number or its UUID."""
    keys = (dataset_key, source.dataset_id, str(source.record["dataset_id"]))
    target = request.target_for(*keys) or source.target
    return Candidate(source, rank, keys, target, request.options_for(*keys))
