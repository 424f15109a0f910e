"""The tool that builds the demo catalog merges, links and checks what small documents say."""

import json
from pathlib import Path

import pytest

from tools.demo_catalog.documents import BOILERPLATE_COUNT, DocumentCollection, read_documents
from tools.demo_catalog.domains import find_domains
from tools.demo_catalog.entries import CatalogEntry, make_names_unique, merge_descriptions
from tools.demo_catalog.languages import language_codes
from tools.demo_catalog.quotes import MissingQuoteError, find_source_file, without_e_mail_address
from tools.demo_catalog.records import build_record
from tools.demo_catalog.sources import SOURCES, SourceFile
from tools.demo_catalog.variants import link_variants
from touchstone.demo.packaged_records import PackagedRecord
from touchstone.metadata.documents import Claim

CARD = """---
pretty_name: {name}
license: {licence}
language:
- en
task_categories:
- question-answering
---
# Dataset Card for {name}

## Dataset Description
- **Homepage:** https://example.org/{name}

### Dataset Summary
{summary}
"""
TWO_SPLITS = {"train": {"name": "train", "num_examples": 80}, "test": {"name": "test", "num_examples": 20}}
BOILERPLATE = "All user names were removed from the posts before publication."


def write(path: Path, content: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8")


def write_card(folder: Path, key: str, name: str, summary: str, licence: str = "cc-by-4.0") -> None:
    write(folder / "hf_cards" / key / "README.md", CARD.format(name=name, summary=summary, licence=licence))


def build(folder: Path) -> dict[str, PackagedRecord]:
    """Return the records that the documents in a folder amount to, by name."""
    entries = merge_descriptions(read_documents(folder).datasets)
    make_names_unique(entries)
    link_variants(entries)
    return {entry.name: build_record(entry) for entry in entries}


def test_a_card_and_a_summary_of_one_dataset_become_one_record(tmp_path: Path) -> None:
    """The record has the claims of both, each with its own source, and false beats true."""
    write_card(tmp_path, "voices", "Voices", "A corpus of voices.")
    summary = {
        "Unique Dataset Identifier": "voices",
        "Dataset Name": "Voices",
        "Collection": "Voices",
        "Licenses": [{"License": "Request Form"}],
        "Year Released": 2021,
    }
    write(tmp_path / "dpi" / "data_summaries" / "voices.json", json.dumps(summary))

    (record,) = build(tmp_path).values()
    assert record.attributes["is_public"] is False
    assert {claim.value for claim in record.claims if claim.attribute == "is_public"} == {True, False}
    assert record.attributes["year"] == 2021
    assert {record.sources[claim.source].kind for claim in record.claims} == {"hf_card", "dpi"}
    assert record.metadata["source"]["kind"] == "hf_card"
    assert record.metadata["licence"] == "CC-BY-4.0"


def test_copies_stay_records_of_their_own_and_are_linked(tmp_path: Path) -> None:
    """A table that PMLB has encoded is not the one that the card describes, although both have the same name."""
    write_card(tmp_path, "wine", "wine", "Chemical analyses of wines.")
    write(tmp_path / "pmlb" / "wine" / "metadata.yaml", "dataset: wine\nfeatures:\n- name: alcohol\ntarget: {}\n")

    records = build(tmp_path)
    assert set(records) == {"wine", "wine (Penn Machine Learning Benchmarks)"}
    card_record, pmlb_record = records.values()
    assert card_record.metadata["variant_of"] == pmlb_record.metadata["variant_of"]
    assert pmlb_record.metadata["variants"] == [{"dataset_id": card_record.dataset_id, "name": "wine"}]
    assert "licence" not in pmlb_record.metadata


def test_parts_of_a_benchmark_with_pages_of_their_own_are_datasets(tmp_path: Path) -> None:
    """Configurations with their own home page are datasets; those that share one, such as languages, are not."""
    write_card(tmp_path, "bench", "Bench", "Three tasks.")
    infos = {
        name: {"splits": TWO_SPLITS, "homepage": f"https://example.org/{name}", "features": {"x": {"dtype": "string"}}}
        for name in ("acceptability", "paraphrase", "entailment")
    }
    write(tmp_path / "hf_cards" / "bench" / "dataset_infos.json", json.dumps(infos))
    write_card(tmp_path, "talks", "Talks", "Talks in three languages.")
    infos = {name: {"splits": TWO_SPLITS, "homepage": "https://example.org/talks"} for name in ("en", "fr", "de")}
    write(tmp_path / "hf_cards" / "talks" / "dataset_infos.json", json.dumps(infos))

    records = build(tmp_path)
    assert set(records) == {"Bench", "Bench: acceptability", "Bench: paraphrase", "Bench: entailment", "Talks"}
    part = records["Bench: paraphrase"]
    assert part.metadata["part_of"] == "Bench"
    assert part.attributes["instances_number"] == 100
    assert part.attributes["is_split"] is True
    assert "licence" not in part.metadata


def test_loaders_are_left_out(tmp_path: Path) -> None:
    """A card of a loader is counted as dropped."""
    write_card(tmp_path, "csv", "csv", "Reads any file.")
    collection = read_documents(tmp_path)
    assert collection.datasets == []
    assert collection.dropped["document: loader_name"] == 1


def test_a_sentence_that_many_cards_share_is_no_evidence(tmp_path: Path) -> None:
    """Sentences that were copied from card to card are dropped, as soon as a fourth card has them."""
    for number in range(BOILERPLATE_COUNT - 1):
        write_card(tmp_path, f"posts{number}", f"Posts {number}", BOILERPLATE)
    assert sum(anonymization_claims(read_documents(tmp_path))) == BOILERPLATE_COUNT - 1

    write_card(tmp_path, "posts-last", "Posts last", BOILERPLATE)
    assert sum(anonymization_claims(read_documents(tmp_path))) == 0


def anonymization_claims(collection: DocumentCollection) -> list[int]:
    return [
        sum(claim.attribute == "anonymization_applied" for claim in description.claims)
        for description in collection.datasets
    ]


def test_the_build_fails_on_a_quote_that_is_not_in_its_document() -> None:
    """No claim gets into the catalog with words that its document does not have."""
    file = SourceFile(SOURCES[0], "README.md", b"The data are public.")
    assert find_source_file(Claim("is_public", True, "are public"), [file]) is file
    with pytest.raises(MissingQuoteError, match="private"):
        find_source_file(Claim("is_public", False, "are private"), [file])


def test_building_twice_gives_the_same_bytes(tmp_path: Path) -> None:
    """The order of records, claims and metadata does not depend on the order of files or hashes."""
    for key in ("b", "a", "c"):
        write_card(tmp_path, key, f"Dataset {key}", "News about patients and courts.")
    assert list(build(tmp_path).values()) == list(build(tmp_path).values())
    assert list(build(tmp_path)) == ["Dataset a", "Dataset b", "Dataset c"]


@pytest.mark.parametrize(
    ("quote", "shortened_quote"),
    [
        ("- **Point of Contact:** [Ada Lovelace](mailto:ada@example.org)", "- **Point of Contact:** [Ada Lovelace"),
        ("Contact: Ada Lovelace <ada@example.org>", "Contact: Ada Lovelace"),
        ("- **Point of Contact:** ada@example.org", "- **Point of Contact:** ada@example.org"),
        (
            "**Contact:** [Signs Data e-mail](mailto:s@example.org)",
            "**Contact:** [Signs Data e-mail](mailto:s@example.org)",
        ),
        ("Maintained by the ACME Institute.", "Maintained by the ACME Institute."),
    ],
)
def test_addresses_of_people_are_cut_off_where_a_name_is_left(quote: str, shortened_quote: str) -> None:
    """A quote stays verbatim, and contains an address only where nothing else says who is responsible."""
    assert without_e_mail_address(quote) == shortened_quote


def test_the_most_telling_text_shows_the_domain() -> None:
    """A stated subject counts before a title, a title before a description; the task adds a field of work."""
    texts = (("title", "Court decisions"), ("description", "Texts about patients."))
    assert [(evidence.domain, evidence.shown_by) for evidence in find_domains([], texts, ["text-classification"])] == [
        ("law", "title: court"),
        ("natural-language-processing", "task: text-classification"),
    ]
    assert [evidence.domain for evidence in find_domains(["Health and Medicine"], texts, [])] == ["health"]
    assert find_domains(["monk"], (("title", "thing"),), []) == []


def test_languages_become_codes() -> None:
    """Codes with a region and English names become codes; what names no language is left out."""
    assert language_codes(["en-US", "English", "fra", "Simplified Chinese", "code", "unknown"]) == ["en", "fr", "zh"]


def test_a_group_of_one_is_none() -> None:
    """A dataset that names a group without other members is no variant."""
    entry = CatalogEntry("s", "k", "Common Voice 7")
    link_variants([entry])
    assert entry.details == {}
