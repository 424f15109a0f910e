"""Croissant 0.8 to 1.1, with the fields of its vocabulary for responsible AI in all their spellings."""

import re
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, Final

from touchstone.metadata.documents import Claim, DatasetDocument, RejectedPart
from touchstone.metadata.readers.builder import DocumentBuilder, attempt, list_of_texts
from touchstone.metadata.readers.json_ld import Names, context_of, text_of, texts_of
from touchstone.metadata.readers.schema_org import add_common_values, represented_names, start_document
from touchstone.metadata.readers.source_document import SourceDocument

STANDARD: Final = "croissant"
VERSION_ADDRESS: Final = re.compile(r"mlcommons\.org/croissant/(\d+\.\d+)")
FIRST_VERSION: Final = "0.8"

# The fields of the vocabulary for responsible AI, by their names in version 1.0.
RAI_FIELDS: Final = (
    "annotationsPerItem", "annotatorDemographics", "dataAnnotationAnalysis", "dataAnnotationPlatform",
    "dataAnnotationProtocol", "dataBiases", "dataCollection", "dataCollectionMissingData", "dataCollectionRawData",
    "dataCollectionTimeframe", "dataCollectionType", "dataImputationProtocol", "dataLimitations",
    "dataManipulationProtocol", "dataPreprocessingProtocol", "dataReleaseMaintenancePlan", "dataSocialImpact",
    "dataUseCases", "machineAnnotationTools", "personalSensitiveInformation",
)  # fmt: skip
# Spellings of drafts, editors and authors for the same fields.
RAI_SPELLINGS: Final = {
    "annotationperitem": "annotationsPerItem",
    "annotationplatform": "dataAnnotationPlatform",
    "dataannotationplatforms": "dataAnnotationPlatform",
    "annotationprotocol": "dataAnnotationProtocol",
    "annotationanalysis": "dataAnnotationAnalysis",
    "annotatorsdemographics": "annotatorDemographics",
    "biases": "dataBiases",
    "bias": "dataBiases",
    "databias": "dataBiases",
    "collection": "dataCollection",
    "datacollectionprocess": "dataCollection",
    "collectiontype": "dataCollectionType",
    "datacollectiontypes": "dataCollectionType",
    "missingdata": "dataCollectionMissingData",
    "datacollectionmissing": "dataCollectionMissingData",
    "datacollectionmissingvalues": "dataCollectionMissingData",
    "datacollectiontimeframestart": "dataCollectionTimeframe",
    "limitations": "dataLimitations",
    "limitation": "dataLimitations",
    "datalimitation": "dataLimitations",
    "maintenanceplan": "dataReleaseMaintenancePlan",
    "datareleasemaintenance": "dataReleaseMaintenancePlan",
    "releasemaintenanceplan": "dataReleaseMaintenancePlan",
    "socialimpact": "dataSocialImpact",
    "usecases": "dataUseCases",
    "datausecase": "dataUseCases",
    "intendeduse": "dataUseCases",
    "preprocessingprotocol": "dataPreprocessingProtocol",
    "imputationprotocol": "dataImputationProtocol",
    "manipulationprotocol": "dataManipulationProtocol",
    "personalsensitiveinfo": "personalSensitiveInformation",
    "personalandsensitiveinformation": "personalSensitiveInformation",
    "sensitiveinformation": "personalSensitiveInformation",
    "datasensitive": "personalSensitiveInformation",
}
# Short names are ordinary words, so they count only with the prefix of the vocabulary.
_CANONICAL: Final = {name.lower(): name for name in RAI_FIELDS}
_TEMPORAL_TYPES: Final = ("Date", "DateTime", "Time")
_AUXILIARY_TYPES: Final = ("Split", "Enumeration")


def detect(source: SourceDocument) -> bool:
    """Return whether a document is a Croissant description, a format of MLCommons that extends schema.org."""
    if not source.members:
        return False

    names = Names(context_of(source.data))
    describes_dataset = any(names.nodes_of_type(source.data, "Dataset"))
    if not describes_dataset:
        return False

    # A document of schema.org looks the same, except for the vocabulary and the record sets of Croissant.
    members = names.members(source.members)
    vocabularies = f"{source.members.get('@context')} {members.get('conformsTo')}"
    return "mlcommons.org" in vocabularies or "recordSet" in members


def read(source: SourceDocument) -> Iterator[DatasetDocument | RejectedPart]:
    """Yield the datasets of a document, of which there is usually one."""
    names = Names(context_of(source.data))
    for node, place in names.nodes_of_type(source.data, "Dataset"):
        yield attempt(place, partial(read_node, source, names, node, place))


def read_node(source: SourceDocument, names: Names, node: Mapping[str, Any], place: str) -> DatasetDocument:
    """Read the dataset that a JSON-LD node describes; `place` is where the node stands in the document."""
    members = names.members(node)
    builder = start_document(source, names, node, STANDARD)
    builder.standard_version = find_version(members)

    add_common_values(builder, names, node, place)
    add_record_sets(builder, names, members, place)
    add_responsible_ai_sections(builder, node, names)
    builder.keep_rest(node, represented_names(names, node))
    builder.keep_context(context_of(source.data))
    return builder.build()


def find_version(members: Mapping[str, Any]) -> str:
    """Return the version that the document conforms to; documents before 1.0 do not name theirs."""
    for address in texts_of(members.get("conformsTo")):
        match = VERSION_ADDRESS.search(address)
        if match is not None:
            return match.group(1)
    return FIRST_VERSION


def add_record_sets(builder: DocumentBuilder, names: Names, members: Mapping[str, Any], place: str) -> None:
    """Add what the record sets show: the number of fields, a split, and whether there are times.

    A record set is a table of the dataset, a list of its splits, or another auxiliary list.
    """
    record_sets = members.get("recordSet")
    if not isinstance(record_sets, list):
        record_sets = [record_sets]

    tables = []
    for record_set in record_sets:
        if not isinstance(record_set, Mapping):
            continue

        record_set_members = names.members(record_set)
        types = types_of(names, record_set_members)
        if "Split" in types:
            type_names = list_of_texts(record_set_members["dataType"])
            quote = next(text for text in type_names if text.endswith("Split"))
            builder.claim(Claim("is_split", True, quote, f"{place}/recordSet", field="recordSet.dataType"))

        is_auxiliary = not set(types).isdisjoint(_AUXILIARY_TYPES)
        if not is_auxiliary and not record_set_members.get("isEnumeration"):
            tables.append(fields_of(names, record_set_members))

    largest_table = max(tables, key=len, default=[])
    if largest_table:
        add_fields(builder, names, largest_table, f"{place}/recordSet")


def types_of(names: Names, parts: Mapping[str, Any]) -> list[str]:
    """Return the data types of a record set or field without their prefixes."""
    return [names.normalise(text).rsplit("/", 1)[-1] for text in list_of_texts(parts.get("dataType"))]


def fields_of(names: Names, parts: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the fields of a record set."""
    fields = parts.get("field")
    return [
        names.members(field)
        for field in (fields if isinstance(fields, list) else [fields])
        if isinstance(field, Mapping)
    ]


def add_fields(builder: DocumentBuilder, names: Names, fields: list[dict[str, Any]], place: str) -> None:
    """Add the number of columns, and whether one of them is a time, from the fields of the largest record set.

    Croissant does not say which column is to be predicted, so all of them count as features.
    """
    quote = text_of(fields[0].get("name")) or text_of(fields[0].get("@id")) or ""
    note = "fields of the largest record set; no target is named"
    builder.claim(Claim("features_number", len(fields), quote, place, field="recordSet.field", note=note))
    builder.claim(Claim("metadata_provided_with_dataset", True, quote, place, field="recordSet.field"))

    for field in fields:
        is_temporal = not set(types_of(names, field)).isdisjoint(_TEMPORAL_TYPES)
        if is_temporal:
            quote = list_of_texts(field["dataType"])[0]
            builder.claim(Claim("has_temporal_factors", True, quote, place, field="recordSet.field.dataType"))
            return


def add_responsible_ai_sections(builder: DocumentBuilder, node: Mapping[str, Any], names: Names) -> None:
    """Add the fields for responsible AI as passages for the extractor, under their names in version 1.0."""
    for name, value in node.items():
        field = responsible_ai_field(names.normalise(name))
        if field is None:
            continue
        for text in texts_of(value):
            builder.prose((f"rai:{field}",), text)


def responsible_ai_field(name: str) -> str | None:
    """Return the field that a name of any spelling means, or None for a name outside that vocabulary."""
    local_name = name.removeprefix("rai:")
    key = re.sub(r"[^a-z]", "", local_name.lower())
    if key in _CANONICAL:
        return _CANONICAL[key]
    if key in RAI_SPELLINGS and (name.startswith("rai:") or key.startswith("data")):
        return RAI_SPELLINGS[key]
    # A later version may add fields. They are passed on under their own names.
    return local_name if name.startswith("rai:") else None
