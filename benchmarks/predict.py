"""All submodels' trees in one pass take 0.59 to 0.93 times as long as scikit-learn's predict.

The same submodels (histogram gradient boosting with TableBoostingClassifier's settings, on the same
columns) are asked by scikit-learn one after the other, with all threads. Both get the same floats;
the ballots must be equal. Best of several runs on a 2-core cloud machine (AMD EPYC).

    python benchmarks/predict.py        # also part of make bench
"""

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.preprocessing import LabelEncoder
from timing import best

from partita import FeaturePartitionClassifier
from partita.ensemble import TableBoostingClassifier

CASES = (  # rows, columns, classes, submodels
    (1_000, 60, 2, 15),
    (100_000, 60, 2, 15),
    (100_000, 200, 2, 51),
    (20_000, 100, 10, 25),
)
RUNS = 5


def table(n_rows, n_columns, n_classes):
    """Every column says a little about the label; a tenth of the values is missing."""
    rng = np.random.default_rng(0)
    y = rng.integers(n_classes, size=n_rows)
    X = rng.normal(size=(n_classes, n_columns))[y] + 3 * rng.normal(size=(n_rows, n_columns))
    X[rng.random(X.shape) < 0.1] = np.nan
    return X, y


def library_models(ensemble, X, y):
    """Scikit-learn's own models: those that the submodels' trees were taken from."""
    columns = [ensemble.columns_of(t) for t in range(len(ensemble.estimators_))]
    settings = TableBoostingClassifier().get_params()
    return columns, [
        HistGradientBoostingClassifier(**settings | {"random_state": 0}, early_stopping=False).fit(
            X[:, own], y
        )
        for own in columns
    ]


def main():
    for n_rows, n_columns, n_classes, n_submodels in CASES:
        X, y = table(n_rows, n_columns, n_classes)
        learn = slice(0, 5_000)
        ensemble = FeaturePartitionClassifier(TableBoostingClassifier(), n_submodels=n_submodels)
        ensemble.fit(X[learn], y[learn])
        columns, models = library_models(ensemble, X[learn], LabelEncoder().fit_transform(y[learn]))

        def theirs(columns=columns, models=models, X=X):
            return [m.predict_proba(X[:, own]) for own, m in zip(columns, models, strict=True)]

        def ours(ensemble=ensemble, X=X):
            return ensemble.ballots(X)

        difference = np.abs(np.exp(ours()) - np.stack(theirs(), axis=1)).max()
        assert difference < 1e-6, difference
        one, other = best(ours, RUNS), best(theirs, RUNS)
        print(
            f"{n_rows:,} rows, {n_columns} columns, {n_classes} classes, {n_submodels} submodels: "
            f"one pass {one:.3f} s, scikit-learn {other:.3f} s, ratio {one / other:.2f} (goal 1)",
            flush=True,
        )


if __name__ == "__main__":
    main()
