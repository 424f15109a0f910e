"""HTML comments in Markdown, which are invisible on the rendered page."""

import re
from typing import Final

# A comment without an end hides the rest of the document, as it does in a browser.
_COMMENT: Final = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_NOT_A_LINE_END: Final = re.compile(r"[^\r\n]")


def find_comments(text: str) -> list[str]:
    """Return the HTML comments in Markdown, including their delimiters."""
    return _COMMENT.findall(text)


def remove_comments(text: str) -> str:
    """Remove the HTML comments from Markdown."""
    return _COMMENT.sub("", text)


def blank_comments(text: str) -> str:
    """Overwrite HTML comments with spaces, so that the offsets of all other characters stay the same."""
    return _COMMENT.sub(lambda comment: _NOT_A_LINE_END.sub(" ", comment.group()), text)
