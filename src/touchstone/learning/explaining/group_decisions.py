"""The decisions of a model that has a threshold for each group of people, where single rows are explained."""

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd

from touchstone.learning.explaining.explained_model import ExplainedModel
from touchstone.learning.explaining.explanation_context import ExplanationContext
from touchstone.learning.fairness.group_thresholds import GroupThresholds
from touchstone.learning.fairness.unknown_group_warnings import warn_of_unknown_groups
from touchstone.learning.observed_values import RowWarnings
from touchstone.learning.row_values import build_frame


def models_of_rows(context: ExplanationContext, row_numbers: Sequence[int]) -> list[ExplainedModel]:
    """Return the model that decides about each explained row.

    A model with thresholds by group decides with the threshold of the row's group; any other model decides alike for
    all rows. Raises `LearningError` if a value that a request gives cannot be read.
    """
    thresholds = context.model.group_thresholds
    if thresholds is None:
        return [context.explained] * len(row_numbers)

    sensitive_frame = _sensitive_frame(context, thresholds, row_numbers)
    threshold_of_row = thresholds.thresholds_of_rows(sensitive_frame).tolist()
    model_by_threshold = {threshold: _decide_from(context.explained, threshold) for threshold in set(threshold_of_row)}
    return [model_by_threshold[threshold] for threshold in threshold_of_row]


def warn_of_groups(context: ExplanationContext, row_numbers: Sequence[int]) -> list[RowWarnings]:
    """Return the warnings about each explained row whose group has no threshold; none for a model without them."""
    thresholds = context.model.group_thresholds
    if thresholds is None:
        return [[] for _ in row_numbers]
    return warn_of_unknown_groups(thresholds, _sensitive_frame(context, thresholds, row_numbers))


def _sensitive_frame(
    context: ExplanationContext, thresholds: GroupThresholds, row_numbers: Sequence[int]
) -> pd.DataFrame:
    """Return the sensitive columns of the explained rows, which the model need not learn from."""
    schemas = [column.schema for column in thresholds.columns]
    values = context.request.instances.values
    if values:
        return build_frame(schemas, values, [*context.names, *context.model.other_columns], location="instances.values")
    return context.table.frame[[schema.name for schema in schemas]].iloc[list(row_numbers)]


def _decide_from(explained: ExplainedModel, threshold: float) -> ExplainedModel:
    """Return the same model with another threshold."""
    rule = replace(explained.model.decision_rule, threshold=threshold)
    record = explained.model.record | {"decision": rule.to_record()}
    return replace(explained, model=replace(explained.model, record=record))
