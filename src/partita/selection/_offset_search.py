"""Moving the threshold of one label without fitting again: what each head start buys and costs.

A head start is a constant in every gap, so every threshold has a proof of its own, given that it is
the one. All of them are tried on the same ballots.
"""

from collections.abc import Iterable
from copy import copy
from dataclasses import dataclass, field
from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._support import array_of, check_whole, require
from ..ensemble import FeaturePartitionClassifier
from ..errors import InputError
from ..metrics import certified_alarms
from ..rules import Tournament
from ..workflow import CertifiedTable


@dataclass(frozen=True)
class OffsetSearch:
    """What :func:`search_offsets` found.

    Attributes
    ----------
    positive : object
        The label that is an alarm.
    radius : int
        Where the certified numbers are taken.
    rows : list of dict
        One per offset, in their order: ``offset`` in votes, ``alarms``, ``recall`` and
        ``precision`` as they are, ``kept`` alarms that no attacker of that size can silence, and
        the ``certified_recall`` and ``worst_case_precision`` that such an attacker leaves.
    """

    positive: Any
    radius: int
    rows: list[dict[str, Any]]
    _models: list[Any] = field(repr=False)

    def to_frame(self) -> Any:
        """Return a pandas frame with one line per offset.

        Returns
        -------
        pandas.DataFrame
            The keys of ``rows`` as columns.
        """
        return require("pandas", "to_frame()").DataFrame(self.rows)

    def best(self, recall: float = 0.0, precision: float = 0.0) -> dict[str, Any]:
        """Return the line with the highest certified recall that meets two conditions.

        Parameters
        ----------
        recall : float, default=0.0
            The recall that is needed with nobody attacking.
        precision : float, default=0.0
            The same for precision.

        Returns
        -------
        dict
            One of ``rows``; the higher precision among equals.

        Raises
        ------
        InputError
            If no offset meets both.
        """
        able = [
            row for row in self.rows if row["recall"] >= recall and row["precision"] >= precision
        ]
        if not able:
            raise InputError(
                f"no offset has a recall of {recall:g} and a precision of {precision:g} on these "
                "rows: ask for less, or try other offsets"
            )
        return max(able, key=lambda row: (row["certified_recall"], row["precision"]))

    def with_offset(self, offset: float) -> Any:
        """Return the classifier that decides with one of the offsets.

        Parameters
        ----------
        offset : float
            One of those that were tried.

        Returns
        -------
        FeaturePartitionClassifier
            A copy that shares its submodels with the ensemble that was searched.
        """
        for row, model in zip(self.rows, self._models, strict=True):
            if row["offset"] == offset:
                return model
        raise InputError(
            f"offset is {offset!r}, which was not tried: give one of "
            f"{', '.join(str(row['offset']) for row in self.rows)}"
        )


def search_offsets(
    ensemble: Any,
    X: Any,
    y: Any,
    positive: Any,
    *,
    offsets: Iterable[float] | None = None,
    radius: int = 1,
) -> OffsetSearch:
    """Try several thresholds for one label, with their proofs, and tabulate what they cost.

    An offset gives the label so many votes more (or fewer) than the ensemble's own rule does: more
    alarms and recall, or fewer and more precision. Every offset has proofs of its own. Those of an
    ensemble that learnt from the training table hold given the offset that you choose: whoever
    writes into one training column can change which one looks best, however clean the rows X are.
    Without this condition they hold if the choice is made on a trusted sample alone: fit on one
    part of it, search on the other, then fit with the chosen rule on all training rows. Report what
    you measure on other rows.

    Parameters
    ----------
    ensemble : FeaturePartitionClassifier
        Fitted, with ``rule="tournament"`` or a Tournament. It is not changed.
    X : array-like or DataFrame of shape (n_samples, n_features)
        Validation rows, which the ensemble was not fitted on.
    y : array-like of shape (n_samples,)
        Their labels.
    positive : object
        The label that is an alarm (fraud, a fault).
    offsets : list of float, optional
        Head starts in votes. By default every whole number up to half of the submodels, up and
        down.
    radius : int, default=1
        How many units the attacker owns, for the certified numbers.

    Returns
    -------
    OffsetSearch
        A table of recall, precision and their certified counterparts, and the classifiers.

    Raises
    ------
    InputError
        If the ensemble has another rule, or no row has the positive label.

    See Also
    --------
    search_rules : Choose among rules.
    partita.metrics.certified_alarms : What the numbers of a line mean.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from partita import FeaturePartitionClassifier, search_offsets
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> clf = FeaturePartitionClassifier(GaussianNB(), n_submodels=9).fit(X[::2], y[::2])
    >>> found = search_offsets(clf, X[1::2], y[1::2], positive=0, offsets=[-2, 0, 2])
    >>> recall = [row["recall"] for row in found.rows]
    >>> recall == sorted(recall)
    True
    >>> alert = found.with_offset(found.best(precision=0.8)["offset"])
    """
    if not isinstance(ensemble, FeaturePartitionClassifier):
        raise InputError(
            f"ensemble is a {type(ensemble).__name__}: give a fitted FeaturePartitionClassifier"
        )
    check_is_fitted(ensemble, "estimators_")
    check_whole("radius", radius, 0)
    rule = ensemble.rule_
    if not isinstance(rule, Tournament):
        raise InputError(f"offsets belong to the tournament, not to {rule!r}: fit with that rule")
    labels = ensemble.classes_.tolist()
    truth = array_of("y", y)
    if positive not in labels or positive not in truth.tolist():
        raise InputError(
            f"positive is {positive!r}: give a label of the ensemble that some of these rows have, "
            f"such as {truth.tolist()[0]!r}"
        )
    certified = CertifiedTable.of(ensemble, X, truth=truth)
    n_submodels = certified.ballots.shape[1]
    half = n_submodels // 2
    tried = _numbers(range(-half, half + 1) if offsets is None else offsets)
    start = rule.head_start(len(labels)) / rule.full_vote
    rows, models = [], []
    for offset in tried:
        votes = start + offset * (np.arange(len(labels)) == labels.index(positive))
        moved = Tournament(rule.margin, rule.prior, votes.tolist(), rule.shares)
        table = certified.under(moved)
        rows.append({"offset": offset} | _numbers_of(table, truth, positive, int(radius)))
        model: Any = copy(table.model)
        model.rule = moved
        models.append(model)
    return OffsetSearch(positive, int(radius), rows, models)


def _numbers(offsets: Iterable[Any]) -> list[float]:
    numbers = list(offsets)
    if not numbers or not all(
        isinstance(one, Real) and not isinstance(one, bool) and np.isfinite(float(one))
        for one in numbers
    ):
        raise InputError(f"offsets is {numbers!r}: give numbers of votes, such as [-2, 0, 2]")
    return [float(one) for one in numbers]


def _numbers_of(table: CertifiedTable, truth: Any, positive: Any, radius: int) -> dict[str, Any]:
    """Recall and precision of one threshold, as they are and as an attacker leaves them."""
    assert table.proof is not None
    now, attacked = (certified_alarms(truth, table.proof, positive, r) for r in (0, radius))
    return {
        "alarms": now.raised,
        "recall": now.recall,
        "precision": now.precision,
        "kept": attacked.kept,
        "certified_recall": attacked.recall,
        "worst_case_precision": attacked.precision,
    }
