"""Reword errors of the API for readers, to show them beside a form.

Fields are named by their labels, and sizes are given in kB or MB. `error_pages` renders the errors that replace a whole
page.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from touchstone.client import TouchstoneError
from touchstone.core.attributes import BY_NAME
from touchstone.core.errors import DataFileUnreadable, Invalid, InvalidValue, ProjectNotFound
from touchstone.web.forms import PAGE_ERROR
from touchstone.web.localizer import Localizer

# The message keys of the labels of fields that are not dataset attributes.
_LABEL_KEYS: Final[Mapping[str, str]] = {
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
    "group_column": "group_column",
    "positive_class": "positive_class",
    "sample_weight": "sample_weight",
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
    "value": "claim_value_number",
    "quote": "claim_quote",
    "q": "rank_q",
    "license": "rank_license",
    "language": "rank_language",
    "file_type": "rank_file_type",
}
# The names of form fields, where they differ from the names in the API.
_FORM_NAME_BY_API_NAME: Final[Mapping[str, str]] = {
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
# The form fields that errors without a field are about, by error code.
_FIELDS_BY_CODE: Final[Mapping[str, tuple[str, ...]]] = {
    "email_taken": ("email",),
    "invalid_credentials": ("email", "password"),
    "wrong_password": ("current_password",),
    "weak_password": ("password", "new_password"),
    "invalid_reset_token": ("token",),
    "invalid_picture": ("picture",),
    "chosen_dataset_not_found": ("dataset",),
}
# The message keys for errors that the API always reports in French, as its interface requires.
_MESSAGE_KEY_BY_CODE: Final[Mapping[str, str]] = {ProjectNotFound.code: "no_such_project"}
_BYTE_COUNT: Final = re.compile(r"\b(\d{4,}) (?:octets|bytes)\b")
_DOTTED_NAME: Final = re.compile(r"\b(?:split|features|instances|budget)\.[a-z_]+")
_LONG_NUMBER: Final = re.compile(r"-?\d{16,}")
_LARGEST_SAFE_INTEGER: Final = 2**53 - 1  # the largest integer that every JSON parser reads exactly


def localize_error(error: TouchstoneError, localizer: Localizer) -> TouchstoneError:
    """Return an API error with a message for the readers of a page.

    The message of the API is meant for developers. The new message names fields by their labels, such as "Test rows"
    instead of `split.test_size`, and gives sizes in kB or MB instead of bytes.
    """
    detail = _convert_bytes(_readable_detail(error, localizer), localizer)
    return TouchstoneError(error.status, error.code, detail, retry_after=error.retry_after)


def _readable_detail(error: TouchstoneError, localizer: Localizer) -> str:
    """Return the message of an error with the labels of fields instead of their technical names.

    If there is a message about each invalid field, these messages replace the general message.
    """
    is_about_fields = error.code in (Invalid.code, InvalidValue.code)
    if is_about_fields:
        messages = [_field_message(field_error, localizer) for field_error in error.errors]
        if messages and all(messages):
            distinct_messages = dict.fromkeys(messages)
            separator = f"{localizer.text('semicolon')} "
            return separator.join(distinct_messages)

    if error.code in _MESSAGE_KEY_BY_CODE:
        return localizer.text(_MESSAGE_KEY_BY_CODE[error.code])

    detail = _replace_api_names(error.detail, localizer)
    if error.errors and error.code == DataFileUnreadable.code:
        # The general message of this error only names the problem, and the solution of the API is for developers.
        return localizer.text("field_problem", name=detail, problem=localizer.text("file_unreadable_hint"))
    return detail


def field_messages(error: TouchstoneError, localizer: Localizer) -> dict[str, str]:
    """Return the messages to show beside the fields of a form, by field name.

    The API may name a nested field, such as `split.time_column`. Its message is returned for both `split` and
    `time_column`, because the form may have either field.
    """
    if error.code in _FIELDS_BY_CODE:
        return dict.fromkeys(_FIELDS_BY_CODE[error.code], error.detail)

    messages: dict[str, str] = {}
    for field_error in error.errors:
        message = _field_message(field_error, localizer)
        if not message:
            continue

        for form_name in _form_names(field_error.get("loc") or ()):
            # If a field has several messages, only the first one is shown.
            messages.setdefault(form_name, message)
    return messages


def _form_names(location: Sequence[Any]) -> list[str]:
    """Return the names of the form fields that an API field may have.

    An option of a single dataset in a comparison, such as `by_dataset.12.group_column`, is the field `group_column.12`.
    """
    if "by_dataset" in location:
        match location[location.index("by_dataset") + 1 :]:
            case [dataset_id, option, *_]:
                return [f"{option}.{dataset_id}"]
            case _:
                return []

    return [_FORM_NAME_BY_API_NAME.get(api_name, str(api_name)) for api_name in reversed(location)]


def _field_message(field_error: Mapping[str, Any], localizer: Localizer) -> str:
    """Return the message of an API error about one field, such as "Year: must be a number".

    It is empty if the error has no message, or if its field has no label.
    """
    if field_error.get("type") == PAGE_ERROR:
        return str(field_error["msg"])

    if field_error.get("type") == "file_type":
        label = localizer.text("new_file")
    else:
        label = _find_label(field_error.get("loc") or (), localizer)

    message = str(field_error.get("msg") or "")
    if not label or not message:
        return ""

    if _contains_technical_limit(message):
        message = localizer.text("number_too_large")
    return localizer.text("field_problem", name=label, problem=message)


def _contains_technical_limit(message: str) -> bool:
    """Return whether a message contains a technical limit, such as the largest 64-bit integer."""
    numbers = [int(digits) for digits in _LONG_NUMBER.findall(message)]
    return any(abs(number) >= _LARGEST_SAFE_INTEGER for number in numbers)


def _replace_api_names(sentence: str, localizer: Localizer) -> str:
    """Replace names of the API in a sentence, such as `split.time_column`, by quoted labels."""

    def quoted_label(match: re.Match[str]) -> str:
        label = _find_label(match[0].split("."), localizer)
        return localizer.text("quoted", text=label) if label else match[0]

    return _DOTTED_NAME.sub(quoted_label, sentence)


def _convert_bytes(sentence: str, localizer: Localizer) -> str:
    """Replace numbers of bytes in a sentence by sizes in kB or MB."""
    return _BYTE_COUNT.sub(lambda match: localizer.bytes(int(match[1])), sentence)


def _find_label(location: Sequence[Any], localizer: Localizer) -> str:
    """Return the label of an API field, or an empty string if it has none.

    Args:
        location: the path to the field, such as `split`, `time_column`. The innermost name with a label counts.
        localizer: the localizer.
    """
    for name in reversed(location):
        if name in BY_NAME:
            return localizer.attribute(name)
        if name in _LABEL_KEYS:
            return localizer.text(_LABEL_KEYS[name])
    return ""
