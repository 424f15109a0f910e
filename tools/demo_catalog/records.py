"""The records of the demo catalog as they are packaged: every attribute as the claims and documents amount to."""

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
MAX_LANGUAGES: Final = 50
MAX_OBJECTIVE_LENGTH: Final = 300
# An objective that so many records share describes a whole collection, or is a template's own words.
REPEATED_COUNT: Final = 3


def drop_repeated_objectives(entries: Iterable[CatalogEntry]) -> int:
    """Remove objectives that several records share, unless these are variants of one dataset; return how many."""
    unrelated_entries = [entry for entry in entries if "variant_of" not in entry.details]
    use_counts = Counter(shorten(entry.first_text("objective")) for entry in unrelated_entries)
    dropped_count = 0
    for entry in unrelated_entries:
        objective = shorten(entry.first_text("objective"))
        if objective and use_counts[objective] >= REPEATED_COUNT:
            entry.facts["objective"] = None
            dropped_count += 1
    return dropped_count


def finish_record(entry: CatalogEntry) -> PackagedRecord:
    """Return the record of an entry."""
    objective = shorten(entry.first_text("objective"))
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


def shorten(text: str) -> str:
    """Return as much of a text as an objective holds, up to the end of a sentence or word; none of a placeholder."""
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
    """Return the domains of a dataset, each with what shows it."""
    tags = entry.metadata_texts("tags")
    texts = (("title", entry.name.replace("_", " ")), ("tag", "; ".join(tags)), ("description", objective))
    return find_domains(entry.stated_terms("domain"), texts, tasks or entry.metadata_texts("tasks_of_collection"))


def resolve(entry: CatalogEntry, attribute: str) -> ClaimValue:
    """Return the value of a flag or number: as it was measured, else by the claims, else as it was read by hand.

    Of several claims, a flag is false if one of them says so, and the larger number counts, as in the ledger.
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
    """Return the `metadata` of a record."""
    languages = language_codes(entry.metadata_texts("language"))
    members = {
        "source": entry.source,
        "licence": next(iter(entry.metadata_texts("licence")), None),
        "licence_text": next(iter(entry.metadata_texts("licence_text")), None),
        "language": languages[:MAX_LANGUAGES],
        "tags": [tag for tag in entry.metadata_texts("tags") if len(tag) <= 60][:MAX_TAGS],
        "warnings": entry.metadata_texts("warnings"),
        "part_of": collection_of(entry),
    }
    if domains:
        shown_by = "; ".join(f"{evidence.domain} ({evidence.shown_by})" for evidence in domains)
        members["evidence"] = {"domain": shown_by}
    return {name: value for name, value in members.items() if value not in (None, "", [])} | entry.details


def collection_of(entry: CatalogEntry) -> str | None:
    """Return the collection or benchmark of which the dataset is a part, as its documents say."""
    for description in entry.descriptions:
        collection = description.metadata.get("part_of")
        if description.is_part and collection is None:
            collection = description.document.unmapped.get("/Collection")
        if isinstance(collection, str) and comparison_key(collection) not in ("", comparison_key(entry.name)):
            return collection
    return None
