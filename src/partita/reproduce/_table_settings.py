"""What the tables share: the data sets, which table is about which, and the paper's settings."""

from typing import Any

from ._rules import LABEL_RULES, PAPER_RULES, VALUE_RULES
from ._runs import Setting

IMAGES, VALUES = ("cifar10", "mnist"), ("weather", "ames")
NAMES = {"cifar10": "CIFAR10", "mnist": "MNIST", "weather": "Weather", "ames": "Ames"}
DATA = {name: data for data, name in NAMES.items()}
DETAILED = {"cifar10": "table22", "mnist": "table23", "weather": "table24", "ames": "table25"}
CERTIFIED = {"cifar10": "table26", "mnist": "table27", "weather": "table28", "ames": "table29"}
CONDITIONS = {"lf20b": "LF'20b", "jia22b": "Jia'22b"}  # of randomized ablation, by column
ACCURACY, MEDIAN, SHARE = "accuracy in %", "median r", "certified accuracy in %"
OVERLAPS = {
    7: ("cifar10", 25),
    8: ("cifar10", 115),
    9: ("mnist", 25),
    10: ("mnist", 60),
    11: ("mnist", 80),
    12: ("weather", 11),
    13: ("weather", 31),
}


def fpa(data: str, count: int, **changes: Any) -> Setting:
    """The paper's usual ensemble: strided pixels, or columns at random."""
    partition = "strided" if data in IMAGES else "random"
    return Setting(data, "partition", count, **({"partition": partition} | changes))


def ra(data: str, count: int) -> Setting:
    """Randomized ablation that keeps so many columns."""
    return Setting(data, "ablation", count)


def rule_of(data: str, name: str = "plurality") -> str:
    """A rule for labels; for values always the median."""
    return name if data in IMAGES else "median"


def rules_beyond(data: str) -> list[str]:
    """The rules that the paper does not have."""
    rules = LABEL_RULES if data in IMAGES else VALUE_RULES
    return [name for name in rules if name not in PAPER_RULES]
