"""The rules under which every run is certified, by the names that the tables use for them.

All decide on the same ballots.
"""

from ..rules import Median, Plurality, Rule, RunOff, Tournament

LABEL_RULES: dict[str, Rule] = {
    "plurality": Plurality(),
    "run-off": RunOff(),
    "tournament": Tournament(margin=0.0, prior=0.0),
    "tournament, margin 0.5": Tournament(margin=0.5, prior=0.0),
    "tournament, margin 1": Tournament(margin=1.0, prior=0.0),
    "tournament, prior 0.5": Tournament(margin=0.0, prior=0.5),
}
VALUE_RULES: dict[str, Median] = {
    "median": Median(),
    "median, stretch 1.2": Median(stretch=1.2),
    "median, stretch 1.3": Median(stretch=1.3),
    "median, stretch 1.4": Median(stretch=1.4),
}
TUNED_STRETCH = "median, stretch chosen on training rows"
PAPER_RULES = ("plurality", "run-off", "median")  # the others go beyond the paper
