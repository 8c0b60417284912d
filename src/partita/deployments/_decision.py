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
    if not study.recommended:
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
    return " ".join([first, _limits(study, numbers), _operations(study, numbers)])


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


def _refuse(study: Study, numbers: Mapping[str, Mapping[str, Any]]) -> str:
    """What to do where no setting proves more than a constant answer."""
    own = study.deployment
    always = study.choice.constant
    first = (
        f"Do not deploy an ensemble here for its proofs: {study.choice.reason}, and always "
        f"answering {always['answer']!r} is right on {percent(always['accuracy'])} of the "
        "validation rows."
    )
    if "rare" not in numbers:
        return first
    lines = numbers["rare"]["lines"]
    best = max(lines, key=lambda line: line["recall"][own.radius])
    trusted = numbers["trust"]["lines"]
    gain = trusted[-1]["certified_recall"] - trusted[0]["certified_recall"]
    second = (
        f"At best {percent(best['recall'][0])} of the {own.positive} loans are found, and "
        f"{percent(best['recall'][own.radius])} are proven against one wrong {own.source}: use "
        f"the score to order cases for people, not to refuse a loan."
    )
    third = (
        f"Spend the effort on securing the bureau's feeds, which raises what is proven of them by "
        f"{100 * gain:.1f} points, and ask for more independent feeds."
        if gain > 0
        else f"Securing the bureau's feeds does not help either ({100 * gain:+.1f} points): ask for "
        "stronger and more independent feeds first."
    )
    return " ".join([first, second, third])
