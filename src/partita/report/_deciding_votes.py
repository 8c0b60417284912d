"""What decides a row: the closest duel, the second round, or the votes."""

from typing import Any

import numpy as np

from .._support import shortened
from ..rules import PooledRule, Rule, RunOff, Tournament
from ..workflow import CertifiedTable
from ._suspects import Disagreement

LONGEST_LABEL = 24  # longer ones are cut in these sentences; other columns have them in full
SHOWN_LABELS = 3  # whose votes are listed


def column_heading(rule: Rule) -> str:
    """The heading of the column that shows what decides."""
    if isinstance(rule, Tournament):
        return "closest duel"
    if isinstance(rule, PooledRule):
        return "models"
    return "round 2" if isinstance(rule, RunOff) else "votes"


def deciding_votes(
    certified: CertifiedTable, i: int, disagreement: Disagreement | None = None
) -> dict[str, Any]:
    """How the label predicted for row i won.

    ``disagreement``: what models say that leave units out, where the submodels do.

    Returns
    -------
    dict
        ``decided``: a sentence; ``lead``: by how many votes; ``bar``: the shares of all submodels,
        in %, that side with the prediction and with the runner-up. Where the fallback answers, all
        of it is about the vote's own label.
    """
    classes, ballots = certified.model.classes_, certified.ballots[i : i + 1]
    n_submodels = ballots.shape[1]
    proof = certified.proof
    assert proof is not None  # labels always have one
    if proof.runner_up is None:
        return {"decided": "the only label", "lead": n_submodels, "bar": [100.0, 0.0]}
    label, runner_up = proof.prediction[i], proof.runner_up[i]
    by_fallback = bool(certified.by_fallback[i])
    if by_fallback:  # what follows is about the vote that it overrules
        vote = certified.rule.certify(ballots)
        label, runner_up = classes[vote.prediction[0]], classes[vote.runner_up[0]]
    winner, second = (int(np.searchsorted(classes, one)) for one in (label, runner_up))
    if disagreement is not None:
        return disagreement.row(i, winner, second)
    name, rule = _short(runner_up), certified.rule
    silence, scores = ballots.abstentions, ballots.scores
    if silence is not None:
        if isinstance(rule, PooledRule):
            return {"decided": "models without the silent groups", "lead": 0, "bar": [0.0, 0.0]}
        scores = scores[:, ~silence.submodels[0]]
        if scores.shape[1] == 0:
            return {"decided": "all sources are silent", "lead": 0, "bar": [0.0, 0.0]}
    if isinstance(rule, Tournament):
        sentence, lead, sides = _duel(rule, scores, winner, second, name)
    elif isinstance(rule, RunOff):
        sentence, lead, sides = _second_round(scores[0], winner, second, name)
    else:
        sentence, lead, sides = _votes(scores[0], winner, second, classes)
    if by_fallback:
        leader = f"{_short(label)} " if isinstance(rule, Tournament) else ""
        sentence = f"fallback; in the vote {leader}{sentence}"
    bar = [round(100 * votes / n_submodels, 2) for votes in sides]
    return {"decided": sentence, "lead": lead, "bar": bar}


def _duel(
    rule: Tournament, ballots: Any, winner: int, second: int, runner_up: str
) -> tuple[str, float, tuple[float, float]]:
    """The tournament's duel of the prediction and its runner-up, in full votes."""
    losses, budgets = rule.gaps(ballots)
    full, n_submodels = rule.full_vote, ballots.shape[1]
    # a budget is the gap less the tie that a smaller label wins
    gap = int(budgets[0, second]) + (second < winner)
    cast = losses[0, second].astype(np.int64) - full
    sides = float(cast[cast > 0].sum() / full), float(-cast[cast < 0].sum() / full)
    head = rule.head_start(ballots.shape[2])
    head_start = int(head[winner] - head[second])
    by = f"by {in_votes(abs(gap), full)} of {n_submodels} votes"
    if gap > 0:
        sentence = f"leads {runner_up} {by}"
    elif gap == 0:
        sentence = f"level with {runner_up}"
    else:
        sentence = f"behind {runner_up} {by}; no label beats all others"
    if head_start:
        whose = "included" if head_start > 0 else f"for {runner_up} deducted"
        sentence += f" ({in_votes(abs(head_start), full)} head start {whose})"
    return sentence, round(gap / full, 4), sides


def in_votes(gap: int, full: int) -> str:
    """A gap in full votes; one that is not 0 never reads as 0."""
    if gap % full == 0:
        return str(gap // full)
    return "less than 0.1" if gap < 0.05 * full else f"{gap / full:.1f}"


def _second_round(
    ballots: Any, winner: int, second: int, runner_up: str
) -> tuple[str, float, tuple[float, float]]:
    """Round 2 of the run-off: every submodel sides with the label that it scores higher."""
    sides = (
        int(np.sum(ballots[:, winner] > ballots[:, second])),
        int(np.sum(ballots[:, winner] < ballots[:, second])),
    )
    undecided = len(ballots) - sum(sides)
    sentence = f"{sides[0]} to {sides[1]} against {runner_up}"
    sentence += f", {undecided} undecided" if undecided else ""
    return sentence, sides[0] - sides[1], sides


def _votes(
    ballots: Any, winner: int, second: int, classes: Any
) -> tuple[str, float, tuple[float, float]]:
    """The votes, most first."""
    votes = np.bincount(ballots.argmax(axis=1), minlength=len(classes))
    order = [label for label in np.argsort(-votes, kind="stable").tolist() if votes[label]]
    sentence = " · ".join(
        f"{_short(classes[label])}: {votes[label]}" for label in order[:SHOWN_LABELS]
    )
    sentence += " · …" if len(order) > SHOWN_LABELS else ""
    return (
        sentence,
        int(votes[winner] - votes[second]),
        (int(votes[winner]), int(votes[second])),
    )


def _short(label: Any) -> str:
    return shortened(label, LONGEST_LABEL)
