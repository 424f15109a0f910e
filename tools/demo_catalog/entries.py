"""Entries of the demo catalog: the documents about one dataset, merged into one record with the claims of all."""

import re
import uuid
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from msgspec.structs import replace

from tools.demo_catalog.documents import DescribedDataset
from touchstone.core.evidence import ClaimValue
from touchstone.core.text import fold
from touchstone.demo.packaged_records import PackagedClaim, PackagedSource

NAMESPACE: Final = uuid.uuid5(uuid.NAMESPACE_DNS, "demo.touchstone")
# Shorter names are those of too many datasets.
MIN_NAME_LENGTH: Final = 3
_INSIGNIFICANT: Final = re.compile(r"^_deprecated_|^\d+_|\b(?:the|data ?set|corpus)\b|\([^)]*\)")


@dataclass
class CatalogEntry:
    """A record of the demo catalog under construction.

    Attributes:
        source: the name of its source, in `key` the identifier of the dataset there.
        descriptions: what documents say about the dataset, the preferred one first.
        name: the name of the record, which no other record has.
        facts: values of attributes that no document states in words that can be quoted; they are merely declared.
        details: further members of the record's `metadata`.
        measured: flags and numbers that were computed from the table.
    """

    source_key: str
    key: str
    name: str
    descriptions: list[DescribedDataset] = field(default_factory=list)
    source: dict[str, str] = field(default_factory=dict)
    file_path: str = ""
    file_type: str = ""
    facts: dict[str, Any] = field(default_factory=dict)
    details: dict[str, Any] = field(default_factory=dict)
    measured: dict[str, ClaimValue] = field(default_factory=dict)

    @property
    def dataset_id(self) -> str:
        """The UUID of the record, which is always the same for the same source and key."""
        return str(uuid.uuid5(NAMESPACE, f"{self.source_key}/{self.key}"))

    @property
    def claims(self) -> list[PackagedClaim]:
        """The claims of all documents; their sources are positions in the list of all sources."""
        sources = self.sources
        return [
            replace(claim, source=sources.index(description.sources[claim.source]))
            for description in self.descriptions
            for claim in description.claims
        ]

    @property
    def sources(self) -> list[PackagedSource]:
        """The documents that claims were taken from, each once."""
        return list(
            dict.fromkeys(
                description.sources[claim.source] for description in self.descriptions for claim in description.claims
            )
        )

    def stated_terms(self, attribute: str) -> list[str]:
        """Return the terms that all documents together state for an attribute that is a list of terms, each once."""
        terms = [term for description in self.descriptions for term in description.document.record.get(attribute, [])]
        return list(dict.fromkeys([*self.facts.get(attribute, []), *terms]))

    def first_text(self, attribute: str) -> str:
        """Return the first text that a document states for an attribute, or an empty text."""
        if attribute in self.facts:
            return str(self.facts[attribute] or "")
        texts = (description.document.record.get(attribute) for description in self.descriptions)
        return next((text for text in texts if text), "")

    def metadata_texts(self, name: str) -> list[str]:
        """Return the texts in one member of the `metadata` of all documents, each once."""
        texts: list[str] = []
        for description in self.descriptions:
            value = description.metadata.get(name, [])
            texts += [value] if isinstance(value, str) else value
        return list(dict.fromkeys(texts))


def comparison_key(name: str) -> str:
    """Return what two spellings of the name of one dataset have in common: its letters and digits in lower case."""
    return re.sub(r"[^a-z0-9]", "", _INSIGNIFICANT.sub("", fold(name)))


def start_entry(description: DescribedDataset) -> CatalogEntry:
    """Return an entry with a first description."""
    entry = CatalogEntry(description.source.key, description.document.key, description.name, [description])
    entry.source = source_members(description.sources[0], description.document.key)
    address = description.metadata.get("url")
    if isinstance(address, str):
        entry.source["url"] = address
    return entry


def source_members(source: PackagedSource, key: str) -> dict[str, str]:
    """Return `metadata.source` of a record."""
    return {"kind": source.kind, "name": source.name, "url": source.url, "sha256": source.sha256, "key": key}


def merge_descriptions(descriptions: Iterable[DescribedDataset]) -> list[CatalogEntry]:
    """Return an entry for each dataset, with all descriptions of it.

    Descriptions with the same identifier in the same source are of the same dataset, such as a description of PMLB and
    the line in its table of counts. Between sources those with the same name are, if both sources merge.
    """
    entries: dict[tuple[str, str], CatalogEntry] = {}
    entries_by_name: dict[str, CatalogEntry] = {}
    for description in descriptions:
        identity = (description.source.key, description.document.key)
        names = identifying_names(description)
        entry = entries.get(identity) or find_namesake(description, names, entries_by_name)
        if entry is None:
            entry = start_entry(description)
        else:
            entry.descriptions.append(description)

        entries[identity] = entry
        for name in names:
            entries_by_name.setdefault(name, entry)
    return list({id(entry): entry for entry in entries.values()}.values())


def find_namesake(
    description: DescribedDataset, names: Iterable[str], entries_by_name: dict[str, CatalogEntry]
) -> CatalogEntry | None:
    """Return the entry of the same dataset from other sources, or None."""
    for name in names:
        entry = entries_by_name.get(name)
        if entry is not None and all(other.source.key != description.source.key for other in entry.descriptions):
            return entry
    return None


def identifying_names(description: DescribedDataset) -> list[str]:
    """Return the keys used to match descriptions of the same dataset in different sources."""
    if not description.source.merges or description.is_part:
        return []
    last_step = description.document.key.rstrip("/").rsplit("/", 1)[-1]
    names = dict.fromkeys(comparison_key(name) for name in (last_step, description.name))
    return [name for name in names if len(name) >= MIN_NAME_LENGTH]


def make_names_unique(entries: list[CatalogEntry]) -> None:
    """Add the source, and if need be the identifier, to names that an entry before has already."""
    names: set[str] = set()
    for entry in entries:
        for addition in ("", f" ({entry.source['name']})", f" ({entry.key})"):
            name = f"{entry.name}{addition}"
            if fold(name) not in names:
                break
        entry.name = name
        names.add(fold(name))
