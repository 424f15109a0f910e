"""The routes of datasets and files. Handlers convert, call and convert; the hot ones answer bytes."""

import asyncio
from typing import Any, Final

import msgspec
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from touchstone.http.backend_auth import caller_of
from touchstone.http.conditional import is_not_modified, parse_if_match
from touchstone.http.responses import BINARY_CONTENT, OCTET_STREAM, JsonResponse
from touchstone.http.routing import strict_router
from touchstone.http.unknown_names import unknown_value_error
from touchstone.services.selection.datasets.editor import check_author
from touchstone.services.selection.datasets.facets_view import criteria_shown, facets_shown
from touchstone.services.selection.datasets.listing import CHUNK, listed, page_body, search_query, searched, stream
from touchstone.services.selection.datasets.ranked_response import answer, ranked
from touchstone.services.selection.datasets.records import Entry
from touchstone.services.selection.datasets.scoring_request import SCORE_PARAMETERS, scoring_of
from touchstone.services.selection.datasets.sort_and_page import LIST_PARAMETERS, window_of
from touchstone.services.selection.files.uploads import UPLOAD_PARAMETERS
from touchstone.services.selection.filters import FILTER_PARAMETERS, query_of
from touchstone.services.selection.live_catalog import PageRoom
from touchstone.services.selection.openapi import ETAG, LOCATION, TOTAL_COUNT, UNCHANGED, described
from touchstone.services.selection.request_context import (
    DatasetKey,
    body_of,
    json_body,
    owner_of,
    parts_of,
    query_values,
    viewer_of,
    visible_entry,
)
from touchstone.services.selection.schemas import (
    TAGS,
    DatasetChange,
    DatasetPageView,
    DatasetView,
    DatasetWanted,
    FilesView,
    FileView,
    RankingView,
    ScoredView,
    SearchCriteria,
    SourceView,
)

datasets = strict_router(prefix="/datasets", tags=["datasets"])
files = strict_router(prefix="/files", tags=["files"])
_CRITERIA: Final = msgspec.json.encode(criteria_shown())
_UPLOAD_BODY: Final[dict[str, Any]] = {
    "required": True,
    "content": {
        "multipart/form-data": {
            "schema": {
                "type": "object",
                "properties": {"file": BINARY_CONTENT[OCTET_STREAM]["schema"]},
                "required": ["file"],
            }
        },
        **BINARY_CONTENT,
    },
}


@datasets.get(
    "/",
    summary="List datasets",
    response_model=list[DatasetView] | DatasetPageView,
    responses={200: {"headers": TOTAL_COUNT}},
    openapi_extra=described(LIST_PARAMETERS),
)
async def list_datasets(request: Request) -> Response:
    """Filter, sort and page on the server; a bare array, or an object when `page` or `page_size` is given.

    Once the records of an answer have taken 4 MiB, a record that does not fit comes with `metadata_omitted: true` and
    without its `metadata`, which reading the record alone gives.
    """
    values, viewer, catalog = query_values(request, LIST_PARAMETERS), viewer_of(request), parts_of(request).catalog
    window = window_of(values)
    found = await listed(catalog, values, window, viewer)
    return JsonResponse(await page_body(catalog, found, window, viewer), headers=_counted(found.total_count))


@datasets.post(
    "/",
    status_code=201,
    summary="Create a dataset",
    response_model=DatasetView,
    responses={201: {"headers": LOCATION | ETAG}},
    openapi_extra=described(body="DatasetCreate"),
)
async def create_dataset(request: Request) -> Response:
    """Put a record into the catalog; its data file is measured when it can be read."""
    wanted = await body_of(request, DatasetWanted)
    made = await parts_of(request).recording.create(wanted, caller_of(request.scope))
    return _record(made, status=201, location=True)


@datasets.post(
    "/search",
    summary="Search datasets",
    response_model=list[DatasetView],
    responses={200: {"headers": TOTAL_COUNT}},
    openapi_extra=described(body="SearchCriteria"),
)
async def search_datasets(request: Request) -> Response:
    """Every record that satisfies all the criteria given, by id; `metadata` may be left out as in the list."""
    wanted, viewer, catalog = await body_of(request, SearchCriteria), viewer_of(request), parts_of(request).catalog
    query = search_query(
        viewer,
        name_contains=wanted.get("name_contains"),
        min_rows=wanted.get("min_rows"),
        tags=_attributes(wanted.get("ethical_tags") or ()),
    )
    ids = await searched(catalog, query)
    if len(ids) > CHUNK:
        return StreamingResponse(
            stream(catalog, ids, viewer), media_type=JsonResponse.media_type, headers=_counted(len(ids))
        )
    bodies = b",".join(await catalog.bodies(ids, viewer, PageRoom()))
    return JsonResponse(b"[" + bodies + b"]", headers=_counted(len(ids)))


@datasets.post(
    "/score",
    summary="Rank datasets by weighted criteria",
    response_model=list[ScoredView] | RankingView,
    responses={200: {"headers": TOTAL_COUNT}},
    openapi_extra=described(SCORE_PARAMETERS, body="ScoringRequest"),
)
async def score_datasets(request: Request) -> Response:
    """By score decreasing, then name, then id; all records that match unless `limit` says otherwise."""
    parts, viewer = parts_of(request), viewer_of(request)
    question = (viewer, request.scope["query_string"], await request.body())
    if remembered := parts.answers.get(parts.catalog.view, question):
        return remembered
    values, scoring = query_values(request, SCORE_PARAMETERS), scoring_of(await json_body(request))
    ranking = await ranked(parts.catalog, scoring, values, viewer)
    response = await answer(ranking, scoring, is_enveloped=values.get("envelope") is True)
    return parts.answers.put(ranking.view, question, response)


@datasets.get(
    "/facets",
    summary="What the current filters leave to choose from",
    response_model=dict[str, Any],
    openapi_extra=described(FILTER_PARAMETERS),
)
async def get_facets(request: Request) -> Response:
    """Values with their counts, flags, and ranges of numbers, over the records that match."""
    query = query_of(query_values(request, FILTER_PARAMETERS), viewer_of(request))
    return JsonResponse(facets_shown(await parts_of(request).catalog.ask(lambda view: view.facets(query))))


@datasets.get("/criteria", summary="The scoring criteria", response_model=dict[str, Any])
async def get_criteria() -> Response:
    """The twelve criteria with their formulas, the named profiles, the sort keys and the attributes."""
    return JsonResponse(_CRITERIA)


@datasets.get(
    "/{dataset_id}",
    summary="Get a dataset",
    response_model=DatasetView,
    responses={200: {"headers": ETAG}, 304: UNCHANGED},
    openapi_extra=described(conditional="If-None-Match"),
)
async def get_dataset(request: Request, dataset_id: DatasetKey) -> Response:
    """One record, by either of its ids."""
    entry = await visible_entry(request, dataset_id)
    unchanged = is_not_modified(request, entry.etag)
    return Response(status_code=304, headers={"ETag": entry.etag}) if unchanged else _record(entry)


@datasets.patch(
    "/{dataset_id}",
    summary="Change a dataset",
    response_model=DatasetView,
    responses={200: {"headers": ETAG}},
    openapi_extra=described(body="DatasetChange", conditional="If-Match"),
)
async def change_dataset(request: Request, dataset_id: DatasetKey) -> Response:
    """For who created the record and for administrators; null clears an optional field."""
    entry, caller = await visible_entry(request, dataset_id), caller_of(request.scope)
    check_author(entry.owner, caller)  # who may not is told so, whatever the body
    wanted, etags = await body_of(request, DatasetChange), parse_if_match(request)
    return _record(await parts_of(request).recording.change(entry.id, wanted, caller, etags=etags))


@datasets.delete(
    "/{dataset_id}",
    status_code=204,
    summary="Delete a dataset",
    openapi_extra=described(conditional="If-Match"),
)
async def delete_dataset(request: Request, dataset_id: DatasetKey) -> Response:
    """For who created the record and for administrators."""
    entry, caller = await visible_entry(request, dataset_id), caller_of(request.scope)
    check_author(entry.owner, caller)  # before the catalog is locked for a write
    await parts_of(request).recording.remove(entry.id, caller, etags=parse_if_match(request))
    return Response(status_code=204)


@datasets.get("/{dataset_id}/source", summary="Where a dataset's data is", response_model=SourceView)
async def get_source(request: Request, dataset_id: DatasetKey) -> Response:
    """For the other backends: the file of a record that the caller may see and that can be opened."""
    entry, parts = await visible_entry(request, dataset_id), parts_of(request)
    record = msgspec.json.decode(entry.body)
    file = await parts.data_files.open(record["file_path"], entry.owner)
    await asyncio.to_thread(file.close)
    return JsonResponse(_source(record))


@files.get("", summary="List one's uploads", response_model=FilesView)
async def list_files(request: Request) -> Response:
    """Newest first, with the bytes that they take and may take together."""
    return JsonResponse(await parts_of(request).uploading.listed(owner_of(request)))


@files.delete("/{file_id}", status_code=204, summary="Delete an upload")
async def delete_file(request: Request, file_id: str) -> Response:
    """Frees its bytes; records that name the file stay, but can no longer be trained on."""
    await parts_of(request).uploading.remove(file_id, owner_of(request))
    return Response(status_code=204)


@files.post(
    "",
    status_code=201,
    summary="Upload a table",
    response_model=FileView,
    openapi_extra=described(UPLOAD_PARAMETERS) | {"requestBody": _UPLOAD_BODY},
)
async def upload_file(request: Request) -> Response:
    """A form with one file, or the file itself with `?name=`; the answer's `file_path` is what a record names."""
    owner = owner_of(request)
    return JsonResponse(await parts_of(request).uploading.keep(request, owner), status_code=201)


def _counted(total: int) -> dict[str, str]:
    return {"X-Total-Count": str(total)}


def _record(entry: Entry, *, status: int = 200, location: bool = False) -> Response:
    headers = {"ETag": entry.etag}
    if location:
        headers["Location"] = f"/datasets/{entry.id}"
    return JsonResponse(entry.body, status_code=status, headers=headers)


def _attributes(tags: Any) -> list[str]:
    for index, tag in enumerate(tags):
        if tag not in TAGS:
            raise unknown_value_error(tag, TAGS, "body", "ethical_tags", index)
    return [TAGS[tag] for tag in tags]


def _source(record: dict[str, Any]) -> dict[str, Any]:
    metadata = record["metadata"] or {}
    target, sensitive = metadata.get("target"), metadata.get("sensitive_columns")
    return {
        "dataset_id": record["id"],
        "uuid": record["dataset_id"],
        "name": record["name"],
        "file_path": record["file_path"],
        "file_type": record["file_type"],
        "target": target if isinstance(target, str) else None,
        "sensitive_columns": [c for c in sensitive if isinstance(c, str)] if isinstance(sensitive, list) else [],
        "record": record,
    }
