"""The sentences in the result of a job, each of which is an object with a text by language."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any


def texts_at(result: Mapping[str, Any], paths: Iterable[Sequence[str]]) -> list[Mapping[str, str]]:
    """Return the texts of the parts of a result at the given paths, by language, without parts that have none."""
    texts: list[Mapping[str, str]] = []
    for path in paths:
        part: Any = result
        for name in path:
            part = (part or {}).get(name)

        text = (part or {}).get("text")
        if text:
            texts.append(text)
    return texts
