"""All submodels in one pass: columns are encoded once, and all trees walked by one call.

Python spends more time on each submodel than compiled code on its trees, where rows are few or
submodels many. Ballots are the same to the last bit as those of the submodels one by one: every
column is encoded on its own, by the encoding of the submodels that own it, and a submodel's trees
are added up in their order.
"""

from collections.abc import Iterator, Sequence
from weakref import WeakKeyDictionary

import numpy as np

from .._support import Array, Estimator
from ..tables import Table, table_columns
from ._flat_trees import FlatTrees
from ._protocol import FittedEnsemble
from ._submodels import FixedVote, Score
from ._table_estimators import (
    TableBlendClassifier,
    TableBlendRegressor,
    TableBoostingClassifier,
    TableBoostingRegressor,
    TableEstimator,
    TableTreesClassifier,
    TableTreesRegressor,
)

FLAT: tuple[type[TableEstimator], ...] = (
    TableBlendClassifier,
    TableBlendRegressor,
    TableBoostingClassifier,
    TableBoostingRegressor,
    TableTreesClassifier,
    TableTreesRegressor,
)
ROWS = 16384  # at once
MOST_NODES = 2**22  # of all trees, which are held once more: 110 MB


class _Summed:
    """A submodel that predicts from the sums of its trees."""

    def __init__(self, model: TableEstimator) -> None:
        self.predict = lambda sums: model._outputs(sums)[:, 0]
        if hasattr(model, "classes_"):
            self.predict_proba, self.classes_ = model._outputs, model.classes_


class OnePass:
    """Submodels of flat trees, scored together.

    Parameters
    ----------
    submodels : sequence of TableEstimator or FixedVote
        Fitted.
    columns : sequence of lists of int
        The columns of each.
    """

    def __init__(self, submodels: Sequence[Estimator], columns: Sequence[list[int]]) -> None:
        self.n_submodels = len(submodels)
        self._readers: list[tuple[int, TableEstimator, int]] = []
        self.fixed = [t for t, model in enumerate(submodels) if isinstance(model, FixedVote)]
        places: dict[tuple[int, object], int] = {}
        alike: dict[object, list[tuple[int, TableEstimator, Array]]] = {}
        parts, position = [], 0
        for t, model in enumerate(submodels):
            if isinstance(model, FixedVote):
                continue
            own = []
            for k, column in enumerate(columns[t]):
                key = (column, model._encoding(k))
                if key not in places:
                    places[key] = len(places)
                    self._readers.append((column, model, k))
                own.append(places[key])
            n_sums = 0
            if model.trees_ is not None:
                parts.append((model.trees_, np.array(own, dtype=np.int32), position))
                n_sums = len(model.trees_.start)
            alike.setdefault(model._outputs_alike(), []).append(
                (t, model, position + np.arange(n_sums))
            )
            position += n_sums
        self.columns = sorted({column for column, _, _ in self._readers})
        self._trees = FlatTrees.joined(parts)
        # submodels that turn sums into scores alike: which, an example, and where their sums stand
        self._alike = [
            ([t for t, _, _ in same], _Summed(same[0][1]), np.array([sums for *_, sums in same]))
            for same in alike.values()
        ]

    def encoded(self, columns: list[Array]) -> Array:
        """Return the columns as the trees look at them, from those of a table."""
        read = dict(zip(self.columns, columns, strict=True))
        encoded = np.empty((len(columns[0]), len(self._readers)))
        for place, (column, model, k) in enumerate(self._readers):
            encoded[:, place] = model._encode_column(read[column], k)
        return encoded

    def scores(self, encoded: Array, score: Score) -> Iterator[tuple[list[int], Array]]:
        """Yield the scores of submodels that are alike: (rows, submodels, ...)."""
        sums = self._trees.sums(encoded)
        for submodels, example, places in self._alike:
            n_rows, (n_models, n_sums) = len(sums), places.shape
            flat = np.ascontiguousarray(sums[:, places]).reshape(n_rows * n_models, n_sums)
            scored = score(example, flat)
            yield submodels, scored.reshape(n_rows, n_models, *scored.shape[1:])

    def ballots(
        self, table: Table, score: Score, fixed: Array, masks: Sequence[list[int]] | None = None
    ) -> Array | None:
        """Return all submodels' ballots, (rows, submodels, ...); None where a value is refused.

        Parameters
        ----------
        table : Table
            Rows with all columns.
        score : callable
            Makes scores of a submodel and its rows.
        fixed : array
            The ballot of a submodel that could not be fitted.
        masks : sequence of lists of int, optional
            Columns to be masked as missing. The ballots are then those of the one submodel there
            is, for each mask.
        """
        n_ballots = self.n_submodels if masks is None else len(masks)
        ballots = np.empty((table.n_rows, n_ballots, *fixed.shape), fixed.dtype)
        ballots[:, self.fixed] = fixed
        first, parts = 0, self._encoded_parts(table)
        while first < table.n_rows:
            try:
                encoded = next(parts)
            except MemoryError:
                raise
            except Exception:  # which submodels a value stops is told when they run one by one
                return None
            rows = slice(first, first + len(encoded))
            if masks is None:
                for submodels, scores in self.scores(encoded, score):
                    ballots[rows, submodels] = scores
            for k, mask in enumerate(masks or ()):
                for _, scores in self.scores(self._masked(encoded, mask), score):
                    ballots[rows, k] = scores[:, 0]
            first += len(encoded)
        return ballots

    def _encoded_parts(self, table: Table) -> Iterator[Array]:
        """Yield the rows as the trees look at them, part by part."""
        if table.n_rows <= ROWS:
            yield self.encoded(table.read(self.columns))
        else:
            for part in table.batches(self.columns, ROWS):
                yield self.encoded(table_columns(part))

    def _masked(self, encoded: Array, mask: list[int]) -> Array:
        hidden = set(mask)
        places = [place for place, (column, *_) in enumerate(self._readers) if column in hidden]
        masked = encoded.copy()
        masked[:, places] = np.nan
        return masked


_KNOWN: WeakKeyDictionary[object, tuple[list[object], OnePass | None]] = WeakKeyDictionary()


def one_pass(
    ensemble: FittedEnsemble, submodels: Sequence[Estimator], columns: Sequence[list[int]]
) -> OnePass | None:
    """Return the submodels as one pass; None where one of them is something else, or huge.

    It is kept as long as the ensemble has these submodels, beside it: predicting leaves an
    estimator as it is.
    """
    if not all(type(model) in FLAT or isinstance(model, FixedVote) for model in submodels):
        return None
    parts = [getattr(model, "trees_", model) for model in submodels]
    known = _KNOWN.get(ensemble)
    if known is None or not _are_same(known[0], parts):
        sizes = [len(trees.feature) for trees in parts if isinstance(trees, FlatTrees)]
        found = None
        if sizes and sum(sizes) <= MOST_NODES:
            found = OnePass(submodels, columns)
        known = _KNOWN[ensemble] = (parts, found)
    return known[1]


def _are_same(before: list[object], now: list[object]) -> bool:
    return len(before) == len(now) and all(a is b for a, b in zip(before, now, strict=True))


def scores_rows_apart(ensemble: FittedEnsemble) -> bool:
    """Return whether a row's ballots are the same to the last bit whatever rows stand beside it.

    Flat trees add up a row's leaves in one order. Other estimators may not: a matrix product is
    rounded by the number of its rows.
    """
    models = [*ensemble.estimators_] if isinstance(ensemble.estimators_, list) else [None]
    fallback = getattr(ensemble, "fallback_model_", None)
    if fallback is not None:
        models.append(fallback)
    return all(type(model) in FLAT or isinstance(model, FixedVote) for model in models)
