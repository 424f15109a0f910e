"""DCAT catalogs and datasets: DCAT-US 1.1 and 3.0 in JSON, and DCAT-AP in JSON-LD, Turtle or RDF/XML."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, Final

from touchstone.core.vocabulary import fold_domains, known_domains
from touchstone.metadata.access_restrictions import find_access_restriction
from touchstone.metadata.documents import Claim, DatasetDocument, RejectedPart
from touchstone.metadata.licences import Licence
from touchstone.metadata.parsing import DocumentError
from touchstone.metadata.readers.builder import DocumentBuilder, parse_year, read_or_reject
from touchstone.metadata.readers.json_ld import FlatGraph, NameResolver, context_of, date_of, text_of, texts_of
from touchstone.metadata.readers.schema_org import responsible_party
from touchstone.metadata.readers.source_document import SourceDocument

STANDARD: Final = "dcat"
REPRESENTED: Final = ("title", "description")
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
# The three levels of access of DCAT-US, and the last steps of the addresses of DCAT-AP's access rights.
OPEN_LEVELS: Final = frozenset({"public", "open"})
CLOSED_LEVELS: Final = frozenset({"restricted public", "non-public", "restricted", "confidential", "non_public"})
# The European Union's data themes, by the last steps of their addresses.
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
STANDALONE_TYPES: Final = frozenset({"Catalog", "CatalogRecord", "DataService", "Dataset", "DatasetSeries"})
MAX_NESTED_CATALOGS: Final = 20


def detect(source: SourceDocument) -> bool:
    """Return whether a document is a catalog or a dataset in the vocabulary of DCAT."""
    if "$schema" in source.members:
        return False

    resolver = NameResolver(context_of(source.data))
    members = resolver.members(source.members)
    is_called_catalog = "Catalog" in resolver.types(members)
    has_datasets = isinstance(members.get("dataset"), list | dict)
    if has_datasets and (is_called_catalog or "conformsTo" in members):
        return True
    if is_called_catalog and "datasetSeries" in members:
        return True

    nodes_with_locations = resolver.nodes_of_type(source.data, "Dataset")
    return any(is_dcat_dataset(resolver, node) for node, _location in nodes_with_locations)


def is_dcat_dataset(resolver: NameResolver, node: Mapping[str, Any]) -> bool:
    """Return whether an object is a DCAT dataset, which has a title instead of the name of schema.org."""
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
    for name in ("dataset", "datasetSeries", "seriesMember"):
        for index, node in enumerate(as_list(catalog.get(name))):
            if not isinstance(node, Mapping):
                continue

            # A series contains datasets, but is not one itself.
            node_location = f"{location}/{name}/{index}"
            if name != "datasetSeries":
                yield node, node_location

            members = resolver.members(node)
            contains_datasets = "seriesMember" in members or "dataset" in members
            if contains_datasets and depth < MAX_NESTED_CATALOGS:
                yield from catalog_datasets(resolver, members, node_location, depth + 1)

    for index, nested in enumerate(as_list(catalog.get("catalog"))):
        if isinstance(nested, Mapping) and depth < MAX_NESTED_CATALOGS:
            yield from catalog_datasets(resolver, resolver.members(nested), f"{location}/catalog/{index}", depth + 1)


def as_list(value: Any) -> list[Any]:
    """Return a list as it is, None as an empty list, and any other value as a list of one."""
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def read_dataset(
    source: SourceDocument, resolver: NameResolver, node: Mapping[str, Any], location: str
) -> DatasetDocument:
    """Read the dataset of a node. `location` is the JSON pointer of the node."""
    members = resolver.tree(node)
    title = text_of(members.get("title"))
    address = text_of(members.get("@id"))
    if address is not None and address.startswith("_:"):
        address = None  # the name of a blank node is only valid inside the document
    key = text_of(members.get("identifier")) or address or title
    if not key:
        raise DocumentError("no_identifier", place=location)

    builder = DocumentBuilder(STANDARD, key=key, standard_version=find_version(resolver, source))
    builder.rejected.extend([*source.rejected, *resolver.rejected] if location in ("", "/dataset/0") else [])
    if text_of(members.get("identifier")) is None:
        builder.rejected.append(RejectedPart(f"{location}/identifier", "missing_identifier", {"used_instead": key}))
    builder.set_name(title, key)
    builder.set_description(text_of(members.get("description")))
    builder.set_metadata("url", address_of(members.get("landingPage")) or address)
    builder.set_metadata("language", [last_step(text) for text in texts_of(members.get("language"))])
    builder.set_metadata("version", text_of(members.get("version")))

    keywords = texts_of(members.get("keyword"))
    builder.set_metadata("tags", keywords)
    themes = theme_words(members.get("theme"))
    builder.set_terms("domain", fold_domains(themes) or known_domains(keywords))
    licence = builder.set_licence(licence_texts(members))
    add_access(builder, members, licence, location)
    add_year(builder, members, location)
    add_documentation(builder, members, location)
    add_accountability(builder, members, location)
    for name in PROSE_FIELDS:
        builder.add_prose((name,), text_of(members.get(name)))
    # An export writes these members under the same names, unless the document has its own names for them.
    represented_names = [
        name for name in REPRESENTED if isinstance(node.get(name), str) and resolver.normalize(name) == name
    ]
    builder.keep_unmapped(node, represented_names)
    builder.keep_context(context_of(source.data))
    return builder.build()


def find_version(resolver: NameResolver, source: SourceDocument) -> str | None:
    """Return the version of DCAT-US that the catalog conforms to, or None if it has none."""
    schema_address = text_of(resolver.members(source.members).get("conformsTo")) or ""
    for version in ("1.1", "3.0"):
        if version in schema_address:
            return version
    return None


def theme_words(value: Any) -> list[str]:
    """Return the themes of a dataset as words, with the European Union's data themes translated."""
    themes = [DATA_THEMES.get(last_step(text), text) for text in texts_of(value)]
    return [theme for theme in themes if "://" not in theme]


def last_step(text: str) -> str:
    """Return the last step of an address, usually the code of a concept, or any other string unchanged."""
    return text.rstrip("/").rsplit("/", 1)[-1].rsplit("#", 1)[-1] if "://" in text else text


def licence_texts(members: Mapping[str, Any]) -> list[str]:
    """Return the licences of a dataset. If it has none, return those of its distributions, as in DCAT-AP."""
    licences = texts_of(members.get("license"))
    if licences:
        return licences
    for distribution in as_list(members.get("distribution")):
        if isinstance(distribution, Mapping):
            licences += texts_of(distribution.get("license"))
    return licences


def add_access(builder: DocumentBuilder, members: Mapping[str, Any], licence: Licence | None, location: str) -> None:
    """Claim whether the data are public.

    The access level takes precedence over a condition for access, and the condition over an open licence.
    """
    for name in ("accessLevel", "accessRights"):
        for level in texts_of(members.get(name)):
            code = last_step(level).strip().lower()
            if code in OPEN_LEVELS or code in CLOSED_LEVELS:
                builder.add_claim(Claim("is_public", code in OPEN_LEVELS, level, f"{location}/{name}", field=name))
                return

    for name in ("rights", "description"):
        restriction = find_access_restriction(text_of(members.get(name)) or "")
        if restriction is not None:
            builder.add_claim(Claim("is_public", False, restriction, f"{location}/{name}", field=name))
            return

    if licence is not None and licence.is_open and texts_of(members.get("license")):
        quote = texts_of(members["license"])[0]
        builder.add_claim(
            Claim("is_public", True, quote, f"{location}/license", field="license", note="an open licence")
        )


def add_year(builder: DocumentBuilder, members: Mapping[str, Any], location: str) -> None:
    """Add the year of publication, or of the last change if it is unknown."""
    for name in ("issued", "modified"):
        date = date_of(members.get(name))
        year = parse_year(date[:4]) if date else None
        if date is not None and year is not None:
            builder.add_claim(Claim("year", year, date, f"{location}/{name}", field=name))
            return


def add_documentation(builder: DocumentBuilder, members: Mapping[str, Any], location: str) -> None:
    """Claim external documentation from the address of a page, and provided metadata from a data dictionary."""
    for name in DOCUMENTATION_FIELDS:
        address = address_of(members.get(name))
        if address is None:
            continue
        if "external_documentation_available" not in builder.record:
            builder.add_claim(
                Claim("external_documentation_available", True, address, f"{location}/{name}", field=name)
            )
        if name == "describedBy":
            builder.add_claim(Claim("metadata_provided_with_dataset", True, address, f"{location}/{name}", field=name))


def address_of(value: Any) -> str | None:
    """Return the first web address in a value, which may be a string, an object or a list, or None."""
    for member in as_list(value):
        candidates: list[Any] = [member] if isinstance(member, str) else []
        if isinstance(member, Mapping):
            candidates = [member.get(name) for name in ("accessURL", "downloadURL", "@id", "url", "@value")]
        for candidate in candidates:
            if isinstance(candidate, str) and candidate.startswith(("http://", "https://")):
                return candidate
    return None


def add_accountability(builder: DocumentBuilder, members: Mapping[str, Any], location: str) -> None:
    """Claim accountability from a named publisher or contact."""
    for name in ("publisher", "contactPoint"):
        body = responsible_party(members.get(name))
        if body is not None and not body.startswith(("http://", "https://")):
            note = f"a named {name}"
            builder.add_claim(Claim("accountability_defined", True, body, f"{location}/{name}", field=name, note=note))
            return
