"""The amount of data that is kept of one dataset is limited, whoever has written its document."""

from dataclasses import replace

from touchstone.metadata.documents import Claim, DatasetDocument, ImportedDocument
from touchstone.metadata.readers.source_document import SourceDocument
from touchstone.metadata.readers.standards import read_document
from touchstone.metadata.reading_child import (
    MAX_CLAIMS,
    MAX_DETAIL_LENGTH,
    MAX_UNMAPPED_BYTES,
    lines_about_file,
    within_limits,
)
from touchstone.metadata.reading_protocol import ReadDataset

DOCUMENT = DatasetDocument("croissant", None, "key", {"dataset_name": "A"})


def test_claims_beyond_the_limit_are_left_out() -> None:
    claims = tuple(Claim("informed_consent", True, f"quote {number}") for number in range(MAX_CLAIMS + 3))

    limited_document = within_limits(replace(DOCUMENT, claims=claims))

    assert limited_document.claims == claims[:MAX_CLAIMS]
    [rejection] = limited_document.rejected
    assert (rejection.code, rejection.facts) == ("too_many_claims", {"limit": MAX_CLAIMS, "left_out": 3})


def test_long_details_of_a_claim_are_cut_off() -> None:
    long_text = "x" * (MAX_DETAIL_LENGTH + 1)
    claim = Claim("informed_consent", True, "quote", place=long_text, field=long_text, note=long_text)

    [limited_claim] = within_limits(replace(DOCUMENT, claims=(claim,))).claims

    cut_text = "x" * MAX_DETAIL_LENGTH
    assert (limited_claim.quote, limited_claim.place, limited_claim.field, limited_claim.note) == (
        "quote",
        cut_text,
        cut_text,
        cut_text,
    )


def test_long_places_of_proposals_are_cut_off() -> None:
    """A heading of any length is the place of the claims below it."""
    prose = f"# Datasheet for {'x' * 2000}\n\n## Collection process\nAll speakers signed a consent form.\n"
    reading = read_document(SourceDocument(prose.encode(), "voices/datasheet.md"), "datasheet")

    lines = lines_about_file(0, reading)
    proposals = [claim for line in lines if isinstance(line, ReadDataset) for claim in line.proposals]

    assert [len(claim.place) for claim in proposals if claim.attribute == "informed_consent"] == [MAX_DETAIL_LENGTH]


def test_earlier_documents_share_the_limit_of_the_fields() -> None:
    unmapped_fields = {"/field": "x" * (MAX_UNMAPPED_BYTES // 2)}
    large_document = ImportedDocument(standard="dcat", unmapped=unmapped_fields)
    small_document = ImportedDocument(standard="ckan", unmapped={"/field": "x"})

    limited_document = within_limits(
        replace(DOCUMENT, unmapped=unmapped_fields, earlier=(large_document, small_document))
    )

    assert (limited_document.unmapped, limited_document.earlier) == (unmapped_fields, (small_document,))
    assert [(part.place, part.code) for part in limited_document.rejected] == [
        ("/touchstone:dataset/imported/0", "field_too_large")
    ]
