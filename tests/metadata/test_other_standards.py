"""The standards of single sources and of catalogs, each with its traps."""

import copy
from typing import Any

import pytest

from tests.metadata.examples import (
    CKAN,
    DATA_PACKAGE,
    DATASHEET,
    DCAT_AP,
    DCAT_US,
    DPI,
    FAIRGROUND,
    OPENML,
    OPENML_FEATURES,
    PMLB,
    SCHEMA_ORG,
    TFDS_TAGS,
    UCI_LISTING,
    UCI_REPLY,
    as_bytes,
    claim_on,
    read,
    read_dataset,
    rejection_codes,
)


def with_value(document: Any, path: str, value: Any) -> Any:
    """Return a copy of a document with one value replaced; steps of the path are separated by slashes."""
    changed_copy = copy.deepcopy(document)
    node = changed_copy
    *steps, last_step = path.split("/")
    for step in steps:
        node = node[int(step)] if isinstance(node, list) else node[step]
    node[int(last_step) if isinstance(node, list) else last_step] = value
    return changed_copy


class TestDatasheet:
    def test_counts_split_and_licence(self) -> None:
        document = read_dataset(DATASHEET, "voices/en.md")
        assert document.key == "voices/en"
        assert claim_on(document, "instances_number").quote == "contains 1200 clips"
        assert document.record["is_split"] is True
        assert document.record["metadata"]["licence"] == "CC0-1.0"
        assert "html_comment" in rejection_codes(document)
        assert "#body" in document.unmapped

    @pytest.mark.parametrize("title", ["Datasheet for Foo", "Data sheet for the Foo", "Datasheet: Foo", "Foo"])
    def test_the_name_has_no_prefix_of_a_title(self, title: str) -> None:
        text = f"# {title}\n\n## Motivation\nText.\n\n## Composition\nText.\n"
        assert read_dataset(text, "foo/datasheet.md").record["dataset_name"] == "Foo"

    def test_a_readme_of_a_program_is_no_datasheet(self) -> None:
        assert read("# Program\n\n## Licence\nMIT\n", "README.md").rejection_code == "unknown_standard"


class TestOpenML:
    def qualities(self, **values: str) -> bytes:
        entries = [{"name": name, "value": value} for name, value in values.items()]
        return as_bytes({"data_qualities": {"quality": entries}})

    def read(self, qualities: bytes, features: bytes = b"{}") -> Any:
        companions = {"api-v1-jdq-9__json": qualities, "api-v1-jdf-9__json": features}
        return read_dataset(OPENML, "api-v1-jd-9.json", **companions)

    def test_the_target_and_identifiers_are_no_features(self) -> None:
        document = self.read(self.qualities(NumberOfFeatures="3.0"), as_bytes(OPENML_FEATURES))
        assert document.record["features_number"] == 1

    def test_the_target_is_taken_off_the_count(self) -> None:
        assert self.read(self.qualities(NumberOfFeatures="16.0")).record["features_number"] == 15

    def test_missing_values_are_computed_from_counts_whatever_the_unit_of_the_share(self) -> None:
        counts = {"NumberOfInstances": "100.0", "NumberOfFeatures": "10.0", "NumberOfMissingValues": "50.0"}
        for share in ("0.05", "5.0"):
            document = self.read(self.qualities(**counts, PercentageOfMissingValues=share))
            assert document.record["missing_values_percentage"] == 5.0

    def test_a_share_below_one_alone_is_ambiguous(self) -> None:
        document = self.read(self.qualities(PercentageOfMissingValues="0.4"))
        assert "missing_values_percentage" not in document.record
        assert document.record["has_missing_values"] is True
        assert "ambiguous_unit" in rejection_codes(document)

    def test_a_share_above_one_alone_is_a_percentage(self) -> None:
        document = self.read(self.qualities(PercentageOfMissingValues="12.5"))
        assert document.record["missing_values_percentage"] == 12.5

    def test_public_is_no_licence_and_a_warning_is_kept(self) -> None:
        metadata = read_dataset(OPENML).record["metadata"]
        assert "licence" not in metadata
        assert metadata["warnings"] == ["Do not use for benchmarks."]

    def test_a_listing_has_many_datasets(self) -> None:
        listing = {"data": {"dataset": [{"did": 1, "name": "a", "quality": []}, {"did": 2, "name": "b"}]}}
        assert [document.key for document in read(listing).documents] == ["1", "2"]

    def test_features_alone_belong_to_another_document(self) -> None:
        assert read(OPENML_FEATURES).rejection_code == "companion_document"


class TestUci:
    def test_a_listing(self) -> None:
        first_document, second_document = read(UCI_LISTING, "uci.csv").documents
        assert first_document.key == "signs/6-30-1988"
        assert first_document.record["task"] == ["classification", "clustering"]
        assert first_document.record["domain"] == ["health"]
        assert (first_document.record["year"], first_document.record["instances_number"]) == (1988, 150)
        assert first_document.record["has_temporal_factors"] is True
        assert "domain" not in second_document.record

    def test_one_instance_is_not_believed(self) -> None:
        document = read(UCI_LISTING, "uci.csv").documents[1]
        assert "instances_number" not in document.record
        assert rejection_codes(document) == ["implausible_value"]

    def test_a_reply_of_the_api(self) -> None:
        document = read_dataset(UCI_REPLY)
        assert (document.key, document.record["instances_number"]) == ("53", 150)
        assert document.record["has_missing_values"] is False
        assert ("additional_info", "summary") in [section.path for section in document.sections]


class TestPmlb:
    def test_the_example(self) -> None:
        document = read_dataset(PMLB, "signs/metadata.yaml")
        assert (document.key, document.record["features_number"], document.record["year"]) == ("signs", 2, 1999)
        assert document.record["domain"] == ["health"]
        assert "description" not in document.record
        assert rejection_codes(document) == ["placeholder"]

    def test_the_repository_has_no_licence_to_give(self) -> None:
        assert "licence" not in read_dataset(PMLB, "signs/metadata.yaml").record["metadata"]
        licensed_document = read_dataset(PMLB + "license: CC BY 4.0\n", "signs/metadata.yaml")
        assert licensed_document.record["metadata"]["licence"] == "CC-BY-4.0"

    def test_a_table_that_pmlb_dropped_carries_a_warning(self) -> None:
        document = read_dataset(PMLB, "_deprecated_signs/metadata.yaml")
        assert document.record["metadata"]["warnings"] == ["Deprecated by PMLB"]

    def test_the_year_of_the_uci_repository_is_not_that_of_a_table(self) -> None:
        text = PMLB.replace(
            "Doe J. Signs of the road. Journal of Signs (1999).", "UCI Machine Learning Repository; 2019."
        )
        assert "year" not in read_dataset(text, "signs/metadata.yaml").record


class TestDataProvenanceInitiative:
    def test_the_example(self) -> None:
        record = read_dataset(DPI).record
        assert (record["citations"], record["year"], record["instances_number"]) == (17, 2020, 120)
        assert record["task"] == ["question-answering"]
        assert record["metadata"]["licence"] == "Apache-2.0"

    def test_creators_and_an_audit_of_licences_prove_nothing(self) -> None:
        assert not {"accountability_defined", "transparency"} & set(read_dataset(DPI).record)

    def test_data_on_request_is_not_open(self) -> None:
        assert read_dataset(with_value(DPI, "signs/Licenses/0/License", "Request Form")).record["is_public"] is False

    def test_the_template_is_no_dataset(self) -> None:
        assert read(DPI, "data_summaries/_template.json").rejection_code == "template"

    @pytest.mark.parametrize("dialogs", [1, 2])
    def test_one_or_two_dialogs_are_not_credible(self, dialogs: int) -> None:
        document = read_dataset(with_value(DPI, "signs/Text Metrics/Num Dialogs", dialogs))
        assert "instances_number" not in document.record
        assert "implausible_value" in rejection_codes(document)


class TestFairGround:
    def test_the_warning_is_kept(self) -> None:
        document = read_dataset(FAIRGROUND)
        assert document.record["metadata"]["warnings"] == ["Its use is no longer recommended."]
        assert (document.record["instances_number"], document.record["features_number"]) == (32560, 14)

    def test_a_share_of_zero_does_not_show_that_nothing_is_missing(self) -> None:
        document = read_dataset(FAIRGROUND)
        assert not {"missing_values_percentage", "has_missing_values"} & set(document.record)
        assert rejection_codes(document) == ["counts_only_nan"]

    @pytest.mark.parametrize(
        ("name", "year"), [("German Credit", 1994), ("South German Credit", 2020), ("Other", 1994)]
    )
    def test_the_year_is_that_of_the_variant(self, name: str, year: int) -> None:
        dates = "1994 (German Credit); 2020 (South German Credit)"
        document = read_dataset([{**FAIRGROUND[0], "ann_dataset_name": name, "ann_year_last_updated": dates}])
        assert document.record["year"] == year

    def test_one_annotation_that_cannot_be_used_does_not_stop_the_others(self) -> None:
        reading = read([{**FAIRGROUND[0], "ann_new_dataset_id": ""}, *FAIRGROUND])
        assert [part.code for part in reading.rejected] == ["no_identifier"]
        assert len(reading.documents) == 1


class TestCkan:
    def test_the_example(self) -> None:
        document = read_dataset(CKAN)
        assert (document.key, document.record["year"], document.record["is_public"]) == ("b1-2", 2019, True)
        assert document.record["metadata"]["licence"] == "CC0-1.0"
        assert claim_on(document, "accountability_defined").quote == "City of Example"
        assert document.sections[-1].text == "Corrected every month."
        assert document.unmapped["/resources"][0]["url"] == "file:///etc/passwd"

    def test_an_author_does_not_answer_for_a_dataset(self) -> None:
        document = with_value(with_value(CKAN, "result/organization", None), "result/author", "Ada")
        assert "accountability_defined" not in read_dataset(document).record

    def test_texts_by_language(self) -> None:
        package = {
            **CKAN["result"],
            "title": {"fr": "Panneaux", "en": "Signs"},
            "notes": "",
            "notes_translated": {"fr": "Les panneaux de la ville."},
            "organization": {"name": "city", "title": {"fr": "La ville"}},
        }
        document = read_dataset({"success": True, "result": package})
        assert document.record["dataset_name"] == "Signs"
        assert document.record["description"] == "Les panneaux de la ville."
        assert claim_on(document, "accountability_defined").quote == "La ville"

    @pytest.mark.parametrize("title", ["License not specified", "Licence non spécifiée", None])
    def test_a_licence_that_is_not_specified_is_none(self, title: str | None) -> None:
        package = {**CKAN["result"], "license_id": "notspecified", "license_title": title}
        document = read_dataset({"success": True, "result": package})
        assert "licence" not in document.record["metadata"]

    def test_a_search_has_many_datasets(self) -> None:
        package = CKAN["result"]
        search_reply = {"success": True, "result": {"count": 2, "results": [package, {**package, "id": "c"}]}}
        assert [document.key for document in read(search_reply).documents] == ["b1-2", "c"]

    def test_a_failed_request_is_rejected(self) -> None:
        assert read({"success": False, "error": {"message": "Not found"}}).rejection_code == "error_reply"


class TestDcat:
    def test_a_catalog_lists_what_it_cannot_use(self) -> None:
        reading = read(DCAT_US)
        assert [document.key for document in reading.documents] == ["signs"]
        assert [(part.place, part.code) for part in reading.rejected] == [("/dataset/1", "no_identifier")]

    def test_the_level_of_access(self) -> None:
        document = read(DCAT_US).documents[0]
        assert claim_on(document, "is_public").quote == "non-public"
        assert document.record["is_public"] is False
        assert document.record["domain"] == ["crime"]

    def test_an_agreement_in_the_place_of_a_licence_is_shortened_and_kept(self) -> None:
        agreement = "<p>Terms of use.</p>" + "<p>You agree to everything.</p>" * 100
        document = read(with_value(DCAT_US, "dataset/0/license", agreement)).documents[0]
        assert document.record["metadata"]["licence"].startswith("Terms of use. You agree")
        assert len(document.record["metadata"]["licence"]) <= 201
        assert document.unmapped["/license"] == agreement

    def test_dcat_ap_in_english_with_rights_and_licence(self) -> None:
        document = read_dataset(DCAT_AP)
        assert (document.standard, document.key) == ("dcat", "https://signs.example/ap")
        assert document.record["dataset_name"] == "Signs"
        assert document.record["is_public"] is False
        assert document.record["metadata"]["licence"] == "CC-BY-4.0"
        assert claim_on(document, "accountability_defined").quote == "Sign desk"

    def test_an_open_licence_of_the_distribution_makes_the_data_public(self) -> None:
        document = read_dataset(with_value(DCAT_AP, "@graph/0/d:accessRights", None))
        claim = claim_on(document, "is_public")
        assert (claim.value, claim.quote) == (True, "https://creativecommons.org/licenses/by/4.0/")
        assert claim.place.endswith("/distribution")

    def test_a_number_may_identify_a_dataset(self) -> None:
        datasets = [{**DCAT_US["dataset"][0], "identifier": number} for number in (12, 13)]
        assert [document.key for document in read({**DCAT_US, "dataset": datasets}).documents] == ["12", "13"]

    @pytest.mark.parametrize("party", [{"fn": "None"}, {"name": "N/A"}, "[More Information Needed]", {"fn": " "}])
    def test_a_placeholder_answers_for_nothing(self, party: Any) -> None:
        document = read(with_value(with_value(DCAT_US, "dataset/0/publisher", party), "dataset/0/contactPoint", party))
        assert "accountability_defined" not in document.documents[0].record

    def test_french_precedes_other_languages_than_english(self) -> None:
        titles = [{"@value": "Schilder", "@language": "de"}, {"@value": "Panneaux", "@language": "fr"}]
        assert read_dataset(with_value(DCAT_AP, "@graph/0/d:title", titles)).record["dataset_name"] == "Panneaux"
        titles.append({"@value": "Signs", "@language": "en-GB"})
        assert read_dataset(with_value(DCAT_AP, "@graph/0/d:title", titles)).record["dataset_name"] == "Signs"

    def test_a_licence_that_only_its_address_identifies(self) -> None:
        licence = {"@id": "https://creativecommons.org/licenses/by/4.0/", "rdfs:label": "Attribution"}
        document = read_dataset(with_value(DCAT_AP, "@graph/0/d:license", licence))
        assert document.record["metadata"]["licence"] == "CC-BY-4.0"

    def test_a_dataset_that_stands_twice_is_imported_once(self) -> None:
        reading = read({**DCAT_US, "dataset": [DCAT_US["dataset"][0]] * 2})
        assert len(reading.documents) == 1
        assert [part.code for part in reading.rejected] == ["duplicate_dataset"]


class TestSchemaOrg:
    @pytest.mark.parametrize("date", ["2018-05-01", "2018", 2018, {"@type": "Date", "@value": "2018-05-01"}])
    def test_a_year_may_be_a_number(self, date: Any) -> None:
        document = read_dataset({**SCHEMA_ORG, "datePublished": date})
        assert document.record["year"] == 2018
        assert claim_on(document, "year").quote.startswith("2018")

    @pytest.mark.parametrize(
        ("licence", "expression"),
        [
            ({"@type": "CreativeWork", "url": "https://spdx.org/licenses/MIT.html"}, "MIT"),
            ({"@type": "CreativeWork", "name": "CC BY 4.0", "url": "https://signs.example/terms"}, "CC-BY-4.0"),
            ({"@id": "https://creativecommons.org/licenses/by/4.0/"}, "CC-BY-4.0"),
        ],
    )
    def test_a_licence_may_be_a_work(self, licence: dict[str, str], expression: str) -> None:
        """A work without a name is known by its address, and never by its type."""
        document = read_dataset({**SCHEMA_ORG, "license": licence})
        assert document.record["metadata"]["licence"] == expression
        assert claim_on(document, "is_public").quote in licence.values()

    def test_a_licence_that_only_its_address_identifies(self) -> None:
        licence = {"name": "Our terms", "url": "https://creativecommons.org/licenses/by/4.0/"}
        document = read_dataset({**SCHEMA_ORG, "license": licence})
        assert document.record["metadata"]["licence"] == "CC-BY-4.0"

    def test_the_code_of_a_language_comes_before_its_name(self) -> None:
        language = {"@type": "Language", "name": "French", "alternateName": "fr"}
        document = read_dataset({**SCHEMA_ORG, "inLanguage": [language, "en"]})
        assert document.record["metadata"]["language"] == ["fr", "en"]

    @pytest.mark.parametrize("publisher", ["Zenodo", "Dryad", "Mendeley Data", "Harvard Dataverse", "OSF"])
    def test_a_site_that_hosts_the_data_of_others_does_not_answer_for_them(self, publisher: str) -> None:
        document = read_dataset({**SCHEMA_ORG, "publisher": {"@type": "Organization", "name": publisher}})
        assert "accountability_defined" not in document.record

    def test_semicolons_may_separate_keywords(self) -> None:
        document = read_dataset({**SCHEMA_ORG, "keywords": "weather; rain;"})
        assert document.record["metadata"]["tags"] == ["weather", "rain"]


class TestDataPackage:
    def test_a_package_with_one_table(self) -> None:
        document = read_dataset(DATA_PACKAGE, "signs/datapackage.json")
        assert (document.record["features_number"], document.record["has_temporal_factors"]) == (2, True)
        assert document.record["metadata"]["licence"] == "PDDL-1.0"
        assert claim_on(document, "accountability_defined").quote == "Sign desk"

    def test_a_placeholder_is_no_maintainer(self) -> None:
        document = read_dataset({**DATA_PACKAGE, "contributors": [{"title": "N/A", "role": "maintainer"}]})
        assert "accountability_defined" not in document.record

    def test_the_member_of_a_licence_that_identifies_it_counts(self) -> None:
        licence = {"name": "other-open", "title": "Our terms", "path": "https://spdx.org/licenses/MIT.html"}
        document = read_dataset({**DATA_PACKAGE, "licenses": [licence]}, "signs/datapackage.json")
        assert document.record["metadata"]["licence"] == "MIT"

    def test_the_licence_of_a_collection_is_not_that_of_its_tables(self) -> None:
        resources = [{"name": name, "path": f"{name}.csv", "description": f"Table {name} of signs."} for name in "ab"]
        reading = read({**DATA_PACKAGE, "resources": resources}, "datapackage.json")
        assert [document.key for document in reading.documents] == ["signs/a", "signs/b"]
        assert all("licence" not in document.record["metadata"] for document in reading.documents)


class TestTensorFlowDatasets:
    def test_tags_without_a_line_end_between_them(self) -> None:
        document = read_dataset("Signs of the road.", "signs/README.md", TAGS__txt=TFDS_TAGS.encode())
        assert document.record["task"] == ["summarization"]
        assert document.record["metadata"]["language"] == ["en"]

    def test_restricted_access(self) -> None:
        text = "Signs.\n\nThe data is available upon request."
        document = read_dataset(text, "signs/README.md", TAGS__txt=b"")
        assert claim_on(document, "is_public").quote == "The data is available upon request."


@pytest.mark.parametrize("standard", ["rdatasets"])
def test_an_index_of_tables(standard: str) -> None:
    text = "package,item,title,rows_counted,cols_counted,missing_pct\nbase,signs,Street signs,12,3,0.0\n"
    document = read_dataset(text, "index.csv")
    assert (document.standard, document.key) == (standard, "base/signs")
    assert (document.record["instances_number"], document.record["has_missing_values"]) == (12, False)


@pytest.mark.parametrize("name", ["rain.txt", "rain"])
def test_json_without_its_extension(name: str) -> None:
    assert read(SCHEMA_ORG, name).documents == read(SCHEMA_ORG, "rain.jsonld").documents


def test_markdown_that_begins_with_a_bracket_is_no_json() -> None:
    text = "[![build](https://signs.example/badge)](https://signs.example)\n\n" + DATASHEET
    assert read_dataset(text, "voices/en.markdown").standard == "datasheet"
