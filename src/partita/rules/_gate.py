"""A full model behind the vote: it answers where the vote's radius is below a gate.

The full model sees all columns, so an attacker may make it say anything: nothing is proven where it
answers, and elsewhere the radius is what an attacker must spend to close the gate.

Soundness: a unit that is corrupted must lower the vote's radius by one at most. That holds for the
gap certificate, and is proven of no other here (theory, section 12).
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from .. import kernels
from .._support import Array, check_whole
from ..ballots import Ballots
from ..certificates import Certificates, Counts, recounted
from ..errors import InputError
from ._base import Rule, TrainingLabels, as_ballots, mean_scores, softmax, with_winner
from ._overlap import Reach
from ._votes import Plurality, Tournament

MOST_OVERLAPPING = 1  # the largest gate where units share submodels


def check_gate(rule: Rule, gate: int, overlapping: bool) -> None:
    """Refuse a gate in front of a radius that one unit is not proven to lower by one at most.

    ``overlapping``: whether two units may reach the same submodel.
    """
    if gate == 0:
        return
    if not isinstance(rule, Plurality | Tournament):
        raise InputError(
            f"gate is {gate}, but a gate needs a radius that one corrupted unit lowers by one at "
            f"most, which is not proven of {rule!r}: use rule='tournament' or 'plurality', or "
            "leave fallback out"
        )
    if overlapping and gate > MOST_OVERLAPPING:
        raise InputError(
            f"gate is {gate}, but where submodels share units (spread above 1) one corrupted unit "
            f"may lower the bound on the radius by more than one: use gate={MOST_OVERLAPPING}, or "
            "spread=1"
        )


@dataclass(eq=False, repr=False)
class Gated(Rule):
    """A rule with a full model behind it, which answers where the rule proves less than ``gate``.

    Parameters
    ----------
    rule : Plurality or Tournament
        Decides where its radius is at least ``gate``; the radius is what is left above the gate.
    gate : int, default=1
        The least radius at which the vote decides.

    See Also
    --------
    partita.FeaturePartitionClassifier : Fits the full model (``fallback``).

    Examples
    --------
    >>> import numpy as np
    >>> from partita.ballots import Ballots
    >>> from partita.rules import Gated, Plurality
    >>> scores = np.eye(2)[[[0, 0, 0, 0, 0], [0, 0, 0, 1, 1]]]
    >>> fallback = np.eye(2)[[1, 1]]
    >>> proof = Gated(Plurality(), gate=1).certify(Ballots(scores, fallback=fallback))
    >>> proof.prediction.tolist(), proof.radius.tolist()
    ([0, 1], [1, 0])
    """

    rule: Rule
    gate: int = 1

    def without_fitted_state(self) -> Self:
        return type(self)(self.rule.without_fitted_state(), self.gate)

    def check(self) -> None:
        check_whole("gate", self.gate, 1)
        self.rule.check()

    def _resolve(self, labels: TrainingLabels) -> Self:
        return type(self)(self.rule._resolve(labels), self.gate)

    def certify(
        self,
        ballots: ArrayLike,
        reach: ArrayLike | None = None,
        cover: str = "bound",
        time_limit: float = 10.0,
    ) -> Certificates:
        checked = self._read(ballots)
        own = Reach.of(checked)  # the units whose radius opens the gate
        check_gate(self.rule, self.gate, own.overlaps)
        vote = self.rule.certify(checked, cover=cover, time_limit=time_limit)
        if reach is None:
            return self._apply_fallback(vote, vote, self._left(vote), checked)
        given = Reach(reach, checked.shape[1])
        check_gate(self.rule, self.gate, given.overlaps)
        # the gate stays open only against a further unit of its own
        both = np.concatenate([np.asarray(reach, dtype=bool), own.groups])
        proof = self.rule.certify(checked, both, cover, time_limit)
        radius = np.minimum(self._left(proof), given.n_units)
        proof = recounted(proof, radius, Counts("units", given.n_units), None)
        return self._apply_fallback(vote, proof, radius, checked)

    def _read(self, ballots: ArrayLike) -> Ballots:
        self.check()
        checked = as_ballots(ballots)
        if checked.fallback is None:
            raise InputError(
                f"ballots hold no scores of a fallback, which {self!r} needs: give clf.ballots(X) "
                "of a model with a fallback, or another rule"
            )
        return checked

    def _opens(self, vote: Certificates) -> Array:
        """Return which rows the vote decides: its radius reaches the gate, or nothing breaks it."""
        return np.asarray((vote.radius >= self.gate) | (vote.radius >= vote.counts.total))

    def _left(self, vote: Certificates) -> Array:
        """Return what is left of the vote's radius above the gate."""
        unbreakable = vote.radius >= vote.counts.total
        return np.where(unbreakable, vote.radius, np.maximum(vote.radius - self.gate, 0))

    def _apply_fallback(
        self, vote: Certificates, proof: Certificates, left: Array, ballots: Ballots
    ) -> Certificates:
        """Return what is proven of the vote, and the fallback's labels where the gate is closed."""
        opened, labels = self._opens(vote), np.asarray(ballots.fallback).argmax(axis=1)
        runner_up = vote.runner_up
        if runner_up is not None:
            by_vote = opened | (labels == vote.prediction)
            runner_up = np.where(by_vote, runner_up, vote.prediction)
        return replace(
            proof,
            frontier=proof.frontier and partial(_frontier_left, proof.frontier, self.gate),
            prediction=np.where(opened, vote.prediction, labels),
            radius=np.where(opened, left, 0),
            runner_up=runner_up,
        )

    def by_fallback(self, ballots: ArrayLike) -> Array:
        """Return which rows the full model answers.

        Parameters
        ----------
        ballots : Ballots
            With the scores of a fallback.

        Returns
        -------
        array of bool, shape (n_samples,)
            Where the vote's radius is below the gate.
        """
        return ~self._opens(self.rule.certify(self._read(ballots)))

    def decision(self, ballots: ArrayLike) -> Certificates:
        return self.certify(ballots)

    def votes(self, ballots: ArrayLike) -> Array:
        return self.rule.votes(ballots)

    def probabilities(self, ballots: ArrayLike) -> Array:
        checked = self._read(ballots)
        fallback = np.asarray(checked.fallback)
        own = with_winner(softmax(mean_scores(fallback[:, None])), fallback.argmax(axis=1))
        return np.where(self.by_fallback(checked)[:, None], own, self.rule.probabilities(checked))


def _frontier_left(of_vote: Callable[[], Array], gate: int) -> Array:
    """Return what is left of the vote's frontier above the gate."""
    radii = of_vote()
    behind = np.where(radii == kernels.FAR, radii, radii - gate)
    return np.asarray(np.maximum(behind, -1))
