"""The tour of ``partita demo``, on data that scikit-learn ships.

Tables in files, a sweep, a model, its proofs under three rules, and a report. It does what the
commands it prints do, so they can be tried again one by one.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits
from sklearn.model_selection import train_test_split

from .._support import Array, print_line, print_table, write_atomic
from ..certificates import Certificates
from ..ensemble import fit_full_model
from ..metrics import certified_accuracy, certified_accuracy_curve, median_radius
from ..plot import curves_png
from ..report import write_report
from ..rules import RULES, named_rule
from ..selection import Grid, Trial, choose_file
from ..store import save
from ..tables import write_table
from ..workflow import certify_file, open_training

MOST_RADII = 8
LOADERS = {"breast_cancer": load_breast_cancer, "digits": load_digits, "diabetes": load_diabetes}


@dataclass(frozen=True)
class Stop:
    """One data set of the tour.

    Attributes
    ----------
    name, title, target : str
        The files' names, the heading, and the column to predict.
    submodels : int
        Of the model.
    sweep : tuple of int
        Numbers of submodels to try.
    other_rules : tuple of str
        Rules to compare the model's own with.
    relative : float, optional
        For numbers: what counts as right.
    """

    name: str
    title: str
    target: str
    submodels: int
    sweep: tuple[int, ...]
    other_rules: tuple[str, ...] = ()
    relative: float | None = None

    @property
    def tolerance_options(self) -> str:
        return "" if self.relative is None else f" --relative {self.relative:g}"


TOUR = (
    Stop("breast_cancer", "Breast cancer", "diagnosis", 15, (5, 15)),
    Stop("digits", "Handwritten digits", "digit", 21, (5, 21), ("plurality", "runoff")),
    Stop(
        "diabetes",
        "Diabetes, within 40 % of the truth",
        "progression",
        7,
        (3, 5, 7, 9),
        relative=0.4,
    ),
)


def run_demo(out: Path, quiet: bool = False) -> dict[str, Any]:
    """Do the whole tour; return where everything is, and the certified accuracies."""
    started = time.perf_counter()
    found: dict[str, Any] = {stop.name: _visit(stop, out, quiet) for stop in TOUR}
    seconds = time.perf_counter() - started
    if not quiet:
        print_line(
            f"Done in {seconds:.0f} s. Open {found['digits']['report']} in a browser, and the "
            f"other reports in {out}."
        )
    return found | {"seconds": round(seconds, 1)}


def _visit(stop: Stop, out: Path, quiet: bool) -> dict[str, Any]:
    """Sweep, fit, certify and report on one data set."""
    train, test = (out / f"{stop.name}_{part}.parquet" for part in ("train", "test"))
    model, folder = out / f"{stop.name}_model", out / f"{stop.name}_sweep"
    report = out / f"{stop.name}.html"
    for part, columns in zip((train, test), _tables(stop), strict=True):
        write_table(columns, part)
    if not quiet:
        print_line(f"\n{stop.title}")
        for command in (
            f"partita sweep {train} --target {stop.target} --submodels "
            f"{','.join(map(str, stop.sweep))}{stop.tolerance_options} --out {folder}",
            f"partita fit {train} --target {stop.target} --submodels {stop.submodels} --overwrite "
            f"--out {model}",
            f"partita report {model} {test} --sweep {folder}{stop.tolerance_options} "
            f"--out {report}",
        ):
            print_line(f"  $ {command}")
    training = open_training(train, stop.target)
    choose_file(training, Grid(submodels=stop.sweep), folder, Trial(relative=stop.relative))
    fitted = training.ensemble("blend", training.task.rule(None), stop.submodels, 0)
    fitted.fit(training.table, training.y)
    fitted.full_model_ = fit_full_model(fitted, training.table, training.y)
    save(fitted, model, training.about("blend", model=fitted))
    certified = certify_file(model, test, relative=stop.relative, verbose=0)
    write_report(certified, report, folder, stop.title)
    own = next(name for name, rule in RULES.items() if type(fitted.rule_) is rule)
    ruled = {own: certified}
    ruled |= {rule: certified.under(named_rule(rule)) for rule in stop.other_rules}
    proofs = {
        rule: proof for rule, one in ruled.items() if (proof := one.against_truth.proof) is not None
    }
    truth, counts, facts = certified.truth, fitted.counts_, certified.summary.to_dict()
    assert truth is not None
    curves = {
        rule: certified_accuracy_curve(truth, proof).accuracy.tolist()
        for rule, proof in proofs.items()
    }
    constant, one_model = facts["constant_accuracy"], facts["full_model_accuracy"]
    levels = {"one model, no proof": one_model, "a constant answer": constant}
    title = f"{stop.title}, {stop.submodels} submodels"
    write_atomic(out / f"{stop.name}.png", curves_png(title, curves, counts.what, levels))
    if not quiet:
        what = f"r of the {counts.total} {counts.what}"
        _show_accuracy(
            f"% of test rows proven right whatever is written into {what}; the model decides by "
            f"{own}",
            proofs,
            truth,
            levels,
        )
        print_line(f"Report: {report}")
    return {
        "report": str(report),
        "model": str(model),
        "certified_accuracy": curves,
        "one_model": one_model,
        "constant": constant,
    }


def _tables(stop: Stop) -> list[dict[str, Array]]:
    """Return the rows to learn from and the rows to certify, as columns by name."""
    options = {"scaled": False} if stop.name == "diabetes" else {}
    data = LOADERS[stop.name](as_frame=True, **options)
    table = {str(name): data.data[name].to_numpy() for name in data.data.columns}
    y = table[stop.target] = data.target.to_numpy()
    if stop.name == "breast_cancer":
        y = table[stop.target] = np.asarray(data.target_names, dtype=object)[y]
    stratify = y if stop.relative is None else None
    parts = train_test_split(np.arange(len(y)), test_size=0.3, random_state=0, stratify=stratify)
    return [{column: values[np.sort(part)] for column, values in table.items()} for part in parts]


def _show_accuracy(
    title: str, proofs: Mapping[str, Certificates], truth: Any, levels: Mapping[str, float]
) -> None:
    """Certified accuracy in % at some radii, one line per rule, and what else could answer."""
    last = max(0, *(int(np.max(proof.radius)) for proof in proofs.values()))
    radii = sorted({int(r) for r in np.linspace(0, last, min(MOST_RADII, last + 1))})
    rows = [
        [
            name,
            *(f"{100 * certified_accuracy(truth, proof, r):.1f}" for r in radii),
            f"{median_radius(truth, proof):g}",
        ]
        for name, proof in proofs.items()
    ]
    (model, right), (answer, share) = levels.items()
    rows.append([model, f"{100 * right:.1f}", *["-"] * len(radii)])
    rows.append([answer, *[f"{100 * share:.1f}"] * len(radii), "-"])
    print_table(title, ["r =", *map(str, radii), "median r"], rows)
