"""Do two versions of partita give the same ballots, predictions and radii, bit for bit?

    python benchmarks/same_answers.py record answers.npz            # PYTHONPATH says which version
    python benchmarks/same_answers.py compare before.npz after.npz

Nine tables and images of all kinds, each with several rules and settings. For refactorings: record
before the first change, and compare after the last.
"""

import sys
import warnings
from itertools import combinations

import numpy as np
import pandas as pd
from sklearn.datasets import (
    load_breast_cancer,
    load_diabetes,
    load_digits,
    load_iris,
    load_wine,
)
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from partita import (
    FeaturePartitionClassifier,
    FeaturePartitionRegressor,
    LeaveOutClassifier,
    LeaveOutRegressor,
    certify,
    certify_collective,
    certify_patches,
    criticality,
)
from partita.baselines import RowPartitionClassifier
from partita.rules import Agreement, Median, Plurality, RunOff, TopK, Tournament

answers: dict[str, np.ndarray] = {}


def keep(name, value):
    """Store an array under a name of its own."""
    assert name not in answers, name
    answers[name] = np.asarray(value)


def keep_proof(name, proof):
    """Store all that a certificate says."""
    keep(f"{name} prediction", np.asarray(proof.prediction, dtype=str))
    keep(f"{name} radius", proof.radius)
    keep(f"{name} counts", str(proof.counts))
    if proof.runner_up is not None:
        keep(f"{name} runner-up", np.asarray(proof.runner_up, dtype=str))
    if proof.silence_radius is not None:
        keep(f"{name} silence radius", proof.silence_radius)
        keep(f"{name} survives 1, 1", proof.survives(1, 1))
        keep(f"{name} survives 0, 2", proof.survives(0, 2))
    if proof.silence is not None:
        keep(f"{name} silence", [proof.silence.radius, proof.silence.without])


def keep_labels(name, model, X, silent=(), **fitted):
    """Store all that a classifier says about rows."""
    keep(f"{name} ballots", np.asarray(model.ballots(X)))
    for how, mask in {"": None, **dict(silent)}.items():
        keep(f"{name} {how} predict", np.asarray(model.predict(X, silent=mask), dtype=str))
        keep(f"{name} {how} shares", model.predict_proba(X, silent=mask))
        keep_proof(f"{name} {how}", model.certify(X, silent=mask, **fitted))


def keep_values(name, model, X, y, silent=()):
    """Store all that a regressor says about rows."""
    keep(f"{name} ballots", np.asarray(model.ballots(X)))
    for how, mask in {"": None, **dict(silent)}.items():
        keep(f"{name} {how} predict", model.predict(X, silent=mask))
        for radius in range(4):
            keep(f"{name} {how} interval {radius}", model.interval(X, radius, silent=mask))
        keep_proof(f"{name} {how} tolerance", model.certify(X, tolerance=20, silent=mask))
        keep_proof(f"{name} {how} truth", model.certify(X, around=y, relative=0.3, silent=mask))


def halves(X, y):
    """Return training and test rows."""
    if isinstance(X, pd.DataFrame):
        return X.iloc[::2], X.iloc[1::2], y[::2], y[1::2]
    return X[::2], X[1::2], y[::2], y[1::2]


RULES = {
    "plurality": Plurality(),
    "run-off": RunOff(),
    "exact run-off": RunOff(exact=True),
    "tournament": Tournament(),
    "margin 0": Tournament(margin=0),
    "offset": Tournament(margin=1.0, prior=0.5, offset=0.5),
}


def silences(n_rows, n_units, names):
    """Return silence of every kind: declared for all rows, row by row, detected."""
    mask = np.random.default_rng(1).random((n_rows, n_units)) < 0.15
    mask[0] = True  # everybody
    return {"declared": [names[0], names[-1]], "mask": mask, "detected": "detect"}


def with_gaps(X, units, seed=2):
    """Return rows in which some units are missing."""
    X = np.array(X, dtype=float)
    gaps = np.random.default_rng(seed).random((len(X), len(units))) < 0.15
    for u, columns in enumerate(units):
        X[np.ix_(gaps[:, u], columns)] = np.nan
    X[1] = np.nan
    return X


def digits():
    """Ten labels, 64 columns: all rules, overlaps, patches, one attacker for many rows."""
    X, new, y, truth = halves(*load_digits(return_X_y=True))
    new, truth = new[:200], truth[:200]
    for name, rule in RULES.items():
        model = FeaturePartitionClassifier(GaussianNB(var_smoothing=0.1), 15, rule=rule).fit(X, y)
        keep_labels(f"digits {name}", model, new)
        ballots, reach = np.asarray(model.ballots(new)), model.partition_.incidence()
        for size in (1, 2):
            worst = certify_collective(ballots, size, model.rule_, reach)
            keep(f"digits {name} collective {size}", [worst.changed, worst.pointwise])
        keep(f"digits {name} critical", criticality(ballots, model.rule_, reach))
        keep_proof(f"digits {name} by hand", certify(ballots, rule=model.rule_))
    model = FeaturePartitionClassifier(GaussianNB(var_smoothing=0.1), 15, rule=TopK(2)).fit(X, y)
    keep_labels("digits top 2", model, new, labels=truth)
    for rule in ("plurality", "runoff", "tournament"):
        model = FeaturePartitionClassifier(n_submodels=7, spread=2, rule=rule).fit(X, y)
        keep_labels(f"digits spread {rule}", model, new)
        if rule != "runoff":
            exact = model.certify(new[:40], cover="exact")
            keep_proof(f"digits spread exact {rule}", exact)
    images = FeaturePartitionClassifier(
        GaussianNB(var_smoothing=0.1), 16, partition="patch", image_shape=(8, 8, 1)
    ).fit(X, y)
    patched = certify_patches(
        np.asarray(images.ballots(new)), images.partition_, (8, 8), (2, 2), rule=images.rule_
    )
    keep("digits patches", patched.radius)
    tree = DecisionTreeClassifier(random_state=0)
    gated = FeaturePartitionClassifier(n_submodels=9, fallback=tree, gate=1).fit(X, y)
    gaps = with_gaps(new, [[column] for column in range(64)])
    kinds = silences(len(gaps), 64, list(range(64)))
    keep_labels("digits gate", gated, new)
    keep_labels("digits gate gaps", gated, gaps, kinds)


def cancer():
    """Two labels, units of three columns, trusted columns: silence of every kind, all rules."""
    frame, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X, new, y, _ = halves(frame, y.to_numpy())
    units = {f"group {k}": list(frame.columns[k:30:10]) for k in range(9)}
    trusted = list(frame.columns[9:30:10])
    positions = [[frame.columns.get_loc(column) for column in unit] for unit in units.values()]
    gaps = pd.DataFrame(with_gaps(new, positions), columns=frame.columns)
    kinds = silences(len(gaps), 9, list(units))
    for name, rule in RULES.items():
        model = FeaturePartitionClassifier(n_submodels=7, units=units, trusted=trusted, rule=rule)
        keep_labels(f"cancer {name}", model.fit(X, y), gaps, kinds)
    model = FeaturePartitionClassifier(
        n_submodels=5, units=units, trusted=trusted, rule=TopK(1)
    ).fit(X, y)
    keep_labels("cancer top 1", model, gaps, kinds, labels=model.predict(gaps))
    spread = FeaturePartitionClassifier(n_submodels=3, units=units, trusted=trusted, spread=2).fit(
        X, y
    )
    keep_labels("cancer spread", spread, gaps, kinds)
    for radius, training in ((1, "attackable"), (2, "attackable"), (1, "trusted")):
        model = LeaveOutClassifier(
            radius=radius, n_groups=6, units=units, trusted=trusted, training=training
        ).fit(X, y)
        keep_labels(f"cancer leave-out {radius} {training}", model, gaps, kinds)
        ballots = np.asarray(model.ballots(new))
        worst = certify_collective(ballots, 1, model.rule_)
        keep(f"cancer leave-out {radius} {training} collective", [worst.changed, worst.pointwise])
        keep(f"cancer leave-out {radius} {training} critical", criticality(ballots, model.rule_))


def labels_attacked():
    """Three labels, whose training labels may be flipped."""
    X, new, y, _ = halves(*load_wine(return_X_y=True))
    shares = [1 / 3] * 3
    for how in ("rows", "labels"):
        model = FeaturePartitionClassifier(
            LogisticRegression(max_iter=50) if how == "labels" else None,
            5,
            label_attacks=how,
            classes=[0, 1, 2],
            rule=Tournament(shares=shares),
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            keep_labels(f"wine {how}", model.fit(X, y), new)


def diabetes():
    """Numbers: medians with and without stretch, overlaps, leaving out, silence."""
    X, new, y, truth = halves(*load_diabetes(return_X_y=True))
    gaps = with_gaps(new, [[column] for column in range(10)])
    kinds = silences(len(gaps), 10, list(range(10)))
    for name, settings in {
        "odd": {"n_submodels": 5},
        "even": {"n_submodels": 6},
        "stretch": {"n_submodels": 7, "rule": Median(stretch=1.5)},
        "spread": {"n_submodels": 4, "spread": 2},
        "targets": {"n_submodels": 3, "label_attacks": "rows"},
    }.items():
        model = FeaturePartitionRegressor(**settings).fit(X, y)
        keep_values(f"diabetes {name}", model, gaps, truth, kinds)
    for radius, training in ((1, "attackable"), (2, "attackable"), (1, "trusted")):
        model = LeaveOutRegressor(radius=radius, n_groups=6, training=training).fit(X, y)
        keep_values(f"diabetes leave-out {radius} {training}", model, gaps, truth, kinds)
    own = FeaturePartitionRegressor(Ridge(), 5).fit(X, y)
    keep_values("diabetes ridge", own, new, truth)


def mixed():
    """Texts, categories, dates, missing values, and labels of text."""
    rng = np.random.default_rng(0)
    n = 400
    y = rng.choice(["low", "mid", "top"], n, p=[0.6, 0.3, 0.1])
    level = np.array([{"low": 0, "mid": 1, "top": 2}[label] for label in y])
    frame = pd.DataFrame(
        {
            "town": [f"t{k}" for k in (level + rng.integers(0, 3, n)) % 5],
            "kind": pd.Categorical(rng.choice(list("abc"), n)),
            "size": level + rng.normal(size=n),
            "price": (level * 2**53 + rng.integers(0, 100, n)),
            "when": pd.Timestamp("2020-01-01")
            + pd.to_timedelta(level + rng.integers(0, 9, n), "D"),
            "flag": rng.random(n) < 0.2 + 0.3 * level,
        }
    )
    frame.loc[::7, "size"] = np.nan
    frame.loc[::11, "town"] = None
    X, new, y, _ = halves(frame, y)
    kinds = silences(len(new), 6, list(frame.columns))
    keep_labels("mixed", FeaturePartitionClassifier(n_submodels=6).fit(X, y), new, kinds)
    model = LeaveOutClassifier(radius=1, n_groups=6, leave_out=2).fit(X, y)
    keep_labels("mixed leave-out", model, new, kinds)


def iris_rows():
    """Rows instead of columns, and votes from elsewhere."""
    X, new, y, _ = halves(*load_iris(return_X_y=True))
    model = RowPartitionClassifier(GaussianNB(), 9, classes=[0, 1, 2]).fit(X, y)
    keep("iris rows ballots", np.asarray(model.ballots(new)))
    keep("iris rows radius", model.certify(new).radius)
    left_out = np.zeros((15, 6), dtype=bool)
    for k, groups in enumerate(combinations(range(6), 2)):
        left_out[k, list(groups)] = True
    votes = np.random.default_rng(0).choice(3, (200, 15), p=[0.9, 0.05, 0.05])
    keep_proof("agreement", Agreement(1).certify(votes, left_out))
    keep("agreement of values", Agreement(1, "mean").interval(votes / 1.0, left_out, 1))
    random = np.random.default_rng(1).normal(size=(300, 9, 4))
    reach = np.random.default_rng(2).random((12, 9)) < 0.2
    for name, rule in RULES.items():
        if name == "offset":
            rule = Tournament(margin=1.0, offset=[0.5, 0, 1, 0])
        if name == "tournament":
            rule = Tournament(margin=0.5)
        keep_proof(f"random {name}", certify(random, rule=rule))
        keep_proof(f"random {name} in units", certify(random, rule=rule, reach=reach))


def images():
    """Networks over sets of pixels, cells and windows."""
    from partita.vision import CellImageClassifier, LeaveOutImageClassifier, PixelSetClassifier

    X, new, y, _ = halves(*load_digits(return_X_y=True))
    X, new, y = (X[:200] * 15).astype(np.uint8), (new[:60] * 15).astype(np.uint8), y[:200]
    small = {
        "image_shape": (8, 8, 1),
        "epochs": 2,
        "deterministic": True,
        "device": "cpu",
        "verbose": 0,
    }
    for kind in (PixelSetClassifier, CellImageClassifier):
        model = FeaturePartitionClassifier(
            kind(**small), 4, partition="strided", image_shape=(8, 8, 1)
        ).fit(X, y)
        keep_labels(f"images {kind.__name__}", model, new)
    model = LeaveOutImageClassifier(
        (8, 8, 1),
        (2, 2),
        windows=4,
        network="network_in_network",
        epochs=2,
        device="cpu",
        verbose=0,
    ).fit(X, y)
    keep("images windows", model.certify(new[:10]).radius)


def main(command, *files):
    """Record all answers, or compare two records."""
    if command == "record":
        warnings.simplefilter("ignore")
        for kind in (digits, cancer, labels_attacked, diabetes, mixed, iris_rows, images):
            kind()
            print(kind.__name__, len(answers), flush=True)
        np.savez_compressed(files[0], **answers)
        return
    before, after = (np.load(file) for file in files)
    differ = sorted(set(before.files) ^ set(after.files))
    for name in sorted(set(before.files) & set(after.files)):
        one, two = before[name], after[name]
        same = one.dtype == two.dtype and one.shape == two.shape and one.tobytes() == two.tobytes()
        if not same:
            larger = ""
            if one.shape == two.shape and one.dtype.kind in "iuf" and one.dtype == two.dtype:
                larger = (
                    f": {(one != two).sum()} of {one.size}, {(two < one).sum()} of them smaller"
                )
            differ.append(name + larger)
    print(*differ, sep="\n")
    print(f"{len(before.files)} arrays compared, {len(differ)} differ")
    sys.exit(bool(differ))


if __name__ == "__main__":
    main(*sys.argv[1:])
