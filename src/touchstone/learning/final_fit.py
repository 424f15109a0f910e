"""The fit of the chosen model on the training rows of an outer fold.

Trials on a long table are compared on a sample. A boosting model needs fewer rounds for the sample than for all rows,
so the number of rounds is determined again when it is fitted on all rows. The validation rows of the comparison are
held out to find the best number.
"""

from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np
from threadpoolctl import threadpool_limits

from touchstone.learning.algorithms import MODEL_FAMILIES
from touchstone.learning.ensembles import Ensemble, fit_ensemble
from touchstone.learning.experiment import Experiment
from touchstone.learning.fitting_pool import FittingPool
from touchstone.learning.splits.folds import Fold
from touchstone.learning.target import Indices
from touchstone.learning.trial_fitting import EncodedFold, encode_fold, fit_with_early_stopping

MAX_HELD_OUT_SHARE: Final = 0.2  # the share of the training rows that may be held out to determine the rounds


@dataclass(frozen=True, slots=True)
class FittedModel:
    """A model fitted on the encoded rows of a fold, and the ensemble with its settings."""

    ensemble: Ensemble
    model: Any = field(repr=False)
    encoded: EncodedFold = field(repr=False)


def fit_chosen_model(
    experiment: Experiment, ensemble: Ensemble, fold: Fold, compared_rows: Indices, pool: FittingPool
) -> FittedModel:
    """Fit the chosen ensemble on the training rows of a fold, and encode the test rows of the fold for it.

    Args:
        experiment: the training.
        ensemble: the chosen ensemble.
        fold: the outer fold.
        compared_rows: the validation rows of the comparison of trials, which a single boosting model may hold out for
            early stopping.
        pool: the threads for the fit.
    """
    has_enough_rows = len(compared_rows) <= MAX_HELD_OUT_SHARE * len(fold.train)
    if has_enough_rows and _benefits_from_more_rounds(experiment, ensemble):
        return _fit_with_early_stopping(experiment, ensemble, fold, compared_rows, pool)

    encoded_fold = encode_fold(experiment.data, fold)
    model = fit_ensemble(experiment.data, ensemble, encoded_fold, pool)
    return FittedModel(ensemble, model, encoded_fold)


def _benefits_from_more_rounds(experiment: Experiment, ensemble: Ensemble) -> bool:
    """Return whether an ensemble is a single boosting model for a table with many rows."""
    family = MODEL_FAMILIES.get(ensemble.algorithm)
    return experiment.data.options.has_many_rows and family is not None and family.keeps_best_rounds


def _fit_with_early_stopping(
    experiment: Experiment, ensemble: Ensemble, fold: Fold, compared_rows: Indices, pool: FittingPool
) -> FittedModel:
    """Fit a single boosting model until its predictions for the held-out `compared_rows` stop improving.

    All threads work on this one fit.
    """
    learned_rows = _exclude_held_out(experiment, fold.train, compared_rows)
    other_rows = np.concatenate([compared_rows, fold.test])
    with pool.shared_with_joblib():
        encoded_fold = encode_fold(experiment.data, Fold(learned_rows, other_rows))

    # The held-out rows and the test rows were encoded together, so separate them by their positions.
    held_out_count = len(compared_rows)
    validation_fold = _slice_test_rows(encoded_fold, slice(held_out_count))
    test_fold = _slice_test_rows(encoded_fold, slice(held_out_count, None))

    member = ensemble.members[0]
    with threadpool_limits(pool.thread_count, user_api="openmp"):
        model, trial = fit_with_early_stopping(experiment.data, member.trial, validation_fold)

    fitted_member = replace(member, trial=trial)
    return FittedModel(Ensemble((fitted_member,)), model, test_fold)


def _exclude_held_out(experiment: Experiment, rows: Indices, held_out: Indices) -> Indices:
    """Return the rows that are not held out and do not share a unit with a held-out row."""
    units = experiment.rule.units
    is_held_out = np.isin(rows, held_out) if units is None else np.isin(units[rows], units[held_out])
    return rows[~is_held_out]


def _slice_test_rows(encoded: EncodedFold, test_slice: slice) -> EncodedFold:
    """Return an encoded fold with a slice of its test rows."""
    fold = Fold(encoded.fold.train, encoded.fold.test[test_slice])
    return EncodedFold(encoded.preparation, encoded.train, encoded.test[test_slice], fold)
