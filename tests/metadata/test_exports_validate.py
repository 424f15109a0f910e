"""Exported documents as other programs see them: mlcroissant, rdflib, and the JSON schema of Data Packages."""

import json
import socket
from dataclasses import replace
from typing import Any

import jsonschema
import mlcroissant
import pytest
import rdflib
from hypothesis import given, settings
from rdflib.namespace import DCAT, DCTERMS, RDF, RDFS

from tests.metadata.examples import CROISSANT, DCAT_AP, DCAT_US, read, read_dataset, sources
from tests.metadata.exporting import URN, datasets, imported_dataset, members
from touchstone.core.evidence import EvidenceLevel
from touchstone.metadata.exact_values import MEMBER
from touchstone.metadata.exported_dataset import ExportedClaim, ExportedDataset
from touchstone.metadata.readers.source_document import SourceDocument
from touchstone.metadata.readers.standards import STANDARDS, read_document
from touchstone.metadata.writers.formats import export_dataset

# The libraries use what their own dependencies have deprecated.
pytestmark = pytest.mark.filterwarnings(
    "ignore::DeprecationWarning:rdflib.*", "ignore::DeprecationWarning:mlcroissant.*"
)

RECORD: dict[str, Any] = {
    "dataset_name": "Street Signs",
    "description": "Pictures of street signs from three cities.",
    "objective": "Recognise street signs.",
    "domain": ["transportation"],
    "task": ["image-classification"],
    "year": 2021,
    "instances_number": 1200,
    "is_public": True,
    "informed_consent": True,
    "file_path": "uploads/signs.csv",
    "file_type": "csv",
    "metadata": {
        "licence": "CC-BY-4.0",
        "licence_text": "cc-by-4.0",
        "tags": ["signs", "road"],
        "language": ["en", "fr"],
        "url": "https://signs.example/home",
        "version": "1.2.0",
        "source": {"name": "hub", "url": "https://hub.example/", "key": "signs"},
    },
}
MEASUREMENT = {
    "rows": 1200,
    "sha256": "ab" * 32,
    "column_profiles": [{"name": "width", "type": "number"}, {"name": "taken on", "type": "date"}],
}
CLAIMS = (
    ExportedClaim(attribute="informed_consent", value=True, level=EvidenceLevel.REVIEWED, quote="All of them agreed."),
    ExportedClaim(attribute="transparency", value=True, quote="Taken by three students in 2020."),
)
FULL_DATASET = ExportedDataset(URN, RECORD, CLAIMS, measured_profile=MEASUREMENT)
BARE_DATASET = ExportedDataset(URN, {"dataset_name": "Bare"})
PUBLIC_ACCESS = "http://publications.europa.eu/resource/authority/access-right/PUBLIC"
MEDIA_TYPES = "https://www.iana.org/assignments/media-types/"
CODES = "http://id.loc.gov/vocabulary/"
NAME_SCHEMA = {"type": "string", "pattern": "^[a-z0-9._-]+$"}
DATA_PACKAGE_SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["resources"],
    "properties": {
        "$schema": {"const": "https://datapackage.org/profiles/2.0/datapackage.json"},
        "name": NAME_SCHEMA,
        "id": {"type": "string"},
        "title": {"type": "string"},
        "description": {"type": "string"},
        "homepage": {"type": "string"},
        "version": {"type": "string"},
        "keywords": {"type": "array", "minItems": 1, "items": {"type": "string"}},
        "licenses": {
            "type": "array",
            "minItems": 1,
            "items": {"type": "object", "anyOf": [{"required": ["name"]}, {"required": ["path"]}]},
        },
        "sources": {"type": "array", "minItems": 1, "items": {"type": "object"}},
        "resources": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "required": ["name"],
                "oneOf": [{"required": ["path"]}, {"required": ["data"]}],
                "properties": {
                    "path": {"type": "string", "pattern": r"^(https?://|(?!/|\.|~)(?!.*\.\./))"},
                    "schema": {
                        "type": "object",
                        "required": ["fields"],
                        "properties": {
                            "fields": {
                                "type": "array",
                                "minItems": 1,
                                "items": {
                                    "required": ["name"],
                                    "properties": {"type": {"enum": ["integer", "number", "boolean", "any", "string"]}},
                                },
                            }
                        },
                    },
                },
            },
        },
    },
}


@pytest.fixture(autouse=True)
def no_connections(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail every test in which a program has to fetch something in order to read an exported document."""

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a connection was opened")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


def graph_of(dataset: ExportedDataset) -> rdflib.Graph:
    """Return the statements of a dataset that is exported in DCAT."""
    graph = rdflib.Graph()
    graph.parse(data=export_dataset(dataset, "dcat").content, format="json-ld")
    return graph


class TestCroissant:
    @pytest.mark.parametrize("dataset", [FULL_DATASET, BARE_DATASET], ids=["full", "bare"])
    def test_passes_mlcroissant(self, dataset: ExportedDataset) -> None:
        description = mlcroissant.Dataset(jsonld=members(export_dataset(dataset, "croissant")))

        assert not description.metadata.ctx.issues.errors
        assert description.metadata.name == dataset.name

    @pytest.mark.parametrize("is_foreign", [False, True])
    def test_a_valid_document_stays_valid(self, is_foreign: bool) -> None:
        imported_members = {**members(export_dataset(FULL_DATASET, "croissant")), "own:key": {"deep": [1]}}
        if is_foreign:
            del imported_members[MEMBER]
        dataset = imported_dataset(read_dataset(imported_members))

        description = mlcroissant.Dataset(jsonld=members(export_dataset(dataset, "croissant")))

        assert not description.metadata.ctx.issues.errors
        assert [field.name for field in description.metadata.record_sets[0].fields] == ["width", "taken on"]

    @settings(max_examples=15)
    @given(dataset=datasets())
    def test_passes_mlcroissant_whatever_the_record_states(self, dataset: ExportedDataset) -> None:
        description = mlcroissant.Dataset(jsonld=members(export_dataset(dataset, "croissant")))

        assert not description.metadata.ctx.issues.errors

    def test_a_valid_document_of_an_earlier_version_stays_valid(self) -> None:
        """The terms of version 1.1 do not change what its names mean."""
        vocabulary = "https://schema.org/"
        imported_members = {
            "@context": {
                "@language": "en",
                "@vocab": vocabulary,
                "sc": vocabulary,
                "ml": "http://mlcommons.org/schema/",
            },
            "@type": "sc:Dataset",
            "name": "signs",
            "description": "Signs.",
            "license": "MIT",
            "url": "https://signs.example/",
            "distribution": [
                {
                    "@type": "sc:FileObject",
                    "name": "archive",
                    "contentUrl": "https://signs.example/tables.zip",
                    "encodingFormat": "application/zip",
                    "sha256": "0" * 64,
                },
                {
                    "@type": "sc:FileObject",
                    "name": "table",
                    "contentUrl": "table.csv",
                    "containedIn": "archive",
                    "encodingFormat": "text/csv",
                },
            ],
        }
        claim = ExportedClaim(attribute="informed_consent", value=True, quote="All agreed.")
        document = imported_dataset(
            read_document(SourceDocument(json.dumps(imported_members).encode(), "a.json"), "croissant").documents[0]
        )
        dataset = replace(document, claims=(*document.claims, claim))

        assert not mlcroissant.Dataset(jsonld=imported_members).metadata.ctx.issues.errors
        exported_members = members(export_dataset(dataset, "croissant"))

        description = mlcroissant.Dataset(jsonld=exported_members)
        assert not description.metadata.ctx.issues.errors
        assert exported_members["rai:dataCollection"] == "All agreed."

    def test_quotes_stand_in_the_fields_for_responsible_ai(self) -> None:
        exported_members = members(export_dataset(FULL_DATASET, "croissant"))

        assert exported_members["rai:dataCollection"] == "All of them agreed.\n\nTaken by three students in 2020."
        assert exported_members["conformsTo"] == [
            "http://mlcommons.org/croissant/1.1",
            "http://mlcommons.org/croissant/RAI/1.0",
        ]


class TestDcat:
    def test_states_what_the_record_states(self) -> None:
        graph = graph_of(FULL_DATASET)

        (dataset,) = graph.subjects(RDF.type, DCAT.Dataset)
        assert graph.value(dataset, DCTERMS.title) == rdflib.Literal("Street Signs")
        assert graph.value(dataset, DCTERMS.identifier) == rdflib.Literal("signs")
        assert graph.value(dataset, DCTERMS.license) == rdflib.URIRef("https://spdx.org/licenses/CC-BY-4.0")
        assert graph.value(dataset, DCTERMS.accessRights) == rdflib.URIRef(PUBLIC_ACCESS)
        assert graph.value(dataset, DCAT.landingPage) == rdflib.URIRef("https://signs.example/home")
        assert set(graph.objects(dataset, DCAT.keyword)) == {rdflib.Literal("signs"), rdflib.Literal("road")}
        assert str(graph.value(dataset, DCTERMS.issued)) == "2021"
        (distribution,) = graph.subjects(RDF.type, DCAT.Distribution)
        assert graph.value(distribution, DCAT.mediaType) == rdflib.URIRef(f"{MEDIA_TYPES}text/csv")

    def test_languages_are_resources(self) -> None:
        """DCAT has no texts as languages: codes have addresses, and other names are labels of a resource."""
        names = ["en", "gsw", "de-CH", "Old English"]
        dataset = replace(FULL_DATASET, record={**RECORD, "metadata": {"language": names}})
        graph = graph_of(dataset)

        languages = set(graph.objects(None, DCTERMS.language))
        addresses = {language for language in languages if isinstance(language, rdflib.URIRef)}
        labels = {str(graph.value(language, RDFS.label)) for language in languages - addresses}
        assert addresses == {rdflib.URIRef(f"{CODES}iso639-1/en"), rdflib.URIRef(f"{CODES}iso639-2/gsw")}
        assert labels == {"de-CH", "Old English"}

        foreign_members = members(export_dataset(dataset, "dcat"))
        del foreign_members[MEMBER]
        assert read_dataset(foreign_members).record["metadata"]["language"] == names

    @settings(max_examples=15)
    @given(dataset=datasets())
    def test_parses_whatever_the_record_states(self, dataset: ExportedDataset) -> None:
        graph = graph_of(dataset)

        (subject,) = graph.subjects(RDF.type, DCAT.Dataset)
        assert str(graph.value(subject, DCTERMS.title)) == dataset.name
        graph.serialize(format="turtle")

    @pytest.mark.parametrize("standard", [standard.key for standard in STANDARDS])
    def test_parses_after_an_import_from_any_standard(self, standard: str) -> None:
        for document in read_document(sources()[standard]).documents:
            graph = graph_of(imported_dataset(document))
            assert list(graph.subjects(RDF.type, DCAT.Dataset))

    @pytest.mark.parametrize("original_members", [DCAT_AP, DCAT_US])
    def test_keeps_the_statements_of_an_imported_document(self, original_members: dict[str, Any]) -> None:
        remote_context = {"@context": "https://project-open-data.cio.gov/v1.1/schema/catalog.jsonld"}
        document = read({**remote_context, **original_members}).documents[0]

        graph = graph_of(imported_dataset(document))

        assert list(graph.objects(None, DCTERMS.title))
        assert list(graph.objects(None, DCTERMS.description))


class TestDataPackage:
    @pytest.mark.parametrize("dataset", [FULL_DATASET, BARE_DATASET], ids=["full", "bare"])
    def test_satisfies_the_profile(self, dataset: ExportedDataset) -> None:
        jsonschema.validate(members(export_dataset(dataset, "datapackage")), DATA_PACKAGE_SCHEMA)

    @settings(max_examples=15)
    @given(dataset=datasets())
    def test_satisfies_the_profile_whatever_the_record_states(self, dataset: ExportedDataset) -> None:
        jsonschema.validate(members(export_dataset(dataset, "datapackage")), DATA_PACKAGE_SCHEMA)

    def test_has_the_columns_of_the_file(self) -> None:
        (resource,) = members(export_dataset(FULL_DATASET, "datapackage"))["resources"]

        assert resource["schema"]["fields"] == [
            {"name": "width", "type": "number"},
            {"name": "taken on", "type": "any"},
        ]
        assert resource["path"] == "uploads/signs.csv"


def test_schema_org_is_json_ld() -> None:
    exported_members = members(export_dataset(FULL_DATASET, "jsonld"))
    graph = rdflib.Graph()
    graph.parse(data=json.dumps({**exported_members, "@context": {"@vocab": "https://schema.org/"}}), format="json-ld")

    assert (None, rdflib.URIRef("https://schema.org/license"), None) in graph
    assert CROISSANT["name"] == exported_members["name"]
