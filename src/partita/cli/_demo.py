"""A tour on data that scikit-learn ships: tables in files, a sweep, a model, its proofs under three
rules, and a report.

It does what the commands it prints do, so they can be tried again one by one.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits
from sklearn.model_selection import train_test_split

from .._support.atomic import write_whole
from .._support.terminal import say, show
from ..ensemble._full_model import fit_full_model
from ..metrics import certified_accuracy, certified_accuracy_curve, median_radius
from ..plot import figure_png
from ..report import write_report
from ..rules import named_rule
from ..store import _store as store
from ..tables._write import write_table
from ..workflow._sweep import Grid, Trial, sweep_file
from ..workflow._workflow import certify_file, choose_rule, open_training


@dataclass(frozen=True)
class Tour:
    """One data set of the demo."""

    name: str
    title: str
    target: str
    submodels: int
    tries: tuple[int, ...]
    relative: float | None = None

    @property
    def options(self) -> str:
        return "" if self.relative is None else f" --relative {self.relative:g}"


TOURS = (
    Tour("breast_cancer", "Breast cancer", "diagnosis", 15, (5, 15, 29)),
    Tour("digits", "Handwritten digits", "digit", 21, (11, 21)),
    Tour(
        "diabetes",
        "Diabetes, within 40 % of the truth",
        "progression",
        7,
        (3, 5, 7, 9),
        relative=0.4,
    ),
)


def run(out: Path, quiet: bool = False) -> dict[str, Any]:
    """Do the whole tour; returns where everything is, and the certified accuracies."""
    started = time.perf_counter()
    found: dict[str, Any] = {tour.name: _visit(tour, out, quiet) for tour in TOURS}
    seconds = time.perf_counter() - started
    if not quiet:
        say(
            f"Done in {seconds:.0f} s. Open {found['digits']['report']} in a browser, and the "
            f"other reports in {out}."
        )
    return found | {"seconds": round(seconds, 1)}


def _visit(tour: Tour, out: Path, quiet: bool) -> dict[str, Any]:
    train, test = (out / f"{tour.name}_{part}.parquet" for part in ("train", "test"))
    model, folder, report = (
        out / f"{tour.name}_model",
        out / f"{tour.name}_sweep",
        out / f"{tour.name}.html",
    )
    for part, columns in zip((train, test), _tables(tour.name), strict=True):
        write_table(columns, part)
    commands = [
        f"partita sweep {train} --target {tour.target} --submodels "
        f"{','.join(map(str, tour.tries))}{tour.options} --out {folder}",
        f"partita fit {train} --target {tour.target} --submodels {tour.submodels} --overwrite "
        f"--out {model}",
        f"partita report {model} {test} --sweep {folder}{tour.options} --out {report}",
    ]
    if not quiet:
        say(f"\n{tour.title}")
        for command in commands:
            say(f"  $ {command}")
    training = open_training(train, tour.target)
    sweep_file(training, Grid(submodels=tour.tries), folder, Trial(relative=tour.relative))
    fitted = training.ensemble("hgb", choose_rule(None, training.of_values), tour.submodels, 0).fit(
        training.table, training.y
    )
    fitted.full_model_ = fit_full_model(fitted, training.table, training.y)
    store.save(fitted, model, training.about("hgb", model=fitted))
    certified = certify_file(model, test, relative=tour.relative, verbose=0)
    write_report(certified, report, folder, tour.title)
    answers, truth = certified.answers, np.asarray(certified.truth)
    names = ["median"] if answers.of_values else ["plurality", "runoff", "tournament"]
    proofs = {
        name: answers.under(answers.rule if answers.of_values else named_rule(name)).proof_of_truth(
            truth
        )
        for name in names
    }
    curves = {
        name: certified_accuracy_curve(truth, proof).accuracy.tolist()
        for name, proof in proofs.items()
        if proof is not None
    }
    counts = fitted.counts_
    write_whole(
        out / f"{tour.name}.png",
        figure_png(f"{tour.title}, {tour.submodels} submodels", curves, counts.what),
    )
    if not quiet:
        show_accuracy(
            f"% of test rows proven right whatever is written into r of the {counts.total} "
            f"{counts.what}",
            proofs,
            truth,
        )
        say(f"Report: {report}")
    return {"report": str(report), "model": str(model), "certified_accuracy": curves}


def _tables(name: str) -> list[dict[str, Any]]:
    """The rows to learn from and the rows to certify, as columns by name."""
    if name == "digits":
        X, y = load_digits(return_X_y=True)
        table = {f"pixel_{k // 8}_{k % 8}": X[:, k] for k in range(X.shape[1])} | {"digit": y}
    elif name == "breast_cancer":
        frame = load_breast_cancer(as_frame=True)
        labels = np.asarray(frame.target_names, dtype=object)[frame.target.to_numpy()]
        table = {column: frame.data[column].to_numpy() for column in frame.data.columns} | {
            "diagnosis": labels
        }
    else:
        frame = load_diabetes(as_frame=True, scaled=False)
        table = {column: frame.data[column].to_numpy() for column in frame.data.columns} | {
            "progression": frame.target.to_numpy()
        }
    rows = len(next(iter(table.values())))
    stratify = None if name == "diabetes" else table[list(table)[-1]]
    parts = train_test_split(np.arange(rows), test_size=0.3, random_state=0, stratify=stratify)
    return [{column: values[np.sort(part)] for column, values in table.items()} for part in parts]


MOST_RADII = 8


def show_accuracy(title: str, proofs: Mapping[str, Any], truth: Any) -> None:
    """Certified accuracy in % at some radii, one line a rule."""
    last = max(int(np.max(proof.radius)) for proof in proofs.values())
    radii = sorted(
        {int(r) for r in np.linspace(0, max(last, 0), min(MOST_RADII, max(last, 0) + 1))}
    )
    rows = [
        [
            name,
            *(f"{100 * certified_accuracy(truth, proof, r):.1f}" for r in radii),
            f"{median_radius(truth, proof):g}",
        ]
        for name, proof in proofs.items()
    ]
    show(title, ["r =", *map(str, radii), "median r"], rows)
