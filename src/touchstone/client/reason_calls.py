"""API calls that ask for the reasons of a ranking.

- `compare_datasets`: why does one dataset rank above another, and which weights would reverse their order?
- `get_lifts`: how much better would a dataset rank if more were established about it?
- `get_stability`: would the first datasets keep their ranks if the weights were slightly different?

All three describe the ranking in the same way as `score_datasets`: by its filters, its weights, the weakest evidence
that counts (`assurance`), and its gates with `gate="pass"` if the ranking has only the datasets that pass them.
"""

from collections.abc import Sequence
from typing import Any, Unpack
from uuid import UUID

from touchstone.client.call import Call, build_path, read_json, without_none
from touchstone.client.catalog_calls import Weights, weights_as_json
from touchstone.client.fields import Filters, RankingRequirements, StabilityOptions, StabilityParameters
from touchstone.client.reason_models import Comparison, Lifts, Stability


def compare_datasets(
    ids: Sequence[int | str | UUID],
    *,
    weights: Weights = None,
    filters: Filters | None = None,
    **requirements: Unpack[RankingRequirements],
) -> Call[Comparison]:
    """Compare two to five datasets, to learn why one ranks above another and which weights would reverse their order.

    The response has every pair of these datasets, with their differences in each criterion. The scores depend on
    `weights` and `assurance`. The `filters` and the gates affect only the ranks: a dataset that does not match them is
    compared as well, but has no rank.
    """
    # JSON has no UUIDs, so they are sent as texts.
    json_ids = [str(dataset_id) if isinstance(dataset_id, UUID) else dataset_id for dataset_id in ids]
    body = {"ids": json_ids, **_describe_ranking(filters, weights, requirements)}
    path = build_path("datasets", "compare")
    query = _query_of(requirements)
    return Call("POST", path, read_json(Comparison), query=query, json=body, read_only=True)


def get_lifts(
    dataset_id: int | str | UUID,
    *,
    weights: Weights = None,
    filters: Filters | None = None,
    rank: int | None = None,
    **requirements: Unpack[RankingRequirements],
) -> Call[Lifts]:
    """Return the lifts of a dataset: how much better it would rank if more were established about it.

    There is one lift for each yes-or-no attribute that does not have its best value yet, such as informed consent that
    nobody has confirmed. It gives the score and the rank that the dataset would have with this value. If `rank` is
    given, the response also has a smallest set of attributes that brings the dataset to this rank, and a sentence about
    them.
    """
    body = {**_describe_ranking(filters, weights, requirements), **without_none(rank=rank)}
    path = build_path("datasets", dataset_id, "lifts")
    query = _query_of(requirements)
    return Call("POST", path, read_json(Lifts), query=query, json=body, read_only=True)


def get_stability(
    filters: Filters | None = None,
    *,
    weights: Weights = None,
    **parameters: Unpack[StabilityParameters],
) -> Call[Stability]:
    """Test whether the first `k` datasets of a ranking would keep their ranks if the weights were slightly different.

    The service repeats the ranking `samples` times. Each time, it raises or lowers every weight at random, by at most
    the share `spread`. The random numbers start from `seed`, so the same seed gives the same result. With
    `unknown_ranks`, the response also has the best and the worst rank that unknown ethical attributes allow.
    """
    options = {name: value for name, value in parameters.items() if name in StabilityOptions.__annotations__}
    body = {**_describe_ranking(filters, weights, parameters), **options}
    path = build_path("datasets", "stability")
    query = _query_of(parameters)
    return Call("POST", path, read_json(Stability), query=query, json=body, read_only=True)


def _describe_ranking(filters: Filters | None, weights: Weights, requirements: RankingRequirements) -> dict[str, Any]:
    """Return the members of a body that describe a ranking."""
    gates = requirements.get("gates") or {}
    return {"filters": dict(filters or {}), "gates": dict(gates), **weights_as_json(weights)}


def _query_of(requirements: RankingRequirements) -> dict[str, str | None]:
    """Return what a ranking requires as the query of a request."""
    return {"assurance": requirements.get("assurance"), "gate": requirements.get("gate")}
