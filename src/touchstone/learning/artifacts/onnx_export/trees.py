"""Decision trees as arrays, and the ONNX operator that adds up their outputs."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from touchstone.learning.artifacts.onnx_export.graph import ML_DOMAIN, Graph
from touchstone.learning.artifacts.onnx_export.unsupported import NotInOnnx
from touchstone.learning.target import Floats
from touchstone.learning.task_interface import Json

MAX_NODES: Final = 1_000_000  # A larger file, of over 50 MB, would take seconds to write and to load.
LEAF: Final = -1

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Tree:
    """A decision tree as arrays with one entry per node.

    A row continues to the left child of a node if its feature is at most the threshold.

    Attributes:
        features: the encoded column that each node compares.
        thresholds: the threshold of each node.
        left: the left child of each node, or `LEAF`.
        right: the right child of each node.
        outputs: the contribution of each leaf to each output, of shape (nodes, outputs).
    """

    features: Integers
    thresholds: Floats
    left: Integers
    right: Integers
    outputs: Floats

    @property
    def is_leaf(self) -> npt.NDArray[np.bool_]:
        """A mask of the nodes that are leaves."""
        is_leaf: npt.NDArray[np.bool_] = self.left == LEAF
        return is_leaf


def sum_trees(graph: Graph, matrix: str, trees: Sequence[Tree], base: Floats) -> str:
    """Add an operator for the sum of `base` and the outputs of all trees, and return the name of its float64 output."""
    node_count = sum(len(tree.features) for tree in trees)
    if node_count > MAX_NODES:
        raise NotInOnnx("too_many_nodes", nodes=node_count, maximum=MAX_NODES)

    sums = graph.apply(
        "TreeEnsembleRegressor",
        matrix,
        domain=ML_DOMAIN,
        n_targets=len(base),
        aggregate_function="SUM",
        post_transform="NONE",
        base_values_as_tensor=base.astype(np.float64),
        **_node_attributes(trees),
        **_leaf_attributes(trees),
    )
    return graph.cast(sums, np.float64)


def _node_attributes(trees: Sequence[Tree]) -> Json:
    """Return the nodes of all trees as attributes of the ONNX operator `TreeEnsembleRegressor`.

    The operator ignores the feature, the threshold and the children of a leaf, which are set to 0.
    """
    is_leaf = np.concatenate([tree.is_leaf for tree in trees])
    features = np.concatenate([tree.features for tree in trees])
    thresholds = np.concatenate([tree.thresholds for tree in trees])
    left = np.concatenate([tree.left for tree in trees])
    right = np.concatenate([tree.right for tree in trees])
    return {
        "nodes_treeids": _tree_numbers(trees).tolist(),
        "nodes_nodeids": _node_numbers(trees).tolist(),
        "nodes_featureids": np.where(is_leaf, 0, features).tolist(),
        "nodes_values_as_tensor": np.where(is_leaf, 0.0, thresholds),
        "nodes_modes": np.where(is_leaf, "LEAF", "BRANCH_LEQ").tolist(),
        "nodes_truenodeids": np.where(is_leaf, 0, left).tolist(),
        "nodes_falsenodeids": np.where(is_leaf, 0, right).tolist(),
    }


def _leaf_attributes(trees: Sequence[Tree]) -> Json:
    """Return the contributions of all leaves as attributes of the operator, without zeros."""
    tree_numbers = _tree_numbers(trees)
    node_numbers = _node_numbers(trees)
    outputs = np.concatenate([np.where(tree.is_leaf[:, None], tree.outputs, 0.0) for tree in trees])

    contributing_nodes, output_numbers = np.nonzero(outputs)
    return {
        "target_treeids": tree_numbers[contributing_nodes].tolist(),
        "target_nodeids": node_numbers[contributing_nodes].tolist(),
        "target_ids": output_numbers.tolist(),
        "target_weights_as_tensor": outputs[contributing_nodes, output_numbers],
    }


def _tree_numbers(trees: Sequence[Tree]) -> Integers:
    """Return the tree number of each node."""
    return np.repeat(np.arange(len(trees)), [len(tree.features) for tree in trees])


def _node_numbers(trees: Sequence[Tree]) -> Integers:
    """Return the number of each node within its tree."""
    return np.concatenate([np.arange(len(tree.features)) for tree in trees])


def convert_scikit_learn_tree(tree: Any, share: float) -> Tree:
    """Convert a tree of a scikit-learn forest, weighted by its share in the average."""
    nodes = tree.tree_
    return Tree(
        features=nodes.feature.astype(np.int64),
        thresholds=nodes.threshold,
        left=np.asarray(nodes.children_left, dtype=np.int64),
        right=np.asarray(nodes.children_right, dtype=np.int64),
        outputs=nodes.value[:, 0, :] * share,
    )


def convert_histogram_boosting_tree(predictor: Any, output: int, output_count: int) -> Tree:
    """Convert a tree of histogram boosting, which contributes to a single output."""
    nodes = predictor.nodes
    is_leaf = nodes["is_leaf"].astype(bool)
    outputs = np.zeros((len(nodes), output_count))
    outputs[:, output] = nodes["value"]
    return Tree(
        features=nodes["feature_idx"].astype(np.int64),
        thresholds=nodes["num_threshold"].astype(np.float64),
        left=np.where(is_leaf, LEAF, nodes["left"].astype(np.int64)),
        right=np.where(is_leaf, LEAF, nodes["right"].astype(np.int64)),
        outputs=outputs,
    )


def convert_lightgbm_tree(root: Json, output: int, output_count: int) -> Tree:
    """Convert the JSON description of a LightGBM tree, which contributes to a single output.

    A node of the description only has the members that concern it. The others are 0 in the arrays, where they are
    ignored: the value of a node that splits, and the feature and the threshold of a leaf.
    """
    nodes = list(_iterate_nodes(root))
    outputs = np.zeros((len(nodes), output_count))
    outputs[:, output] = [node.get("leaf_value", 0.0) for node in nodes]
    return Tree(
        features=np.array([node.get("split_feature", 0) for node in nodes], dtype=np.int64),
        thresholds=np.array([node.get("threshold", 0.0) for node in nodes], dtype=np.float64),
        left=_child_numbers(nodes, "left_child"),
        right=_child_numbers(nodes, "right_child"),
        outputs=outputs,
    )


def _child_numbers(nodes: Sequence[Json], side: str) -> Integers:
    """Return the position in `nodes` of each LightGBM node's child on one side, or `LEAF` if it has no children."""
    # Nodes are dictionaries, which cannot be keys themselves.
    number_by_identity = {id(node): number for number, node in enumerate(nodes)}
    numbers = [number_by_identity[id(node[side])] if _is_split(node) else LEAF for node in nodes]
    return np.array(numbers, dtype=np.int64)


def _iterate_nodes(root: Json) -> Iterator[Json]:
    """Yield the nodes of a LightGBM tree, beginning with the root. A tree may be too deep for recursion."""
    pending = [root]
    while pending:
        node = pending.pop()
        yield node
        if _is_split(node):
            pending += [node["right_child"], node["left_child"]]


def _is_split(node: Json) -> bool:
    """Return whether a LightGBM node splits the rows, and is not a leaf."""
    return "split_feature" in node
