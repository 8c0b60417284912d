"""Randomized ablation of whole sources, on tables as they come and with any model.

The classes of partita.baselines take numbers and a model that learns batch by batch. Here columns
become numbers by what training showed of them, and batches are collected for one fit.
"""

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils.metaestimators import available_if

from .._support import Array
from ..baselines import RandomizedAblationClassifier, RandomizedAblationRegressor
from ..certificates import Certificates
from ..partition import choose_units
from ..tables import apply_codes, learn_codes, table_columns

PROBES = 3  # a purpose of draws of its own: whoever probes the model does not know its other draws


class CollectedBatches(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A model that is fitted on all batches at once, when it is first asked.

    Parameters
    ----------
    estimator : estimator
        The model.
    """

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    def partial_fit(self, X: Array, y: Array, classes: Any = None) -> Self:
        """Keep a batch."""
        self.batches_ = [*getattr(self, "batches_", []), (X, y)]
        return self

    def predict(self, X: Array) -> Array:
        """Predict, after a fit on all batches that came before."""
        if self.batches_:
            rows, target = (np.concatenate(part) for part in zip(*self.batches_, strict=True))
            self.model_, self.batches_ = clone(self.estimator).fit(rows, target), []
        prediction: Array = self.model_.predict(X)
        return prediction


def _is_classifier(ablated: Any) -> bool:
    return not ablated.of_values


class AblatedSources(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """One model, asked many times with random sources of the row ablated; the vote decides.

    Its certificates hold with high probability, against changes of the row alone.

    Parameters
    ----------
    estimator : estimator
        The model.
    units : mapping from str to tuple of str
        The columns of each source.
    trusted : tuple of str, default=()
        Columns that are never ablated.
    of_values : bool, default=False
        Whether numbers are predicted instead of labels.
    keep : int or "auto", default="auto"
        How many sources are kept; "auto": a fifth.
    epochs : int, default=2
        How many ablated copies of each training row there are.
    n_draws : int, default=100
        How many ablations of a row are asked in ``predict``.
    n_probes : int, default=15
        How many are asked in ``predict_proba``, others than those of ``predict``: the proof holds
        against an attacker who does not know the draws.
    random_state : int, default=0
        Of the ablations.
    """

    def __init__(
        self,
        estimator: Any,
        units: Mapping[str, tuple[str, ...]],
        trusted: tuple[str, ...] = (),
        of_values: bool = False,
        keep: Any = "auto",
        epochs: int = 2,
        n_draws: int = 100,
        n_probes: int = 15,
        random_state: int = 0,
    ) -> None:
        self.estimator = estimator
        self.units = units
        self.trusted = trusted
        self.of_values = of_values
        self.keep = keep
        self.epochs = epochs
        self.n_draws = n_draws
        self.n_probes = n_probes
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Learn how columns become numbers, and fit on ablated rows."""
        columns = table_columns(X)
        self.codes_ = [learn_codes(column) for column in columns]
        numbers = self._encoded(columns)
        with np.errstate(all="ignore"):
            middle = np.nanmedian(np.where(np.isnan(numbers).all(axis=0), 0.0, numbers), axis=0)
        self.fill_ = middle
        filled = self._filled(numbers)
        low, high = filled.min(axis=0), filled.max(axis=0)
        units = choose_units(self.units, [str(name) for name in X.columns], self.trusted, None)
        keep = -(-len(units) // 5) if self.keep == "auto" else self.keep
        kind = RandomizedAblationRegressor if self.of_values else RandomizedAblationClassifier
        self.model_ = kind(
            CollectedBatches(self.estimator),
            keep=keep,
            units=units,
            low=low,
            high=np.where(high > low, high, low + 1.0),
            epochs=self.epochs,
            n_select=self.n_draws,
            n_certify=1000,
            alpha=0.001,
            random_state=self.random_state,
        ).fit(filled, y)
        self.model_.predict(filled[:1])  # the fit itself
        return self

    def predict(self, X: Any) -> Array:
        """Predict the label of most ablations, or the median value."""
        prediction: Array = self.model_.predict(self._numbers(X))
        return prediction

    @available_if(_is_classifier)  # type: ignore[untyped-decorator]  # as above
    def predict_proba(self, X: Any) -> Array:
        """Shares of the vote."""
        scaled, _ = self.model_._rows_to_predict(self._numbers(X))
        votes: Array = self.model_._votes(scaled, self.n_probes, PROBES)
        return votes / self.n_probes

    def certify(self, X: Any, **options: Any) -> Certificates:
        """Certify rows against changes of the row alone, with high probability."""
        proof: Certificates = self.model_.certify(self._numbers(X), **options)
        return proof

    @property
    def classes_(self) -> Array:
        """The labels."""
        labels: Array = self.model_.classes_
        return labels

    def _numbers(self, X: Any) -> Array:
        return self._filled(self._encoded(table_columns(X)))

    def _encoded(self, columns: list[Array]) -> Array:
        pairs = zip(columns, self.codes_, strict=True)
        encoded = np.column_stack([apply_codes(column, codes) for column, codes in pairs])
        return np.asarray(np.clip(encoded, -1e300, 1e300))

    def _filled(self, numbers: Array) -> Array:
        return np.where(np.isnan(numbers), self.fill_, numbers)
