"""DCAT-AP as catalogs write it: in Turtle, RDF/XML and flat JSON-LD, in which nodes refer to one another."""

import socket
from pathlib import Path
from typing import Any

import pytest
import rdflib

from tests.metadata.examples import claim_on, read, rejection_codes
from tests.metadata.exporting import imported_dataset
from touchstone.metadata.documents import DatasetDocument
from touchstone.metadata.readers.json_ld import MAX_EMBEDDED_NODES
from touchstone.metadata.readers.source_document import SourceDocument
from touchstone.metadata.verbatim_quotes import contains_quote, document_texts
from touchstone.metadata.writers.formats import export_dataset

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:rdflib.*")

PREFIXES = """@prefix dcat: <http://www.w3.org/ns/dcat#> .
@prefix dct: <http://purl.org/dc/terms/> .
@prefix foaf: <http://xmlns.com/foaf/0.1/> .
@prefix right: <http://publications.europa.eu/resource/authority/access-right/> .
@prefix vcard: <http://www.w3.org/2006/vcard/ns#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""
CATALOG = (
    PREFIXES
    + """
<https://roads.example/catalog> a dcat:Catalog ; dct:title "Roads"@en ;
  dcat:dataset <https://roads.example/signs>, <https://roads.example/counts> .
<https://roads.example/signs> a dcat:Dataset ;
  dct:identifier "signs-2021" ;
  dct:title "Panneaux"@fr, "Street signs"@en ;
  dct:description "All \\"street\\" signs of the city."@en ;
  dcat:keyword "signs"@en, "road"@en ;
  dcat:theme <http://publications.europa.eu/resource/authority/data-theme/TRAN> ;
  dct:language <http://publications.europa.eu/resource/authority/language/ENG> ;
  dct:issued "2021-03-01"^^xsd:date ;
  dct:accessRights right:PUBLIC ;
  dct:publisher <https://roads.example/office> ;
  dcat:contactPoint [ a vcard:Organization ; vcard:fn "Sign desk" ] ;
  dcat:distribution [ a dcat:Distribution ; dct:license <https://creativecommons.org/licenses/by/4.0/> ] .
<https://roads.example/counts> a dcat:Dataset ; dct:title "Counts"@en ; dct:identifier "007"^^xsd:integer ;
  dcat:contactPoint [ vcard:fn "Second desk" ], [ vcard:fn "Third desk" ] .
<https://roads.example/office> a foaf:Organization ; foaf:name "Road Office"@en .
"""
)
SYNTAXES = {"catalog.ttl": "turtle", "catalog.rdf": "pretty-xml", "catalog.jsonld": "json-ld"}


@pytest.fixture(autouse=True)
def no_sockets(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail every test in which a reader opens a socket."""

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a reader opened a socket")

    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


def serialize_catalog(name: str) -> str:
    """Return the catalog in the syntax that belongs to the name of a file."""
    return rdflib.Graph().parse(data=CATALOG, format="turtle").serialize(format=SYNTAXES[name])


def read_signs(name: str) -> DatasetDocument:
    """Return the street signs as they are read from a file of this name."""
    reading = read(serialize_catalog(name), name)
    assert (reading.standard, reading.rejection_code, len(reading.documents)) == ("dcat", None, 2)
    return next(document for document in reading.documents if document.key == "signs-2021")


@pytest.mark.parametrize("name", SYNTAXES)
class TestEachSyntax:
    def test_the_record_has_what_the_nodes_around_the_dataset_say(self, name: str) -> None:
        signs = read_signs(name)
        assert signs.record["dataset_name"] == "Street signs"
        assert signs.record["description"] == 'All "street" signs of the city.'
        assert signs.record["domain"] == ["transportation"]
        assert (signs.record["is_public"], signs.record["year"]) == (True, 2021)
        assert signs.record["metadata"]["licence"] == "CC-BY-4.0"
        assert signs.record["metadata"]["language"] == ["ENG"]
        assert set(signs.record["metadata"]["tags"]) == {"signs", "road"}
        assert claim_on(signs, "accountability_defined").quote == "Road Office"

    def test_every_quote_stands_in_the_document(self, name: str) -> None:
        texts = document_texts(SourceDocument(serialize_catalog(name).encode(), name))
        assert all(contains_quote(texts, claim.quote) for claim in read_signs(name).claims)

    def test_an_export_contains_the_parts_of_the_dataset(self, name: str) -> None:
        dataset = next(subject for subject in graph_of(CATALOG, "turtle").subjects(rdflib.DCTERMS.language))
        file = export_dataset(imported_dataset(read_signs(name)), "dcat")
        graph = graph_of(file.content.decode(), "json-ld")
        publisher = graph.value(dataset, rdflib.DCTERMS.publisher)
        assert graph.value(publisher, rdflib.FOAF.name) == rdflib.Literal("Road Office", "en")
        contact = graph.value(dataset, rdflib.DCAT.contactPoint)
        assert graph.value(contact, rdflib.URIRef("http://www.w3.org/2006/vcard/ns#fn")) == rdflib.Literal("Sign desk")

    def test_a_truncated_document_is_rejected_or_read_in_part(self, name: str) -> None:
        content = serialize_catalog(name).encode()
        for length in range(0, len(content), 31):
            reading = read(content[:length], name)
            assert reading.documents or reading.rejection_code


def graph_of(text: str, syntax: str) -> rdflib.Graph:
    """Return the statements of a document."""
    return rdflib.Graph().parse(data=text, format=syntax)


def test_a_document_without_a_name_is_recognized_by_its_beginning() -> None:
    for name in ("catalog.ttl", "catalog.rdf"):
        assert read(serialize_catalog(name), "").standard == "dcat"


def test_turtle_may_begin_as_json_does() -> None:
    text = '[] a <http://www.w3.org/ns/dcat#Dataset> ; <http://purl.org/dc/terms/title> "Signs" .'
    assert [document.key for document in read(text, "catalog.ttl").documents] == ["Signs"]


def test_the_same_document_is_read_in_the_same_way_and_in_its_order() -> None:
    first_reading, second_reading = read(CATALOG, "catalog.ttl"), read(CATALOG, "catalog.ttl")
    assert first_reading == second_reading
    assert [document.key for document in first_reading.documents] == ["signs-2021", "007"]
    contacts = first_reading.documents[1].unmapped["/dcat:contactPoint"]
    assert [contact["vcard:fn"] for contact in contacts] == ["Second desk", "Third desk"]


def test_another_dataset_is_no_part_of_a_dataset() -> None:
    text = PREFIXES + '<a> a dcat:Dataset ; dct:title "A" ; dct:source <b> . <b> a dcat:Dataset ; dct:title "B" .'
    document = read(text, "catalog.ttl").documents[0]
    assert document.unmapped["/dct:source"] == {"@id": "b"}


def test_a_dataset_without_an_address_has_its_title_as_its_key() -> None:
    document = read(PREFIXES + '[] a dcat:Dataset ; dct:title "Signs" .', "catalog.ttl").documents[0]
    assert document.key == "Signs"
    assert rejection_codes(document) == ["missing_identifier"]
    assert "url" not in document.record.get("metadata", {})


class TestHostileDocuments:
    def test_entities_are_refused(self, tmp_path: Path) -> None:
        secret = tmp_path / "secret"
        secret.write_text("green herons")
        for entity in ('a "aaaaaaaaaa"', f'a SYSTEM "{secret.as_uri()}"', '% a SYSTEM "http://127.0.0.1:9/a"'):
            text = serialize_catalog("catalog.rdf").replace("?>", f"?>\n<!DOCTYPE rdf:RDF [<!ENTITY {entity}>]>", 1)
            reading = read(text.replace("Road Office", "&a;"), "catalog.rdf")
            assert (reading.rejection_code, reading.rejection_facts) == ("xml_entity_refused", {"line": 2})

    def test_a_document_type_elsewhere_is_not_fetched(self) -> None:
        text = serialize_catalog("catalog.rdf").replace(
            "?>", '?>\n<!DOCTYPE rdf:RDF SYSTEM "http://127.0.0.1:9/dtd">', 1
        )
        reading = read(text, "catalog.rdf")
        assert reading.documents or reading.rejection_code

    def test_ontologies_and_addresses_are_not_fetched(self) -> None:
        imports = "<https://roads.example/signs> <http://www.w3.org/2002/07/owl#imports> <http://127.0.0.1:9/a> .\n"
        assert len(read(CATALOG + imports, "catalog.ttl").documents) == 2

    @pytest.mark.parametrize("name", ["catalog.turtle", "catalog.n3", "catalog.txt", "catalog"])
    def test_turtle_with_another_extension_or_comments_at_the_beginning(self, name: str) -> None:
        text = "# Catalog of the road office\n\n# 2026\n" + CATALOG
        assert read(text, name).documents == read(text, "catalog.ttl").documents

    @pytest.mark.parametrize(
        ("content", "name", "code"),
        [
            ("@prefix", "a.ttl", "invalid_rdf"),
            (PREFIXES + "<a> dct:title " + "[ dct:title " * 20_000, "a.ttl", "too_deep"),
            ("# " + "a" * 2_000_001, "a.ttl", "document_too_large"),
            ("<a/", "a.xml", "invalid_rdf"),
            ("<?xml version='1.0'?><page xmlns='https://page.example/'/>", "a.xml", "unknown_standard"),
            (b"<?xml version='1.0' encoding='latin1'?><a>\xe9</a>", "a.xml", "wrong_encoding"),
            ("", "a.ttl", "empty_document"),
            ("PK\x03\x04\x00", "a.ttl", "binary_content"),
        ],
    )
    def test_what_is_no_catalog_is_rejected(self, content: Any, name: str, code: str) -> None:
        assert read(content, name).rejection_code == code

    def test_shared_parts_do_not_multiply(self) -> None:
        """Each node refers to the next ones in two ways, so embedding them all would double them at every step."""
        links = "\n".join(
            f"<n{depth}-{index}> dct:relation {', '.join(f'<n{depth + 1}-{target}>' for target in range(20))} ."
            for depth in range(5)
            for index in range(20)
        )
        text = f'{PREFIXES}<a> a dcat:Dataset ; dct:title "A" ; dct:relation <n0-0>, <a> .\n{links}'
        document = read(text, "catalog.ttl").documents[0]
        assert str(document.unmapped).count("'dct:relation'") <= MAX_EMBEDDED_NODES
