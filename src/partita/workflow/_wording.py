"""Shares, answers and names as sentences show them."""

from typing import Any


def percent(share: float) -> str:
    """A share in percent, with one digit."""
    return f"{100 * share:.1f} %"


def probability(p: float) -> str:
    """A stated probability in percent, never rounded to 0."""
    return f"{100 * p:g} %"


def answer_text(answer: Any) -> str:
    """A label or value, such as the best constant answer."""
    return f"{answer:.6g}" if isinstance(answer, float) else repr(answer)


def shortened(text: Any, most: int) -> str:
    """A text of at most so many characters; an ellipsis says that something is left out."""
    whole = str(text)
    return whole if len(whole) <= most else whole[: most - 1] + "…"
