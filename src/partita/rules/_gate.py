"""A full model behind the vote: it answers where the vote's radius is below a gate.

Inputs are a rule's certificates and the full model's labels; models and tables are not known here.
The full model sees all columns, so an attacker may make it say anything: nothing is proven where it
answers, and elsewhere the radius is what an attacker must spend to close the gate.

Soundness: a unit that is corrupted must lower the vote's radius by one at most. That holds for the
gap certificate, and is proven of no other here (theory, section 12).
"""

from dataclasses import replace
from typing import Any, Self

import numpy as np

from .._support.numbers import check_whole
from .._support.types import Array
from ..certificates import Certificates
from ..errors import InputError
from ._base import Rule
from ._plurality import Plurality
from ._reach import Reach
from ._tournament import Tournament

MOST_OVERLAPPING = 1  # the largest gate where units share submodels


def check_gate(rule: Any, gate: int, overlapping: bool) -> None:
    """Refuse a gate in front of a radius that one unit is not proven to lower by one at most.

    ``overlapping``: whether two units may reach the same submodel.
    """
    if gate == 0:
        return
    if not isinstance(getattr(rule, "rule", rule), Plurality | Tournament):
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

    def __init__(self, rule: Rule, gate: int = 1) -> None:
        self.rule = rule
        self.gate = gate

    def brief(self) -> Self:
        return type(self)(self.rule.brief(), self.gate)

    def check(self) -> None:
        check_whole("gate", self.gate, 1)
        self.rule.check()

    def certify(
        self, ballots: Any, reach: Any = None, cover: str = "bound", time_limit: float = 10.0
    ) -> Certificates:
        self.check()
        if getattr(ballots, "fallback", None) is None:
            raise InputError(
                f"ballots hold no scores of a fallback, which {self!r} needs: give clf.ballots(X) "
                "of a model with a fallback, or another rule"
            )
        proof = self.rule.certify(ballots, reach, cover, time_limit)
        overlapping = reach is not None and Reach(reach, ballots.shape[1]).overlaps
        check_gate(self.rule, self.gate, overlapping)
        return gated(proof, self.gate, np.asarray(ballots.fallback).argmax(axis=1))


def is_open(proof: Certificates, gate: int) -> Array:
    """Return which rows the vote decides: its radius reaches the gate, or nothing breaks it."""
    return np.asarray((proof.radius >= gate) | (proof.radius >= proof.counts.total))


def gated(proof: Certificates, gate: int, fallback: Array) -> Certificates:
    """Return the certificates of a vote with a full model behind it.

    Where the vote's radius is at least ``gate``, the prediction is its label and the radius what is
    left of the vote's above the gate. Elsewhere it is the full model's label, with radius 0.

    Parameters
    ----------
    proof : Certificates
        The vote's, as a rule made them (:func:`check_gate` says of which): class indexes.
    gate : int
        The least radius at which the vote decides.
    fallback : array of int, shape (n_samples,)
        The full model's labels, as class indexes.

    Returns
    -------
    Certificates
        A row that nothing can break stays one. ``runner_up`` is the vote's; where the full model
        answers and the vote has another label, it is that one.

    Examples
    --------
    >>> import numpy as np
    >>> from partita import certify
    >>> from partita.rules._gate import gated
    >>> votes = certify(np.eye(2)[[[0, 0, 0, 0, 0], [0, 0, 0, 1, 1]]], rule="plurality")
    >>> proof = gated(votes, 1, np.array([1, 1]))
    >>> proof.prediction.tolist(), proof.radius.tolist(), proof.runner_up.tolist()
    ([0, 1], [1, 0], [1, 0])
    """
    opened = is_open(proof, gate)
    unbreakable = proof.radius >= proof.counts.total
    left = np.where(unbreakable, proof.radius, proof.radius - gate)
    runner_up = proof.runner_up
    if runner_up is not None:
        by_vote = opened | (fallback == proof.prediction)
        runner_up = np.where(by_vote, runner_up, proof.prediction)
    frontier = proof.frontier
    return replace(
        proof,
        frontier=frontier and replace(frontier, gate=gate),
        prediction=np.where(opened, proof.prediction, fallback),
        radius=np.where(opened, left, 0),
        runner_up=runner_up,
    )
