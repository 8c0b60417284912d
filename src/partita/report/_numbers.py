"""The numbers of the report, as plain data: everything that the page shows is gathered here.

They come from one certified table; what was found elsewhere (a sweep, an audit, the summary) is
handed in.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np

from .. import __version__
from .._support import Array, JsonObject, json_value
from ..ballots import Ballots
from ..certificates import TRAINING_TABLE, Certificates
from ..ensemble import FittedEnsemble
from ..errors import InputError
from ..metrics import correct_radius, shares_at_radii
from ..rules import PooledRule, TopK, named_rule
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
from ._rows import DIGITS, column_heading, leave_out_numbers, row_numbers
from ._statements import FULL_MODEL, banners_of, criterion_of, price_of, statements_of

MOST_ROWS = 1000  # rows in the table; the curves are over all of them
MOST_OWNED = 5  # attackers who own up to so many units are tried against all rows at once
OTHER_RULES = ("tournament", "runoff", "plurality")  # whose curves are drawn beside the model's
MOST_LYING, MOST_SILENT = 8, 12  # rows and columns of the table of silence
SHADES = 10  # of its cells
MOST_SOURCES = 200  # in the table of sources that contradict the outcome
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
    only_rows = model.trusts_training
    facts = {
        "title": title,
        "made": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "version": __version__,
        "task": model.task,
        "labels": json_value(getattr(model, "classes_", [])),
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
        "curves": _curves(certified, stated.proof),
        "silence": silence_numbers(stated, right),
        "watch": watch_numbers(certified, usual),
        "widths": _widths(certified),
        "collective": _collective(stated, counted),
        "units": unit_numbers(stated, counted),
        "partition": _partition(model),
        "rows": row_numbers(certified, stated, right, most_rows, disagreement),
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
    plain: JsonObject = json_value(found)
    return plain


def _curves(certified: CertifiedTable, proof: Certificates | None) -> list[JsonObject]:
    """Return the share certified at every radius, by the model's rule, then by the other rules."""
    if proof is None:
        return []
    agreement = isinstance(certified.rule, PooledRule)
    own = "agreement" if agreement else type(certified.rule).__name__.lower()
    curves = [{"name": own, "share": _shares(proof, certified.truth)}]
    # a vote over models that share most units would prove next to nothing
    if not agreement and len(getattr(certified.model, "classes_", ())) > 1:
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
        found.append(
            {
                "radius": radius,
                "changed": one.changed,
                "pointwise": one.pointwise,
                "exact": one.exact,
                "units": [names[unit] for unit in one.units],
            }
        )
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
        if isinstance(model.rule_, PooledRule) or not hasattr(model, "classes_"):
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
