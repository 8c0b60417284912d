"""The settings and numbers of submodels that benchmarks/defaults.py compares."""

from itertools import product

RADII = range(4)
MARGINS = (0, 0.25, 0.5, 1, 2)
PRIORS = (0, 0.5, 0.75, 0.9, 0.95, 1.0)
OFFSETS = (0, 0.25, 0.5, 1.0)
GRID = list(product(MARGINS, PRIORS, OFFSETS))
DEFAULT = (0.25, 1.0, 0.25)
SHOWN = [  # (margin, prior, offset) whose curves are stored
    (0, 0, 0),
    (0.5, 0.9, 0),
    (0.5, 0.95, 0),
    (0, 1.0, 0),
    (0.25, 1.0, 0),
    (0.5, 1.0, 0),
    (1, 1.0, 0),
    (0.25, 1.0, 0.25),
    (0.5, 1.0, 0.5),
    (0.5, 1.0, 1.0),
]


def odd(number):
    return int(number) - (int(number) % 2 == 0)


def rule(share, least, most):
    """This share of the units, between two bounds, odd, and never more than there are."""
    return lambda units: max(1, odd(min(units, most, max(least, share * units))))


RULES = {
    "a third of the units, 3 to 21": rule(1 / 3, 3, 21),
    "a third of the units, 7 to 21": rule(1 / 3, 7, 21),
    "half of the units, 7 to 15": rule(1 / 2, 7, 15),
    "half of the units, 7 to 21": rule(1 / 2, 7, 21),
    "two thirds of the units, 9 to 15": rule(2 / 3, 9, 15),
    "two thirds of the units, 9 to 21": rule(2 / 3, 9, 21),
    "all units, at most 11": rule(1, 1, 11),
    "all units, at most 15": rule(1, 1, 15),
    "all units, at most 21": rule(1, 1, 21),
    "all units, at most 31": rule(1, 1, 31),
}
AUTO = "all units, at most 21"
