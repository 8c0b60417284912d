"""Boosted trees as flat arrays: small to store, quick to load, walked by one compiled kernel.

scikit-learn keeps every tree as an object of its own, so that a model of 500 trees takes half a
second to store or to load. Here a model is a handful of arrays, and many models can be walked in
one pass.

Used here and nowhere else: what is inside scikit-learn's histogram gradient boosting.
``tests/ensemble/test_boosted_trees.py`` compares the sums with its own, bit for bit, and fails when
a version changes it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np

from .. import kernels
from .._support.types import Array

BITS = 32  # categories in a word
WORDS = 8  # of a set of categories: codes 0 to 255


@dataclass(frozen=True, eq=False)
class BoostedTrees:
    """Trees whose leaves are added up, on columns of floats.

    Attributes
    ----------
    feature : int32 array of shape (n_nodes,)
        The column that a node looks at; -1 for a leaf.
    threshold : float64 array of shape (n_nodes,)
        Smaller or equal values go left; for a leaf, its value.
    left, right : int32 arrays of shape (n_nodes,)
        The nodes below.
    missing_left : bool array of shape (n_nodes,)
        Where NaN goes.
    category_set : int32 array of shape (n_nodes,)
        For a column of codes, the row of ``categories`` that goes left; else -1.
    categories : uint32 array of shape (n_sets, 8)
        Sets of codes, one bit per code.
    roots, output : int32 arrays of shape (n_trees,)
        Where each tree begins, and the sum that its leaves are added to.
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
    output: Array
    start: Array

    @classmethod
    def of(cls, boosting: Any, categorical: Sequence[bool]) -> Self:
        """Flatten a fitted ``HistGradientBoosting...``.

        Where some columns are codes from 0 on, it sorts these before the others.
        """
        is_code = np.asarray(categorical, dtype=bool)
        columns = np.concatenate([np.flatnonzero(is_code), np.flatnonzero(~is_code)])
        known, set_of = boosting._bin_mapper.make_known_categories_bitsets()
        trees = [(tree, k) for step in boosting._predictors for k, tree in enumerate(step)]
        sizes = [len(tree.nodes) for tree, _ in trees]
        roots = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])[:-1]
        nodes = np.concatenate([tree.nodes for tree, _ in trees])
        first = np.repeat(roots, sizes)
        is_leaf = nodes["is_leaf"].astype(bool)
        missing_left = nodes["missing_go_to_left"].astype(bool)
        by_code = nodes["is_categorical"].astype(bool) & ~is_leaf
        category_set = np.full(len(nodes), -1, dtype=np.int32)
        category_set[by_code] = np.arange(by_code.sum())
        left_codes = [
            tree.raw_left_cat_bitsets[node["bitset_idx"]]
            for tree, _ in trees
            for node in tree.nodes
            if node["is_categorical"] and not node["is_leaf"]
        ]
        categories = np.array(left_codes, dtype=np.uint32).reshape(-1, WORDS)
        if len(categories):  # an unknown code goes where missing values go
            unknown = ~known[set_of[nodes["feature_idx"][by_code]]]
            categories |= np.where(missing_left[by_code][:, None], unknown, 0).astype(np.uint32)
        return cls(
            feature=np.where(is_leaf, -1, columns[nodes["feature_idx"]]).astype(np.int32),
            threshold=np.where(is_leaf, nodes["value"], nodes["num_threshold"]),
            left=(first + nodes["left"]).astype(np.int32),
            right=(first + nodes["right"]).astype(np.int32),
            missing_left=missing_left,
            category_set=category_set,
            categories=categories,
            roots=roots.astype(np.int32),
            output=np.array([k for _, k in trees], dtype=np.int32),
            start=np.ravel(boosting._baseline_prediction).astype(np.float64),
        )

    def sums(self, X: Array) -> Array:
        """Add up the leaves of each row; shape (n_rows, n_outputs).

        A row's sums do not depend on the rows beside it.
        """
        return kernels.tree_sums(
            X,
            (self.feature, self.threshold, self.left, self.right, self.missing_left),
            (self.category_set, self.categories),
            (self.roots, self.output),
            self.start,
        )

    def as_arrays(self) -> dict[str, Array]:
        """Return the arrays by name, to be stored."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Any], n_features: int) -> Self:
        """Read stored arrays; a ValueError if walking them could leave them, or never end."""
        trees = cls(**{field.name: arrays[field.name] for field in fields(cls)})
        trees._check(n_features)
        return trees

    def _check(self, n_features: int) -> None:
        kinds = {"threshold": "f8", "start": "f8", "missing_left": "?", "categories": "u4"}
        for name, array in self.as_arrays().items():
            dtype = np.dtype(kinds.get(name, "i4"))
            dimensions = 2 if name == "categories" else 1
            if not (
                isinstance(array, np.ndarray) and array.dtype == dtype and array.ndim == dimensions
            ):
                raise ValueError(f"the trees' array {name!r} has another type or shape")
        n_nodes = len(self.feature)
        per_node = (self.threshold, self.left, self.right, self.missing_left, self.category_set)
        inner = self.feature >= 0
        above = np.flatnonzero(inner)
        fits = (
            all(len(array) == n_nodes for array in per_node)
            and len(self.output) == len(self.roots)
            and self.categories.shape[1] == WORDS
            and (self.feature < n_features).all()
            and (self.category_set < len(self.categories)).all()
            and all(
                (below[inner] > above).all() and (below[inner] < n_nodes).all()
                for below in (self.left, self.right)
            )
            and ((self.roots >= 0) & (self.roots < n_nodes)).all()
            and ((self.output >= 0) & (self.output < len(self.start))).all()
        )
        if not fits:
            raise ValueError("the trees' arrays do not fit together")
