"""The report's table of rows: prediction, radius, runner-up, critical units, and what decides.

What decides a row is the closest duel, the second round, the votes, or the models that leave units
out: who disagrees, and what explains it. The latter are hints for people, and no certificates.
"""

import math

import numpy as np

from .._support import Array, JsonObject, json_value, shortened
from ..ensemble import FittedEnsemble
from ..partition import LeaveOut
from ..rules import PooledRule, Rule, RunOff, Tournament
from ..watch import Disagreement
from ..workflow import CertifiedTable

DIGITS = 6  # of a number that is shown
MOST_VALUES = 50  # that are drawn in a row; of more, evenly many from the lowest to the highest
LONGEST_LABEL = 24  # longer ones are cut in these sentences; other columns have them in full
LONGEST_NAME = 40
SHOWN_LABELS = 3  # whose votes are listed
SHOWN_UNITS = 3  # of a group, in a sentence


def row_numbers(
    certified: CertifiedTable,
    stated: CertifiedTable,
    right: Array | None,
    most: int,
    disagreement: Disagreement | None,
) -> list[JsonObject]:
    """Return the rows with the smallest radius, from there up; values without a radius come last.

    ``certified`` has the predictions, ``stated`` the certificates that the report is about, and
    ``disagreement`` how models that leave units out differ, where the submodels do.
    """
    proof, critical, truth = stated.proof, stated.critical_units, certified.truth
    radius = np.zeros(len(certified), np.int64) if proof is None else proof.radius
    listed = np.argsort(np.where(radius < 0, np.iinfo(np.int64).max, radius), kind="stable")[:most]
    names = np.asarray(certified.model.units_.names, dtype=object)
    has_values = certified.model.task == "regression"
    shown = DIGITS if has_values else None  # a label is shown to its last digit
    rows = []
    for i in listed.tolist():
        row: JsonObject = {"row": i, "prediction": json_value(certified.prediction[i], shown)}
        if truth is not None:
            row["truth"] = json_value(truth[i], shown)
        if right is not None:
            row["right"] = bool(right[i])
        if proof is not None and critical is not None:
            runner_up = None if proof.runner_up is None else proof.runner_up[i]
            row["radius"] = int(radius[i]) if radius[i] >= 0 else None
            row["runner_up"] = json_value(runner_up, shown)
            row["critical_units"] = names[critical[:, i]].tolist() if radius[i] >= 0 else []
        decides = _values if has_values else deciding_votes
        rows.append(row | decides(certified, i, disagreement))
    return rows


def _values(certified: CertifiedTable, i: int, disagreement: Disagreement | None) -> JsonObject:
    """Return every submodel's value for row i, or every model's, and the interval for every r."""
    found: JsonObject = {}
    if disagreement is None:
        own = certified.ballots[i : i + 1]
        votes = certified.model.votes(own)[0]
        if own.abstentions is not None:
            votes = votes[~own.abstentions.submodels[0]]
    else:
        votes, found = disagreement.votes[i], _models_of_row(disagreement, i)
    values = np.sort(votes)
    if not len(values):  # all sources are silent
        values = certified.prediction[i : i + 1]
    if len(values) > MOST_VALUES:
        values = values[np.linspace(0, len(values) - 1, MOST_VALUES).round().astype(np.int64)]
    intervals = certified.intervals.values()
    return found | {
        "values": json_value(values, DIGITS),
        "low": [outward(low[i], -1) for low, _ in intervals],
        "high": [outward(high[i], 1) for _, high in intervals],
    }


def outward(end: float, direction: int, digits: int = DIGITS) -> float | None:
    """Round an interval's end to a few digits, never inside of the true one; None: no end.

    ``direction``: -1 for the lower end, 1 for the upper.
    """
    if not math.isfinite(end) or end == 0:
        return 0.0 if end == 0 else None
    short = float(f"{end:.{digits}g}")
    if direction * (short - end) >= 0:
        return short
    step = 10.0 ** (math.floor(math.log10(abs(end))) - digits + 1)
    wider = float(f"{short + direction * step:.{digits}g}")
    return wider if math.isfinite(wider) else None


# ---- what decides a label: votes ----


def column_heading(rule: Rule) -> str:
    """Return the heading of the column that shows what decides."""
    if isinstance(rule, Tournament):
        return "closest duel"
    if isinstance(rule, PooledRule):
        return "models"
    return "round 2" if isinstance(rule, RunOff) else "votes"


def deciding_votes(
    certified: CertifiedTable, i: int, disagreement: Disagreement | None = None
) -> JsonObject:
    """Return how the label predicted for row i won.

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
        return _models_of_row(disagreement, i, winner, second)
    name, rule = shortened(runner_up, LONGEST_LABEL), certified.rule
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
        leader = f"{shortened(label, LONGEST_LABEL)} " if isinstance(rule, Tournament) else ""
        sentence = f"fallback; in the vote {leader}{sentence}"
    bar = [round(100 * votes / n_submodels, 2) for votes in sides]
    return {"decided": sentence, "lead": lead, "bar": bar}


def _duel(
    rule: Tournament, scores: Array, winner: int, second: int, runner_up: str
) -> tuple[str, float, tuple[float, float]]:
    """Describe the tournament's duel of the prediction and its runner-up, in full votes."""
    losses, budgets = rule.gaps(scores)
    full, n_submodels = rule.full_vote, scores.shape[1]
    # a budget is the gap less the tie that a smaller label wins
    gap = int(budgets[0, second]) + (second < winner)
    cast = losses[0, second].astype(np.int64) - full
    sides = float(cast[cast > 0].sum() / full), float(-cast[cast < 0].sum() / full)
    head = rule.head_start(scores.shape[2])
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
    """Format a gap in full votes; one that is not 0 never reads as 0."""
    if gap % full == 0:
        return str(gap // full)
    return "less than 0.1" if gap < 0.05 * full else f"{gap / full:.1f}"


def _second_round(
    scores: Array, winner: int, second: int, runner_up: str
) -> tuple[str, float, tuple[float, float]]:
    """Describe round 2: every submodel sides with the label that it scores higher."""
    own, other = scores[:, winner], scores[:, second]
    sides = int(np.sum(own > other)), int(np.sum(own < other))
    undecided = len(scores) - sum(sides)
    sentence = f"{sides[0]} to {sides[1]} against {runner_up}"
    return sentence + f", {undecided} undecided" * bool(undecided), sides[0] - sides[1], sides


def _votes(
    scores: Array, winner: int, second: int, classes: Array
) -> tuple[str, float, tuple[float, float]]:
    """List the votes, most first."""
    votes = np.bincount(scores.argmax(axis=1), minlength=len(classes)).tolist()
    order = [k for k in np.argsort([-n for n in votes], kind="stable").tolist() if votes[k]]
    listed = [f"{shortened(classes[k], LONGEST_LABEL)}: {votes[k]}" for k in order[:SHOWN_LABELS]]
    sentence = " · ".join([*listed, *["…"] * (len(order) > SHOWN_LABELS)])
    return sentence, votes[winner] - votes[second], (votes[winner], votes[second])


# ---- what decides where models leave units out ----


def leave_out_numbers(model: FittedEnsemble, disagreement: Disagreement) -> JsonObject:
    """Return an ensemble's models that leave units out, and the groups, the most suspect first."""
    sets = model.partition_
    assert isinstance(sets, LeaveOut)
    left_out = [list(groups) for groups in sets.left_out]
    only, without = disagreement.suspect.sum(axis=0), disagreement.agree_without.sum(axis=0)
    return {
        "radius": sets.radius,
        "groups": disagreement.groups,
        "models": int(disagreement.votes.shape[1]),
        "left_out": [groups for groups in left_out if groups],
        "with_full_member": not all(left_out),
        "suspects": {
            "contested": int(disagreement.contested.sum()),
            "unsettled": int((disagreement.unsettled & disagreement.contested).sum()),
            "groups": [
                {
                    "group": int(g),
                    "units": disagreement.groups[g],
                    "only": int(only[g]),
                    "without": int(without[g]),
                }
                for g in np.lexsort((-without, -only))
            ],
        },
    }


def _models_of_row(
    disagreement: Disagreement, i: int, label: int | None = None, runner_up: int | None = None
) -> JsonObject:
    """Return what the models predict for row i.

    ``label``, ``runner_up``: the prediction and the next label, as indexes; None for values.

    Returns
    -------
    dict
        ``decided``: a sentence; ``suspects``: the units of suspect groups. For labels also
        ``lead``, in models, and ``bar``: the shares of all models, in %, that side with the
        prediction and with the runner-up.
    """
    suspects = np.flatnonzero(disagreement.suspect[i])
    units = [unit for g in suspects for unit in disagreement.groups[g]]
    named = ", ".join(shortened(unit, LONGEST_NAME) for unit in units[:SHOWN_UNITS])
    named += f" and {len(units) - SHOWN_UNITS} more" if len(units) > SHOWN_UNITS else ""
    if label is None:
        sentence = f"narrow only without {named}" if units else ""
        return {"decided": sentence, "suspects": units}
    votes, n_models = disagreement.votes[i], disagreement.votes.shape[1]
    own, other = (int(np.sum(votes == one)) for one in (label, runner_up))
    if own == n_models:
        sentence = f"all {n_models} models agree"
    else:
        if disagreement.unsettled[i]:
            end = "no set agrees, so the model on all columns decides"
        elif units:
            end = f"agree only without {named}"
        else:
            size = int(disagreement.members_of_sets[0].sum())
            sets = "groups" if size == 1 else f"sets of {size} groups"
            end = f"agree without any one of {int(disagreement.agree[i].sum())} {sets}"
        sentence = f"{own} of {n_models} models; {end}"
    bar = [round(100 * count / n_models, 2) for count in (own, other)]
    return {"decided": sentence, "suspects": units, "lead": own - other, "bar": bar}
