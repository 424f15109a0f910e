"""Lists of dataset records: their sort order, and their encoding as a bare array, a page or a stream."""

from collections.abc import AsyncIterator, Sequence
from typing import Final
from uuid import UUID

import msgspec

from touchstone.ranking.query.sort_order import SORT_KEYS
from touchstone.services.selection.filters import FILTER_PARAMETERS
from touchstone.services.selection.live_catalog import ByteBudget, LiveCatalog, SortOrder
from touchstone.services.selection.paging import PAGE_PARAMETERS, PageInfo
from touchstone.services.selection.parameters import Parameter, Parameters, ParameterType, ParameterValues

STREAM_CHUNK: Final = 500

_SORT_BY: Final = Parameter(
    name="sort_by",
    type=ParameterType.CHOICE,
    description="Sort key; records without the value come last, ties by id.",
    choices=tuple(SORT_KEYS),
    default="id",
)
_SORT_ORDER: Final = Parameter(
    name="sort_order",
    type=ParameterType.CHOICE,
    description="Direction.",
    choices=("asc", "desc"),
    default="asc",
)
LIST_PARAMETERS: Final = Parameters(*FILTER_PARAMETERS.rows, *PAGE_PARAMETERS.rows, _SORT_BY, _SORT_ORDER)


def parse_sort_order(values: ParameterValues) -> SortOrder:
    """Return the sort order that the values of the sort parameters ask for."""
    key = values.get(_SORT_BY.name, _SORT_BY.default)
    return SortOrder(str(key), is_descending=values.get(_SORT_ORDER.name) == "desc")


def encode_list(bodies: Sequence[bytes], page_info: PageInfo | None) -> bytes:
    """Return the JSON of a list: a bare array, or an object in the page form."""
    records = b",".join(bodies)
    if page_info is None:
        return b"[" + records + b"]"

    return b'{"datasets":[' + records + b"]," + msgspec.json.encode(page_info)[1:]


async def stream_records(catalog: LiveCatalog, ids: Sequence[int], viewer: UUID | None) -> AsyncIterator[bytes]:
    """Yield the JSON of a long bare array, `STREAM_CHUNK` records at a time."""
    budget = ByteBudget()
    separator = b"["
    for start in range(0, len(ids), STREAM_CHUNK):
        bodies = await catalog.record_bodies(ids[start : start + STREAM_CHUNK], viewer, budget)
        if bodies:
            yield separator + b",".join(bodies)
            separator = b","

    is_empty = separator == b"["
    yield b"[]" if is_empty else b"]"
