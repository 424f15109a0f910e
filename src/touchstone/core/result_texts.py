"""The localized sentences in the JSON result of a job."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

EVALUATION_TEXT_PATHS: Final = (
    ("task_choice",),
    ("split", "reason"),
    ("split", "effect"),
    ("weighting",),
    ("decision",),
    ("calibration",),
)
"""The paths in the result of a training to the sentences about how the model was evaluated and how it decides."""


def texts_at(result: Mapping[str, Any], paths: Iterable[Sequence[str]]) -> list[Mapping[str, str]]:
    """Return the localized texts at the given paths in the JSON result of a job.

    For example, the path `("split", "strategy")` means `result["split"]["strategy"]["text"]`. Paths without a text are
    skipped.

    Returns:
        the text by language for each path that has one.
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
