"""Metadata of DataCite, as repositories export it and as its API answers."""

import time
from typing import Any

import pytest

from tests.metadata.examples import (
    CKAN,
    CROISSANT,
    DATACITE,
    DCAT_AP,
    SCHEMA_ORG,
    UCI_REPLY,
    as_bytes,
    claim_on,
    read,
    read_dataset,
    rejection_codes,
)
from touchstone.metadata.extraction.proposals import propose_claims
from touchstone.metadata.parsing import unescape_pointer
from touchstone.metadata.readers.source_document import SourceDocument
from touchstone.metadata.readers.standards import read_document

CC_BY = {"rights": "Creative Commons Attribution 4.0 International", "rightsIdentifier": "cc-by-4.0"}
PAPER = {"relatedIdentifier": "10.1234/paper", "relatedIdentifierType": "DOI", "relationType": "IsDocumentedBy"}


def api_resource(doi: str = "10.1234/rivers.7", **changes: Any) -> dict[str, Any]:
    """Return a resource as the API answers it, with some of its attributes replaced."""
    attributes = {
        **DATACITE,
        "doi": doi,
        "identifiers": [],
        "publisher": "River Institute",
        "publicationYear": 2021,
        "url": "https://rivers.example/levels",
        "state": "findable",
        "xml": "PHJlc291cmNlLz4=",
        **changes,
    }
    relationships = {"client": {"data": {"id": "example.rivers", "type": "clients"}}}
    return {"id": doi, "type": "dois", "attributes": attributes, "relationships": relationships}


def value_at(data: Any, place: str) -> Any:
    """Return the value at a JSON pointer."""
    for step in place.split("/")[1:]:
        data = data[int(step)] if isinstance(data, list) else data[unescape_pointer(step)]
    return data


class TestExport:
    def test_the_record(self) -> None:
        document = read_dataset(DATACITE)

        assert (document.standard, document.standard_version, document.key) == ("datacite", "4", "10.1234/rivers.7")
        metadata = document.record["metadata"]
        assert document.record["dataset_name"] == "Water levels of small rivers"
        assert document.record["description"] == "Hourly water levels at twelve gauges."
        assert document.record["domain"] == ["environment", "mathematics"]
        assert document.record["year"] == 2021
        assert metadata == {
            "url": "https://doi.org/10.1234/rivers.7",
            "language": "en",
            "version": "2.1",
            "tags": ["environment", "FOS: Mathematics"],
            "licence": "CC-BY-4.0",
            "licence_text": "Creative Commons Attribution 4.0 International",
        }

    def test_the_claims(self) -> None:
        document = read_dataset(DATACITE)

        claims = {claim.attribute: (claim.value, claim.quote, claim.place) for claim in document.claims}
        assert claims == {
            "is_public": (True, "Creative Commons Attribution 4.0 International", "/rightsList/0"),
            "year": (2021, "2021", "/publicationYear"),
            "accountability_defined": (True, "Gauge desk", "/contributors/1"),
            "external_documentation_available": (True, "10.1234/paper", "/relatedIdentifiers/0"),
        }

    def test_the_prose_and_what_says_nothing(self) -> None:
        document = read_dataset(DATACITE)

        assert [section.path for section in document.sections] == [
            ("descriptions", "0", "description"),
            ("descriptions", "1", "description"),
        ]
        assert rejection_codes(document) == ["placeholder"]

    def test_everything_is_kept(self) -> None:
        assert read_dataset(DATACITE).unmapped == {f"/{name}": value for name, value in DATACITE.items()}

    def test_proposals_quote_a_description(self) -> None:
        prose = "All households signed a consent form before the survey."
        methods = {"description": prose, "descriptionType": "Methods"}
        document = read_dataset({"data": [api_resource(descriptions=[*DATACITE["descriptions"], methods])]})

        [claim] = [claim for claim in propose_claims(document.sections) if claim.attribute == "informed_consent"]

        assert (claim.value, claim.quote) == (True, prose)
        assert claim.place == "/data/0/attributes/descriptions/3/description"


class TestAnswerOfTheApi:
    def test_a_single_resource_is_the_same_dataset_as_the_export(self) -> None:
        document = read_dataset({"data": api_resource()})
        export = read_dataset(DATACITE)

        assert document.key == export.key
        assert {**document.record, "metadata": None} == {**export.record, "metadata": None}
        assert document.record["metadata"]["url"] == "https://rivers.example/levels"
        assert claim_on(document, "year").quote == "2021"
        assert document.unmapped["/relationships"]["client"]["data"]["id"] == "example.rivers"
        assert document.unmapped["/xml"] == "PHJlc291cmNlLz4="

    def test_a_list_has_several_datasets_each_with_its_own_place(self) -> None:
        answer = {
            "data": [
                api_resource("10.1234/a"),
                api_resource("10.1234/b", types={"resourceTypeGeneral": "Software"}),
                api_resource("10.1234/c", types={"resourceTypeGeneral": "Collection"}),
                api_resource("10.1234/A"),
            ],
            "meta": {"total": 4},
            "links": {"self": "https://api.datacite.org/dois"},
        }
        reading = read(answer)

        assert [document.key for document in reading.documents] == ["10.1234/a", "10.1234/c"]
        assert [(part.place, part.code) for part in reading.rejected] == [
            ("/data/1/attributes", "not_a_dataset"),
            ("", "duplicate_dataset"),
        ]
        assert claim_on(reading.documents[1], "year").place == "/data/2/attributes/publicationYear"

    def test_a_list_of_exports_has_several_datasets(self) -> None:
        documents = read([DATACITE, {**DATACITE, "doi": "10.1234/other"}]).documents
        assert [document.key for document in documents] == ["10.1234/rivers.7", "10.1234/other"]
        assert claim_on(documents[1], "year").place == "/1/publicationYear"

    def test_a_failed_request_is_rejected(self) -> None:
        answer = {"errors": [{"status": "404", "title": "The resource does not exist."}]}
        assert read(answer).rejection_code == "error_reply"

    @pytest.mark.parametrize("document", [DATACITE, {"data": [api_resource()]}])
    def test_every_quote_stands_at_its_place(self, document: Any) -> None:
        for claim in read_dataset(document).claims:
            assert claim.quote in str(value_at(document, claim.place))
        for section in read_dataset(document).sections:
            assert value_at(document, "/" + "/".join(section.path)) == section.text


class TestIdentifier:
    @pytest.mark.parametrize(
        "doi",
        ["10.1234/Rivers.7", "doi:10.1234/rivers.7", "DOI: 10.1234/RIVERS.7", "https://doi.org/10.1234/rivers.7",
         "http://dx.doi.org/10.1234/Rivers.7", "https://www.doi.org/10.1234/rivers.7", "info:doi/10.1234/rivers.7"],
    )  # fmt: skip
    def test_a_doi_has_no_prefix_and_no_capitals(self, doi: str) -> None:
        without_doi = {name: value for name, value in DATACITE.items() if name not in ("doi", "identifiers")}
        for members in ({"doi": doi}, {"id": doi}, {"identifiers": [{"identifier": doi, "identifierType": "DOI"}]}):
            assert read_dataset({**without_doi, **members}).key == "10.1234/rivers.7"

    def test_without_a_doi_another_identifier_counts_and_then_the_address(self) -> None:
        handle = {"identifier": " hdl:2000/7", "identifierType": "Handle"}
        document = {**DATACITE, "doi": ":none", "identifiers": [{"identifier": "(:tba)"}, None, handle]}
        assert read_dataset(document).key == "hdl:2000/7"
        assert "url" not in read_dataset(document).record["metadata"]

        document = {**DATACITE, "doi": None, "identifiers": None, "url": "https://rivers.example/7"}
        assert read_dataset(document).key == "https://rivers.example/7"

    @pytest.mark.parametrize("doi", [None, 7, [], {}, "", "(:unav)", "11.1234/a", "10.1234/", "10.1/a b"])
    @pytest.mark.parametrize("url", ["(:unav)", "https://rivers.example/"])
    def test_nothing_else_identifies_a_dataset(self, doi: Any, url: str) -> None:
        """A placeholder and the home page of a site identify no dataset."""
        reading = read({**DATACITE, "doi": doi, "identifiers": [], "url": url})
        assert reading.rejection_code == "no_identifier"


class TestType:
    @pytest.mark.parametrize("general_type", ["Software", "Text", "JournalArticle", "Image", "DataPaper", "SOFTWARE"])
    def test_other_resources_are_refused(self, general_type: str) -> None:
        reading = read({**DATACITE, "types": {"resourceTypeGeneral": general_type}})
        assert (reading.standard, reading.rejection_code) == ("datacite", "not_a_dataset")
        assert reading.rejection_facts == {"type": general_type}

    @pytest.mark.parametrize(
        "types",
        [
            *({"resourceTypeGeneral": value} for value in ("Dataset", "dataset", "Collection", "Other")),
            *({"resourceTypeGeneral": value} for value in ("", "(:unav)", None, 3)),
            *(None, [], {}, "Software"),
        ],
    )
    def test_a_dataset_a_collection_or_an_unknown_type_is_read(self, types: Any) -> None:
        assert read_dataset({**DATACITE, "types": types}).key == "10.1234/rivers.7"


class TestDetection:
    def test_the_general_type_is_enough_without_the_address_of_the_schema(self) -> None:
        document = {name: value for name, value in DATACITE.items() if name != "schemaVersion"}
        assert read_dataset(document).standard_version is None

    @pytest.mark.parametrize(
        ("address", "version"),
        [
            ("http://datacite.org/schema/kernel-4", "4"),
            ("https://schema.datacite.org/meta/kernel-4.6/", "4.6"),
            ("http://datacite.org/schema/kernel-4.5", "4.5"),
        ],
    )
    def test_the_version_is_that_of_the_schema(self, address: str, version: str) -> None:
        assert read_dataset({**DATACITE, "types": None, "schemaVersion": address}).standard_version == version

    @pytest.mark.parametrize("document", [SCHEMA_ORG, CROISSANT, DCAT_AP, CKAN, UCI_REPLY])
    def test_other_standards_are_not_mistaken_for_it(self, document: Any) -> None:
        """DataCite's own descriptions in the vocabulary of schema.org also name its schema."""
        members = {**document, "schemaVersion": "http://datacite.org/schema/kernel-4"}
        assert read(members).standard == read(document).standard != "datacite"

    @pytest.mark.parametrize(
        "document",
        [
            {"schemaVersion": "http://datacite.org/schema/kernel-4"},
            {"titles": [{"title": "Rivers"}]},
            {"titles": "Rivers", "types": {"resourceTypeGeneral": "Dataset"}},
            {"data": {"id": "example.rivers", "type": "clients", "attributes": {"name": "Rivers"}}},
            {"data": []},
            [None, 3, []],
        ],
    )
    def test_other_documents_are_unknown(self, document: Any) -> None:
        assert read(document).rejection_code == "unknown_standard"


class TestTitlesAndDescriptions:
    @pytest.mark.parametrize(
        ("titles", "name"),
        [
            ([{"title": "Rivers"}, {"title": "Rivières", "lang": "fr", "titleType": "TranslatedTitle"}], "Rivers"),
            ([{"title": "Flüsse", "lang": "de"}, {"title": "Rivières", "lang": "fr"}], "Rivières"),
            ([{"title": "Rivières", "lang": "fr"}, {"title": "Rivers", "lang": "en-GB"}], "Rivers"),
            ([{"title": "Flüsse", "lang": "deu"}, {"title": "Rivers", "lang": "eng"}], "Rivers"),
            ([{"title": "Flüsse", "lang": "zzz"}, {"title": "Rivières", "lang": "fre"}], "Rivières"),
            ([{"title": "Part 2", "titleType": "Subtitle"}, {"title": "Rivers", "titleType": None}], "Rivers"),
            ([{"title": "(:unas)"}, {"title": "Levels", "titleType": "AlternativeTitle"}], "Levels"),
            ([{"title": 3, "lang": []}, None, "Rivers", {}, {"title": "Fleuves", "lang": 4}], "Fleuves"),
            ([], "10.1234/rivers.7"),
            ([{"title": ":unkn"}], "10.1234/rivers.7"),
        ],
    )
    def test_the_name(self, titles: Any, name: str) -> None:
        assert read_dataset({**DATACITE, "titles": titles}).record["dataset_name"] == name

    def test_the_abstract_is_the_description_and_a_table_of_contents_is_no_prose(self) -> None:
        descriptions = [
            {"description": "1. Introduction. 2. Consent forms of all speakers.", "descriptionType": "TableOfContents"},
            {"description": "Journal of Rivers, volume 3", "descriptionType": "SeriesInformation"},
            {"description": "The gauges were read hourly.", "descriptionType": "Methods"},
            {"description": "Des niveaux d’eau.", "descriptionType": "Abstract", "lang": "fr"},
        ]
        document = read_dataset({**DATACITE, "descriptions": descriptions})
        assert document.record["description"] == "Des niveaux d’eau."
        assert [section.text for section in document.sections] == [
            "The gauges were read hourly.",
            "Des niveaux d’eau.",
        ]

    def test_without_an_abstract_another_description_counts(self) -> None:
        document = read_dataset({**DATACITE, "descriptions": DATACITE["descriptions"][1:]})
        assert document.record["description"] == "Gauges were read by hand and checked twice."


class TestAccess:
    def read_rights(self, *rights: Any, **members: Any) -> Any:
        """Read the example with other rights and members."""
        return read_dataset({**DATACITE, "rightsList": list(rights), **members})

    @pytest.mark.parametrize(
        ("level", "is_public"),
        [
            ({"rights": "Open Access", "rightsUri": "info:eu-repo/semantics/openAccess"}, True),
            ({"rights": "Accès libre", "rightsUri": "http://purl.org/coar/access_right/c_abf2"}, True),
            ({"rightsUri": "info:eu-repo/semantics/restrictedAccess"}, False),
            ({"rights": "Embargoed Access"}, False),
            ({"rights": "Closed access", "rightsUri": "http://purl.org/coar/access_right/c_14cb/"}, False),
        ],
    )
    def test_a_level_of_access_comes_before_the_licence(self, level: dict[str, str], is_public: bool) -> None:
        document = self.read_rights(CC_BY, level)
        claim = claim_on(document, "is_public")
        assert (claim.value, claim.place) == (is_public, "/rightsList/1")
        assert claim.quote in level.values()
        assert document.record["metadata"]["licence"] == "CC-BY-4.0"

    def test_what_limits_access_comes_first(self) -> None:
        open_level = {"rightsUri": "info:eu-repo/semantics/openAccess"}
        condition = "The data are available on request."
        abstract = {"description": f"Water levels. {condition}", "descriptionType": "Abstract"}

        claim = claim_on(self.read_rights(open_level, {"rights": "Closed Access"}), "is_public")
        assert (claim.value, claim.quote) == (False, "Closed Access")
        claim = claim_on(self.read_rights(open_level, CC_BY, descriptions=[abstract]), "is_public")
        assert (claim.value, claim.quote) == (False, condition)
        assert (claim.place, claim.field) == ("/descriptions/0/description", "descriptions")

    def test_a_level_and_a_licence_may_stand_in_one_entry(self) -> None:
        rights = {"rights": "Open Access", "rightsUri": "https://creativecommons.org/licenses/by/4.0/"}
        document = self.read_rights(rights)
        assert document.record["metadata"]["licence"] == "CC-BY-4.0"
        assert claim_on(document, "is_public").quote == "Open Access"

    def test_a_licence_in_two_languages_is_one(self) -> None:
        translation = {"rights": "Attribution 4.0, en français", "rightsIdentifier": "CC-BY-4.0", "lang": "fr"}
        assert self.read_rights(CC_BY, translation).record["metadata"]["licence"] == "CC-BY-4.0"

    @pytest.mark.parametrize(
        "rights",
        [{"rights": "All rights reserved"}, {"rights": "unknown"}, {"rights": "(:unav)"}, {"rights": 3}, {}, None, []],
    )
    def test_other_rights_do_not_show_whether_the_data_are_public(self, rights: Any) -> None:
        assert "is_public" not in self.read_rights(rights).record

    def test_an_unknown_licence_beside_an_open_one_is_not_quoted(self) -> None:
        assert claim_on(self.read_rights({"rights": "unknown"}, CC_BY), "is_public").place == "/rightsList/1"


class TestAccountability:
    def read_parties(self, contributors: Any, publisher: Any = None) -> Any:
        """Read the example with other contributors and another publisher."""
        return read_dataset({**DATACITE, "contributors": contributors, "publisher": publisher})

    @pytest.mark.parametrize("contributor_type", ["ContactPerson", "DataManager", "DataCurator"])
    def test_a_contributor_may_answer_for_the_data(self, contributor_type: str) -> None:
        contributors = [
            {"name": "Somebody", "contributorType": "Researcher"},
            {"name": ":unkn", "contributorType": contributor_type},
            {"name": "https://rivers.example/staff/7", "contributorType": contributor_type},
            {"name": "Noether, Emmy", "contributorType": contributor_type},
        ]
        claim = claim_on(self.read_parties(contributors), "accountability_defined")
        assert (claim.quote, claim.place) == ("Noether, Emmy", "/contributors/3")

    @pytest.mark.parametrize("contributor_type", ["DataCollector", "RightsHolder", "Sponsor", "Other", None, 3, []])
    def test_other_contributors_and_creators_do_not_count(self, contributor_type: Any) -> None:
        contributors = [{"name": "Noether, Emmy", "contributorType": contributor_type}]
        assert "accountability_defined" not in self.read_parties(contributors).record

    @pytest.mark.parametrize("publisher", ["River Institute", {"name": "River Institute", "lang": "en"}])
    def test_else_the_publisher_counts(self, publisher: Any) -> None:
        claim = claim_on(self.read_parties([], publisher), "accountability_defined")
        assert (claim.quote, claim.place) == ("River Institute", "/publisher")

    @pytest.mark.parametrize(
        "publisher",
        ["Zenodo", {"name": "figshare"}, "Dryad", "Harvard Dataverse", "(:unav)", ":none", "(:tba)", "n/a", "", None, 3,
         {}, [], {"publisherIdentifier": "https://ror.org/00example"}, "https://rivers.example"],
    )  # fmt: skip
    def test_a_hosting_site_a_placeholder_or_an_address_is_no_publisher(self, publisher: Any) -> None:
        assert "accountability_defined" not in self.read_parties([], publisher).record


class TestDocumentation:
    @pytest.mark.parametrize("relation", ["IsDocumentedBy", "IsDescribedBy", "IsSupplementTo"])
    @pytest.mark.parametrize("identifier", ["10.1234/Paper", "doi:10.1234/Paper", "https://rivers.example/manual"])
    def test_a_doi_or_an_address_counts(self, relation: str, identifier: str) -> None:
        relations = [{"relatedIdentifier": identifier, "relationType": relation}]
        claim = claim_on(
            read_dataset({**DATACITE, "relatedIdentifiers": relations}), "external_documentation_available"
        )
        assert (claim.quote, claim.note) == (identifier, relation)

    @pytest.mark.parametrize(
        "relation",
        [
            {**PAPER, "relationType": "Cites"},
            {**PAPER, "relatedIdentifier": "978-3-905673-82-1"},
            {**PAPER, "relatedIdentifier": "https://doi.org/10.1234/rivers.7"},
            {**PAPER, "relatedIdentifier": "https://rivers.example/levels"},
            {**PAPER, "relatedIdentifier": None},
            {**PAPER, "relatedIdentifier": "(:unav)"},
            {**PAPER, "relationType": []},
            None,
        ],
    )
    def test_other_relations_and_the_dataset_itself_do_not_count(self, relation: Any) -> None:
        document = read_dataset({**DATACITE, "url": "https://rivers.example/levels", "relatedIdentifiers": [relation]})
        assert "external_documentation_available" not in document.record


class TestYear:
    @pytest.mark.parametrize(("value", "quote"), [("2021", "2021"), (2021, "2021"), ("2021-03", "2021-03")])
    def test_of_publication(self, value: Any, quote: str) -> None:
        claim = claim_on(read_dataset({**DATACITE, "publicationYear": value}), "year")
        assert (claim.value, claim.quote) == (2021, quote)

    @pytest.mark.parametrize("value", [None, "(:tba)", 0, "soon", [], {}, True, 1e300])
    def test_else_of_another_date(self, value: Any) -> None:
        dates = [
            {"date": "2017-01-01", "dateType": "Collected"},
            {"date": "2019-05-01", "dateType": "Available"},
            {"date": 2018, "dateType": "Issued"},
            None,
        ]
        claim = claim_on(read_dataset({**DATACITE, "publicationYear": value, "dates": dates}), "year")
        assert (claim.value, claim.quote, claim.place) == (2019, "2019-05-01", "/dates/1/date")
        assert "year" not in read_dataset({**DATACITE, "publicationYear": value, "dates": []}).record


def test_a_withdrawn_or_obsolete_dataset_has_warnings() -> None:
    dates = [{"date": "2022-03-01", "dateType": "Withdrawn"}]
    relations = [{"relatedIdentifier": "10.1234/new", "relationType": "IsObsoletedBy"}]
    document = read_dataset({**DATACITE, "dates": dates, "relatedIdentifiers": relations})
    assert document.record["metadata"]["warnings"] == [
        "DataCite: Withdrawn 2022-03-01",
        "DataCite: IsObsoletedBy 10.1234/new",
    ]


@pytest.mark.parametrize("value", [None, True, 0, 1.5, "", "text", [], [None], [[]], [{}], ["text"], {}, {"": None}])
def test_a_member_of_the_wrong_type_states_nothing(value: Any) -> None:
    """Whatever the type of a member is, the rest of the document is read, and the member is kept."""
    required = ("schemaVersion", "doi", "titles")
    for name in DATACITE:
        if name in required:
            continue
        document = read_dataset({**DATACITE, name: value})
        assert document.unmapped[f"/{name}"] == value
        assert document.key == "10.1234/rivers.7"

    bare = read_dataset({name: DATACITE[name] if name in required else value for name in DATACITE})
    assert {claim.attribute for claim in bare.claims} <= {"accountability_defined"}


@pytest.mark.parametrize(
    "text",
    ["<script>alert(1)</script>", "\u202egnp.exe", "' OR 1=1 --", "../../etc/passwd", "https://169.254.169.254/latest",
     "a\r\nX-Header: b", "10." * 2000 + "/", "doi:" * 2000, "(:" * 2000, "x" * 50_000, "\ufeff", "{{7*7}}"],
)  # fmt: skip
def test_hostile_texts_are_texts(text: str) -> None:
    """No text breaks out of its place, takes long, or is believed to be an identifier."""
    started_at = time.process_time()
    document = read_dataset(
        {
            **DATACITE,
            "titles": [{"title": text}],
            "descriptions": [{"description": text, "descriptionType": text}],
            "subjects": [{"subject": text}],
            "rightsList": [{"rights": text, "rightsUri": text}],
            "contributors": [{"name": text, "contributorType": text}],
            "relatedIdentifiers": [{"relatedIdentifier": text, "relationType": "Cites"}],
            "language": text,
            "identifiers": [{"identifier": text}],
        }
    )
    assert time.process_time() - started_at < 2
    assert document.key == "10.1234/rivers.7"
    assert len(document.record["dataset_name"]) <= 200
    assert {claim.attribute for claim in document.claims} == {"year", "accountability_defined"}


def test_huge_lists_are_read_in_time_and_kept() -> None:
    count = 20_000
    members: dict[str, Any] = {
        "titles": [{"title": f"Title {number}", "lang": "de"} for number in range(count)],
        "subjects": [{"subject": f"word {number}"} for number in range(count)],
        "contributors": [{"name": f"Person {number}", "contributorType": "Researcher"} for number in range(count)],
        "relatedIdentifiers": [{**PAPER, "relationType": "Cites"}] * count,
        "rightsList": [CC_BY] * 1000,
        "descriptions": [{"description": f"Text {number}."} for number in range(count)],
    }
    started_at = time.process_time()
    document = read_dataset({**DATACITE, **members})

    assert time.process_time() - started_at < 10
    assert len(document.record["metadata"]["tags"]) == 200
    assert document.record["metadata"]["licence"] == "CC-BY-4.0"
    assert len(document.unmapped["/subjects"]) == count


def test_yaml_is_read_as_well() -> None:
    text = as_bytes(DATACITE)  # JSON is YAML, too.
    assert read_document(SourceDocument(text, "rivers.yaml")).documents == read(DATACITE).documents
