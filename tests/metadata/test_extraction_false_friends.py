"""Sentences that resemble a statement about a criterion and mean the opposite, or nothing."""

import pytest

from touchstone.metadata.documents import ClaimValue, Section
from touchstone.metadata.extraction.proposals import propose_claims


def value_of(criterion: str, text: str) -> ClaimValue:
    """Return the proposed value of a criterion, or None if there is no proposal."""
    claims = {claim.attribute: claim for claim in propose_claims([Section(("Dataset Creation",), text)])}
    return claims[criterion].value if criterion in claims else None


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Requests for removal are not accepted.", False),
        ("Requests to delete data are not possible.", False),
        ("Deletion requests will be ignored.", False),
        ("Removal requests cannot be honoured.", False),
        ("Requests for deletion were refused.", False),
        ("We do not accept requests to delete recordings.", False),
        ("Removal requests without a reason are rejected.", None),
        ("If a law demands it, deletion requests are refused.", None),
        ("DELETE requests were ignored.", None),
        ("Articles whose deletion requests were rejected are labelled *keep*.", None),
        ("Requests for removal are accepted by e-mail.", True),
    ],
)
def test_refused_requests_for_removal(text: str, value: bool | None) -> None:
    assert value_of("user_control", text) is value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Patients who did not consent were excluded.", None),
        ("Users who did not consent are not included.", None),
        ("Subjects that had not consented were dropped.", None),
        ("We excluded patients who did not consent.", None),
        ("Only 12 of the 300 patients consented to the release of their records.", None),
        ("Some participants gave consent, others did not.", None),
        ("Speakers gave consent, though not for publication.", None),
        ("Patients did not consent to the collection.", False),
        ("All participants gave written consent.", True),
    ],
)
def test_consent_of_some_people(text: str, value: bool | None) -> None:
    assert value_of("informed_consent", text) is value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Variable names were removed.", None),
        ("Gene names were replaced.", None),
        ("Brand names were masked.", None),
        ("We replaced product names.", None),
        ("Function names were masked.", None),
        ("City names were removed.", None),
        ("The names of the cities were replaced.", None),
        ("The names of the patients were replaced.", True),
        ("Names were removed.", True),
        ("All names and addresses were removed.", True),
        ("Patients' names were masked.", True),
        ("We removed user names but kept the e-mail addresses.", False),
        ("User names were removed, but e-mail addresses were kept.", False),
        ("We removed user names but kept the hashed account ids.", True),
        ("We removed comments but kept identifiers.", None),
    ],
)
def test_names_of_things_and_identifiers_that_were_kept(text: str, value: bool | None) -> None:
    assert value_of("anonymization_applied", text) is value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("E-mail addresses such as john@example.com were masked.", None),
        ('{"email": "a@b.org"}', None),
        ("Send an e-mail to ana@b.org.", True),
        ("E-mail: ana@b.org", True),
    ],
)
def test_addresses_in_the_data_are_no_contact(text: str, value: bool | None) -> None:
    assert value_of("accountability_defined", text) is value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Women are under-represented.", False),
        ("Women are under-represented; we therefore oversampled women.", True),
        ("Women are under-represented; we recommend oversampling women.", False),
    ],
)
def test_a_skew_counts_only_if_nothing_was_done_about_it(text: str, value: bool) -> None:
    assert value_of("equity_non_discrimination", text) is value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("The corpus, unlike MIMIC which requires a signed data use agreement, is open to all.", None),
        ("Access requires a signed data use agreement.", True),
    ],
)
def test_agreements_of_other_datasets(text: str, value: bool | None) -> None:
    assert value_of("security_measures_in_place", text) is value
