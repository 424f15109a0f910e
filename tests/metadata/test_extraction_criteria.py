"""Each criterion of the codebook: what makes it true, what makes it false, and what only looks like it."""

import pytest

from touchstone.metadata.documents import ClaimValue, Section
from touchstone.metadata.extraction.proposals import propose_claims


def value_of(criterion: str, text: str, heading: str = "Dataset Creation") -> ClaimValue:
    """Return the proposed value of a criterion, or None if there is no proposal."""
    claims = {claim.attribute: claim for claim in propose_claims([Section((heading,), text)])}
    if criterion not in claims:
        return None
    assert claims[criterion].quote in text
    return claims[criterion].value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Written informed consent was obtained from all patients.", True),
        ("All speakers agreed to the release of their recordings.", True),
        ("Participants signed a consent form before the interviews.", True),
        ("The messages were collected without the consent of their authors.", False),
        ("Users were not asked for permission.", False),
        ("Patients were unaware that their records would be studied.", False),
        ("All posts are publicly available.", None),
        ("Users accept the terms of service of the site.", None),
        ("The study was approved by the ethics committee.", None),
        ("Workers were paid 12 dollars an hour.", None),
        ("Claims were verified without knowledge of the sentence they came from.", None),
        ("The narrative field is optional, and consumers agreed to its publication.", None),
        ("Annotators gave their consent.", None),
    ],
)
def test_informed_consent(text: str, value: bool | None) -> None:
    assert value_of("informed_consent", text) is value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("The images were scraped from Flickr and resized to 256 pixels.", True),
        ("Sentences were extracted from Wikipedia. They were annotated by three linguists.", True),
        ("The origin of the data is unknown.", False),
        ("It is unknown how the data were collected.", False),
        ("The paper describes everything.", None),
        ("The sentences come from Wikipedia.", None),
        ("https://example.org and https://example.com", None),
        ("We audited the licences of many datasets.", None),
    ],
)
def test_transparency(text: str, value: bool | None) -> None:
    assert value_of("transparency", text) is value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("You can request the deletion of your recordings by e-mail.", True),
        ("To have your photo removed, fill in this form: https://example.org/remove.", True),
        ("There is no way for participants to withdraw their data.", False),
        ("Contact us with questions.", None),
        ("Users can leave the platform at any time.", None),
        ("Open an issue to have errors removed.", None),
        ("The sentences form the context, and a word is removed.", None),
    ],
)
def test_user_control(text: str, value: bool | None) -> None:
    assert value_of("user_control", text) is value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("The speakers were balanced by gender and age group.", True),
        ("We removed hateful and racist comments.", True),
        ("We measured that the dataset has a lower gender bias than the news.", True),
        ("| Gender | Share |\n|---|---|\n| female | 48 % |\n", True),
        ("Recruiting was designed to include speakers of every ethnic minority.", True),
        ("The dataset is biased towards men.", False),
        ("Women are underrepresented in the recordings.", False),
        ("The data are skewed towards men, so the speakers were balanced by gender.", True),
        ("The dataset may be biased towards men.", None),
        ("The social biases of this dataset have not been studied.", None),
        ("The classes are balanced.", None),
        ("The sample is balanced to the minority class.", None),
        ("The benchmark measures gender bias in models.", None),
    ],
)
def test_equity_non_discrimination(text: str, value: bool | None) -> None:
    assert value_of("equity_non_discrimination", text) is value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Access to the records is restricted to credentialed researchers.", True),
        ("Users must sign a data use agreement.", True),
        ("You agree not to attempt to re-identify the speakers.", True),
        ("The recordings are encrypted at rest.", True),
        ("Sensitive data are published without any protection.", False),
        ("A log-in is needed to count downloads.", None),
        ("The sha256 checksum is given.", None),
        ("You should not redistribute the data.", None),
        ("The raw data are held back.", None),
    ],
)
def test_security_measures_in_place(text: str, value: bool | None) -> None:
    assert value_of("security_measures_in_place", text) is value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Inter-annotator agreement was 0.82 (Cohen's kappa).", True),
        ("We removed duplicates and malformed rows.", True),
        ("The translations were proofread.", True),
        ("The labels contain some noise.", True),
        ("3 % of the labels are wrong.", True),
        ("No quality control was performed.", False),
        ("The quality of the labels was not checked.", False),
        ("This is a high-quality dataset.", None),
        ("A classifier reaches 92 % accuracy on it.", None),
        ("Annotators were trained.", None),
        ("There may be duplicates.", None),
    ],
)
def test_data_quality_documented(text: str, value: bool | None) -> None:
    assert value_of("data_quality_documented", text) is value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Faces were blurred.", True),
        ("The user names were replaced with random numbers.", True),
        ("Named entities were masked so that classifiers do not rely on them.", True),
        ("The records are de-identified.", True),
        ("The dataset contains the e-mail addresses of the senders.", False),
        ("The data are not anonymised.", False),
        ("The dataset contains no personal data.", None),
        ("No sensitive information is included.", None),
        ("It names public figures only: the dataset contains the names of politicians.", None),
        ("`author`: who wrote the article", None),
    ],
)
def test_anonymization_applied(text: str, value: bool | None) -> None:
    assert value_of("anonymization_applied", text) is value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("The dataset is updated every month.", True),
        ("Older versions are archived on our server.", True),
        ("The recordings are deleted after five years.", True),
        ("Corrections will be released as a new version.", True),
        ("The dataset is no longer maintained.", False),
        ("Older versions are not kept.", False),
        ("Version 1.2, DOI 10.1000/1.", None),
        ("Updated in May 2022.", None),
    ],
)
def test_record_keeping_policy_exists(text: str, value: bool | None) -> None:
    assert value_of("record_keeping_policy_exists", text) is value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("The data are intended for research on accents. They must not be used for identifying speakers.", True),
        ("Users sign an agreement to use the records only for medical research.", True),
        ("The dataset may be used for any purpose.", False),
        ("The records were originally collected for another purpose.", False),
        ("The data are for research.", None),
        ("It must not be used for surveillance.", None),
        ("The task is question answering.", None),
    ],
)
def test_purpose_limitation_respected(text: str, value: bool | None) -> None:
    assert value_of("purpose_limitation_respected", text) is value


def test_a_licence_is_no_limit_of_purposes() -> None:
    text = "It may be used for any purpose. It is intended for research and must not be used for business."
    assert value_of("purpose_limitation_respected", text, heading="Licensing Information") is None


@pytest.mark.parametrize(
    ("text", "heading", "value"),
    [
        ("- **Point of Contact:** [Ana Lopez](mailto:ana@example.org)", "Dataset Description", True),
        ("Point of Contact: data@example.org", "Dataset Description", True),
        ("Acme Research", "Dataset Curators", True),
        ("The corpus was compiled by Ana Lopez and Jean Roy.", "Dataset Curators", True),
        ("This dataset is maintained by the Acme Institute.", "Dataset Summary", True),
        ("Questions about the corpus? Write to ana@example.org with requests.", "Dataset Summary", True),
        ("Nobody maintains this dataset.", "Dataset Summary", False),
        ("- **Point of Contact:**", "Dataset Description", None),
        ("Point of Contact: [GitHub](https://github.com/acme/data)", "Dataset Description", None),
        ("Anonymous.", "Dataset Curators", None),
        ("The community.", "Dataset Curators", None),
        ("The maintainers", "Dataset Curators", None),
        ("Hugging Face", "Dataset Curators", None),
        ("Thanks to [@someone](https://github.com/someone) for adding this dataset.", "Contributions", None),
        ("Ana Lopez and Jean Roy. 2020. A corpus.", "Citation Information", None),
        ("The source corpus is maintained by the Acme Institute.", "Source Data", None),
    ],
)
def test_accountability_defined(text: str, heading: str, value: bool | None) -> None:
    assert value_of("accountability_defined", text, heading) is value


def test_a_publisher_in_a_structured_document_answers_for_the_data() -> None:
    sections = [Section(("publisher", "name"), "Acme Institute", is_structured=True)]
    assert [claim.attribute for claim in propose_claims(sections)] == ["accountability_defined"]
    assert propose_claims([Section(("creator", "name"), "Ana Lopez", is_structured=True)]) == []
    assert propose_claims([Section(("publisher", "name"), "Anonymous", is_structured=True)]) == []


@pytest.mark.parametrize(
    ("criterion", "text", "value"),
    [
        ("informed_consent", "Visitors were volunteers who opted in to donate their messages.", True),
        ("informed_consent", "The people in the pictures were never contacted.", False),
        ("informed_consent", "The letters came from an archive, and their authors never agreed.", False),
        ("equity_non_discrimination", "Of 300 patients, 140 (47%) are female and 160 male.", True),
        ("equity_non_discrimination", "We measured gender bias in the labels and found none.", True),
        ("equity_non_discrimination", "As 90% of the players are men, the sample is skewed.", False),
        ("equity_non_discrimination", "The collection over-represents younger customers.", False),
        ("equity_non_discrimination", "Large models trained on news are biased against women.", None),
        ("equity_non_discrimination", "These tasks are designed to cover racial and gender bias.", None),
        ("security_measures_in_place", "Only vetted researchers get the files.", True),
        ("data_quality_documented", "Blank pages and duplicate scans were thrown out.", True),
        ("data_quality_documented", "Weights of 0 kg were set to missing.", True),
        ("data_quality_documented", "About 4% of the dates are off by one day.", True),
        ("data_quality_documented", "Spelling mistakes remain in the oldest letters.", True),
        ("data_quality_documented", "The readings of the second winter are missing.", True),
        ("data_quality_documented", "The summaries have not been checked by humans.", False),
        ("data_quality_documented", "The remaining summaries have not been checked by humans.", None),
        ("data_quality_documented", "Each item has one correct and three incorrect answers.", None),
        ("data_quality_documented", "Each question has a fixed set of wrong answers.", None),
        ("data_quality_documented", "Participants are required to correct all errors in the sentences.", None),
        ("data_quality_documented", "Mistakes that are reported are corrected in the next version.", None),
        ("anonymization_applied", "Dates of birth were truncated to the month.", True),
        ("anonymization_applied", "Voices were distorted.", True),
        ("anonymization_applied", "Senders have pseudonymous ids.", True),
        ("anonymization_applied", "We did not remove the names of patients.", False),
        ("anonymization_applied", "The table has the names of the customers.", False),
        ("record_keeping_policy_exists", "A new version of the data is published each July.", True),
        ("record_keeping_policy_exists", "Earlier versions stay available.", True),
        ("record_keeping_policy_exists", "Mistakes that are reported are corrected in the next version.", True),
        ("record_keeping_policy_exists", "The original files are deleted five years after the study.", True),
        ("record_keeping_policy_exists", "There will be no further updates.", False),
        ("record_keeping_policy_exists", "Nobody maintains this collection.", False),
        ("purpose_limitation_respected", "You can use the images for whatever you like.", False),
        (
            "purpose_limitation_respected",
            "We recommend the data for studies of dialogue. We ask that they not be used for imitating a speaker.",
            True,
        ),
    ],
)
def test_further_wordings(criterion: str, text: str, value: bool | None) -> None:
    """Sentences that were written by the codebook, and not taken from labelled documents."""
    assert value_of(criterion, text) is value


def test_sections_about_other_datasets_show_nothing() -> None:
    assert value_of("data_quality_documented", "Duplicates were removed.", "Related work") is None
    assert value_of("data_quality_documented", "Duplicates were removed.", "Cleaning") is True


def test_neither_the_hub_nor_a_former_project_answers_for_a_dataset() -> None:
    assert value_of("accountability_defined", "Made by the Hugging Face team.", "Dataset Curators") is None
    text = "The project ended, and the collection is no longer maintained."
    assert value_of("accountability_defined", text, "Maintenance") is None
