"""What decides a row: the closest duel, the second round, or the votes."""

from typing import Any

import numpy as np

from ..rules import Rule, RunOff, Tournament
from ..workflow._certified_rows import Answers

LONG = 24  # longer labels are cut in these sentences; the table's other columns have them whole
FIRST = 3  # labels whose votes are told


def heading_of(rule: Rule) -> str:
    """The name of the column that shows what decides."""
    return (
        "closest duel"
        if isinstance(rule, Tournament)
        else "round 2"
        if isinstance(rule, RunOff)
        else "votes"
    )


def what_decides(answers: Answers, i: int) -> dict[str, Any]:
    """How the prediction of row i won.

    Returns
    -------
    dict
        ``decided``: a sentence; ``lead``: by how many votes; ``bar``: the shares of all submodels,
        in %, that side with the prediction and with its rival.
    """
    model, ballots = answers.model, answers.ballots[i : i + 1]
    n_submodels = ballots.shape[1]
    proof = answers.proof
    assert proof is not None  # labels always have one
    if proof.runner_up is None:
        return {"decided": "the only label", "lead": n_submodels, "bar": [100.0, 0.0]}
    mine, other = (
        int(np.searchsorted(model.classes_, label))
        for label in (proof.prediction[i], proof.runner_up[i])
    )
    if isinstance(answers.rule, Tournament):
        decided, lead, sides = _duel(answers.rule, ballots, mine, other, _short(proof.runner_up[i]))
    elif isinstance(answers.rule, RunOff):
        decided, lead, sides = _second_round(ballots[0], mine, other, _short(proof.runner_up[i]))
    else:
        decided, lead, sides = _votes(ballots[0], mine, other, model.classes_)
    return {
        "decided": decided,
        "lead": lead,
        "bar": [round(100 * votes / n_submodels, 2) for votes in sides],
    }


def _duel(
    rule: Tournament, ballots: Any, mine: int, other: int, rival: str
) -> tuple[str, float, tuple[float, float]]:
    """The tournament's duel of the prediction and its rival, in full votes."""
    losses, budgets = rule.gaps(ballots)
    full, n_submodels = rule.full_vote, ballots.shape[1]
    gap = int(budgets[0, other]) + (
        other < mine
    )  # a budget is the gap less the tie that a smaller label wins
    cast = losses[0, other].astype(np.int64) - full
    sides = float(cast[cast > 0].sum() / full), float(-cast[cast < 0].sum() / full)
    head = rule.head_start(ballots.shape[2])
    ahead = int(head[mine] - head[other])
    by = f"by {_in_votes(abs(gap), full)} of {n_submodels} votes"
    if gap > 0:
        told = f"leads {rival} {by}"
    elif gap == 0:
        told = f"level with {rival}"
    else:
        told = f"behind {rival} {by}; no label beats all others"
    if ahead:
        whose = "included" if ahead > 0 else f"for {rival} deducted"
        told += f" ({_in_votes(abs(ahead), full)} head start {whose})"
    return told, round(gap / full, 4), sides


def _in_votes(gap: int, full: int) -> str:
    """A gap in full votes; what is not nothing never reads as nothing."""
    if gap % full == 0:
        return str(gap // full)
    return "less than 0.1" if gap < 0.05 * full else f"{gap / full:.1f}"


def _second_round(
    ballots: Any, mine: int, other: int, rival: str
) -> tuple[str, float, tuple[float, float]]:
    """Round 2 of the run-off: every submodel sides with the label that it scores higher."""
    sides = (
        int(np.sum(ballots[:, mine] > ballots[:, other])),
        int(np.sum(ballots[:, mine] < ballots[:, other])),
    )
    undecided = len(ballots) - sum(sides)
    return (
        f"{sides[0]} to {sides[1]} against {rival}"
        + (f", {undecided} undecided" if undecided else ""),
        sides[0] - sides[1],
        sides,
    )


def _votes(
    ballots: Any, mine: int, other: int, classes: Any
) -> tuple[str, float, tuple[float, float]]:
    """The votes, most first."""
    votes = np.bincount(ballots.argmax(axis=1), minlength=len(classes))
    order = [label for label in np.argsort(-votes, kind="stable").tolist() if votes[label]]
    told = " · ".join(f"{_short(classes[label])}: {votes[label]}" for label in order[:FIRST])
    return (
        told + (" · …" if len(order) > FIRST else ""),
        int(votes[mine] - votes[other]),
        (int(votes[mine]), int(votes[other])),
    )


def _short(label: Any) -> str:
    text = str(label)
    return text if len(text) <= LONG else text[: LONG - 1] + "…"
