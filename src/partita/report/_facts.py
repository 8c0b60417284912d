"""What a report says, as plain data."""

import math
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

import numpy as np

from .. import __version__
from .._support.types import Array
from ..certificates import Certificates
from ..errors import InputError
from ..metrics import FARTHEST
from ..rules import Rule, TopK, Tournament, named_rule
from ..workflow._certified_rows import Answers
from ..workflow._recommend import best
from ._duels import heading_of, what_decides
from ._statements import FULL_MODEL, banners_of, criterion_of, statements_of

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
    quality: Mapping[str, Any] | None = None,
    most_rows: int = MOST_ROWS,
) -> dict[str, Any]:
    """Collect everything that the report shows.

    Parameters
    ----------
    answers : Answers
        What the model says about some rows.
    title : str
        The report's heading.
    truth : array, optional
        The right labels or values, if they are known. For values with a tolerance, every number of
        the report is then about staying within the tolerance of the truth.
    origin : mapping, optional
        Where it all comes from, by name: versions, seeds, hashes.
    files : mapping, optional
        The sha256 of the model's files, by name.
    swept : mapping, optional
        What a sweep found, for the curves over the number of submodels.
    audited : mapping, optional
        What an audit found.
    quality : mapping, optional
        What tells a useful proof from an empty one; every key may be absent or None. ``warnings``:
        texts; ``constant``: the ``answer`` and the ``share`` it gets right; ``full_model``: the
        share that one model on all columns gets right; ``recall``: for each ``label`` its number of
        ``rows`` and its certified recall (``share``) at r = 0 and up; ``balanced``: the mean of
        these; ``on_training``: whether these are the training rows; ``failed``: how many submodels
        cast a fixed vote; ``tuned``: which settings were chosen on rows that an attacker could have
        touched.
    most_rows : int, default=1000
        How many rows the table lists, those with the smallest radius first.

    Returns
    -------
    dict
        Plain data, for :func:`partita.report.render`.
    """
    if isinstance(answers.rule, TopK):
        raise InputError(
            "the model's rule is TopK, whose radius is about staying among the top k, which no "
            "report shows: use another rule"
        )
    model, counts = answers.model, answers.model.counts_
    held = answers if truth is None else answers.around(truth)
    right = None if truth is None or held.proof is None else held.proof.correct(truth)
    counted = (
        right if answers.of_values else None
    )  # a value that is not right now cannot stay right: counted apart
    facts = {
        "title": title,
        "made": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "version": __version__,
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
        "right_now": None if right is None else int(right.sum()),
        "submodels": len(model.estimators_),
        "reaches": int(np.asarray(model.partition_.incidence()).sum(axis=1).max()),
        "rule": repr(_short(model.rule_)),
        "decides": heading_of(answers.rule),
        "curves": _curves(answers, held.proof, truth),
        "widths": _widths(answers),
        "collective": _collective(held, counted),
        "sources": _sources(held, counted),
        "partition": _partition(model),
        "rows": _rows(answers, held, truth, right, most_rows),
        "quality": _quality(quality or {}),
        "swept": None if swept is None else _swept(swept),
        "audited": None if audited is None else dict(audited),
        "origin": dict(origin or {}),
        "files": dict(files or {}),
    }
    facts |= {"criterion": criterion_of(facts), "banners": banners_of(facts)}
    return facts | {"default": _default_radius(facts), "at": statements_of(facts)}


def _default_radius(facts: Mapping[str, Any]) -> int:
    """The radius that the page opens with: 1, or 0 where nothing is proven at 1."""
    if facts["curves"]:
        return int(facts["curves"][0]["share"][1] > 0)
    return min(1, len(facts["widths"]) - 1)


def _quality(quality: Mapping[str, Any]) -> dict[str, Any]:
    """The same with every key in place, as JSON has it."""
    constant = quality.get("constant")
    return {
        "warnings": [str(text) for text in quality.get("warnings") or []],
        "constant": constant
        and {"answer": _plain(_label(constant["answer"])), "share": float(constant["share"])},
        "full_model": None if quality.get("full_model") is None else float(quality["full_model"]),
        "recall": [
            {
                "label": _label(one["label"]),
                "rows": int(one["rows"]),
                "share": _shares_or_none(one["share"]),
            }
            for one in quality.get("recall") or []
        ],
        "balanced": _shares_or_none(quality.get("balanced") or []),
        "on_training": bool(quality.get("on_training")),
        "failed": int(quality.get("failed") or 0),
        "tuned": str(quality["tuned"]) if quality.get("tuned") else None,
    }


def _shares_or_none(shares: Any) -> list[float | None]:
    return [None if share is None or not math.isfinite(share) else float(share) for share in shares]


def _curves(
    answers: Answers, proof: Certificates | None, truth: Array | None
) -> list[dict[str, Any]]:
    """The share certified at every radius, by the model's rule first, then by the others."""
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
    """The share of rows with a radius of at least r (and right, where the truth is known).

    For r = 0 and up, to the first 0, and to r = 1 at least.
    """
    radius = proof.radius if truth is None else np.where(proof.correct(truth), proof.radius, -1)
    counts = np.bincount(
        np.clip(radius, -1, FARTHEST) + 1, minlength=2
    )  # the first counts what is not even certified at 0
    at_least = counts[::-1].cumsum()[::-1][1:] / len(radius)
    shares = [float(share) for share in at_least]
    return shares if shares[-1] == 0 and len(shares) > 1 else [*shares, 0.0]


def _widths(answers: Answers) -> list[Any]:
    """For values: the median width of the interval at r = 0 and up, while it is finite."""
    widths = [0.0, *(float(np.median(high - low)) for low, high in answers.intervals().values())]
    return [_plain(width) for width in widths if np.isfinite(width)]


def _collective(held: Answers, counted: Array | None) -> list[dict[str, Any]]:
    """What one attacker who owns the same units everywhere can do to the counted rows."""
    found = []
    for radius in range(1, min(OWNERS, len(held.model.units_)) + 1):
        one = held.collective(radius, rows=counted)
        if one is None:
            break
        names = [held.model.units_.names[unit] for unit in one.units]
        found.append(
            {
                "radius": radius,
                "changed": one.changed,
                "alone": one.pointwise,
                "exact": one.exact,
                "units": names,
            }
        )
    return found


def _sources(held: Answers, counted: Array | None) -> list[dict[str, Any]]:
    """The units, those that most predictions hang on first."""
    model = held.model
    hangs = np.zeros(len(model.units_), np.int64)
    if held.hangs_on is not None:
        hangs = (held.hangs_on if counted is None else held.hangs_on & counted).sum(axis=1)
    reach, agreement = np.asarray(model.partition_.incidence()), held.agreement()
    sides = [
        float(np.nanmean(agreement[own]))
        if own.any() and not np.isnan(agreement[own]).all()
        else None
        for own in reach
    ]
    names = getattr(model, "feature_names_in_", np.arange(model.n_features_in_))
    order = sorted(
        range(len(model.units_)), key=lambda unit: (-hangs[unit], -(sides[unit] or 0), unit)
    )
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
    return [
        [model.units_.names[unit] for unit in model.partition_[t]]
        for t in range(len(model.partition_))
    ]


def _rows(
    answers: Answers, held: Answers, truth: Array | None, right: Array | None, most: int
) -> list[dict[str, Any]]:
    """The rows with the smallest radius, from there up; values without one come last."""
    proof, hangs_on = held.proof, held.hangs_on
    radius = np.zeros(len(answers), np.int64) if proof is None else proof.radius
    listed = np.argsort(np.where(radius < 0, np.iinfo(np.int64).max, radius), kind="stable")[:most]
    names = np.asarray(answers.model.units_.names, dtype=object)
    shown = _plain if answers.of_values else _label
    rows: list[dict[str, Any]] = []
    for i in listed.tolist():
        row: dict[str, Any] = {"row": i, "prediction": shown(answers.prediction[i])}
        if truth is not None:
            row["truth"] = shown(truth[i])
        if right is not None:
            row["right"] = bool(right[i])
        if proof is not None and hangs_on is not None:
            has_radius = radius[i] >= 0
            row["radius"] = int(radius[i]) if has_radius else None
            row["rival"] = None if proof.runner_up is None else shown(proof.runner_up[i])
            row["hangs_on"] = names[hangs_on[:, i]].tolist() if has_radius else []
        if answers.of_values:
            values = np.sort(answers.rule._stretched(answers.ballots[i : i + 1])[0])  # type: ignore[attr-defined]
            row["values"] = [_plain(value) for value in values]
        else:
            row |= what_decides(answers, i)
        rows.append(row)
    if answers.of_values:
        for row in rows:
            row["low"], row["high"] = [], []
        for low, high in answers.intervals().values():
            for row in rows:
                row["low"].append(_outward(low[row["row"]], math.floor))
                row["high"].append(_outward(high[row["row"]], math.ceil))
    return rows


def _swept(swept: Mapping[str, Any]) -> dict[str, Any]:
    """The best curve of each number of submodels, and the settings that are recommended."""
    score, constant = swept["score"], swept["constant"]
    sizes = sorted({one["submodels"] for one in swept["settings"]})
    tried = {
        size: best([one for one in swept["settings"] if one["submodels"] == size], score)
        for size in sizes
    }
    level = None if constant is None or score.label is not None else constant[score.name]
    return {
        "rows": swept["held_out"],
        "score": score.words,
        "by_accuracy": score.name == "accuracy",
        "constant": None
        if level is None
        else {"answer": _plain(_label(constant["answer"])), "share": level},
        "curves": [
            {
                "name": FULL_MODEL if size == 1 else f"{size} submodels",
                "share": [*(one["score"] for one in found), 0],
            }
            for size, found in tried.items()
        ],
        "best": [
            {
                "radius": one["radius"],
                "score": one["score"],
                "accuracy": one["accuracy"],
                "setting": one["fit"],
            }
            for one in swept["best"]
        ],
    }


def _short(rule: Rule) -> Rule:
    """The rule without what fit filled in."""
    rule = type(rule)(**rule.get_params())
    for filled in ("shares", "centre"):
        if hasattr(rule, filled):
            setattr(rule, filled, None)
    if isinstance(rule, Tournament) and isinstance(rule.offset, float) and rule.offset == 0:
        rule.offset = None
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
