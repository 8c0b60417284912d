"""The decision: two or three sentences for whoever signs, computed from the answers' numbers.

Nothing is typed by hand: other numbers give another decision.
"""

from collections.abc import Mapping
from typing import Any

from ._answer import percent, points
from ._study import Study

ENOUGH = 0.5  # a group of rows is relied on if at least this share is proven
AFFORDABLE = 0.02  # accuracy that may be lost without a second thought


def decide(study: Study, numbers: Mapping[str, Mapping[str, Any]]) -> str:
    """What to do, why, and what not to rely on."""
    if not study.recommended or not _rare_is_proven(study, numbers):
        return _refuse(study, numbers)
    own, name = study.deployment, study.main.name
    accuracy, certified = numbers["accuracy"], numbers["certified"]
    lost = -accuracy["difference"]
    deploy = (
        f"Deploy {name}"
        if lost <= AFFORDABLE
        else f"Deploy {name} if a proof is worth {100 * lost:.1f} points of accuracy"
    )
    first = (
        f"{deploy}: {percent(accuracy['ensemble'])} of new rows are right, "
        f"{points(accuracy['difference'])} with one model, and {percent(certified['certified'])} "
        f"stay right whatever {own.sources(own.radius)} says."
    )
    parts = [
        first,
        _limits(study, numbers),
        _operations(study, numbers),
        _hindsight(study, numbers),
    ]
    return " ".join(filter(None, parts))


def _limits(study: Study, numbers: Mapping[str, Mapping[str, Any]]) -> str:
    """Where not to rely on it: weak groups of rows, and more liars than are covered."""
    own = study.deployment
    groups = numbers["accuracy"]["groups"]
    weak = [name for name, one in groups.items() if one["certified"] < ENOUGH]
    curve = numbers["certified"]["curves"][study.main.name]
    most = max((radius for radius, share in enumerate(curve) if share >= ENOUGH), default=0)
    beyond = f"against more than {own.sources(max(most, 1))} lying at once"
    if not weak:
        return f"Do not rely on it {beyond}: less than half of the rows are proven there."
    kind = numbers["accuracy"]["group"].split(" (")[0]
    if len(weak) == len(groups):
        return (
            f"In no {kind} is half of the rows proven: treat a row without a certificate as "
            f"unproven, and do not rely on it {beyond}."
        )
    return (
        f"Do not rely on it in {kind} {', '.join(weak)}, where less than half of the rows are "
        f"proven, nor {beyond}: a row without a certificate goes to a person, or is measured again."
    )


def _operations(study: Study, numbers: Mapping[str, Mapping[str, Any]]) -> str:
    """What running it takes: time, and what a silent source costs."""
    own = study.deployment
    lines = numbers["silence"]["by_number"]
    change = lines[1]["ensemble"] - lines[0]["ensemble"]
    ratios = numbers["cost"]["ratios"]
    return (
        f"A silent {own.source} costs {max(0.0, -100 * change):.1f} points of accuracy; fitting "
        f"takes {ratios['fit']:.1f} and predicting {ratios['predict']:.1f} times as long as with "
        "one model."
    )


def _hindsight(study: Study, numbers: Mapping[str, Mapping[str, Any]]) -> str:
    """Whether the other method would have proven more; nothing is chosen by it."""
    curves, radius = numbers["certified"]["curves"], study.deployment.radius
    main, other = (
        curve[radius] if radius < len(curve) else 0.0
        for curve in (curves[study.main.name], curves[study.other.name])
    )
    if other <= main + AFFORDABLE:
        return ""
    return (
        f"In hindsight {study.other.name} would have proven {percent(other)}; the rows to choose "
        "by could not tell."
    )


def _rare_is_proven(study: Study, numbers: Mapping[str, Mapping[str, Any]]) -> bool:
    """Whether most of the rare label's rows are proven, and most of its alarms, if it is rare."""
    if "rare" not in numbers:
        return True
    line, radius = numbers["rare"]["lines"][0], study.deployment.radius
    return bool(line["recall"][radius] >= ENOUGH and line["precision"][radius] >= ENOUGH)


def _refuse(study: Study, numbers: Mapping[str, Mapping[str, Any]]) -> str:
    """What to do where the proofs say less than a constant answer, or nothing of what matters."""
    own = study.deployment
    if "rare" not in numbers:
        return f"Do not deploy an ensemble here for its proofs: {study.choice.reason}."
    line, trusted = numbers["rare"]["lines"][0], numbers["trust"]["lines"]
    proven, rare = line["recall"][own.radius], own.positive
    first = (
        f"Do not decide about a loan by this model alone: against one wrong {own.source}, "
        f"{percent(proven)} of the {rare} loans are found and proven, and an alarm is right in "
        f"{percent(line['precision'][0])} of cases, at worst in "
        f"{percent(line['precision'][own.radius])}."
    )
    second = (
        f"Use it to order cases for people: it finds {percent(line['recall'][0])} of the {rare} "
        f"loans, one model {percent(numbers['accuracy']['groups'][str(rare)]['one model'])}."
    )
    nothing, terms = trusted[0]["certified_recall"], trusted[1]["certified_recall"]
    third = (
        f"What is proven rests on the columns that are trusted ({percent(nothing)} without them): "
        "make sure that nobody else can write them, and that they are not computed from the feeds."
        if terms > nothing
        else "Ask for stronger and more independent feeds before asking for a proof."
    )
    return " ".join([first, second, third])
