"""The numbers of the report, as plain data: everything that the page shows is gathered here.

They come from one certified table; what was found elsewhere (a sweep, an audit, the summary) is
handed in. What decides a row is the closest duel, the second round, the votes, or the models that
leave units out: who disagrees, and what explains it. The latter are hints for people, and no
certificates.
"""

import math
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np

from .. import __version__
from .._support import Array, JsonObject, json_value, shortened
from ..ballots import Ballots
from ..certificates import TRAINING_TABLE, Certificates
from ..ensemble import FittedEnsemble
from ..errors import InputError
from ..metrics import correct_radius, label_set_curve, shares_at_radii
from ..partition import LeaveOut
from ..rules import PooledRule, Rule, RunOff, TopK, Tournament, named_rule
from ..selection import Choice
from ..watch import (
    Disagreement,
    ReferenceRates,
    SourceRate,
    Watcher,
    evidence,
    source_names,
    source_units,
)
from ..workflow import CertifiedTable
from ._statements import FULL_MODEL, banners_of, criterion_of, price_of, statements_of

MOST_ROWS = 1000  # rows in the table; the curves are over all of them
MOST_OWNED = 5  # attackers who own up to so many units are tried against all rows at once
OTHER_RULES = ("tournament", "runoff", "plurality")  # whose curves are drawn beside the model's
MOST_LYING, MOST_SILENT = 8, 12  # rows and columns of the table of silence
SHADES = 10  # of its cells
MOST_SOURCES = 200  # in the table of sources that contradict the outcome
MOST_PAIRS = 10**7  # of labels, in all rows, for which label sets take seconds
QUALITY: JsonObject = {  # what stands beside the shares, where it is known
    "warnings": [],
    "constant": None,
    "full_model": None,
    "recall": [],
    "balanced": [],
    "on_training": False,
    "chosen": None,
}


def gather(
    certified: CertifiedTable,
    *,
    title: str,
    origin: Mapping[str, str] | None = None,
    files: Mapping[str, str] | None = None,
    sweep: Choice | None = None,
    audit: JsonObject | None = None,
    quality: JsonObject | None = None,
    usual: ReferenceRates | None = None,
    most_rows: int = MOST_ROWS,
) -> JsonObject:
    """Collect everything that the report shows.

    Parameters
    ----------
    certified : CertifiedTable
        The rows. If their truth is known and they are values with a tolerance, every number of the
        report is about staying within the tolerance of the truth.
    title : str
        The report's heading.
    origin : mapping, optional
        Where it all comes from, by name: versions, seeds, hashes.
    files : mapping, optional
        The sha256 of the model's files, by name.
    sweep : Choice, optional
        What a search found, for the curves over the number of submodels.
    audit : mapping, optional
        What an audit found.
    quality : mapping, optional
        What tells a useful proof from an empty one; every key may be absent or None. ``warnings``:
        texts; ``constant``: the ``answer`` and the ``share`` it gets right; ``full_model``: the
        share that one model on all columns gets right; ``recall``: for each ``label`` its number of
        ``rows`` and its certified recall (``share``) at r = 0 and up, and if known how many rows
        are ``predicted`` as it, how many of them are ``kept`` and what is left of its ``precision``
        at r = 0 and up; ``balanced``: the mean of the recalls; ``on_training``: whether these are
        the training rows; ``chosen``: how the settings came about, and what that means for a
        radius.
    usual : ReferenceRates, optional
        How often sources contradict the outcome on clean rows.
    most_rows : int, default=1000
        How many rows the table lists, those with the smallest radius first.

    Returns
    -------
    dict
        Plain data, for :func:`render`.

    Raises
    ------
    InputError
        If the model's rule is ``TopK``, whose radius no report shows.

    See Also
    --------
    render : The report as one HTML text.
    write_report : Both for a file that a stored model certified.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from partita import FeaturePartitionClassifier
    >>> from partita.report import gather
    >>> from partita.workflow import CertifiedTable
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> clf = FeaturePartitionClassifier(GaussianNB(), n_submodels=5).fit(X[::2], y[::2])
    >>> certified = CertifiedTable.of(clf, X[1::2], truth=y[1::2].to_numpy())
    >>> facts = gather(certified, title="Wine")
    >>> facts["n_rows"], facts["what"]
    (89, 'columns')
    """
    if isinstance(certified.rule, TopK):
        raise InputError(
            "the model's rule is TopK, whose radius is about staying among the top k, which no "
            "report shows: use another rule"
        )
    model, counts, truth = certified.model, certified.model.counts_, certified.truth
    stated = certified if truth is None else certified.against_truth
    right = None if truth is None or stated.proof is None else stated.proof.correct(truth)
    # a value that is not right now cannot stay right, so it is counted separately
    counted = right if stated.by_truth else None
    disagreement = Disagreement.of(certified.model, certified.ballots)
    only_rows, of_labels = model.trusts_training, model.task == "classification"
    curves = _curves(certified, stated.proof)
    sets = _label_sets(certified, curves)
    facts = {
        "title": title,
        "made": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "version": __version__,
        "task": model.task,
        "labels": json_value(model.classes_) if of_labels else [],
        "what": counts.what,
        "total": counts.total,
        "trusted": [name for name in counts.trusted if name != TRAINING_TABLE],
        "only_rows": only_rows,
        "label_attacks": bool(model.label_attacks),
        "on_failure": model.on_failure,
        "tolerance": certified.tolerance,
        "relative": certified.relative,
        "known_truth": truth is not None,
        "n_rows": len(certified),
        "right_now": None if right is None else int(right.sum()),
        "submodels": len(model.estimators_),
        "reaches": int(np.asarray(model.partition_.incidence()).sum(axis=1).max()),
        "rule": repr(certified.rule.without_fitted_state()),
        "gate": certified.gate,
        "by_fallback": int(certified.by_fallback.sum()),
        "decides": column_heading(certified.rule),
        "leave_out": None if disagreement is None else leave_out_numbers(model, disagreement),
        "curves": curves,
        "label_sets": _label_set_numbers(certified, sets),
        "silence": silence_numbers(stated, right),
        "watch": watch_numbers(certified, usual),
        "widths": _widths(certified),
        "collective": _collective(stated, counted),
        "units": unit_numbers(stated, counted),
        "partition": _partition(model),
        "rows": row_numbers(certified, stated, right, most_rows, disagreement, sets),
        "quality": _quality(quality or {}, len(model.failures_)),
        "sweep": None if sweep is None else sweep_numbers(sweep),
        "audit": None if audit is None else dict(audit),
        "origin": dict(origin or {}),
        "files": dict(files or {}),
    }
    facts |= {"criterion": criterion_of(facts), "banners": banners_of(facts)}
    facts["price"] = price_of(facts)
    return facts | {"default": _default_radius(facts), "at": statements_of(facts)}


def _default_radius(facts: JsonObject) -> int:
    """Return the radius that the page opens with: 1, or 0 where nothing is proven at 1."""
    if facts["curves"]:
        return int(facts["curves"][0]["share"][1] > 0)
    return min(1, len(facts["widths"]) - 1)


def _quality(quality: JsonObject, failed: int) -> JsonObject:
    """Fill in what is not known of the quality; ``failed``: how many submodels did."""
    given = {name: quality[name] for name in QUALITY if quality.get(name) is not None}
    found = QUALITY | given | {"failed": failed}
    if found["constant"]:
        answer = json_value(found["constant"]["answer"], DIGITS)
        found["constant"] = {"answer": answer, "share": float(found["constant"]["share"])}
    counts: JsonObject = {"predicted": None, "precision": [], "kept": []}
    found["recall"] = [counts | one for one in found["recall"]]
    return dict(json_value(found))


def _curves(certified: CertifiedTable, proof: Certificates | None) -> list[JsonObject]:
    """Return the share certified at every radius, by the model's rule, then by the other rules."""
    if proof is None:
        return []
    agreement = isinstance(certified.rule, PooledRule)
    own = "agreement" if agreement else type(certified.rule).__name__.lower()
    curves = [{"name": own, "share": _shares(proof, certified.truth)}]
    # a vote over models that share most units would prove next to nothing
    model = certified.model
    if not agreement and model.task == "classification" and len(model.classes_) > 1:
        # no gate can stand in front of a run-off
        others = ("tournament", "plurality") if certified.gate else OTHER_RULES
        for name in others:
            if name != own:
                other = certified.under(named_rule(name)).proof
                assert other is not None
                curves.append({"name": name, "share": _shares(other, certified.truth)})
    return curves


def _shares(proof: Certificates, truth: Array | None) -> list[float]:
    """Return the share of rows with a radius of at least r, and right, where the truth is known.

    For r = 0 and up, to the first 0, and to r = 1 at least.
    """
    radius = proof.radius if truth is None else correct_radius(truth, proof)
    shares: list[float] = shares_at_radii(radius).tolist()
    return shares if shares[-1] == 0 and len(shares) > 1 else [*shares, 0.0]


def _label_sets(certified: CertifiedTable, curves: list[JsonObject]) -> dict[int, Array]:
    """Return the labels that r units can bring about, bool (rows, labels), by r.

    None where they say no more than a radius: of two labels, and where every label may come about
    if the prediction does not stay. None, too, where they would take long.
    """
    n_labels = len(certified.model.classes_) if certified.model.task == "classification" else 0
    if n_labels < 3 or certified.gate or isinstance(certified.rule, PooledRule):
        return {}
    if len(certified) * n_labels**2 > MOST_PAIRS:
        return {}
    most = min(MOST_OWNED, len(curves[0]["share"]) - 1)
    return replace(certified, label_sets=most).possible_labels


def _label_set_numbers(certified: CertifiedTable, sets: dict[int, Array]) -> JsonObject | None:
    """Return the sets' mean ``size`` and, if known, their ``coverage``, at r = 0 and up."""
    if not sets:
        return None
    size = [1.0, *(float(one.sum(axis=1).mean()) for one in sets.values())]
    if certified.truth is None:
        return {"size": size, "coverage": None}
    curve = label_set_curve(certified.truth, list(sets.values()), certified.model.classes_)
    right = float(np.mean(certified.correct(certified.prediction)))
    return {"size": size, "coverage": [right, *curve.coverage.tolist()]}


def _widths(certified: CertifiedTable) -> list[float]:
    """Return the median width of values' intervals at r = 0 and up, while it is finite."""
    widths = [0.0, *(float(np.median(high - low)) for low, high in certified.intervals.values())]
    return [json_value(width, DIGITS) for width in widths if np.isfinite(width)]


def _collective(stated: CertifiedTable, counted: Array | None) -> list[JsonObject]:
    """Return what one attacker who owns the same units everywhere can do to the counted rows."""
    names = stated.model.units_.names
    most = min(MOST_OWNED, len(names))
    if isinstance(stated.rule, PooledRule):  # beyond its radius nothing is proven
        most = min(most, stated.rule.radius)
    found = []
    for radius in range(1, most + 1):
        one = stated.collective(radius, rows=counted)
        if one is None:
            break
        shown = {name: getattr(one, name) for name in ("radius", "changed", "pointwise", "exact")}
        found.append(shown | {"units": [names[unit] for unit in one.units]})
    return found


def _partition(model: FittedEnsemble) -> list[list[str]]:
    """Return the units of each submodel."""
    names, partition = model.units_.names, model.partition_
    return [[names[unit] for unit in partition[t]] for t in range(len(partition))]


def unit_numbers(stated: CertifiedTable, counted: Array | None) -> list[JsonObject]:
    """Return the units, the most critical first.

    ``critical``: in how many of the counted rows (all, if None) a unit could break the statement
    alone; None where nothing is stated. ``agreement``: how often its submodels' votes fulfil the
    statement; where units are left out, the ``group`` of each is given instead.
    """
    model = stated.model
    critical, rule = stated.critical_units, stated.rule
    agreement = stated.agreement()
    groups = rule.unit_groups().tolist() if isinstance(rule, PooledRule) else None
    names = getattr(model, "feature_names_in_", np.arange(model.n_features_in_))
    rows = slice(None) if counted is None else counted
    found = [
        {
            "name": model.units_.names[unit],
            "columns": [str(names[column]) for column in model.units_.columns[unit]],
            "submodels": np.flatnonzero(reach).tolist(),
            "group": None if groups is None else groups[unit],
            "critical": None if critical is None else int(critical[unit, rows].sum()),
            # where units are left out, nearly all members see each unit
            "agreement": _mean(agreement[reach]) if groups is None else None,
        }
        for unit, reach in enumerate(np.asarray(model.partition_.incidence()))
    ]
    return sorted(found, key=lambda one: (-(one["critical"] or 0), -(one["agreement"] or 0)))


def _mean(shares: Array) -> float | None:
    """Return the mean of the shares that are known; None where none is."""
    known = shares[~np.isnan(shares)]
    return float(known.mean()) if len(known) else None


def silence_numbers(stated: CertifiedTable, right: Array | None) -> JsonObject | None:
    """Return the shares of rows that survive r liars and m silent sources; None without silence.

    ``right``: which rows are right now, where that is known; only those are counted.
    """
    proof = stated.proof
    if proof is None or proof.frontier is None:
        return None
    counted = np.ones(len(proof), dtype=bool) if right is None else right
    radius = np.where(counted, proof.radius, -1)
    silent = np.where(counted, proof.silence_radius, -1)
    n_lying = int(np.clip(radius.max(initial=0), 0, MOST_LYING))
    n_silent = int(np.clip(silent.max(initial=0), 0, MOST_SILENT))
    shares = [
        [float((proof.survives(r, m) & counted).mean()) for m in range(n_silent + 1)]
        for r in range(n_lying + 1)
    ]
    return {
        "shares": shares,
        "shades": [[round(SHADES * share) for share in line] for line in shares],
        "median": None if not counted.any() else float(np.median(silent[counted])),
        "now": None if proof.silence is None else str(proof.silence),
    }


def watch_numbers(certified: CertifiedTable, usual: ReferenceRates | None) -> JsonObject | None:
    """Return how often each source contradicts; None where usual rates are needed and missing.

    Rows are tested in their order. Rows in which a source is silent are left out.
    """
    model, ballots = certified.model, certified.ballots
    if certified.silent_units is not None:
        silent = certified.silent_units.any(axis=1)
        ballots = replace(ballots[~silent], abstentions=None)
    if not len(ballots):
        return None
    if usual is None:
        if isinstance(model.rule_, PooledRule) or model.task == "regression":
            return None  # suspects have a table of their own, and distances need thresholds
        lines, false_alarms, every = _without_usual(model, ballots), None, 1
    else:
        watcher = Watcher(model, usual)
        watcher.update(ballots)
        found = watcher.result
        lines = [one.to_dict() for one in found.sources[:-1]]
        false_alarms, every = found.false_alarms, found.every
    lines.sort(key=_most_changed_first)
    shown: JsonObject = json_value(
        {
            "sources": lines[:MOST_SOURCES],
            "more": max(0, len(lines) - MOST_SOURCES),
            "rows": len(ballots),
            "every": every,
            "false_alarms": false_alarms,
            "usual_rows": None if usual is None else usual.rows,
            "alarms": [line["source"] for line in lines if line["alarm"] is not None],
        }
    )
    return shown


def _without_usual(model: FittedEnsemble, ballots: Ballots) -> list[JsonObject]:
    """Return how often each source contradicts, with nothing to compare it with."""
    found = evidence(model, ballots)
    counted = found.counted.sum(axis=0).tolist()
    contradictions = found.contradicts(np.zeros(len(counted))).sum(axis=0).tolist()
    units = source_units(model)
    names, nan = source_names(units), float("nan")
    numbers = zip(names, units, counted[:-1], contradictions[:-1], strict=True)
    return [
        SourceRate(name, tuple(own), nan, nan, n, against, nan, None).to_dict()
        for name, own, n, against in numbers
    ]


def _most_changed_first(line: JsonObject) -> tuple[bool, float]:
    return line["alarm"] is None, (line["usual"] or 0.0) - (line["rate"] or 0.0)


def sweep_numbers(choice: Choice) -> JsonObject:
    """Return the curves of a search that was read from its file, and what it recommends."""
    objective, settings = choice.objective, choice.settings
    level = objective.level(choice.constant)
    curves = [
        {
            "name": FULL_MODEL if own[0].is_one_model else size,
            "share": [*objective.envelope(own), 0],
        }
        for size in dict.fromkeys(one.size for one in settings)
        if (own := [one for one in settings if one.size == size])
    ]
    entries = [objective.entry(one, r) for r, one in enumerate(choice.by_radius)]
    shown = ("radius", "score", "accuracy")
    return {
        "rows": choice.rows,
        "score": objective.words,
        "by_accuracy": objective.by_accuracy,
        "constant": None
        if level is None
        else {"answer": json_value(choice.constant["answer"], DIGITS), "share": level},
        "curves": curves,
        "best": [
            {name: entry[name] for name in shown} | {"setting": entry["fit"]} for entry in entries
        ],
    }


# ---- the table of rows ----

DIGITS = 6  # of a number that is shown
MOST_VALUES = 50  # that are drawn in a row; of more, evenly many from the lowest to the highest
LONGEST_LABEL = 24  # longer ones are cut in these sentences; other columns have them in full
LONGEST_NAME = 40
SHOWN_LABELS = 3  # whose votes are listed
MOST_LISTED = 6  # labels of a set
SHOWN_UNITS = 3  # of a group, in a sentence


def row_numbers(
    certified: CertifiedTable,
    stated: CertifiedTable,
    right: Array | None,
    most: int,
    disagreement: Disagreement | None,
    sets: dict[int, Array],
) -> list[JsonObject]:
    """Return the rows with the smallest radius, from there up; values without a radius come last.

    ``certified`` has the predictions, ``stated`` the certificates that the report is about, and
    ``disagreement`` how models that leave units out differ, where the submodels do. ``sets``: the
    labels that r units can bring about, by r.
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
        if sets:
            classes = certified.model.classes_
            row["sets"] = [[int(one[i].sum()), one_of(classes, one[i])] for one in sets.values()]
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


def one_of(classes: Array, possible: Array) -> str:
    """List the labels of a set; of a large one say how many it has."""
    n = int(possible.sum())
    if n == len(classes) > 1:
        return "any label"
    if n > MOST_LISTED:
        return f"{n} of {len(classes)} labels"
    *others, last = (shortened(label, LONGEST_LABEL) for label in classes[possible])
    return f"{', '.join(others)} or {last}" if others else last


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
