"""The notes of claims are in the language of the page."""

import re

import httpx2
import pytest

from touchstone.demo.packaged_records import read_records
from touchstone.messages.proposal_notes import NOTES, NOTES_WITH_NAMES, translate_note
from touchstone.metadata.extraction.proposals import RULES

CARD = """# Loans of a mutual bank

## Uses
It is intended for research on credit scoring. It must not be used to decide about individuals.

## Maintenance
The dataset is maintained by the data office of the bank (data@mutual.example).
"""


def test_every_note_of_a_rule_is_translated() -> None:
    """A new rule needs a French note, or another name of a facet."""
    english_notes = [english for _, english in NOTES]
    assert len(english_notes) == len(set(english_notes))
    stated_notes = {rule.note for rule in RULES if rule.facet is None} | {
        str(rule.facet) for rule in RULES if rule.facet
    }
    assert sorted(stated_notes - set(english_notes)) == []


def test_notes_of_the_demo_catalog_are_translated() -> None:
    """Only sums of the rows of splits need no translation."""
    notes = {claim.note for record in read_records() for claim in record.claims if claim.note}
    sum_of_rows = re.compile(r"\d+ \([^)]*\)( \+ \d+ \([^)]*\))*")
    parts = {part for note in notes for part in note.split("; ") if not sum_of_rows.fullmatch(part)}
    assert len(parts) > 100
    assert sorted(part for part in parts if translate_note(part, "fr") == part) == ["Semantic Scholar"]


def test_french_notes_are_typeset_as_french() -> None:
    """Apostrophes are curved, and no ordinary space precedes tall punctuation."""
    for french, _ in (*NOTES, *NOTES_WITH_NAMES):
        assert "'" not in french
        assert not re.search(r" [:;!?]", french), french


@pytest.mark.parametrize(
    ("note", "french"),
    [
        ("identifiers were removed or replaced", "des identifiants ont été retirés ou remplacés"),
        ("shown: excluded use, intended use", "établi\u00a0: usage exclu, usage prévu"),
        (
            "the largest of 7 configurations: ledgar; no target is named",
            "la plus grande de 7 configurations\u00a0: ledgar\u00a0; aucune cible n’est nommée",
        ),
        ("without the target label", "sans la cible label"),
        ("my own note; and more", "my own note; and more"),
    ],
)
def test_notes_are_translated(note: str, french: str) -> None:
    """A note that is not one of a rule stays as it is."""
    assert translate_note(note, "fr") == french
    assert translate_note(note, "en") == note


def test_a_proposal_is_reviewed_with_a_note_in_french(
    server: str, session_cookies: dict[str, str], api: httpx2.Client, email: str
) -> None:
    """The page of a proposal from a document says in the language of the page which row of the codebook applies."""
    headers = {"Content-Type": "text/markdown"}
    params = {"format": "hf_card", "name": email, "visibility": "private"}
    answer = api.post("/api/v1/datasets/import", content=CARD, headers=headers, params=params)
    assert answer.status_code == 201, answer.text
    cookies = session_cookies | {"touchstone_language": "fr"}
    with httpx2.Client(base_url=server, cookies=cookies, timeout=60) as client:
        pages = [client.get(f"/app/review?position={position}").text for position in (1, 2)]
    assert "Motif\u00a0: établi\u00a0: usage exclu, usage prévu" in "".join(pages)
