"""Exports in every format: nothing is lost between an export and an import, and no value breaks out of its place."""

import json
import time
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from msgspec import UNSET, UnsetType

from tests.metadata.examples import CARD, CROISSANT, DATA_PACKAGE, DCAT_AP, SCHEMA_ORG, read, read_dataset, sources
from tests.metadata.exporting import (
    JSON_VALUES,
    TEXTS,
    URN,
    datasets,
    imported_dataset,
    members,
    read_export,
)
from touchstone.core.evidence import EvidenceLevel
from touchstone.http.request_models import LONG_TEXT
from touchstone.metadata.documents import Claim, DatasetDocument, DocumentSource, ImportedDocument, Scope
from touchstone.metadata.exact_values import MEMBER
from touchstone.metadata.exported_dataset import FOREIGN_MEASUREMENT, ExportedClaim, ExportedDataset
from touchstone.metadata.readers.source_document import SourceDocument
from touchstone.metadata.readers.standards import STANDARDS, read_document
from touchstone.metadata.writers.formats import FORMATS, export_dataset

FORMAT_KEYS = sorted(FORMATS)
FORMAT_KEY_BY_STANDARD = {export_format.standard: key for key, export_format in FORMATS.items()}


DEEPLY_NESTED_JSON = '{"a":' * 64 + "1" + "}" * 64


def as_restated(claims: tuple[Claim, ...]) -> list[Claim]:
    """Return claims as they are after another catalog has exported them."""
    return [replace(claim, is_restated=True) for claim in claims]


def first_source(claim: ExportedClaim) -> DocumentSource | UnsetType:
    """Return the source of an exported claim as a claim that restates it has it."""
    if claim.source is None:
        return UNSET
    source = claim.source
    return DocumentSource(kind=source.kind, name=source.name, url=source.url, sha256=source.sha256)


def documents_of(source: SourceDocument) -> list[DatasetDocument]:
    """Return the datasets of a document that can be imported."""
    documents = list(read_document(source).documents)
    assert documents
    return documents


def are_identical(left: Any, right: Any) -> bool:
    """Return whether two values are equal and print alike, so that 1, 1.0 and true differ."""
    return bool(left == right) and json.dumps(left, sort_keys=True) == json.dumps(right, sort_keys=True)


@pytest.mark.parametrize("format_key", FORMAT_KEYS)
class TestRecordsOfTheCatalog:
    @settings(max_examples=25)
    @given(dataset=datasets())
    def test_an_exported_record_reads_back_as_it_was(self, format_key: str, dataset: ExportedDataset) -> None:
        reread_document = read_export(export_dataset(dataset, format_key), format_key)

        assert are_identical(dict(reread_document.record), dict(dataset.record))
        restated_claims = [
            Claim(
                attribute=claim.attribute,
                value=claim.value,
                scope=claim.scope,
                quote=claim.quote,
                place=claim.place,
                field=claim.field,
                note=claim.note,
                until=claim.until,
                is_restated=True,
                original_source=first_source(claim),
            )
            for claim in dataset.claims
        ]
        # What annotators have agreed to never counts, so the value of the record becomes a claim of its own.
        unclaimed_values = [
            Claim(claim.attribute, claim.value, is_restated=True)
            for claim in dataset.claims
            if claim.scope is Scope.ANNOTATORS
        ]
        assert list(reread_document.claims) == [*restated_claims, *unclaimed_values]
        assert reread_document.unmapped == {}
        assert reread_document.earlier == ()
        assert reread_document.key == dataset.key

    @settings(max_examples=15)
    @given(dataset=datasets())
    def test_level_author_and_source_of_a_claim_are_in_the_document(
        self, format_key: str, dataset: ExportedDataset
    ) -> None:
        statements = members(export_dataset(dataset, format_key))[MEMBER].get("claims", [])

        for claim, statement in zip(dataset.claims, statements, strict=True):
            assert statement.get("level", "declared") == claim.level
            assert statement.get("by") == claim.by
            assert statement.get("quote", "") == claim.quote

    def test_the_value_of_the_record_decides_between_claims(self, format_key: str) -> None:
        """Claims lose their levels, so what contradicts the exported value is left out, and named."""
        statements: list[tuple[str, Any, EvidenceLevel]] = [
            ("informed_consent", False, EvidenceLevel.DECLARED),
            ("informed_consent", True, EvidenceLevel.REVIEWED),
            ("features_number", 8, EvidenceLevel.DECLARED),
            ("features_number", 9, EvidenceLevel.REVIEWED),
        ]
        claims = tuple(
            ExportedClaim(attribute=name, value=value, level=level, quote=f"{name} {value}")
            for name, value, level in statements
        )
        record = {"dataset_name": "A", "informed_consent": True, "features_number": 9}
        document = read_export(export_dataset(ExportedDataset(URN, record, claims), format_key), format_key)

        assert [(claim.attribute, claim.value) for claim in document.claims] == [
            ("informed_consent", True),
            ("features_number", 9),
        ]
        codes = [(part.code, part.facts) for part in document.rejected if part.code == "contradicts_record"]
        assert codes == [
            ("contradicts_record", {"attribute": "informed_consent"}),
            ("contradicts_record", {"attribute": "features_number"}),
        ]

    def test_passages_made_from_claims_are_no_prose(self, format_key: str) -> None:
        """The extractor must not find in an export what the export itself has written into it."""
        quotes = {"informed_consent": "All signed a form.", "anonymization_applied": "Names were removed."}
        claims = tuple(
            ExportedClaim(attribute=name, value=True, level=EvidenceLevel.DECLARED, quote=quote)
            for name, quote in quotes.items()
        )
        record = {"dataset_name": "A", "description": "Voices of people.", **dict.fromkeys(quotes, True)}
        document = read_export(export_dataset(ExportedDataset(URN, record, claims), format_key), format_key)

        prose = " ".join(section.text for section in document.sections)
        assert not [quote for quote in quotes.values() if quote in prose]

    def test_claims_come_back_as_the_statements_of_another_catalog(self, format_key: str) -> None:
        reviewed_claim = ExportedClaim(
            attribute="informed_consent", value=True, level=EvidenceLevel.REVIEWED, quote="agreed"
        )
        dataset = ExportedDataset(URN, {"dataset_name": "A", "informed_consent": True, "year": 2020}, (reviewed_claim,))

        claims = read_export(export_dataset(dataset, format_key), format_key).claims

        assert claims == (
            Claim("informed_consent", True, "agreed", is_restated=True),
            Claim("year", 2020, is_restated=True),
        )

    def test_a_measurement_of_another_catalog_is_kept_but_not_believed(self, format_key: str) -> None:
        measurement = {"rows": 3, "column_profiles": [{"name": "a", "type": "integer"}], "sha256": "0" * 64}
        dataset = ExportedDataset(
            URN, {"dataset_name": "A", "file_path": "uploads/a.csv"}, measured_profile=measurement
        )

        reread_document = read_export(export_dataset(dataset, format_key), format_key)

        assert reread_document.unmapped == {FOREIGN_MEASUREMENT: measurement}
        assert "metadata" not in reread_document.record
        assert reread_document.claims == ()

    def test_a_field_that_somebody_adds_to_an_exported_document_is_kept(self, format_key: str) -> None:
        file = export_dataset(ExportedDataset(URN, {"dataset_name": "A"}), format_key)
        if file.media_type == "text/markdown":
            content = file.content.replace(b"---\n", b"---\nown-field: kept\n", 1)
        else:
            content = json.dumps({**members(file), "own-field": "kept"}).encode()

        reread_document = read_export(replace(file, content=content), format_key)

        assert reread_document.unmapped == {"/own-field": "kept"}

    @pytest.mark.parametrize(
        "damage",
        [
            3,
            [],
            {},
            {"record": 4, "key": "k"},
            {"key": "k", "record": {}, "imported": "{"},
            {"key": "k", "record": {}, "imported": f'[{{"standard": "x", "record": {DEEPLY_NESTED_JSON}}}]'},
        ],
    )
    def test_damaged_exact_values_are_listed_and_the_rest_is_read(self, format_key: str, damage: Any) -> None:
        if format_key == "card":
            content = f'---\npretty_name: A\n"{MEMBER}": {json.dumps(damage)}\n---\n# Dataset Card for A\n'.encode()
            source = SourceDocument(content, "a.md")
        else:
            file = export_dataset(ExportedDataset(URN, {"dataset_name": "A"}), format_key)
            source = SourceDocument(json.dumps({**members(file), MEMBER: damage}).encode(), file.name)

        (document,) = read_document(source).documents

        assert document.record["dataset_name"] == "A"
        assert "invalid_exact_values" in [part.code for part in document.rejected]

    def test_imported_documents_have_no_character_that_no_database_holds(self, format_key: str) -> None:
        imported_document = ImportedDocument(standard="ckan", unmapped={"/note": "a\0b"})
        file = export_dataset(ExportedDataset(URN, {"dataset_name": "A"}, documents=(imported_document,)), format_key)

        [reread_import] = read_export(file, format_key).earlier

        assert reread_import.unmapped == {"/note": "a\N{REPLACEMENT CHARACTER}b"}

    def test_values_that_no_record_can_have_are_rejected_one_by_one(self, format_key: str) -> None:
        record = {"dataset_name": "A", "year": 2020, "objective": "To be kept."}
        file = export_dataset(ExportedDataset(URN, record), format_key)
        implausible_values = {
            "year": "old",
            "informed_consent": 1,
            "domain": ["x" * 999],
            "citations": -1,
            "score": 3,
            "task": [4],
        }
        content = file.content.replace(
            b'"year": 2020' if format_key != "card" else b"year: 2020",
            ", ".join(f'"{name}": {json.dumps(value)}' for name, value in implausible_values.items()).encode()
            if format_key != "card"
            else "\n    ".join(f"{name}: {json.dumps(value)}" for name, value in implausible_values.items()).encode(),
        )

        reread_document = read_export(replace(file, content=content), format_key)

        assert reread_document.record == {"dataset_name": "A", "objective": "To be kept."}
        places = {part.place for part in reread_document.rejected if part.code == "implausible_value"}
        assert places == {f"/{MEMBER}/record/{name}" for name in implausible_values}


@pytest.mark.parametrize("standard", [standard.key for standard in STANDARDS])
@pytest.mark.parametrize("format_key", FORMAT_KEYS)
class TestImportedDocuments:
    def test_everything_that_was_imported_is_exported(self, standard: str, format_key: str) -> None:
        for document in documents_of(sources()[standard]):
            dataset = imported_dataset(document)
            reread_document = read_export(export_dataset(dataset, format_key), format_key)

            assert reread_document.key == document.key
            assert are_identical(dict(reread_document.record), dict(dataset.record))
            assert list(reread_document.claims) == as_restated(document.claims)
            if FORMATS[format_key].standard == standard:
                assert are_identical(dict(reread_document.unmapped), dict(document.unmapped))
                assert reread_document.sections == document.sections
                assert reread_document.standard_version == document.standard_version
            else:
                assert reread_document.unmapped == {}
                assert reread_document.earlier == dataset.documents

    def test_exporting_what_was_exported_changes_nothing(self, standard: str, format_key: str) -> None:
        for document in documents_of(sources()[standard]):
            first_file = export_dataset(imported_dataset(document), format_key)
            reread_document = read_export(first_file, format_key)
            second_file = export_dataset(imported_dataset(reread_document), format_key)

            assert read_export(second_file, format_key) == replace(
                reread_document, rejected=read_export(second_file, format_key).rejected
            )


ORIGINALS: dict[str, dict[str, Any]] = {
    "croissant": CROISSANT,
    "schema_org": SCHEMA_ORG,
    "data_package": DATA_PACKAGE,
    "dcat": {**DCAT_AP["@graph"][0], "@context": DCAT_AP["@context"]},
}


class TestUnknownKeys:
    @pytest.mark.parametrize("standard", sorted(ORIGINALS))
    @settings(max_examples=25)
    @given(
        unknown_members=st.dictionaries(TEXTS.filter(lambda name: not name.startswith("@")), JSON_VALUES, max_size=4)
    )
    def test_come_back_at_their_place(self, standard: str, unknown_members: dict[str, Any]) -> None:
        original_members = {**unknown_members, **ORIGINALS[standard]}
        reading = read(original_members, sources()[standard].name)
        # With some members, such as "title", a document is one of another standard.
        assume(reading.standard == standard)
        (document,) = reading.documents

        file = export_dataset(imported_dataset(document), FORMAT_KEY_BY_STANDARD[standard])

        exported_members = members(file)
        assert all(
            are_identical(exported_members[key], value) for key, value in original_members.items() if key != "@context"
        )
        assert are_identical(
            dict(read_export(file, FORMAT_KEY_BY_STANDARD[standard]).unmapped), dict(document.unmapped)
        )

    @settings(max_examples=25)
    @given(unknown_members=st.dictionaries(TEXTS, JSON_VALUES, max_size=4))
    def test_come_back_in_the_front_matter_of_a_card(self, unknown_members: dict[str, Any]) -> None:
        front_matter = json.dumps({**unknown_members, "pretty_name": "A", "x": [1, "no"]}, ensure_ascii=True)
        if "\\ud" in front_matter or len(max(unknown_members, key=len, default="")) > 100:
            return
        reading = read_document(
            SourceDocument(f"---\n{front_matter}\n---\n# Dataset Card for A\n\nText.\n".encode(), "a.md"), "hf_card"
        )
        (document,) = reading.documents
        file = export_dataset(imported_dataset(document), "card")

        assert are_identical(dict(read_export(file, "card").unmapped), dict(document.unmapped))
        assert file.content.decode().endswith("# Dataset Card for A\n\nText.\n")

    def test_contexts_are_never_something_to_fetch(self) -> None:
        context = [
            "https://evil.example/context.jsonld",
            {"own": "https://own.example/", "@import": "https://evil.example/"},
        ]
        document = read_dataset({**ORIGINALS["dcat"], "@context": [DCAT_AP["@context"], *context], "own:key": 3})

        file = export_dataset(imported_dataset(document), "dcat")

        assert "evil.example" not in json.dumps(members(file)["@context"])
        assert members(file)["@context"]["own"] == "https://own.example/"
        assert read_export(file, "dcat").unmapped["/@context"] == [DCAT_AP["@context"], *context]


class TestChanges:
    def test_a_value_that_was_changed_in_the_catalog_replaces_the_imported_one(self) -> None:
        document = read_dataset(CROISSANT)
        dataset = imported_dataset(document)
        metadata = {**dataset.record["metadata"], "licence": "CC0-1.0", "licence_text": "CC0-1.0"}
        changed_dataset = replace(dataset, record={**dataset.record, "dataset_name": "Other", "metadata": metadata})

        exported_members = members(export_dataset(changed_dataset, "croissant"))

        assert exported_members["name"] == "Other"
        assert exported_members["license"] == "https://spdx.org/licenses/CC0-1.0"
        assert exported_members["datePublished"] == CROISSANT["datePublished"]
        reread_document = read_export(export_dataset(changed_dataset, "croissant"), "croissant")
        assert reread_document.record["metadata"]["licence"] == "CC0-1.0"
        assert reread_document.unmapped["/license"] == CROISSANT["license"]

    def test_of_two_documents_each_is_exported_with_its_own_values(self) -> None:
        croissant_dataset = imported_dataset(read_dataset(CROISSANT))
        card_dataset = imported_dataset(read_dataset(CARD, "signs/README.md"))
        merged_dataset = replace(croissant_dataset, documents=(*croissant_dataset.documents, *card_dataset.documents))

        assert members(export_dataset(merged_dataset, "croissant"))["name"] == CROISSANT["name"]
        assert export_dataset(merged_dataset, "card").content.decode().endswith(CARD.split("---\n")[2])

    def test_quotes_of_claims_stand_in_the_fields_for_responsible_ai(self) -> None:
        quote = "Everybody signed a form."
        claim = ExportedClaim(attribute="informed_consent", value=True, quote=quote)
        dataset = imported_dataset(read_dataset(CROISSANT))
        dataset = replace(dataset, claims=(*dataset.claims, claim))

        exported_members = members(export_dataset(dataset, "croissant"))

        assert exported_members["rai:dataCollection"] == quote
        assert exported_members["rai:dataLimitations"] == CROISSANT["rai:dataLimitations"]


class TestSafeText:
    @settings(max_examples=25)
    @given(dataset=datasets())
    def test_a_card_has_no_markup_but_its_own(self, dataset: ExportedDataset) -> None:
        content = export_dataset(dataset, "card").content.decode()
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


@pytest.mark.parametrize("format_key", FORMAT_KEYS)
@pytest.mark.parametrize("part", ["\n", " ", "\t\n", "[", "`", "*a", "1.", "- ", "<!--"])
def test_no_text_takes_long_to_export(format_key: str, part: str) -> None:
    """Everybody waits for an export, so no description of the allowed length may take seconds."""
    description = "a" + part * (LONG_TEXT // len(part) - 2) + "b"
    started_at = time.process_time()
    export_dataset(ExportedDataset(URN, {"dataset_name": "n", "description": description}), format_key)
    assert time.process_time() - started_at < 2


def test_file_names_are_safe_in_headers() -> None:
    for name, stem in (("Été / 2024", "ete-2024"), ('"\r\nX: y', "x-y"), ("数据", "dataset"), ("../../etc", "etc")):
        file = export_dataset(ExportedDataset(URN, {"dataset_name": name}), "jsonld")
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
    """Its own fields become those of the only resource, and the prose about the collection is not attributed to it."""
    _, document = documents_of(SourceDocument(json.dumps(COLLECTION).encode(), "signs/datapackage.json"))

    file = export_dataset(imported_dataset(document), "datapackage")

    assert members(file)["resources"] == [COLLECTION["resources"][1]]
    assert {name: members(file)[name] for name in ("title", "licenses", "own")} == {
        name: COLLECTION[name] for name in ("title", "licenses", "own")
    }
    reread_document = read_export(file, "datapackage")
    assert reread_document.sections == document.sections
    assert reread_document.unmapped == document.unmapped
    assert reread_document.record["dataset_name"] == "b"


def test_the_readme_beside_a_package_comes_back() -> None:
    readme = b"# Signs\n\nEverybody on the pictures agreed.\n"
    source = SourceDocument(json.dumps(DATA_PACKAGE).encode(), "signs/datapackage.json", {"README.md": readme})
    (document,) = documents_of(source)

    reread_document = read_export(export_dataset(imported_dataset(document), "datapackage"), "datapackage")

    assert reread_document.sections == document.sections
    assert reread_document.unmapped == document.unmapped
