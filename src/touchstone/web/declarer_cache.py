"""Who has declared the datasets that pages have shown recently."""

import time
from collections.abc import Collection, Mapping
from typing import Final

from touchstone.client.evidence_models import Person

_LIFETIME_SECONDS: Final = 60.0  # after which a changed name appears
_MAX_ENTRIES: Final = 10_000


class DeclarerCache:
    """The declarers of datasets by id, remembered for a minute; None for a record of the service."""

    def __init__(self) -> None:
        self._entries: dict[int, tuple[float, Person | None]] = {}

    def known(self, dataset_ids: Collection[int]) -> dict[int, Person | None]:
        """Return the declarers of those of the datasets that are remembered."""
        oldest = time.monotonic() - _LIFETIME_SECONDS
        declarers = {}
        for dataset_id in dataset_ids:
            entry = self._entries.get(dataset_id)
            if entry is not None and entry[0] >= oldest:
                declarers[dataset_id] = entry[1]
        return declarers

    def remember(self, declarers: Mapping[int, Person | None]) -> None:
        """Remember the declarers of datasets; forget all others if they become too many."""
        if len(self._entries) + len(declarers) > _MAX_ENTRIES:
            self._entries.clear()

        now = time.monotonic()
        for dataset_id, person in declarers.items():
            self._entries[dataset_id] = (now, person)
