"""What holds for every standard: detection, quotes, no network, and no document that makes a reader fail."""

import copy
import json
import random
import socket
from typing import Any

import pytest

from tests.metadata.examples import CARD, read, sources
from touchstone.client.document_files import DOCUMENT_SUFFIXES
from touchstone.core.attributes import ETHICAL, FLAGS, NUMBERS
from touchstone.metadata.documents import DatasetDocument
from touchstone.metadata.readers.source_document import (
    JSON_SUFFIXES,
    RDF_SUFFIXES,
    TABLE_DELIMITERS,
    TEXT_SUFFIXES,
    YAML_SUFFIXES,
    SourceDocument,
)
from touchstone.metadata.readers.standards import STANDARDS, read_document
from touchstone.services.selection.datasets.schemas import DatasetCreate

STRANGE_VALUES: tuple[Any, ...] = (
    None, True, 0, -1, 1e308, "", " ", "https://169.254.169.254/latest", "file:///etc/passwd",
    "[More Information Needed]", [], {}, [None], [[]], [{}], {"": None},
    {"@value": 3}, {"@id": []}, "x" * 5000, "2020", "<!-- hidden", 10**30,
)  # fmt: skip


@pytest.fixture(autouse=True)
def no_sockets(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail every test in which a reader opens a socket."""

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a reader opened a socket")

    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(socket, "create_connection", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


def test_there_is_an_example_of_each_standard() -> None:
    assert set(sources()) == {standard.key for standard in STANDARDS}


@pytest.mark.parametrize("key", [standard.key for standard in STANDARDS])
class TestEachStandard:
    def test_is_detected_and_read(self, key: str) -> None:
        reading = read_document(sources()[key])

        assert (reading.standard, reading.rejection_code) == (key, None)
        for document in reading.documents:
            assert document.standard == key
            assert document.key
            check_record(document)

    def test_is_read_the_same_way_twice(self, key: str) -> None:
        assert read_document(sources()[key]) == read_document(sources()[key])

    def test_can_be_named_by_the_caller(self, key: str) -> None:
        assert read_document(sources()[key], key) == read_document(sources()[key])

    def test_every_claim_has_a_verbatim_quote_and_the_record_its_value(self, key: str) -> None:
        source = sources()[key]
        text = "\n".join([source.content.decode(), *(part.decode() for part in source.companions.values())])
        for document in read_document(source).documents:
            attributes = [claim.attribute for claim in document.claims]
            for claim in document.claims:
                assert claim.quote
                assert claim.quote in text
                if attributes.count(claim.attribute) == 1:
                    assert document.record[claim.attribute] == claim.value
            assert set(document.record) & {*FLAGS, *NUMBERS} == set(attributes)

    def test_nothing_but_a_publisher_or_maintainer_proves_an_ethical_criterion(self, key: str) -> None:
        for document in read_document(sources()[key]).documents:
            ethical_attributes = {claim.attribute for claim in document.claims} & set(ETHICAL)
            assert ethical_attributes <= {"accountability_defined"}

    def test_a_truncated_document_is_rejected_or_read_in_part(self, key: str) -> None:
        source = sources()[key]
        for length in range(0, len(source.content), 7):
            reading = read_document(SourceDocument(source.content[:length], source.name, source.companions))
            assert reading.documents or reading.rejection_code

    def test_strange_values_never_make_the_reader_fail(self, key: str) -> None:
        source = sources()[key]
        if source.members or isinstance(source.data, list):
            for data in mutations(source.data, seed=key):
                mutated_source = SourceDocument(json.dumps(data).encode(), source.name, source.companions)
                reading = read_document(mutated_source, key)
                assert reading.documents or reading.rejection_code or reading.rejected
                for document in reading.documents:
                    check_record(document)


def check_record(document: DatasetDocument) -> None:
    """Check that a record of the catalog can hold what was read."""
    record = {"description": "", "file_path": "", "file_type": "", **document.record}
    DatasetCreate.model_validate({**record, "name": record.pop("dataset_name")})


def mutations(data: Any, seed: str) -> list[Any]:
    """Return copies of a document in each of which one value, chosen at random, is replaced by a strange one."""
    generator = random.Random(seed)
    mutated_copies = []
    for _ in range(400):
        mutated_copy = copy.deepcopy(data)
        node = mutated_copy
        while True:
            key = generator.choice(list(node) if isinstance(node, dict) else range(len(node)))
            child = node[key]
            if not isinstance(child, dict | list) or not child or generator.random() < 0.3:
                node[key] = generator.choice(STRANGE_VALUES)
                break
            node = child
        mutated_copies.append(mutated_copy)
    return mutated_copies


class TestOtherDocuments:
    def test_an_unknown_document_is_rejected(self) -> None:
        assert read({"hello": "world"}).rejection_code == "unknown_standard"

    def test_an_empty_document_is_rejected(self) -> None:
        assert read(b" \n").rejection_code == "empty_document"

    def test_a_schema_is_no_dataset(self) -> None:
        assert (
            read({"$schema": "https://json-schema.example", "properties": {"title": {}}}).rejection_code
            == "schema_document"
        )

    def test_a_failed_request_is_no_dataset(self) -> None:
        assert read({"error": {"code": "372", "message": "No results"}}).rejection_code == "error_reply"

    def test_a_table_is_a_data_file(self) -> None:
        assert read("a,b\n1,2\n", "table.csv").rejection_code == "data_file"

    def test_a_file_beside_a_card_belongs_to_the_card(self) -> None:
        assert read({"default": {}}, "signs/dataset_infos.json").rejection_code == "companion_document"

    @pytest.mark.parametrize("name", ["csv", "json", "text", "imagefolder", "parquet"])
    def test_a_loader_is_no_dataset(self, name: str) -> None:
        reading = read(CARD, f"{name}/README.md")
        assert (reading.rejection_code, reading.rejection_facts) == ("loader_name", {"name": name})


class TestAddresses:
    """Addresses in documents are texts, and the fixture above refuses every socket."""

    @pytest.mark.parametrize(
        "context",
        ["http://169.254.169.254/context", "file:///etc/passwd", ["https://schema.org/", "http://localhost:9/context"]],
    )
    def test_a_remote_context_is_noted_and_never_fetched(self, context: Any) -> None:
        content = {
            "@context": context,
            "@type": "Dataset",
            "name": "Signs",
            "conformsTo": "mlcommons.org/croissant/1.0",
        }
        document = read(content).documents[0]

        assert [part.code for part in document.rejected] == ["remote_context_ignored"]
        assert document.unmapped["/@context"] == context


def test_the_client_finds_every_document_that_readers_parse() -> None:
    suffixes = {*JSON_SUFFIXES, *YAML_SUFFIXES, *RDF_SUFFIXES, *TABLE_DELIMITERS, *TEXT_SUFFIXES, ".txt"}
    assert suffixes == DOCUMENT_SUFFIXES
