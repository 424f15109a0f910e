"""Public records for readers who have not signed in, such as search engines."""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from touchstone.client import Dataset
from touchstone.http.internal_client import InternalClient

_OK: Final = 200


class PublicRecords:
    """The records of the catalog that everybody may read."""

    def __init__(self, selection: InternalClient) -> None:
        self._selection = selection

    async def read(self, dataset_id: int) -> Dataset | None:
        """Return a public record, or None if there is none with this id."""
        response = await self._selection.get(f"/datasets/{dataset_id}", caller=None)
        return msgspec.convert(response.value, Dataset) if response.status == _OK else None

    async def describe(self, dataset_id: int) -> Mapping[str, Any]:
        """Return the schema.org description of a public record, which is empty if the record is gone."""
        response = await self._selection.get(f"/datasets/{dataset_id}/export", caller=None, query="format=jsonld")
        return response.value if response.status == _OK else {}
