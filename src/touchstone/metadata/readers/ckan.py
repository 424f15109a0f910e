"""CKAN: replies of `package_show` for one dataset, and of `package_search` and lists of packages for several."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, Final

from touchstone.core.vocabulary import fold_domains, known_domains
from touchstone.metadata.access_restrictions import find_access_restriction
from touchstone.metadata.documents import Claim, DatasetDocument, RejectedPart
from touchstone.metadata.licences import normalize_licence
from touchstone.metadata.parsing import DocumentError
from touchstone.metadata.placeholders import is_placeholder
from touchstone.metadata.readers.builder import DocumentBuilder, parse_year, read_or_reject
from touchstone.metadata.readers.source_document import SourceDocument

STANDARD: Final = "ckan"
REPRESENTED: Final = ("title", "notes")
PACKAGE_FIELDS: Final = frozenset({"name", "resources"})
OWN_FIELDS: Final = frozenset(
    {"notes", "owner_org", "license_id", "num_resources", "metadata_created", "metadata_modified"}
)


def detect(source: SourceDocument) -> bool:
    """Return whether a document is a CKAN reply with packages, or an error reply."""
    return bool(find_packages(source.data)) or is_error(source)


def is_error(source: SourceDocument) -> bool:
    """Return whether a reply says that the request failed."""
    return source.members.get("success") is False and "error" in source.members


def find_packages(data: Any) -> list[tuple[Mapping[str, Any], str]]:
    """Return the packages in a CKAN reply with their JSON pointers.

    CKAN calls a dataset a package. A reply contains a single package, a list of packages, or search results.
    """
    place = ""
    if isinstance(data, Mapping) and "result" in data:
        data = data["result"]
        place = "/result"
    if isinstance(data, Mapping) and isinstance(data.get("results"), list):
        data = data["results"]
        place = f"{place}/results"

    if isinstance(data, list):
        return [(entry, f"{place}/{index}") for index, entry in enumerate(data) if is_package(entry)]
    return [(data, place)] if is_package(data) else []


def is_package(entry: Any) -> bool:
    """Return whether an object is a CKAN package: it has resources and fields specific to CKAN."""
    return isinstance(entry, Mapping) and set(entry) >= PACKAGE_FIELDS and bool(OWN_FIELDS & set(entry))


def read(source: SourceDocument) -> Iterator[DatasetDocument | RejectedPart]:
    """Yield the datasets of a reply."""
    if is_error(source):
        raise DocumentError("error_reply")
    for package, place in find_packages(source.data):
        yield read_or_reject(place, partial(read_package, source, package, place))


def read_package(source: SourceDocument, package: Mapping[str, Any], place: str) -> DatasetDocument:
    """Read the dataset of a CKAN package. `place` is the JSON pointer of the package."""
    key = str(package.get("id") or package["name"])
    builder = DocumentBuilder(STANDARD, key=key, rejected=list(source.rejected))

    builder.set_name(package.get("title"), package.get("name"))
    builder.set_description(package.get("notes"))
    builder.add_prose(("notes",), package.get("notes"))
    builder.set_metadata("url", package.get("url"))
    builder.set_metadata("version", package.get("version"))
    language = package.get("language")
    if isinstance(language, str):
        builder.set_metadata("language", language)

    tags = names_of(package.get("tags"))
    groups = names_of(package.get("groups"))
    builder.set_metadata("tags", tags)
    builder.set_terms("domain", fold_domains(groups) or known_domains(tags))

    add_licence_and_access(builder, package, place)
    add_year(builder, package, place)
    add_accountability(builder, package, place)
    add_documentation(builder, package, place)
    add_extras(builder, package)
    if package.get("state") not in (None, "active"):
        builder.add_warning(f"CKAN state: {package['state']}")

    # Keep everything else as it is, so that an export can repeat it.
    builder.keep_unmapped(package, REPRESENTED)
    return builder.build()


def names_of(entries: Any) -> list[str]:
    """Return the display names of tags or groups."""
    names = []
    for entry in entries if isinstance(entries, list) else []:
        candidates = (
            [entry.get(name) for name in ("display_name", "title", "name")] if isinstance(entry, Mapping) else [entry]
        )
        names.extend([name for name in candidates if isinstance(name, str) and name.strip()][:1])
    return names


def add_licence_and_access(builder: DocumentBuilder, package: Mapping[str, Any], place: str) -> None:
    """Add the licence, and whether everybody gets the data."""
    licence = builder.set_licence(licence_words(package))
    restriction = find_access_restriction(str(package.get("notes") or ""), builder.names)
    if package.get("private") is True:
        builder.add_claim(Claim("is_public", False, "true", f"{place}/private", field="private"))
    elif restriction is not None:
        builder.add_claim(Claim("is_public", False, restriction, f"{place}/notes", field="notes"))
    elif licence is not None and licence.is_open:
        quote = licence_words(package)[0]
        builder.add_claim(Claim("is_public", True, quote, place, field="license", note="an open licence"))


def licence_words(package: Mapping[str, Any]) -> list[str]:
    """Return the best name of the licence: one with an SPDX expression, or else its title."""
    values = [package.get(name) for name in ("license_id", "license_title", "license_url")]
    stated = [value for value in values if isinstance(value, str) and not is_placeholder(value)]
    certain = [value for value in stated if normalize_licence(value).spdx is not None]
    return certain[:1] or stated[1:2] or stated[:1]


def add_year(builder: DocumentBuilder, package: Mapping[str, Any], place: str) -> None:
    """Add the year in which the package was created."""
    date = package.get("metadata_created")
    year = parse_year(date[:4]) if isinstance(date, str) else None
    if isinstance(date, str) and year is not None:
        builder.add_claim(Claim("year", year, date, f"{place}/metadata_created", field="metadata_created"))


def add_accountability(builder: DocumentBuilder, package: Mapping[str, Any], place: str) -> None:
    """Claim accountability if a maintainer or a publishing organization is named.

    An author is not enough, because authors do not necessarily maintain their data.
    """
    publisher = None
    organization = package.get("organization")
    if isinstance(organization, Mapping):
        publisher = organization.get("title") or organization.get("name")

    responsible_by_field = {
        "maintainer": package.get("maintainer"),
        "maintainer_email": package.get("maintainer_email"),
        "organization": publisher,
    }
    for field, responsible in responsible_by_field.items():
        if isinstance(responsible, str) and responsible.strip() and not is_placeholder(responsible):
            note = f"a named {field}"
            claim = Claim("accountability_defined", True, responsible, f"{place}/{field}", field=field, note=note)
            builder.add_claim(claim)
            return


def add_documentation(builder: DocumentBuilder, package: Mapping[str, Any], place: str) -> None:
    """Claim external documentation from the address of the dataset's own page."""
    address = package.get("url")
    if isinstance(address, str) and address.startswith(("http://", "https://")):
        builder.add_claim(Claim("external_documentation_available", True, address, f"{place}/url", field="url"))


def add_extras(builder: DocumentBuilder, package: Mapping[str, Any]) -> None:
    """Add the prose in the portal's additional fields and file descriptions for the extractor."""
    extras = package.get("extras")
    if isinstance(extras, list):
        for extra in extras:
            text = extra.get("value") if isinstance(extra, Mapping) else None
            has_several_words = isinstance(text, str) and " " in text.strip()
            if has_several_words:
                builder.add_prose(("extras", str(extra.get("key"))), text)

    resources = package.get("resources")
    if isinstance(resources, list):
        for index, resource in enumerate(resources):
            if isinstance(resource, Mapping):
                name = str(resource.get("name") or index)
                builder.add_prose(("resources", name), resource.get("description"))
