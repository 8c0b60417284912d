"""When a model is nearly a constant: its proofs are true and say little."""

NEARLY_ALL = 0.99  # a larger share of predictions with one label is nearly a constant
ENOUGH_ROWS = 50  # to judge that by
