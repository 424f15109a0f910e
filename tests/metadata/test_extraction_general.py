"""What holds for every criterion: only what a document asserts of its own dataset counts, with a verbatim quote."""

import time

import pytest

from touchstone.metadata.comments import blank_comments
from touchstone.metadata.documents import Claim, Section
from touchstone.metadata.extraction.proposals import propose_claims

ANONYMISATION_SENTENCE = "All user names were removed from the posts."
QUALITY_SENTENCE = "The labels were manually checked by two editors."


def claims_of(text: str, *headings: str) -> dict[str, Claim]:
    """Return the proposals for a passage by their attribute."""
    return {claim.attribute: claim for claim in propose_claims([Section(headings or ("Dataset Creation",), text)])}


def test_an_assertion_becomes_a_claim_with_its_quote_and_place() -> None:
    section = Section(
        ("Dataset Card", "Personal Information"), f"The corpus has posts. {ANONYMISATION_SENTENCE} It is small."
    )
    (claim,) = [claim for claim in propose_claims([section]) if claim.attribute == "anonymization_applied"]
    assert claim.value is True
    assert claim.quote == ANONYMISATION_SENTENCE
    assert claim.place == "Dataset Card > Personal Information"
    assert claim.scope == "subjects"
    assert claim.note


def test_the_people_that_a_sentence_names_matter_only_for_criteria_about_the_people_in_the_data() -> None:
    """The agreement of annotators documents the quality of the data, so it is no claim about annotators alone."""
    agreement = claims_of("The annotators reached an inter-annotator agreement of 0.82 (Cohen's kappa).")[
        "data_quality_documented"
    ]
    assert (agreement.value, agreement.scope) == (True, None)
    assert claims_of(ANONYMISATION_SENTENCE)["anonymization_applied"].scope == "subjects"


def test_the_place_of_a_structured_field_is_a_json_pointer() -> None:
    section = Section(("rai:dataManipulation/x", "0"), ANONYMISATION_SENTENCE, is_structured=True)
    assert propose_claims([section])[0].place == "/rai:dataManipulation~1x/0"


@pytest.mark.parametrize(
    "text",
    [
        "[More Information Needed]",
        "[Needs More Information]",
        "N/A",
        "None",
        "Not applicable.",
        "TBD",
        "To be completed",
        "",
        "\n\n",
        "-",
        "**Point of Contact:** [More Information Needed]",
        "**Point of Contact:**",
        "Describe how user names were removed.",
        "If known, state whether the labels were checked and list who made them.",
        "Were user names removed from the posts?",
        f"<!-- {ANONYMISATION_SENTENCE} -->",
        f"<!-- {ANONYMISATION_SENTENCE} {QUALITY_SENTENCE}",
        f"```\n{ANONYMISATION_SENTENCE}\n```",
        "Please refer to the paper, where user names were removed.",
        "For more details on how the labels were manually checked see the paper.",
    ],
)
def test_placeholders_templates_questions_comments_and_code_state_nothing(text: str) -> None:
    assert claims_of(text) == {}


@pytest.mark.parametrize("heading", ["Data Quality", "Discussion of Biases", "Consent", "Dataset Curators", "Security"])
def test_headings_prove_nothing(heading: str) -> None:
    assert claims_of("[More Information Needed]", heading) == {}
    assert claims_of("See the paper.", heading) == {}


@pytest.mark.parametrize(
    "text",
    [
        "User names will be removed before the release.",
        "We plan to have all user names removed.",
        "In future versions, all user names are removed.",
        "If requested, user names were removed from the posts.",
        "User names may have been removed.",
        "In other datasets, user names were removed.",
        "Previous work on existing corpora removed user names; user names were removed there.",
        "The worker IDs of the annotators were removed.",
    ],
)
def test_plans_conditions_other_datasets_and_annotators_do_not_count(text: str) -> None:
    assert "anonymization_applied" not in claims_of(text)


def test_a_negated_statement_is_not_its_opposite() -> None:
    assert claims_of("The labels were never manually checked.").get("data_quality_documented") is None
    assert claims_of("The posts were not anonymised.")["anonymization_applied"].value is False


def test_words_that_only_look_like_a_negation_or_a_cue_are_not_taken_for_one() -> None:
    assert claims_of("Not only were user names removed, dates were too.")["anonymization_applied"].value is True
    assert "security_measures_in_place" not in claims_of("Accidents were investigated and negated.")


def test_false_beats_true_within_a_document() -> None:
    text = "All e-mail addresses were removed. The dataset contains the user names of the authors."
    assert claims_of(text)["anonymization_applied"].value is False


def test_the_abstract_of_a_citation_counts_and_its_authors_do_not() -> None:
    citation = (
        "```\n@article{x, author={Ana Lopez}, title={Data},\n"
        "abstract = {We present a corpus. The annotations have an inter-annotator agreement of 0.81 kappa.}}\n```"
    )
    claims = claims_of(citation, "Citation Information")
    assert claims["data_quality_documented"].quote == (
        "The annotations have an inter-annotator agreement of 0.81 kappa."
    )
    assert "accountability_defined" not in claims


@pytest.mark.parametrize(
    "text",
    [
        "- **Note:** All *user names* were [removed](https://example.org/how) from\n  the posts.\n- Another item",
        "> All `user names` were\n> removed from the posts.",
        "| Step | What |\n|---|---|\n| 1 | All user names were removed from the posts |\n",
        "All user\r\nnames were\tremoved from the posts.\r\n",
        "Intro, e.g. this. All user names, i.e. handles, were removed from the posts by Dr. Roy. Then more.",
        "Émile – « 📊 » All user names were removed from the posts… Ça suffit.",
        "<b>All user names</b> were removed <!-- not hidden --> from the posts.",
    ],
)
def test_quotes_stand_verbatim_in_the_source(text: str) -> None:
    claim = claims_of(text)["anonymization_applied"]
    assert claim.quote in text
    assert "removed" in claim.quote


def test_a_quote_is_one_sentence() -> None:
    text = "Intro, e.g. this. All user names, i.e. handles, were removed from the posts by Dr. Roy. Then more."
    quote = claims_of(text)["anonymization_applied"].quote
    assert quote == "All user names, i.e. handles, were removed from the posts by Dr. Roy."


@pytest.mark.parametrize(
    "text",
    [
        "<p>Signs.</p><p>All user names were removed from the posts.</p><p>More</p>",
        "<ul><li>Signs</li><li>All user names were removed from the posts.</li><li>R&amp;D</li></ul>",
        "<DIV class='a'>Signs</DIV>All user names were removed from the posts.<div>More</div>",
        "Signs.<br>All user names were removed from the posts.<br/>More.",
    ],
)
def test_the_tags_of_paragraphs_and_items_end_a_sentence(text: str) -> None:
    """Portals write whole descriptions in HTML without line breaks."""
    assert claims_of(text)["anonymization_applied"].quote == "All user names were removed from the posts."


def test_an_address_that_begins_like_a_tag_is_read() -> None:
    claims = claims_of("Maintained by the sign desk, <p.mueller@signs.example>.", "Dataset Curators")
    assert "<p.mueller@signs.example>" in claims["accountability_defined"].quote


def test_comments_are_hidden_without_moving_anything() -> None:
    source = "a <!-- b\nc --> d"
    assert blank_comments(source) == "a       \n      d"


@pytest.mark.parametrize(
    "hostile_text",
    [
        "[" * 100_000,
        "[a](" * 30_000,
        "<a " * 50_000,
        "<p " * 50_000,
        "<p>" * 100_000,
        "*" * 100_000,
        "_a" * 50_000,
        "<!--" * 40_000,
        "a." * 50_000 + "@",
        "x at " * 30_000,
        "Anna de la " * 15_000,
        "collected from the " * 10_000,
        "informed consent was " * 10_000,
        "```\nabstract = {" + "{" * 100_000,
        "50 % female " * 15_000,
        "\n" * 200_000,
        "".join(" " * depth + "- a\n" for depth in range(400)),
        ">" * 5_000 + " a",
        "|a" * 50_000 + "\n" + "|-" * 50_000,
        "\x00\ufffd\udcff\u202e" * 10_000,
    ],
    ids=lambda hostile_text: hostile_text[:12].encode("unicode_escape").decode(),
)
def test_hostile_text_is_read_in_linear_time(hostile_text: str) -> None:
    started_at = time.process_time()
    propose_claims([Section(("Source Data",), hostile_text)])
    assert time.process_time() - started_at < 20


def test_huge_text_is_read_up_to_a_limit() -> None:
    section = Section(("Source Data",), "\n" * 5_000_000 + ANONYMISATION_SENTENCE)
    assert propose_claims([section]) == []


INTENDED_USE = "It is **intended** for research on accents."
EXCLUDED_USE = "It must not be used\nto rank job applicants."


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        (f"Ten accents. {INTENDED_USE} {EXCLUDED_USE} End.", f"{INTENDED_USE} {EXCLUDED_USE}"),
        (f"{EXCLUDED_USE}\n\n{INTENDED_USE}", f"{EXCLUDED_USE}\n\n{INTENDED_USE}"),
        (f"{INTENDED_USE} There are ten accents. {EXCLUDED_USE}", INTENDED_USE),
        (f"{INTENDED_USE} <!-- {EXCLUDED_USE} --> {EXCLUDED_USE}", INTENDED_USE),
        (f"{INTENDED_USE}{' ' * 4000}{EXCLUDED_USE}", INTENDED_USE),
    ],
)
def test_a_quote_shows_both_facets_if_they_stand_side_by_side(text: str, quote: str) -> None:
    """A limit of purposes has an intended and an excluded use, and a quote of one of them would convince nobody.

    Words in between, which may be hidden in a comment, do not become part of the quote, and a quote is not too long.
    """
    claim = claims_of(text, "Uses")["purpose_limitation_respected"]
    assert (claim.value, claim.note) == (True, "shown: excluded use, intended use")
    assert claim.quote == quote


def test_wrongly_decoded_text_still_gives_verbatim_quotes() -> None:
    text = "Les donn\ufffdes\u00a0\u00e9. All user names were removed from the p\ufffdsts."
    assert claims_of(text)["anonymization_applied"].quote in text
