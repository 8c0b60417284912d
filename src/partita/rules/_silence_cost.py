"""Compute what silence cost: the radius if those who abstain had sided with the prediction."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from .._support import Array
from ..ballots import Ballots
from ..certificates import Certificates
from ..silence import Silence
from ._ballots import HIGHEST
from ._pooled import PooledRule


def with_silence(
    names: Sequence[str],
    ballots: Ballots,
    proof: Certificates,
    decided: Array,
    certify: Callable[[Ballots, Array], Certificates],
) -> Certificates:
    """Return certificates that say what was silent, and what that cost at most.

    Parameters
    ----------
    names : sequence of str
        The units.
    ballots : Ballots
        What ``proof`` certifies.
    proof : Certificates
        Returned as it is where no units are known to be silent.
    decided : array
        The decision about each row: class indexes, or values.
    certify : callable
        Certifies ballots that have no abstentions, of some of the rows.
    """
    abstentions = ballots.abstentions
    if abstentions is None or abstentions.units is None:
        return proof
    abstained = abstentions.submodels.sum(axis=1)
    without = np.array(proof.radius)
    rows = np.flatnonzero(abstained)
    if len(rows):
        if isinstance(ballots.rule, PooledRule):
            at_best = np.full(len(rows), ballots.rule.radius)
        else:
            again = certify(_filled(ballots[rows], decided[rows]), rows)
            same = proof.of_values | (again.prediction == decided[rows])
            at_best = np.where(same, again.radius, 0)
        without[rows] = np.maximum(without[rows], at_best)
    silence = Silence(
        abstentions.units,
        tuple(names),
        abstained,
        ballots.shape[1],
        np.asarray(proof.radius),
        without,
        abstentions.detected,
    )
    return replace(proof, silence=silence)


def _filled(ballots: Ballots, decided: Array) -> Ballots:
    """Return ballots in which the submodels that abstained side with the decision."""
    assert ballots.abstentions is not None
    gone = ballots.abstentions.submodels
    if ballots.scores.ndim == 2:
        centre, stretch = ballots.rule.centre or 0.0, ballots.rule.stretch
        value = centre + (decided - centre) / stretch
        scores = np.where(gone, value[:, None], ballots.scores)
    else:
        sided = np.where(np.arange(ballots.shape[2]) == decided[:, None], 0, -HIGHEST)
        scores = np.where(gone[:, :, None], sided[:, None], ballots.scores)
    return replace(ballots, scores=scores.astype(ballots.dtype), abstentions=None)
