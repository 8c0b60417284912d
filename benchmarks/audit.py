"""The audit of two models, breast cancer with 11 submodels and digits with 13: how near its attacks
come to the proof, how long it takes. Goal: below 5 minutes each on 2 cores. Prints the table of
docs/audit.md: python benchmarks/audit.py"""

from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.utils import shuffle

from partita import FeaturePartitionClassifier
from partita.audit import audit

MODELS = {"breast cancer": (load_breast_cancer, 400, 11), "digits": (load_digits, 1200, 13)}
LARGEST = 5


def main() -> None:
    print(
        "| |"
        + "".join(f" r = {r} |" for r in range(1, LARGEST + 1))
        + " certified predictions changed | time |"
    )
    print("|" + "---|" * (LARGEST + 3))
    for name, (load, learn, submodels) in MODELS.items():
        X, y = shuffle(*load(return_X_y=True), random_state=0)
        clf = FeaturePartitionClassifier(n_submodels=submodels).fit(X[:learn], y[:learn])
        found = audit(clf, X[learn:], y[learn:], X[:learn], y[:learn])
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
