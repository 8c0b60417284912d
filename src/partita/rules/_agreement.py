"""Agreement of models that leave groups of units out.

Inputs are votes or values of models and which groups each of them never saw; nothing here knows
estimators or tables. Soundness: a model that leaves out every attacked group is untouched, and only
such models are used in a bound (theory, section 10).
"""

from numbers import Integral
from typing import Any

import numpy as np

from .. import kernels
from .._support import Array, array_of, check_whole
from ..certificates import Certificates, Counts
from ..errors import InputError
from ._agreement_frontier import LabelFrontier, ValueFrontier, blocks
from ._ballots import check_finite
from ._base import Settings
from ._bounds import check_row_bounds
from ._left_out import Design, read_design, supersets

SIDES = {"lower": -1, "mean": 0, "upper": 1}
MOST_LABELS = 2**20  # votes are counted in an array with an entry per label


class Agreement(Settings):
    """Predict the label on which all models that leave out some set of ``radius`` groups agree.

    For every set ``D`` of ``2 * radius`` groups there is one model that never saw the groups in
    ``D``, in training or in the row. A set ``B`` of ``radius`` groups is *unanimous* if all models
    that leave out ``B`` predict the same label; that label is predicted. The radius is the largest
    ``q`` such that every set of ``q`` groups lies inside a unanimous set: the models that vouch for
    the prediction then leave out whatever was attacked. It is exact against models that answer
    arbitrarily when they see an attacked group (theory, section 10).

    Values are predicted as ``max_B min_D``: the largest value that all models leaving out some set
    ``B`` reach.

    Parameters
    ----------
    radius : int, default=1
        The number of groups an attacker may own; the largest radius that can be certified.
    side : {"lower", "mean", "upper"}, default="lower"
        For values: ``max_B min_D``, its mirror image ``min_B max_D``, or the mean of the two.

    See Also
    --------
    partita.LeaveOutClassifier : Fits such models.

    Examples
    --------
    >>> import numpy as np
    >>> from itertools import combinations
    >>> from partita.rules import Agreement
    >>> left_out = np.zeros((6, 4), dtype=bool)  # 4 groups: 6 models, each leaves out 2 of them
    >>> for model, groups in enumerate(combinations(range(4), 2)):
    ...     left_out[model, list(groups)] = True
    >>> proof = Agreement(radius=1).certify([[1, 1, 1, 1, 1, 1], [1, 1, 1, 1, 0, 1]], left_out)
    >>> proof.prediction.tolist(), proof.radius.tolist()
    ([1, 1], [1, 0])
    """

    def __init__(self, radius: int = 1, side: str = "lower") -> None:
        self.radius = radius
        self.side = side

    def check(self) -> None:
        """Raise if a setting cannot be right."""
        check_whole("radius", self.radius, 1)
        if self.side not in SIDES:
            raise InputError(f"side is {self.side!r}: it must be one of {', '.join(SIDES)}")

    def certify(self, votes: Any, left_out: Any, fallback: Any = None) -> Certificates:
        """Decide and certify labels.

        Parameters
        ----------
        votes : array-like of int, shape (n_samples, n_models)
            The label of every model, as a class index.
        left_out : array-like of bool, shape (n_models, n_groups)
            Which groups each model never saw: every set of ``2 * radius`` groups exactly once.
        fallback : array-like of int, shape (n_samples,), optional
            The prediction where no set is unanimous, such as that of a model on all columns; by
            default the label with the most votes. Nothing is proven there (radius 0).

        Returns
        -------
        Certificates
            ``radius`` counts groups, from 0 to ``self.radius``; ``runner_up`` is the other label
            with the most votes.
        """
        design = self._design(left_out)
        array = array_of("votes", votes)
        if array.ndim != 2 or array.dtype.kind not in "iub":
            raise InputError(
                f"votes has shape {array.shape} and holds {array.dtype}: it must be class indices "
                "of shape (rows, models)"
            )
        check_models("votes", array, design)
        n_labels = check_indices("votes", array)
        if fallback is None:
            return self._decision_of(array, design, np.full(len(array), -1), n_labels)
        labels = array_of("fallback", fallback)
        if labels.shape != (len(array),) or labels.dtype.kind not in "iub":
            raise InputError(
                f"fallback has shape {labels.shape} and holds {labels.dtype}: give one class index "
                "per row"
            )
        n_labels = max(n_labels, check_indices("fallback", labels))
        return self._decision_of(array, design, labels, n_labels)

    def predict(self, values: Any, left_out: Any) -> Array:
        """Predict values.

        Parameters
        ----------
        values : array-like of shape (n_samples, n_models)
            The value of every model.
        left_out : array-like of bool, shape (n_models, n_groups)
            Which groups each model never saw.

        Returns
        -------
        array of float64, shape (n_samples,)
            ``max_B min_D``, or what ``side`` says.
        """
        return self.interval(values, left_out, radius=0)[0]

    def interval(self, values: Any, left_out: Any, radius: int = 1) -> tuple[Array, Array]:
        """Bound the prediction under every attack on ``radius`` groups.

        Parameters
        ----------
        values : array-like of shape (n_samples, n_models)
            The value of every model.
        left_out : array-like of bool, shape (n_models, n_groups)
            Which groups each model never saw.
        radius : int, default=1
            How many groups are attacked, from 0 to ``self.radius``.

        Returns
        -------
        low : array of float64, shape (n_samples,)
            The least prediction that an attacker can bring about.
        high : array of float64, shape (n_samples,)
            The largest one.
        """
        design = self._design(left_out)
        array = self._values(values, design)
        if (
            not isinstance(radius, Integral)
            or isinstance(radius, bool)
            or not 0 <= radius <= self.radius
        ):
            raise InputError(
                f"radius is {radius!r}: these models bound 0 to {self.radius} attacked groups"
            )
        return self._bounds_of(array, design, int(radius))

    def certify_values(self, values: Any, left_out: Any, lower: Any, upper: Any) -> Certificates:
        """Certify that predicted values stay between bounds.

        Parameters
        ----------
        values : array-like of shape (n_samples, n_models)
            The value of every model.
        left_out : array-like of bool, shape (n_models, n_groups)
            Which groups each model never saw.
        lower, upper : float or array-like of shape (n_samples,)
            The bounds; infinities leave a side open.

        Returns
        -------
        Certificates
            ``radius`` counts groups; -1 where the prediction itself is outside.
        """
        design = self._design(left_out)
        array = self._values(values, design)
        return self._values_of(array, design, lower, upper)

    # ---- checked arrays ----

    def _decision_of(
        self, votes: Array, design: Design, fallback: Array, n_labels: int
    ) -> Certificates:
        """Decide and certify checked votes; a fallback of -1 is the label with the most votes."""
        prediction, radius, runner_up = kernels.agreement(
            votes, design.labels(), fallback.astype(np.int64), n_labels
        )
        counts = Counts("groups", design.n_groups)
        frontier = LabelFrontier(votes, design, prediction)
        other = runner_up if n_labels > 1 else None
        return Certificates(prediction, radius, other, counts, frontier=frontier)

    def _label_breakable(self, votes: Array, design: Design, size: int) -> Array:
        """Return whether each set of ``size`` groups can change each row: bool (rows, sets).

        Exact: a set can, unless models agree that leave out it and more.
        """
        models_of = design.labels()[0]
        covers = supersets(design.n_groups, size, design.radius)
        breakable = np.empty((len(votes), len(covers)), dtype=bool)
        for rows in blocks(len(votes), models_of.size):
            of_sets = votes[rows][:, models_of]
            unanimous = (of_sets == of_sets[:, :, :1]).all(axis=2)
            breakable[rows] = ~unanimous[:, covers].any(axis=2)
        return breakable

    def _value_breakable(
        self, values: Array, tables: tuple[Array, ...], lower: Array, upper: Array
    ) -> Array:
        """Return whether each set of the tables may move each row out of its bounds."""
        models_of, sets_with, models_beyond, beyond_with = tables
        breakable = np.empty((len(values), len(sets_with)), dtype=bool)
        for rows in blocks(len(values), models_of.size + models_beyond.size):
            of_sets, of_beyond = values[rows][:, models_of], values[rows][:, models_beyond]
            least = [
                of_sets.min(axis=2)[:, sets_with].max(axis=2),
                of_beyond.max(axis=2)[:, beyond_with].min(axis=2),
            ]
            most = [
                of_beyond.min(axis=2)[:, beyond_with].max(axis=2),
                of_sets.max(axis=2)[:, sets_with].min(axis=2),
            ]
            low, high = (_by_side(SIDES[self.side], *both) for both in (least, most))
            breakable[rows] = (low < lower[rows, None]) | (high > upper[rows, None])
        return breakable

    def _bounds_of(self, values: Array, design: Design, radius: int) -> tuple[Array, Array]:
        """Bound checked values."""
        return kernels.agreement_bounds(values, design.bounds(radius), SIDES[self.side])

    def _values_of(self, values: Array, design: Design, lower: Any, upper: Any) -> Certificates:
        """Certify checked values."""
        low, high = check_row_bounds(lower, upper, len(values))
        radius = np.full(len(values), -1)
        prediction, _ = self._bounds_of(values, design, 0)
        for q in range(int(self.radius) + 1):
            least, most = self._bounds_of(values, design, q)
            radius[(radius == q - 1) & (least >= low) & (most <= high)] = q
        counts = Counts("groups", design.n_groups)
        frontier = ValueFrontier(values, design, SIDES[self.side], low, high)
        return Certificates(prediction, radius, None, counts, of_values=True, frontier=frontier)

    def _values(self, values: Any, design: "Design") -> Array:
        array = array_of("values", values)
        if array.ndim != 2 or array.dtype.kind not in "fiub":
            raise InputError(
                f"values has shape {array.shape} and holds {array.dtype}: it must be numbers of "
                "shape (rows, models)"
            )
        check_models("values", array, design)
        array = np.ascontiguousarray(array, dtype=np.float64)
        finite = np.isfinite(array).all(axis=1)
        check_finite("values", -1 if finite.all() else int(np.argmin(finite)))
        return array

    def _design(self, left_out: Any) -> Design:
        self.check()
        return read_design(left_out, int(self.radius))


def check_models(name: str, array: Array, design: Design) -> None:
    """Refuse votes or values of another number of models."""
    if array.shape[1] != len(design.order):
        raise InputError(
            f"{name} has {array.shape[1]} columns for {len(design.order)} models in left_out: "
            "expected one per model"
        )


def check_indices(name: str, indices: Array) -> int:
    """Return how many labels there are, at least; refuse what is no class index."""
    if indices.min(initial=0) < 0:
        raise InputError(f"{name} holds a negative number: class indices start at 0")
    largest = int(indices.max(initial=0))
    if largest >= MOST_LABELS:
        raise InputError(
            f"{name} holds {largest}: class indices count the labels from 0, up to {MOST_LABELS:,}"
        )
    return 1 + largest


def _by_side(side: int, from_below: Array, from_above: Array) -> Array:
    """Choose the bound of ``max_B min_D``, of its mirror image, or the mean of the two."""
    if side == 0:
        return np.asarray(from_below / 2 + from_above / 2)
    return from_below if side < 0 else from_above
