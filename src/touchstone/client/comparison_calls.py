"""API calls for comparisons, which run the same training on several datasets."""

from collections.abc import Mapping, Sequence
from typing import Unpack
from uuid import UUID

import httpx2

from touchstone.client.call import Call, build_path, keep_streaming, read_json, read_nothing, without_none
from touchstone.client.comparison_models import TrainingComparison, TrainingComparisonPage
from touchstone.client.fields import DatasetOptions, TrainOptions
from touchstone.client.job_calls import event_stream_headers, idempotency_header


def compare_trainings(
    dataset_ids: Sequence[int | str | UUID] = (),
    *,
    target: str | Mapping[str, str] | None = None,
    limit: int | None = None,
    by_dataset: Mapping[str, DatasetOptions] | None = None,
    idempotency_key: str | None = None,
    **options: Unpack[TrainOptions],
) -> Call[TrainingComparison]:
    """Run the same training on several datasets, to find out which trains best.

    Without `dataset_ids`, the service uses the first `limit` datasets with a table in the ranking of the project
    `project_id`. The `target` is the column to predict: one name for all datasets, or a mapping from the id of each
    dataset to its column. The service takes a missing target from the record of the dataset. The options in
    `by_dataset` apply to a single dataset, and override the options for all.
    """
    body = {**options, **without_none(target=target, limit=limit, by_dataset=by_dataset)}
    if dataset_ids:
        body["dataset_ids"] = list(dataset_ids)
    return Call(
        "POST",
        build_path("ml", "compare"),
        read_json(TrainingComparison),
        json=body,
        headers=idempotency_header(idempotency_key),
    )


def get_training_comparison(comparison_id: str | UUID) -> Call[TrainingComparison]:
    """Return a comparison of the caller, with the scores of all trainings that have succeeded so far."""
    return Call("GET", build_path("ml", "compare", comparison_id), read_json(TrainingComparison))


def follow_training_comparison(comparison_id: str | UUID, *, after: str | None = None) -> Call[httpx2.Response]:
    """Open the event stream of a comparison after the event with the id `after`."""
    path = build_path("ml", "compare", comparison_id, "events")
    return Call("GET", path, keep_streaming, headers=event_stream_headers(after), streamed=True)


def page_training_comparisons(
    *, project_id: str | UUID | None = None, page: int = 1, page_size: int = 12
) -> Call[TrainingComparisonPage]:
    """Return one page of the caller's comparisons, of one project or of all projects, newest first."""
    query = {"project_id": project_id, "page": page, "page_size": page_size}
    return Call("GET", build_path("ml", "compare"), read_json(TrainingComparisonPage), query=query)


def cancel_training_comparison(comparison_id: str | UUID) -> Call[TrainingComparison]:
    """Cancel the trainings of a comparison that have not ended."""
    return Call("POST", build_path("ml", "compare", comparison_id, "cancel"), read_json(TrainingComparison))


def delete_training_comparison(comparison_id: str | UUID) -> Call[None]:
    """Delete a comparison that has ended; its trainings are kept."""
    return Call("DELETE", build_path("ml", "compare", comparison_id), read_nothing)
