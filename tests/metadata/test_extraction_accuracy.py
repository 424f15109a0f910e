"""The extractor agrees with the decisions that people made by the codebook, and quotes what it read."""

import json

import pytest

from benchmarks.evidence_extraction import GOLD, bundled_documents, evaluate, read_labels, wilson_interval
from touchstone.metadata.documents import Claim, Section
from touchstone.metadata.extraction.proposals import propose_claims

LABELS = read_labels(GOLD / "labels.jsonl")


@pytest.fixture(scope="module")
def documents() -> dict[str, list[Section]]:
    return bundled_documents(GOLD / "documents.jsonl")


@pytest.fixture(scope="module")
def proposals(documents: dict[str, list[Section]]) -> dict[str, dict[str, Claim]]:
    return {path: {claim.attribute: claim for claim in propose_claims(text)} for path, text in documents.items()}


def test_precision_and_recall(proposals: dict[str, dict[str, Claim]]) -> None:
    evaluation = evaluate(LABELS, proposals)
    assert evaluation.overall.right_count >= 0.95 * evaluation.overall.proposal_count
    assert evaluation.overall.right_count >= 0.75 * evaluation.overall.decision_count
    for name, score in evaluation.by_criterion.items():
        assert score.decision_count < 10 or score.right_count >= 0.85 * score.proposal_count, name


def test_every_quote_stands_verbatim_in_its_document(
    documents: dict[str, list[Section]], proposals: dict[str, dict[str, Claim]]
) -> None:
    for path, claims in proposals.items():
        for claim in claims.values():
            assert claim.quote
            assert any(claim.quote in section.text for section in documents[path]), (path, claim)


def test_every_label_has_its_document(documents: dict[str, list[Section]]) -> None:
    assert {label.document for label in LABELS} == set(documents)


def test_labels_stand_on_words_of_their_document(documents: dict[str, list[Section]]) -> None:
    """A label that is true or false quotes the document, so the bundled passages must contain the quote."""
    for line in (GOLD / "labels.jsonl").read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        text = " ".join(" ".join(section.text.split()) for section in documents[record["document"]])
        if record["value"] is not None and "###" not in record["quote"]:
            assert " ".join(record["quote"].split()) in text, record


def test_wilson_intervals_stay_between_zero_and_one() -> None:
    assert wilson_interval(0, 10)[0] == 0
    assert wilson_interval(10, 10) == pytest.approx((0.722, 1.0), abs=0.001)
    assert wilson_interval(91, 92) == pytest.approx((0.941, 0.998), abs=0.001)
