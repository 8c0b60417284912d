"""What the tables have in common: the data sets, which table is about which, and the paper's
settings."""

from typing import Any

from ._runs import Setting
from ._voting import OF_LABELS, OF_VALUES, PAPERS

IMAGES, VALUES = ("cifar10", "mnist"), ("weather", "ames")
NAMES = {"cifar10": "CIFAR10", "mnist": "MNIST", "weather": "Weather", "ames": "Ames"}
DATA = {shown: data for data, shown in NAMES.items()}
DETAILED = {"cifar10": "table22", "mnist": "table23", "weather": "table24", "ames": "table25"}
CERTIFIED = {"cifar10": "table26", "mnist": "table27", "weather": "table28", "ames": "table29"}
CONDITIONS = {"lf20b": "LF'20b", "jia22b": "Jia'22b"}
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


def fpa(data: str, count: int, **others: Any) -> Setting:
    """The paper's usual ensemble: strided pixels, or columns at random."""
    return Setting(
        data,
        "partition",
        count,
        **({"partition": "strided" if data in IMAGES else "random"} | others),
    )


def ra(data: str, count: int) -> Setting:
    return Setting(data, "ablation", count)


def rule_of(data: str, name: str = "plurality") -> str:
    return name if data in IMAGES else "median"


def beyond(data: str) -> list[str]:
    """The rules that the paper does not have."""
    return [name for name in (OF_LABELS if data in IMAGES else OF_VALUES) if name not in PAPERS]
