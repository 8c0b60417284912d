r"""CIFAR10: 61.96 % accuracy, 49.92 % certified at r = 16, 41.65 % at r = 26; 498 s on one H200.

The tournament over 115 submodels of 6 members, all trained at once, one run on the test images;
MNIST with 68 submodels in 135 s: 88.00 %, and 43.17 % at r = 16. All results, with their commands,
are in benchmarks/results/vision; docs/guide/vision.md shows them (benchmarks/vision_table.py).

    python benchmarks/vision.py cifar10 --submodels 115 --members 6 --epochs 38 \
        --token-drop 0.12 --rows test
    python benchmarks/vision.py cifar10 --submodels 5 --network resnet9 --epochs 40 --rows test
    python benchmarks/vision.py cifar10 --submodels 25 --network cells --epochs 30 --erase 8

--rows validation trains without 5,000 of the training images (chosen by a fixed seed) and certifies
those. Settings are chosen there, and the test images are used once, with the settings chosen. A
trial for a machine without a GPU:

    python benchmarks/vision.py digits --submodels 3 --network cells --width 16 --epochs 8 \
        --batch-size 32 --no-flip --shift 1 --images 400 --held-out 200
"""

import argparse
import json
import platform
import time
from pathlib import Path

import numpy as np
import torch
from timing import command_without

from partita import datasets
from partita.partition._partition import spiral_partition, strided_partition
from partita.rules import Plurality, RunOff, Tournament
from partita.vision import MaskedImageClassifier
from partita.vision._cell_sets import CellConfig, CellSets, train_cells
from partita.vision._images import as_images
from partita.vision._pixel_sets import PixelSetConfig, PixelSets, train

CONFIGS = {"pixel sets": PixelSetConfig, "cells": CellConfig}
PAPER_EPOCHS = 30  # of the paper's networks, unless given


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", choices=["digits", "mnist", "cifar10"])
    parser.add_argument("--rows", choices=["validation", "test"], default="validation")
    parser.add_argument("--held-out", type=int, default=5000, help="images of --rows validation")
    parser.add_argument("--images", type=int, help="train on the first of them only")
    parser.add_argument("--submodels", type=int, default=115)
    parser.add_argument("--partition", choices=["strided", "spiral"], default="strided")
    parser.add_argument(
        "--network",
        choices=[*CONFIGS, "resnet9", "network_in_network"],
        default="pixel sets",
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--together", type=int, help="networks over cells trained at once")
    parser.add_argument("--deterministic", action="store_true")
    parser.add_argument("--checkpoint", help="where networks over cells are resumed from")
    parser.add_argument("--cache", help="where the images are stored")
    parser.add_argument("--ballots", help="a .npz for the ballots, in half precision")
    parser.add_argument("--out", help="a .json for the result")
    for name, value in (CellConfig().as_dict() | PixelSetConfig().as_dict()).items():
        if isinstance(value, bool):
            parser.add_argument(f"--no-{name}", dest=name, action="store_false", default=None)
        else:
            parser.add_argument(f"--{name.replace('_', '-')}", type=type(value))
    given = parser.parse_args()
    settings = _settings(given, parser)
    load = getattr(datasets, f"load_{given.data}")
    data = load() if given.data == "digits" else load(given.cache)
    X, y, X_held, y_held = _rows(data, given)
    height, width, _ = data.image_shape
    partition = (
        strided_partition(height * width, given.submodels)
        if given.partition == "strided"
        else spiral_partition(data.image_shape, given.submodels)
    )
    seeds = [
        int(np.random.SeedSequence(given.seed, spawn_key=(t,)).generate_state(1)[0])
        for t in range(given.submodels)
    ]
    started = time.perf_counter()
    if given.network in CONFIGS:
        config = CONFIGS[given.network](**settings)
        about = (list(partition), data.image_shape, len(data.classes), config, seeds)
    if given.network == "pixel sets":
        model = train(PixelSets(*about), X, y, deterministic=given.deterministic)
    elif given.network == "cells":
        model = train_cells(
            CellSets(*about),
            as_images(X, data.image_shape),
            y,
            deterministic=given.deterministic,
            checkpoint=given.checkpoint,
            together=given.together,
        )
        settings = {"network": "cells", **settings}
    else:
        settings = {"network": given.network, **settings}
        channels = np.arange(data.image_shape[2])
        columns = [
            (np.asarray(own)[:, None] * len(channels) + channels).ravel().tolist()
            for own in partition
        ]
        model = MaskedImageClassifier(
            data.image_shape, deterministic=given.deterministic, **settings
        ).fit_submodels(X, y, columns, seeds)
    fitted = time.perf_counter() - started
    ballots = model.scores(X_held)
    scored = time.perf_counter() - started - fitted
    result = {
        "command": command_without("--cache", "--checkpoint", "--ballots", "--out"),
        "data": given.data,
        "rows": given.rows,
        "images": len(y),
        "submodels": given.submodels,
        "partition": given.partition,
        "seed": given.seed,
        "settings": settings,
        "fit_seconds": round(fitted, 1),
        "score_seconds": round(scored, 1),
        "device": torch.cuda.get_device_name()
        if torch.cuda.is_available()
        else platform.processor(),
        "torch": torch.__version__,
        "submodel_accuracy": round(float((ballots.argmax(axis=2) == y_held[:, None]).mean()), 4),
        "rules": {name: _certified(rule, ballots, y_held) for name, rule in _rules().items()},
    }
    text = json.dumps(result, indent=1)
    print(
        json.dumps(
            {
                name: {k: v for k, v in one.items() if k != "curve"}
                for name, one in result["rules"].items()
            }
        ),
        f"{fitted:.0f} s",
    )
    if given.out:
        Path(given.out).parent.mkdir(parents=True, exist_ok=True)
        Path(given.out).write_text(text + "\n")
    if given.ballots:
        np.savez(given.ballots, ballots=ballots.astype(np.float16), y=y_held)


def _settings(given, parser):
    """The settings of the chosen network; those of another are refused."""
    known = (
        CONFIGS[given.network]().as_dict() if given.network in CONFIGS else {"epochs": PAPER_EPOCHS}
    )
    names = {*PixelSetConfig.names(), *CellConfig.names()}
    options = {name: getattr(given, name) for name in names if getattr(given, name) is not None}
    if unknown := sorted({*options} - {*known}):
        parser.error(f"{', '.join(unknown)}: not a setting of {given.network}")
    return known | options


def _rows(data, given):
    """Images to learn from and to certify, with their labels."""
    if given.rows == "test":
        X, y, X_held, y_held = data.X_train, data.y_train, data.X_test, data.y_test
    else:
        order = np.random.default_rng(12345).permutation(len(data.y_train))
        learn, held = order[given.held_out :], order[: given.held_out]
        X, y = data.X_train[learn], data.y_train[learn]
        X_held, y_held = data.X_train[held], data.y_train[held]
    return X[: given.images], y[: given.images], X_held, y_held


def _rules():
    margins = {
        f"tournament, margin {margin:g}": Tournament(margin=margin)
        for margin in (0.25, 0.5, 1.0, 2.0)
    }
    return {"plurality": Plurality(), "runoff": RunOff(), "tournament": Tournament(), **margins}


def _certified(rule, ballots, y):
    """Accuracy, median radius (-1 for a wrong row) and the certified share in % at every radius."""
    proof = rule.certify(ballots)
    radius = np.where(proof.prediction == y, proof.radius, -1)
    largest = max(int(radius.max()), 0)
    curve = [round(100 * float(np.mean(radius >= r)), 2) for r in range(largest + 1)]
    shares = {str(r): curve[r] for r in (8, 13, 16, 26, 39) if r < len(curve)}
    return {
        "accuracy": curve[0],
        "median": float(np.median(radius)),
        "certified": shares,
        "curve": curve,
    }


if __name__ == "__main__":
    main()
