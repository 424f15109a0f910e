"""The reference names every standard and every code."""

import re
from pathlib import Path

import touchstone.metadata
from touchstone.messages.document_rejections import DOCUMENT_REJECTIONS
from touchstone.metadata.readers.standards import STANDARDS

ROOT = Path(touchstone.metadata.__file__).parent
REFERENCE = Path(__file__).parents[2] / "docs/reference/metadata-standards.md"
CODE = re.compile(
    r"(?:DocumentError\(\s*|RejectedPart\(\s*[^,]+,\s*|\.reject\(\s*[^,]+?,\s*|code=|return )"
    r"\"([a-z]+(?:_[a-z]+)*)\"(?! in)"
)


def codes_in_the_source() -> set[str]:
    """Return the codes with which the readers reject documents and parts."""
    modules = [*(ROOT / "readers").glob("*.py"), ROOT / "parsing.py", ROOT / "markdown.py", ROOT / "reading_child.py"]
    return {code for module in modules for code in CODE.findall(module.read_text())}


def documented_codes() -> set[str]:
    """Return the codes that the pages about standards and about imports explain."""
    pages = REFERENCE.read_text() + (REFERENCE.parent / "import.md").read_text()
    return set(re.findall(r"`([a-z_]+)`", pages))


def test_every_code_is_documented() -> None:
    codes = codes_in_the_source()
    assert {"placeholder", "too_deep", "loader_name", "schema_document", "no_dataset"} <= codes
    assert codes <= documented_codes(), codes - documented_codes()


def test_every_standard_is_documented() -> None:
    text = REFERENCE.read_text()
    for standard in STANDARDS:
        assert f"| `{standard.key}` |" in text
        assert f"| {standard.title} |" in text


def test_every_code_has_a_sentence_and_an_explanation() -> None:
    """Whoever imports a document reads why a part of it was not used."""
    assert codes_in_the_source() <= set(DOCUMENT_REJECTIONS)
    assert set(DOCUMENT_REJECTIONS) <= documented_codes()
