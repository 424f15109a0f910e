"""Public records for readers who have not signed in, such as search engines."""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from touchstone.client import Dataset
from touchstone.http.internal_client import InternalClient

_OK: Final = 200


class PublicRecords:
    """The public records of the catalog, requested without a signed-in user."""

    def __init__(self, selection: InternalClient) -> None:
        self._selection = selection

    async def read(self, dataset_id: int) -> Dataset | None:
        """Return the public record with this id, or None if there is none."""
        response = await self._selection.get(f"/datasets/{dataset_id}", caller=None)
        return msgspec.convert(response.value, Dataset) if response.status == _OK else None

    async def describe(self, dataset_id: int) -> Mapping[str, Any]:
        """Return the schema.org description of a public record, or an empty mapping if it is gone."""
        response = await self._selection.get(f"/datasets/{dataset_id}/export", caller=None, query="format=jsonld")
        return response.value if response.status == _OK else {}
