"""What the sizes smoke, laptop and full mean for each data set.

Which settings are run, with how many rows, draws and seeds, about how long that takes, and the
submodels' hyperparameters. These are the paper's; where the paper leaves them out or prints them
wrongly, they are those of its authors' program.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from partita.errors import InputError

from .runs import Run, Setting

BOOSTING: dict[str, dict[str, Any]] = {
    "ames": {
        "n_estimators": 1000,
        "max_depth": 6,
        "min_child_samples": 5,
        "num_leaves": 127,
        "reg_alpha": 1e-3,
        "reg_lambda": 1e2,
        "objective": "mae",
        "learning_rate": 1e-2,
        "subsample": 0.9,
        "colsample_bytree": 0.8,
    },
    "weather": {
        "n_estimators": 500,
        "max_depth": 10,
        "min_child_samples": 20,
        "num_leaves": 127,
        "objective": "huber",
        "learning_rate": 0.5,
        "subsample": 0.9,
    },
}
LINEAR: dict[str, dict[str, Any]] = {
    "ames": {"alpha": 4.15e-5, "max_iter": 1_000_000, "tol": 1e-8},
    "weather": {"alpha": 3.16e-3, "max_iter": 10_000, "tol": 1e-3},
}
# found on held-out training images (docs/guide/vision.md, where more members do better still)
NETWORKS: dict[str, dict[str, Any]] = {
    "cifar10": {"members": 2, "epochs": 30, "token_drop": 0.1},
    "mnist": {
        "width": 64,
        "blocks": 2,
        "members": 2,
        "epochs": 20,
        "flip": False,
        "shift": 1,
        "views": 5,
    },
}
# with at most so many submodels each sees many pixels, and the paper's networks do better than
# networks over pixel sets
FEW_SUBMODELS = 5
PAPER_NETWORKS = {"cifar10": "resnet9", "mnist": "network_in_network"}
# LightGBM in place of networks
LABEL_BOOSTING: dict[str, Any] = {"n_estimators": 40, "num_leaves": 15}
SMALL_BOOSTING: dict[str, Any] = {"n_estimators": 5, "num_leaves": 7}  # for stand-ins
# networks of randomized ablation and smoothing, found on held-out training images
# (docs/results/reproduce.md says how they differ from those of the paper)
ABLATION: dict[str, dict[str, Any]] = {
    "cifar10": {
        "network": "narrow_resnet9",
        "epochs": 100,
        "batch_size": 1024,
        "learning_rate": 4e-3,
    },
    "mnist": {
        "network": "strided_cnn",
        "epochs": 300,
        "batch_size": 2048,
        "learning_rate": 2e-3,
    },
}
# exchanges of units in a partition that is informed by trusted rows
EXCHANGES = {"informed": 0, "exchanged": 3000}


def submodel_settings(data: str, kind: str, count: int) -> dict[str, Any]:
    """The settings of each of ``count`` submodels."""
    if kind == "network":
        return {"network": PAPER_NETWORKS[data]} if count <= FEW_SUBMODELS else NETWORKS[data]
    table = data.removesuffix("_raw")
    if kind == "linear":
        return LINEAR[table]
    if kind == "small lightgbm":
        return SMALL_BOOSTING
    return BOOSTING.get(table, LABEL_BOOSTING)


def ablation_settings(data: str, kind: str) -> dict[str, Any]:
    """The settings of the model of randomized ablation: its epochs, and its network if any."""
    if kind == "network":
        return ABLATION[data]
    return {"epochs": 50 if data in BOOSTING else 5}


SIZES = ("smoke", "laptop", "full")


@dataclass(frozen=True)
class SizePlan:
    """What one size means for one data set; None is all there is, or as in the paper."""

    stand_in: str | None = None  # data that are used instead
    train_rows: int | None = None
    test_rows: int | None = None
    submodel: str = "lightgbm"  # "lightgbm", "small lightgbm" (for stand-ins) or "network"
    ablation_model: str | None = "linear"  # "linear", "network", or None: ablation is left out
    draws: int = 100_000
    seeds: int = 1
    # fewer rows for ablation, since each takes as many predictions as there are draws
    ablation_rows: int | None = None
    counts: tuple[int, ...] | None = None  # the T that are run
    spreads: tuple[int, ...] | None = None
    largest: Mapping[str, int] | None = None  # a stand-in's largest T, e and spread
    seconds: tuple[float, float] = (1.0, 0.3)  # of a run, and of each submodel
    ablation_seconds: float = 10.0

    def runs(self, setting: Setting) -> list[Run]:
        """The runs of a setting, one per seed; none where this size leaves it out."""
        if setting.method in ("ablation", "smoothing") and self.ablation_model is None:
            return []
        if setting.method == "partition" and not (
            self.counts is None
            or (setting.count in self.counts and setting.spread in (self.spreads or (1,)))
        ):
            return []
        limited = self._limited(setting)
        deterministic = limited.method == "constant" or (
            limited.method == "partition" and limited.partition == "strided"
        )
        # seeds would be alike, except that every seed splits the rows of Ames anew
        one_seed = deterministic and not setting.data.startswith("ames")
        details = self.details(limited)
        return [Run(limited, details, seed) for seed in range(1 if one_seed else self.seeds)]

    def details(self, setting: Setting) -> dict[str, Any]:
        """How a setting is run; part of the request that a result must answer."""
        details: dict[str, Any] = {
            "stand_in": self.stand_in,
            "train_rows": self.train_rows,
            "test_rows": self.test_rows,
        }
        if setting.method == "constant":
            return details
        if setting.method == "partition":
            kind = "linear" if setting.submodel == "linear" else self.submodel
            settings = submodel_settings(setting.data, kind, setting.count)
            details |= {"submodel": kind, "settings": settings}
            if setting.partition in EXCHANGES:
                details["exchanges"] = EXCHANGES[setting.partition]
            return details
        if setting.method == "ablation" and self.ablation_rows is not None:
            details["test_rows"] = self.ablation_rows
        return details | {
            "model": self.ablation_model,
            "draws": self.draws,
            "settings": ablation_settings(setting.data, str(self.ablation_model)),
        }

    def estimate(self, run: Run) -> float:
        """About how many seconds a run takes."""
        one = run.setting
        if one.method == "constant":
            return 0.2
        if one.method != "partition":
            return self.ablation_seconds
        fits = 4 if one.data == "ames_raw" else 1  # its stretch is chosen on folds
        # with overlaps every column is learnt from ``spread`` times
        return (self.seconds[0] + fits * self.seconds[1] * one.count) * one.spread

    def _limited(self, setting: Setting) -> Setting:
        """The setting within a stand-in's limits."""
        if self.largest is None:
            return setting
        most = self.largest["e" if setting.method == "ablation" else "T"]
        return replace(
            setting,
            count=min(setting.count, most),
            spread=min(setting.spread, self.largest["spread"]),
        )


IMAGES_SMOKE = SizePlan(
    "digits",
    300,
    100,
    "small lightgbm",
    "linear",
    200,
    largest={"T": 9, "e": 16, "spread": 2},
    seconds=(0.3, 0.05),
    ablation_seconds=1.0,
)
VALUES_SMOKE = SizePlan(
    "diabetes",
    300,
    100,
    "small lightgbm",
    "linear",
    200,
    2,
    largest={"T": 5, "e": 4, "spread": 2},
    seconds=(0.2, 0.05),
    ablation_seconds=0.5,
)
IMAGES_LAPTOP = SizePlan(None, 10_000, 1_000, "lightgbm", None)
WEATHER_LAPTOP = SizePlan(
    None,
    200_000,
    20_000,
    draws=10_000,
    counts=(1, 5, 11, 21, 31),
    spreads=(1, 3),
    seconds=(20, 10),
    ablation_seconds=60,
)
AMES_FULL = SizePlan(seeds=10, seconds=(1.5, 0.25), ablation_seconds=5.0)

PLANS: dict[str, dict[str, SizePlan]] = {
    "smoke": {
        "cifar10": IMAGES_SMOKE,
        "mnist": IMAGES_SMOKE,
        "weather": VALUES_SMOKE,
        "ames": VALUES_SMOKE,
        "ames_raw": VALUES_SMOKE,
    },
    "laptop": {
        "cifar10": replace(
            IMAGES_LAPTOP,
            counts=(1, 5, 25, 55, 115, 180),
            spreads=(1, 4, 8, 10),
            seconds=(60.0, 0.0),
        ),
        "mnist": replace(
            IMAGES_LAPTOP,
            counts=(1, 5, 10, 25, 60, 80),
            spreads=(1, 6, 9, 10, 12, 20, 30),
            seconds=(10.0, 0.0),
        ),
        "weather": WEATHER_LAPTOP,
        "ames": replace(
            AMES_FULL, seeds=3, draws=10_000, counts=(1, 5, 11, 21, 31, 51), ablation_seconds=3.0
        ),
        "ames_raw": AMES_FULL,
    },
    "full": {
        "cifar10": SizePlan(
            submodel="network",
            ablation_model="network",
            ablation_rows=500,
            seconds=(170.0, 0.0),
            ablation_seconds=110.0,
        ),
        "mnist": SizePlan(
            submodel="network",
            ablation_model="network",
            ablation_rows=500,
            seconds=(60.0, 0.0),
            ablation_seconds=45.0,
        ),
        "weather": SizePlan(seeds=10, seconds=(60.0, 20.0), ablation_seconds=3600.0),
        "ames": AMES_FULL,
        "ames_raw": AMES_FULL,
    },
}


def plan_for(size: str, data: str) -> SizePlan:
    """What a size means for a data set."""
    check_size(size)
    return PLANS[size][data]


def check_size(size: str) -> None:
    """Refuse a size that does not exist."""
    if size not in SIZES:
        raise InputError(f"size is {size!r}: give one of {', '.join(SIZES)}")
