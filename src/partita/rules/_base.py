"""What every rule has in common: its settings, the check of its ballots, and ``certify`` for
ballots from anywhere."""

import inspect
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np

from .. import kernels
from .._support.types import Array
from ..certificates import Certificates, Counts
from ..errors import InputError
from ._overlap import check_cover, radius_in_units
from ._reach import Reach

HIGHEST = -float(
    np.log(1e-9)
)  # scores beyond it, or below its negative, are cut off where they are averaged
TIE = 1e-9  # by how much of it a share falls behind the largest


class Rule:
    """A decision rule. Its settings are the arguments of ``__init__``, stored as they are and
    checked when the rule is used."""

    needs_scores: ClassVar[bool] = True  # False: votes are enough

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The settings by name, in scikit-learn's way, so that a search reaches
        ``rule__margin``."""
        return {name: getattr(self, name) for name in inspect.signature(type(self)).parameters}

    def set_params(self, **params: Any) -> Self:
        for name, value in params.items():
            if name not in self.get_params():
                raise InputError(
                    f"{type(self).__name__} has no setting {name!r}: it has "
                    f"{', '.join(self.get_params()) or 'none'}"
                )
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        defaults = inspect.signature(type(self)).parameters
        given = {
            name: value
            for name, value in self.get_params().items()
            if str(value) != str(defaults[name].default)
        }
        shown = [f"{name}={value!r}" for name, value in given.items()]
        return f"{type(self).__name__}({', '.join(shown)})"

    def check(self) -> None:
        """Raise if a setting cannot be right."""

    def filled(
        self,
        y: Array | None,
        classes: Array,
        probabilities: bool = True,
        balanced: bool = False,
        weights: Array | None = None,
    ) -> "Rule":
        """A copy whose open settings are filled in before training.

        ``y``: the training labels, None where they may be attacked; ``classes``: the labels there
        are (regression: empty); ``probabilities``: whether the submodels' scores are
        log-probabilities; ``balanced``: whether the estimator weighs its classes; ``weights``: the
        rows' sample weights, where there are any."""
        return type(self)(**self.get_params())

    def brief(self) -> Self:
        """A copy without what fit filled in from the labels, for people to read."""
        return type(self)(**self.get_params())

    def certify(
        self, ballots: Any, reach: Any = None, cover: str = "bound", time_limit: float = 10.0
    ) -> Certificates:
        """Decide and certify every row of ballots (N, T, C).

        ``reach`` is a bool array (units, submodels) where units reach several submodels; the radius
        then counts units. ``cover="exact"`` solves an integer program for every row that the bound
        leaves in doubt, ``time_limit`` seconds each."""
        array = as_ballots(ballots)
        proof = self.decision(array)
        if reach is None:
            return proof
        check_cover(cover, time_limit)
        over = Reach(reach, array.shape[1])
        if isinstance(self, GapRule):
            radius, rival = self.radius_in_units(array, over, cover, time_limit)
            return over_units(self.with_rival(proof, rival), over, np.maximum(radius, 0))
        return over_units(proof, over, over.from_submodels(proof.radius))

    def decision(self, ballots: Array) -> Certificates:
        """Decide and certify checked ballots; the radius counts submodels."""
        raise NotImplementedError

    def with_rival(self, proof: Certificates, rival: Array) -> Certificates:
        """The proof with the rival that is nearest in units, for a rule whose runner-up is that
        one."""
        return proof

    def decide(self, ballots: Any) -> Array:
        """The predicted class of every row, as an index."""
        return self.decision(as_ballots(ballots)).prediction

    def probabilities(self, ballots: Any) -> Array:
        """Scores for ranking, (rows, classes): positive, with sum 1, the largest for the class that
        is decided.

        Nothing is proven about them.
        """
        array = as_ballots(ballots)
        return favouring(self.leaning(array), self.decide(array))

    def leaning(self, ballots: Array) -> Array:
        """What the submodels make of each class together, as shares (rows, classes); the decision
        may be another."""
        return softmax(mean_scores(ballots))


def as_ballots(ballots: Any) -> Array:
    """Ballots as an array (N, T, C) of numbers; whether they are finite is seen when they are
    counted."""
    try:
        array = np.asarray(ballots)
    except ValueError as exc:
        raise InputError(
            "ballots is ragged: give every row the same submodels and classes"
        ) from exc
    if array.ndim != 3:
        raise InputError(f"ballots has shape {array.shape}: it must be (rows, submodels, classes)")
    if array.dtype.kind not in "fiub":
        raise InputError(
            f"ballots holds {array.dtype}, not numbers: give one score for every row, submodel "
            "and class"
        )
    if 0 in array.shape[1:]:
        raise InputError(
            f"ballots has shape {array.shape}: there must be at least one submodel and one class"
        )
    return array


def mean_scores(ballots: Array) -> Array:
    """The mean over submodels of their scores, each within the range that a log-probability has."""
    return np.asarray(np.clip(ballots, -HIGHEST, HIGHEST).mean(axis=1, dtype=np.float64))


def vote_shares(ballots: Array) -> Array:
    """The share of the submodels that vote for each class: (rows, classes)."""
    votes = ballots.argmax(axis=2)
    return np.stack([(votes == label).mean(axis=1) for label in range(ballots.shape[2])], axis=1)


def softmax(scores: Array) -> Array:
    raised = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(raised / raised.sum(axis=1, keepdims=True))


def favouring(shares: Array, chosen: Array) -> Array:
    """The shares with the least change that makes the chosen class of every row the largest: those
    above it come down to one level."""
    out = np.array(shares, dtype=np.float64)
    rows = np.arange(len(out))
    own = out[rows, chosen]
    others = out.copy()
    others[rows, chosen] = 0
    for i in np.flatnonzero((others >= own[:, None]).any(axis=1) & (others.max(axis=1) > 0)):
        rest = np.sort(np.delete(out[i], chosen[i]))[::-1]
        for k in range(1, len(rest) + 1):  # the k largest share one level with the chosen class
            level = (own[i] + rest[:k].sum()) / (k + 1)
            if k == len(rest) or rest[k] <= level:
                break
        out[i] = np.minimum(out[i], level * (1 - TIE))
        out[i, chosen[i]] = 0
        out[i, chosen[i]] = 1 - out[i].sum()
    return out


def refuse_unfinite(name: str, bad_row: int) -> None:
    if bad_row >= 0:
        raise InputError(
            f"{name} holds a NaN or an infinity in row {bad_row}: replace it by a fixed finite "
            "score before certifying"
        )


def certificates(
    kernel: str,
    ballots: Array,
    setting: Any,
    labels: Array | None = None,
    shift: Array | None = None,
) -> Certificates:
    """Run a kernel on checked ballots; the radius counts submodels."""
    prediction, radius, runner_up, bad_row = kernels.decide(kernel, ballots, setting, labels, shift)
    refuse_unfinite("ballots", bad_row)
    alone = labels is not None or ballots.shape[2] == 1
    return Certificates(
        prediction, radius, None if alone else runner_up, Counts("submodels", ballots.shape[1])
    )


def over_units(proof: Certificates, reach: Reach, radius: Array) -> Certificates:
    """The same decisions, with a radius that counts units."""
    return replace(proof, radius=radius, counts=Counts("units", reach.n_units))


class GapRule(Rule):
    """A rule that decides by gaps, which is what proofs about units in several submodels need."""

    def gaps(self, ballots: Array) -> kernels.Gaps:
        """The decision on a block of finite ballots as losses (rows, rivals, submodels) and budgets
        (rows, rivals)."""
        raise NotImplementedError

    def radius_in_units(
        self, ballots: Array, reach: Reach, cover: str, time_limit: float
    ) -> tuple[Array, Array]:
        """The radius and the nearest rival of every row, when a unit may reach several
        submodels."""
        radius, rival = np.zeros(len(ballots), np.int64), np.zeros(len(ballots), np.int64)

        def work(rows: slice) -> int:
            radius[rows], rival[rows] = radius_in_units(
                self.gaps(ballots[rows]), reach, cover, time_limit
            )
            return -1

        kernels.over_rows(work, len(ballots), ballots[:1].size)
        return radius, rival
