"""DCAT-AP, the European profile of the Data Catalog Vocabulary (DCAT 3), as JSON-LD with an embedded context."""

import re
from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from touchstone.metadata.documents import ImportedDocument
from touchstone.metadata.exported_dataset import ExportedDataset
from touchstone.metadata.rdf import PREFIXES
from touchstone.metadata.readers import dcat
from touchstone.metadata.readers.json_ld import NameResolver
from touchstone.metadata.writers.croissant import MEDIA_TYPES
from touchstone.metadata.writers.json_ld_context import TOUCHSTONE_TERMS, local_terms
from touchstone.metadata.writers.merging import FieldMapping, MergedFields, merge_fields, new_quotes
from touchstone.metadata.writers.schema_org import encode, licence_value, year_text

STANDARD: Final = dcat.STANDARD
CONTEXT: Final[Mapping[str, Any]] = {
    **PREFIXES,
    "Catalog": "dcat:Catalog",
    "Concept": "skos:Concept",
    "DataService": "dcat:DataService",
    "Dataset": "dcat:Dataset",
    "DatasetSeries": "dcat:DatasetSeries",
    "Distribution": "dcat:Distribution",
    "Document": "foaf:Document",
    "Kind": "vcard:Kind",
    "LicenseDocument": "dct:LicenseDocument",
    "Location": "dct:Location",
    "Organization": "foaf:Organization",
    "PeriodOfTime": "dct:PeriodOfTime",
    "Standard": "dct:Standard",
    "accessRights": "dct:accessRights",
    "accessURL": "dcat:accessURL",
    "accrualPeriodicity": "dct:accrualPeriodicity",
    "conformsTo": "dct:conformsTo",
    "contactPoint": "dcat:contactPoint",
    "description": "dct:description",
    "distribution": "dcat:distribution",
    "downloadURL": "dcat:downloadURL",
    "fn": "vcard:fn",
    "format": "dct:format",
    "hasEmail": "vcard:hasEmail",
    "identifier": "dct:identifier",
    "isVersionOf": "dct:isVersionOf",
    "issued": "dct:issued",
    "keyword": "dcat:keyword",
    "label": "rdfs:label",
    "landingPage": "dcat:landingPage",
    "language": "dct:language",
    "license": "dct:license",
    "mediaType": "dcat:mediaType",
    "modified": "dct:modified",
    "name": "foaf:name",
    "prefLabel": "skos:prefLabel",
    "provenance": "dct:provenance",
    "publisher": "dct:publisher",
    "rights": "dct:rights",
    "source": "dct:source",
    "spatial": "dct:spatial",
    "temporal": "dct:temporal",
    "theme": "dcat:theme",
    "title": "dct:title",
    "version": "dcat:version",
}
# The addresses of the access rights begin with this.
ACCESS_RIGHTS: Final = "http://publications.europa.eu/resource/authority/access-right/"
# A web address without the characters that RDF does not allow in one.
_WEB_ADDRESS: Final = re.compile(r"https?://[^\s<>\"{}|\\^`]+")
_MEDIA_TYPES_ADDRESS: Final = "https://www.iana.org/assignments/media-types/"
# The addresses that DCAT recommends for languages, which end with the code, by the length of the code.
_LANGUAGE_ADDRESSES: Final[Mapping[int, str]] = {
    2: "http://id.loc.gov/vocabulary/iso639-1/",
    3: "http://id.loc.gov/vocabulary/iso639-2/",
}
# The fields that contain quotes, and the attributes of the quotes.
CLAIM_FIELDS: Final[Mapping[str, tuple[str, ...]]] = {
    "provenance": ("transparency", "informed_consent"),
    "rights": ("purpose_limitation_respected", "security_measures_in_place"),
}


def licence_nodes(dataset: ExportedDataset) -> dict[str, str] | list[dict[str, str]] | None:
    """Return the licences as references to their addresses, or as a node with the wording as its label, or None."""
    licence = licence_value(dataset)
    if licence is None:
        return None
    if isinstance(licence, list):
        return [{"@id": address} for address in licence]
    if "://" in licence:
        return [{"@id": licence}]
    return {"@type": "dct:LicenseDocument", "label": licence}


def themes(dataset: ExportedDataset) -> list[dict[str, Any]]:
    """Return the domains as concepts."""
    return [{"@type": "skos:Concept", "prefLabel": domain} for domain in dataset.texts("domain")]


def languages(dataset: ExportedDataset) -> list[dict[str, str]]:
    """Return the languages as references to their codes, or as nodes with their names as labels."""
    return [_language_node(language) for language in dataset.texts("metadata.language")]


def _language_node(language: str) -> dict[str, str]:
    """Return a reference to the code of a language, or a node with another name of it as the label."""
    if re.fullmatch(r"[a-z]{2,3}", language):
        return {"@id": _LANGUAGE_ADDRESSES[len(language)] + language}
    return {"@type": "dct:LinguisticSystem", "label": language}


def publication_year(dataset: ExportedDataset) -> dict[str, str] | None:
    """Return the year of the dataset as a typed literal, or None."""
    year = year_text(dataset)
    return None if year is None else {"@type": "xsd:gYear", "@value": year}


def access_rights(dataset: ExportedDataset) -> dict[str, str] | None:
    """Return the access rights as a term of the European vocabulary, or None if they are unknown."""
    is_public = dataset.record.get("is_public")
    if is_public is None:
        return None
    code = "PUBLIC" if is_public else "RESTRICTED"
    return {"@id": f"{ACCESS_RIGHTS}{code}"}


def distributions(dataset: ExportedDataset) -> list[dict[str, Any]]:
    """Describe the address and format of the data as a distribution, which must have an address."""
    file_type = (dataset.text("file_type") or "").lower()
    distribution: dict[str, Any] = {"@type": "dcat:Distribution", "accessURL": landing_page(dataset)}
    if file_type in MEDIA_TYPES:
        distribution["mediaType"] = {"@id": _MEDIA_TYPES_ADDRESS + MEDIA_TYPES[file_type]}
    return [distribution]


def landing_page(dataset: ExportedDataset) -> dict[str, str]:
    """Return a reference to the dataset's page in its source, or to its URN if there is no page."""
    is_valid_address = _WEB_ADDRESS.fullmatch(dataset.page) is not None
    return {"@id": dataset.page if is_valid_address else dataset.identifier}


FIELDS: Final = (
    FieldMapping("identifier", ("dataset_id",), lambda dataset: dataset.key),
    FieldMapping("title", ("dataset_name",), lambda dataset: dataset.name),
    FieldMapping(
        "description",
        ("description", "objective"),
        lambda dataset: dataset.text("description") or dataset.text("objective") or dataset.name,
    ),
    FieldMapping("keyword", ("metadata.tags",), lambda dataset: dataset.texts("metadata.tags")),
    FieldMapping("theme", ("domain",), themes),
    FieldMapping("landingPage", ("metadata.url",), landing_page),
    FieldMapping("language", ("metadata.language",), languages),
    FieldMapping("version", ("metadata.version",), lambda dataset: dataset.text("metadata.version")),
    FieldMapping("issued", ("year",), publication_year, only_if_new=True),
    FieldMapping("license", ("metadata.licence", "metadata.licence_text"), licence_nodes),
    FieldMapping("accessRights", ("is_public",), access_rights, only_if_new=True),
    FieldMapping("distribution", ("metadata.url", "file_type"), distributions, only_if_new=True),
)


def write(dataset: ExportedDataset) -> bytes:
    """Return a dataset in the vocabulary of DCAT, with the exact values of the record."""
    original = dataset.document_to_update(STANDARD)
    return encode(describe(dataset, original).with_exact_values(dataset, original))


def describe(dataset: ExportedDataset, original: ImportedDocument | None) -> MergedFields:
    """Merge the record with the imported DCAT document, if there is one."""
    imported_context = original.unmapped.get("/@context") if original else None
    mappings = (*FIELDS, *claim_fields(original))
    names = NameResolver(imported_context)
    merged = merge_fields(mappings, dataset, original, essential="/@context", normalize=names.normalize)
    context = {**CONTEXT, **local_terms(imported_context), **TOUCHSTONE_TERMS}
    return merged.with_heading({"@context": context, "@type": "dcat:Dataset"})


def _statements(
    dataset: ExportedDataset, attributes: tuple[str, ...], original: ImportedDocument | None
) -> list[dict[str, str]]:
    """Return the new quotes about the attributes as labelled statements."""
    return [{"label": quote} for quote in new_quotes(dataset, attributes, original)]


def claim_fields(original: ImportedDocument | None = None) -> list[FieldMapping]:
    """Return the mappings of fields to quotes that the imported document does not contain."""
    return [
        FieldMapping(field, attributes, partial(_statements, attributes=attributes, original=original))
        for field, attributes in CLAIM_FIELDS.items()
    ]
