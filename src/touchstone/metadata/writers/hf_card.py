"""Dataset cards for the Hugging Face hub: Markdown with a YAML head."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

import yaml

from touchstone.core.attributes import BY_NAME
from touchstone.metadata.documents import ImportedDocument
from touchstone.metadata.exported_dataset import ExportedClaim, ExportedDataset
from touchstone.metadata.prose import on_one_line
from touchstone.metadata.readers import hf_card
from touchstone.metadata.writers.merging import FieldMapping, merge_fields

STANDARD: Final = hf_card.STANDARD
# The hub's size categories with their upper limits (exclusive) in rows.
SIZES: Final = (
    (1_000, "n<1K"),
    (10_000, "1K<n<10K"),
    (100_000, "10K<n<100K"),
    (1_000_000, "100K<n<1M"),
    (10_000_000, "1M<n<10M"),
    (100_000_000, "10M<n<100M"),
    (1_000_000_000, "100M<n<1B"),
)
LARGEST_SIZE: Final = "n>1B"
# Characters with a meaning in Markdown, anywhere in a line and at its beginning: "- item", "1. item", "===".
_INLINE_MARKUP: Final = re.compile(r"([\\`*_\[\]<>#|~&$!])")
_BLOCK_MARKUP: Final = re.compile(r"^(?:[-+=:]|\d+(?=[.)]))", re.MULTILINE)
# Strings that mean the same without quotation marks in every version of YAML.
_UNQUOTED_TEXT: Final = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")


def licence_names(dataset: ExportedDataset) -> str | list[str] | None:
    """Return the licence or licences in the hub's spelling, which are SPDX identifiers in lower case, or None."""
    expression = dataset.text("metadata.licence")
    if expression is None:
        return None
    names = [name.lower() for name in expression.split(" AND ")]
    return names[0] if len(names) == 1 else names


def size_category(dataset: ExportedDataset) -> list[str]:
    """Return the size category of a dataset, or an empty list if the number of rows is unknown."""
    rows = dataset.record.get("instances_number")
    if rows is None:
        return []
    for limit, category in SIZES:
        if rows < limit:
            return [category]
    return [LARGEST_SIZE]


def tags(dataset: ExportedDataset) -> list[str]:
    """Return the tags and domains of a dataset."""
    return list(dict.fromkeys((*dataset.texts("metadata.tags"), *dataset.texts("domain"))))


FIELDS: Final = (
    FieldMapping("pretty_name", ("dataset_name",), lambda dataset: dataset.name),
    FieldMapping("language", ("metadata.language",), lambda dataset: dataset.texts("metadata.language")),
    FieldMapping("license", ("metadata.licence", "metadata.licence_text"), licence_names),
    FieldMapping("tags", ("metadata.tags", "domain"), tags),
    FieldMapping("task_categories", ("task",), lambda dataset: dataset.texts("task")),
    FieldMapping("size_categories", ("instances_number",), size_category),
)


def write(dataset: ExportedDataset) -> bytes:
    """Return a dataset card, with the exact values of the record in its head."""
    original = dataset.document_to_update(STANDARD)
    head = merge_fields(FIELDS, dataset, original, essential=hf_card.BODY).with_exact_values(dataset, original)
    body = _imported_body(original)
    if body is None:
        body = "\n" + "\n".join(_body_lines(dataset)) + "\n"
    return f"---\n{to_yaml(head)}---\n{body}".encode()


def _imported_body(original: ImportedDocument | None) -> str | None:
    """Return the Markdown of the imported card, if there is one."""
    body = original.unmapped.get(hf_card.BODY) if original else None
    return body if isinstance(body, str) else None


def _body_lines(dataset: ExportedDataset) -> Iterator[str]:
    """Yield the Markdown lines of a card for a record that was not imported from a card."""
    yield f"# Dataset Card for {escape_markdown(on_one_line(dataset.name))}"
    yield ""
    yield "## Dataset Description"
    yield ""
    yield f"- **Homepage:** {escape_address(dataset.page)}"
    yield ""
    summary = dataset.text("description") or dataset.text("objective")
    if summary is not None:
        yield "### Dataset Summary"
        yield ""
        yield escape_markdown(summary.strip())
        yield ""
    if dataset.columns():
        yield "### Data Fields"
        yield ""
        for name, column_type in dataset.columns():
            yield f"- {escape_markdown(on_one_line(name))}: {column_type}"
        yield ""
    claims = [claim for claim in dataset.claims if claim.quote]
    if claims:
        yield f"## {hf_card.EVIDENCE_HEADING}"
        yield ""
        for claim in claims:
            yield f"- {_claim_line(claim)}"


def _claim_line(claim: ExportedClaim) -> str:
    """Format a claim as one line with its value, its level of evidence and its quote."""
    label = BY_NAME[claim.attribute].label_en if claim.attribute in BY_NAME else claim.attribute
    value = "not applicable" if claim.not_applicable else str(claim.value).lower()
    quote = escape_markdown(on_one_line(claim.quote))
    return f"**{escape_markdown(label)}**: {value} ({claim.level.value}): “{quote}”"


def escape_markdown(text: str) -> str:
    """Escape a string so that Markdown displays it literally, without headings, links, code or HTML.

    Lines lose their indentation, which would have a meaning, too.
    """
    lines = [line.strip() for line in text.splitlines()]
    escaped = _INLINE_MARKUP.sub(r"\\\1", "\n".join(lines))
    return _BLOCK_MARKUP.sub(_escape_block, escaped)


def _escape_block(match: re.Match[str]) -> str:
    """Escape a marker at the start of a line that would start a list or underline a heading.

    Only punctuation can be escaped, so the backslash of a numbered item is placed before its full stop.
    """
    mark = match[0]
    return f"{mark}\\" if mark.isdigit() else f"\\{mark}"


def escape_address(address: str) -> str:
    """Format a web address as a link, and escape any other string."""
    is_link = re.fullmatch(r"https?://[^\s<>()\[\]\\]+", address) is not None
    return f"<{address}>" if is_link else escape_markdown(on_one_line(address))


class _CardDumper(yaml.SafeDumper):
    """A YAML writer without aliases, which our reader refuses, and without unquoted strings that look like numbers."""

    def ignore_aliases(self, data: Any) -> bool:
        """Return True, so that repeated values are written out instead of as aliases."""
        return True


def _represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    """Represent a string in quotation marks, unless it is a plain word."""
    style = None if _UNQUOTED_TEXT.fullmatch(text) else '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_CardDumper.add_representer(str, _represent_text)


def to_yaml(head: Mapping[str, Any]) -> str:
    """Serialize the fields of a head as YAML in their order."""
    text: str = yaml.dump(
        dict(head), Dumper=_CardDumper, allow_unicode=True, sort_keys=False, default_flow_style=False, width=120
    )
    return text
