"""The model and the rows that an explanation uses: background rows, test rows and the rows to explain.

Training and test rows are separated exactly as in the training, so importance is measured on rows that the model has
not seen. After cross-validation, the stored model has been fitted on all rows. Importance is then measured on the test
rows of the first fold, with a copy of the model that is fitted on the training rows of this fold.
"""

from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np
import pandas as pd

from touchstone.learning.artifacts.model_artifact import LoadedModel
from touchstone.learning.explaining.explained_model import ExplainedModel, build_explained_model
from touchstone.learning.explaining.held_out_copy import fit_held_out_copy
from touchstone.learning.explaining.permutation_importance import MAX_ROWS
from touchstone.learning.explaining.weighted_truth import WeightedTruth
from touchstone.learning.learning_errors import LearningError
from touchstone.learning.request_checks_against_data import check_explanation_request
from touchstone.learning.request_definitions import ExplanationRequest
from touchstone.learning.row_values import build_frame
from touchstone.learning.sample_weights import read_sample_weights
from touchstone.learning.splits.duplicate_rows import find_equal_rows
from touchstone.learning.splits.folds import Fold, outer_folds
from touchstone.learning.splits.near_copies import find_repeated_rows
from touchstone.learning.splits.split_rule import build_split_rule
from touchstone.learning.table_reader import Table
from touchstone.learning.target import Floats, Indices, Target, find_class, read_target
from touchstone.learning.trial_fitting import select_features

DEFAULT_ROWS: Final = 3  # the number of rows to explain if the request names none


@dataclass(frozen=True, slots=True)
class ExplanationContext:
    """A request to explain a model, with the model, its background rows and its test rows."""

    request: ExplanationRequest
    table: Table = field(repr=False)
    explained: ExplainedModel = field(repr=False)
    background: pd.DataFrame = field(repr=False)
    test_frame: pd.DataFrame = field(repr=False)
    test_truth: WeightedTruth = field(repr=False)
    test_positions: Indices = field(repr=False)  # the positions of the test rows in the file
    learning_frame: pd.DataFrame = field(repr=False)  # the training rows of a model that is measured
    learning_truth: WeightedTruth = field(repr=False)

    @property
    def model(self) -> LoadedModel:
        """The model and the record of its training."""
        return self.explained.model

    @property
    def names(self) -> list[str]:
        """The names of the source columns."""
        return [column.name for column in self.explained.columns]

    @property
    def immutable_columns(self) -> list[str]:
        """The features that counterfactuals must not change.

        The request may name such features. Columns that determine the group of a group threshold are always included,
        because nobody can be advised to join another group.
        """
        thresholds = self.model.group_thresholds
        group_columns = [] if thresholds is None else [column.name for column in thresholds.columns]
        return [name for name in self.names if name in self.request.immutable or name in group_columns]

    @property
    def is_measured_by_copy(self) -> bool:
        """Whether importance is measured with a copy of the model, because the model has seen the test rows."""
        return self.model.has_learned_from_all_rows

    def model_to_measure(self) -> ExplainedModel:
        """Return the stored model, or a newly fitted copy if the stored one has seen the test rows.

        The copy is fitted again by each call.
        """
        if not self.is_measured_by_copy:
            return self.explained

        rng = np.random.default_rng(self.request.seed)
        pipeline = fit_held_out_copy(
            self.model.pipeline, self.learning_frame, self.learning_truth, rng, is_balanced=self.model.is_balanced
        )
        copy = replace(self.model, pipeline=pipeline)
        class_code = self.explained.class_code
        target_class = None if class_code is None else self.model.classes[class_code]
        return build_explained_model(copy, self.background, target_class, self.request.output)


def prepare_explanation(request: ExplanationRequest, table: Table, model: LoadedModel) -> ExplanationContext:
    """Check a request to explain a model, and select the rows that all methods use.

    Background rows represent the average case and are sampled from the training rows, by their weights. Test rows are
    rows that the model has not learned from.

    Raises:
        LearningError: the file has changed since the training (data_changed), or the request does not fit the
            table or the model.
    """
    if table.sha256 != model.data_sha256:
        raise LearningError("data_changed", field="job_id")
    features = [column.name for column in model.columns]
    check_explanation_request(request, list(table.columns), rows=len(table.frame), is_regression=not model.classes)

    # From here on, rows are counted among those that have a target, as in the training.
    target = read_target(table, model.target, model.task, model.metric, model.positive_class)
    frame = select_features(table.frame, target, features)
    fold = _fold_of_training(model, table, target)
    truth = WeightedTruth(target.values, read_sample_weights(table, target, model.sample_weight))

    rng = np.random.default_rng(request.seed)
    learned_rows = np.arange(len(target.rows)) if model.has_learned_from_all_rows else fold.train
    background_rows = sample_rows(learned_rows, request.background.size, rng, truth.take(learned_rows).weights)
    # Rows of weight 0 do not count in metrics, so a sample of such rows alone could not be measured.
    counted_test_rows = fold.test[truth.take(fold.test).counted_rows()]
    test_rows = sample_rows(counted_test_rows, MAX_ROWS, rng)

    background = frame.iloc[background_rows].reset_index(drop=True)
    target_class = request.target_class
    if target_class is not None:
        target_class = find_class(table.columns[model.target], model.classes, target_class, field="target_class")
    explained_model = build_explained_model(model, background, target_class, request.output)
    context = ExplanationContext(
        request=request,
        table=table,
        explained=explained_model,
        background=background,
        test_frame=frame.iloc[test_rows].reset_index(drop=True),
        test_truth=truth.take(test_rows),
        test_positions=target.rows[test_rows],
        learning_frame=frame.iloc[fold.train],
        learning_truth=truth.take(fold.train),
    )
    instances = request.instances
    asks_for_rows = bool(instances.rows or instances.values)
    if target_class is None and len(model.classes) > 2 and asks_for_rows:
        return _with_class_of_first_row(context)
    return context


def _with_class_of_first_row(context: ExplanationContext) -> ExplanationContext:
    """Return a context in which the explained class is the one that is predicted for the first requested row.

    The probability of another one of many classes would hardly say why the row has its prediction.
    """
    frame, _row_numbers = rows_to_explain(context)
    (encoded_row,) = context.explained.encode(frame.iloc[:1])
    class_code = int(context.explained.predict_row(encoded_row))
    return replace(context, explained=replace(context.explained, class_code=class_code))


def _fold_of_training(model: LoadedModel, table: Table, target: Target) -> Fold:
    """Return the training and test rows of the training, or of its first fold after a cross-validation."""
    # The rows are not stored with the model, but the same plan with the same seed selects them again.
    names = [column.name for column in model.columns]
    find_rows = find_repeated_rows if model.split.compares_approximately else find_equal_rows
    equal_rows = find_rows(table, target, names)
    rule = build_split_rule(model.split, table, target, equal_rows, model.seed)
    return outer_folds(rule)[0]


def sample_rows(rows: Indices, count: int, rng: np.random.Generator, weights: Floats | None = None) -> Indices:
    """Return up to `count` of the rows in random order.

    Files are often sorted by class. The random order makes even the first few rows of the sample representative.

    Args:
        rows: the rows to choose from.
        count: the maximum number of rows.
        rng: the generator used to choose them.
        weights: the weight of each row, or None for equal weights. A row is chosen with a probability proportional to
            its weight, and never if its weight is 0.
    """
    if weights is None:
        return rng.permutation(rows)[:count]
    possible_count = min(count, int(np.count_nonzero(weights)))
    return rng.choice(rows, possible_count, replace=False, p=weights / weights.sum())


def rows_to_explain(context: ExplanationContext) -> tuple[pd.DataFrame, list[int]]:
    """Return the rows to explain and their row numbers.

    A request may contain the values of the rows, which are then numbered from 0, or the row numbers in the data file.
    If it contains neither, the first `DEFAULT_ROWS` test rows are explained.

    Raises:
        LearningError: a value cannot be read.
    """
    instances = context.request.instances

    if instances.values:
        frame = build_frame(
            context.explained.columns, instances.values, context.model.other_columns, location="instances.values"
        )
        return frame, list(range(len(frame)))

    row_numbers = list(instances.rows)
    if not row_numbers:
        row_numbers = context.test_positions[:DEFAULT_ROWS].tolist()
    frame = context.table.frame[context.names].iloc[row_numbers].reset_index(drop=True)
    return frame, row_numbers
