"""Links between the variants of a dataset: separate records for its versions, encodings and copies."""

from collections.abc import Iterable
from typing import Final

from tools.demo_catalog.entries import CatalogEntry, comparison_key
from tools.demo_catalog.families import family_of

# Members of larger groups only get the name of the group, because a longer list would not be useful.
MAX_LISTED_VARIANTS: Final = 12
MIN_NAME_LENGTH: Final = 4


def link_variants(entries: list[CatalogEntry]) -> None:
    """Add the name of the group and the other members to the entry of each variant."""
    for entry in entries:
        group = stated_group(entry) or family_of(entry.name)
        if group is not None:
            entry.details["variant_of"] = group
    join_namesakes(entries)

    groups: dict[str, list[CatalogEntry]] = {}
    for entry in entries:
        if "variant_of" in entry.details:
            groups.setdefault(entry.details["variant_of"], []).append(entry)
    for members in groups.values():
        list_variants(members)


def stated_group(entry: CatalogEntry) -> str | None:
    """Return the original dataset according to a document about a variant, or None."""
    return next(iter(entry.metadata_strings("variant_of")), None)


def join_namesakes(entries: Iterable[CatalogEntry]) -> None:
    """Put entries with the same name in one group, using an existing group of one of them."""
    entries_by_name: dict[str, list[CatalogEntry]] = {}
    for entry in entries:
        name = comparison_key(entry.name)
        if len(name) >= MIN_NAME_LENGTH:
            entries_by_name.setdefault(name, []).append(entry)

    for namesakes in entries_by_name.values():
        if len(namesakes) > 1:
            groups = [entry.details["variant_of"] for entry in namesakes if "variant_of" in entry.details]
            for entry in namesakes:
                entry.details.setdefault("variant_of", groups[0] if groups else namesakes[0].name)


def list_variants(members: list[CatalogEntry]) -> None:
    """Add the list of the other members to each member. A group of one is dissolved."""
    if len(members) == 1:
        del members[0].details["variant_of"]
    elif len(members) <= MAX_LISTED_VARIANTS:
        for entry in members:
            other_members = [member for member in members if member is not entry]
            entry.details["variants"] = [
                {"dataset_id": member.dataset_id, "name": member.name} for member in other_members
            ]
