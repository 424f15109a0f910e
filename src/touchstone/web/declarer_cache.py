"""A cache of the declarers of recently shown datasets.

The declarer of a dataset is the person who has created its record.
"""

import time
from collections.abc import Collection, Mapping
from typing import Final

from touchstone.client.evidence_models import Person

_LIFETIME_SECONDS: Final = 60.0  # the longest time until a changed name appears
_MAX_ENTRIES: Final = 10_000


class DeclarerCache:
    """The declarers of datasets by dataset id, cached for a minute.

    The declarer is None if the service itself has created the record, or if the dataset no longer exists.
    """

    def __init__(self) -> None:
        self._entries: dict[int, tuple[float, Person | None]] = {}

    def get_many(self, dataset_ids: Collection[int]) -> dict[int, Person | None]:
        """Return the declarers of those datasets that are in the cache."""
        oldest_valid_time = time.monotonic() - _LIFETIME_SECONDS
        declarers = {}
        for dataset_id in dataset_ids:
            if dataset_id not in self._entries:
                continue
            stored_at, person = self._entries[dataset_id]
            if stored_at >= oldest_valid_time:
                declarers[dataset_id] = person
        return declarers

    def store(self, declarers: Mapping[int, Person | None]) -> None:
        """Store the declarers of datasets.

        If the cache would become too large, all other entries are evicted first.
        """
        if len(self._entries) + len(declarers) > _MAX_ENTRIES:
            self._entries.clear()

        now = time.monotonic()
        for dataset_id, person in declarers.items():
            self._entries[dataset_id] = (now, person)
