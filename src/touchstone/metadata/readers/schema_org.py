"""schema.org descriptions of datasets in JSON-LD, and what Croissant shares with them."""

import re
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, Final

from touchstone.core.vocabulary import fold_tasks, known_domains
from touchstone.metadata.access_restrictions import find_access_restriction
from touchstone.metadata.documents import Claim, DatasetDocument, RejectedPart
from touchstone.metadata.licences import Licence
from touchstone.metadata.parsing import DocumentError
from touchstone.metadata.placeholders import is_placeholder
from touchstone.metadata.prose import find_citation_year
from touchstone.metadata.readers.builder import LOADER_NAMES, DocumentBuilder, attempt, list_of_texts, year_of
from touchstone.metadata.readers.json_ld import Names, context_of, text_of, texts_of
from touchstone.metadata.readers.source_document import SourceDocument

STANDARD: Final = "schema_org"
PROSE_FIELDS: Final = (
    "description", "abstract", "disambiguatingDescription", "measurementTechnique", "conditionsOfAccess", "usageInfo",
    "publishingPrinciples", "ethicsPolicy", "correctionsPolicy", "maintenance", "acquireLicensePage",
)  # fmt: skip
REPRESENTED: Final = ("name", "description", "url")
DOCUMENTATION_FIELDS: Final = ("url", "sameAs", "citeAs", "citation", "documentation", "mainEntityOfPage")
# Places that host data for others, and do not answer for a dataset.
HUBS: Final = frozenset(
    {"hugging face", "huggingface", "kaggle", "openml", "zenodo", "figshare", "github",
     "uci machine learning repository", "tensorflow", "papers with code", "anonymous", "unknown", "community",
     "the community"}
)  # fmt: skip
_HOME_PAGE: Final = re.compile(r"https?://[^/?#]*/?")
_ADDRESS: Final = re.compile(r"https?://[^\s\"'<>{}]+")


def detect(source: SourceDocument) -> bool:
    """Return whether a document contains a dataset in the vocabulary of schema.org."""
    names = Names(context_of(source.data))
    context = str(context_of(source.data))
    nodes = list(names.nodes_of_type(source.data, "Dataset"))
    return "schema.org" in context and bool(nodes)


def read(source: SourceDocument) -> Iterator[DatasetDocument | RejectedPart]:
    """Yield the datasets of a document."""
    names = Names(context_of(source.data))
    for node, place in names.nodes_of_type(source.data, "Dataset"):
        yield attempt(place, partial(read_node, source, names, node, place))


def read_node(source: SourceDocument, names: Names, node: Mapping[str, Any], place: str) -> DatasetDocument:
    """Return one dataset."""
    builder = start_document(source, names, node, STANDARD)
    add_common_values(builder, names, node, place)
    builder.keep_rest(node, represented_names(names, node))
    builder.keep_context(context_of(source.data))
    return builder.build()


def start_document(source: SourceDocument, names: Names, node: Mapping[str, Any], standard: str) -> DocumentBuilder:
    """Start to read a dataset: find what identifies it, and return a builder for its record.

    Raises:
        DocumentError: the dataset has no identifier, or only the name of a loader of files, such as `csv`.
    """
    members = names.members(node)
    name = text_of(members.get("name"))
    address = text_of(members.get("url"))
    last_step = (address or name or "").rstrip("/").rsplit("/", 1)[-1]
    if last_step in LOADER_NAMES:
        raise DocumentError("loader_name", name=last_step)

    candidates = (address, text_of(members.get("@id")), text_of(members.get("identifier")), name, source.folder)
    key = next((text for text in candidates if text and identifies_dataset(text)), None)
    if key is None:
        raise DocumentError("no_identifier")

    builder = DocumentBuilder(standard, key=key)
    builder.rejected.extend(source.rejected)
    builder.rejected.extend(names.rejected)
    return builder


def identifies_dataset(text: str) -> bool:
    """Return whether a text can identify a dataset: neither a placeholder nor the home page of a site can."""
    return not is_placeholder(text) and _HOME_PAGE.fullmatch(text) is None


def represented_names(names: Names, node: Mapping[str, Any]) -> list[str]:
    """Return the members whose texts stand unchanged in the record, under the names that an export gives them."""
    return [name for name in REPRESENTED if isinstance(node.get(name), str) and names.normalise(name) == name]


def add_common_values(builder: DocumentBuilder, names: Names, node: Mapping[str, Any], place: str) -> None:
    """Add what every description in the vocabulary of schema.org may state."""
    members = names.members(node)
    builder.name(text_of(members.get("name")), text_of(members.get("alternateName")), builder.key)
    builder.describe(text_of(members.get("description")))
    builder.remember("url", text_of(members.get("url")))
    builder.remember("language", texts_of(members.get("inLanguage")))
    builder.remember("version", text_of(members.get("version")))

    keywords = keywords_of(members.get("keywords"))
    builder.remember("tags", keywords)
    builder.words("domain", known_domains(keywords))
    builder.words("task", fold_tasks(texts_of(members.get("task"))))

    licence = builder.licence(texts_of(members.get("license")))
    add_access(builder, members, licence, place)
    add_year(builder, members, place)
    add_documentation(builder, members, place)
    add_accountability(builder, members, place)
    for name in PROSE_FIELDS:
        builder.prose((name,), text_of(members.get(name)))


def keywords_of(value: Any) -> list[str]:
    """Return keywords, which may be a list or one text with commas."""
    if isinstance(value, str):
        return [word.strip() for word in value.split(",") if word.strip()]
    return texts_of(value)


def add_access(builder: DocumentBuilder, members: Mapping[str, Any], licence: Licence | None, place: str) -> None:
    """Claim whether everybody gets the data.

    A stated condition for access decides, or else the flag `isAccessibleForFree`, an open licence or a download
    address.
    """
    for name in ("conditionsOfAccess", "usageInfo", "description"):
        restriction = find_access_restriction(text_of(members.get(name)) or "")
        if restriction is not None:
            builder.claim(Claim("is_public", False, restriction, f"{place}/{name}", field=name))
            return

    if members.get("isAccessibleForFree") is False:
        builder.claim(Claim("is_public", False, "false", f"{place}/isAccessibleForFree", field="isAccessibleForFree"))
    elif licence is not None and licence.is_open:
        quote = texts_of(members.get("license"))[0]
        note = "an open licence, and no condition for access"
        builder.claim(Claim("is_public", True, quote, f"{place}/license", field="license", note=note))
    elif address := download_address(members):
        note = "a public download address, and no condition for access"
        builder.claim(Claim("is_public", True, address, f"{place}/distribution", field="contentUrl", note=note))


def download_address(members: Mapping[str, Any]) -> str | None:
    """Return the first address from which the data can be downloaded, or None if there is none."""
    distributions = members.get("distribution")
    if not isinstance(distributions, list):
        distributions = [distributions]

    for distribution in distributions:
        if not isinstance(distribution, Mapping):
            continue
        for name in ("contentUrl", "sc:contentUrl", "schema:contentUrl", "url"):
            address = distribution.get(name)
            if isinstance(address, str) and address.startswith(("http://", "https://", "ftp://")):
                return address
    return None


def add_year(builder: DocumentBuilder, members: Mapping[str, Any], place: str) -> None:
    """Add the year from a date of publication, or else from a citation."""
    for name in ("datePublished", "dateCreated"):
        date = text_of(members.get(name))
        year = year_of(date) if date else None
        if date is not None and year is not None:
            builder.claim(Claim("year", year, date, f"{place}/{name}", field=name))
            return

    for name in ("citeAs", "citation"):
        dated = find_citation_year(text_of(members.get(name)) or "")
        if dated is not None:
            year, quote = dated
            builder.claim(Claim("year", year, quote, f"{place}/{name}", field=name, note="the first citation"))
            return


def add_documentation(builder: DocumentBuilder, members: Mapping[str, Any], place: str) -> None:
    """Claim external documentation from the first address of a page or a paper."""
    for name in DOCUMENTATION_FIELDS:
        for text in list_of_texts(members.get(name)):
            address = _ADDRESS.search(text)
            if address is not None:
                quote = address.group(0)
                builder.claim(Claim("external_documentation_available", True, quote, f"{place}/{name}", field=name))
                return


def add_accountability(builder: DocumentBuilder, members: Mapping[str, Any], place: str) -> None:
    """Claim accountability from a named maintainer or publisher. A creator alone does not answer for a dataset."""
    for name in ("maintainer", "publisher", "contactPoint"):
        body = accountable_body(members.get(name))
        if body is not None:
            note = f"a named {name}"
            builder.claim(Claim("accountability_defined", True, body, f"{place}/{name}", field=name, note=note))
            return


def accountable_body(value: Any) -> str | None:
    """Return the name or address of the first person or body that can answer for a dataset, or None.

    A site that hosts the datasets of others, such as Kaggle, answers for none of them.
    """
    for member in value if isinstance(value, list) else [value]:
        if isinstance(member, Mapping):
            stated_names = [member.get(name) for name in ("name", "foaf:name", "fn", "vcard:fn", "email", "hasEmail")]
            text = next((text for text in map(text_of, stated_names) if text and text.strip()), None)
        else:
            text = member if isinstance(member, str) else None

        if text and text.strip() and text.strip().casefold() not in HUBS:
            return text
    return None
