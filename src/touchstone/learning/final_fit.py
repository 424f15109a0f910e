"""The fit of the chosen model on the training rows of an outer fold.

Trials are compared on a sample of a long table, of which a boosting model learns all that it can in few rounds. All
rows together teach more, so the rounds are counted again when the model is fitted on them, with the rows of the
comparison held out to see when it is complete.
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
from touchstone.learning.trial_fitting import EncodedFold, encode_fold, fit_until_no_better

MAX_HELD_OUT_SHARE: Final = 0.2  # Of the training rows; with fewer others the rounds of the comparison are kept.


@dataclass(frozen=True, slots=True)
class FittedModel:
    """A model that was fitted on the encoded rows of a fold, and the ensemble whose settings make it."""

    ensemble: Ensemble
    model: Any = field(repr=False)
    encoded: EncodedFold = field(repr=False)


def fit_chosen_model(
    experiment: Experiment, ensemble: Ensemble, fold: Fold, compared_rows: Indices, pool: FittingPool
) -> FittedModel:
    """Fit the chosen ensemble on the training rows of a fold, and encode the test rows of the fold for it.

    A single boosting model may keep `compared_rows` apart, on which the trials were compared, to see when it has
    learned enough.
    """
    has_enough_rows = len(compared_rows) <= MAX_HELD_OUT_SHARE * len(fold.train)
    if has_enough_rows and _can_learn_longer(experiment, ensemble):
        return _fit_while_better(experiment, ensemble, fold, compared_rows, pool)

    encoded = encode_fold(experiment.data, fold)
    return FittedModel(ensemble, fit_ensemble(experiment.data, ensemble, encoded, pool), encoded)


def _can_learn_longer(experiment: Experiment, ensemble: Ensemble) -> bool:
    """Return whether an ensemble is a single boosting model of a table with many rows."""
    family = MODEL_FAMILIES.get(ensemble.algorithm)
    return experiment.data.options.has_many_rows and family is not None and family.keeps_best_rounds


def _fit_while_better(
    experiment: Experiment, ensemble: Ensemble, fold: Fold, compared_rows: Indices, pool: FittingPool
) -> FittedModel:
    """Fit a single boosting model round by round, until it predicts the rows of the comparison no better.

    It does not learn from these rows. All threads work on the one fit.
    """
    learned_rows = _rows_apart_from(experiment, fold.train, compared_rows)
    other_rows = np.concatenate([compared_rows, fold.test])
    with pool.shared_with_joblib():
        encoded = encode_fold(experiment.data, Fold(learned_rows, other_rows))

    # Both kinds of rows are encoded at once, and told apart again by their positions.
    compared_count = len(compared_rows)
    compared_part = _test_on(encoded, slice(compared_count))
    tested_part = _test_on(encoded, slice(compared_count, None))

    member = ensemble.members[0]
    with threadpool_limits(pool.thread_count, user_api="openmp"):
        model, trial = fit_until_no_better(experiment.data, member.trial, compared_part)

    fitted_member = replace(member, trial=trial)
    return FittedModel(Ensemble((fitted_member,)), model, tested_part)


def _rows_apart_from(experiment: Experiment, rows: Indices, held_out: Indices) -> Indices:
    """Return the rows that are not held out, and that do not share a unit with rows that are."""
    units = experiment.rule.units
    is_held_out = np.isin(rows, held_out) if units is None else np.isin(units[rows], units[held_out])
    return rows[~is_held_out]


def _test_on(encoded: EncodedFold, part: slice) -> EncodedFold:
    """Return an encoded fold with only a part of its test rows."""
    fold = Fold(encoded.fold.train, encoded.fold.test[part])
    return EncodedFold(encoded.preparation, encoded.train, encoded.test[part], fold)
