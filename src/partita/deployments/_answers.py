"""Answers about accuracy, proofs and cost: what a user gives up, gets and pays.

They count on the test rows, which took no part in any choice.
"""

import pickle
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from .._support import Array
from ..metrics import certified_accuracy_curve
from ._answer import Answer, percent, points
from ._deployment import Deployment
from ._study import Study, mean_recall

SINGLE, MAIN, OTHER, PROVEN = "tab:red", "tab:blue", "tab:orange", "black"
MOST_RADII = 6
REPEATS = 3
SHOWN_DEPTH = 0.3  # settings that prove less than the best by more than this are not drawn
BELOW: dict[str, Any] = {
    "loc": "upper center",
    "bbox_to_anchor": (0.5, -0.16),
    "ncols": 2,
    "frameon": False,
    "fontsize": "small",
}


def accuracy(study: Study, groups: Mapping[str, Array], kind: str) -> Answer:
    """How accurate is it beside the user's own single model? By group of test rows, too.

    ``groups`` are masks of test rows by name, and ``kind`` says what a group is.
    """
    own, main, single = study.deployment, study.main, study.single
    constant = study.choice.constant["answer"]
    lines: dict[str, Array] = {
        "a constant answer": own.right(np.full(len(own.y_test), constant), own.y_test),
        f"one model ({single.name})": single.right,
        **{f"one model ({one.name})": one.right for one in single.rejected},
        main.name: main.right,
        study.other.name: study.other.right,
    }
    columns = ["model", "right"]
    rows = [[name, percent(right.mean())] for name, right in lines.items()]
    if own.tolerance is None:
        columns.append("mean recall")
        for row, right in zip(rows, lines.values(), strict=True):
            row.append(percent(mean_recall(right, own.y_test)))
    if own.positive is not None:
        columns.append(f"recall of {own.positive}")
        for row, right in zip(rows, lines.values(), strict=True):
            row.append(percent(right[own.y_test == own.positive].mean()))
    difference = float(main.right.mean() - single.right.mean())
    by_group = {
        name: {
            "rows": int(mask.sum()),
            "one model": float(single.right[mask].mean()),
            "ensemble": float(main.right[mask].mean()),
            "certified": float(main.certified(own.radius)[mask].mean()),
        }
        for name, mask in groups.items()
        if mask.any()
    }
    text = (
        f"{_capital(main.name)} is right on {percent(main.right.mean())} of {len(own.y_test):,} "
        f"test rows, {points(difference)} one model on all columns "
        f"({percent(single.right.mean())})."
    )
    if own.positive is not None:
        rare = own.y_test == own.positive
        text += (
            f" Of the {own.positive} ones it finds {percent(main.right[rare].mean())}, one model "
            f"{percent(single.right[rare].mean())}."
        )
    numbers = {
        "rows": len(own.y_test),
        "one_model": float(single.right.mean()),
        "ensemble": float(main.right.mean()),
        "difference": difference,
        "models": {
            row[0]: float(right.mean()) for row, right in zip(rows, lines.values(), strict=True)
        },
        "groups": by_group,
        "group": kind,
    }
    return Answer(
        "accuracy",
        "How accurate is it, beside your own single model?",
        text,
        tuple(columns),
        rows,
        numbers,
        lambda figure: _draw_groups(figure, by_group, kind, own.sources(own.radius)),
    )


def _draw_groups(figure: Any, groups: Mapping[str, Any], kind: str, sources: str) -> None:
    ax = figure.add_subplot()
    places = np.arange(len(groups))
    for shift, key, colour, label in (
        (-0.27, "one model", SINGLE, "one model"),
        (0.0, "ensemble", MAIN, "ensemble"),
        (0.27, "certified", PROVEN, f"ensemble, whatever {sources} say{_s(sources)}"),
    ):
        shares = [100 * one[key] for one in groups.values()]
        bars = ax.bar(places + shift, shares, 0.26, color=colour, label=label, alpha=0.85)
        ax.bar_label(bars, fmt="%.0f", fontsize="small", padding=1)
    names = [f"{name}\n{one['rows']:,} rows" for name, one in groups.items()]
    ax.set_xticks(places, names, fontsize="small")
    ax.set(xlabel=kind, ylabel="% of test rows that are right", ylim=(0, 108))
    ax.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside upper center", ncols=3, frameon=False, fontsize="small")


def certified_answer(study: Study) -> Answer:
    """How much is proven, and what would other settings give?"""
    own = study.deployment
    curves = {
        one.name: certified_accuracy_curve(own.y_test, one.proof).accuracy
        for one in (study.main, study.other)
    }
    length = min(MOST_RADII, max(map(len, curves.values())))
    shares = {
        name: [float(curve[r]) if r < len(curve) else 0.0 for r in range(length)]
        for name, curve in curves.items()
    }
    rows = [[name, *(f"{100 * share:.1f}" for share in line)] for name, line in shares.items()]
    blanks = ["-"] * (length - 1)
    rows.append(["one model", f"{100 * study.single.right.mean():.1f}", *blanks])
    main = shares[study.main.name]
    proven = main[own.radius] if own.radius < length else 0.0
    text = (
        f"{percent(proven)} of the test rows are right and proven to stay so, whatever any "
        f"{own.sources(own.radius)} say{_s(own.sources(own.radius))}, in all of training, in the "
        f"row, or in both. "
    )
    if study.recommended:
        text += (
            f"{_capital(study.main.name)} was chosen on validation rows: {study.choice.reason}. "
        )
        text += study.choice.depends
    else:
        text += f"Nothing is recommended: {study.choice.reason}."
    numbers = {
        "radius": own.radius,
        "certified": proven,
        "curves": shares,
        "recommended": study.recommended,
        "reason": study.choice.reason,
        "choice": study.choice.as_dict(),
    }
    return Answer(
        "certified",
        "How much is proven, and what do both methods offer?",
        text,
        ("% right whatever r say, r =", *map(str, range(length))),
        rows,
        numbers,
        lambda figure: _draw_certified(figure, study, shares),
        (10.0, 4.8),
    )


def _draw_certified(figure: Any, study: Study, curves: Mapping[str, list[float]]) -> None:
    left, right = figure.subplots(1, 2)
    study.choice.plot(left)
    shares = [one.certified for one in study.choice.settings if not one.nearly_constant]
    least = min(share for share in shares if share >= max(shares) - SHOWN_DEPTH)
    left.set_ylim(100 * max(0.0, least - 0.03), 100 * (max(shares) + 0.02))
    left.legend(**BELOW)
    left.set_title(f"Every setting, on {study.choice.rows:,} validation rows", fontsize="medium")
    colours = {"partition": MAIN, "leave-out": OTHER}  # as on the left
    for one in (study.main, study.other):
        line = [100 * share for share in curves[one.name]]
        colour = colours[one.setting.method]
        right.step(range(len(line)), line, "o-", where="post", color=colour, label=one.name)
    single = 100 * study.single.right.mean()
    right.plot([0], [single], "s", color=SINGLE, label="one model, no proof")
    own = study.deployment
    constant = own.right(np.full(len(own.y_test), study.choice.constant["answer"]), own.y_test)
    right.axhline(
        100 * constant.mean(), color="black", linestyle="--", linewidth=1, label="a constant answer"
    )
    right.set(
        xlabel=f"{plural(own)} that may lie",
        ylabel="% of test rows proven right",
        ylim=(0, 105),
    )
    right.set_xticks(range(max(map(len, curves.values()))))
    right.legend(**BELOW)
    right.set_title(f"Proven on {len(own.y_test):,} test rows", fontsize="medium")


def cost(study: Study) -> Answer:
    """What does it cost, as a multiple of one model?"""
    own, main, single = study.deployment, study.main, study.single
    seconds = {
        "fit": (single.seconds, main.seconds),
        "predict": (
            _best_seconds(lambda: single.model.predict(own.X_test)),
            _best_seconds(lambda: main.model.predict(own.X_test)),
        ),
    }
    certify = _best_seconds(lambda: main.model.certify(own.X_test), 1)
    size = (len(pickle.dumps(single.model)), len(pickle.dumps(main.model.estimators_)))
    per_row = 1000 / len(own.y_test)
    rows = [
        ["fit", *(f"{one:.2f} s" for one in seconds["fit"]), _times(*seconds["fit"])],
        [
            "predict 1,000 rows",
            *(f"{one * per_row:.3f} s" for one in seconds["predict"]),
            _times(*seconds["predict"]),
        ],
        [
            "certify 1,000 rows",
            "-",
            f"{certify * per_row:.3f} s",
            _times(seconds["predict"][0], certify),
        ],
        ["size, pickled", *(f"{one / 1e6:.1f} MB" for one in size), _times(*size)],
    ]
    ratios = {
        "fit": seconds["fit"][1] / seconds["fit"][0],
        "predict": seconds["predict"][1] / seconds["predict"][0],
        "size": size[1] / size[0],
    }
    text = (
        f"{_capital(main.name)} costs {ratios['fit']:.1f} times the fitting time, "
        f"{ratios['predict']:.1f} times the prediction time and {ratios['size']:.1f} times the "
        f"size of one model ({single.name}). These are times of one run on one machine; only "
        "their ratios mean something elsewhere."
    )
    numbers = {"ratios": ratios, "seconds": {**seconds, "certify": certify}, "bytes": size}
    return Answer(
        "cost",
        "What does it cost, beside one model?",
        text,
        ("", "one model", main.name, "times"),
        rows,
        numbers,
        lambda figure: _draw_cost(figure, ratios),
        (7.2, 2.4),
    )


def _draw_cost(figure: Any, ratios: Mapping[str, float]) -> None:
    ax = figure.add_subplot()
    bars = ax.barh(list(ratios)[::-1], list(ratios.values())[::-1], color=MAIN, alpha=0.85)
    ax.bar_label(bars, fmt="%.1f x", padding=3)
    ax.axvline(1, color=SINGLE, linestyle=":", label="one model")
    ax.set(xlabel="times what one model takes", xlim=(0, 1.2 * max(1.0, *ratios.values())))
    ax.legend(frameon=False, fontsize="small")
    ax.spines[["top", "right"]].set_visible(False)


def _best_seconds(work: Callable[[], Any], repeats: int = REPEATS) -> float:
    best = np.inf
    for _ in range(repeats):
        started = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - started)
    return float(best)


def _times(one: float, other: float) -> str:
    return f"{other / one:.1f} x"


def plural(deployment: Deployment) -> str:
    """What the sources are called."""
    return f"{deployment.source}s"


def _s(sources: str) -> str:
    """The ending of a verb after a number of sources."""
    return "s" if sources.startswith("one ") else ""


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
