"""Data Packages, versions 1 and 2 of the standard (datapackage.org), and their earlier drafts.

A `datapackage.json` lists resources, usually CSV files, with their schemas, licences, sources and contributors.
A package with one table is one dataset. A package with several resources that have titles or descriptions of their own
is a collection, and each of its resources is a dataset.
"""

import re
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, Final

from touchstone.core.vocabulary import known_domains
from touchstone.metadata.documents import Claim, DatasetDocument, RejectedPart, Section
from touchstone.metadata.licences import Licence, most_telling_name
from touchstone.metadata.markdown import read_markdown
from touchstone.metadata.parsing import DocumentError, unescape_pointer
from touchstone.metadata.placeholders import first_meaningful_text
from touchstone.metadata.readers.builder import (
    DocumentBuilder,
    list_of_strings,
    objects_of,
    parse_number,
    parse_year,
    pointer,
    read_or_reject,
)
from touchstone.metadata.readers.source_document import SourceDocument

STANDARD: Final = "data_package"
# The record contains these fields as they are, so they are not stored a second time.
REPRESENTED_FIELDS: Final = ("title", "description")
TEMPORAL_TYPES: Final = ("date", "datetime", "time", "year", "yearmonth")
ACCOUNTABLE_ROLES: Final = ("maintainer", "publisher", "curator", "contact", "wrangler")
FILE_NAME: Final = "datapackage.json"
README: Final = "README.md"
README_FIELD: Final = f"#{README}"
# The path of a member of a resource, such as "/resources/3/description". The resource itself, "/resources/3", does not
# match.
_RESOURCE_POINTER: Final = re.compile(r"/resources/\d+/(?P<name>[^/]+)")


def detect(source: SourceDocument) -> bool:
    """Return whether a document is a Data Package: it lists resources with paths or data."""
    resources = source.members.get("resources")
    if not isinstance(resources, list):
        return False
    # Packages of CKAN also have resources with addresses, but only they have the identifier of a licence.
    if "license_id" in source.members:
        return False

    is_called_package = source.path.name == FILE_NAME or "data-package" in str(source.members.get("profile"))
    has_data = any(not {"path", "data", "url"}.isdisjoint(resource) for resource in objects_of(resources))
    return is_called_package or has_data


def read(source: SourceDocument) -> Iterator[DatasetDocument | RejectedPart]:
    """Yield the dataset of a package, or all datasets of a collection."""
    resources = objects_of(source.members.get("resources"))
    described_resources = [resource for resource in resources if resource.get("description") or resource.get("title")]
    is_collection = len(resources) > 1 and len(described_resources) > len(resources) / 2
    if is_collection:
        for index, resource in enumerate(resources):
            yield read_or_reject(pointer("resources", index), partial(read_resource, source, resource, index))
    else:
        yield read_package(source, resources)


def key_of(source: SourceDocument) -> str:
    """Return the identifier of a package."""
    key = source.members.get("id") or source.members.get("name") or source.folder or source.members.get("title")
    if not isinstance(key, str) or not key:
        raise DocumentError("no_identifier")
    return key


def read_package(source: SourceDocument, resources: list[Mapping[str, Any]]) -> DatasetDocument:
    """Read a package as one dataset. Rows and columns are only added if it has a single resource."""
    package = source.members
    builder = DocumentBuilder(STANDARD, key=key_of(source), rejected=list(source.rejected))

    builder.set_name(package.get("title"), builder.key)
    builder.set_description(package.get("description"))
    builder.add_prose(("description",), package.get("description"))
    builder.set_metadata("url", package.get("homepage"))
    builder.set_metadata("version", package.get("version"))
    add_readme(builder, source)

    licence = builder.set_licence(licence_texts(package))
    add_shared_values(builder, package, licence)
    if len(resources) == 1:
        add_table(builder, resources[0], "/resources/0")
    add_accountability(builder, package)

    # Keep everything else as it is, so that an export can repeat it.
    builder.keep_unmapped(package, REPRESENTED_FIELDS)
    return builder.build()


def add_readme(builder: DocumentBuilder, source: SourceDocument) -> None:
    """Add the prose of the README in the same folder."""
    readme = source.companion(README)
    if readme is None:
        return
    try:
        builder.sections.extend(readme.markdown.sections)
        builder.rejected.extend(readme.markdown.rejected)
        builder.unmapped[README_FIELD] = readme.text
    except DocumentError as error:
        builder.reject(README, error.code, **error.facts)


def read_resource(source: SourceDocument, resource: Mapping[str, Any], index: int) -> DatasetDocument:
    """Read one resource of a collection as a separate dataset.

    The licence of a collection may cover only its code, so only a licence of the resource itself counts.
    """
    location = pointer("resources", index)
    name = str(resource.get("name") or resource.get("path") or index)
    builder = DocumentBuilder(STANDARD, key=f"{key_of(source)}/{name}", location=location)
    if index == 0:
        builder.rejected.extend(source.rejected)  # Errors of the document are listed once, with its first dataset.

    builder.set_name(resource.get("title"), name)
    builder.set_description(resource.get("description"))
    builder.add_prose(resource_path(name), resource.get("description"))
    builder.set_metadata("url", source.members.get("homepage"))
    builder.set_metadata("part_of", key_of(source))

    licence = builder.set_licence(licence_texts(resource))
    add_shared_values(builder, resource, licence)
    add_table(builder, resource, location)

    members_of_collection = {name: value for name, value in source.members.items() if name != "resources"}
    builder.keep_unmapped(members_of_collection)
    builder.keep_unmapped(resource, location=location)
    return builder.build()


def resource_path(name: str) -> tuple[str, ...]:
    """Return the path of the prose about one dataset of a collection."""
    return ("resources", name, "description")


def imported_resource(unmapped: Mapping[str, Any]) -> dict[str, Any]:
    """Return the members of the resource if the dataset was imported from a collection, or an empty dictionary."""
    members: dict[str, Any] = {}
    for location, value in unmapped.items():
        match = _RESOURCE_POINTER.fullmatch(location)
        if match is not None:
            members[unescape_pointer(match["name"])] = value
    return members


def imported_sections(sections: tuple[Section, ...], unmapped: Mapping[str, Any]) -> tuple[Section, ...]:
    """Return the prose of the document from which an exported dataset was once imported.

    An export has the description of the dataset, but the original document may have had other prose: a README, which
    the unmapped fields still contain, or, if the dataset was one resource of a collection, only the description of
    this resource. Evidence is looked for in the original prose, so that the imported export has the same evidence.

    Args:
        sections: the prose of the exported document.
        unmapped: the unmapped fields of the dataset, keyed by their paths.
    """
    resource = imported_resource(unmapped)
    if resource:
        description = resource.get("description")
        if not isinstance(description, str):
            return ()
        name = str(resource.get("name") or resource.get("path") or 0)
        return (Section(resource_path(name), description, is_structured=True),)

    readme = unmapped.get(README_FIELD)
    if not isinstance(readme, str):
        return sections
    try:
        return (*sections, *read_markdown(readme).sections)
    except DocumentError:
        return sections


def licence_texts(members: Mapping[str, Any]) -> list[Any]:
    """Return the name or the address of each licence, whichever identifies it.

    Early versions of the standard have a single licence under `license`.
    """
    entries = members.get("licenses") or members.get("license")
    if not isinstance(entries, list):
        entries = [entries]

    texts = []
    for entry in entries:
        text = entry
        if isinstance(entry, Mapping):
            text = most_telling_name(entry.get(name) for name in ("name", "id", "type", "title", "path", "url"))
        texts.append(text)
    return texts


def add_shared_values(builder: DocumentBuilder, members: Mapping[str, Any], licence: Licence | None) -> None:
    """Add tags, domain, access, year and documentation from the common fields of packages and resources."""
    keywords = list_of_strings(members.get("keywords"))
    builder.set_metadata("tags", keywords)
    builder.set_terms("domain", known_domains(keywords))
    if licence is not None and licence.is_open:
        # The wordings of several licences are joined by semicolons. The quote is the first of them.
        quote = licence.text.split("; ")[0]
        builder.add_field_claim("is_public", True, quote, "licenses", note="an open licence")

    date = members.get("created")
    if isinstance(date, str) and (year := parse_year(date[:4])) is not None:
        builder.add_field_claim("year", year, date, "created")

    for source in objects_of(members.get("sources")):
        address = source.get("path") or source.get("url") or source.get("web")
        if isinstance(address, str) and address.startswith("http"):
            builder.add_field_claim("external_documentation_available", True, address, "sources")
            return


def add_table(builder: DocumentBuilder, resource: Mapping[str, Any], location: str) -> None:
    """Add the number of rows and columns of a table, and its first temporal column.

    A schema does not specify a target column, so all columns count as features.
    """
    rows = parse_number(resource.get("rows") or resource.get("count_of_rows"))
    if isinstance(rows, int) and rows > 0:
        builder.add_claim(Claim("instances_number", rows, str(rows), f"{location}/rows", field="rows"))

    schema = resource.get("schema")
    columns = objects_of(schema.get("fields")) if isinstance(schema, Mapping) else []
    if not columns:
        return

    quote = str(columns[0].get("name"))
    place = f"{location}/schema/fields"
    note = "no target is named"
    builder.add_claim(Claim("features_number", len(columns), quote, place, field="schema.fields", note=note))
    builder.add_claim(Claim("metadata_provided_with_dataset", True, quote, place, field="schema.fields"))

    for column in columns:
        column_type = column.get("type")
        if column_type in TEMPORAL_TYPES:
            builder.add_claim(Claim("has_temporal_factors", True, column_type, place, field="schema.fields.type"))
            return


def add_accountability(builder: DocumentBuilder, package: Mapping[str, Any]) -> None:
    """Claim accountability if a contributor has a role such as maintainer or publisher.

    An author is not enough, because authors do not necessarily maintain their data.
    """
    for contributor in objects_of(package.get("contributors")):
        roles = [role.lower() for role in list_of_strings(contributor.get("role") or contributor.get("roles"))]
        is_accountable = not set(roles).isdisjoint(ACCOUNTABLE_ROLES)

        name = first_meaningful_text(contributor.get(member) for member in ("title", "organization", "email"))
        if name is not None and is_accountable:
            note = f"a contributor in the role {roles[0]}"
            builder.add_field_claim("accountability_defined", True, name, "contributors", note=note)
            return
