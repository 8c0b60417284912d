"""The audit of two models: 0 certified predictions changed, 16 s and 160 s (goal: below 5 minutes).

On a 2-core cloud machine (AMD EPYC), one run. Breast cancer with 11 submodels and digits with 13,
the default estimator; the table shows how near the attacks come to the certificates.

    python benchmarks/audit.py        # prints the table of docs/guide/audit.md
"""

from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.utils import shuffle

from partita import FeaturePartitionClassifier
from partita.attacks import audit
from partita.ensemble import TableBoostingClassifier

MODELS = {"breast cancer": (load_breast_cancer, 400, 11), "digits": (load_digits, 1200, 13)}
LARGEST = 5


def main() -> None:
    print(
        "| |"
        + "".join(f" r = {r} |" for r in range(1, LARGEST + 1))
        + " certified predictions changed | time |"
    )
    print("|" + "---|" * (LARGEST + 3))
    for name, (load, n_train, submodels) in MODELS.items():
        X, y = shuffle(*load(return_X_y=True), random_state=0)
        clf = FeaturePartitionClassifier(TableBoostingClassifier(), n_submodels=submodels)
        clf.fit(X[:n_train], y[:n_train])
        found = audit(clf, X[n_train:], y[n_train:], X[:n_train], y[:n_train])
        lines = {line.r: line for line in found.lines if line.attack == "evasion"}
        shares = "".join(
            f" {100 * lines[r].accuracy:.1f} / {100 * lines[r].certified_accuracy:.1f} |"
            for r in range(1, LARGEST + 1)
        )
        changed = sum(line.certified_changed for line in found.lines)
        print(
            f"| {name}, T = {submodels} |{shares} {changed} | {found.seconds:.0f} s |", flush=True
        )


if __name__ == "__main__":
    main()
