"""The sentences in the result of a job, each of which is an object with a text by language."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any


def texts_at(result: Mapping[str, Any], paths: Iterable[Sequence[str]]) -> list[Mapping[str, str]]:
    """Return the texts that the JSON result of a job has at the given paths, each as a mapping from languages.

    For the path `("split", "strategy")`, this is `result["split"]["strategy"]["text"]`. Paths without a text are
    skipped.
    """
    texts: list[Mapping[str, str]] = []
    for path in paths:
        json_value: Any = result
        for name in path:
            json_value = (json_value or {}).get(name)

        text = (json_value or {}).get("text")
        if text:
            texts.append(text)
    return texts
