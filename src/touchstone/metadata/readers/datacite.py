"""Metadata of DataCite, the agency behind most DOIs of research data, in JSON (versions 4.x of its schema).

Repositories such as Zenodo export the metadata of one resource as an object. The API of DataCite answers with the same
members in `attributes` of a JSON:API resource, or with a list of such resources. Most members are lists of objects,
because everything may be repeated, for example in several languages.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from typing import Any, Final

from touchstone.core.vocabulary import fold_language, known_domains
from touchstone.metadata.access_restrictions import find_access_restriction
from touchstone.metadata.documents import Claim, DatasetDocument, RejectedPart
from touchstone.metadata.licences import is_unknown_licence, most_telling_name, normalize_licence
from touchstone.metadata.parsing import DocumentError
from touchstone.metadata.placeholders import first_meaningful_text, is_placeholder
from touchstone.metadata.readers.builder import (
    MAX_TERM_LENGTH,
    MAX_TERMS,
    DocumentBuilder,
    parse_year,
    read_or_reject,
)
from touchstone.metadata.readers.json_ld import text_of, text_or_integer
from touchstone.metadata.readers.schema_org import identifies_dataset, named_party
from touchstone.metadata.readers.source_document import SourceDocument

STANDARD: Final = "datacite"
# The value of `schemaVersion`: http://datacite.org/schema/kernel-4, in some documents with a minor version.
_SCHEMA: Final = re.compile(r"\Ahttps?://(?:schema\.)?datacite\.org/(?:schema|meta)/kernel-(?P<version>\d+(?:\.\d+)*)")
# Matches "10.5281/zenodo.7", "doi:10.5281/zenodo.7" and "https://doi.org/10.5281/ZENODO.7".
_DOI: Final = re.compile(
    r"\s*(?:doi:\s*|info:doi/|https?://(?:dx\.|www\.)?doi\.org/)?(?P<doi>10\.\d{4,9}(?:\.\d+)*/\S+)\s*", re.IGNORECASE
)
_WEB_ADDRESS: Final = re.compile(r"https?://\S+")

# General types of resources that are datasets, in lower case. "Other" says no more than a missing type.
DATASET_TYPES: Final = frozenset({"dataset", "collection", "other"})
RIGHTS: Final = "rightsList"
TRANSLATED_TITLE: Final = "TranslatedTitle"
ABSTRACT: Final = "Abstract"
# Descriptions of these types are about other resources, or only list headings.
TYPES_WITHOUT_PROSE: Final = ("SeriesInformation", "TableOfContents")
# Contributors who answer for a dataset, in the order in which they are named.
ACCOUNTABLE_TYPES: Final = ("ContactPerson", "DataManager", "DataCurator")
DOCUMENTING_RELATIONS: Final = ("IsDocumentedBy", "IsDescribedBy", "IsSupplementTo")
# Dates that tell the year if the year of publication is missing.
PUBLICATION_DATES: Final = ("Issued", "Available", "Created")
# DataCite adds the fields of science of the OECD as subjects: "FOS: Psychology".
FIELD_OF_SCIENCE: Final = "FOS: "
# Levels of access in words, and at the end of addresses in the vocabularies of the European Union's repositories
# (info:eu-repo/semantics/openAccess) and of COAR (http://purl.org/coar/access_right/c_abf2), in lower case.
ACCESS_LEVELS: Final[Mapping[str, bool]] = {
    "open access": True,
    "openaccess": True,
    "c_abf2": True,
    "restricted access": False,
    "restrictedaccess": False,
    "c_16ec": False,
    "embargoed access": False,
    "embargoedaccess": False,
    "c_f1cf": False,
    "closed access": False,
    "closedaccess": False,
    "metadata only access": False,
    "c_14cb": False,
}


@dataclass(frozen=True, slots=True)
class Resource:
    """A resource that a document describes.

    Attributes:
        members: its metadata.
        location: the JSON pointer of its metadata.
        envelope: the other members of its JSON:API resource; empty for other documents.
    """

    members: Mapping[str, Any]
    location: str
    envelope: Mapping[str, Any] = field(default_factory=dict)

    def entries(self, name: str) -> list[tuple[Mapping[str, Any], str]]:
        """Return the objects in a list of the metadata with their JSON pointers."""
        values = self.members.get(name)
        if not isinstance(values, list):
            return []
        entries = enumerate(values)
        return [(entry, f"{self.location}/{name}/{index}") for index, entry in entries if isinstance(entry, Mapping)]


def detect(source: SourceDocument) -> bool:
    """Return whether a document contains metadata of DataCite."""
    return bool(find_resources(source.data))


def find_resources(data: Any) -> list[Resource]:
    """Return the resources of a document: a single one, a list, or the `data` of an answer of the API."""
    location = ""
    if isinstance(data, Mapping) and isinstance(data.get("data"), Mapping | list):
        data = data["data"]
        location = "/data"

    entries = [(data, location)]
    if isinstance(data, list):
        entries = [(entry, f"{location}/{index}") for index, entry in enumerate(data)]
    resources = [_resource_of(entry, place) for entry, place in entries]
    return [resource for resource in resources if resource is not None]


def _resource_of(entry: Any, location: str) -> Resource | None:
    """Return the resource that a value describes, or None if the value is anything else."""
    if not isinstance(entry, Mapping):
        return None
    attributes = entry.get("attributes")
    if entry.get("type") == "dois" and isinstance(attributes, Mapping):
        envelope = {name: value for name, value in entry.items() if name != "attributes"}
        return Resource(attributes, f"{location}/attributes", envelope)
    return Resource(entry, location) if has_datacite_members(entry) else None


def has_datacite_members(entry: Mapping[str, Any]) -> bool:
    """Return whether an object has titles and either the address of DataCite's schema or a general type.

    The address alone is not enough, because descriptions in the vocabulary of schema.org have it as well.
    """
    types = entry.get("types")
    has_general_type = isinstance(types, Mapping) and "resourceTypeGeneral" in types
    return isinstance(entry.get("titles"), list) and (has_general_type or schema_version(entry) is not None)


def schema_version(members: Mapping[str, Any]) -> str | None:
    """Return the version of DataCite's schema that a description follows, or None if it does not name one."""
    address = members.get("schemaVersion")
    match = _SCHEMA.match(address) if isinstance(address, str) else None
    return None if match is None else match["version"]


def read(source: SourceDocument) -> Iterator[DatasetDocument | RejectedPart]:
    """Yield the datasets of a document."""
    for resource in find_resources(source.data):
        yield read_or_reject(resource.location, partial(read_resource, source, resource))


def read_resource(source: SourceDocument, resource: Resource) -> DatasetDocument:
    """Read the dataset that a resource is.

    Raises:
        DocumentError: the resource is not a dataset, or has no identifier.
    """
    check_type(resource)
    members = resource.members
    builder = DocumentBuilder(
        STANDARD,
        key=key_of(resource),
        location=resource.location,
        standard_version=schema_version(members),
        rejected=list(source.rejected),
    )

    add_texts(builder, resource)
    builder.set_metadata("url", landing_page(builder, members))
    builder.set_metadata("language", text_of(members.get("language")))
    builder.set_metadata("version", text_or_integer(members.get("version")))
    add_subjects(builder, resource)
    add_warnings(builder, resource)

    add_licence_and_access(builder, resource)
    add_year(builder, resource)
    add_accountability(builder, resource)
    add_documentation(builder, resource)

    # Everything is kept as it is, because the record has single values instead of these lists.
    builder.keep_unmapped(resource.envelope)
    builder.keep_unmapped(members)
    return builder.build()


def check_type(resource: Resource) -> None:
    """Raise a DocumentError if the general type of a resource is known and not that of a dataset or collection."""
    types = resource.members.get("types")
    general_type = types.get("resourceTypeGeneral") if isinstance(types, Mapping) else None
    if not isinstance(general_type, str) or is_placeholder(general_type):
        return
    if general_type.strip().casefold() not in DATASET_TYPES:
        raise DocumentError("not_a_dataset", type=general_type[:200])


def key_of(resource: Resource) -> str:
    """Return the DOI of a resource in lower case and without a prefix, or else its first other identifier or address.

    DOIs do not distinguish between upper and lower case, and documents write them with or without a resolver.
    """
    members = resource.members
    identifiers = [entry.get("identifier") for entry, _place in resource.entries("identifiers")]
    candidates = [members.get("doi"), members.get("id"), resource.envelope.get("id"), *identifiers]
    for candidate in candidates:
        doi = normalized_doi(candidate)
        if doi is not None:
            return doi

    other_keys = [text for text in (*identifiers, members.get("url")) if isinstance(text, str)]
    key = next((text.strip() for text in other_keys if identifies_dataset(text)), None)
    if key is None:
        raise DocumentError("no_identifier")
    return key


def normalized_doi(value: Any) -> str | None:
    """Return the DOI in a string in lower case and without a prefix, or None if it is not a DOI."""
    match = _DOI.fullmatch(value) if isinstance(value, str) else None
    return None if match is None else match["doi"].lower()


def landing_page(builder: DocumentBuilder, members: Mapping[str, Any]) -> str | None:
    """Return the address of the page about a resource, which a DOI always leads to, or None."""
    address = members.get("url")
    if isinstance(address, str) and _WEB_ADDRESS.fullmatch(address):
        return address
    return None if normalized_doi(builder.key) is None else f"https://doi.org/{builder.key}"


def add_texts(builder: DocumentBuilder, resource: Resource) -> None:
    """Add the name, the description, and the prose for the extractor."""
    titles = [title for title, _place in resource.entries("titles")]
    # Subtitles and alternative titles do not name a dataset by themselves.
    names = [title for title in titles if title.get("titleType") in (None, "", TRANSLATED_TITLE)]
    builder.set_name(preferred_text(names, "title"), preferred_text(titles, "title"), builder.key)

    descriptions = resource.entries("descriptions")
    prose = [entry for entry in descriptions if entry[0].get("descriptionType") not in TYPES_WITHOUT_PROSE]
    texts = [description for description, _place in prose]
    abstracts = [description for description in texts if description.get("descriptionType") == ABSTRACT]
    builder.set_description(preferred_text(abstracts, "description") or preferred_text(texts, "description"))
    for description, place in prose:
        path = f"{place}/description".removeprefix("/").split("/")
        builder.add_prose(tuple(path), description.get("description"))


def preferred_text(entries: list[Mapping[str, Any]], member: str) -> str | None:
    """Return the text of the entry in English, else in French, else of the first one, or None.

    A text without a language counts as English, since nothing says that another one is easier to read.

    Args:
        entries: objects with a text and its language.
        member: the name of the text in these objects.
    """
    literals = []
    for entry in entries:
        language = first_meaningful_text([entry.get("lang")])
        # Repositories write "en", "en-GB" or "eng".
        code = "en" if language is None else fold_language(language)
        literals.append({"@value": first_meaningful_text([entry.get(member)]), "@language": code})
    return text_of(literals)


def add_subjects(builder: DocumentBuilder, resource: Resource) -> None:
    """Add the subjects as tags and the known domains among them. The unmapped fields contain the subjects as well."""
    subjects = [subject.get("subject") for subject, _place in resource.entries("subjects")]
    # DataCite repeats the subjects that it adds itself.
    texts = list(dict.fromkeys(meaningful_texts(subjects)))
    builder.set_metadata("tags", [text for text in texts if len(text) <= MAX_TERM_LENGTH][:MAX_TERMS])
    builder.set_terms("domain", known_domains(text.removeprefix(FIELD_OF_SCIENCE) for text in texts))


def add_warnings(builder: DocumentBuilder, resource: Resource) -> None:
    """Add warnings if the resource was withdrawn or another one replaces it."""
    for date, _place in resource.entries("dates"):
        if date.get("dateType") == "Withdrawn":
            builder.add_warning(f"DataCite: Withdrawn {text_of(date.get('date')) or ''}")
            break
    for relation, _place in resource.entries("relatedIdentifiers"):
        if relation.get("relationType") == "IsObsoletedBy":
            builder.add_warning(f"DataCite: IsObsoletedBy {text_of(relation.get('relatedIdentifier')) or ''}")
            break


def add_licence_and_access(builder: DocumentBuilder, resource: Resource) -> None:
    """Add the licence, and whether the data are public.

    The first of these decides: a level of access that is not open, a condition for access that the rights or a
    description state, an open level, or an open licence. If the document has none of them, nothing is claimed.
    """
    licences: list[tuple[str, str]] = []
    levels: list[Claim] = []
    for entry, place in resource.entries(RIGHTS):
        texts = meaningful_texts(entry.get(name) for name in ("rights", "rightsIdentifier", "rightsUri"))
        stated_levels = [text for text in texts if is_open_level(text) is not None]
        if stated_levels:
            level = is_open_level(stated_levels[0])
            levels.append(Claim("is_public", level, stated_levels[0], place, field=RIGHTS))
            # What else the entry says is the name of the level in another language, unless it identifies a licence.
            texts = [text for text in texts if normalize_licence(text).spdx is not None]
        name = most_telling_name(texts)
        if name is not None and not is_unknown_licence(name):
            licences.append((name, place))
    licence = builder.set_licence(name for name, _place in licences)

    closed_levels = [claim for claim in levels if not claim.value]
    claim = next(chain(closed_levels, access_restrictions(builder, resource), levels), None)
    if claim is not None:
        builder.add_claim(claim)
    elif licence is not None and licence.is_open:
        name, place = licences[0]
        builder.add_claim(Claim("is_public", True, name, place, field=RIGHTS, note="an open licence"))


def meaningful_texts(values: Iterable[Any]) -> list[str]:
    """Return the strings among several values that are not placeholders."""
    return [value for value in values if isinstance(value, str) and not is_placeholder(value)]


def is_open_level(text: str) -> bool | None:
    """Return whether a level of access, in words or as an address, is open, or None for any other text."""
    last_step = text.strip().rstrip("/").rsplit("/", 1)[-1]
    return ACCESS_LEVELS.get(last_step.casefold())


def access_restrictions(builder: DocumentBuilder, resource: Resource) -> Iterator[Claim]:
    """Yield a claim that the data are not public for each condition for access in the rights and descriptions."""
    for field_name, member in ((RIGHTS, "rights"), ("descriptions", "description")):
        for entry, place in resource.entries(field_name):
            for text in meaningful_texts([entry.get(member)]):
                restriction = find_access_restriction(text, builder.names)
                if restriction is not None:
                    yield Claim("is_public", False, restriction, f"{place}/{member}", field=field_name)


def add_year(builder: DocumentBuilder, resource: Resource) -> None:
    """Add the year of publication, or else that of another date."""
    year_text = text_or_integer(resource.members.get("publicationYear"))
    if year_text is not None and (year := parse_year(year_text)) is not None:
        builder.add_field_claim("year", year, year_text, "publicationYear")
        return

    dates = resource.entries("dates")
    for date_type in PUBLICATION_DATES:
        for entry, place in dates:
            date = text_of(entry.get("date"))
            if entry.get("dateType") != date_type or date is None:
                continue
            if (year := parse_year(date[:4])) is not None:
                builder.add_claim(Claim("year", year, date, f"{place}/date", field="dates", note=date_type))
                return


def add_accountability(builder: DocumentBuilder, resource: Resource) -> None:
    """Claim accountability from a named contact, manager or curator of the data, or else from the publisher.

    A creator is not enough, because authors do not necessarily maintain their data.
    """
    contributors = resource.entries("contributors")
    for contributor_type in ACCOUNTABLE_TYPES:
        for contributor, place in contributors:
            party = named_party(contributor)
            if contributor.get("contributorType") == contributor_type and party is not None:
                note = f"a contributor of the type {contributor_type}"
                claim = Claim("accountability_defined", True, party, place, field="contributors", note=note)
                builder.add_claim(claim)
                return

    publisher = named_party(resource.members.get("publisher"))
    if publisher is not None:
        builder.add_field_claim("accountability_defined", True, publisher, "publisher", note="a named publisher")


def add_documentation(builder: DocumentBuilder, resource: Resource) -> None:
    """Claim external documentation from the DOI or address of a document about the dataset."""
    own_identifiers = (builder.key, resource.members.get("url"))
    relations = resource.entries("relatedIdentifiers")
    for relation_type in DOCUMENTING_RELATIONS:
        for relation, place in relations:
            identifier = relation.get("relatedIdentifier")
            if relation.get("relationType") != relation_type or not isinstance(identifier, str):
                continue
            doi = normalized_doi(identifier)
            can_be_found = doi is not None or _WEB_ADDRESS.fullmatch(identifier) is not None
            # Some documents refer to themselves.
            if can_be_found and (doi or identifier) not in own_identifiers:
                attribute = "external_documentation_available"
                claim = Claim(attribute, True, identifier, place, field="relatedIdentifiers", note=relation_type)
                builder.add_claim(claim)
                return
