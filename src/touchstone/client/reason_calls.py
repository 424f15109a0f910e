"""API calls for the reasons of a ranking: comparisons, what would raise a dataset, and how robust its rank is."""

from collections.abc import Sequence
from typing import Any, Unpack
from uuid import UUID

from touchstone.client.call import Call, build_path, read_json
from touchstone.client.catalog_calls import Weights, weights_as_json
from touchstone.client.evidence_models import AssuranceName
from touchstone.client.fields import Filters, StabilityOptions
from touchstone.client.reason_models import Comparison, Lifts, Stability


def compare_datasets(
    ids: Sequence[int | str | UUID],
    *,
    weights: Weights = None,
    filters: Filters | None = None,
    assurance: AssuranceName | None = None,
) -> Call[Comparison]:
    """Compare two to five records pair by pair: why one ranks above the other, and what would reverse their order.

    The scores depend on the weights, which are those of `score_datasets`. The filters only decide the ranks.
    """
    body = {"ids": [str(id_) if isinstance(id_, UUID) else id_ for id_ in ids], **_ranking_as_json(weights, filters)}
    path = build_path("datasets", "compare")
    return Call("POST", path, read_json(Comparison), query={"assurance": assurance}, json=body, read_only=True)


def get_lifts(
    dataset_id: int | str | UUID,
    *,
    weights: Weights = None,
    filters: Filters | None = None,
    rank: int | None = None,
    assurance: AssuranceName | None = None,
) -> Call[Lifts]:
    """Return what would raise a record: the score and the rank if each of its attributes were established.

    With `rank`, the response also names a smallest set of attributes that brings the record to this rank.
    """
    body = _ranking_as_json(weights, filters)
    if rank is not None:
        body["rank"] = rank
    path = build_path("datasets", dataset_id, "lifts")
    return Call("POST", path, read_json(Lifts), query={"assurance": assurance}, json=body, read_only=True)


def get_stability(
    filters: Filters | None = None,
    *,
    weights: Weights = None,
    assurance: AssuranceName | None = None,
    **options: Unpack[StabilityOptions],
) -> Call[Stability]:
    """Return how robust the first ranks are: how they change when every weight varies at random.

    The same `seed` gives the same samples.
    """
    body = {**_ranking_as_json(weights, filters), **options}
    path = build_path("datasets", "stability")
    return Call("POST", path, read_json(Stability), query={"assurance": assurance}, json=body, read_only=True)


def _ranking_as_json(weights: Weights, filters: Filters | None) -> dict[str, Any]:
    """Return the members of a request body that describe a ranking: its filters and its weights."""
    return {"filters": dict(filters or {}), **weights_as_json(weights)}
