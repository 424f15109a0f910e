"""Growing arrays hold the values that were appended, and the views that readers hold never change."""

import numpy as np
from hypothesis import given, strategies

from touchstone.ranking.columns.growing_array import GrowingArray

_sizes = strategies.lists(strategies.sampled_from([0, 1, 1, 2, 5, 50]), max_size=60)


@given(sizes=_sizes, leading_shape=strategies.sampled_from([(), (3,)]))
def test_values_stay_as_they_were_appended(sizes: list[int], leading_shape: tuple[int, ...]) -> None:
    """The array holds all values in their order, however many are appended at a time, and so do earlier views."""
    rng = np.random.default_rng(len(sizes))
    array = GrowingArray(np.int64, leading_shape)
    expected = np.empty((*leading_shape, 0), np.int64)
    snapshots = []

    for size in sizes:
        values = rng.integers(0, 1000, (*leading_shape, size))
        array.extend(values)
        expected = np.concatenate([expected, values], axis=-1)
        snapshots.append((array.view(), expected))

    for view, expected_values in snapshots:
        np.testing.assert_array_equal(view, expected_values)
