"""Near copies: rows that repeat others with small changes, such as noise or rounding.

A copy is much closer to its original than to any other row. If the neighbours of a row are sorted by distance, the
distance usually grows in small steps, but it jumps after the last copy. Only measurements, which rarely repeat, are
compared. In columns with few distinct values, many rows are close to each other anyway.
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
from touchstone.learning.splits.likeness import target_similarity
from touchstone.learning.table_reader import Table
from touchstone.learning.target import Floats, Indices, Target

MIN_ROWS: Final = 50
MAX_ROWS: Final = 50_000  # A search among more rows takes too long.
MAX_ROWS_FOR_SELECTIONS: Final = 5_000
MIN_MEASUREMENTS: Final = 3  # With two columns, many rows are close to each other by chance.
MAX_MEASUREMENTS: Final = 20
MIN_DISTINCT_SHARE: Final = 0.1  # With ten rounded copies of each row, only a tenth is distinct.
MAX_EXAMINED_ROWS: Final = 400
NEIGHBOURS: Final = 12
JUMP: Final = 5.0  # the least ratio of the distances of the next neighbour and the last copy
# By chance, about 1 % of the rows have a jump, or 25 % if all columns are strongly correlated.
FREQUENT_SHARE: Final = 0.5
MAX_NEIGHBOURS: Final = 100  # the mean number of rows within the copy distance
MAX_SHARE_OF_UNIT: Final = 0.1
SMALLEST_DISTANCE: Final = 1e-12
MIN_SIMILARITY: Final = 0.8  # Copies also have about the same target.


def find_repeated_rows(table: Table, target: Target, names: Sequence[str]) -> EqualRows:
    """Find equal rows, or near copies if equal rows are rare and near copies are frequent.

    Only features are compared, and only rows that have a target.
    """
    equal_rows = find_equal_rows(table, target, names)
    if equal_rows.are_frequent:
        return equal_rows
    near_copies = find_near_copies(table, target, names)
    return equal_rows if near_copies is None else near_copies


def find_near_copies(table: Table, target: Target, names: Sequence[str]) -> EqualRows | None:
    """Find near copies among the rows that have a target, or return None if they are not frequent.

    Rows only count as near copies if their targets are similar, too.
    """
    measurements = _read_measurements(table, target, names)
    if measurements is None:
        return None

    for columns in _column_selections(measurements):
        distance = _copy_distance(columns)
        units = None if distance is None else _connect_rows(columns, distance)
        if units is not None and target_similarity(target, np.arange(len(units)), units) >= MIN_SIMILARITY:
            return EqualRows(tuple(names), units, is_approximate=True)
    return None


def _column_selections(measurements: Floats) -> Iterator[Floats]:
    """Yield all measurements, then all without one column, which may hide copies by random numbers."""
    yield measurements

    row_count, column_count = measurements.shape
    if row_count <= MAX_ROWS_FOR_SELECTIONS and column_count > MIN_MEASUREMENTS:
        for position in range(column_count):
            yield np.delete(measurements, position, axis=1)


def _read_measurements(table: Table, target: Target, names: Sequence[str]) -> Floats | None:
    """Return the columns of measurements, scaled by their quartiles, with missing numbers at the median.

    Returns None if there are too few measurements, or if the number of rows is too small or too large.
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


def _copy_distance(measurements: Floats) -> float | None:
    """Return the distance below which two rows count as copies, or None if few rows have near copies.

    The distance lies in the middle of the jump between the last copy of a row and its next neighbour.
    """
    distinct_rows = np.unique(measurements, axis=0)
    if len(distinct_rows) <= NEIGHBOURS:
        return None

    shuffled_positions = np.random.default_rng(0).permutation(len(distinct_rows))
    examined_rows = distinct_rows[shuffled_positions[:MAX_EXAMINED_ROWS]]
    distances = _neighbour_distances(distinct_rows, examined_rows)

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
    """Return the sorted distances of each examined row to its nearest rows, beginning with itself.

    For a few examined rows with several columns, a brute-force search is faster than a tree. It rounds too much for
    the small distances of copies, so the distances of the neighbours found are computed again.
    """
    search = NearestNeighbors(n_neighbors=NEIGHBOURS + 1, algorithm="brute").fit(rows)
    neighbours = search.kneighbors(examined_rows, return_distance=False)
    distances: Floats = np.sort(np.linalg.norm(rows[neighbours] - examined_rows[:, None], axis=2), axis=1)
    return distances


def _connect_rows(measurements: Floats, distance: float) -> Indices | None:
    """Number the rows so that rows within the given distance, directly or through other rows, share a number.

    Returns None if too many rows are connected to be copies.
    """
    distinct_rows, number_of_row = np.unique(measurements, axis=0, return_inverse=True)
    count = len(distinct_rows)
    tree = KDTree(distinct_rows)
    if tree.count_neighbors(tree, distance) > MAX_NEIGHBOURS * count:
        return None

    first, second = tree.query_pairs(distance, output_type="ndarray").T
    edges = coo_matrix((np.ones(len(first)), (first, second)), shape=(count, count))
    _count, components = connected_components(edges, directed=False)
    units: Indices = components[number_of_row.ravel()].astype(np.intp)
    is_mostly_one_unit = np.bincount(units).max() > MAX_SHARE_OF_UNIT * len(units)
    return None if is_mostly_one_unit else units
