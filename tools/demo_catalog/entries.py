"""Entries of the demo catalog, which merge all documents about one dataset."""

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
# Shorter names are too ambiguous for matching datasets.
MIN_NAME_LENGTH: Final = 3
_INSIGNIFICANT: Final = re.compile(r"^_deprecated_|^\d+_|\b(?:the|data ?set|corpus)\b|\([^)]*\)")


@dataclass
class CatalogEntry:
    """A record of the demo catalog under construction.

    Attributes:
        source_key: the key of its source.
        key: the identifier of the dataset in its source.
        name: the unique name of the record.
        descriptions: the descriptions of the dataset in the order of preference.
        source: the member `source` of the record's metadata.
        facts: values of attributes without a quotable document, which only count as declared.
        details: further members of the record's metadata.
        measured: flags and numbers computed from the table.
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
        """The UUID of the record, derived from its source and key."""
        return str(uuid.uuid5(NAMESPACE, f"{self.source_key}/{self.key}"))

    @property
    def claims(self) -> list[PackagedClaim]:
        """The claims of all documents. Their `source` is an index in `sources`."""
        sources = self.sources
        return [
            replace(claim, source=sources.index(description.sources[claim.source]))
            for description in self.descriptions
            for claim in description.claims
        ]

    @property
    def sources(self) -> list[PackagedSource]:
        """The distinct source documents of the claims."""
        return list(
            dict.fromkeys(
                description.sources[claim.source] for description in self.descriptions for claim in description.claims
            )
        )

    def stated_terms(self, attribute: str) -> list[str]:
        """Return the distinct terms that all documents state for a list attribute."""
        terms = [term for description in self.descriptions for term in description.document.record.get(attribute, [])]
        return list(dict.fromkeys([*self.facts.get(attribute, []), *terms]))

    def first_string(self, attribute: str) -> str:
        """Return the first value that a document states for a string attribute, or an empty string."""
        if attribute in self.facts:
            return str(self.facts[attribute] or "")
        texts = (description.document.record.get(attribute) for description in self.descriptions)
        return next((text for text in texts if text), "")

    def metadata_strings(self, name: str) -> list[str]:
        """Return the distinct strings in one metadata member of all documents."""
        texts: list[str] = []
        for description in self.descriptions:
            value = description.metadata.get(name, [])
            texts += [value] if isinstance(value, str) else value
        return list(dict.fromkeys(texts))


def comparison_key(name: str) -> str:
    """Reduce a name to its significant letters and digits in lower case, to compare spellings."""
    return re.sub(r"[^a-z0-9]", "", _INSIGNIFICANT.sub("", fold(name)))


def create_entry_from_description(description: DescribedDataset) -> CatalogEntry:
    """Create an entry from its first description."""
    entry = CatalogEntry(description.source.key, description.document.key, description.name, [description])
    entry.source = source_members(description.sources[0], description.document.key)
    address = description.metadata.get("url")
    if isinstance(address, str):
        entry.source["url"] = address
    return entry


def source_members(source: PackagedSource, key: str) -> dict[str, str]:
    """Return the member `source` of a record's metadata."""
    return {"kind": source.kind, "name": source.name, "url": source.url, "sha256": source.sha256, "key": key}


def merge_descriptions(descriptions: Iterable[DescribedDataset]) -> list[CatalogEntry]:
    """Merge the descriptions of each dataset into an entry.

    Descriptions match if they have the same identifier in the same source, such as a PMLB description and its line in
    the table of counts. Descriptions from different sources match by name, if both sources allow merging.
    """
    entries: dict[tuple[str, str], CatalogEntry] = {}
    entries_by_name: dict[str, CatalogEntry] = {}
    for description in descriptions:
        identity = (description.source.key, description.document.key)
        names = identifying_names(description)
        entry = entries.get(identity) or find_namesake(description, names, entries_by_name)
        if entry is None:
            entry = create_entry_from_description(description)
        else:
            entry.descriptions.append(description)

        entries[identity] = entry
        for name in names:
            entries_by_name.setdefault(name, entry)
    return list({id(entry): entry for entry in entries.values()}.values())


def find_namesake(
    description: DescribedDataset, names: Iterable[str], entries_by_name: dict[str, CatalogEntry]
) -> CatalogEntry | None:
    """Return the entry with the same name from other sources only, or None."""
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
    """Append the source, or else the identifier, to names that an earlier entry already has."""
    names: set[str] = set()
    for entry in entries:
        for addition in ("", f" ({entry.source['name']})", f" ({entry.key})"):
            name = f"{entry.name}{addition}"
            if fold(name) not in names:
                break
        entry.name = name
        names.add(fold(name))
