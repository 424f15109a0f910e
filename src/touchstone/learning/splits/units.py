"""Splits that keep units of rows together.

Units are stratified by their majority class, so that every class appears on both sides if it has enough units.
"""

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from touchstone.learning.target import Indices, Target

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Units:
    """The unit number of each row, and the number of rows and the stratum of each unit."""

    unit_of_row: Indices = field(repr=False)
    rows_per_unit: Indices = field(repr=False)
    strata: Indices = field(repr=False)

    @property
    def count(self) -> int:
        """The number of units."""
        return len(self.rows_per_unit)


def describe_units(unit_codes: Indices, target: Target, rows: Indices | None = None) -> Units:
    """Describe the units of the given rows.

    Args:
        unit_codes: a code for each row, which is the same for all rows of a unit.
        target: the target.
        rows: positions into the target's values, or None for all rows.
    """
    _codes, unit_of_row, rows_per_unit = np.unique(unit_codes, return_inverse=True, return_counts=True)
    if target.is_classification:
        classes = target.values if rows is None else target.values[rows]
        strata = _majority_classes(unit_of_row, classes, len(target.classes))
    else:
        strata = np.zeros(len(rows_per_unit), dtype=np.intp)
    return Units(unit_of_row, rows_per_unit, strata)


def hold_out_units(units: Units, share: float, seed: int) -> Mask:
    """Return a mask of the rows of random units, with about the given share of the rows of each stratum."""
    rng = np.random.default_rng(seed)
    is_held_out = np.zeros(units.count, dtype=np.bool_)
    for stratum in np.unique(units.strata):
        candidates = rng.permutation(np.flatnonzero(units.strata == stratum))
        is_held_out[_units_to_hold_out(units, candidates, share)] = True

    # If every stratum has a single unit, the smallest unit is held out.
    if not is_held_out.any():
        is_held_out[np.argmin(units.rows_per_unit)] = True
    is_held_out_row: Mask = is_held_out[units.unit_of_row]
    return is_held_out_row


def assign_units_to_folds(units: Units, count: int, seed: int) -> Indices:
    """Return the fold number of each row, with similar numbers of rows per stratum in all folds.

    There must be at least as many units as folds, so that no fold is empty. Within each stratum, the units are dealt
    from the largest to the smallest, to the folds in ascending and then in descending order.
    """
    fold_of_unit: Indices = np.empty(units.count, dtype=np.intp)
    random_order = np.random.default_rng(seed).permutation(units.count)
    dealing_order = np.lexsort((random_order, -units.rows_per_unit, units.strata))

    fold_sequence = np.concatenate([np.arange(count), np.arange(count)[::-1]])
    fold_of_unit[dealing_order] = fold_sequence[np.arange(units.count) % len(fold_sequence)]
    fold_of_row: Indices = fold_of_unit[units.unit_of_row]
    return fold_of_row


def _units_to_hold_out(units: Units, candidates: Indices, share: float) -> Indices:
    """Return the units of one stratum to hold out, at least one unless the stratum has a single unit.

    `candidates` holds all units of the stratum in random order. Units larger than the requested share are used for
    training.
    """
    sizes = units.rows_per_unit[candidates]
    rows_to_hold_out = share * sizes.sum()
    fits = sizes <= rows_to_hold_out
    if not fits.any():
        smallest = candidates[[np.argmin(sizes)]]
        return smallest if len(candidates) > 1 else candidates[:0]

    # Hold out a unit if more than half of it is needed to reach the number of rows to hold out.
    fitting_sizes = sizes[fits]
    middles = np.cumsum(fitting_sizes) - fitting_sizes / 2
    units_to_hold_out: Indices = candidates[fits][middles <= rows_to_hold_out]
    return units_to_hold_out


def _majority_classes(unit_of_row: Indices, classes: npt.NDArray[np.intp], class_count: int) -> Indices:
    """Return the most frequent class of each unit, or the last one if several are equally frequent."""
    pairs, rows_per_pair = np.unique(unit_of_row * class_count + classes, return_counts=True)
    unit_of_pair = pairs // class_count
    by_unit_and_rows = np.lexsort((rows_per_pair, unit_of_pair))

    sorted_units = unit_of_pair[by_unit_and_rows]
    is_last_of_unit = np.append(np.diff(sorted_units) > 0, True)
    majority_classes: Indices = pairs[by_unit_and_rows][is_last_of_unit] % class_count
    return majority_classes
