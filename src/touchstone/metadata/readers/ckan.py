"""Replies of the Action API (version 3) of CKAN, the software of many open data portals.

CKAN calls a dataset a package. A reply of `package_show` describes one, and a reply of `package_search` or a list of
packages describes several.
"""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, Final

from touchstone.core.vocabulary import fold_domains, known_domains
from touchstone.metadata.access_restrictions import find_access_restriction
from touchstone.metadata.documents import Claim, DatasetDocument, RejectedPart
from touchstone.metadata.licences import is_unknown_licence, normalize_licence
from touchstone.metadata.parsing import DocumentError
from touchstone.metadata.placeholders import is_placeholder
from touchstone.metadata.readers.builder import DocumentBuilder, objects_of, parse_year, read_or_reject
from touchstone.metadata.readers.json_ld import text_of
from touchstone.metadata.readers.source_document import SourceDocument

STANDARD: Final = "ckan"
# The record contains these fields as they are, so they are not stored a second time.
REPRESENTED_FIELDS: Final = ("title", "notes")
# Every package has these two members, but Data Packages have them as well. A package also has a member that only CKAN
# uses.
PACKAGE_FIELDS: Final = frozenset({"name", "resources"})
CKAN_FIELDS: Final = frozenset(
    {"notes", "owner_org", "license_id", "num_resources", "metadata_created", "metadata_modified"}
)


def detect(source: SourceDocument) -> bool:
    """Return whether a document is a CKAN reply with packages, or an error reply."""
    return bool(find_packages(source.data)) or is_error(source)


def is_error(source: SourceDocument) -> bool:
    """Return whether a reply reports that the request failed."""
    return source.members.get("success") is False and "error" in source.members


def find_packages(data: Any) -> list[tuple[Mapping[str, Any], str]]:
    """Return the packages in a CKAN reply with their JSON pointers.

    A reply contains a single package, a list of packages, or search results. Saved replies may lack the outermost
    object.
    """
    location = ""
    if isinstance(data, Mapping) and "result" in data:
        data = data["result"]
        location = "/result"
    if isinstance(data, Mapping) and isinstance(data.get("results"), list):
        data = data["results"]
        location = f"{location}/results"

    if isinstance(data, list):
        return [(entry, f"{location}/{index}") for index, entry in enumerate(data) if is_package(entry)]
    return [(data, location)] if is_package(data) else []


def is_package(entry: Any) -> bool:
    """Return whether an object is a CKAN package: it has resources and fields specific to CKAN."""
    return isinstance(entry, Mapping) and set(entry) >= PACKAGE_FIELDS and not CKAN_FIELDS.isdisjoint(entry)


def read(source: SourceDocument) -> Iterator[DatasetDocument | RejectedPart]:
    """Yield the datasets of a reply."""
    if is_error(source):
        raise DocumentError("error_reply")
    for package, location in find_packages(source.data):
        yield read_or_reject(location, partial(read_package, source, package, location))


def read_package(source: SourceDocument, package: Mapping[str, Any], location: str) -> DatasetDocument:
    """Read the dataset of a CKAN package. `location` is the JSON pointer of the package."""
    key = str(package.get("id") or package["name"])
    builder = DocumentBuilder(STANDARD, key=key, location=location, rejected=list(source.rejected))

    notes = translated_text(package, "notes")
    builder.set_name(translated_text(package, "title"), package.get("name"))
    builder.set_description(notes)
    builder.add_prose(("notes",), notes)
    builder.set_metadata("url", package.get("url"))
    builder.set_metadata("version", package.get("version"))
    language = package.get("language")
    if isinstance(language, str):
        builder.set_metadata("language", language)

    tags = names_of(package.get("tags"))
    groups = names_of(package.get("groups"))
    builder.set_metadata("tags", tags)
    builder.set_terms("domain", fold_domains(groups) or known_domains(tags))

    add_licence_and_access(builder, package, notes or "")
    add_year(builder, package)
    add_accountability(builder, package)
    add_documentation(builder, package)
    add_prose_fields(builder, package)
    if package.get("state") not in (None, "active"):
        builder.add_warning(f"CKAN state: {package['state']}")

    # Keep everything else as it is, so that an export can repeat it.
    builder.keep_unmapped(package, REPRESENTED_FIELDS)
    return builder.build()


def translated_text(package: Mapping[str, Any], name: str) -> str | None:
    """Return a text of a package, preferring English where the portal has several languages, or None.

    Portals with the extension "fluent" have an object of texts by their languages in place of the text, or in a member
    of its own: `{"title_translated": {"fr": "Routes", "en": "Roads"}}`.
    """
    return text_of(package.get(name)) or text_of(package.get(f"{name}_translated"))


def names_of(entries: Any) -> list[str]:
    """Return the display names of tags or groups, which are strings or objects."""
    if not isinstance(entries, list):
        return []
    names = [_name_of(entry) for entry in entries]
    return [name for name in names if name is not None]


def _name_of(entry: Any) -> str | None:
    """Return the display name of a tag or group, or None if it has none."""
    candidates = [entry]
    if isinstance(entry, Mapping):
        candidates = [text_of(entry.get(name)) for name in ("display_name", "title", "name")]
    return next((name for name in candidates if isinstance(name, str) and name.strip()), None)


def add_licence_and_access(builder: DocumentBuilder, package: Mapping[str, Any], notes: str) -> None:
    """Add the licence, and whether the data are public."""
    licence_name = find_licence_name(package)
    licence = builder.set_licence([licence_name])
    restriction = find_access_restriction(notes, builder.names)
    if package.get("private") is True:
        builder.add_field_claim("is_public", False, "true", "private")
    elif restriction is not None:
        builder.add_field_claim("is_public", False, restriction, "notes")
    elif licence_name is not None and licence is not None and licence.is_open:
        # A package has several fields for its licence, so the place of the claim is the whole package.
        place = builder.location
        builder.add_claim(Claim("is_public", True, licence_name, place, field="license", note="an open licence"))


def find_licence_name(package: Mapping[str, Any]) -> str | None:
    """Return the name of the licence that says most about it, or None if the package has none.

    The identifier and the address often mean nothing outside the portal, like "fr-lo", unless an SPDX expression is
    known for them. Otherwise the title is preferred.
    """
    identifier = text_of(package.get("license_id"))
    candidates = (identifier, text_of(package.get("license_title")), text_of(package.get("license_url")))
    names = [name for name in candidates if name and not is_placeholder(name)]
    for name in names:
        if normalize_licence(name).spdx is not None:
            return name

    # The title of the identifier "notspecified" says the same in the language of the portal.
    if identifier is not None and is_unknown_licence(identifier):
        return None

    # The title is the second name, unless the identifier or the title is missing.
    return names[1] if len(names) > 1 else next(iter(names), None)


def add_year(builder: DocumentBuilder, package: Mapping[str, Any]) -> None:
    """Add the year in which the package was created."""
    date = package.get("metadata_created")
    if isinstance(date, str) and (year := parse_year(date[:4])) is not None:
        builder.add_field_claim("year", year, date, "metadata_created")


def add_accountability(builder: DocumentBuilder, package: Mapping[str, Any]) -> None:
    """Claim accountability if a maintainer or a publishing organization is named.

    An author is not enough, because authors do not necessarily maintain their data.
    """
    publisher = None
    organization = package.get("organization")
    if isinstance(organization, Mapping):
        publisher = text_of(organization.get("title")) or organization.get("name")

    party_by_field = {
        "maintainer": package.get("maintainer"),
        "maintainer_email": package.get("maintainer_email"),
        "organization": publisher,
    }
    for field, party in party_by_field.items():
        if isinstance(party, str) and party.strip() and not is_placeholder(party):
            builder.add_field_claim("accountability_defined", True, party, field, note=f"a named {field}")
            return


def add_documentation(builder: DocumentBuilder, package: Mapping[str, Any]) -> None:
    """Claim that external documentation exists if the package has the URL of a page about the dataset."""
    address = package.get("url")
    if isinstance(address, str) and address.startswith(("http://", "https://")):
        builder.add_field_claim("external_documentation_available", True, address, "url")


def add_prose_fields(builder: DocumentBuilder, package: Mapping[str, Any]) -> None:
    """Add the portal's additional fields and the descriptions of files as prose for the extractor."""
    for extra in objects_of(package.get("extras")):
        text = extra.get("value")
        # A single word is a code or a date, not prose.
        has_several_words = isinstance(text, str) and " " in text.strip()
        if has_several_words:
            builder.add_prose(("extras", str(extra.get("key"))), text)

    resources = package.get("resources")
    if not isinstance(resources, list):
        return
    for index, resource in enumerate(resources):
        if isinstance(resource, Mapping):
            name = translated_text(resource, "name") or str(index)
            builder.add_prose(("resources", name), translated_text(resource, "description"))
