"""A cache of the declarers of recently shown datasets."""

import time
from collections.abc import Collection, Mapping
from typing import Final

from touchstone.client.evidence_models import Person

_LIFETIME_SECONDS: Final = 60.0  # a changed name appears after at most this time
_MAX_ENTRIES: Final = 10_000


class DeclarerCache:
    """The declarers of datasets by id, cached for a minute, or None for a record of the service."""

    def __init__(self) -> None:
        self._entries: dict[int, tuple[float, Person | None]] = {}

    def known(self, dataset_ids: Collection[int]) -> dict[int, Person | None]:
        """Return the declarers of the datasets that are in the cache, by dataset id."""
        oldest = time.monotonic() - _LIFETIME_SECONDS
        declarers = {}
        for dataset_id in dataset_ids:
            entry = self._entries.get(dataset_id)
            if entry is not None and entry[0] >= oldest:
                declarers[dataset_id] = entry[1]
        return declarers

    def remember(self, declarers: Mapping[int, Person | None]) -> None:
        """Store the declarers of datasets, and evict all others if the cache would become too large."""
        if len(self._entries) + len(declarers) > _MAX_ENTRIES:
            self._entries.clear()

        now = time.monotonic()
        for dataset_id, person in declarers.items():
            self._entries[dataset_id] = (now, person)
