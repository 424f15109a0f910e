"""One small document for each metadata standard, and helpers to read documents in tests."""

import json
from typing import Any

from touchstone.metadata.documents import Claim, DatasetDocument
from touchstone.metadata.readers.source_document import SourceDocument
from touchstone.metadata.readers.standards import Reading, read_document

CARD = """---
pretty_name: Street Signs
language:
- no
- fr
license:
- cc-by-4.0
task_categories:
- question-answering
task_ids:
- extractive-qa
x-own-field: kept
---
# Dataset Card for Street Signs

## Dataset Description
- **Homepage:** [Street Signs](https://signs.example/home)
- **Point of Contact:** [More Information Needed]

### Dataset Summary
Pictures of street signs, investigated by hand.

### Data Fields
- `picture`: the picture.

### Discussion of Biases
[More Information Needed]

### Annotations
<!-- All annotators signed a consent form. -->

### Citation Information
```
@article{signs, title={Signs}, year = {2021}}
```
"""
INFOS: dict[str, Any] = {
    "small": {"features": {"picture": {"dtype": "string"}}, "splits": {"train": {"num_examples": 10}}},
    "large": {
        "features": {
            "picture": {"dtype": "string"},
            "taken": {"dtype": "timestamp[s]"},
            "label": {"dtype": "int64"},
        },
        "supervised_keys": {"input": "picture", "output": "label"},
        "splits": {"train": {"num_examples": 900}, "test": {"num_examples": 100}},
        "download_checksums": {"https://signs.example/data.zip": {"num_bytes": 3}},
    },
}
CROISSANT: dict[str, Any] = {
    "@context": {"@vocab": "https://schema.org/", "cr": "http://mlcommons.org/croissant/", "sc": "https://schema.org/"},
    "@type": "sc:Dataset",
    "name": "Street Signs",
    "description": "Pictures of street signs from three cities.",
    "conformsTo": "http://mlcommons.org/croissant/1.1",
    "license": "https://creativecommons.org/licenses/by/4.0/",
    "url": "https://signs.example/croissant",
    "datePublished": "2023-05-01",
    "creator": {"@type": "Person", "name": "Ada"},
    "rai:dataLimitations": "Only three cities are covered.",
    "recordSet": [
        {"@type": "cr:RecordSet", "name": "splits", "dataType": "cr:Split", "field": [{"name": "name"}]},
        {
            "@type": "cr:RecordSet",
            "name": "pictures",
            "field": [{"name": "picture", "dataType": "sc:ImageObject"}, {"name": "taken", "dataType": "sc:DateTime"}],
        },
    ],
    "x:own": {"deep": [1, 2]},
}
SCHEMA_ORG: dict[str, Any] = {
    "@context": "https://schema.org/",
    "@type": "Dataset",
    "name": "Rainfall",
    "description": "Daily rainfall at forty stations.",
    "license": "CC0-1.0",
    "keywords": "weather, rain",
    "publisher": {"@type": "Organization", "name": "Met Office of Example"},
    "url": "https://rain.example/",
}
DATASHEET = """# Datasheet for Voices

This dataset contains 1200 clips of read speech.

## Motivation
The clips were recorded to train speech recognition for small languages.

## Collection process
<!-- Describe how people agreed. -->
Speakers read sentences aloud.

## Data splits for modelling
| Train | 1000 |
| Test | 200 |

## Licence
[CC0-1.0](https://creativecommons.org/publicdomain/zero/1.0/)
"""
OPENML: dict[str, Any] = {
    "data_set_description": {
        "id": "9",
        "name": "signs",
        "description": "Measurements of street signs in one city.",
        "licence": "Public",
        "visibility": "public",
        "default_target_attribute": "class",
        "status": "active",
        "warning": "Do not use for benchmarks.",
    }
}
OPENML_FEATURES = {
    "data_features": {
        "feature": [
            {"name": "id", "is_row_identifier": "true", "is_target": "false", "is_ignore": "false"},
            {"name": "width", "is_row_identifier": "false", "is_target": "false", "is_ignore": "false"},
            {"name": "class", "is_row_identifier": "false", "is_target": "true", "is_ignore": "false"},
        ]
    }
}
UCI_LISTING = (
    "Dataset Name,Donated Date,Description,Dataset Characteristics,Subject Area,Associated Tasks,Feature Type,"
    "Instances,Features\n"
    'Signs,6/30/1988,N/A,Time-Series,Health and Medicine,"Classification, Clustering",Real,150,4\n'
    "Empty,1/2/2020,N/A,Tabular,Other,Other,-,1,-\n"
)
UCI_REPLY: dict[str, Any] = {
    "status": 200,
    "data": {
        "uci_id": 53,
        "name": "Signs",
        "abstract": "A small classic dataset about street signs.",
        "area": "Health and Medicine",
        "tasks": ["Classification"],
        "num_instances": 150,
        "num_features": 4,
        "has_missing_values": "no",
        "year_of_dataset_creation": 1936,
        "variables": [{"name": "width"}],
        "repository_url": "https://archive.example/53",
        "additional_info": {"summary": "Collected on the road.", "sensitive_data": None},
    },
}
PMLB = """# Reviewed by [your name here]
dataset: signs
description: None yet. See our contributing guide to help us add one.
source: https://signs.example/pmlb
publication: Doe J. Signs of the road. Journal of Signs (1999).
task: classification
keywords:
  - medicine
target:
  type: binary
features:
  - name: width
    type: continuous
    description: width in millimetres
  - name: year
    type: continuous
"""
DPI: dict[str, Any] = {
    "signs": {
        "Unique Dataset Identifier": "signs",
        "Dataset Name": "Signs",
        "Collection": "Signs",
        "Licenses": [{"License": "Apache License 2.0", "License URL": "https://signs.example/licence"}],
        "Creators": ["University of Example"],
        "Task Categories": ["Question Answering", "question-answering"],
        "Text Metrics": {"Num Dialogs": 120},
        "Paper URL": "https://signs.example/paper",
        "Inferred Metadata": {"S2 Citation Count (May 2024)": 17, "S2 Date": "2020-03-01"},
    }
}
FAIRGROUND: list[dict[str, Any]] = [
    {
        "ann_new_dataset_id": "adult",
        "ann_dataset_name": "Adult",
        "ann_description_public": "Each instance is a person who answered a survey.",
        "ann_domain_class_multi": "economics; demography",
        "ann_license": "CC BY 4.0",
        "ann_is_accessible": "Publicly",
        "ann_year_last_updated": "1996",
        "ann_typical_col_target": "income",
        "ann_target_lvl_good": ">50K",
        "ann_warning": "Its use is no longer recommended.",
        "meta_pretrans_n_rows": 32560,
        "meta_pretrans_n_cols": 15,
        "meta_pretrans_prop_NA_cells": 0.0,
    }
]
CKAN: dict[str, Any] = {
    "success": True,
    "result": {
        "id": "b1-2",
        "name": "signs",
        "title": "Street signs",
        "notes": "All street signs of the city.",
        "license_id": "cc-zero",
        "metadata_created": "2019-02-03T10:00:00",
        "organization": {"name": "city", "title": "City of Example"},
        "tags": [{"name": "traffic"}],
        "resources": [{"name": "table", "url": "file:///etc/passwd"}],
        "extras": [{"key": "update", "value": "Corrected every month."}],
    },
}
DCAT_US: dict[str, Any] = {
    "conformsTo": "https://project-open-data.cio.gov/v1.1/schema",
    "dataset": [
        {
            "identifier": "signs",
            "title": "Street signs",
            "description": "All street signs of the city.",
            "accessLevel": "non-public",
            "publisher": {"name": "City of Example"},
            "keyword": ["public safety"],
            "landingPage": "https://signs.example/dcat",
        },
        {"description": "A dataset without a title or an identifier."},
    ],
}
DCAT_AP: dict[str, Any] = {
    "@context": {"dcat": "http://www.w3.org/ns/dcat#", "d": "http://purl.org/dc/terms/"},
    "@graph": [
        {
            "@id": "https://signs.example/ap",
            "@type": "dcat:Dataset",
            "d:title": [{"@value": "Panneaux", "@language": "fr"}, {"@value": "Signs", "@language": "en"}],
            "d:description": {"@value": "All street signs.", "@language": "en"},
            "d:accessRights": {
                "@id": "http://publications.europa.eu/resource/authority/access-right/RESTRICTED",
            },
            "dcat:contactPoint": {"vcard:fn": "Sign desk"},
            "dcat:distribution": {"d:license": {"@id": "https://creativecommons.org/licenses/by/4.0/"}},
        }
    ],
}
DATA_PACKAGE: dict[str, Any] = {
    "name": "signs",
    "title": "Signs",
    "description": "All street signs of the city.",
    "licenses": [{"name": "ODC-PDDL-1.0"}],
    "contributors": [{"title": "Ada", "role": "author"}, {"title": "Sign desk", "role": "maintainer"}],
    "resources": [
        {
            "name": "table",
            "path": "table.csv",
            "schema": {"fields": [{"name": "width", "type": "number"}, {"name": "taken", "type": "date"}]},
        }
    ],
}
# As a repository exports it. The member names and types are those of version 4.6 of DataCite's schema.
DATACITE: dict[str, Any] = {
    "schemaVersion": "http://datacite.org/schema/kernel-4",
    "doi": "10.1234/Rivers.7",
    "identifiers": [
        {"identifier": "10.1234/Rivers.7", "identifierType": "DOI"},
        {"identifier": "oai:rivers.example:7", "identifierType": "oai"},
    ],
    "creators": [{"name": "Lovelace, Ada", "nameType": "Personal", "affiliation": [{"name": "River Institute"}]}],
    "titles": [
        {"title": "Wasserstände", "lang": "de"},
        {"title": "Water levels of small rivers", "titleType": "TranslatedTitle", "lang": "en"},
        {"title": "Second edition", "titleType": "Subtitle", "lang": "en"},
    ],
    "publisher": {"name": "River Institute", "publisherIdentifier": "https://ror.org/00example"},
    "publicationYear": "2021",
    "types": {"resourceType": "Time series", "resourceTypeGeneral": "Dataset"},
    "subjects": [{"subject": "environment"}, {"subject": "FOS: Mathematics", "subjectScheme": "FOS"}],
    "contributors": [
        {"name": "Babbage, Charles", "contributorType": "DataCollector"},
        {"name": "Gauge desk", "nameType": "Organizational", "contributorType": "DataManager"},
    ],
    "dates": [{"date": "2019-01-01/2020-12-31", "dateType": "Collected"}],
    "language": "en",
    "version": "2.1",
    "sizes": ["14 MB"],
    "formats": ["text/csv"],
    "rightsList": [
        {
            "rights": "Creative Commons Attribution 4.0 International",
            "rightsUri": "https://creativecommons.org/licenses/by/4.0/legalcode",
            "rightsIdentifier": "cc-by-4.0",
            "rightsIdentifierScheme": "SPDX",
        }
    ],
    "descriptions": [
        {"description": "Hourly water levels at twelve gauges.", "descriptionType": "Abstract", "lang": "en"},
        {"description": "Gauges were read by hand and checked twice.", "descriptionType": "Methods"},
        {"description": "(:unav)", "descriptionType": "TechnicalInfo"},
    ],
    "relatedIdentifiers": [
        {"relatedIdentifier": "10.1234/paper", "relatedIdentifierType": "DOI", "relationType": "IsSupplementTo"},
        {"relatedIdentifier": "https://rivers.example/", "relatedIdentifierType": "URL", "relationType": "IsPartOf"},
    ],
    "geoLocations": [{"geoLocationPlace": "Saône"}],
    "fundingReferences": [{"funderName": "Example Fund", "awardNumber": "12"}],
}
TFDS_TAGS = "content.language.en # English\nml.task.text-summarizationcontent.data-type.text\n"


def as_bytes(data: Any) -> bytes:
    """Return data as a JSON document."""
    return json.dumps(data, ensure_ascii=False).encode()


def sources() -> dict[str, SourceDocument]:
    """Return one valid document for each standard."""
    return {
        "tfds": SourceDocument(
            b"A dataset of street signs, see https://signs.example/tfds.",
            "signs/README.md",
            {"TAGS.txt": TFDS_TAGS.encode(), "CITATIONS.bib": b"@misc{a, year = {2018}}"},
        ),
        "hf_card": SourceDocument(CARD.encode(), "signs/README.md", {"dataset_infos.json": as_bytes(INFOS)}),
        "croissant": SourceDocument(as_bytes(CROISSANT), "signs.json"),
        "ckan": SourceDocument(as_bytes(CKAN), "package_show.json"),
        "dcat": SourceDocument(as_bytes(DCAT_US), "data.json"),
        "data_package": SourceDocument(as_bytes(DATA_PACKAGE), "signs/datapackage.json"),
        "schema_org": SourceDocument(as_bytes(SCHEMA_ORG), "rain.jsonld"),
        "datacite": SourceDocument(as_bytes(DATACITE), "rivers.json"),
        "openml": SourceDocument(
            as_bytes(OPENML), "api-v1-jd-9.json", {"api-v1-jdf-9.json": as_bytes(OPENML_FEATURES)}
        ),
        "uci": SourceDocument(UCI_LISTING.encode(), "uci.csv"),
        "pmlb": SourceDocument(PMLB.encode(), "signs/metadata.yaml"),
        "dpi": SourceDocument(as_bytes(DPI), "data_summaries/Signs.json"),
        "fairground": SourceDocument(as_bytes(FAIRGROUND), "metadata.json"),
        "rdatasets": SourceDocument(
            b"package,item,title,rows_index\nbase,signs,Street signs of a city,12\n", "index.csv"
        ),
        "datasheet": SourceDocument(DATASHEET.encode(), "voices/en.md"),
    }


def read(content: Any, name: str = "document.json", **companions: bytes) -> Reading:
    """Read a document that is given as bytes, as text or as data.

    In the names of companions, two underscores stand for a dot.
    """
    if isinstance(content, str):
        content = content.encode()
    elif not isinstance(content, bytes):
        content = as_bytes(content)
    return read_document(
        SourceDocument(content, name, {file_name.replace("__", "."): part for file_name, part in companions.items()})
    )


def read_dataset(content: Any, name: str = "document.json", **companions: bytes) -> DatasetDocument:
    """Read a document that describes exactly one dataset."""
    reading = read(content, name, **companions)
    assert reading.rejection_code is None, (reading.rejection_code, reading.rejection_facts)
    assert len(reading.documents) == 1
    return reading.documents[0]


def claim_on(document: DatasetDocument, attribute: str) -> Claim:
    """Return the only claim on an attribute."""
    claims = [claim for claim in document.claims if claim.attribute == attribute]
    assert len(claims) == 1, claims
    return claims[0]


def rejection_codes(document: DatasetDocument) -> list[str]:
    """Return the codes of the parts that were rejected."""
    return [part.code for part in document.rejected]
