"""Prepares the weights, the order of the leaves, and the arrays for a search in an index."""

from collections.abc import Mapping

import numpy as np

from touchstone.ranking.criteria import CRITERION_NAMES
from touchstone.ranking.index.catalog_index import CatalogIndex
from touchstone.ranking.index.index_columns import IndexColumns
from touchstone.ranking.kernels import top_kernels
from touchstone.ranking.kernels.bits import BITS_PER_WORD
from touchstone.ranking.kernels.inputs import KernelWeights
from touchstone.ranking.kernels.top_kernels import LeafQueue
from touchstone.ranking.weighted_mean import active_weights


def kernel_weights(weights: Mapping[str, float]) -> KernelWeights:
    """Convert weights to the form that kernels use."""
    terms, total = active_weights(weights)
    term_weights = np.array([weight for _, weight in terms])
    criteria = np.array([CRITERION_NAMES.index(name) for name, _ in terms], np.int64)
    float32_shares = (term_weights / total).astype(np.float32)
    return KernelWeights(criteria, term_weights, total, float32_shares)


def queue_leaves(index: CatalogIndex, weights: KernelWeights) -> LeafQueue:
    """Return all leaves of an index in approximately descending order of their bounds.

    The bound of a leaf is a score that none of its records exceeds.
    """
    queue = allocate_leaf_queue(index.columns)
    top_kernels.fill_leaf_bounds(index.kernel_columns, weights, queue.leaf_bounds)
    next_indices = np.zeros(top_kernels.BUCKETS + 1, np.int64)
    top_kernels.queue_leaves(queue.leaf_bounds, next_indices, queue.leaves)
    return queue


def allocate_leaf_queue(columns: IndexColumns) -> LeafQueue:
    """Allocate the arrays of a queue for the leaves of an index, because compiled kernels cannot allocate memory."""
    leaf_count, leaf_size = columns.leaf_count, columns.leaf_size
    return LeafQueue(
        leaves=np.empty(leaf_count, np.int64),
        leaf_bounds=np.empty(leaf_count),
        leaf_mask=np.empty(columns.leaf_words, np.uint64),
        block_bounds=np.empty(columns.leaf_words, np.float32),
        score_estimates=np.empty(BITS_PER_WORD, np.float32),
        candidates=np.empty(leaf_size + 1, np.int64),
        candidate_scores=np.empty(leaf_size),
    )
