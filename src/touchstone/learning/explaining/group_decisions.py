"""Explanations of single rows for models that have a separate decision threshold for each group of people."""

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
    """Return the model with the decision threshold that applies to each explained row.

    A model with group thresholds uses the threshold of the row's group. Any other model is the same for all rows.

    Raises:
        LearningError: a value in the request cannot be read.
    """
    thresholds = context.model.group_thresholds
    if thresholds is None:
        return [context.explained] * len(row_numbers)

    sensitive_frame = _build_sensitive_frame(context, thresholds, row_numbers)
    threshold_of_row = thresholds.thresholds_of_rows(sensitive_frame).tolist()
    model_by_threshold = {
        threshold: _with_threshold(context.explained, threshold) for threshold in set(threshold_of_row)
    }
    return [model_by_threshold[threshold] for threshold in threshold_of_row]


def warn_of_groups(context: ExplanationContext, row_numbers: Sequence[int]) -> list[RowWarnings]:
    """Return a list of warnings for each explained row, which is empty unless its group has no threshold."""
    thresholds = context.model.group_thresholds
    if thresholds is None:
        return [[] for _ in row_numbers]
    return warn_of_unknown_groups(thresholds, _build_sensitive_frame(context, thresholds, row_numbers))


def _build_sensitive_frame(
    context: ExplanationContext, thresholds: GroupThresholds, row_numbers: Sequence[int]
) -> pd.DataFrame:
    """Return the sensitive columns of the explained rows. They need not be features of the model."""
    schemas = [column.schema for column in thresholds.columns]
    values = context.request.instances.values
    if values:
        return build_frame(schemas, values, [*context.names, *context.model.other_columns], location="instances.values")
    return context.table.frame[[schema.name for schema in schemas]].iloc[list(row_numbers)]


def _with_threshold(explained: ExplainedModel, threshold: float) -> ExplainedModel:
    """Return a copy of the model with another decision threshold."""
    rule = replace(explained.model.decision_rule, threshold=threshold)
    record = explained.model.record | {"decision": rule.to_record()}
    return replace(explained, model=replace(explained.model, record=record))
