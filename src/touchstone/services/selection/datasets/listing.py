"""Lists of dataset records: parameters, sort order, and encoding as an array, a page or a stream."""

from collections.abc import AsyncIterator, Sequence
from typing import Final
from uuid import UUID

from touchstone.ranking.query.sort_order import RELEVANCE, SORT_KEYS
from touchstone.services.selection.assurance import ASSURANCE
from touchstone.services.selection.catalog.list_ids import SortOrder
from touchstone.services.selection.catalog.live_catalog import LiveCatalog
from touchstone.services.selection.datasets.encoded_records import encode_members
from touchstone.services.selection.datasets.list_cursors import CURSOR
from touchstone.services.selection.filters import FILTER_PARAMETERS
from touchstone.services.selection.paging import PAGE_PARAMETERS, PageInfo
from touchstone.services.selection.parameters import Parameter, ParameterTable, ParameterType, ParameterValues
from touchstone.services.selection.response_size_limit import ByteBudget

STREAM_CHUNK: Final = 500

_SORT_BY: Final = Parameter(
    name="sort_by",
    type=ParameterType.CHOICE,
    description="Sort key. Records without a value come last, and ties are sorted by id. `relevance` refers to `q`.",
    choices=(*SORT_KEYS, RELEVANCE),
    default="id",
)
_SORT_ORDER: Final = Parameter(
    name="sort_order",
    type=ParameterType.CHOICE,
    description="Direction, by default `desc` for `relevance` and `asc` for other keys.",
    choices=("asc", "desc"),
)
LIST_PARAMETERS: Final = ParameterTable(
    *FILTER_PARAMETERS.parameters, *PAGE_PARAMETERS.parameters, CURSOR, _SORT_BY, _SORT_ORDER, ASSURANCE
)
# An export has the same parameters as a list, except for paging.
CATALOG_EXPORT_PARAMETERS: Final = ParameterTable(*FILTER_PARAMETERS.parameters, _SORT_BY, _SORT_ORDER, ASSURANCE)


def parse_sort_order(values: ParameterValues) -> SortOrder:
    """Return the sort order in the parsed query parameters, or ascending by id if they contain none.

    For relevance the default is descending, so that the most relevant records come first.
    """
    key = _SORT_BY.text_in(values)
    default_order = "desc" if key == RELEVANCE else "asc"
    is_descending = _SORT_ORDER.text_in(values, default_order) == "desc"
    return SortOrder(key, is_descending)


def encode_list(bodies: Sequence[bytes], page_info: PageInfo | None) -> bytes:
    """Return the JSON of a list of encoded records.

    Without `page_info`, this is an array. Otherwise it is an object with the array and the numbers of the page.
    """
    records = b",".join(bodies)
    if page_info is None:
        return b"[" + records + b"]"

    return b'{"datasets":[' + records + b"]," + encode_members(page_info)


async def stream_records(catalog: LiveCatalog, ids: Sequence[int], viewer: UUID | None) -> AsyncIterator[bytes]:
    """Yield the JSON of a long array of records in chunks, so that memory use is bounded.

    Records that the viewer may not see, or that have been deleted in the meantime, are left out.
    """
    budget = ByteBudget()
    has_begun = False
    for start in range(0, len(ids), STREAM_CHUNK):
        chunk_ids = ids[start : start + STREAM_CHUNK]
        bodies = await catalog.records.record_bodies(chunk_ids, viewer, budget)
        if not bodies:
            continue

        separator = b"," if has_begun else b"["
        yield separator + b",".join(bodies)
        has_begun = True

    yield b"]" if has_begun else b"[]"
