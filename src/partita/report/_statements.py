"""The report's sentences, so that the page, with and without its script, says the same.

One criterion holds for a whole page: what a prediction must do to count as unchanged
(``criterion_of``).
"""

from math import sqrt

from .._support import JsonObject
from ..ensemble import failure_banner
from ..workflow import TRAINING_ROWS

SIGMA = 1.959963984540054  # 95 % of a normal distribution lie within so many standard deviations

UNPROVEN = "Nothing is proven at r = 0."
FULL_MODEL = "one model on all columns"


def percent(share: float) -> str:
    """Format a share in %; 100.0 only where it is all."""
    return f"{100 * share if share == 1 else min(100 * share, 99.9):.1f} %"


def number(value: object) -> str:
    """Format a value as the page's script does: whole numbers without a point."""
    if isinstance(value, float) and value == round(value) and abs(value) < 1e15:
        return str(int(value))
    return str(value)


def wilson(share: float, n: int) -> tuple[float, float]:
    """Return the 95 % interval (Wilson's, approximate) of a share of n independent rows."""
    scale = 1 + SIGMA**2 / n
    middle = (share + SIGMA**2 / (2 * n)) / scale
    half = SIGMA * sqrt(share * (1 - share) / n + SIGMA**2 / (4 * n * n)) / scale
    return (0.0 if share == 0 else max(0.0, middle - half)), (
        1.0 if share == 1 else min(1.0, middle + half)
    )


def interval(share: float, n: int) -> str:
    """Format the interval, in %."""
    low, high = wilson(share, n)
    return f"{100 * low:.1f} to {100 * high:.1f}"


def sampling_error(share: float, n: int) -> str:
    """Describe the sampling error of a share that was counted on n rows."""
    return f"95 % interval {interval(share, n)}, {n:,} {'row' if n == 1 else 'rows'}"


def _within(facts: JsonObject, what: str) -> str:
    if facts["tolerance"] is not None:
        return f"within {facts['tolerance']:.12g} of {what}"
    return f"within {100 * facts['relative']:.12g} % of {what}"


def criterion_of(facts: JsonObject) -> dict[str, str]:
    """Return what every number of the page is about.

    ``kind``: "label" (the prediction itself), "truth" (a value near the truth), "own" (a value near
    where it is now), or "interval" (values without a tolerance). ``short``: where a value must
    stay. ``text``: all of it in words.
    """
    unknown = "Whether it is right is not known: the table has no target."
    if facts["task"] == "classification":
        if facts["known_truth"]:
            right = "It is right if that label is the true one."
            about = "right or wrong; the headline and the curve count the right ones that stay"
        else:
            right, about = unknown, "right or wrong"
        text = (
            f"One criterion throughout: a prediction stays if it remains the same label. {right} "
            f"Radii, units and what one attacker changes are about staying, {about}."
        )
        return {"kind": "label", "short": "", "text": text}
    if not facts["curves"]:
        return {"kind": "interval", "short": "", "text": ""}
    if not facts["known_truth"]:
        near = _within(facts, "its own value")
        text = f"One criterion throughout: a prediction stays if it remains {near}. {unknown}"
        return {"kind": "own", "short": _within(facts, "the prediction"), "text": text}
    near, wrong = _within(facts, "the truth"), facts["n_rows"] - facts["right_now"]
    text = (
        f"One criterion throughout: a prediction is right if it lies {near}, and it holds against "
        f"r {facts['what']} if it is right now and stays {near}. Headline, curve, radii, units "
        f"and what one attacker breaks all mean this. {facts['right_now']:,} of "
        f"{facts['n_rows']:,} predictions are right now; the other {wrong:,} have no radius: they "
        "count as not certified, and not among what an attacker can break."
    )
    return {"kind": "truth", "short": near, "text": text}


def banners_of(facts: JsonObject) -> list[dict[str, str]]:
    """Return what must be read before any number; each once, though warnings may repeat it."""
    quality = facts["quality"]
    found = []
    if quality["on_training"]:
        text = (
            "These are the rows the model was trained on: how many predictions are right here says "
            "nothing about new rows. Certify rows that it has not seen."
        )
        found.append({"kind": "training", "text": text})
    repeated = [TRAINING_ROWS] if quality["on_training"] else []
    found += [
        {"kind": "warning", "text": text} for text in quality["warnings"] if text not in repeated
    ]
    failed = [f"{text}." for text in failure_banner(quality["failed"], facts["submodels"])]
    return found + [
        {"kind": "failed", "text": text} for text in failed if text not in quality["warnings"]
    ]


def statements_of(facts: JsonObject) -> list[JsonObject]:
    """Return the headline at every radius that the slider can be moved to."""
    if facts["curves"]:
        return [_share_at(facts, r, share) for r, share in enumerate(facts["curves"][0]["share"])]
    return [_width_at(facts, r, width) for r, width in enumerate(facts["widths"])]


def _whatever(facts: JsonObject, r: int) -> str:
    where = " of a row" if facts["only_rows"] else ""
    return f"whatever is written into any {r} of the {facts['total']:,} {facts['what']}{where}"


def price_of(facts: JsonObject) -> str:
    """Describe the proof's cost in accuracy, beside one model on all columns; "" if not known."""
    full = facts["quality"]["full_model"]
    if full is None or not facts["known_truth"] or not facts["curves"]:
        return ""
    points = round(100 * (full - facts["curves"][0]["share"][0]), 1)
    if points == 0:
        return "none: as accurate"
    size = f"{abs(points)} {'point' if abs(points) == 1 else 'points'}"
    return f"{size} of accuracy" if points > 0 else f"none: {size} more accurate"


def _share_at(facts: JsonObject, r: int, share: float) -> JsonObject:
    known = facts["known_truth"]
    return _statement(r, percent(share), _sentence(facts, r, share)) | {
        "error": sampling_error(share, facts["n_rows"]) if known or r else "",
        "beaten": _beaten(facts["quality"]["constant"], share) if known else "",
        "collective": _collective(facts, r),
        "label_sets": _label_sets(facts, r),
    }


def _statement(r: int, shown: str, sentence: str) -> JsonObject:
    title = "What is proven" if r else "Without an attack"
    found = {"title": title, "number": shown, "sentence": sentence}
    return found | dict.fromkeys(("error", "beaten", "collective", "label_sets"), "")


def _sentence(facts: JsonObject, r: int, share: float) -> str:
    """Describe what the large number counts; accuracy without an attack is not proven."""
    of = f"{round(share * facts['n_rows']):,} of {facts['n_rows']:,} predictions"
    of_labels = facts["criterion"]["kind"] == "label"
    if facts["known_truth"]:
        near = "are right" if of_labels else f"lie {facts['criterion']['short']}"
        if r == 0:
            return f"{of} {near} without an attack. {UNPROVEN}"
        return (
            f"{of} {near} and {'stay right' if of_labels else 'stay there'}, {_whatever(facts, r)}."
        )
    if r == 0:
        return f"Without an attack, every prediction is what it is. {UNPROVEN}"
    stay = "stay what they are" if of_labels else f"stay {_within(facts, 'their own value')}"
    return f"{of} {stay}, {_whatever(facts, r)}."


def _beaten(constant: JsonObject | None, share: float) -> str:
    if constant is None or constant["share"] < share:
        return ""
    return f"Always answering {number(constant['answer'])} does at least as well at this radius."


def _collective(facts: JsonObject, r: int) -> str:
    """Describe what one attacker can do to all rows, as far as that was computed."""
    one = next((one for one in facts["collective"] if one["radius"] == r), None)
    if one is None:
        return ""
    who = f"One attacker who owns the same {r} in every row"
    most = f"at most {one['changed']:,}"
    kind, n_rows = facts["criterion"]["kind"], f"{facts['n_rows']:,}"
    if kind == "label":
        return f"{who} changes {most} of {n_rows} predictions."
    if kind == "own":
        near = _within(facts, "their own value")
        return f"{who} moves {most} of {n_rows} predictions further: all others stay {near}."
    return (
        f"{who} breaks {most} of the {facts['right_now']:,} predictions that are right now: "
        f"at least {facts['right_now'] - one['changed']:,} of {n_rows} "
        f"stay {facts['criterion']['short']}."
    )


def _label_sets(facts: JsonObject, r: int) -> str:
    """Describe which labels r units could bring about, as far as that was computed."""
    sets = facts["label_sets"]
    if sets is None or not 0 < r < len(sets["size"]):
        return ""
    possible = (
        f"If any {r} of the {facts['total']:,} {facts['what']} may be bad, "
        f"{sets['size'][r]:.2f} of the {len(facts['labels'])} labels are possible in a row, on "
        "average"
    )
    if sets["coverage"] is None:
        return f"{possible}."
    share = percent(sets["coverage"][r])
    return f"{possible}, and the true one is among them in {share} of the rows."


def _width_at(facts: JsonObject, r: int, width: float) -> JsonObject:
    half = f"half of the {facts['n_rows']:,} predictions stay inside of"
    sentence = f"Without an attack, every prediction is one value. {UNPROVEN}"
    if r:
        sentence = f"The width of the interval that {half}, {_whatever(facts, r)}."
    return _statement(r, number(width), sentence)
