"""Exports in every format: nothing is lost on the way out and in again, and nothing breaks out of its place."""

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from tests.metadata.examples import CARD, CROISSANT, DATA_PACKAGE, DCAT_AP, SCHEMA_ORG, read, read_one, sources
from tests.metadata.exporting import (
    JSON_VALUES,
    TEXTS,
    URN,
    datasets,
    export,
    exported,
    exported_claim,
    members,
    read_again,
)
from touchstone.core.evidence import EvidenceLevel
from touchstone.metadata.documents import Claim, DatasetDocument, ImportedDocument
from touchstone.metadata.exact_values import MEMBER
from touchstone.metadata.exported_dataset import FOREIGN_MEASUREMENT, ExportedClaim, ExportedDataset
from touchstone.metadata.readers.source_document import SourceDocument
from touchstone.metadata.readers.standards import STANDARDS, read_document
from touchstone.metadata.writers.formats import FORMATS

FORMAT_KEYS = sorted(FORMATS)
SAME_STANDARD = {export_format.standard: key for key, export_format in FORMATS.items()}


DEEP = '{"a":' * 64 + "1" + "}" * 64


def as_restated(claims: tuple[Claim, ...]) -> list[Claim]:
    """Return claims as they are after another catalog has exported them."""
    return [replace(claim, is_restated=True) for claim in claims]


def documents_of(source: SourceDocument) -> list[DatasetDocument]:
    """Return the datasets of a document that can be imported."""
    documents = list(read_document(source).documents)
    assert documents
    return documents


def same(left: Any, right: Any) -> bool:
    """Return whether two values are equal and print alike, so that 1, 1.0 and true differ."""
    return bool(left == right) and json.dumps(left, sort_keys=True) == json.dumps(right, sort_keys=True)


@pytest.mark.parametrize("format_key", FORMAT_KEYS)
class TestRecordsOfTheCatalog:
    @settings(max_examples=25, deadline=None)
    @given(dataset=datasets())
    def test_an_exported_record_reads_back_as_it_was(self, format_key: str, dataset: ExportedDataset) -> None:
        again = read_again(export(dataset, format_key), format_key)

        assert same(dict(again.record), dict(dataset.record))
        assert [exported_claim(claim) for claim in again.claims] == [
            ExportedClaim(
                attribute=claim.attribute,
                value=claim.value,
                level=EvidenceLevel.DOCUMENTED,
                scope=claim.scope,
                quote=claim.quote,
                place=claim.place,
                field=claim.field,
                note=claim.note,
            )
            for claim in dataset.claims
        ]
        assert again.unmapped == {}
        assert again.earlier == ()
        assert again.key == dataset.key

    @settings(max_examples=15, deadline=None)
    @given(dataset=datasets())
    def test_level_author_and_source_of_a_claim_are_in_the_document(
        self, format_key: str, dataset: ExportedDataset
    ) -> None:
        stated = members(export(dataset, format_key))[MEMBER].get("claims", [])

        for claim, statement in zip(dataset.claims, stated, strict=True):
            assert statement.get("level", "declared") == claim.level
            assert statement.get("by") == claim.by
            assert statement.get("quote", "") == claim.quote

    def test_claims_come_back_as_the_statements_of_another_catalog(self, format_key: str) -> None:
        reviewed = ExportedClaim(attribute="informed_consent", value=True, level=EvidenceLevel.REVIEWED, quote="agreed")
        dataset = ExportedDataset(URN, {"dataset_name": "A", "informed_consent": True, "year": 2020}, (reviewed,))

        claims = read_again(export(dataset, format_key), format_key).claims

        assert claims == (
            Claim("informed_consent", True, "agreed", is_restated=True),
            Claim("year", 2020, is_restated=True),
        )

    def test_a_measurement_of_another_catalog_is_kept_but_not_believed(self, format_key: str) -> None:
        measured = {"rows": 3, "column_profiles": [{"name": "a", "type": "integer"}], "sha256": "0" * 64}
        dataset = ExportedDataset(URN, {"dataset_name": "A", "file_path": "uploads/a.csv"}, measured=measured)

        again = read_again(export(dataset, format_key), format_key)

        assert again.unmapped == {FOREIGN_MEASUREMENT: measured}
        assert "metadata" not in again.record
        assert again.claims == ()

    def test_a_field_that_somebody_adds_to_an_exported_document_is_kept(self, format_key: str) -> None:
        file = export(ExportedDataset(URN, {"dataset_name": "A"}), format_key)
        if file.media_type == "text/markdown":
            content = file.content.replace(b"---\n", b"---\nown-field: kept\n", 1)
        else:
            content = json.dumps({**members(file), "own-field": "kept"}).encode()

        again = read_again(replace(file, content=content), format_key)

        assert again.unmapped == {"/own-field": "kept"}

    @pytest.mark.parametrize(
        "damage",
        [
            3,
            [],
            {},
            {"record": 4, "key": "k"},
            {"key": "k", "record": {}, "imported": "{"},
            {"key": "k", "record": {}, "imported": f'[{{"standard": "x", "record": {DEEP}}}]'},
        ],
    )
    def test_damaged_exact_values_are_listed_and_the_rest_is_read(self, format_key: str, damage: Any) -> None:
        if format_key == "card":
            content = f'---\npretty_name: A\n"{MEMBER}": {json.dumps(damage)}\n---\n# Dataset Card for A\n'.encode()
            source = SourceDocument(content, "a.md")
        else:
            file = export(ExportedDataset(URN, {"dataset_name": "A"}), format_key)
            source = SourceDocument(json.dumps({**members(file), MEMBER: damage}).encode(), file.name)

        (document,) = read_document(source).documents

        assert document.record["dataset_name"] == "A"
        assert "invalid_exact_values" in [part.code for part in document.rejected]

    def test_imported_documents_have_no_character_that_no_database_holds(self, format_key: str) -> None:
        earlier = ImportedDocument(standard="ckan", unmapped={"/note": "a\0b"})
        file = export(ExportedDataset(URN, {"dataset_name": "A"}, documents=(earlier,)), format_key)

        [again] = read_again(file, format_key).earlier

        assert again.unmapped == {"/note": "a\N{REPLACEMENT CHARACTER}b"}

    def test_values_that_no_record_can_have_are_rejected_one_by_one(self, format_key: str) -> None:
        record = {"dataset_name": "A", "year": 2020, "objective": "To be kept."}
        file = export(ExportedDataset(URN, record), format_key)
        wrong = {"year": "old", "informed_consent": 1, "domain": ["x" * 999], "citations": -1, "score": 3, "task": [4]}
        content = file.content.replace(
            b'"year": 2020' if format_key != "card" else b"year: 2020",
            ", ".join(f'"{name}": {json.dumps(value)}' for name, value in wrong.items()).encode()
            if format_key != "card"
            else "\n    ".join(f"{name}: {json.dumps(value)}" for name, value in wrong.items()).encode(),
        )

        again = read_again(replace(file, content=content), format_key)

        assert again.record == {"dataset_name": "A", "objective": "To be kept."}
        places = {part.place for part in again.rejected if part.code == "implausible_value"}
        assert places == {f"/{MEMBER}/record/{name}" for name in wrong}


@pytest.mark.parametrize("standard", [standard.key for standard in STANDARDS])
@pytest.mark.parametrize("format_key", FORMAT_KEYS)
class TestImportedDocuments:
    def test_everything_that_was_imported_is_exported(self, standard: str, format_key: str) -> None:
        for document in documents_of(sources()[standard]):
            dataset = exported(document)
            again = read_again(export(dataset, format_key), format_key)

            assert again.key == document.key
            assert same(dict(again.record), dict(dataset.record))
            assert list(again.claims) == as_restated(document.claims)
            if FORMATS[format_key].standard == standard:
                assert same(dict(again.unmapped), dict(document.unmapped))
                assert again.sections == document.sections
                assert again.standard_version == document.standard_version
            else:
                assert again.unmapped == {}
                assert again.earlier == dataset.documents

    def test_exporting_what_was_exported_changes_nothing(self, standard: str, format_key: str) -> None:
        for document in documents_of(sources()[standard]):
            first = export(exported(document), format_key)
            again = read_again(first, format_key)
            second = export(exported(again), format_key)

            assert read_again(second, format_key) == replace(again, rejected=read_again(second, format_key).rejected)


ORIGINALS: dict[str, dict[str, Any]] = {
    "croissant": CROISSANT,
    "schema_org": SCHEMA_ORG,
    "data_package": DATA_PACKAGE,
    "dcat": {**DCAT_AP["@graph"][0], "@context": DCAT_AP["@context"]},
}


class TestUnknownKeys:
    @pytest.mark.parametrize("standard", sorted(ORIGINALS))
    @settings(max_examples=25, deadline=None)
    @given(unknown=st.dictionaries(TEXTS.filter(lambda name: not name.startswith("@")), JSON_VALUES, max_size=4))
    def test_come_back_at_their_place(self, standard: str, unknown: dict[str, Any]) -> None:
        original = {**unknown, **ORIGINALS[standard]}
        reading = read(original, sources()[standard].name)
        # With some members, such as "title", a document is one of another standard.
        assume(reading.standard == standard)
        (document,) = reading.documents

        file = export(exported(document), SAME_STANDARD[standard])

        stated = members(file)
        assert all(same(stated[key], value) for key, value in original.items() if key != "@context")
        assert same(dict(read_again(file, SAME_STANDARD[standard]).unmapped), dict(document.unmapped))

    @settings(max_examples=25, deadline=None)
    @given(unknown=st.dictionaries(TEXTS, JSON_VALUES, max_size=4))
    def test_come_back_in_the_head_of_a_card(self, unknown: dict[str, Any]) -> None:
        head = json.dumps({**unknown, "pretty_name": "A", "x": [1, "no"]}, ensure_ascii=True)
        if "\\ud" in head or len(max(unknown, key=len, default="")) > 100:
            return
        reading = read_document(
            SourceDocument(f"---\n{head}\n---\n# Dataset Card for A\n\nText.\n".encode(), "a.md"), "hf_card"
        )
        (document,) = reading.documents
        file = export(exported(document), "card")

        assert same(dict(read_again(file, "card").unmapped), dict(document.unmapped))
        assert file.content.decode().endswith("# Dataset Card for A\n\nText.\n")

    def test_contexts_are_never_something_to_fetch(self) -> None:
        context = [
            "https://evil.example/context.jsonld",
            {"own": "https://own.example/", "@import": "https://evil.example/"},
        ]
        document = read_one({**ORIGINALS["dcat"], "@context": [DCAT_AP["@context"], *context], "own:key": 3})

        file = export(exported(document), "dcat")

        assert "evil.example" not in json.dumps(members(file)["@context"])
        assert members(file)["@context"]["own"] == "https://own.example/"
        assert read_again(file, "dcat").unmapped["/@context"] == [DCAT_AP["@context"], *context]


class TestChanges:
    def test_a_value_that_was_changed_in_the_catalog_replaces_the_imported_one(self) -> None:
        document = read_one(CROISSANT)
        dataset = exported(document)
        metadata = {**dataset.record["metadata"], "licence": "CC0-1.0", "licence_text": "CC0-1.0"}
        changed = replace(dataset, record={**dataset.record, "dataset_name": "Other", "metadata": metadata})

        stated = members(export(changed, "croissant"))

        assert stated["name"] == "Other"
        assert stated["license"] == "https://spdx.org/licenses/CC0-1.0"
        assert stated["datePublished"] == CROISSANT["datePublished"]
        again = read_again(export(changed, "croissant"), "croissant")
        assert again.record["metadata"]["licence"] == "CC0-1.0"
        assert again.unmapped["/license"] == CROISSANT["license"]

    def test_of_two_documents_each_is_exported_with_its_own_values(self) -> None:
        croissant, card = exported(read_one(CROISSANT)), exported(read_one(CARD, "signs/README.md"))
        merged = replace(croissant, documents=(*croissant.documents, *card.documents))

        assert members(export(merged, "croissant"))["name"] == CROISSANT["name"]
        assert export(merged, "card").content.decode().endswith(CARD.split("---\n")[2])

    def test_quotes_of_claims_stand_in_the_fields_for_responsible_ai(self) -> None:
        quote = "Everybody signed a form."
        claim = ExportedClaim(attribute="informed_consent", value=True, quote=quote)
        dataset = exported(read_one(CROISSANT))
        dataset = replace(dataset, claims=(*dataset.claims, claim))

        stated = members(export(dataset, "croissant"))

        assert stated["rai:dataCollection"] == quote
        assert stated["rai:dataLimitations"] == CROISSANT["rai:dataLimitations"]


class TestSafeText:
    @settings(max_examples=25, deadline=None)
    @given(dataset=datasets())
    def test_a_card_has_no_markup_but_its_own(self, dataset: ExportedDataset) -> None:
        content = export(dataset, "card").content.decode()
        body = content.split("\n---\n", 1)[1]

        tokens = MarkdownIt("commonmark").enable("table").parse(body)
        headings = [tokens[index + 1].content for index, token in enumerate(tokens) if token.type == "heading_open"]
        kinds = {child.type for token in tokens for child in (token, *(token.children or ()))}
        links = [child for token in tokens for child in (token.children or ()) if child.type == "link_open"]

        assert headings[0].startswith("Dataset Card for ")
        assert set(headings[1:]) <= {"Dataset Description", "Dataset Summary", "Data Fields", "Evidence"}
        assert not kinds & {
            "html_block",
            "html_inline",
            "code_inline",
            "fence",
            "image",
            "table_open",
            "ordered_list_open",
        }
        assert len(links) <= 1


def test_file_names_are_safe_in_headers() -> None:
    for name, stem in (("Été / 2024", "ete-2024"), ('"\r\nX: y', "x-y"), ("数据", "dataset"), ("../../etc", "etc")):
        file = export(ExportedDataset(URN, {"dataset_name": name}), "jsonld")
        assert file.name == f"{stem}.jsonld"


COLLECTION: dict[str, Any] = {
    "name": "signs",
    "title": "A collection of signs",
    "description": "Several tables that have nothing to do with one another.",
    "licenses": [{"name": "MIT"}],
    "own": 1,
    "resources": [
        {"name": "a", "path": "a.csv", "description": "Signs of the first town."},
        {"name": "b", "path": "b.csv", "description": "Signs of the second town.", "own": {"deep": [2]}},
    ],
}


def test_one_dataset_of_a_collection_keeps_what_stood_around_it() -> None:
    """Its own fields become those of the only resource, and the prose about the collection is not taken for its own."""
    _, document = documents_of(SourceDocument(json.dumps(COLLECTION).encode(), "signs/datapackage.json"))

    file = export(exported(document), "datapackage")

    assert members(file)["resources"] == [COLLECTION["resources"][1]]
    assert {name: members(file)[name] for name in ("title", "licenses", "own")} == {
        name: COLLECTION[name] for name in ("title", "licenses", "own")
    }
    again = read_again(file, "datapackage")
    assert again.sections == document.sections
    assert again.unmapped == document.unmapped
    assert again.record["dataset_name"] == "b"


def test_the_readme_beside_a_package_comes_back() -> None:
    readme = b"# Signs\n\nEverybody on the pictures agreed.\n"
    source = SourceDocument(json.dumps(DATA_PACKAGE).encode(), "signs/datapackage.json", {"README.md": readme})
    (document,) = documents_of(source)

    again = read_again(export(exported(document), "datapackage"), "datapackage")

    assert again.sections == document.sections
    assert again.unmapped == document.unmapped
