"""Sums of trees as flat arrays: small to store, quick to load, walked by one compiled kernel.

scikit-learn keeps every tree as an object of its own, so that a model of 500 trees takes half a
second to store or to load. Here a model is a handful of arrays, whether its trees were boosted or
grown side by side.

Used here and nowhere else: what is inside scikit-learn's histogram gradient boosting and trees.
``tests/ensemble/test_flat_trees.py`` compares the sums with its own, bit for bit, and fails when a
version changes it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np

from .. import kernels
from .._support import Array

WORDS = 8  # of a set of categories: codes 0 to 255
LEAF = -1  # the column that a leaf looks at
KINDS = {"threshold": "f8", "start": "f8", "missing_left": "?", "categories": "u4"}  # else i4


@dataclass(frozen=True, eq=False)
class FlatTrees:
    """Trees whose leaves are added up, on columns of floats.

    Attributes
    ----------
    feature : int32 array of shape (n_nodes,)
        The column that a node looks at; -1 for a leaf.
    threshold : float64 array of shape (n_nodes,)
        Smaller or equal values go left; for a leaf, what it adds.
    left, right : int32 arrays of shape (n_nodes,)
        The nodes below. For a leaf: the sum it adds to, and the leaf that adds to another sum (-1:
        there is none).
    missing_left : bool array of shape (n_nodes,)
        Where NaN goes.
    category_set : int32 array of shape (n_nodes,)
        For a column of codes, the row of ``categories`` that goes left; else -1. Empty if there are
        no sets.
    categories : uint32 array of shape (n_sets, 8)
        Sets of codes, one bit per code.
    roots : int32 array of shape (n_trees,)
        Where each tree begins.
    start : float64 array of shape (n_outputs,)
        What the sums start from.
    """

    feature: Array
    threshold: Array
    left: Array
    right: Array
    missing_left: Array
    category_set: Array
    categories: Array
    roots: Array
    start: Array

    @classmethod
    def of_boosting(cls, boosting: Any, categorical: Sequence[bool]) -> Self:
        """Flatten a fitted ``HistGradientBoosting...``.

        Where some columns are codes from 0 on, it sorts these before the others.
        """
        is_code = np.asarray(categorical, dtype=bool)
        columns = np.concatenate([np.flatnonzero(is_code), np.flatnonzero(~is_code)])
        known, set_of = boosting._bin_mapper.make_known_categories_bitsets()
        trees = [(tree, k) for step in boosting._predictors for k, tree in enumerate(step)]
        sizes = [len(tree.nodes) for tree, _ in trees]
        roots = np.cumsum([0, *sizes])[:-1]
        nodes = np.concatenate([tree.nodes for tree, _ in trees])
        first, output = np.repeat(roots, sizes), np.repeat([k for _, k in trees], sizes)
        is_leaf = nodes["is_leaf"].astype(bool)
        missing_left = nodes["missing_go_to_left"].astype(bool)
        by_code = nodes["is_categorical"].astype(bool) & ~is_leaf
        left_codes = [
            tree.raw_left_cat_bitsets[node["bitset_idx"]]
            for tree, _ in trees
            for node in tree.nodes
            if node["is_categorical"] and not node["is_leaf"]
        ]
        categories = np.array(left_codes, dtype=np.uint32).reshape(-1, WORDS)
        category_set = np.full(len(nodes) if len(categories) else 0, -1, dtype=np.int32)
        if len(categories):
            category_set[by_code] = np.arange(len(categories))
            # an unknown code goes where missing values go
            unknown = ~known[set_of[nodes["feature_idx"][by_code]]]
            categories |= np.where(missing_left[by_code][:, None], unknown, 0).astype(np.uint32)
        return cls(
            feature=np.where(is_leaf, LEAF, columns[nodes["feature_idx"]]).astype(np.int32),
            threshold=np.where(is_leaf, nodes["value"], nodes["num_threshold"]),
            left=np.where(is_leaf, output, first + nodes["left"]).astype(np.int32),
            right=np.where(is_leaf, -1, first + nodes["right"]).astype(np.int32),
            missing_left=missing_left,
            category_set=category_set,
            categories=categories,
            roots=roots.astype(np.int32),
            start=np.ravel(boosting._baseline_prediction).astype(np.float64),
        )

    @classmethod
    def of_trees(cls, trees: Sequence[Any]) -> Self:
        """Flatten the ``tree_`` of fitted trees of scikit-learn: the sums of their predictions.

        They look at columns rounded to float32.
        """
        roots, parts = [], []
        size = 0
        for tree in trees:
            parts.append(_flat_tree(tree, size))
            roots.append(size)
            size += len(parts[-1][0])
        nodes = [np.concatenate(arrays) for arrays in zip(*parts, strict=True)]
        feature, threshold, left, right, missing_left = nodes
        return cls(
            feature=feature.astype(np.int32),
            threshold=threshold,
            left=left.astype(np.int32),
            right=right.astype(np.int32),
            missing_left=missing_left,
            category_set=np.zeros(0, dtype=np.int32),
            categories=np.zeros((0, WORDS), dtype=np.uint32),
            roots=np.array(roots, dtype=np.int32),
            start=np.zeros(trees[0].max_n_classes),
        )

    @classmethod
    def joined(cls, parts: Sequence[tuple["FlatTrees", Array, int]]) -> Self:
        """Join trees that share a table, each with its columns there and its first sum."""
        arrays: list[dict[str, Array]] = []
        first, first_set = 0, 0
        any_sets = any(len(trees.categories) for trees, _, _ in parts)
        for trees, columns, first_sum in parts:
            is_leaf = trees.feature < 0
            sets = trees.category_set if len(trees.category_set) else np.full(len(is_leaf), -1)
            arrays.append(
                {
                    "feature": np.where(is_leaf, LEAF, columns[trees.feature]),
                    "threshold": trees.threshold,
                    "left": trees.left + np.where(is_leaf, first_sum, first),
                    "right": np.where(trees.right < 0, -1, trees.right + first),
                    "missing_left": trees.missing_left,
                    "category_set": np.where(sets < 0, -1, sets + first_set)[
                        : len(is_leaf) * any_sets
                    ],
                    "categories": trees.categories,
                    "roots": trees.roots + first,
                    "start": trees.start,
                }
            )
            first, first_set = first + len(is_leaf), first_set + len(trees.categories)
        joined = {name: np.concatenate([one[name] for one in arrays]) for name in arrays[0]}
        return cls(**{name: array.astype(KINDS.get(name, "i4")) for name, array in joined.items()})

    def sums(self, X: Array) -> Array:
        """Add up the leaves of each row; shape (n_rows, n_outputs).

        A row's sums do not depend on the rows beside it.
        """
        return kernels.tree_sums(
            X,
            (self.feature, self.threshold, self.left, self.right, self.missing_left),
            (self.category_set, self.categories),
            self.roots,
            self.start,
        )

    def as_arrays(self) -> dict[str, Array]:
        """Return the arrays by name, to be stored."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Any], n_features: int) -> Self:
        """Read stored arrays; a ValueError if walking them could leave them, or never end."""
        if set(arrays) != {field.name for field in fields(cls)}:
            raise ValueError("the trees are stored in a form that this version does not read")
        trees = cls(**arrays)
        trees._check(n_features)
        return trees

    def _check(self, n_features: int) -> None:
        for name, array in self.as_arrays().items():
            dtype = np.dtype(KINDS.get(name, "i4"))
            dimensions = 2 if name == "categories" else 1
            if not (
                isinstance(array, np.ndarray) and array.dtype == dtype and array.ndim == dimensions
            ):
                raise ValueError(f"the trees' array {name!r} has another type or shape")
        n_nodes, n_sets = len(self.feature), len(self.categories)
        per_node = (self.threshold, self.left, self.right, self.missing_left)
        if not (
            all(len(array) == n_nodes for array in per_node)
            and len(self.category_set) == (n_nodes if n_sets else 0)
            and self.categories.shape[1] == WORDS
            and (self.feature < n_features).all()
            and (self.category_set < n_sets).all()
            and ((self.roots >= 0) & (self.roots < n_nodes)).all()
            and self._walks_end()
        ):
            raise ValueError("the trees' arrays do not fit together")

    def _walks_end(self) -> bool:
        """Return whether every step leads to a later node, and from a leaf to leaves alone."""
        n_nodes, n_outputs = len(self.feature), len(self.start)
        inner, leaf = np.flatnonzero(self.feature >= 0), np.flatnonzero(self.feature < 0)
        output, after = self.left[leaf], self.right[leaf]
        chained, after = leaf[after >= 0], after[after >= 0]
        return bool(
            all(
                ((below > above) & (below < n_nodes)).all()
                for above, below in (
                    (inner, self.left[inner]),
                    (inner, self.right[inner]),
                    (chained, after),
                )
            )
            and (self.feature[after] < 0).all()
            and ((output >= 0) & (output < n_outputs)).all()
        )


def _flat_tree(tree: Any, first: int) -> tuple[Array, ...]:
    """Flatten one tree of a forest, whose nodes are numbered from ``first`` on.

    A leaf that holds several classes becomes several leaves, one for each class; the further ones
    stand behind the tree.
    """
    n_nodes = tree.node_count
    is_leaf = tree.children_left < 0
    leaf, output = np.nonzero(np.where(is_leaf[:, None], tree.value[:, 0], 0.0))
    is_further = np.zeros(len(leaf), dtype=bool)
    is_further[1:] = leaf[1:] == leaf[:-1]
    n_further = int(is_further.sum())
    place, after = leaf.copy(), np.full(len(leaf), -1)
    place[is_further] = n_nodes + np.arange(n_further)
    after[:-1][is_further[1:]] = first + place[is_further]

    def extended(of_nodes: Array, of_leaf: Any) -> Array:
        return np.append(np.where(is_leaf, of_leaf, of_nodes), np.repeat(of_leaf, n_further))

    threshold = extended(tree.threshold, 0.0)
    left = extended(first + tree.children_left, 0)
    right = extended(first + tree.children_right, -1)
    threshold[place], left[place], right[place] = tree.value[leaf, 0, output], output, after
    missing_left = extended(tree.missing_go_to_left, 0).astype(bool)
    return extended(tree.feature, LEAF), threshold, left, right, missing_left
