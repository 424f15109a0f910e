"""Croissant, a format of MLCommons that extends schema.org with the tables and files of a dataset.

This module reads versions 0.8 to 1.1 and the vocabulary for responsible AI (RAI 1.0), in all spellings that its drafts
and editors have used. The fields of that vocabulary contain prose, which is returned as sections for the extractor.
"""

import re
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, Final

from touchstone.metadata.documents import Claim, DatasetDocument, RejectedPart
from touchstone.metadata.readers.builder import DocumentBuilder, list_of_strings, objects_of, read_or_reject
from touchstone.metadata.readers.json_ld import NameResolver, as_list, context_of, text_of, texts_of
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
# Spellings of the same fields in drafts, editors and documents: in lower case, and without anything but letters.
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
# Lookup of a field by its name in lower case.
_CANONICAL: Final = {name.lower(): name for name in RAI_FIELDS}
_TEMPORAL_TYPES: Final = ("Date", "DateTime", "Time")
# The types of record sets that are not tables of the dataset: the list of its splits, or of the values of a column.
_AUXILIARY_TYPES: Final = ("Split", "Enumeration")


def detect(source: SourceDocument) -> bool:
    """Return whether a document is a Croissant description."""
    context = context_of(source.data)
    resolver = NameResolver(context)
    return any(_is_croissant(resolver, context, node) for node, _ in resolver.nodes_of_type(source.data, "Dataset"))


def _is_croissant(resolver: NameResolver, context: Any, node: Mapping[str, Any]) -> bool:
    """Return whether a dataset has the vocabulary or the record sets that distinguish Croissant from schema.org."""
    members = resolver.members(node)
    return "mlcommons.org" in f"{context} {members.get('conformsTo')}" or "recordSet" in members


def read(source: SourceDocument) -> Iterator[DatasetDocument | RejectedPart]:
    """Yield the datasets of a document, usually one."""
    resolver = NameResolver(context_of(source.data))
    for node, location in resolver.nodes_of_type(source.data, "Dataset"):
        yield read_or_reject(location, partial(read_node, source, resolver, node, location))


def read_node(
    source: SourceDocument, resolver: NameResolver, node: Mapping[str, Any], location: str
) -> DatasetDocument:
    """Read the dataset of a JSON-LD node. `location` is the JSON pointer of the node."""
    members = resolver.members(node)
    builder = start_document(source, resolver, node, location, STANDARD)
    builder.standard_version = find_version(members)

    add_common_values(builder, members)
    add_record_sets(builder, resolver, members)
    add_responsible_ai_sections(builder, node, resolver)
    builder.keep_unmapped(node, represented_names(resolver, node))
    builder.keep_context(context_of(source.data))
    return builder.build()


def find_version(members: Mapping[str, Any]) -> str:
    """Return the Croissant version of a document. Documents older than 1.0 do not contain it."""
    for address in texts_of(members.get("conformsTo")):
        match = VERSION_ADDRESS.search(address)
        if match is not None:
            return match.group(1)
    return FIRST_VERSION


def add_record_sets(builder: DocumentBuilder, resolver: NameResolver, members: Mapping[str, Any]) -> None:
    """Add the number of columns, temporal columns, and whether the data are split, from the record sets.

    A record set is a table of the dataset, a list of its splits, or another auxiliary list.
    """
    place = f"{builder.location}/recordSet"
    tables = []
    for record_set in objects_of(as_list(members.get("recordSet"))):
        record_set_members = resolver.members(record_set)
        types = types_of(resolver, record_set_members)
        if "Split" in types:
            stated_types = list_of_strings(record_set_members["dataType"])
            quote = next(text for text in stated_types if text.endswith("Split"))
            builder.add_claim(Claim("is_split", True, quote, place, field="recordSet.dataType"))

        has_auxiliary_type = not set(types).isdisjoint(_AUXILIARY_TYPES)
        # Versions before 1.0 mark the values of a column with this flag instead of a type.
        is_enumeration = bool(record_set_members.get("isEnumeration"))
        if not has_auxiliary_type and not is_enumeration:
            tables.append(fields_of(resolver, record_set_members))

    largest_table = max(tables, key=len, default=[])
    if largest_table:
        add_fields(builder, resolver, largest_table, place)


def types_of(resolver: NameResolver, members: Mapping[str, Any]) -> list[str]:
    """Return the data types of a record set or field without prefixes."""
    return [resolver.normalize(text).rsplit("/", 1)[-1] for text in list_of_strings(members.get("dataType"))]


def fields_of(resolver: NameResolver, record_set: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the members of each field of a record set."""
    return [resolver.members(field) for field in objects_of(as_list(record_set.get("field")))]


def add_fields(builder: DocumentBuilder, resolver: NameResolver, fields: list[dict[str, Any]], place: str) -> None:
    """Add the number of columns and the first temporal column of the largest record set.

    Croissant does not name a target column, so all columns count as features.
    """
    quote = text_of(fields[0].get("name")) or text_of(fields[0].get("@id")) or ""
    note = "fields of the largest record set; no target is named"
    builder.add_claim(Claim("features_number", len(fields), quote, place, field="recordSet.field", note=note))
    builder.add_claim(Claim("metadata_provided_with_dataset", True, quote, place, field="recordSet.field"))

    for field in fields:
        is_temporal = not set(types_of(resolver, field)).isdisjoint(_TEMPORAL_TYPES)
        if is_temporal:
            quote = list_of_strings(field["dataType"])[0]
            builder.add_claim(Claim("has_temporal_factors", True, quote, place, field="recordSet.field.dataType"))
            return


def add_responsible_ai_sections(builder: DocumentBuilder, node: Mapping[str, Any], resolver: NameResolver) -> None:
    """Add the fields for responsible AI as sections for the extractor, under their names in version 1.0."""
    for name, value in node.items():
        field = responsible_ai_field(resolver.normalize(name))
        if field is None:
            continue
        for text in texts_of(value):
            builder.add_prose((f"rai:{field}",), text)


def responsible_ai_field(name: str) -> str | None:
    """Return the name in version 1.0 of a field for responsible AI, or None if a name does not mean such a field.

    Args:
        name: the name of a member as `NameResolver` returns it, such as `rai:data_biases` or `dataBiases`.
    """
    local_name = name.removeprefix("rai:")
    key = re.sub(r"[^a-z]", "", local_name.lower())
    if key in _CANONICAL:
        return _CANONICAL[key]

    # Other spellings, such as "bias" or "collection", are ordinary words, so they count only with a prefix.
    has_prefix = name.startswith("rai:")
    if key in RAI_SPELLINGS and (has_prefix or key.startswith("data")):
        return RAI_SPELLINGS[key]
    # A later version may add fields, which keep their own names.
    return local_name if has_prefix else None
