"""Croissant in all versions, and schema.org."""

import copy
from collections.abc import Callable
from typing import Any

import pytest

from tests.metadata.examples import CROISSANT, SCHEMA_ORG, claim_on, read, read_dataset, rejection_codes


def croissant(**changes: Any) -> dict[str, Any]:
    return {**copy.deepcopy(CROISSANT), **changes}


def test_the_example() -> None:
    document = read_dataset(CROISSANT)
    record = document.record
    assert (document.standard, document.standard_version) == ("croissant", "1.1")
    assert document.key == "https://signs.example/croissant"
    assert (record["features_number"], record["is_split"], record["has_temporal_factors"]) == (2, True, True)
    assert (record["year"], record["is_public"]) == (2023, True)
    assert record["metadata"]["licence"] == "CC-BY-4.0"
    assert [(section.path, section.text, section.is_structured) for section in document.sections] == [
        (("description",), "Pictures of street signs from three cities.", True),
        (("rai:dataLimitations",), "Only three cities are covered.", True),
    ]


@pytest.mark.parametrize("wrap", [lambda node: [node], lambda node: {"@context": node["@context"], "@graph": [node]}])
def test_a_description_in_a_list_or_graph(wrap: Callable[[dict[str, Any]], Any]) -> None:
    document = read_dataset(wrap(CROISSANT))
    assert (document.standard, document.record) == ("croissant", read_dataset(CROISSANT).record)


def test_a_creator_and_a_licence_prove_no_ethical_criterion() -> None:
    attributes = {claim.attribute for claim in read_dataset(CROISSANT).claims}
    assert not attributes & {"accountability_defined", "purpose_limitation_respected", "transparency"}


@pytest.mark.parametrize(
    ("version", "changes"),
    [
        (
            "0.8",
            {"conformsTo": None, "@context": {"@vocab": "https://schema.org/", "ml": "http://mlcommons.org/schema/"}},
        ),
        ("1.0", {"conformsTo": "http://mlcommons.org/croissant/1.0"}),
        ("1.0", {"conformsTo": ["http://other.example/spec", "http://mlcommons.org/croissant/1.0"]}),
        ("1.1", {"conformsTo": {"@id": "http://mlcommons.org/croissant/1.1"}}),
    ],
)
def test_versions(version: str, changes: dict[str, Any]) -> None:
    assert read_dataset(croissant(**changes)).standard_version == version


@pytest.mark.parametrize(
    "name",
    [
        "rai:dataLimitations",
        "rai:limitations",
        "rai:dataLimitation",
        "RAI:dataLimitations",
        "rai:data_limitations",
        "dataLimitations",
        "cr:dataLimitations",
        "http://mlcommons.org/croissant/RAI/dataLimitations",
        "own:limitations",
    ],
)
def test_spellings_of_a_field_for_responsible_ai(name: str) -> None:
    content = croissant()
    del content["rai:dataLimitations"]
    content["@context"]["own"] = "http://mlcommons.org/croissant/RAI/"
    content[name] = [{"@value": "Three cities only."}]
    document = read_dataset(content)
    assert [section.text for section in document.sections if section.path == ("rai:dataLimitations",)] == [
        "Three cities only."
    ]
    assert document.unmapped[f"/{name.replace('/', '~1')}"] == [{"@value": "Three cities only."}]


def test_an_ordinary_word_is_no_field_for_responsible_ai() -> None:
    document = read_dataset(croissant(limitations="about something else", biases="of the amplifier"))
    assert [section.path[0] for section in document.sections] == ["description", "rai:dataLimitations"]


def test_a_new_field_for_responsible_ai_is_passed_on_under_its_own_name() -> None:
    document = read_dataset(croissant(**{"rai:syntheticData": "Half of the pictures are drawn."}))
    assert document.sections[-1].path == ("rai:syntheticData",)


def test_a_placeholder_is_rejected() -> None:
    document = read_dataset(croissant(**{"rai:dataLimitations": "[More Information Needed]"}))
    assert rejection_codes(document) == ["placeholder"]


def test_nothing_is_lost() -> None:
    document = read_dataset(CROISSANT)
    for name in set(CROISSANT) - {"name", "description", "url"}:
        assert document.unmapped["/" + name.replace("/", "~1")] == CROISSANT[name]


def test_a_text_that_was_tidied_is_kept_as_it_was() -> None:
    document = read_dataset(croissant(name="Street\n Signs", description=" Pictures of signs in towns. "))
    assert document.record["dataset_name"] == "Street Signs"
    assert document.unmapped["/name"] == "Street\n Signs"
    assert document.unmapped["/description"] == " Pictures of signs in towns. "


def test_a_loader_is_no_dataset() -> None:
    assert read(croissant(name="csv", url="https://huggingface.co/datasets/csv")).rejection_code == "loader_name"


class TestSchemaOrg:
    def test_the_example(self) -> None:
        document = read_dataset(SCHEMA_ORG, "rain.jsonld")
        assert document.standard == "schema_org"
        assert document.record["domain"] == ["weather"]
        assert document.record["metadata"]["tags"] == ["weather", "rain"]
        assert claim_on(document, "accountability_defined").quote == "Met Office of Example"

    @pytest.mark.parametrize("hub", ["Kaggle", "Hugging Face", "Zenodo"])
    def test_a_hub_does_not_answer_for_a_dataset(self, hub: str) -> None:
        document = read_dataset({**SCHEMA_ORG, "publisher": {"name": hub}})
        assert "accountability_defined" not in document.record

    def test_data_for_money_is_not_open(self) -> None:
        assert read_dataset({**SCHEMA_ORG, "isAccessibleForFree": False}).record["is_public"] is False

    def test_a_graph_with_several_datasets(self) -> None:
        graph = [{"@type": "Dataset", "name": "A"}, {"@type": "Person", "name": "B"}, {"@type": "Dataset", "name": "C"}]
        reading = read({"@context": "https://schema.org", "@graph": graph})
        assert [document.key for document in reading.documents] == ["A", "C"]


@pytest.mark.parametrize("url", ["None", "[More Information Needed]", "https://hub.example", "https://hub.example/"])
def test_a_placeholder_or_the_home_page_of_a_site_identifies_no_dataset(url: str) -> None:
    """Otherwise all datasets whose documents state it would become one record."""
    first_document, second_document = (
        read_dataset({**CROISSANT, "name": name, "url": url}) for name in ("Signs", "Rain")
    )
    assert (first_document.key, second_document.key) == ("Signs", "Rain")
    assert first_document.record["metadata"].get("url") == (None if "http" not in url else url)
