"""What if: a row as it is beside the same row with other values, and what the model answers to each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from touchstone.web.forms import number
from touchstone.web.rendering import Speech

_MOST_NAMED: Final = 12  # known values that an error names


@dataclass(frozen=True, slots=True)
class Change:
    """One column whose value was changed; an empty text is a missing value."""

    column: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Answer:
    """One figure of the model's answer, for the row as it is and as it was changed."""

    label: str
    before: float
    after: float

    @property
    def difference(self) -> float:
        """Return how much the change adds."""
        return self.after - self.before


@dataclass(frozen=True, slots=True)
class WhatIf:
    """What came of the form: problems at its fields, or a problem of the whole, or two answers side by side."""

    problem: str = ""
    errors: Mapping[str, str] = field(default_factory=dict)  # by column
    changes: tuple[Change, ...] = ()
    answers: tuple[Answer, ...] = ()
    predicted: tuple[str, str] | None = None  # the class before and after; None for numbers


def field_errors(features: Sequence[Mapping[str, Any]], texts: Mapping[str, str], speech: Speech) -> dict[str, str]:
    """Return why each field that cannot be what its column holds cannot be it, by column."""
    problems = {one["name"]: _problem(one, texts[one["name"]], speech) for one in features}
    return {name: problem for name, problem in problems.items() if problem}


def _problem(feature: Mapping[str, Any], text: str, speech: Speech) -> str:
    if not text:
        return ""
    if feature["kind"] == "number":
        return "" if isinstance(cell(text, "number"), float | int) else speech.text("not_a_number")

    known = feature.get("values")
    if known is None or text in known:
        return ""
    named = ", ".join(known[:_MOST_NAMED]) + (", …" if len(known) > _MOST_NAMED else "")
    return speech.text("not_a_category", value=text, known=named, count=len(known))


def cell(text: str, kind: str) -> Any:
    """Return what a field stands for: a number where its column holds numbers, None where it is empty."""
    if text == "" or kind != "number":
        return text or None
    try:
        return number(text)
    except ValueError:
        return text


def rows_asked(features: Sequence[Mapping[str, Any]], *rows: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return the rows with the cells that their texts stand for."""
    return [{one["name"]: cell(row[one["name"]], one["kind"]) for one in features} for row in rows]


def compared(
    original: Mapping[str, str],
    changed: Mapping[str, str],
    asked: Sequence[Mapping[str, Any]],
    answer: Mapping[str, Any],
    speech: Speech,
) -> WhatIf:
    """Return both answers of the model side by side; `asked` are the rows that it was given, the original one first."""
    before, after = answer["predictions"]
    classes = answer.get("classes") or ()
    if classes:
        pairs = zip(classes, before["probabilities"], after["probabilities"], strict=True)
        answers = tuple(Answer(name, old, new) for name, old, new in pairs)
    else:
        answers = (Answer(speech.text("prediction"), before["prediction"], after["prediction"]),)

    return WhatIf(
        changes=tuple(
            Change(name, original[name], text) for name, text in changed.items() if asked[0][name] != asked[1][name]
        ),
        answers=answers,
        predicted=(str(before["prediction"]), str(after["prediction"])) if classes else None,
    )
