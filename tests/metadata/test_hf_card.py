"""Hugging Face dataset cards, and the files beside them."""

from typing import Any

import pytest

from tests.metadata.examples import CARD, INFOS, as_bytes, claim_on, read, read_dataset, rejection_codes
from touchstone.core.attributes import ETHICAL


def card_text(front_matter: str = "pretty_name: Signs", body: str = "## Dataset Description\nText.\n") -> str:
    return f"---\n{front_matter}\n---\n# Dataset Card for Signs\n\n{body}"


def read_card(text: str, infos: Any = None) -> Any:
    companions = {} if infos is None else {"dataset_infos__json": as_bytes(infos)}
    return read_dataset(text, "signs/README.md", **companions)


class TestTheExample:
    document = read_card(CARD, INFOS)

    def test_names_texts_and_terms(self) -> None:
        record = self.document.record
        assert self.document.key == "signs"
        assert record["dataset_name"] == "Street Signs"
        assert record["objective"] == "Pictures of street signs, investigated by hand."
        assert record["task"] == ["question-answering", "extractive-question-answering"]
        assert record["metadata"]["language"] == ["no", "fr"]
        assert (record["metadata"]["licence"], record["metadata"]["licence_text"]) == ("CC-BY-4.0", "cc-by-4.0")

    def test_sizes_come_from_the_largest_configuration(self) -> None:
        claim = claim_on(self.document, "instances_number")
        assert (claim.value, claim.quote) == (1000, "900")
        assert "large" in claim.note
        assert claim_on(self.document, "is_split").quote == "test"

    def test_the_target_is_no_feature(self) -> None:
        assert claim_on(self.document, "features_number").value == 2

    def test_other_attributes(self) -> None:
        assert self.document.record["has_temporal_factors"] is True
        assert (claim_on(self.document, "year").value, claim_on(self.document, "year").quote) == (2021, "year = {2021")
        assert claim_on(self.document, "external_documentation_available").quote == "https://signs.example/home"

    def test_investigated_does_not_mean_gated(self) -> None:
        assert self.document.record["is_public"] is True

    def test_headings_placeholders_and_comments_prove_nothing(self) -> None:
        assert not {claim.attribute for claim in self.document.claims} & set(ETHICAL)
        assert all("Discussion of Biases" not in section.path for section in self.document.sections)
        assert all("consent" not in section.text for section in self.document.sections)
        assert sorted(rejection_codes(self.document)) == ["html_comment", "placeholder"]

    def test_nothing_is_lost(self) -> None:
        unmapped = self.document.unmapped
        assert unmapped["/x-own-field"] == "kept"
        assert unmapped["#dataset_infos.json"] == INFOS
        assert unmapped["/license"] == ["cc-by-4.0"]
        assert CARD.endswith(unmapped["#body"])
        assert "consent form" in unmapped["#body"]


class TestAccess:
    def test_a_gate_of_the_hub_is_not_open(self) -> None:
        document = read_card(card_text("license: mit\nextra_gated_prompt: You agree to our terms.\npretty_name: Signs"))
        assert claim_on(document, "is_public").value is False
        assert claim_on(document, "is_public").quote == "You agree to our terms."

    @pytest.mark.parametrize(
        "sentence",
        [
            "The LDC-User-Agreement applies.",
            "This is a gated dataset.",
            "You must sign the licence agreement of the institute.",
            "The corpus is available upon request.",
            "Access is restricted to researchers.",
        ],
    )
    def test_a_stated_condition_is_not_open_whatever_the_licence(self, sentence: str) -> None:
        document = read_card(card_text("license: mit\npretty_name: Signs", f"### Dataset Summary\nSigns. {sentence}\n"))
        claim = claim_on(document, "is_public")
        assert (claim.value, claim.quote.rstrip(".")) == (False, sentence.rstrip("."))

    def test_a_condition_in_a_comment_is_none(self) -> None:
        document = read_card(card_text("license: mit", "### Dataset Summary\nSigns <!-- available on request -->\n"))
        assert document.record["is_public"] is True

    def test_without_a_licence_or_an_address_openness_is_unknown(self) -> None:
        assert "is_public" not in read_card(card_text("license: unknown\npretty_name: Signs")).record

    def test_a_download_by_hand_leaves_openness_unknown(self) -> None:
        document = read_card(card_text("license: mit", "### Dataset Summary\nYou have to download it manually.\n"))
        assert "is_public" not in document.record
        assert "access_unclear" in rejection_codes(document)

    def test_details_replace_the_licence_other(self) -> None:
        document = read_card(card_text("license: other\nlicense_details: LDC User Agreement\npretty_name: Signs"))
        assert document.record["metadata"]["licence"] == "LDC User Agreement"

    @pytest.mark.parametrize(
        ("head", "licence"),
        [
            ("license: other\nlicense_name: signs-terms\nlicense_link: https://signs.example/terms", "signs-terms"),
            ("license: other\nlicense_link: https://signs.example/terms", "https://signs.example/terms"),
            ("license: other\nlicense_link: LICENSE.md", "other"),
            ("license: mit\nlicense_link: https://signs.example/terms", "MIT"),
        ],
    )
    def test_a_named_licence_or_its_address_replaces_the_licence_other(self, head: str, licence: str) -> None:
        assert read_card(card_text(head)).record["metadata"]["licence"] == licence


class TestFaults:
    def test_front_matter_with_an_anchor_is_listed_and_the_prose_is_used(self) -> None:
        document = read_card(card_text("a: &x 1\nb: *x"))
        assert rejection_codes(document) == ["yaml_anchor_refused"]
        assert document.record["dataset_name"] == "Signs"
        assert document.sections
        assert document.unmapped["#head"] == "a: &x 1\nb: *x\n"

    def test_infos_that_are_truncated_are_listed(self) -> None:
        document = read_dataset(CARD, "signs/README.md", dataset_infos__json=b'{"default": {"spl')
        assert "truncated_document" in rejection_codes(document)
        assert "instances_number" not in document.record

    def test_a_template_without_a_name_is_rejected(self) -> None:
        assert (
            read("---\nlicense: mit\n---\n# Dataset Card for [Dataset Name]\n", "README.md").rejection_code
            == "no_identifier"
        )

    def test_wrong_encoding(self) -> None:
        assert (
            read(CARD.replace("Pictures", "Données").encode("latin-1"), "a/README.md").rejection_code
            == "wrong_encoding"
        )

    def test_sizes_in_the_front_matter_come_first(self) -> None:
        front_matter = (
            "pretty_name: Signs\ndataset_info:\n  features:\n  - name: a\n    dtype: string\n"
            "  splits:\n  - name: train\n    num_examples: 12\n"
        )
        document = read_card(card_text(front_matter), INFOS)
        assert document.record["instances_number"] == 12
        assert claim_on(document, "is_split").value is False

    @pytest.mark.parametrize("count", ["'1,000'", "many", "null"])
    def test_a_split_without_a_number_leaves_rows_and_splits_unknown(self, count: str) -> None:
        front_matter = (
            f"dataset_info:\n  splits:\n  - name: train\n    num_examples: {count}\n"
            "  - name: test\n    num_examples: 20\n"
        )
        document = read_card(card_text(front_matter))
        assert {"instances_number", "is_split"}.isdisjoint(document.record)
        assert rejection_codes(document) == ["implausible_value"]

    def test_blank_lines_may_precede_the_front_matter(self) -> None:
        document = read_card("\r\n\n" + CARD)
        assert document.record == read_card(CARD).record

    def test_the_files_of_configurations_show_that_it_is_a_card(self) -> None:
        head = "license: mit\nconfigs:\n- config_name: default\n  data_files: data/*.csv"
        document = read_dataset(f"---\n{head}\n---\n# Signs\n", "signs/README.md")
        assert (document.standard, document.record["metadata"]["licence"]) == ("hf_card", "MIT")

    @pytest.mark.parametrize("name", ["signs/README.txt", "signs/README"])
    def test_a_card_without_the_extension_of_markdown(self, name: str) -> None:
        assert read_dataset(CARD, name).record == read_dataset(CARD, "signs/README.md").record

    def test_a_column_called_name_does_not_hide_the_others(self) -> None:
        infos = {"default": {"features": {"a": {"name": {"dtype": "string"}}, "b": {"dtype": "int32"}}}}
        assert read_card(card_text(), infos).record["features_number"] == 2


def infos_with(splits: dict[str, int], **members: Any) -> dict[str, Any]:
    """Return the information about one configuration, with the number of rows of each split."""
    return {"default": {"splits": {name: {"num_examples": size} for name, size in splits.items()}, **members}}


@pytest.mark.parametrize(
    ("splits", "is_split"),
    [
        ({"train": 80, "test": 20}, True),
        ({"train": 80, "validation_matched": 20}, True),
        ({"train": 80, "validationMatched": 20}, True),
        ({"train": 80, "test2019": 20}, True),
        ({"validated": 80, "invalidated": 20}, None),
        ({"train": 80, "devanagari": 20}, None),
        ({"x": 80, "evaluation_of_tools": 0}, None),
        ({"train": 80}, False),
    ],
)
def test_held_out_splits(splits: dict[str, int], is_split: bool | None) -> None:
    """A split is recognized by whole words of its name, and counts only if it has rows."""
    assert read_card(card_text(), infos_with(splits)).record.get("is_split") is is_split


def test_a_single_instance_is_not_credible() -> None:
    document = read_card(card_text(), infos_with({"train": 1}) | {"small": {"splits": {"train": {"num_examples": 0}}}})
    assert "instances_number" not in document.record
    assert "implausible_value" in rejection_codes(document)


@pytest.mark.parametrize(
    ("columns", "keys", "features"),
    [
        (("text",), {"input": "text", "output": "text"}, 1),
        (("text", "id"), {"input": "text", "output": "text"}, 2),
        (("text",), {"input": "", "output": "text"}, 1),
        (("text", "label"), {"input": "text", "output": "label"}, 1),
    ],
)
def test_a_target_that_is_also_the_input_is_a_feature(
    columns: tuple[str, ...], keys: dict[str, str], features: int
) -> None:
    types = {name: {"dtype": "string"} for name in columns}
    infos = infos_with({"train": 10}, features=types, supervised_keys=keys)
    assert read_card(card_text(), infos).record["features_number"] == features
