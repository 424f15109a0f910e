"""Predictions of a trained model for the rows of a request."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

import pandas as pd
from threadpoolctl import ThreadpoolController

from touchstone.learning.artifacts.model_artifact import LoadedModel
from touchstone.learning.column_types import ColumnSchema
from touchstone.learning.fairness.group_thresholds import GroupThresholds
from touchstone.learning.fairness.unknown_group_warnings import warn_of_unknown_groups
from touchstone.learning.few_rows_prediction.encoders import FewRowsEncoder
from touchstone.learning.few_rows_prediction.models import FewRowsModel
from touchstone.learning.learning_errors import LearningError
from touchstone.learning.observed_values import warn_of_unseen_values
from touchstone.learning.request_definitions import MAX_INSTANCES, Cell
from touchstone.learning.row_values import build_frame, read_rows
from touchstone.learning.task_interface import Json
from touchstone.learning.trial_fitting import predict_matrix, suppress_numeric_warnings

Rows = Sequence[Mapping[str, Cell]]


@dataclass(frozen=True, slots=True)
class RowPredictor:
    """A trained model that is prepared for any number of predictions."""

    model: LoadedModel
    columns: tuple[ColumnSchema, ...] = field(repr=False)
    encoder: FewRowsEncoder = field(repr=False)
    estimator: FewRowsModel = field(repr=False)

    @classmethod
    def from_model(cls, model: LoadedModel) -> "RowPredictor":
        """Prepare a loaded model for predictions."""
        return cls(
            model, model.columns, FewRowsEncoder.from_preparation(model.preparation), FewRowsModel(model.estimator)
        )

    def predict(self, rows: Rows) -> Json:
        """Predict the given rows (see `predict`)."""
        if len(rows) > MAX_INSTANCES:
            raise LearningError("too_many_rows", rows=len(rows), maximum=MAX_INSTANCES)
        if not rows:
            return {"predictions": [], **_describe_classes(self.model)}

        model = self.model
        # Use one thread, because the order in which several threads add numbers would change the predictions.
        with _thread_pools().limit(limits=1), suppress_numeric_warnings():
            cells = read_rows(self.columns, rows, ignored=model.other_columns)
            matrix = self.encoder.encode(cells, row_count=len(rows))
            values, probabilities = predict_matrix(self.estimator, matrix, len(model.classes), model.decision_rule)
            warnings = warn_of_unseen_values(
                self.columns, model.observed_values, cells, row_count=len(rows), given_rows=rows
            )
            thresholds = model.group_thresholds
            if thresholds is not None:
                sensitive_frame = _sensitive_frame(model, thresholds, rows)
                values = thresholds.decide(sensitive_frame, probabilities)
                group_warnings = warn_of_unknown_groups(thresholds, sensitive_frame)
                warnings = [
                    [*value_warnings, *threshold_warnings]
                    for value_warnings, threshold_warnings in zip(warnings, group_warnings, strict=True)
                ]

        classes = model.classes
        predictions: list[Json]
        if classes:
            predictions = [
                {"prediction": classes[class_code], "probabilities": row_probabilities, "warnings": row_warnings}
                for class_code, row_probabilities, row_warnings in zip(
                    values.tolist(), probabilities.tolist(), warnings, strict=True
                )
            ]
        else:
            predictions = [
                {"prediction": number, "warnings": row_warnings}
                for number, row_warnings in zip(values.tolist(), warnings, strict=True)
            ]
        return {"predictions": predictions, **_describe_classes(model)}


def predict(model: LoadedModel, rows: Rows) -> Json:
    """Predict up to `MAX_INSTANCES` rows with a trained model.

    Args:
        model: the trained model.
        rows: the rows, each as `{column: value}`. A column that a row does not name counts as missing.

    Returns:
        `{predictions: [{prediction, probabilities?, warnings}], classes, positive_class, threshold}`. Only classifiers
        have probabilities, one per class. With two classes, the positive class is predicted if its probability reaches
        the threshold, or the threshold of the row's group. The warnings of a row name the values that make its
        prediction a guess, and the values that leave it without a group threshold.

    Raises:
        LearningError: there are too many rows, or a row does not fit the model.
    """
    return RowPredictor.from_model(model).predict(rows)


def _sensitive_frame(model: LoadedModel, thresholds: GroupThresholds, rows: Rows) -> pd.DataFrame:
    """Read the sensitive columns, which determine the threshold of each row.

    They need not be features of the model.
    """
    schemas = [column.schema for column in thresholds.columns]
    other_names = [*model.other_columns, *(column.name for column in model.columns)]
    return build_frame(schemas, rows, ignored=other_names)


@cache
def _thread_pools() -> ThreadpoolController:
    """Return the thread pools of the numeric libraries, cached because finding them takes milliseconds."""
    return ThreadpoolController()


def _describe_classes(model: LoadedModel) -> Json:
    """Return the classes, the positive class and its threshold, for interpreting the predictions.

    The threshold is None if each group of people has its own.
    """
    has_threshold = model.positive_class is not None and model.group_thresholds is None
    threshold = model.decision_rule.threshold if has_threshold else None
    return {"classes": list(model.classes), "positive_class": model.positive_class, "threshold": threshold}
