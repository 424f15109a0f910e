"""The sensitive columns of a training: their groups, and their values for the rows that have a target."""

import pandas as pd

from touchstone.learning.experiment import Experiment
from touchstone.learning.fairness.groups import SensitiveColumn, define_groups
from touchstone.learning.target import Indices


def sensitive_columns(experiment: Experiment) -> tuple[SensitiveColumn, ...]:
    """Return the requested sensitive columns, with groups defined by the whole table."""
    table = experiment.table
    names = experiment.request.sensitive_features
    return tuple(define_groups(table.columns[name], table.frame[name]) for name in names)


def sensitive_frame(experiment: Experiment, positions: Indices | None = None) -> pd.DataFrame:
    """Return the sensitive columns of the rows with a target, or of those rows at `positions`."""
    rows = experiment.target.rows if positions is None else experiment.target.rows[positions]
    return experiment.table.frame[list(experiment.request.sensitive_features)].iloc[rows]
