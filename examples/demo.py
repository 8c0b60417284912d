"""Fit, certify and plot on data that scikit-learn ships: three rules beside each other, and a regression.

Run it with ``make demo``, or ``python examples/demo.py [folder for the figures]``.
"""

import sys
import time
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits
from sklearn.model_selection import train_test_split

from partita import CertifiedAccuracyDisplay, FeaturePartitionClassifier, FeaturePartitionRegressor, certify
from partita.metrics import certified_accuracy, median_radius

RADII = (0, 1, 2, 3, 5, 8)


def row(name, y, proof):
    shares = "".join(f"{100 * certified_accuracy(y, proof, r):7.1f}" for r in RADII)
    return f"  {name:22s}{shares}   {median_radius(y, proof):g}"


def header(title, proof):
    print(f"\n{title}: % of test rows proven right whatever is written into r of the {proof.counts.total} {proof.counts.what}")
    print(f"  {'r =':22s}{''.join(f'{r:7d}' for r in RADII)}   median r")


def classify(title, data, folder, **settings):
    X_train, X_test, y_train, y_test = train_test_split(data.data, data.target, test_size=0.3, random_state=0, stratify=data.target)
    clf = FeaturePartitionClassifier(verbose=1, **settings).fit(X_train, y_train)
    ballots = clf.ballots(X_test)
    header(title, clf.certify(X_test))
    _, ax = plt.subplots(figsize=(6, 4), layout="constrained")
    for rule in ("plurality", "runoff", "tournament"):
        proof = certify(ballots, rule)
        print(row(rule, y_test, proof))
        CertifiedAccuracyDisplay.from_certificates(y_test, proof, name=rule, ax=ax)
    ax.set(title=f"{title}, {len(clf.estimators_)} submodels", xlabel=f"radius: {clf.units_.kind} an attacker may own")
    return save(ax, folder, title)


def regress(title, data, folder):
    X_train, X_test, y_train, y_test = train_test_split(data.data, data.target, test_size=0.3, random_state=0)
    reg = FeaturePartitionRegressor(n_submodels=7, verbose=1).fit(X_train, y_train)
    proof = reg.certify(X_test, around=y_test, relative=0.4)
    header(f"{title}, within 40 % of the truth", proof)
    print(row("median", y_test, proof))
    _, ax = plt.subplots(figsize=(6, 4), layout="constrained")
    CertifiedAccuracyDisplay.from_certificates(y_test, proof, name="median", ax=ax)
    ax.set(title=f"{title} within 40 % of the truth, 7 submodels")
    return save(ax, folder, title)


def save(ax, folder, title):
    path = folder / f"{title.lower().replace(' ', '_')}.png"
    ax.figure.savefig(path, dpi=120)
    return path


def main():
    start = time.perf_counter()
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "figures")
    folder.mkdir(parents=True, exist_ok=True)
    paths = [
        classify("Breast cancer", load_breast_cancer(), folder),
        classify("Digits", load_digits(), folder, partition="strided", image_shape=(8, 8, 1)),
        regress("Diabetes", load_diabetes(), folder),
    ]
    print(f"\nFigures: {', '.join(map(str, paths))}  ({time.perf_counter() - start:.0f} s)")


if __name__ == "__main__":
    main()
