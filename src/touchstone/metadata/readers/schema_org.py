"""Descriptions of datasets in the vocabulary of schema.org (type `Dataset`), as web pages embed them in JSON-LD.

Croissant extends this vocabulary, so its reader shares most functions of this module.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any, Final

from touchstone.core.vocabulary import fold_tasks, known_domains
from touchstone.metadata.access_restrictions import find_access_restriction
from touchstone.metadata.documents import Claim, DatasetDocument, RejectedPart
from touchstone.metadata.licences import Licence, most_telling_name
from touchstone.metadata.parsing import DocumentError
from touchstone.metadata.placeholders import first_meaningful_text, is_placeholder
from touchstone.metadata.prose import find_citation_year
from touchstone.metadata.readers.builder import (
    LOADER_NAMES,
    DocumentBuilder,
    list_of_strings,
    objects_of,
    parse_year,
    read_or_reject,
)
from touchstone.metadata.readers.json_ld import NameResolver, as_list, context_of, text_of, text_or_integer, texts_of
from touchstone.metadata.readers.source_document import SourceDocument

STANDARD: Final = "schema_org"
PROSE_FIELDS: Final = (
    "description", "abstract", "disambiguatingDescription", "measurementTechnique", "conditionsOfAccess", "usageInfo",
    "publishingPrinciples", "ethicsPolicy", "correctionsPolicy", "maintenance", "acquireLicensePage",
)  # fmt: skip
# The record contains these fields as they are, so they are not stored a second time.
REPRESENTED_FIELDS: Final = ("name", "description", "url")
DOCUMENTATION_FIELDS: Final = ("url", "sameAs", "citeAs", "citation", "documentation", "mainEntityOfPage")
# Hosting sites and placeholders, which are not responsible for a dataset.
NOT_RESPONSIBLE: Final = frozenset(
    {"hugging face", "huggingface", "kaggle", "openml", "zenodo", "figshare", "github",
     "uci machine learning repository", "tensorflow", "papers with code", "dryad", "dryad digital repository",
     "mendeley", "mendeley data", "harvard dataverse", "open science framework", "osf", "science data bank",
     "ieee dataport", "anonymous", "unknown", "community", "the community"}
)  # fmt: skip
# Matches "https://example.org/" but not "https://example.org/roads".
_HOME_PAGE: Final = re.compile(r"https?://[^/?#]*/?")
_ADDRESS: Final = re.compile(r"https?://[^\s\"'<>{}]+")


def detect(source: SourceDocument) -> bool:
    """Return whether a document contains a dataset in the vocabulary of schema.org."""
    context = context_of(source.data)
    # The type alone is not enough, because DCAT has one of the same name.
    if "schema.org" not in str(context):
        return False
    return any(NameResolver(context).nodes_of_type(source.data, "Dataset"))


def read(source: SourceDocument) -> Iterator[DatasetDocument | RejectedPart]:
    """Yield the datasets of a document."""
    resolver = NameResolver(context_of(source.data))
    for node, location in resolver.nodes_of_type(source.data, "Dataset"):
        yield read_or_reject(location, partial(read_node, source, resolver, node, location))


def read_node(
    source: SourceDocument, resolver: NameResolver, node: Mapping[str, Any], location: str
) -> DatasetDocument:
    """Read the dataset of a JSON-LD node. `location` is the JSON pointer of the node."""
    builder = start_document(source, resolver, node, location, STANDARD)
    add_common_values(builder, resolver.members(node))
    builder.keep_unmapped(node, represented_names(resolver, node))
    builder.keep_context(context_of(source.data))
    return builder.build()


def start_document(
    source: SourceDocument, resolver: NameResolver, node: Mapping[str, Any], location: str, standard: str
) -> DocumentBuilder:
    """Return a builder with the key of the dataset in a node. `location` is the JSON pointer of the node.

    Raises:
        DocumentError: the dataset has no identifier, or its name is a file loader such as `csv`.
    """
    members = resolver.members(node)
    name = text_of(members.get("name"))
    address = text_of(members.get("url"))
    last_step = (address or name or "").rstrip("/").rsplit("/", 1)[-1]
    if last_step in LOADER_NAMES:
        raise DocumentError("loader_name", name=last_step)

    key_candidates = (address, text_of(members.get("@id")), text_of(members.get("identifier")), name, source.folder)
    key = next((text for text in key_candidates if text and identifies_dataset(text)), None)
    if key is None:
        raise DocumentError("no_identifier")

    builder = DocumentBuilder(standard, key=key, location=location)
    builder.rejected.extend(source.rejected)
    builder.rejected.extend(resolver.rejected)
    return builder


def identifies_dataset(text: str) -> bool:
    """Return whether a string can identify a dataset, unlike a placeholder or the home page of a site."""
    return not is_placeholder(text) and _HOME_PAGE.fullmatch(text) is None


def represented_names(
    resolver: NameResolver, node: Mapping[str, Any], names: Iterable[str] = REPRESENTED_FIELDS
) -> list[str]:
    """Return those names whose values the record contains unchanged and an export writes under the same names."""
    return [name for name in names if isinstance(node.get(name), str) and resolver.normalize(name) == name]


def add_common_values(builder: DocumentBuilder, members: Mapping[str, Any]) -> None:
    """Add the values that any description in the vocabulary of schema.org may contain."""
    builder.set_name(text_of(members.get("name")), text_of(members.get("alternateName")), builder.key)
    builder.set_description(text_of(members.get("description")))
    builder.set_metadata("url", text_of(members.get("url")))
    builder.set_metadata("language", languages_of(members.get("inLanguage")))
    builder.set_metadata("version", text_of(members.get("version")))

    keywords = keywords_of(members.get("keywords"))
    builder.set_metadata("tags", keywords)
    builder.set_terms("domain", known_domains(keywords))
    builder.set_terms("task", fold_tasks(texts_of(members.get("task"))))

    licence = builder.set_licence(licence_texts(members))
    add_access(builder, members, licence)
    add_year(builder, members)
    add_documentation(builder, members)
    add_accountability(builder, members)
    for name in PROSE_FIELDS:
        builder.add_prose((name,), text_of(members.get(name)))


def languages_of(value: Any) -> list[str]:
    """Return the languages of a dataset as their codes or, failing that, as their names.

    schema.org calls the code of a language its alternate name: `{"name": "French", "alternateName": "fr"}`.
    """
    languages = []
    for language in as_list(value):
        code = language.get("alternateName") if isinstance(language, Mapping) else None
        languages.append(code or language)
    return texts_of(languages)


def keywords_of(value: Any) -> list[str]:
    """Return keywords from a list, or from a string in which commas or else semicolons separate them."""
    if isinstance(value, str):
        separator = "," if "," in value else ";"
        return [word.strip() for word in value.split(separator) if word.strip()]
    return texts_of(value)


def add_access(builder: DocumentBuilder, members: Mapping[str, Any], licence: Licence | None) -> None:
    """Claim whether the data are public.

    The first of these decides: a condition for access that a field or the description states, `isAccessibleForFree`
    with the value false, an open licence, or a download address. If the document has none of them, nothing is claimed.
    """
    for name in ("conditionsOfAccess", "usageInfo", "description"):
        restriction = find_access_restriction(text_of(members.get(name)) or "", builder.names)
        if restriction is not None:
            builder.add_field_claim("is_public", False, restriction, name)
            return

    if members.get("isAccessibleForFree") is False:
        builder.add_field_claim("is_public", False, "false", "isAccessibleForFree")
    elif licence is not None and licence.is_open:
        quote = licence_texts(members)[0]
        note = "an open licence, and no condition for access"
        builder.add_field_claim("is_public", True, quote, "license", note=note)
    elif address := download_address(members):
        place = f"{builder.location}/distribution"
        note = "a public download address, and no condition for access"
        builder.add_claim(Claim("is_public", True, address, place, field="contentUrl", note=note))


def download_address(members: Mapping[str, Any]) -> str | None:
    """Return the first download address of the data, or None."""
    for distribution in objects_of(as_list(members.get("distribution"))):
        for name in ("contentUrl", "sc:contentUrl", "schema:contentUrl", "url"):
            address = distribution.get(name)
            if isinstance(address, str) and address.startswith(("http://", "https://", "ftp://")):
                return address
    return None


def licence_texts(members: Mapping[str, Any]) -> list[str]:
    """Return the name or the address of each licence, whichever identifies it."""
    texts = []
    for licence in as_list(members.get("license")):
        if isinstance(licence, Mapping) and "url" in licence:
            texts.append(most_telling_name([text_of(licence.get("name")), text_of(licence["url"])]))
        else:
            texts.append(licence)
    return texts_of(texts)


def add_year(builder: DocumentBuilder, members: Mapping[str, Any]) -> None:
    """Add the year of publication or creation, or of a citation if both are unknown."""
    for name in ("datePublished", "dateCreated"):
        date = text_or_integer(members.get(name))
        if date is not None and (year := parse_year(date)) is not None:
            builder.add_field_claim("year", year, date, name)
            return

    for name in ("citeAs", "citation"):
        year_and_quote = find_citation_year(text_of(members.get(name)) or "")
        if year_and_quote is not None:
            year, quote = year_and_quote
            builder.add_field_claim("year", year, quote, name, note="the first citation")
            return


def add_documentation(builder: DocumentBuilder, members: Mapping[str, Any]) -> None:
    """Claim external documentation from the first address of a page or paper."""
    for name in DOCUMENTATION_FIELDS:
        for text in list_of_strings(members.get(name)):
            address = _ADDRESS.search(text)
            if address is not None:
                builder.add_field_claim("external_documentation_available", True, address.group(0), name)
                return


def add_accountability(builder: DocumentBuilder, members: Mapping[str, Any]) -> None:
    """Claim accountability from a named maintainer, publisher or contact. A creator is not enough."""
    for name in ("maintainer", "publisher", "contactPoint"):
        party = responsible_party(members.get(name))
        if party is not None:
            builder.add_field_claim("accountability_defined", True, party, name, note=f"a named {name}")
            return


def responsible_party(value: Any) -> str | None:
    """Return the name or address of the first person or organization in a value, or None.

    Hosting sites such as Kaggle are skipped, because they are not responsible for other people's datasets.
    """
    for member in as_list(value):
        name = _name_of_party(member)
        if name is not None and name.strip().casefold() not in NOT_RESPONSIBLE:
            return name
    return None


def named_party(value: Any) -> str | None:
    """Return the responsible party in a value, or None if a web address stands for it, which does not name anyone."""
    party = responsible_party(value)
    return None if party is None or party.startswith(("http://", "https://")) else party


def _name_of_party(party: Any) -> str | None:
    """Return the name or, failing that, the e-mail address of a person or organization, or None.

    Placeholders such as "None" are no names.
    """
    candidates = [party]
    if isinstance(party, Mapping):
        candidates = [text_of(party.get(name)) for name in ("name", "foaf:name", "fn", "vcard:fn", "email", "hasEmail")]
    return first_meaningful_text(candidates)
