"""Croissant 1.1 with its vocabulary for responsible AI (RAI 1.0), whose fields contain the quotes of claims."""

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from touchstone.metadata.documents import ImportedDocument
from touchstone.metadata.exported_dataset import ExportedDataset
from touchstone.metadata.readers import croissant
from touchstone.metadata.readers.json_ld import NameResolver
from touchstone.metadata.writers.json_ld_context import TOUCHSTONE_TERMS, local_terms
from touchstone.metadata.writers.merging import FieldMapping, MergedFields, merge_fields, new_quotes
from touchstone.metadata.writers.schema_org import COMMON_FIELDS, encode

STANDARD: Final = croissant.STANDARD
CONFORMS_TO: Final = ("http://mlcommons.org/croissant/1.1", "http://mlcommons.org/croissant/RAI/1.0")
# The context that the specification of version 1.1 prescribes.
CONTEXT: Final[Mapping[str, Any]] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "arrayShape": "cr:arrayShape",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "containedIn": "cr:containedIn",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "description": {"@container": "@language"},
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileObject": "cr:fileObject",
    "fileProperty": "cr:fileProperty",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isArray": "cr:isArray",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "name": {"@container": "@language"},
    "parentField": "cr:parentField",
    "path": "cr:path",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
# The terms that the fields of this writer need if they are added to an imported document with a context of its own.
ESSENTIAL_TERMS: Final = {name: CONTEXT[name] for name in ("@vocab", "rai", "sc")}
DATA_TYPES: Final = {
    "integer": "sc:Integer",
    "number": "sc:Float",
    "boolean": "sc:Boolean",
    "date": "sc:Date",
    "text": "sc:Text",
}
MEDIA_TYPES: Final = {
    "csv": "text/csv",
    "tsv": "text/tab-separated-values",
    "json": "application/json",
    "jsonl": "application/jsonlines",
    "parquet": "application/vnd.apache.parquet",
}
FILE_ID: Final = "data-file"
TABLE_ID: Final = "table"
# The fields for responsible AI, and the attributes whose quotes they contain.
CLAIM_FIELDS: Final[Mapping[str, tuple[str, ...]]] = {
    "rai:dataCollection": ("informed_consent", "transparency"),
    "rai:dataCollectionMissingData": ("has_missing_values", "missing_values_percentage"),
    "rai:dataPreprocessingProtocol": ("data_quality_documented",),
    "rai:dataBiases": ("equity_non_discrimination",),
    "rai:personalSensitiveInformation": ("anonymization_applied", "security_measures_in_place"),
    "rai:dataUseCases": ("purpose_limitation_respected",),
    "rai:dataReleaseMaintenancePlan": ("user_control", "record_keeping_policy_exists", "accountability_defined"),
}

# The fields with a single string. All others contain lists.
SINGLE_TEXTS: Final = frozenset(
    {"rai:dataCollection", "rai:dataCollectionMissingData", "rai:dataReleaseMaintenancePlan"}
)


def data_file(dataset: ExportedDataset) -> list[dict[str, Any]]:
    """Describe the data file, or return an empty list if it was not measured."""
    path = dataset.text("file_path")
    digest = dataset.file_profile.get("sha256")
    if path is None or not isinstance(digest, str):
        return []
    file_type = (dataset.text("file_type") or "").lower()
    return [
        {
            "@type": "cr:FileObject",
            "@id": FILE_ID,
            "name": path.rsplit("/", 1)[-1],
            "contentUrl": path,
            "encodingFormat": MEDIA_TYPES.get(file_type, "application/octet-stream"),
            "sha256": digest,
        }
    ]


def record_sets(dataset: ExportedDataset) -> list[dict[str, Any]]:
    """Describe the columns of the data file as a record set, or return an empty list if they are unknown."""
    if not data_file(dataset) or not dataset.columns():
        return []
    fields = [
        {
            "@type": "cr:Field",
            "@id": f"{TABLE_ID}/{number}",
            "name": name,
            "dataType": DATA_TYPES.get(column_type, "sc:Text"),
            "source": {"fileObject": {"@id": FILE_ID}, "extract": {"column": name}},
        }
        for number, (name, column_type) in enumerate(dataset.columns(), start=1)
    ]
    return [{"@type": "cr:RecordSet", "@id": TABLE_ID, "name": TABLE_ID, "field": fields}]


FIELDS: Final = (
    FieldMapping("conformsTo", (), lambda _: list(CONFORMS_TO), only_if_new=True),
    *COMMON_FIELDS,
    FieldMapping("distribution", ("file_path", "metadata.measured"), data_file, only_if_new=True),
    FieldMapping("recordSet", ("metadata.measured",), record_sets, only_if_new=True),
)


def write(dataset: ExportedDataset) -> bytes:
    """Return a Croissant document, with the exact values of the record."""
    original = dataset.document_to_update(STANDARD)
    return encode(describe(dataset, original).with_exact_values(dataset, original))


def describe(dataset: ExportedDataset, original: ImportedDocument | None) -> MergedFields:
    """Merge the record with the imported document, keeping imported members that are still valid.

    Members are matched by their normalized names, because an imported document may use other prefixes.

    Args:
        dataset: the dataset to export.
        original: the imported Croissant document, or None.
    """
    imported_context = original.unmapped.get("/@context") if original else None
    names = NameResolver(imported_context)

    def normalize(name: str) -> str:
        """Return the name of a member as this writer spells it, such as `rai:dataBiases` for `data_biases`."""
        normalized_name = names.normalize(name)
        field = croissant.responsible_ai_field(normalized_name)
        return f"rai:{field}" if field else normalized_name

    mappings = (*FIELDS, *claim_fields(original))
    merged = merge_fields(mappings, dataset, original, essential="/@context", normalize=normalize)
    # Terms of version 1.1 could change the meaning of names in a document of an earlier version.
    imported_terms = local_terms(imported_context)
    terms = {**ESSENTIAL_TERMS, **imported_terms} if imported_terms else CONTEXT
    return merged.with_heading({"@context": {**terms, **TOUCHSTONE_TERMS}, "@type": "sc:Dataset"})


def claim_fields(original: ImportedDocument | None = None) -> list[FieldMapping]:
    """Return the mappings of the fields for responsible AI to quotes that the imported document does not contain."""
    return [
        FieldMapping(field, attributes, partial(_quotes_in, field=field, attributes=attributes, original=original))
        for field, attributes in CLAIM_FIELDS.items()
    ]


def _quotes_in(
    dataset: ExportedDataset, field: str, attributes: tuple[str, ...], original: ImportedDocument | None
) -> str | list[str]:
    """Return the quotes about attributes that the imported document lacks, as one string if the field requires it."""
    quotes = new_quotes(dataset, attributes, original)
    return "\n\n".join(quotes) if field in SINGLE_TEXTS else quotes
