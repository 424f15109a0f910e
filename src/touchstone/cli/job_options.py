"""The options of the commands that start trainings and explanations, and their conversion to requests."""

from collections.abc import Mapping
from typing import Any, Final

import msgspec
import typer

from touchstone.cli.option_groups import Option, OptionGroup
from touchstone.core.json_decoding import decode_json

# The path of each option in the request body; other options are members of the body itself.
TRAIN_PATHS: Final[Mapping[str, tuple[str, ...]]] = {
    "include": ("features", "include"),
    "exclude": ("features", "exclude"),
    "sensitive": ("sensitive_features",),
    "algorithm": ("algorithms",),
    "split": ("split", "strategy"),
    "folds": ("split", "folds"),
    "test_size": ("split", "test_size"),
    "time_column": ("split", "time_column"),
    "group_column": ("split", "group_column"),
    "duplicates": ("split", "duplicates"),
    "threshold_metric": ("threshold", "metric"),
    "cost_fp": ("threshold", "cost", "fp"),
    "cost_fn": ("threshold", "cost", "fn"),
    "trials": ("budget", "max_trials"),
    "seconds": ("budget", "max_runtime_seconds"),
    "project": ("project_id",),
}
EXPLAIN_PATHS: Final[Mapping[str, tuple[str, ...]]] = {
    "job": ("job_id",),
    "dataset": ("dataset_id",),
    "row": ("instances", "rows"),
    "values": ("instances", "values"),
    "background": ("background", "size"),
    "sensitive": ("sensitive_features",),
    "project": ("project_id",),
}


def _build_request_body(options: Mapping[str, Any], paths: Mapping[str, tuple[str, ...]]) -> dict[str, Any]:
    """Return the JSON body of a request that contains the given command-line options.

    `paths` maps options to their position in nested objects. With the path `("split", "folds")`, the option `folds`
    becomes `{"split": {"folds": 5}}`. Other options are members of the body itself.
    """
    body: dict[str, Any] = {}
    for option_name, value in options.items():
        path = paths.get(option_name, (option_name,))
        *parent_keys, last_key = path

        parent = body
        for key in parent_keys:
            parent = parent.setdefault(key, {})
        parent[last_key] = value
    return body


def training_request(given_options: dict[str, Any]) -> dict[str, Any]:
    """Return the body of a training request.

    A number of folds, a time column and a group column each imply the strategy for splitting the rows.

    Raises:
        typer.BadParameter: two options contradict each other.
    """
    options = dict(given_options)
    _reject_contradictory_split(options)
    implied_strategies = {"folds": "kfold", "time_column": "time", "group_column": "group"}
    for option_name, strategy in implied_strategies.items():
        if option_name in options:
            options.setdefault("split", strategy)
    return _build_request_body(options, TRAIN_PATHS)


def _reject_contradictory_split(options: Mapping[str, Any]) -> None:
    """Raise `typer.BadParameter` if an option for splitting the rows has no effect because of another one."""
    strategy = options.get("split")
    if "folds" in options and strategy not in (None, "kfold"):
        raise typer.BadParameter(f"--folds is only for --split kfold, not for --split {strategy}")
    if "folds" in options and "time_column" in options:
        raise typer.BadParameter("--folds and --time-column contradict each other: folds are not in the order of time")
    if "test_size" in options and ("folds" in options or strategy == "kfold"):
        raise typer.BadParameter("--test-size has no effect with folds, each of which is held out in turn")


def _explanation_request(given_options: dict[str, Any]) -> dict[str, Any]:
    """Return the body of a request for an explanation.

    Raises:
        typer.BadParameter: a value of the option `--values` is not a JSON object.
    """
    options = dict(given_options)
    if "values" in options:
        json_texts = options["values"]
        try:
            options["values"] = [decode_json(text, dict[str, Any]) for text in json_texts]
        except msgspec.DecodeError as error:
            raise typer.BadParameter(f"--values takes a JSON object: {error}") from error
    return _build_request_body(options, EXPLAIN_PATHS)


TRAINING: Final = OptionGroup(
    (
        Option("target", str, "The column to predict.", is_required=True),
        Option("task", str, "classification, regression or auto (the default)."),
        Option("include", str, "Learn from this column; may be repeated (default: all).", is_repeatable=True),
        Option("exclude", str, "Do not learn from this column; may be repeated.", is_repeatable=True),
        Option("sensitive", str, "Report quality for each group of this column; may be repeated.", is_repeatable=True),
        Option("algorithm", str, "Try this algorithm; may be repeated (default: a selection).", is_repeatable=True),
        Option("metric", str, "The metric to optimize, such as balanced_accuracy or r2."),
        Option("split", str, "How to measure: auto (the default), holdout, kfold, time or group."),
        Option("folds", int, "Number of folds (kfold)."),
        Option("test_size", float, "Share of the rows kept for measuring (all but kfold)."),
        Option("time_column", str, "The column that orders the rows (time)."),
        Option("group_column", str, "Rows with the same value in this column stay together (group)."),
        Option("duplicates", str, "Identical rows: auto (the default), together or keep."),
        Option("positive_class", str, "The class whose probability is reported (default: the rarer of two)."),
        Option("threshold_metric", str, "Choose the threshold that is best by this metric (two classes)."),
        Option("cost_fp", float, "Choose the threshold by costs: of a false positive."),
        Option("cost_fn", float, "Choose the threshold by costs: of a false negative."),
        Option("calibration", str, "Correct the probabilities: auto (the default), none, sigmoid or isotonic."),
        Option("sample_weight", str, "A column with the weight of each row in learning and in metrics."),
        Option("mitigation", str, "Reduce gaps between groups: none (the default), thresholds or reweighing."),
        Option("refit", bool, "Train the delivered model on all rows after its quality has been measured."),
        Option("intended_use", str, "The purpose of the model, which the model card states."),
        Option("trials", int, "Number of settings to try."),
        Option("seconds", int, "Stop trying after this many seconds."),
        Option("seed", int, "The same seed gives the same result."),
        Option("project", str, "Id of the project of the job."),
        Option("name", str, "Name of the job."),
    ),
    build=training_request,
    help_panel="Training",
)
EXPLAINING: Final = OptionGroup(
    (
        Option("job", str, "Explain the model of this training."),
        Option("dataset", int, "Explain this dataset alone."),
        Option("scope", str, "global, local or both (the default)."),
        Option("method", str, "Method, such as shap or permutation_importance (default: auto)."),
        Option(
            "row", int, "Explain the prediction for this row of the file, from 0; may be repeated.", is_repeatable=True
        ),
        Option(
            "values",
            str,
            "Explain the prediction for these values, a JSON object; may be repeated.",
            is_repeatable=True,
        ),
        Option("background", int, "Number of rows that represent an average case."),
        Option("target_class", str, "The class whose probability is explained."),
        Option("immutable", str, "Counterfactuals must not change this column; may be repeated.", is_repeatable=True),
        Option("target", str, "The column of interest (dataset alone)."),
        Option(
            "sensitive", str, "Look for proxies of this column (dataset alone); may be repeated.", is_repeatable=True
        ),
        Option("seed", int, "The same seed gives the same result."),
        Option("project", str, "Id of the project of the job."),
        Option("name", str, "Name of the job."),
    ),
    build=_explanation_request,
    help_panel="Explanation",
)
