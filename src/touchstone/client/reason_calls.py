"""API calls for the reasons of a ranking.

- `compare_datasets`: why does one dataset rank above another, and which weights would reverse their order?
- `get_lifts`: how much better would a dataset rank if more of its attributes were verified?
- `get_stability`: would the first datasets keep their ranks if the weights were slightly different?

All three describe the ranking like `score_datasets`: by its filters, its weights, the weakest evidence that counts
(`assurance`), and its gates, with `gate="pass"` if only datasets that pass them are ranked.
"""

from collections.abc import Sequence
from typing import Any, Unpack
from uuid import UUID

from touchstone.client.call import Call, build_path, read_json, without_none
from touchstone.client.catalog_calls import Weights, weights_body
from touchstone.client.fields import Filters, RankingRequirements, StabilityOptions, StabilityParameters
from touchstone.client.reason_models import Comparison, Lifts, Stability


def compare_datasets(
    ids: Sequence[int | str | UUID],
    *,
    weights: Weights = None,
    filters: Filters | None = None,
    **requirements: Unpack[RankingRequirements],
) -> Call[Comparison]:
    """Explain the order of two to five datasets, and find the weights that would reverse it.

    The response contains every pair of these datasets, with their differences in each criterion. The scores depend on
    `weights` and `assurance`. The `filters` and the gates affect only the ranks: a dataset that does not match them is
    also compared, but has no rank.
    """
    body = {"ids": list(ids), **_ranking_body(filters, weights, requirements)}
    path = build_path("datasets", "compare")
    query = _query_parameters(requirements)
    return Call("POST", path, read_json(Comparison), query=query, json=body, read_only=True)


def get_lifts(
    dataset_id: int | str | UUID,
    *,
    weights: Weights = None,
    filters: Filters | None = None,
    rank: int | None = None,
    **requirements: Unpack[RankingRequirements],
) -> Call[Lifts]:
    """Return the lifts of a dataset: its score and rank if one more of its attributes were verified.

    There is one lift for each yes-or-no attribute without its best value, such as unconfirmed informed consent. If
    `rank` is given, the response also contains a minimal set of attributes that would bring the dataset to this rank,
    and a sentence about them.
    """
    body = {**_ranking_body(filters, weights, requirements), **without_none(rank=rank)}
    path = build_path("datasets", dataset_id, "lifts")
    query = _query_parameters(requirements)
    return Call("POST", path, read_json(Lifts), query=query, json=body, read_only=True)


def get_stability(
    filters: Filters | None = None,
    *,
    weights: Weights = None,
    **parameters: Unpack[StabilityParameters],
) -> Call[Stability]:
    """Test whether the first `k` datasets of a ranking would keep their ranks if the weights were slightly different.

    The service repeats the ranking `samples` times. Each time, it raises or lowers every weight at random, by at most
    the share `spread`. The same `seed` gives the same result. With `unknown_ranks`, the response also contains the best
    and the worst rank that unknown ethical attributes allow.
    """
    options = {name: value for name, value in parameters.items() if name in StabilityOptions.__annotations__}
    body = {**_ranking_body(filters, weights, parameters), **options}
    path = build_path("datasets", "stability")
    query = _query_parameters(parameters)
    return Call("POST", path, read_json(Stability), query=query, json=body, read_only=True)


def _ranking_body(filters: Filters | None, weights: Weights, requirements: RankingRequirements) -> dict[str, Any]:
    """Return the members of a request body that describe a ranking."""
    gates = requirements.get("gates") or {}
    return {"filters": dict(filters or {}), "gates": dict(gates), **weights_body(weights)}


def _query_parameters(requirements: RankingRequirements) -> dict[str, str | None]:
    """Return the query parameters for the requirements of a ranking."""
    return {"assurance": requirements.get("assurance"), "gate": requirements.get("gate")}
