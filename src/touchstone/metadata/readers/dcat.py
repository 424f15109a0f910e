"""DCAT catalogs and datasets: DCAT-US 1.1 and 3.0 in JSON, and DCAT-AP in JSON-LD, Turtle or RDF/XML."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, Final

from touchstone.core.vocabulary import fold_domains, known_domains
from touchstone.metadata.access_restrictions import find_access_restriction
from touchstone.metadata.documents import Claim, DatasetDocument, RejectedPart
from touchstone.metadata.licences import Licence
from touchstone.metadata.parsing import DocumentError
from touchstone.metadata.readers.builder import DocumentBuilder, attempt, year_of
from touchstone.metadata.readers.json_ld import FlatGraph, Names, context_of, text_of, texts_of
from touchstone.metadata.readers.schema_org import accountable_body
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
# The last steps of the addresses of the European Union's data themes, and what they mean.
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

    names = Names(context_of(source.data))
    members = names.members(source.members)
    is_called_catalog = "Catalog" in names.types(members)
    has_datasets = isinstance(members.get("dataset"), list | dict)
    if has_datasets and (is_called_catalog or "conformsTo" in members):
        return True
    if is_called_catalog and "datasetSeries" in members:
        return True

    nodes_with_places = names.nodes_of_type(source.data, "Dataset")
    return any(is_dcat_dataset(names, node) for node, _place in nodes_with_places)


def is_dcat_dataset(names: Names, node: Mapping[str, Any]) -> bool:
    """Return whether an object is a dataset of DCAT, which has a title where schema.org has a name."""
    return "title" in names.members(node)


def read(source: SourceDocument) -> Iterator[DatasetDocument | RejectedPart]:
    """Yield the datasets of a catalog, of the catalogs and series in it, or of a graph."""
    names = Names(context_of(source.data))
    graph = FlatGraph(source.data)
    for node, place in find_datasets(source, names):
        dataset = graph.embed_parts(node, lambda part: not _stands_alone(names, part))
        yield attempt(place, partial(read_dataset, source, names, dataset, place))


def _stands_alone(names: Names, node: Mapping[str, Any]) -> bool:
    """Return whether a node is a resource of its own, and not a part of the dataset that refers to it."""
    return not STANDALONE_TYPES.isdisjoint(names.types(node))


def find_datasets(source: SourceDocument, names: Names) -> Iterator[tuple[Mapping[str, Any], str]]:
    """Yield the datasets of a document with their places."""
    members = names.members(source.members)
    if "dataset" in members or "datasetSeries" in members:
        yield from catalog_datasets(names, members, "", 0)
        return

    for node, place in names.nodes_of_type(source.data, "Dataset"):
        if is_dcat_dataset(names, node):
            yield node, place


def catalog_datasets(
    names: Names, catalog: Mapping[str, Any], place: str, depth: int
) -> Iterator[tuple[Mapping[str, Any], str]]:
    """Yield the datasets of a catalog, of its series, and of the catalogs nested in it, each with its place.

    `place` is that of the catalog in the document, and `depth` says in how many other catalogs it is nested.
    """
    for name in ("dataset", "datasetSeries", "seriesMember"):
        for index, node in enumerate(as_list(catalog.get(name))):
            if not isinstance(node, Mapping):
                continue

            # A series is no dataset itself, but contains some.
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
    """Return a value that may be one or several as a list."""
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def read_dataset(source: SourceDocument, names: Names, node: Mapping[str, Any], place: str) -> DatasetDocument:
    """Return one dataset."""
    members = names.tree(node)
    title = text_of(members.get("title"))
    address = text_of(members.get("@id"))
    if address is not None and address.startswith("_:"):
        address = None  # the name of a blank node means nothing outside the document
    key = text_of(members.get("identifier")) or address or title
    if not key:
        raise DocumentError("no_identifier", place=place)

    builder = DocumentBuilder(STANDARD, key=key, standard_version=find_version(names, source))
    builder.rejected.extend([*source.rejected, *names.rejected] if place in ("", "/dataset/0") else [])
    if text_of(members.get("identifier")) is None:
        builder.rejected.append(RejectedPart(f"{place}/identifier", "missing_identifier", {"used_instead": key}))
    builder.name(title, key)
    builder.describe(text_of(members.get("description")))
    builder.remember("url", address_of(members.get("landingPage")) or address)
    builder.remember("language", [last_step(text) for text in texts_of(members.get("language"))])
    builder.remember("version", text_of(members.get("version")))

    keywords = texts_of(members.get("keyword"))
    builder.remember("tags", keywords)
    themes = theme_words(members.get("theme"))
    builder.words("domain", fold_domains(themes) or known_domains(keywords))
    licence = builder.licence(licence_texts(members))
    add_access(builder, members, licence, place)
    add_year(builder, members, place)
    add_documentation(builder, members, place)
    add_accountability(builder, members, place)
    for name in PROSE_FIELDS:
        builder.prose((name,), text_of(members.get(name)))
    unchanged = [name for name in REPRESENTED if isinstance(node.get(name), str) and names.normalise(name) == name]
    builder.keep_rest(node, unchanged)
    builder.keep_context(context_of(source.data))
    return builder.build()


def find_version(names: Names, source: SourceDocument) -> str | None:
    """Return the version of DCAT-US that the catalog conforms to, if it names one."""
    stated = text_of(names.members(source.members).get("conformsTo")) or ""
    for version in ("1.1", "3.0"):
        if version in stated:
            return version
    return None


def theme_words(value: Any) -> list[str]:
    """Return the subjects of a dataset: words, labels of concepts, and the data themes of the European Union."""
    themes = [DATA_THEMES.get(last_step(text), text) for text in texts_of(value)]
    return [theme for theme in themes if "://" not in theme]


def last_step(text: str) -> str:
    """Return the last step of an address, which is the code of a concept in a vocabulary; a text as it is."""
    return text.rstrip("/").rsplit("/", 1)[-1].rsplit("#", 1)[-1] if "://" in text else text


def licence_texts(members: Mapping[str, Any]) -> list[str]:
    """Return the licence of a dataset, or those of its distributions, where DCAT-AP puts them."""
    licences = texts_of(members.get("license"))
    if licences:
        return licences
    distributions = [part for part in as_list(members.get("distribution")) if isinstance(part, Mapping)]
    return [text for distribution in distributions for text in texts_of(distribution.get("license"))]


def add_access(builder: DocumentBuilder, members: Mapping[str, Any], licence: Licence | None, place: str) -> None:
    """Claim whether everybody gets the data.

    The stated level of access decides, or else a condition for access, or else an open licence.
    """
    for name in ("accessLevel", "accessRights"):
        for level in texts_of(members.get(name)):
            code = last_step(level).strip().lower()
            if code in OPEN_LEVELS or code in CLOSED_LEVELS:
                builder.claim(Claim("is_public", code in OPEN_LEVELS, level, f"{place}/{name}", field=name))
                return

    for name in ("rights", "description"):
        restriction = find_access_restriction(text_of(members.get(name)) or "")
        if restriction is not None:
            builder.claim(Claim("is_public", False, restriction, f"{place}/{name}", field=name))
            return

    if licence is not None and licence.is_open and texts_of(members.get("license")):
        quote = texts_of(members["license"])[0]
        builder.claim(Claim("is_public", True, quote, f"{place}/license", field="license", note="an open licence"))


def add_year(builder: DocumentBuilder, members: Mapping[str, Any], place: str) -> None:
    """Add the year of issue, or else of the last change."""
    for name in ("issued", "modified"):
        date = text_of(members.get(name))
        year = year_of(date[:4]) if date else None
        if date is not None and year is not None:
            builder.claim(Claim("year", year, date, f"{place}/{name}", field=name))
            return


def add_documentation(builder: DocumentBuilder, members: Mapping[str, Any], place: str) -> None:
    """Claim documentation from the address of a page, and metadata from a data dictionary."""
    for name in DOCUMENTATION_FIELDS:
        address = address_of(members.get(name))
        if address is None:
            continue
        if "external_documentation_available" not in builder.record:
            builder.claim(Claim("external_documentation_available", True, address, f"{place}/{name}", field=name))
        if name == "describedBy":
            builder.claim(Claim("metadata_provided_with_dataset", True, address, f"{place}/{name}", field=name))


def address_of(value: Any) -> str | None:
    """Return the first web address in a value: a text, or a member of a described page."""
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
        body = accountable_body(members.get(name))
        if body is not None and not body.startswith(("http://", "https://")):
            note = f"a named {name}"
            builder.claim(Claim("accountability_defined", True, body, f"{place}/{name}", field=name, note=note))
            return
