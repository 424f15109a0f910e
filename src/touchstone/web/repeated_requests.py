"""The requests of earlier jobs as fields of the forms that start a job, so that they can be repeated with changes.

This is the inverse of reading these forms. The form for explanations has a single field for all options that only the
API has, so that none of them is lost.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from touchstone.learning.request_definitions import ExplanationRequest

OTHER_OPTIONS: Final = "other_options"
"""The field of the form for explanations with all options that only the API has, as a JSON object."""

JsonObject = Mapping[str, Any]
Fields = list[tuple[str, str]]

# The fields that have the same name in the form and in the request.
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
_OPTIONS_OF_API: Final = ("background", "output", "seed")
FIELDLESS_OPTIONS: Final = (*_OPTIONS_OF_API, "instances")
"""The options that this field may hold."""
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
    """Return the fields of the training form that describe the request of a training."""
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
    """Return the fields of the form for explanations that describe the request of an explanation."""
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
    """Return the options of an explanation that only the API has, as far as they differ from their defaults.

    They include rows that are given by their values instead of their numbers.
    """
    options = {name: request[name] for name in _OPTIONS_OF_API if request.get(name) not in (None, _DEFAULTS[name])}
    values = (request.get("instances") or {}).get("values")
    if values:
        options["instances"] = {"values": values}
    return options


def _percentage(share: float) -> int | float:
    """Convert a share to a percentage without floating-point rounding errors."""
    percentage = round(100 * share, 9)
    return int(percentage) if percentage.is_integer() else percentage


def _form_fields(values: JsonObject, lists: Mapping[str, Sequence[str] | None]) -> Fields:
    """Return the fields of a form for single values and for lists, whose elements are fields of their own.

    Numbers and truth values are written as in JSON, because that is how the form reads the class that a text means.
    """
    fields = []
    for name, value in values.items():
        if value is not None:
            text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
            fields.append((name, text))

    for name, elements in lists.items():
        fields.extend((name, element) for element in elements or ())
    return fields
