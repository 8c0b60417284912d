"""Every defence on the same images of MNIST, timed in one run: python benchmarks/defences.py --out
benchmarks/results/defences/mnist.json

All train on the 60,000 training images and certify the same first test images. Settings are fixed
beforehand (sizes as in the papers): none is chosen on test images. docs/baselines.md shows the
table (benchmarks/defences_table.py). Randomized ablation, with 100,000 draws an image, and
smoothing train a network-in-network: they want a GPU. Run again after an interruption, it goes on
with the next method."""

import argparse
import json
import os
import platform
import shlex
import sys
from pathlib import Path

import sklearn
import torch
from lightgbm import LGBMClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from partita import FeaturePartitionClassifier, compare
from partita.baselines import (
    ConstantClassifier,
    RandomizedAblationClassifier,
    RowPartitionClassifier,
    SmoothingClassifier,
)
from partita.datasets import load_mnist
from partita.partition._units import pixels
from partita.rules import Plurality, RunOff, Tournament
from partita.vision import AblatedImageClassifier

RADII = (1, 5, 10, 50, 100)
PATCH = (5, 5)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=500, help="how many test images")
    parser.add_argument(
        "--draws", type=int, default=100_000, help="of randomized ablation, an image"
    )
    parser.add_argument("--only", nargs="*", help="names of methods, or their beginnings")
    parser.add_argument("--cache", help="where the images are kept")
    parser.add_argument("--out", help="a .json for the result")
    given = parser.parse_args()
    data = load_mnist(given.cache)
    methods = {
        name: method
        for name, method in _methods(data.image_shape, given.draws).items()
        if not given.only or name.startswith(tuple(given.only))
    }
    rows = _done(given)
    for name in [row["method"] for row in rows]:
        methods.pop(name, None)
    for name, method in methods.items():
        line = compare(
            {name: method},
            data.X_train,
            data.y_train,
            data.X_test[: given.rows],
            data.y_test[: given.rows],
            radii=RADII,
            patch=PATCH,
        )
        rows += line.rows
        print(line.to_markdown().splitlines()[-1], flush=True)
        if given.out:
            _write(given, rows)


def _done(given):
    """What an interrupted run has done."""
    if not given.out or not Path(given.out).exists():
        return []
    found = json.loads(Path(given.out).read_text())
    if (found["images"], found["draws"], found["machine"]) != (given.rows, given.draws, _machine()):
        raise SystemExit(
            f"{given.out} is of other images, draws or another machine: choose another file"
        )
    return found["rows"]


def _machine():
    return f"{os.cpu_count()} cores, {torch.cuda.get_device_name() if torch.cuda.is_available() else platform.machine()}"


def _write(given, rows):
    """What is done so far."""
    found = {
        "command": shlex.join(["python", *_without_places(sys.argv)]),
        "machine": _machine(),
        "scikit-learn": sklearn.__version__,
        "images": given.rows,
        "draws": given.draws,
        "patch": PATCH,
        "rows": rows,
    }
    Path(given.out).parent.mkdir(parents=True, exist_ok=True)
    Path(given.out).write_text(json.dumps(found, indent=1) + "\n")


def _methods(image_shape, draws):
    """Columns: 25 pixel sets, as the paper's Table 23 has. Rows: 300 partitions. Ablation: 45 of
    784 pixels kept, as in its papers."""
    boosting = LGBMClassifier(n_estimators=40, num_leaves=15, verbose=-1)
    logistic = make_pipeline(FunctionTransformer(_scaled), LogisticRegression(C=0.1, max_iter=200))
    network = AblatedImageClassifier(image_shape)
    rules = {"plurality": Plurality(), "run-off": RunOff(), "tournament": Tournament()}
    chosen = {
        f"feature partition, T = 25, {name}": FeaturePartitionClassifier(
            boosting, n_submodels=25, partition="spiral", image_shape=image_shape, rule=rule
        )
        for name, rule in rules.items()
    }
    for spread, what in (
        (1, "row partition (DPA), 300"),
        (2, "row partition (finite aggregation, spread 2), 100"),
    ):
        for name, rule in rules.items():
            chosen[f"{what}, {name}"] = RowPartitionClassifier(
                logistic,
                n_submodels=300 if spread == 1 else 100,
                spread=spread,
                classes=range(10),
                rule=rule,
            )
    for method in ("levine-feizi", "jia"):
        chosen[f"randomized ablation, 45 pixels kept, {method}"] = RandomizedAblationClassifier(
            network, keep=45, units=pixels(image_shape), method=method, n_certify=draws, epochs=20
        )
    chosen["de-randomized smoothing, columns of 2"] = SmoothingClassifier(
        image_shape, kind="column", size=2, estimator=network
    )
    chosen["de-randomized smoothing, blocks of 12"] = SmoothingClassifier(
        image_shape, kind="block", size=12, estimator=network
    )
    chosen["constant"] = ConstantClassifier()
    return chosen


def _scaled(X):
    return X / 255.0


def _without_places(arguments):
    return [
        argument
        for argument, before in zip(arguments, ["", *arguments], strict=False)
        if "--cache" not in (argument, before)
    ]


if __name__ == "__main__":
    main()
