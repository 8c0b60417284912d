"""What a report says, as plain data."""

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..answers import Answers
from ..certificates import Certificates
from ..errors import InputError
from ..rules import Rule, TopK, named_rule

Array = NDArray[Any]

MOST_ROWS = 1000  # rows in the table; the curves are over all of them
OWNERS = 5  # attackers with up to so many units are tried against all rows at once
DIGITS = 6


def gather(
    answers: Answers,
    *,
    title: str,
    truth: Array | None = None,
    origin: Mapping[str, Any] | None = None,
    files: Mapping[str, str] | None = None,
    swept: Mapping[str, Any] | None = None,
    audited: Mapping[str, Any] | None = None,
    most_rows: int = MOST_ROWS,
) -> dict[str, Any]:
    """Everything that the report shows.

    Parameters
    ----------
    answers : what the model says about some rows
    title : the report's heading
    truth : the right labels or values, if they are known
    origin : where it all comes from, by name: versions, seeds, hashes
    files : the sha256 of the model's files, by name
    swept : what a sweep found, for the curves over the number of submodels
    audited : what an audit found
    most_rows : how many rows the table lists, those with the smallest radius first
    """
    if isinstance(answers.rule, TopK):
        raise InputError("the model's rule is TopK, whose radius is about staying among the top k, which no report shows: use another rule")
    model, counts = answers.model, answers.model.counts_
    proof = answers.proof if truth is None else answers.proof_of_truth(truth)
    return {
        "title": title,
        "of_values": answers.of_values,
        "labels": [] if answers.of_values else [_label(label) for label in model.classes_],
        "what": counts.what,
        "total": counts.total,
        "trusted": list(counts.trusted),
        "label_attacks": bool(model.label_attacks),
        "on_failure": model.on_failure,
        "tolerance": answers.tolerance,
        "relative": answers.relative,
        "known_truth": truth is not None,
        "n_rows": len(answers),
        "submodels": len(model.estimators_),
        "reaches": int(np.asarray(model.partition_.incidence()).sum(axis=1).max()),
        "rule": repr(_short(model.rule_)),
        "curves": _curves(answers, proof, truth),
        "widths": _widths(answers),
        "collective": _collective(answers),
        "sources": _sources(answers),
        "partition": _partition(model),
        "rows": _rows(answers, proof, truth, most_rows),
        "swept": None if swept is None else _swept(swept),
        "audited": None if audited is None else dict(audited),
        "origin": dict(origin or {}),
        "files": dict(files or {}),
    }


def _curves(answers: Answers, proof: Certificates | None, truth: Array | None) -> list[dict[str, Any]]:
    """The share certified at every radius: by the model's rule first, then by the other rules on the same ballots."""
    if proof is None:
        return []
    name = type(answers.rule).__name__.lower()
    curves = [{"name": name, "share": _shares(proof, truth)}]
    if not answers.of_values and len(answers.model.classes_) > 1:
        for other in ("tournament", "runoff", "plurality"):
            if other != name:
                theirs = answers.under(named_rule(other)).proof
                assert theirs is not None
                curves.append({"name": other, "share": _shares(theirs, truth)})
    return curves


def _shares(proof: Certificates, truth: Array | None) -> list[float]:
    """The share of rows with a radius of at least r (and right, where the truth is known), for r = 0 and up, to the first 0."""
    radius = proof.radius if truth is None else np.where(proof.correct(truth), proof.radius, -1)
    counts = np.bincount(np.maximum(radius, -1) + 1, minlength=2)  # the first counts what is not even certified at 0
    at_least = counts[::-1].cumsum()[::-1][1:] / len(radius)
    shares = [float(share) for share in at_least]
    return shares if shares[-1] == 0 else [*shares, 0.0]


def _widths(answers: Answers) -> list[Any]:
    """For values: the median width of the interval at r = 0 and up, as far as it has an end in half of the rows."""
    widths = [0.0, *(float(np.median(high - low)) for low, high in answers.intervals().values())]
    return [_plain(width) for width in widths if np.isfinite(width)]


def _collective(answers: Answers) -> list[dict[str, Any]]:
    """What one attacker who owns the same units everywhere can do to all rows at once."""
    found = []
    for radius in range(1, min(OWNERS, len(answers.model.units_)) + 1):
        one = answers.collective(radius)
        if one is None:
            break
        names = [answers.model.units_.names[unit] for unit in one.units]
        found.append({"radius": radius, "changed": one.changed, "alone": one.pointwise, "exact": one.exact, "units": names})
    return found


def _sources(answers: Answers) -> list[dict[str, Any]]:
    """The units, those that most predictions hang on first."""
    model = answers.model
    hangs = np.zeros(len(model.units_), np.int64) if answers.hangs_on is None else answers.hangs_on.sum(axis=1)
    reach, agreement = np.asarray(model.partition_.incidence()), answers.agreement()
    sides = [float(np.nanmean(agreement[own])) if own.any() and not np.isnan(agreement[own]).all() else None for own in reach]
    names = getattr(model, "feature_names_in_", np.arange(model.n_features_in_))
    order = sorted(range(len(model.units_)), key=lambda unit: (-hangs[unit], -(sides[unit] or 0), unit))
    return [
        {
            "name": model.units_.names[unit],
            "columns": [str(names[column]) for column in model.units_.columns[unit]],
            "submodels": np.flatnonzero(reach[unit]).tolist(),
            "hangs": int(hangs[unit]),
            "sides": sides[unit],
        }
        for unit in order
    ]


def _partition(model: Any) -> list[list[str]]:
    return [[model.units_.names[unit] for unit in model.partition_[t]] for t in range(len(model.partition_))]


def _rows(answers: Answers, proof: Certificates | None, truth: Array | None, most: int) -> list[dict[str, Any]]:
    """The rows with the smallest radius, in the table's order."""
    own = answers.proof
    radius = np.zeros(len(answers), np.int64) if own is None else own.radius
    listed = np.sort(np.argsort(radius, kind="stable")[:most])
    names = np.asarray(answers.model.units_.names, dtype=object)
    shown = _plain if answers.of_values else _label
    right = None if truth is None or proof is None else proof.correct(truth)
    rows: list[dict[str, Any]] = []
    for i in listed.tolist():
        row: dict[str, Any] = {"row": i, "prediction": shown(answers.prediction[i])}
        if truth is not None:
            row["truth"] = shown(truth[i])
            if right is not None and proof is not None:
                row["right"], row["proven"] = bool(right[i]), int(proof.radius[i]) if right[i] else -1
        if own is not None and answers.hangs_on is not None:
            row["radius"] = int(own.radius[i])
            row["rival"] = None if own.runner_up is None else shown(own.runner_up[i])
            row["hangs_on"] = names[answers.hangs_on[:, i]].tolist()
        rows.append(row | {"votes": _votes(answers, i)})
    if answers.of_values:
        for radius_, (low, high) in answers.intervals().items():
            for row in rows:
                row.setdefault("low", []).append(_outward(low[row["row"]], math.floor))
                row.setdefault("high", []).append(_outward(high[row["row"]], math.ceil))
            assert radius_ == len(rows[0]["low"])
    return rows


def _votes(answers: Answers, i: int) -> list[Any]:
    """How many submodels vote for each label, or the submodels' values in order."""
    if answers.of_values:
        return [_plain(value) for value in np.sort(answers.rule._stretched(answers.ballots[i : i + 1])[0])]  # type: ignore[attr-defined]
    votes = answers.ballots[i].argmax(axis=1)
    return list(np.bincount(votes, minlength=len(answers.model.classes_)).tolist())


def _swept(swept: Mapping[str, Any]) -> dict[str, Any]:
    """The best curve of each number of submodels, and the best of all."""
    from ..sweep import best

    sizes = sorted({one["submodels"] for one in swept["settings"]})
    curves = [
        {
            "name": f"{size} submodels",
            "share": [at["accuracy"] for at in best([s for s in swept["settings"] if s["submodels"] == size])] + [0],
        }
        for size in sizes
    ]
    return {
        "rows": swept["held_out"],
        "curves": curves,
        "best": [{"radius": at["radius"], "share": at["accuracy"], "setting": at["fit"]} for at in best(swept["settings"])],
    }


def _short(rule: Rule) -> Rule:
    """The rule without what fit filled in."""
    rule = type(rule)(**rule.get_params())
    for filled in ("shares", "centre"):
        if hasattr(rule, filled):
            setattr(rule, filled, None)
    return rule


def _outward(end: float, rounded: Callable[[float], int]) -> float | None:
    """An interval's end with a few digits, never inside of the true one."""
    if not math.isfinite(end) or end == 0:
        return 0.0 if end == 0 else None
    short = float(f"{end:.{DIGITS}g}")
    inside = short > end if rounded is math.floor else short < end
    if not inside:
        return short
    step = 10.0 ** (math.floor(math.log10(abs(end))) - DIGITS + 1)
    wider = float(f"{short - step if rounded is math.floor else short + step:.{DIGITS}g}")
    return wider if math.isfinite(wider) else None


def _label(value: Any) -> Any:
    """A label as JSON has it, to the last digit."""
    value = value.item() if isinstance(value, np.generic) else value
    return value if isinstance(value, str | int | float | bool) else str(value)


def _plain(value: Any) -> Any:
    """A value as JSON has it, with a few digits."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else None
    return value if isinstance(value, str | int | bool) or value is None else str(value)
