"""What the API refuses, in the words of the pages: a field by its label, a size in MB."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from touchstone.client import TouchstoneError
from touchstone.core.attributes import BY_NAME
from touchstone.core.errors import DataFileUnreadable, Invalid, InvalidValue
from touchstone.web.forms import MISFIT
from touchstone.web.rendering import Speech

# The fields of the forms that are not attributes of a record, by the text that labels them.
_LABELS: Final[Mapping[str, str]] = {
    "name": "field_name",
    "description": "description",
    "choice_reason": "reason",
    "chosen_dataset_id": "dataset",
    "pseudo": "pseudo",
    "given_name": "given_name",
    "family_name": "family_name",
    "email": "email",
    "username": "email",
    "password": "password",
    "new_password": "new_password",
    "current_password": "current_password",
    "target": "target",
    "sensitive_features": "sensitive",
    "algorithms": "algorithms",
    "metric": "metric",
    "max_trials": "trials",
    "seed": "seed",
    "time_column": "time_column",
    "strategy": "split",
    "rows": "rows",
    "instances": "rows",
    "target_class": "target_class",
    "method": "method",
    "scope": "scope",
    "project_id": "project",
    "dataset_id": "dataset",
    "locale": "language",
    "exclude": "exclude",
}
# The fields of the forms, where they are called otherwise than in the API.
_FIELDS: Final[Mapping[str, str]] = {
    "dataset_name": "name",
    "chosen_dataset_id": "dataset",
    "choice_reason": "reason",
    "username": "email",
    "sensitive_features": "sensitive",
    "sensitive_columns": "sensitive",
    "algorithms": "algorithm",
    "instances": "rows",
    "file_path": "file",
    "file_type": "file",
}
# Refusals that concern certain fields and do not name them.
_FIELDS_OF_CODES: Final[Mapping[str, tuple[str, ...]]] = {
    "email_taken": ("email",),
    "invalid_credentials": ("email", "password"),
    "wrong_password": ("current_password",),
    "weak_password": ("password", "new_password"),
    "invalid_reset_token": ("token",),
    "invalid_picture": ("picture",),
    "chosen_dataset_not_found": ("dataset",),
}
_BYTES: Final = re.compile(r"\b(\d{4,}) (?:octets|bytes)\b")
_DOTTED: Final = re.compile(r"\b(?:split|features|instances|budget)\.[a-z_]+")
_NUMBER: Final = re.compile(r"-?\d{16,}")
_WIDEST: Final = 2**53 - 1


def worded(problem: TouchstoneError, speech: Speech) -> TouchstoneError:
    """The refusal as a person reads it on a page."""
    said = [_line(one, speech) for one in problem.errors]
    by_field = said and all(said) and problem.code in (Invalid.code, InvalidValue.code)
    detail = (
        f"{speech.text('semicolon')} ".join(dict.fromkeys(said))
        if by_field
        else _DOTTED.sub(lambda name: _named(name[0], speech), problem.detail)
    )
    if problem.code == DataFileUnreadable.code and problem.errors:
        # The contract fixes the sentence; what to do about it is in the details.
        detail = speech.text("field_problem", name=detail, problem=problem.errors[0].get("msg", ""))
    return TouchstoneError(problem.status, problem.code, sized(detail, speech), retry_after=problem.retry_after)


def field_problems(problem: TouchstoneError, speech: Speech) -> dict[str, str]:
    """Return what is wrong with each field of a form, by the field's name."""
    if fields := _FIELDS_OF_CODES.get(problem.code):
        return dict.fromkeys(fields, problem.detail)
    found: dict[str, str] = {}
    for error in problem.errors:
        sentence = _line(error, speech)
        for part in reversed(error.get("loc") or ()):
            if sentence:
                found.setdefault(_FIELDS.get(part, str(part)), sentence)
    return found


def sized(sentence: str, speech: Speech) -> str:
    """The sentence with its bytes as kB or MB."""
    return _BYTES.sub(lambda found: speech.bytes(int(found[1])), sentence)


def _line(error: Mapping[str, Any], speech: Speech) -> str:
    if error.get("type") == MISFIT:
        return str(error["msg"])
    label, message = _label(error.get("loc") or (), speech), str(error.get("msg") or "")
    if error.get("type") == "file_type":
        label = speech.text("new_file")
    if not label or not message:
        return ""
    if any(abs(int(number)) >= _WIDEST for number in _NUMBER.findall(message)):
        message = speech.text("number_too_large")
    return speech.text("field_problem", name=label, problem=message)


def _named(dotted: str, speech: Speech) -> str:
    label = _label(dotted.split("."), speech)
    return speech.text("quoted", text=label) if label else dotted


def _label(loc: Sequence[Any], speech: Speech) -> str:
    """The label of the innermost part of a place that has one."""
    for part in reversed(loc):
        if part in BY_NAME:
            return speech.attribute(part)
        if part in _LABELS:
            return speech.text(_LABELS[part])
    return ""
