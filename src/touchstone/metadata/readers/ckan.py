"""CKAN: replies of `package_show` for one dataset, and of `package_search` and lists of packages for several."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, Final

from touchstone.core.vocabulary import fold_domains, known_domains
from touchstone.metadata.access_restrictions import find_access_restriction
from touchstone.metadata.documents import Claim, DatasetDocument, RejectedPart
from touchstone.metadata.licences import normalise_licence
from touchstone.metadata.parsing import DocumentError
from touchstone.metadata.placeholders import is_placeholder
from touchstone.metadata.readers.builder import DocumentBuilder, attempt, year_of
from touchstone.metadata.readers.source_document import SourceDocument

STANDARD: Final = "ckan"
REPRESENTED: Final = ("title", "notes")
PACKAGE_FIELDS: Final = frozenset({"name", "resources"})
OWN_FIELDS: Final = frozenset(
    {"notes", "owner_org", "license_id", "num_resources", "metadata_created", "metadata_modified"}
)


def detect(source: SourceDocument) -> bool:
    """Return whether a document is a reply of CKAN with packages."""
    return bool(find_packages(source.data)) or is_error(source)


def is_error(source: SourceDocument) -> bool:
    """Return whether a reply says that the request failed."""
    return source.members.get("success") is False and "error" in source.members


def find_packages(data: Any) -> list[tuple[Mapping[str, Any], str]]:
    """Find the packages in a reply of CKAN, and return each with its place in the document.

    A package is what CKAN calls a dataset. A reply holds a single one, a list of them, or the results of a search.
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
    """Return whether an object is a package of CKAN: it has resources, and fields that only CKAN has."""
    return isinstance(entry, Mapping) and set(entry) >= PACKAGE_FIELDS and bool(OWN_FIELDS & set(entry))


def read(source: SourceDocument) -> Iterator[DatasetDocument | RejectedPart]:
    """Yield the datasets of a reply."""
    if is_error(source):
        raise DocumentError("error_reply")
    for package, place in find_packages(source.data):
        yield attempt(place, partial(read_package, source, package, place))


def read_package(source: SourceDocument, package: Mapping[str, Any], place: str) -> DatasetDocument:
    """Read the dataset that a package of CKAN describes; `place` is where the package stands in the document."""
    key = str(package.get("id") or package["name"])
    builder = DocumentBuilder(STANDARD, key=key, rejected=list(source.rejected))

    builder.name(package.get("title"), package.get("name"))
    builder.describe(package.get("notes"))
    builder.prose(("notes",), package.get("notes"))
    builder.remember("url", package.get("url"))
    builder.remember("version", package.get("version"))
    language = package.get("language")
    if isinstance(language, str):
        builder.remember("language", language)

    tags = names_of(package.get("tags"))
    groups = names_of(package.get("groups"))
    builder.remember("tags", tags)
    builder.words("domain", fold_domains(groups) or known_domains(tags))

    add_licence_and_access(builder, package, place)
    add_year(builder, package, place)
    add_accountability(builder, package, place)
    add_documentation(builder, package, place)
    add_extras(builder, package)
    if package.get("state") not in (None, "active"):
        builder.warn(f"CKAN state: {package['state']}")

    # Keep everything else as it is, so that an export can repeat it.
    builder.keep_rest(package, REPRESENTED)
    return builder.build()


def names_of(entries: Any) -> list[str]:
    """Return the names for people of tags or groups."""
    names = []
    for entry in entries if isinstance(entries, list) else []:
        candidates = (
            [entry.get(name) for name in ("display_name", "title", "name")] if isinstance(entry, Mapping) else [entry]
        )
        names.extend([name for name in candidates if isinstance(name, str) and name.strip()][:1])
    return names


def add_licence_and_access(builder: DocumentBuilder, package: Mapping[str, Any], place: str) -> None:
    """Add the licence, and whether everybody gets the data."""
    licence = builder.licence(licence_words(package))
    restriction = find_access_restriction(str(package.get("notes") or ""))
    if package.get("private") is True:
        builder.claim(Claim("is_public", False, "true", f"{place}/private", field="private"))
    elif restriction is not None:
        builder.claim(Claim("is_public", False, restriction, f"{place}/notes", field="notes"))
    elif licence is not None and licence.is_open:
        quote = licence_words(package)[0]
        builder.claim(Claim("is_public", True, quote, place, field="license", note="an open licence"))


def licence_words(package: Mapping[str, Any]) -> list[str]:
    """Return the words that name the licence best: those with a certain SPDX expression, else the title."""
    values = [package.get(name) for name in ("license_id", "license_title", "license_url")]
    stated = [value for value in values if isinstance(value, str) and not is_placeholder(value)]
    certain = [value for value in stated if normalise_licence(value).spdx is not None]
    return certain[:1] or stated[1:2] or stated[:1]


def add_year(builder: DocumentBuilder, package: Mapping[str, Any], place: str) -> None:
    """Add the year in which the package was created."""
    date = package.get("metadata_created")
    year = year_of(date[:4]) if isinstance(date, str) else None
    if isinstance(date, str) and year is not None:
        builder.claim(Claim("year", year, date, f"{place}/metadata_created", field="metadata_created"))


def add_accountability(builder: DocumentBuilder, package: Mapping[str, Any], place: str) -> None:
    """Claim that somebody answers for the dataset if a maintainer or a publishing organisation is named.

    An author is not enough, because authors need not look after their data.
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
            builder.claim(claim)
            return


def add_documentation(builder: DocumentBuilder, package: Mapping[str, Any], place: str) -> None:
    """Claim external documentation from the address of the dataset's own page."""
    address = package.get("url")
    if isinstance(address, str) and address.startswith(("http://", "https://")):
        builder.claim(Claim("external_documentation_available", True, address, f"{place}/url", field="url"))


def add_extras(builder: DocumentBuilder, package: Mapping[str, Any]) -> None:
    """Add the prose in a portal's additional fields and in the descriptions of the files.

    Statements about the dataset are searched in it later.
    """
    extras = package.get("extras")
    if isinstance(extras, list):
        for extra in extras:
            text = extra.get("value") if isinstance(extra, Mapping) else None
            has_several_words = isinstance(text, str) and " " in text.strip()
            if has_several_words:
                builder.prose(("extras", str(extra.get("key"))), text)

    resources = package.get("resources")
    if isinstance(resources, list):
        for index, resource in enumerate(resources):
            if isinstance(resource, Mapping):
                name = str(resource.get("name") or index)
                builder.prose(("resources", name), resource.get("description"))
