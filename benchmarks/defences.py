"""Defences on the same images of MNIST, r = 5: pixel sets certify 81.7 %, ablation 70.3 %.

On 16 cores and an NVIDIA H200, 300 test images, one run; row partitions certify 87.3 % at r = 5
training rows. The whole table is in docs/guide/baselines.md (benchmarks/defences_table.py).

    python benchmarks/defences.py --rows 300 --out benchmarks/results/defences/mnist.json

All train on the 60,000 training images and certify the same first test images. Settings are fixed
beforehand (sizes as in the papers): none is chosen on test images. Randomized ablation, with
100,000 draws per image, and smoothing train a network-in-network, and windows are left out by
ResNet9: they need a GPU. Run again after an interruption, it resumes with the next method.
"""

import argparse
import json
from pathlib import Path

import sklearn
from lightgbm import LGBMClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from timing import command_without, cores_and_gpu

from partita import FeaturePartitionClassifier, compare, pixels
from partita.baselines import (
    ConstantClassifier,
    RandomizedAblationClassifier,
    RowPartitionClassifier,
    SmoothingClassifier,
)
from partita.datasets import load_mnist
from partita.rules import Plurality, RunOff, Tournament
from partita.vision import AblatedImageClassifier, LeaveOutImageClassifier

RADII = (1, 5, 10, 50, 100)
PATCH = (5, 5)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=500, help="how many test images")
    parser.add_argument(
        "--draws", type=int, default=100_000, help="of randomized ablation, per image"
    )
    parser.add_argument("--only", nargs="*", help="names of methods, or their beginnings")
    parser.add_argument("--cache", help="where the images are stored")
    parser.add_argument("--out", help="a .json for the result")
    given = parser.parse_args()
    data = load_mnist(given.cache)
    methods = {
        name: method
        for name, method in _methods(data.image_shape, given.draws).items()
        if not given.only or name.startswith(tuple(given.only))
    }
    rows = _finished_rows(given)
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


def _finished_rows(given):
    """What an interrupted run has finished."""
    if not given.out or not Path(given.out).exists():
        return []
    content = json.loads(Path(given.out).read_text())
    run = (content["images"], content["draws"], content["machine"])
    if run != (given.rows, given.draws, cores_and_gpu()):
        raise SystemExit(
            f"{given.out} is of other images, draws or another machine: choose another file"
        )
    return content["rows"]


def _write(given, rows):
    content = {
        "command": command_without("--cache"),
        "machine": cores_and_gpu(),
        "scikit-learn": sklearn.__version__,
        "images": given.rows,
        "draws": given.draws,
        "patch": PATCH,
        "rows": rows,
    }
    Path(given.out).parent.mkdir(parents=True, exist_ok=True)
    Path(given.out).write_text(json.dumps(content, indent=1) + "\n")


def _methods(image_shape, draws):
    """25 pixel sets, as in the paper's table 23; 300 row partitions; 45 of 784 pixels kept."""
    boosting = LGBMClassifier(n_estimators=40, num_leaves=15, verbose=-1)
    logistic = make_pipeline(FunctionTransformer(_scaled), LogisticRegression(C=0.1, max_iter=200))
    network = AblatedImageClassifier(image_shape)
    rules = {"plurality": Plurality(), "run-off": RunOff(), "tournament": Tournament()}
    methods = {
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
            methods[f"{what}, {name}"] = RowPartitionClassifier(
                logistic,
                n_submodels=300 if spread == 1 else 100,
                spread=spread,
                classes=range(10),
                rule=rule,
            )
    for method in ("levine-feizi", "jia"):
        methods[f"randomized ablation, 45 pixels kept, {method}"] = RandomizedAblationClassifier(
            network, keep=45, units=pixels(image_shape), method=method, n_certify=draws, epochs=20
        )
    methods["de-randomized smoothing, columns of 2"] = SmoothingClassifier(
        image_shape, kind="column", size=2, estimator=network
    )
    methods["de-randomized smoothing, blocks of 12"] = SmoothingClassifier(
        image_shape, kind="block", size=12, estimator=network
    )
    for training, windows, epochs in (("trusted", 36, 40), ("attackable", 9, 10)):
        methods[f"windows left out, {windows}, {training} training"] = LeaveOutImageClassifier(
            image_shape,
            PATCH,
            windows=windows,
            training=training,
            epochs=epochs,
            flip=False,
            shift=2,
            erase=0,
        )
    methods["constant"] = ConstantClassifier()
    return methods


def _scaled(X):
    return X / 255.0


if __name__ == "__main__":
    main()
