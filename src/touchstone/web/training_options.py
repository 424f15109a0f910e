"""Read the options of jobs from the forms that start a training, a comparison or an explanation."""

from collections.abc import Mapping
from typing import Any

import msgspec
from starlette.datastructures import FormData

from touchstone.core.comma_lists import split_at_commas
from touchstone.core.json_decoding import decode_json, parse_scalar
from touchstone.learning.request_choices import Strategy
from touchstone.learning.request_definitions import MAX_TEST_SHARE, MIN_TEST_SHARE
from touchstone.web.forms import integer_field, invalid_field, list_field, parse_number, text_field
from touchstone.web.page_context import PageContext
from touchstone.web.repeated_requests import FIELDLESS_OPTIONS, OTHER_OPTIONS
from touchstone.web.views.training_choices import DATASET_OPTIONS

JsonObject = dict[str, Any]


def read_training_options(ctx: PageContext, form: FormData) -> JsonObject:
    """Read the options of a training from its form, except the dataset and the target.

    Empty fields are left out, so that the service chooses their values.

    Raises:
        TouchstoneError: a number is invalid, or two fields contradict each other.
    """
    positive_class_text = text_field(form, "positive_class")
    positive_class = parse_class(positive_class_text) if positive_class_text else None
    is_refit_requested = bool(text_field(form, "refit"))
    seed_message = ctx.text("not_whole", name=ctx.text("seed"))

    return without_empty(
        {
            "task": text_field(form, "task"),
            "features": {"exclude": list_field(form, "exclude")},
            "sensitive_features": list_field(form, "sensitive"),
            "algorithms": list_field(form, "algorithm"),
            "metric": text_field(form, "metric"),
            "split": _read_split(ctx, form),
            "budget": _read_budget(ctx, form),
            "positive_class": positive_class,
            "threshold": _read_threshold(ctx, form),
            "calibration": text_field(form, "calibration"),
            "sample_weight": text_field(form, "sample_weight"),
            "mitigation": text_field(form, "mitigation"),
            "intended_use": text_field(form, "intended_use"),
            "refit": is_refit_requested or None,
            "seed": integer_field(form, "seed", seed_message),
            "project_id": text_field(form, "project_id"),
            "name": text_field(form, "name"),
        }
    )


def read_dataset_options(form: FormData) -> dict[str, JsonObject]:
    """Read the options of a model comparison that apply to single datasets, by dataset id.

    A field name consists of the option and the id of the dataset. For example, `group_column.12` is the option
    `group_column` for the dataset with the id 12. Empty fields are ignored.
    """
    options_by_dataset: dict[str, JsonObject] = {}
    for field_name in form:
        option_name, _, dataset_id = field_name.partition(".")
        text = text_field(form, field_name)

        is_dataset_option = option_name in DATASET_OPTIONS and dataset_id != ""
        if is_dataset_option and text:
            options = options_by_dataset.setdefault(dataset_id, {})
            options[option_name] = _parse_dataset_option(option_name, text)
    return options_by_dataset


def read_other_options(ctx: PageContext, form: FormData) -> JsonObject:
    """Read the options without form fields from the hidden field that repeats an explanation.

    Raises:
        TouchstoneError: the hidden field does not hold a JSON object.
    """
    text = text_field(form, OTHER_OPTIONS)
    if not text:
        return {}
    try:
        options = decode_json(text, JsonObject)
    except msgspec.DecodeError as error:
        raise invalid_field(ctx.text("other_options_unreadable"), OTHER_OPTIONS) from error
    return {name: value for name, value in options.items() if name in FIELDLESS_OPTIONS}


def _parse_dataset_option(name: str, text: str) -> Any:
    """Convert the entered value of an option for a single dataset to the value that the API expects."""
    if name == "features":
        return {"exclude": split_at_commas(text)}
    if name == "sensitive_features":
        return split_at_commas(text)
    return parse_class(text) if name == "positive_class" else text


def _read_split(ctx: PageContext, form: FormData) -> JsonObject:
    """Read the options for splitting the rows of a table into training rows and test rows.

    The strategy uses either the number of folds or the share of test rows. The other one is not sent, because the API
    would refuse it. The form says beside the fields when they have no effect.
    """
    strategy = text_field(form, "strategy")
    if strategy == Strategy.KFOLD:
        folds_message = ctx.text("not_whole", name=ctx.text("folds"))
        size: JsonObject = {"folds": integer_field(form, "folds", folds_message)}
    else:
        size = {"test_size": _read_test_size(ctx, form)}

    return without_empty(
        {
            "strategy": strategy,
            "time_column": text_field(form, "time_column"),
            "group_column": text_field(form, "group_column"),
            "duplicates": text_field(form, "duplicates"),
            **size,
        }
    )


def _read_test_size(ctx: PageContext, form: FormData) -> float | None:
    """Read the percentage of test rows as a share in 0-1, or return None if the field is empty.

    Raises:
        TouchstoneError: the field does not hold a percentage that the API accepts.
    """
    text = text_field(form, "test_size")
    if not text:
        return None
    try:
        percentage = parse_number(text)
    except ValueError as error:
        raise invalid_field(ctx.text("not_a_number"), "test_size") from error

    share = round(percentage / 100, 9)  # without floating-point errors
    if not MIN_TEST_SHARE <= share <= MAX_TEST_SHARE:
        limits = {"low": round(100 * MIN_TEST_SHARE), "high": round(100 * MAX_TEST_SHARE)}
        raise invalid_field(ctx.text("test_size_range", **limits), "test_size")
    return share


def _read_budget(ctx: PageContext, form: FormData) -> JsonObject:
    """Read the limits on the number of trials and on the training time."""
    max_trials = integer_field(form, "max_trials", ctx.text("not_whole", name=ctx.text("trials")))
    max_seconds = integer_field(form, "max_seconds", ctx.text("not_whole", name=ctx.text("max_seconds")))
    return without_empty({"max_trials": max_trials, "max_runtime_seconds": max_seconds})


def _read_threshold(ctx: PageContext, form: FormData) -> JsonObject | None:
    """Read the rule for choosing the decision threshold, or return None if the form has none.

    The rule is either a metric to optimize, or the costs of a false positive (`fp`) and a false negative (`fn`).

    Raises:
        TouchstoneError: the form has both a metric and costs, or the cost of only one kind of error.
    """
    metric = text_field(form, "threshold_metric")
    costs = {name: _read_cost(ctx, form, f"cost_{name}") for name in ("fp", "fn")}
    given_costs = without_empty(costs)

    if metric and given_costs:
        raise invalid_field(ctx.text("threshold_both"), "threshold_metric")
    if len(given_costs) == 1:
        missing_field = "cost_fn" if "fp" in given_costs else "cost_fp"
        raise invalid_field(ctx.text("threshold_one_cost"), missing_field)
    if given_costs:
        return {"cost": given_costs}
    return {"metric": metric} if metric else None


def _read_cost(ctx: PageContext, form: FormData, name: str) -> int | float | None:
    """Read the cost of one kind of error, or return None if the field is empty.

    Raises:
        TouchstoneError: the field does not hold a number.
    """
    text = text_field(form, name)
    if not text:
        return None
    try:
        return parse_number(text, commas_may_separate_thousands=ctx.locale == "en")
    except ValueError as error:
        raise invalid_field(ctx.text("not_a_number"), name) from error


def parse_class(text: str) -> str | int | float | bool:
    """Convert the entered name of a class to its value in the data file.

    A string such as `3` or `true` becomes a number or a Boolean. Any other string is the class itself.
    """
    return parse_scalar(text)


def without_empty(fields: Mapping[str, Any]) -> JsonObject:
    """Return the fields without None and empty strings, lists and objects; False and 0 are kept."""
    return {name: value for name, value in fields.items() if value not in (None, "", [], {})}
