r"""CIFAR10, a 5 x 5 patch, training trusted: 79.8 % certified at 95.6 %, 10 minutes on one H200.

Networks that leave windows of the image out, on CIFAR10 and MNIST, one run per setting. Without
--run it prints the table of the results in benchmarks/results/patches, each with its command.

    python benchmarks/patches.py
    python benchmarks/patches.py --run --dataset cifar10 --patch 5 5 --training trusted \
        --windows 49 --members 3 --epochs 100 --deterministic
    python benchmarks/patches.py --run --dataset cifar10 --training attackable --windows 9 \
        --epochs 15 --deterministic --checkpoint networks

--held-out trains without 5,000 of the training images (of digits, which need no GPU, 400), chosen
by a fixed seed, and certifies those. Settings are chosen there, and the test images are certified
once, with the settings chosen. On a GPU give --deterministic: without it, as in the stored runs
with training trusted, an image's result may depend by rounding on the other images. With
--checkpoint, a run that was interrupted resumes after the last network that was finished. --images
takes some images only, for a trial on a CPU, and writes no result unless --out is given.
"""

import argparse
import json
import platform
import time
from pathlib import Path

import numpy as np
import torch
from patches_table import RESULTS, THREATS, results, table
from timing import command_without

from partita import datasets
from partita.metrics import certified_accuracy
from partita.vision import LeaveOutImageClassifier

HELD_OUT = {"cifar10": 5000, "mnist": 5000, "digits": 400}
SETTINGS = {  # of the network's training; None: as in the paper of the network
    "epochs": int,
    "batch_size": int,
    "learning_rate": float,
    "weight_decay": float,
    "label_smoothing": float,
    "shift": int,
    "erase": int,
}
# digits are not mirrored, and are thin: a square of 8 x 8 would hide too much
DEFAULTS = {
    "cifar10": {},
    "mnist": {"flip": False, "shift": 2, "erase": 0},
    "digits": {"flip": False, "shift": 1, "erase": 0},
}


def main() -> None:
    given = _arguments()
    if not given.run:
        print(table(results()))
        return
    result = _run(given)
    print(json.dumps(result, indent=1))
    file = given.out
    if file is None and given.images is None:
        file = RESULTS / f"{_name(result)}.json"
    if file is not None:
        Path(file).parent.mkdir(parents=True, exist_ok=True)
        Path(file).write_text(json.dumps(result, indent=1) + "\n")


def _arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--run", action="store_true", help="train and certify, not just print")
    parser.add_argument("--dataset", choices=list(DEFAULTS), default="cifar10")
    parser.add_argument("--patch", type=int, nargs=2, default=[5, 5], metavar=("HEIGHT", "WIDTH"))
    parser.add_argument("--n-patches", type=int, default=1)
    parser.add_argument("--training", choices=list(THREATS), default="trusted")
    parser.add_argument("--windows", type=int, default=49)
    parser.add_argument("--members", type=int, default=1)
    parser.add_argument("--leave-out", type=int, help="windows a network leaves out, if attackable")
    parser.add_argument("--network", choices=["resnet9", "network_in_network"], default="resnet9")
    for name, kind in SETTINGS.items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=kind)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--held-out", action="store_true", help="certify training images")
    parser.add_argument("--images", type=int, help="train on, and certify, this many only")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--deterministic", action="store_true")
    parser.add_argument("--checkpoint", help="a folder for the networks that are finished")
    parser.add_argument("--cache", help="where the images are stored")
    parser.add_argument("--out", help="a .json for the result, instead of the results' folder")
    return parser.parse_args()


def _run(given):
    """Train, certify, and say what was found."""
    load = getattr(datasets, f"load_{given.dataset}")
    data = load() if given.dataset == "digits" else load(given.cache)
    X, y, X_held, y_held = _rows(data, HELD_OUT[given.dataset] if given.held_out else 0)
    if given.images is not None:
        X, y, X_held, y_held = (part[: given.images] for part in (X, y, X_held, y_held))
    settings = {name: getattr(given, name) for name in SETTINGS}
    chosen = {name: value for name, value in settings.items() if value is not None}
    settings = {**DEFAULTS[given.dataset], **chosen}
    clf = LeaveOutImageClassifier(
        data.image_shape,
        tuple(given.patch),
        given.n_patches,
        given.windows,
        given.training,
        given.network,
        given.members,
        given.leave_out,
        **settings,
        device=given.device,
        deterministic=given.deterministic,
        checkpoint=given.checkpoint,
        random_state=given.seed,
    )
    before = _finished(given.checkpoint)
    started = time.perf_counter()
    clf.fit(X, y)
    fitted = time.perf_counter() - started
    proof = clf.certify(X_held)
    return {
        "command": command_without("--checkpoint", "--cache", "--out"),
        "data": given.dataset,
        "rows": "held-out" if given.held_out else "test",
        "images": len(y_held),
        "patch": given.patch,
        "n_patches": given.n_patches,
        "training": given.training,
        "windows": len(clf.windows_),
        "grid": list(clf.grid_),
        "models": len(clf.left_out_),
        "members": given.members,
        "leave_out": given.leave_out,
        "network": given.network,
        "seed": given.seed,
        "settings": settings,
        "networks": len(clf.networks_),
        "networks_fitted": len(clf.networks_) - before,  # in this run, which may have resumed
        "fit_seconds": round(fitted, 1),
        "seconds_per_image": round(clf.seconds_per_image_, 6),
        "questions_per_image": round(clf.evaluations_per_image_, 1),
        "accuracy": round(100 * certified_accuracy(y_held, proof, 0), 2),
        "certified": [
            round(100 * certified_accuracy(y_held, proof, r), 2)
            for r in range(1, given.n_patches + 1)
        ],
        "device": torch.cuda.get_device_name() if torch.cuda.is_available() else platform.machine(),
        "torch": torch.__version__,
    }


def _rows(data, n_held_out):
    if not n_held_out:
        return data.X_train, data.y_train, data.X_test, data.y_test
    order = np.random.default_rng(12345).permutation(len(data.y_train))
    learn, held = order[n_held_out:], order[:n_held_out]
    return data.X_train[learn], data.y_train[learn], data.X_train[held], data.y_train[held]


def _finished(checkpoint):
    """How many networks an earlier run finished."""
    return 0 if checkpoint is None else len(list(Path(checkpoint).glob("*.pt")))


def _name(result):
    """A file's name: what tells results apart."""
    tall, wide = result["patch"]
    parts = [
        result["data"],
        f"{tall}x{wide}",
        *([f"{result['n_patches']}patches"] if result["n_patches"] > 1 else []),
        result["training"],
        f"{result['windows']}windows",
        f"{result['members']}members",
        *([] if result["leave_out"] is None else [f"leave-out{result['leave_out']}"]),
        *([] if result["network"] == "resnet9" else [result["network"]]),
        *(f"{name.replace('_', '-')}{value:g}" for name, value in result["settings"].items()),
        f"seed{result['seed']}",
        result["rows"],
    ]
    return "-".join(parts)


if __name__ == "__main__":
    main()
