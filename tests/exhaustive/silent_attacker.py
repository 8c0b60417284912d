"""An attacker who lies, and sources that fall silent, tried in every combination.

``truth`` and its like ask whether a decision can change when any r submodels lie and any m others
abstain. Liars may say anything, and keep silent where silence is read from their values; then they
may also speak up in place of a submodel that was silent. Decisions are taken from ``attacker``,
which knows nothing of certificates.
"""

from itertools import combinations, combinations_with_replacement

import numpy as np

from partita.ballots import Abstentions, Ballots
from tests.exhaustive import attacker


def cases(n_submodels, absent, lying, silent, detected):
    """Every choice of liars and of submodels that fall silent, as masks."""
    liars = range(n_submodels) if detected else np.flatnonzero(~absent)
    for chosen in combinations(liars, lying):
        rest = [t for t in range(n_submodels) if t not in chosen and not absent[t]]
        for quiet in combinations(rest, min(silent, len(rest))):
            lies, gone = np.zeros((2, n_submodels), dtype=bool)
            lies[list(chosen)] = True
            gone[list(quiet)] = True
            yield lies, gone | absent


def no_votes(decide, n_labels, default):
    """What is decided where nobody votes: a head start if there is one, else the default."""
    if default is not None:
        return default
    nothing = np.zeros((1, n_labels + 2 * n_labels**2), dtype=int)
    return decide(*attacker.parts(nothing, n_labels))[0]


def decision_of(ballots, decide, margin):
    n_labels = ballots.shape[1]
    sums = attacker.tally(ballots, margin).sum(axis=0, keepdims=True)
    return decide(*attacker.parts(sums, n_labels))[0]


def decision(row, absent, decide, margin, default):
    """What the ballots that are there decide."""
    if absent.all():
        return no_votes(decide, row.shape[1], default)
    return decision_of(row[~absent], decide, margin)


def outcomes(row, lies, gone, decide, margin, default, may_fake):
    """Every decision that the liars can bring about while others are gone."""
    n_labels = row.shape[1]
    honest = ~lies & ~gone
    rest = attacker.tally(row, margin)[honest].sum(axis=0)
    rest = rest * attacker.mask(n_labels, decide.hears)
    for size in range(0 if may_fake else int(lies.sum()), int(lies.sum()) + 1):
        if size + honest.sum() == 0:
            yield no_votes(decide, n_labels, default)
        else:
            yield from attacker.outcomes_of(rest, size, decide, margin)


def survives(row, absent, lying, silent, decide, margin=0.0, default=0, detected=False):
    """Whether no choice of liars and of silent submodels changes the decision."""
    before = decision(row, absent, decide, margin, default)
    return all(
        outcome == before
        for lies, gone in cases(len(row), absent, lying, silent, detected)
        for outcome in outcomes(row, lies, gone, decide, margin, default, may_fake=True)
    )


def median(votes, default):
    """The lower median of the votes that are there."""
    there = np.sort(votes[~np.isnan(votes)])
    return there[(len(there) + 1) // 2 - 1] if len(there) else default


def median_survives(votes, lower, upper, lying, silent, default, detected=False):
    """The same for the median and its bounds; liars take every value, and keep silent."""
    ends = [end for end in (lower, upper) if np.isfinite(end)]
    known = [*votes[~np.isnan(votes)], *ends, 0.0]
    values = [*np.unique(known), min(known) - 1, max(known) + 1, np.nan]
    for lies, gone in cases(len(votes), np.isnan(votes), lying, silent, detected):
        for said in combinations_with_replacement(values, lying):
            changed = np.where(gone, np.nan, votes)
            changed[lies] = said
            if not lower <= median(changed, default) <= upper:
                return False
    return True


def union_cases(reach, lying, silent):
    """Every choice of units that lie and of others that are silent, as masks of submodels."""
    for chosen in combinations(range(len(reach)), lying):
        rest = [unit for unit in range(len(reach)) if unit not in chosen]
        for quiet in combinations(rest, min(silent, len(rest))):
            lies = reach[list(chosen)].any(axis=0)
            yield lies, reach[list(quiet)].any(axis=0) & ~lies


def with_abstentions(scores, detected, default, rule=None):
    """Ballots in which NaN stands for a submodel that abstains."""
    array = np.asarray(scores, dtype=float)
    silent = np.isnan(array).reshape(*array.shape[:2], -1).all(axis=2)
    gone = silent.reshape(*silent.shape, *[1] * (array.ndim - 2))
    abstentions = Abstentions(silent, default, detected)
    return Ballots(np.where(gone, 0, array), rule, abstentions=abstentions)
