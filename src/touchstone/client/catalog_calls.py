"""API calls for datasets, files and projects."""

from collections.abc import Mapping, Sequence
from typing import Any, BinaryIO, Final, Literal, Unpack
from urllib.parse import parse_qs, urlsplit
from uuid import UUID

import httpx2
import msgspec

from touchstone.client.call import (
    Call,
    build_path,
    if_match_header,
    read_json,
    read_json_with_etag,
    read_nothing,
    without_none,
)
from touchstone.client.evidence_models import AssuranceName
from touchstone.client.fields import (
    CriterionWeights,
    DatasetAttributes,
    DatasetFields,
    Filters,
    GateChoice,
    Gates,
    ProjectChanges,
    ProjectFields,
    ScoringOptions,
    SearchFilters,
)
from touchstone.client.models import (
    Dataset,
    DatasetPage,
    File,
    Files,
    Project,
    ProjectPage,
    Ranking,
    Recommendations,
    Suggestions,
)

Weights = CriterionWeights | str | None  # a string is the name of a weight profile
Order = Literal["asc", "desc"]
DATASETS_PATH: Final = build_path("datasets") + "/"
BINARY_MEDIA_TYPE: Final = "application/octet-stream"


def list_datasets(
    *,
    skip: int = 0,
    limit: int = 100,
    sort_by: str | None = None,
    sort_order: Order | None = None,
    assurance: AssuranceName | None = None,
    **filters: Unpack[Filters],
) -> Call[list[Dataset]]:
    """List up to 1000 records that match the filters, ordered by id unless a sort key is given.

    Filters and sort keys treat values that are supported by weaker evidence than `assurance` as unknown. The returned
    records contain all values.
    """
    order = {"sort_by": sort_by, "sort_order": sort_order}
    query = {"skip": skip, "limit": limit, **order, "assurance": assurance, **filters}
    return Call("GET", DATASETS_PATH, read_json(list[Dataset]), query=query)


class DatasetPart(msgspec.Struct, frozen=True):
    """A part of a list of datasets.

    Attributes:
        next_query: the query parameters that request the next part, or None if this is the last one.
    """

    datasets: list[Dataset]
    next_query: Mapping[str, Any] | None


def list_datasets_part(query: Mapping[str, Any]) -> Call[DatasetPart]:
    """Return a part of the list of datasets; the parameters in `query` include `limit`."""
    read_datasets = read_json(list[Dataset])

    def read(response: httpx2.Response) -> DatasetPart:
        datasets = read_datasets(response)
        return DatasetPart(datasets, _next_query(response, query, len(datasets)))

    return Call("GET", DATASETS_PATH, read, query=query)


def _next_query(response: httpx2.Response, query: Mapping[str, Any], record_count: int) -> Mapping[str, Any] | None:
    """Return the query parameters that request the part after a response, or None after the last part.

    The header `Link` contains the address of the next part. Older versions of the service do not send it, so `skip` is
    increased instead.
    """
    if "link" not in response.headers:
        if record_count < query["limit"]:
            return None
        return {**query, "skip": query.get("skip", 0) + record_count}

    next_link = response.links.get("next")
    if next_link is None:
        return None
    return parse_qs(urlsplit(next_link["url"]).query, keep_blank_values=True)


def page_datasets(
    *,
    page: int = 1,
    page_size: int = 12,
    sort_by: str | None = None,
    sort_order: Order | None = None,
    assurance: AssuranceName | None = None,
    **filters: Unpack[Filters],
) -> Call[DatasetPage]:
    """Return one page of the records that match the filters, with their total number."""
    order = {"sort_by": sort_by, "sort_order": sort_order}
    query = {"page": page, "page_size": page_size, **order, "assurance": assurance, **filters}
    return Call("GET", DATASETS_PATH, read_json(DatasetPage), query=query)


def get_dataset(dataset_id: int | str | UUID) -> Call[Dataset]:
    """Return the record with this integer id or UUID."""
    return Call("GET", build_path("datasets", dataset_id), read_json_with_etag(Dataset))


def create_dataset(
    name: str,
    description: str = "",
    *,
    file_path: str = "",
    file_type: str = "",
    **attributes: Unpack[DatasetAttributes],
) -> Call[Dataset]:
    """Create a record; the service measures its data file if the file can be read."""
    body = {"name": name, "description": description, "file_path": file_path, "file_type": file_type, **attributes}
    return Call("POST", DATASETS_PATH, read_json_with_etag(Dataset), json=body)


def update_dataset(
    dataset_id: int | str | UUID, *, etag: str | None = None, **changes: Unpack[DatasetFields]
) -> Call[Dataset]:
    """Change fields of a record of the caller; with `etag`, only if the record still has this version."""
    path = build_path("datasets", dataset_id)
    return Call("PATCH", path, read_json_with_etag(Dataset), json=changes, headers=if_match_header(etag))


def delete_dataset(dataset_id: int | str | UUID, *, etag: str | None = None) -> Call[None]:
    """Delete a record of the caller; with `etag`, only if the record still has this version."""
    return Call("DELETE", build_path("datasets", dataset_id), read_nothing, headers=if_match_header(etag))


def search_datasets(
    *,
    name_contains: str | None = None,
    min_rows: int | None = None,
    ethical_tags: Sequence[str] | None = None,
    assurance: AssuranceName | None = None,
    **filters: Unpack[SearchFilters],
) -> Call[list[Dataset]]:
    """Return every record that satisfies all criteria, ordered by id."""
    criteria = {"name_contains": name_contains, "min_rows": min_rows, "ethical_tags": ethical_tags}
    body = without_none(**criteria, **filters)
    query = {"assurance": assurance}
    path = build_path("datasets", "search")
    return Call("POST", path, read_json(list[Dataset]), query=query, json=body, read_only=True)


def score_datasets(
    filters: Filters | None = None,
    *,
    weights: Weights = None,
    gates: Gates | None = None,
    **options: Unpack[ScoringOptions],
) -> Call[Ranking]:
    """Rank the records that match the filters, best first.

    `weights` maps criteria to their weights, is a list such as the weights of a project, or is the name of a weight
    profile; the default profile is `balanced`.
    `limit` and `skip` select the part of the ranking that is returned. With `explain`, each item contains its criterion
    scores and the points that add up to its score. Values that are supported by weaker evidence than `assurance` count
    as unknown; by default, every declared value counts.

    The `gates` are requirements that do not affect the score. Each item contains the outcome of every gate. With
    `gate="pass"`, only records that pass all gates are ranked.
    """
    path = build_path("datasets", "score")
    query = {"envelope": True, **options}
    body = ranking_body(filters, weights, gates)
    return Call("POST", path, read_json(Ranking), query=query, json=body, read_only=True)


def ranking_body(filters: Filters | None, weights: Weights, gates: Gates | None) -> dict[str, Any]:
    """Return the body of a scoring request."""
    return {"filters": dict(filters or {}), "gates": dict(gates or {}), **weights_body(weights)}


def weights_body(weights: Weights) -> dict[str, Any]:
    """Return the member of a scoring request for weights or a weight profile, or an empty mapping for None."""
    if weights is None:
        return {}
    if isinstance(weights, str):
        return {"profile": weights}
    return {"weights": _weight_list(weights)}


def _weight_list(weights: CriterionWeights) -> list[dict[str, Any]]:
    """Return weights as the list that the API expects."""
    if not isinstance(weights, Mapping):
        return [msgspec.to_builtins(item) for item in weights]
    return [{"criterion_name": criterion_name, "weight": weight} for criterion_name, weight in weights.items()]


def get_facets(*, assurance: AssuranceName | None = None, **filters: Unpack[Filters]) -> Call[dict[str, Any]]:
    """Count the values of the records that match the filters.

    The result has the form `{total_count, values: {facet: [{value, count}]}, flags: {flag: {true, false, unknown}},
    ranges: {number: {min, max}}}`. A range is None if no record has a value of this number.
    """
    query = {"assurance": assurance, **filters}
    return Call("GET", build_path("datasets", "facets"), read_json(dict[str, Any]), query=query)


def suggest(q: str, *, limit: int = 10) -> Call[Suggestions]:
    """Suggest names, domains and tasks of the catalog that complete the words in `q`."""
    return Call("GET", build_path("datasets", "suggest"), read_json(Suggestions), query={"q": q, "limit": limit})


def get_criteria() -> Call[dict[str, Any]]:
    """Return the criteria, weight profiles and sort keys, with labels in French and English.

    The result has the form `{criteria: [{name, kind, label, formula}], profiles: [{name, label, weights, default}],
    sort_keys, attributes, gates: [{name, type, choices}]}`.
    """
    return Call("GET", build_path("datasets", "criteria"), read_json(dict[str, Any]))


def upload_file(content: BinaryIO | bytes, name: str) -> Call[File]:
    """Upload a table in the format of the suffix of `name`, such as CSV or Parquet, for use in a record.

    The `file_path` of the result is the value for the field `file_path` of a record.
    """
    return Call("POST", build_path("files"), read_json(File), files={"file": (name, content, BINARY_MEDIA_TYPE)})


def list_files() -> Call[Files]:
    """List the uploads of the caller, newest first."""
    return Call("GET", build_path("files"), read_json(Files))


def delete_file(file_id: str | UUID) -> Call[None]:
    """Delete an upload; records that refer to it are kept, but can no longer be trained on."""
    return Call("DELETE", build_path("files", file_id), read_nothing)


def list_projects(*, skip: int = 0, limit: int = 100) -> Call[list[Project]]:
    """List up to 1000 projects of the caller, most recently changed first."""
    return Call("GET", build_path("projects"), read_json(list[Project]), query={"skip": skip, "limit": limit})


def page_projects(*, page: int = 1, page_size: int = 12) -> Call[ProjectPage]:
    """Return one page of the projects of the caller, most recently changed first."""
    return Call("GET", build_path("projects"), read_json(ProjectPage), query={"page": page, "page_size": page_size})


def get_project(project_id: str | UUID) -> Call[Project]:
    """Return a project of the caller."""
    return Call("GET", build_path("projects", project_id), read_json_with_etag(Project))


def create_project(name: str, **fields: Unpack[ProjectFields]) -> Call[Project]:
    """Create a project."""
    body = {"name": name, **_project_body(fields)}
    return Call("POST", build_path("projects"), read_json_with_etag(Project), json=body)


def update_project(
    project_id: str | UUID, *, etag: str | None = None, **changes: Unpack[ProjectChanges]
) -> Call[Project]:
    """Change fields of a project; with `etag`, only if the project still has this version."""
    path = build_path("projects", project_id)
    return Call("PUT", path, read_json_with_etag(Project), json=_project_body(changes), headers=if_match_header(etag))


def delete_project(project_id: str | UUID, *, etag: str | None = None) -> Call[None]:
    """Delete a project; with `etag`, only if the project still has this version."""
    return Call("DELETE", build_path("projects", project_id), read_nothing, headers=if_match_header(etag))


def get_recommendations(
    project_id: str | UUID,
    *,
    limit: int | None = None,
    skip: int | None = None,
    assurance: AssuranceName | None = None,
    gate: GateChoice | None = None,
) -> Call[Recommendations]:
    """Rank the catalog by the criteria and weights of a project, with explanations.

    Values that are supported by weaker evidence than `assurance` count as unknown; the default is the level of the
    project. With `gate="pass"`, only records that pass all gates of the project are ranked.
    """
    path = build_path("projects", project_id, "recommendations")
    query = {"limit": limit, "skip": skip, "assurance": assurance, "gate": gate}
    return Call("GET", path, read_json(Recommendations), query=query)


def _project_body(fields: ProjectFields | ProjectChanges) -> dict[str, Any]:
    """Return the fields of a project as a request body, with weights as a list."""
    body: dict[str, Any] = dict(fields)
    weights = fields.get("weights")
    if weights is not None:
        body["weights"] = _weight_list(weights)
    return body
