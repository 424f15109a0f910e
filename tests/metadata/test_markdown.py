"""Markdown is split into sections with verbatim text; placeholders and comments say nothing."""

import pytest

from touchstone.metadata.extraction.uninformative_sentences import states_nothing
from touchstone.metadata.markdown import read_markdown
from touchstone.metadata.placeholders import is_placeholder


def test_sections_carry_the_path_of_their_headings() -> None:
    document = read_markdown("intro\n\n# Title\n\n## Part\ntext  with *marks*\n\nOther\n=====\nlast\n")
    assert [(section.path, section.text) for section in document.sections] == [
        ((), "intro"),
        (("Title", "Part"), "text  with *marks*"),
        (("Other",), "last"),
    ]


def test_a_heading_in_a_code_block_or_a_comment_is_none() -> None:
    document = read_markdown("# A\n```\n# B\n```\n<!--\n# C\n-->\n")
    assert [section.path for section in document.sections] == [("A",)]


@pytest.mark.parametrize(
    "text", ["[More Information Needed]", "[Needs More Information]", "N/A", "TBD", "- ",
     "None yet. See our contributing guide to help us add one.", "Not applicable.", "[Insert a description here]",
     "{{ dataset_summary }}", "To be added soon.", "[N/A] [More Information Needed]"]
)  # fmt: skip
def test_placeholders_are_rejected(text: str) -> None:
    assert is_placeholder(text)
    document = read_markdown(f"# A\n{text}\n")
    assert document.sections == ()
    assert states_nothing(text)


@pytest.mark.parametrize("code", ["unac", "unal", "unap", "unas", "unav", "unkn", "none", "null", "tba", "etal"])
def test_the_codes_of_datacite_for_unknown_values_are_placeholders(code: str) -> None:
    for text in (f"(:{code})", f":{code}", f"(:{code.upper()})", f" :{code.capitalize()}. "):
        assert is_placeholder(text)
    assert not is_placeholder(f"Rivers (:{code})")


def test_a_placeholder_beside_an_answer_leaves_the_answer() -> None:
    assert not is_placeholder("Collected in 2020. [More Information Needed]")


def test_comments_are_removed_and_listed_even_if_they_never_end() -> None:
    document = read_markdown("# A\nseen <!-- hidden -->\n# B\n<!-- All speakers consented.\n# C\nalso hidden")
    assert [(section.path, section.text) for section in document.sections] == [(("A",), "seen")]
    assert [part.code for part in document.rejected] == ["html_comment", "html_comment"]
    assert document.rejected[1].facts["text"].startswith("<!-- All speakers consented.")


def test_lines_are_counted_as_the_parser_counts_them() -> None:
    document = read_markdown("# A\r\none\u2028two\x0bthree\r\n## B\r\nfour\r\n")
    assert [(section.path, section.text) for section in document.sections] == [
        (("A",), "one\u2028two\x0bthree"),
        (("A", "B"), "four"),
    ]


def test_front_matter_ends_at_its_second_line_of_dashes() -> None:
    document = read_markdown("---\na: 1\n---\n# B\ntext\n---\n")
    assert document.front_matter == "a: 1\n"
    assert document.title == "B"
    assert read_markdown("---\nno end").front_matter is None
