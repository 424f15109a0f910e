"""Rows that nearly repeat others: copies whose numbers were changed a little, by noise or by rounding.

A copy is much closer to its original than to any other row. From one neighbour of a row to the next, the distance
usually grows step by step; after the last copy it jumps. Only columns of measurements, in which most numbers are
different, can show that: where columns have few values, many rows are close to each other anyway.
"""

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components
from scipy.spatial import KDTree
from sklearn.neighbors import NearestNeighbors

from touchstone.learning.column_types import ColumnKind
from touchstone.learning.splits.duplicate_rows import EqualRows, find_equal_rows
from touchstone.learning.splits.likeness import likeness_of_target
from touchstone.learning.table_reader import Table
from touchstone.learning.target import Floats, Indices, Target

MIN_ROWS: Final = 50
MAX_ROWS: Final = 50_000  # More rows take too long; copies are rarely that many.
MAX_ROWS_FOR_CHOICES: Final = 5_000
MIN_MEASUREMENTS: Final = 3  # Two columns alone bring many rows close to each other.
MAX_MEASUREMENTS: Final = 20
MIN_DISTINCT_SHARE: Final = 0.5
MAX_EXAMINED_ROWS: Final = 400
NEIGHBOURS: Final = 12
JUMP: Final = 5.0  # The next neighbour is at least this many times as far away as the last copy.
FREQUENT_SHARE: Final = 0.5  # By chance, a jump occurs at about one row of a hundred, or of four if all columns agree.
MAX_NEIGHBOURS: Final = 100  # On average, within the distance of copies.
MAX_SHARE_OF_UNIT: Final = 0.1
SMALLEST_DISTANCE: Final = 1e-12
MIN_LIKENESS: Final = 0.8  # Copies have about the same target, too.


def find_repeated_rows(table: Table, target: Target, names: Sequence[str]) -> EqualRows:
    """Find out which of the rows that have a target repeat each other in the columns that are learned from.

    These are equal rows, or else rows that nearly repeat each other, if there are many of them.
    """
    equal_rows = find_equal_rows(table, target, names)
    if equal_rows.are_frequent:
        return equal_rows
    near_copies = find_near_copies(table, target, names)
    return equal_rows if near_copies is None else near_copies


def find_near_copies(table: Table, target: Target, names: Sequence[str]) -> EqualRows | None:
    """Find out which of the rows that have a target nearly repeat each other in the columns that are learned from.

    Returns None unless a large share of the rows do, and are also alike in the target.
    """
    measurements = _read_measurements(table, target, names)
    if measurements is None:
        return None

    for columns in _choices_of_columns(measurements):
        distance = _distance_of_copies(columns)
        units = None if distance is None else _connect_rows(columns, distance)
        if units is not None and likeness_of_target(target, np.arange(len(units)), units) >= MIN_LIKENESS:
            return EqualRows(tuple(names), units, is_approximate=True)
    return None


def _choices_of_columns(measurements: Floats) -> Iterator[Floats]:
    """Yield all measurements, and those without one column, which may hold random numbers that hide copies."""
    yield measurements

    row_count, column_count = measurements.shape
    if row_count <= MAX_ROWS_FOR_CHOICES and column_count > MIN_MEASUREMENTS:
        for position in range(column_count):
            yield np.delete(measurements, position, axis=1)


def _read_measurements(table: Table, target: Target, names: Sequence[str]) -> Floats | None:
    """Return the columns of measurements in comparable units, with the median for missing numbers.

    Returns None if there are too few of them, or too few or too many rows.
    """
    row_count = len(target.rows)
    if not MIN_ROWS <= row_count <= MAX_ROWS:
        return None

    columns = [table.columns[name] for name in names]
    measured_names = [
        column.name
        for column in columns
        if column.kind is ColumnKind.NUMBER and column.distinct >= MIN_DISTINCT_SHARE * len(table.frame)
    ][:MAX_MEASUREMENTS]
    if len(measured_names) < MIN_MEASUREMENTS:
        return None

    numbers = table.frame[measured_names].iloc[target.rows].to_numpy(dtype=np.float64)
    lower, median, upper = np.nanpercentile(numbers, [25, 50, 75], axis=0)
    spread = np.where(upper > lower, upper - lower, 1.0)
    measurements: Floats = np.where(np.isnan(numbers), 0.0, (numbers - median) / spread)
    return measurements


def _distance_of_copies(measurements: Floats) -> float | None:
    """Return the distance below which two rows count as copies of each other; None if few rows have near copies.

    The neighbours of a row that has copies are first very near, and then suddenly much farther away. The distance lies
    in the middle of this jump.
    """
    different_rows = np.unique(measurements, axis=0)
    if len(different_rows) <= NEIGHBOURS:
        return None

    shuffled_positions = np.random.default_rng(0).permutation(len(different_rows))
    examined_rows = different_rows[shuffled_positions[:MAX_EXAMINED_ROWS]]
    distances = _neighbour_distances(different_rows, examined_rows)

    # Compare each neighbour with the next one. The first neighbour is the row itself.
    nearer = distances[:, 1:-1]
    farther = distances[:, 2:]
    growth = farther / np.maximum(nearer, SMALLEST_DISTANCE)

    has_jump = growth.max(axis=1) >= JUMP
    if has_jump.mean() < FREQUENT_SHARE:
        return None

    largest_jump = growth.argmax(axis=1)[:, None]
    last_copy = np.take_along_axis(nearer, largest_jump, axis=1)[has_jump]
    next_row = np.take_along_axis(farther, largest_jump, axis=1)[has_jump]
    return float(np.median(np.sqrt(last_copy * next_row)))


def _neighbour_distances(rows: Floats, examined_rows: Floats) -> Floats:
    """Return the distances from each examined row to the rows that are nearest to it, the row itself first.

    For so few rows, comparing each with all others is faster than a tree with more than a few columns. This search
    rounds too much for the distances of copies, so it only selects the neighbours, and distances are computed again.
    """
    search = NearestNeighbors(n_neighbors=NEIGHBOURS + 1, algorithm="brute").fit(rows)
    neighbours = search.kneighbors(examined_rows, return_distance=False)
    distances: Floats = np.sort(np.linalg.norm(rows[neighbours] - examined_rows[:, None], axis=2), axis=1)
    return distances


def _connect_rows(measurements: Floats, distance: float) -> Indices | None:
    """Number the rows so that those within a distance of each other, directly or by others, have the same number.

    Returns None if so many rows are connected that they cannot be copies.
    """
    different_rows, number_of_row = np.unique(measurements, axis=0, return_inverse=True)
    count = len(different_rows)
    tree = KDTree(different_rows)
    if tree.count_neighbors(tree, distance) > MAX_NEIGHBOURS * count:
        return None

    first, second = tree.query_pairs(distance, output_type="ndarray").T
    edges = coo_matrix((np.ones(len(first)), (first, second)), shape=(count, count))
    _count, components = connected_components(edges, directed=False)
    units: Indices = components[number_of_row.ravel()].astype(np.intp)
    is_mostly_one_unit = np.bincount(units).max() > MAX_SHARE_OF_UNIT * len(units)
    return None if is_mostly_one_unit else units
