"""Shares, answers and names as sentences show them."""

from typing import Any

BEFOREHAND, ON_REFERENCE, ON_TRAINING = "beforehand", "on-reference", "on-training"
CHOSEN = {  # how settings came about, and what that means for a radius
    BEFOREHAND: "Settings were fixed beforehand, as whoever fitted the model states: proofs hold "
    "whatever is written into the training table.",
    ON_REFERENCE: "Settings were chosen on a trusted sample alone: proofs hold whatever is written "
    "into the training table, as long as no attacker reached the sample.",
    ON_TRAINING: "Settings were chosen on the training table: proofs hold given these settings. "
    "Whoever writes into one training column can change what is chosen, and with it predictions "
    "of any radius.",
    None: "How the settings were chosen is not recorded: proofs hold given these settings.",
}


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
