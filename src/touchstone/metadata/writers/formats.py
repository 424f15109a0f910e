"""The table of export formats, used by the route, the client, the command line and the documentation."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from touchstone.metadata.exported_dataset import ExportedDataset
from touchstone.metadata.writers import croissant, data_package, dcat, hf_card, schema_org
from touchstone.metadata.writers.merging import FieldMapping
from touchstone.metadata.writers.names import file_stem

JSON_LD_TYPE: Final = "application/ld+json"


@dataclass(frozen=True, slots=True)
class ExportFormat:
    """A format in which a dataset can be exported.

    Attributes:
        key: its name in the API (`?format=`).
        title: its display name.
        standard: the key of the metadata standard for importing it again.
        media_type: the media type of the document.
        suffix: the suffix of the file name.
        fields: the mappings of the record to the fields of the standard.
        write: converts a dataset to the bytes of a document.
    """

    key: str
    title: str
    standard: str
    media_type: str
    suffix: str
    fields: tuple[FieldMapping, ...]
    write: Callable[[ExportedDataset], bytes]


@dataclass(frozen=True, slots=True)
class ExportedFile:
    """An exported document, its media type and its file name."""

    content: bytes
    media_type: str
    name: str


_FORMATS: Final = (
    ExportFormat(
        key="croissant",
        title="Croissant 1.1 with responsible AI",
        standard=croissant.STANDARD,
        media_type=JSON_LD_TYPE,
        suffix=".croissant.json",
        fields=(*croissant.FIELDS, *croissant.claim_fields()),
        write=croissant.write,
    ),
    ExportFormat(
        key="dcat",
        title="DCAT-AP in JSON-LD",
        standard=dcat.STANDARD,
        media_type=JSON_LD_TYPE,
        suffix=".dcat.jsonld",
        fields=(*dcat.FIELDS, *dcat.claim_fields()),
        write=dcat.write,
    ),
    ExportFormat(
        key="datapackage",
        title="Data Package 2",
        standard=data_package.STANDARD,
        media_type="application/json",
        suffix=".datapackage.json",
        fields=data_package.FIELDS,
        write=data_package.write,
    ),
    ExportFormat(
        key="card",
        title="Dataset card",
        standard=hf_card.STANDARD,
        media_type="text/markdown",
        suffix=".md",
        fields=hf_card.FIELDS,
        write=hf_card.write,
    ),
    ExportFormat(
        key="jsonld",
        title="schema.org in JSON-LD",
        standard=schema_org.STANDARD,
        media_type=JSON_LD_TYPE,
        suffix=".jsonld",
        fields=schema_org.FIELDS,
        write=schema_org.write,
    ),
)
FORMATS: Final = {export_format.key: export_format for export_format in _FORMATS}


def export_dataset(dataset: ExportedDataset, format_key: str) -> ExportedFile:
    """Export a dataset in the format with this key, under a file name made from the name of the dataset."""
    export_format = FORMATS[format_key]
    name = file_stem(dataset.name) + export_format.suffix
    return ExportedFile(export_format.write(dataset), export_format.media_type, name)
