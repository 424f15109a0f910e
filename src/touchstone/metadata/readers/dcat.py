"""Catalogs and datasets of open data portals in DCAT, the Data Catalog Vocabulary of the W3C.

This module reads two of its profiles: DCAT-US 1.1 and 3.0, which portals of the United States publish as `data.json`,
and DCAT-AP, which European portals publish as JSON-LD, Turtle or RDF/XML. Each dataset of a catalog, of its series and
of nested catalogs is returned separately.
"""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, Final

from touchstone.core.vocabulary import fold_domains, known_domains
from touchstone.metadata.access_restrictions import find_access_restriction
from touchstone.metadata.documents import DatasetDocument, RejectedPart
from touchstone.metadata.licences import most_telling_name
from touchstone.metadata.parsing import DocumentError
from touchstone.metadata.readers.builder import DocumentBuilder, objects_of, parse_year, read_or_reject
from touchstone.metadata.readers.json_ld import (
    FlatGraph,
    NameResolver,
    as_list,
    context_of,
    text_of,
    text_or_integer,
    texts_of,
)
from touchstone.metadata.readers.schema_org import named_party, represented_names
from touchstone.metadata.readers.source_document import SourceDocument

STANDARD: Final = "dcat"
# The record contains these fields as they are, so they are not stored a second time.
REPRESENTED_FIELDS: Final = ("title", "description")
PROSE_FIELDS: Final = (
    "description",
    "rights",
    "dataQuality",
    "provenance",
    "purpose",
    "usageNote",
    "accrualPeriodicity",
)
DOCUMENTATION_FIELDS: Final = ("landingPage", "describedBy", "references", "page", "documentation")
# DCAT-US states the level of access as a word such as "restricted public". DCAT-AP states it as an address that ends in
# a code: http://publications.europa.eu/resource/authority/access-right/NON_PUBLIC. Both are listed in lower case.
OPEN_LEVELS: Final = frozenset({"public", "open"})
CLOSED_LEVELS: Final = frozenset({"restricted public", "non-public", "restricted", "confidential", "non_public"})
# The domains for the data themes of the European Union, by the codes at the end of their addresses, as in
# http://publications.europa.eu/resource/authority/data-theme/AGRI.
DATA_THEMES: Final[Mapping[str, str]] = {
    "AGRI": "agriculture",
    "ECON": "economics",
    "EDUC": "education",
    "ENVI": "environment",
    "GOVE": "politics",
    "HEAL": "health",
    "JUST": "law",
    "SOCI": "social science",
    "TRAN": "transportation",
}
# The types of nodes that are never parts of a dataset, although datasets may refer to them.
STANDALONE_TYPES: Final = frozenset({"Catalog", "CatalogRecord", "DataService", "Dataset", "DatasetSeries"})
MAX_NESTED_CATALOGS: Final = 20


def detect(source: SourceDocument) -> bool:
    """Return whether a document is a DCAT catalog or a graph with DCAT datasets."""
    # A JSON Schema of DCAT-US contains all its names, but no dataset. A Data Package may also refer to a schema.
    if "$schema" in source.members:
        return False

    resolver = NameResolver(context_of(source.data))
    return is_catalog(resolver, source) or any(
        is_dcat_dataset(resolver, node) for node, _location in resolver.nodes_of_type(source.data, "Dataset")
    )


def is_catalog(resolver: NameResolver, source: SourceDocument) -> bool:
    """Return whether a document is a DCAT catalog.

    A catalog contains datasets or series of datasets. A member `dataset` alone is not enough, because descriptions in
    other formats have one, too.
    """
    members = resolver.members(source.members)
    has_datasets = isinstance(members.get("dataset"), list | dict)
    if "Catalog" in resolver.types(members):
        return has_datasets or "datasetSeries" in members
    # DCAT-US 1.1 requires `conformsTo`, the address of its schema, but `@type` is optional.
    return has_datasets and "conformsTo" in members


def is_dcat_dataset(resolver: NameResolver, node: Mapping[str, Any]) -> bool:
    """Return whether an object of the type `Dataset` is a DCAT dataset.

    schema.org has a type of the same name, but its datasets have a `name` instead of a `title`.
    """
    return "title" in resolver.members(node)


def read(source: SourceDocument) -> Iterator[DatasetDocument | RejectedPart]:
    """Yield the datasets of a catalog, including nested catalogs and series, or of a graph."""
    resolver = NameResolver(context_of(source.data))
    graph = FlatGraph(source.data)
    for node, location in find_datasets(source, resolver):
        dataset = graph.embed_parts(node, lambda part: not _stands_alone(resolver, part))
        yield read_or_reject(location, partial(read_dataset, source, resolver, dataset, location))


def _stands_alone(resolver: NameResolver, node: Mapping[str, Any]) -> bool:
    """Return whether a node is an independent resource instead of a part of the dataset that refers to it."""
    return not STANDALONE_TYPES.isdisjoint(resolver.types(node))


def find_datasets(source: SourceDocument, resolver: NameResolver) -> Iterator[tuple[Mapping[str, Any], str]]:
    """Yield the datasets of a document with their JSON pointers."""
    members = resolver.members(source.members)
    if "dataset" in members or "datasetSeries" in members:
        yield from catalog_datasets(resolver, members, "", 0)
        return

    for node, location in resolver.nodes_of_type(source.data, "Dataset"):
        if is_dcat_dataset(resolver, node):
            yield node, location


def catalog_datasets(
    resolver: NameResolver, catalog: Mapping[str, Any], location: str, depth: int
) -> Iterator[tuple[Mapping[str, Any], str]]:
    """Yield the datasets of a catalog, its series and its nested catalogs, with their JSON pointers.

    Args:
        resolver: the resolver for the names in the document.
        catalog: the members of the catalog.
        location: the JSON pointer of the catalog.
        depth: the number of catalogs and series that contain it.
    """
    for name in ("dataset", "datasetSeries", "seriesMember", "catalog"):
        for index, node in enumerate(as_list(catalog.get(name))):
            if not isinstance(node, Mapping):
                continue

            # Series and nested catalogs contain datasets, but are not datasets themselves.
            node_location = f"{location}/{name}/{index}"
            if name in ("dataset", "seriesMember"):
                yield node, node_location

            members = resolver.members(node)
            may_contain_datasets = name == "catalog" or "seriesMember" in members or "dataset" in members
            if may_contain_datasets and depth < MAX_NESTED_CATALOGS:
                yield from catalog_datasets(resolver, members, node_location, depth + 1)


def read_dataset(
    source: SourceDocument, resolver: NameResolver, node: Mapping[str, Any], location: str
) -> DatasetDocument:
    """Read the dataset of a node. `location` is the JSON pointer of the node."""
    members = resolver.tree(node)
    identifier = text_or_integer(members.get("identifier"))
    title = text_of(members.get("title"))
    address = text_of(members.get("@id"))
    if address is not None and address.startswith("_:"):
        address = None  # the name of a blank node is only valid inside the document
    key = identifier or address or title
    if not key:
        raise DocumentError("no_identifier", place=location)

    version = find_version(resolver, source)
    builder = DocumentBuilder(STANDARD, key=key, location=location, standard_version=version)
    is_first_dataset = location in ("", "/dataset/0")
    if is_first_dataset:
        # Errors of the whole document are listed once.
        builder.rejected.extend([*source.rejected, *resolver.rejected])
    if identifier is None:
        builder.reject(f"{location}/identifier", "missing_identifier", used_instead=key)
    builder.set_name(title, key)
    builder.set_description(text_of(members.get("description")))
    builder.set_metadata("url", address_of(members.get("landingPage")) or address)
    builder.set_metadata("language", [last_step(text) for text in texts_of(members.get("language"))])
    builder.set_metadata("version", text_of(members.get("version")))

    keywords = texts_of(members.get("keyword"))
    builder.set_metadata("tags", keywords)
    themes = theme_labels(members.get("theme"))
    builder.set_terms("domain", fold_domains(themes) or known_domains(keywords))

    add_licence_and_access(builder, members)
    add_year(builder, members)
    add_documentation(builder, members)
    add_accountability(builder, members)
    for name in PROSE_FIELDS:
        builder.add_prose((name,), text_of(members.get(name)))

    # An export writes these members under the same names, unless the document has its own names for them.
    builder.keep_unmapped(node, represented_names(resolver, node, REPRESENTED_FIELDS))
    builder.keep_context(context_of(source.data))
    return builder.build()


def find_version(resolver: NameResolver, source: SourceDocument) -> str | None:
    """Return the version of DCAT-US that the catalog conforms to, or None if it has none."""
    schema_address = text_of(resolver.members(source.members).get("conformsTo")) or ""
    for version in ("1.1", "3.0"):
        if version in schema_address:
            return version
    return None


def theme_labels(value: Any) -> list[str]:
    """Return the themes of a dataset in words. Addresses are left out, except for the data themes that we know."""
    labels = [DATA_THEMES.get(last_step(text), text) for text in texts_of(value)]
    return [label for label in labels if "://" not in label]


def last_step(text: str) -> str:
    """Return the last step of an address, which usually is the code of a concept. Other strings stay unchanged.

    `https://example.org/themes#energy` becomes `energy`.
    """
    if "://" not in text:
        return text
    return text.rstrip("/").rsplit("/", 1)[-1].rsplit("#", 1)[-1]


def licences_of(members: Mapping[str, Any]) -> list[str]:
    """Return the label or the address of each licence of a dataset or distribution, whichever identifies it."""
    licences = as_list(members.get("license"))
    return texts_of([most_telling_name([text_of(licence), address_of(licence)]) for licence in licences])


def add_licence_and_access(builder: DocumentBuilder, members: Mapping[str, Any]) -> None:
    """Add the licence of a dataset, or of its distributions as in DCAT-AP, and whether the data are public.

    The first of these decides about access: an access level, a condition for access that the rights or the description
    state, or an open licence. If the document has none of them, nothing is claimed.
    """
    licence_field = "license"
    licence_names = licences_of(members)
    if not licence_names:
        licence_field = "distribution"
        distributions = objects_of(as_list(members.get("distribution")))
        licence_names = [name for distribution in distributions for name in licences_of(distribution)]
    licence = builder.set_licence(licence_names)

    for name in ("accessLevel", "accessRights"):
        for level in texts_of(members.get(name)):
            # The level may be a word, or an address that ends with it, such as `…/access-right/PUBLIC`.
            access_code = last_step(level).strip().lower()
            is_public = access_code in OPEN_LEVELS
            if is_public or access_code in CLOSED_LEVELS:
                builder.add_field_claim("is_public", is_public, level, name)
                return

    for name in ("rights", "description"):
        restriction = find_access_restriction(text_of(members.get(name)) or "")
        if restriction is not None:
            builder.add_field_claim("is_public", False, restriction, name)
            return

    if licence is not None and licence.is_open:
        builder.add_field_claim("is_public", True, licence_names[0], licence_field, note="an open licence")


def add_year(builder: DocumentBuilder, members: Mapping[str, Any]) -> None:
    """Add the year of publication, or of the last change if it is unknown."""
    for name in ("issued", "modified"):
        date = text_or_integer(members.get(name))
        if date is not None and (year := parse_year(date[:4])) is not None:
            builder.add_field_claim("year", year, date, name)
            return


def add_documentation(builder: DocumentBuilder, members: Mapping[str, Any]) -> None:
    """Claim external documentation from the first address of a page, and provided metadata from a data dictionary."""
    for name in DOCUMENTATION_FIELDS:
        address = address_of(members.get(name))
        if address is None:
            continue

        if "external_documentation_available" not in builder.record:
            builder.add_field_claim("external_documentation_available", True, address, name)
        # The address of a document that explains the columns.
        if name == "describedBy":
            builder.add_field_claim("metadata_provided_with_dataset", True, address, name)


def address_of(value: Any) -> str | None:
    """Return the first web address in a value, which may be a string, an object or a list, or None."""
    for member in as_list(value):
        candidates = [member]
        if isinstance(member, Mapping):
            candidates = [member.get(name) for name in ("accessURL", "downloadURL", "@id", "url", "@value")]
        for candidate in candidates:
            if isinstance(candidate, str) and candidate.startswith(("http://", "https://")):
                return candidate
    return None


def add_accountability(builder: DocumentBuilder, members: Mapping[str, Any]) -> None:
    """Claim accountability from a named publisher or contact."""
    for name in ("publisher", "contactPoint"):
        party = named_party(members.get(name))
        if party is not None:
            builder.add_field_claim("accountability_defined", True, party, name, note=f"a named {name}")
            return
