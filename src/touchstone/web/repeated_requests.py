"""Convert the requests of earlier jobs to form fields, so that readers can repeat the jobs.

This is the inverse of reading the forms. Some options of an explanation can only be set through the API. The form has a
single hidden field for all of these options, so that none is lost.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from touchstone.learning.request_definitions import ExplanationRequest

OTHER_OPTIONS: Final = "other_options"
"""The form field with all options of an explanation that only the API can set, as a JSON object."""

JsonObject = Mapping[str, Any]
Fields = list[tuple[str, str]]

# The fields with the same name in the form and in the request.
_TRAINING_FIELDS: Final = (
    "dataset_id",
    "target",
    "task",
    "metric",
    "positive_class",
    "calibration",
    "sample_weight",
    "mitigation",
    "intended_use",
    "seed",
    "project_id",
    "name",
)
_SPLIT_FIELDS: Final = ("strategy", "time_column", "group_column", "duplicates", "folds")
_API_ONLY_OPTIONS: Final = ("background", "output", "seed")
FIELDLESS_OPTIONS: Final = (*_API_ONLY_OPTIONS, "instances")
"""The options that the field `OTHER_OPTIONS` may contain."""
# A request has to name a job or a dataset, but the defaults of the other options do not depend on it.
_DEFAULTS: Final[JsonObject] = msgspec.to_builtins(ExplanationRequest(job_id="0"))
_EXPLANATION_FIELDS: Final = (
    "job_id",
    "dataset_id",
    "scope",
    "method",
    "target_class",
    "target",
    "project_id",
    "name",
)


def training_fields(request: JsonObject) -> Fields:
    """Convert the request of a training to fields of the training form."""
    features = request.get("features") or {}
    split = request.get("split") or {}
    budget = request.get("budget") or {}
    threshold = request.get("threshold") or {}
    costs = threshold.get("cost") or {}
    test_size = split.get("test_size")

    values = {
        **{name: request.get(name) for name in _TRAINING_FIELDS},
        **{name: split.get(name) for name in _SPLIT_FIELDS},
        "max_trials": budget.get("max_trials"),
        "max_seconds": budget.get("max_runtime_seconds"),
        "threshold_metric": threshold.get("metric"),
        "cost_fp": costs.get("fp"),
        "cost_fn": costs.get("fn"),
        "refit": "yes" if request.get("refit") else None,
        "test_size": None if test_size is None else _percentage(test_size),
    }
    lists = {
        "include": features.get("include"),
        "exclude": features.get("exclude"),
        "sensitive": request.get("sensitive_features"),
        "algorithm": request.get("algorithms"),
    }
    return _form_fields(values, lists)


def explanation_fields(request: JsonObject) -> Fields:
    """Convert the request of an explanation to fields of the explanation form."""
    instances = request.get("instances") or {}
    rows = instances.get("rows") or ()

    values = {
        **{name: request.get(name) for name in _EXPLANATION_FIELDS},
        "rows": ", ".join(str(row) for row in rows),
        OTHER_OPTIONS: _other_options(request) or None,
    }
    lists = {
        "immutable": request.get("immutable"),
        "sensitive": request.get("sensitive_features"),
    }
    return _form_fields(values, lists)


def _other_options(request: JsonObject) -> JsonObject:
    """Return the options of an explanation that only the API can set, without default values.

    They include rows that are given by their values instead of by their numbers.
    """
    options = {name: request[name] for name in _API_ONLY_OPTIONS if request.get(name) not in (None, _DEFAULTS[name])}
    values = (request.get("instances") or {}).get("values")
    if values:
        options["instances"] = {"values": values}
    return options


def _percentage(share: float) -> int | float:
    """Convert a share in 0-1 to a percentage, without floating-point errors."""
    percentage = round(100 * share, 9)
    return int(percentage) if percentage.is_integer() else percentage


def _form_fields(values: JsonObject, lists: Mapping[str, Sequence[str] | None]) -> Fields:
    """Return the names and values of form fields, with one field for each value and each list element.

    Numbers and Booleans are written as in JSON, because `parse_class` reads the class in the form like that.
    """
    fields = []
    for name, value in values.items():
        if value is not None:
            text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
            fields.append((name, text))

    for name, elements in lists.items():
        fields.extend((name, element) for element in elements or ())
    return fields
