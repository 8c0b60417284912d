"""How settings came about, in words."""

from .._support import answer_text, percent, probability, shortened

__all__ = ["answer_text", "percent", "probability", "shortened"]

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
