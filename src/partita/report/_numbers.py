"""The numbers of the report, as plain data: everything that the page shows is gathered here.

They come from one certified table; what was found elsewhere (a sweep, an audit, the summary) is
handed in. Nothing here knows HTML.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import numpy as np

from .. import __version__
from .._support import Array, json_value
from ..certificates import TRAINING_TABLE, Certificates
from ..ensemble import FittedEnsemble
from ..errors import InputError
from ..metrics import correct_radius, shares_at_radii
from ..rules import PooledRule, TopK, named_rule
from ..watch import ReferenceRates
from ..workflow import CertifiedTable
from ._deciding_votes import column_heading
from ._row_numbers import row_numbers
from ._silence_numbers import silence_numbers
from ._statements import banners_of, criterion_of, price_of, statements_of
from ._suspects import Disagreement, leave_out_numbers
from ._sweep_numbers import sweep_numbers
from ._unit_numbers import unit_numbers
from ._watch_numbers import watch_numbers

MOST_ROWS = 1000  # rows in the table; the curves are over all of them
MOST_OWNED = 5  # attackers who own up to so many units are tried against all rows at once
DIGITS = 6
OTHER_RULES = ("tournament", "runoff", "plurality")  # whose curves are drawn beside the model's


def gather(
    certified: CertifiedTable,
    *,
    title: str,
    origin: Mapping[str, Any] | None = None,
    files: Mapping[str, str] | None = None,
    sweep: Mapping[str, Any] | None = None,
    audit: Mapping[str, Any] | None = None,
    quality: Mapping[str, Any] | None = None,
    usual: ReferenceRates | None = None,
    most_rows: int = MOST_ROWS,
) -> dict[str, Any]:
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
    sweep : mapping, optional
        What a sweep found, for the curves over the number of submodels.
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
        "rows": row_numbers(certified, stated, right, most_rows, DIGITS, disagreement),
        "quality": _quality(quality or {}, len(model.failures_)),
        "sweep": None if sweep is None else sweep_numbers(sweep, DIGITS),
        "audit": None if audit is None else dict(audit),
        "origin": dict(origin or {}),
        "files": dict(files or {}),
    }
    facts |= {"criterion": criterion_of(facts), "banners": banners_of(facts)}
    facts["price"] = price_of(facts)
    return facts | {"default": _default_radius(facts), "at": statements_of(facts)}


def _default_radius(facts: Mapping[str, Any]) -> int:
    """The radius that the page opens with: 1, or 0 where nothing is proven at 1."""
    if facts["curves"]:
        return int(facts["curves"][0]["share"][1] > 0)
    return min(1, len(facts["widths"]) - 1)


def _quality(quality: Mapping[str, Any], failed: int) -> dict[str, Any]:
    """The same with every key in place, as JSON has it; ``failed``: submodels that did."""
    constant = quality.get("constant")
    full_model = quality.get("full_model")
    return {
        "warnings": [str(text) for text in quality.get("warnings") or []],
        "constant": constant
        and {
            "answer": json_value(constant["answer"], DIGITS),
            "share": float(constant["share"]),
        },
        "full_model": None if full_model is None else float(full_model),
        "recall": [
            {
                "label": json_value(one["label"]),
                "rows": int(one["rows"]),
                "share": json_value(one["share"]),
                "predicted": one.get("predicted"),
                "precision": json_value(one.get("precision") or []),
                "kept": json_value(one.get("kept") or []),
            }
            for one in quality.get("recall") or []
        ],
        "balanced": json_value(quality.get("balanced") or []),
        "on_training": bool(quality.get("on_training")),
        "failed": failed,
        "chosen": str(quality["chosen"]) if quality.get("chosen") else None,
    }


def _curves(certified: CertifiedTable, proof: Certificates | None) -> list[dict[str, Any]]:
    """The share certified at every radius, by the model's rule first, then by the other rules."""
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
    """The share of rows with a radius of at least r, and right, where the truth is known.

    For r = 0 and up, to the first 0, and to r = 1 at least.
    """
    radius = proof.radius if truth is None else correct_radius(truth, proof)
    shares: list[float] = shares_at_radii(radius).tolist()
    return shares if shares[-1] == 0 and len(shares) > 1 else [*shares, 0.0]


def _widths(certified: CertifiedTable) -> list[Any]:
    """For values: the median width of the interval at r = 0 and up, while it is finite."""
    widths = [0.0, *(float(np.median(high - low)) for low, high in certified.intervals.values())]
    return [json_value(width, DIGITS) for width in widths if np.isfinite(width)]


def _collective(stated: CertifiedTable, counted: Array | None) -> list[dict[str, Any]]:
    """What one attacker who owns the same units everywhere can do to the counted rows."""
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
    """The units of each submodel."""
    names, partition = model.units_.names, model.partition_
    return [[names[unit] for unit in partition[t]] for t in range(len(partition))]
