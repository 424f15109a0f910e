"""Routes for listing, searching, scoring, creating, reading, changing and deleting dataset records.

Handlers for long lists and rankings return encoded bytes, because validating a response model would take several times
as long as everything else.
"""

import asyncio
from typing import Any, Final

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from touchstone.core.evidence import Assurance
from touchstone.http.conditional import is_not_modified, parse_if_match
from touchstone.http.json_body import parse_json_allowing_infinity
from touchstone.http.responses import ETAG, NOT_MODIFIED, JsonResponse, JsonStream
from touchstone.http.routing import strict_router
from touchstone.services.selection.assurance import (
    ASSURANCE,
    ASSURANCE_PARAMETERS,
    merge_assurances,
    parse_assurance,
)
from touchstone.services.selection.catalog.list_ids import SortOrder
from touchstone.services.selection.catalog_query import build_query, build_ranking_query, build_search_query
from touchstone.services.selection.context import DatasetKey, RequestContext
from touchstone.services.selection.datasets.criteria_and_facets import criteria_json, facets_json
from touchstone.services.selection.datasets.editor import check_may_change
from touchstone.services.selection.datasets.encoded_records import EncodedRecord
from touchstone.services.selection.datasets.list_cursors import link_header, parse_list_window
from touchstone.services.selection.datasets.listing import (
    LIST_PARAMETERS,
    STREAM_CHUNK,
    encode_list,
    parse_sort_order,
    stream_records,
)
from touchstone.services.selection.datasets.ranking_response import RankingResult, score_response
from touchstone.services.selection.datasets.response_cache import CacheKey
from touchstone.services.selection.datasets.schemas import (
    DatasetChange,
    DatasetCreate,
    DatasetPageView,
    DatasetView,
    RankingView,
    ScoredView,
    SearchCriteria,
    SourceView,
)
from touchstone.services.selection.datasets.scoring_request import (
    SCORE_PARAMETERS,
    parse_score_options,
    parse_scoring_request,
)
from touchstone.services.selection.datasets.source_json import source_json
from touchstone.services.selection.datasets.suggestions import (
    SUGGEST_PARAMETERS,
    SuggestionsView,
    parse_suggest_options,
    suggestions_json,
)
from touchstone.services.selection.filters import FILTER_PARAMETERS
from touchstone.services.selection.openapi import LINK, LOCATION, TOTAL_COUNT, describe_operation
from touchstone.services.selection.paging import parse_page_window
from touchstone.services.selection.parameters import ParameterTable
from touchstone.services.selection.response_size_limit import ByteBudget

router = strict_router(prefix="/datasets", tags=["datasets"])
_FACET_PARAMETERS: Final = ParameterTable(*FILTER_PARAMETERS.parameters, ASSURANCE)
_CRITERIA: Final = msgspec.json.encode(criteria_json())


@router.get(
    "/",
    summary="List datasets",
    response_model=list[DatasetView] | DatasetPageView,
    responses={200: {"headers": TOTAL_COUNT | LINK}},
    openapi_extra=describe_operation(LIST_PARAMETERS),
)
async def list_datasets(request: Request) -> Response:
    """Return the records that match the filters, as an array, or as an object if `page` or `page_size` is given.

    The header `Link` contains the addresses of further parts of the list. For an array, the address of the next part
    contains a `cursor`, so that no record is repeated or skipped if others change in the meantime.

    A response contains at most 4 MiB of records with their `metadata`. Records that do not fit have
    `metadata_omitted: true` instead, and can be read one by one.
    """
    # FastAPI would need more time to parse the sixty parameters than it takes to read the list.
    ctx = RequestContext(request)
    values = LIST_PARAMETERS.parse_query(ctx.query_string)
    query = build_query(values, ctx.viewer)
    sort_order = parse_sort_order(values)
    page_window = parse_page_window(values)
    window = parse_list_window(values, sort_order, page_window)
    assurance = parse_assurance(values) or Assurance.DECLARED

    # Only lists without page numbers continue with a cursor.
    is_page = page_window.page is not None
    matches = await ctx.catalog.list_ids(query, sort_order, window, assurance, with_last_place=not is_page)
    bodies = await ctx.catalog.records.record_bodies(matches.ids, ctx.viewer, ByteBudget())

    content = encode_list(bodies, page_window.page_info(matches.total_count))
    link = link_header(ctx.query_string, sort_order, page_window=page_window, window=window, matches=matches)
    return JsonResponse(content, headers=_total_count_header(matches.total_count) | link)


@router.post(
    "/",
    status_code=201,
    summary="Create a dataset",
    response_model=DatasetView,
    responses={201: {"headers": LOCATION | ETAG}},
    openapi_extra=describe_operation(body="DatasetCreate"),
)
async def create_dataset(request: Request) -> Response:
    """Create a record. Its data file is measured if it can be read."""
    ctx = RequestContext(request)
    body = await ctx.body(DatasetCreate)

    record = await ctx.services.datasets.create(body, ctx.caller)

    headers = {"ETag": record.etag, "Location": f"/datasets/{record.id}"}
    return JsonResponse(record.body, status_code=201, headers=headers)


@router.post(
    "/search",
    summary="Search datasets",
    response_model=list[DatasetView],
    responses={200: {"headers": TOTAL_COUNT}},
    openapi_extra=describe_operation(ASSURANCE_PARAMETERS, body="SearchCriteria"),
)
async def search_datasets(request: Request) -> Response:
    """Return all records that satisfy every criterion, ordered by id. `metadata` may be omitted as in the list."""
    ctx = RequestContext(request)
    assurance = parse_assurance(ASSURANCE_PARAMETERS.parse_query(ctx.query_string)) or Assurance.DECLARED
    criteria = await ctx.body(SearchCriteria)

    query = build_search_query(criteria, ctx.viewer)
    matches = await ctx.catalog.list_ids(query, SortOrder("id"), assurance=assurance)

    headers = _total_count_header(matches.total_count)
    if len(matches.ids) > STREAM_CHUNK:
        chunks = stream_records(ctx.catalog, matches.ids, ctx.viewer)
        return JsonStream(chunks, headers=headers)

    bodies = await ctx.catalog.records.record_bodies(matches.ids, ctx.viewer, ByteBudget())
    return JsonResponse(encode_list(bodies, page_info=None), headers=headers)


@router.post(
    "/score",
    summary="Rank datasets by weighted criteria",
    response_model=list[ScoredView] | RankingView,
    responses={200: {"headers": TOTAL_COUNT}},
    openapi_extra=describe_operation(SCORE_PARAMETERS, body="ScoringRequest"),
)
async def score_datasets(request: Request) -> Response:
    """Rank the matching records by descending score, then by name and by id. Without `limit`, return all of them."""
    # This is the hottest route of the service, so the request is only parsed if its response is not cached.
    ctx = RequestContext(request)
    raw_body = await request.body()
    cache_key = CacheKey(ctx.viewer, ctx.locale, ctx.query_string, raw_body)
    cached_response = ctx.services.response_cache.get(ctx.catalog.view, cache_key)
    if cached_response is not None:
        return cached_response

    options = parse_score_options(ctx.query_string)
    scoring = parse_scoring_request(parse_json_allowing_infinity(raw_body))

    query = build_ranking_query(scoring, options, ctx.viewer)
    assurance = merge_assurances(options.assurance, scoring.assurance)
    view, ranked = await ctx.catalog.rank(
        query, scoring.weights, skip=options.skip, limit=options.limit, assurance=assurance
    )

    result = RankingResult(view, ranked, scoring.weights, options, scoring.gates, ctx.locale)
    response = await score_response(result, scoring)
    return ctx.services.response_cache.put(view.declared, cache_key, response)


@router.get(
    "/facets",
    summary="Count the values of the matching datasets",
    response_model=dict[str, Any],
    openapi_extra=describe_operation(_FACET_PARAMETERS),
)
async def get_facets(request: Request) -> Response:
    """Return the values, flags and ranges of numbers of the records that match the filters, with their counts."""
    ctx = RequestContext(request)
    values = _FACET_PARAMETERS.parse_query(ctx.query_string)
    query = build_query(values, ctx.viewer)

    facets = await ctx.catalog.facets(query, parse_assurance(values) or Assurance.DECLARED)

    return JsonResponse(facets_json(facets))


@router.get(
    "/suggest",
    summary="Completions for a search text",
    response_model=SuggestionsView,
    openapi_extra=describe_operation(SUGGEST_PARAMETERS),
)
async def suggest(request: Request) -> Response:
    """Return the names, domains and tasks that have a word beginning with each word of `q`."""
    ctx = RequestContext(request)
    values = SUGGEST_PARAMETERS.parse_query(ctx.query_string)
    text, limit = parse_suggest_options(values)

    suggestions = await ctx.catalog.suggest(text, ctx.viewer, limit)

    return JsonResponse(suggestions_json(suggestions))


@router.get("/criteria", summary="The scoring criteria", response_model=dict[str, Any])
async def get_criteria() -> Response:
    """Return the twelve criteria with their formulas, the weight profiles, sort keys, attributes and gates."""
    return JsonResponse(_CRITERIA)


@router.get(
    "/{dataset_id}",
    summary="Get a dataset",
    response_model=DatasetView,
    responses={200: {"headers": ETAG}, 304: NOT_MODIFIED},
    openapi_extra=describe_operation(conditional_header="If-None-Match"),
)
async def get_dataset(request: Request, dataset_id: DatasetKey) -> Response:
    """Return the record with the given integer id or UUID."""
    ctx = RequestContext(request)
    record = await ctx.load_record(dataset_id)

    if is_not_modified(request, record.etag):
        return Response(status_code=304, headers={"ETag": record.etag})
    return _record_response(record)


@router.patch(
    "/{dataset_id}",
    summary="Change a dataset",
    response_model=DatasetView,
    responses={200: {"headers": ETAG}},
    openapi_extra=describe_operation(body="DatasetChange", conditional_header="If-Match"),
)
async def change_dataset(request: Request, dataset_id: DatasetKey) -> Response:
    """Change the given fields of a record. Null clears an optional field.

    Only its owner or an administrator may do so.
    """
    ctx = RequestContext(request)
    record = await ctx.load_record(dataset_id)

    # Check the permission before the body, so that unauthorized callers get no details about errors in the body.
    check_may_change(record.owner, ctx.caller)
    body = await ctx.body(DatasetChange)

    known_versions = parse_if_match(request)
    changed_record = await ctx.services.datasets.change(record.id, body, ctx.caller, if_match=known_versions)

    return _record_response(changed_record)


@router.delete(
    "/{dataset_id}",
    status_code=204,
    summary="Delete a dataset",
    openapi_extra=describe_operation(conditional_header="If-Match"),
)
async def delete_dataset(request: Request, dataset_id: DatasetKey) -> Response:
    """Delete a record. Only its owner or an administrator may do so."""
    ctx = RequestContext(request)
    record = await ctx.load_record(dataset_id)

    # Unauthorized callers must not even lock the catalog. The permission is checked again under the lock.
    check_may_change(record.owner, ctx.caller)
    await ctx.services.datasets.delete(record.id, ctx.caller, if_match=parse_if_match(request))

    return Response(status_code=204)


@router.get("/{dataset_id}/source", summary="Locate the data of a dataset", response_model=SourceView)
async def get_source(request: Request, dataset_id: DatasetKey) -> Response:
    """Tell another backend where the data file of a record is, after checking that the caller may use it."""
    ctx = RequestContext(request)
    encoded_record = await ctx.load_record(dataset_id)
    record = msgspec.json.decode(encoded_record.body)

    # Open the file to check that the record may refer to it and that it is readable.
    file = await ctx.services.data_files.open(record["file_path"], encoded_record.owner)
    await asyncio.to_thread(file.close)

    evidence = await ctx.services.evidence.read(encoded_record.id, ctx.viewer)
    return JsonResponse(source_json(record, evidence.record, evidence.claims))


def _total_count_header(total_count: int) -> dict[str, str]:
    """Return the header with the number of all matching records."""
    return {"X-Total-Count": str(total_count)}


def _record_response(record: EncodedRecord) -> Response:
    """Return a response with one record and its entity tag."""
    return JsonResponse(record.body, headers={"ETag": record.etag})
