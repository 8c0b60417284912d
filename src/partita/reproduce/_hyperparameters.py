"""The hyperparameters of submodels, as in the paper.

Where the paper leaves them out or prints them wrongly, they are those of its authors' program.
"""

from typing import Any

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
ABLATION_EPOCHS = {"cifar10": 80, "mnist": 25}
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
        return {"epochs": ABLATION_EPOCHS[data], "network": PAPER_NETWORKS[data]}
    return {"epochs": 50 if data in BOOSTING else 5}
