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
from touchstone.metadata.readers.json_ld import FlatGraph, NameResolver, context_of, text_of, texts_of
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

    names = NameResolver(context_of(source.data))
    members = names.members(source.members)
    is_called_catalog = "Catalog" in names.types(members)
    has_datasets = isinstance(members.get("dataset"), list | dict)
    if has_datasets and (is_called_catalog or "conformsTo" in members):
        return True
    if is_called_catalog and "datasetSeries" in members:
        return True

    nodes_with_places = names.nodes_of_type(source.data, "Dataset")
    return any(is_dcat_dataset(names, node) for node, _place in nodes_with_places)


def is_dcat_dataset(names: NameResolver, node: Mapping[str, Any]) -> bool:
    """Return whether an object is a DCAT dataset, which has a title instead of the name of schema.org."""
    return "title" in names.members(node)


def read(source: SourceDocument) -> Iterator[DatasetDocument | RejectedPart]:
    """Yield the datasets of a catalog, including nested catalogs and series, or of a graph."""
    names = NameResolver(context_of(source.data))
    graph = FlatGraph(source.data)
    for node, place in find_datasets(source, names):
        dataset = graph.embed_parts(node, lambda part: not _stands_alone(names, part))
        yield read_or_reject(place, partial(read_dataset, source, names, dataset, place))


def _stands_alone(names: NameResolver, node: Mapping[str, Any]) -> bool:
    """Return whether a node is an independent resource instead of a part of the dataset that refers to it."""
    return not STANDALONE_TYPES.isdisjoint(names.types(node))


def find_datasets(source: SourceDocument, names: NameResolver) -> Iterator[tuple[Mapping[str, Any], str]]:
    """Yield the datasets of a document with their JSON pointers."""
    members = names.members(source.members)
    if "dataset" in members or "datasetSeries" in members:
        yield from catalog_datasets(names, members, "", 0)
        return

    for node, place in names.nodes_of_type(source.data, "Dataset"):
        if is_dcat_dataset(names, node):
            yield node, place


def catalog_datasets(
    names: NameResolver, catalog: Mapping[str, Any], place: str, depth: int
) -> Iterator[tuple[Mapping[str, Any], str]]:
    """Yield the datasets of a catalog, its series and its nested catalogs, with their JSON pointers.

    Args:
        names: the resolver for the names in the document.
        catalog: the members of the catalog.
        place: the JSON pointer of the catalog.
        depth: the number of catalogs and series that contain it.
    """
    for name in ("dataset", "datasetSeries", "seriesMember"):
        for index, node in enumerate(as_list(catalog.get(name))):
            if not isinstance(node, Mapping):
                continue

            # A series contains datasets, but is not one itself.
            node_place = f"{place}/{name}/{index}"
            if name != "datasetSeries":
                yield node, node_place

            members = names.members(node)
            contains_datasets = "seriesMember" in members or "dataset" in members
            if contains_datasets and depth < MAX_NESTED_CATALOGS:
                yield from catalog_datasets(names, members, node_place, depth + 1)

    for index, nested in enumerate(as_list(catalog.get("catalog"))):
        if isinstance(nested, Mapping) and depth < MAX_NESTED_CATALOGS:
            yield from catalog_datasets(names, names.members(nested), f"{place}/catalog/{index}", depth + 1)


def as_list(value: Any) -> list[Any]:
    """Return a list as it is, None as an empty list, and any other value as a list of one."""
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def read_dataset(source: SourceDocument, names: NameResolver, node: Mapping[str, Any], place: str) -> DatasetDocument:
    """Read the dataset of a node. `place` is the JSON pointer of the node."""
    members = names.tree(node)
    title = text_of(members.get("title"))
    address = text_of(members.get("@id"))
    if address is not None and address.startswith("_:"):
        address = None  # the name of a blank node is only valid inside the document
    key = text_of(members.get("identifier")) or address or title
    if not key:
        raise DocumentError("no_identifier", place=place)

    builder = DocumentBuilder(STANDARD, key=key, standard_version=find_version(names, source))
    builder.rejected.extend([*source.rejected, *names.rejected] if place in ("", "/dataset/0") else [])
    if text_of(members.get("identifier")) is None:
        builder.rejected.append(RejectedPart(f"{place}/identifier", "missing_identifier", {"used_instead": key}))
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
    add_access(builder, members, licence, place)
    add_year(builder, members, place)
    add_documentation(builder, members, place)
    add_accountability(builder, members, place)
    for name in PROSE_FIELDS:
        builder.add_prose((name,), text_of(members.get(name)))
    unchanged = [name for name in REPRESENTED if isinstance(node.get(name), str) and names.normalize(name) == name]
    builder.keep_unmapped(node, unchanged)
    builder.keep_context(context_of(source.data))
    return builder.build()


def find_version(names: NameResolver, source: SourceDocument) -> str | None:
    """Return the version of DCAT-US that the catalog conforms to, or None if it states none."""
    stated = text_of(names.members(source.members).get("conformsTo")) or ""
    for version in ("1.1", "3.0"):
        if version in stated:
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
    """Return the licences of a dataset, or else of its distributions, where DCAT-AP puts them."""
    licences = texts_of(members.get("license"))
    if licences:
        return licences
    distributions = [part for part in as_list(members.get("distribution")) if isinstance(part, Mapping)]
    return [text for distribution in distributions for text in texts_of(distribution.get("license"))]


def add_access(builder: DocumentBuilder, members: Mapping[str, Any], licence: Licence | None, place: str) -> None:
    """Claim whether the data are public.

    The stated access level takes precedence over a condition for access, and the condition over an open licence.
    """
    for name in ("accessLevel", "accessRights"):
        for level in texts_of(members.get(name)):
            code = last_step(level).strip().lower()
            if code in OPEN_LEVELS or code in CLOSED_LEVELS:
                builder.add_claim(Claim("is_public", code in OPEN_LEVELS, level, f"{place}/{name}", field=name))
                return

    for name in ("rights", "description"):
        restriction = find_access_restriction(text_of(members.get(name)) or "")
        if restriction is not None:
            builder.add_claim(Claim("is_public", False, restriction, f"{place}/{name}", field=name))
            return

    if licence is not None and licence.is_open and texts_of(members.get("license")):
        quote = texts_of(members["license"])[0]
        builder.add_claim(Claim("is_public", True, quote, f"{place}/license", field="license", note="an open licence"))


def add_year(builder: DocumentBuilder, members: Mapping[str, Any], place: str) -> None:
    """Add the year of publication, or else of the last change."""
    for name in ("issued", "modified"):
        date = text_of(members.get(name))
        year = parse_year(date[:4]) if date else None
        if date is not None and year is not None:
            builder.add_claim(Claim("year", year, date, f"{place}/{name}", field=name))
            return


def add_documentation(builder: DocumentBuilder, members: Mapping[str, Any], place: str) -> None:
    """Claim external documentation from the address of a page, and provided metadata from a data dictionary."""
    for name in DOCUMENTATION_FIELDS:
        address = address_of(members.get(name))
        if address is None:
            continue
        if "external_documentation_available" not in builder.record:
            builder.add_claim(Claim("external_documentation_available", True, address, f"{place}/{name}", field=name))
        if name == "describedBy":
            builder.add_claim(Claim("metadata_provided_with_dataset", True, address, f"{place}/{name}", field=name))


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


def add_accountability(builder: DocumentBuilder, members: Mapping[str, Any], place: str) -> None:
    """Claim accountability from a named publisher or contact."""
    for name in ("publisher", "contactPoint"):
        body = responsible_party(members.get(name))
        if body is not None and not body.startswith(("http://", "https://")):
            note = f"a named {name}"
            builder.add_claim(Claim("accountability_defined", True, body, f"{place}/{name}", field=name, note=note))
            return
