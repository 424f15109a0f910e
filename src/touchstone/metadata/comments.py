"""HTML comments in Markdown, which readers of the page do not see."""

import re
from typing import Final

# A comment without an end hides the rest of the document, as it does in a browser.
_COMMENT: Final = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_NOT_A_LINE_END: Final = re.compile(r"[^\r\n]")


def find_comments(text: str) -> list[str]:
    """Return the HTML comments in a text, with the characters that begin and end them."""
    return _COMMENT.findall(text)


def remove_comments(text: str) -> str:
    """Return a text without its HTML comments."""
    return _COMMENT.sub("", text)


def blank_comments(text: str) -> str:
    """Return a text with spaces in place of its HTML comments, so that every other character keeps its place."""
    return _COMMENT.sub(lambda comment: _NOT_A_LINE_END.sub(" ", comment.group()), text)
