"""Conversion of the entries of the demo catalog to packaged records."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Final

from tools.demo_catalog.domains import DomainEvidence, find_domains
from tools.demo_catalog.entries import CatalogEntry, comparison_key
from tools.demo_catalog.languages import language_codes
from touchstone.core.attributes import ATTRIBUTES
from touchstone.core.evidence import CLAIMED_ATTRIBUTES, ClaimValue
from touchstone.demo.packaged_records import PackagedRecord
from touchstone.metadata.placeholders import is_placeholder

MAX_TASKS: Final = 10
MAX_TAGS: Final = 20
MAX_TAG_LENGTH: Final = 60
MAX_LANGUAGES: Final = 50
MAX_OBJECTIVE_LENGTH: Final = 300
# An objective shared by this many records describes a collection or comes from a template.
REPEATED_COUNT: Final = 3


def drop_repeated_objectives(entries: Iterable[CatalogEntry]) -> int:
    """Remove objectives that several unrelated records share, and return their number."""
    unrelated_entries = [entry for entry in entries if "variant_of" not in entry.details]
    use_counts = Counter(shorten_objective(entry.first_string("objective")) for entry in unrelated_entries)
    dropped_count = 0
    for entry in unrelated_entries:
        objective = shorten_objective(entry.first_string("objective"))
        if objective and use_counts[objective] >= REPEATED_COUNT:
            entry.facts["objective"] = None
            dropped_count += 1
    return dropped_count


def build_record(entry: CatalogEntry) -> PackagedRecord:
    """Convert an entry to a packaged record."""
    objective = shorten_objective(entry.first_string("objective"))
    tasks = entry.stated_terms("task")[:MAX_TASKS]
    domains = domains_of(entry, objective, tasks)
    values = {
        "dataset_name": entry.name,
        "objective": objective or None,
        "domain": [evidence.domain for evidence in domains],
        "task": tasks,
        **{name: resolve(entry, name) for name in CLAIMED_ATTRIBUTES},
    }
    attributes = {attribute.name: values[attribute.name] for attribute in ATTRIBUTES}
    return PackagedRecord(
        dataset_id=entry.dataset_id,
        name=entry.name,
        description=objective,
        file_path=entry.file_path,
        file_type=entry.file_type,
        attributes={name: value for name, value in attributes.items() if value not in (None, "", [])},
        metadata=metadata_of(entry, domains),
        sources=tuple(entry.sources),
        claims=tuple(entry.claims),
    )


def shorten_objective(text: str) -> str:
    """Shorten an objective at the end of a sentence or word. A placeholder becomes an empty string."""
    if is_placeholder(text):
        return ""
    if len(text) <= MAX_OBJECTIVE_LENGTH:
        return text
    beginning = text[:MAX_OBJECTIVE_LENGTH]
    sentence_end = beginning.rfind(". ")
    if sentence_end > MAX_OBJECTIVE_LENGTH // 3:
        return beginning[: sentence_end + 1]
    return beginning[:-1].rsplit(" ", 1)[0] + "…"


def domains_of(entry: CatalogEntry, objective: str, tasks: Sequence[str]) -> list[DomainEvidence]:
    """Return the domains of a dataset with their evidence."""
    tags = entry.metadata_strings("tags")
    texts = (("title", entry.name.replace("_", " ")), ("tag", "; ".join(tags)), ("description", objective))
    return find_domains(entry.stated_terms("domain"), texts, tasks or entry.metadata_strings("tasks_of_collection"))


def resolve(entry: CatalogEntry, attribute: str) -> ClaimValue:
    """Return the value of a flag or number: the measured one, or else from claims, or else the declared one.

    If claims differ, a flag is false and the largest number is used, as in the evidence ledger of the service.
    """
    if attribute in entry.measured:
        return entry.measured[attribute]

    values = [claim.value for claim in entry.claims if claim.attribute == attribute]
    flags = [value for value in values if isinstance(value, bool)]
    if flags:
        return all(flags)
    numbers = [value for value in values if value is not None]
    fact: ClaimValue = entry.facts.get(attribute)
    return max(numbers, default=fact)


def metadata_of(entry: CatalogEntry, domains: Sequence[DomainEvidence]) -> dict[str, Any]:
    """Return the metadata of a record."""
    languages = language_codes(entry.metadata_strings("language"))
    members = {
        "source": entry.source,
        "licence": next(iter(entry.metadata_strings("licence")), None),
        "licence_text": next(iter(entry.metadata_strings("licence_text")), None),
        "language": languages[:MAX_LANGUAGES],
        "tags": [tag for tag in entry.metadata_strings("tags") if len(tag) <= MAX_TAG_LENGTH][:MAX_TAGS],
        "warnings": entry.metadata_strings("warnings"),
        "part_of": collection_of(entry),
    }
    if domains:
        shown_by = "; ".join(f"{evidence.domain} ({evidence.shown_by})" for evidence in domains)
        members["evidence"] = {"domain": shown_by}
    return {name: value for name, value in members.items() if value not in (None, "", [])} | entry.details


def collection_of(entry: CatalogEntry) -> str | None:
    """Return the collection or benchmark that contains the dataset according to its documents, or None."""
    for description in entry.descriptions:
        collection = description.metadata.get("part_of")
        if description.is_part and collection is None:
            collection = description.document.unmapped.get("/Collection")
        if isinstance(collection, str) and comparison_key(collection) not in ("", comparison_key(entry.name)):
            return collection
    return None
