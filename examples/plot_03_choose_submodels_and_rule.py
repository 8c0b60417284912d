"""
How many submodels, and which rule?
===================================

More submodels give larger radii and less accuracy, since each of them sees fewer columns. The rule
decides how votes become a prediction. Both are settings, so they are chosen on rows held out from
training, for the radius that you need.
"""

# %%
# Handwritten digits: 64 pixels, ten classes. One third of the rows is for training, one third for
# choosing, and one third for the final measurement.

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from partita import CertifiedAccuracyDisplay, FeaturePartitionClassifier, search_rules
from partita.metrics import envelope
from partita.rules import Plurality, RunOff, Tournament

X, y = load_digits(return_X_y=True)
X_train, X_rest, y_train, y_rest = train_test_split(X, y, train_size=1 / 3, random_state=0)
X_valid, X_test, y_valid, y_test = train_test_split(X_rest, y_rest, test_size=0.5, random_state=0)

# %%
# The scaler is part of the estimator: every submodel fits its own, on its own columns. A scaler
# fitted on the whole table before the ensemble could carry a corrupted column into all submodels.

estimator = make_pipeline(MinMaxScaler(), LogisticRegression(C=10, max_iter=300))
fitted = {
    n_submodels: FeaturePartitionClassifier(estimator, n_submodels=n_submodels).fit(
        X_train, y_train
    )
    for n_submodels in (5, 11, 21, 31)
}

# %%
# Submodels do not depend on the rule, so :func:`partita.search_rules` compares any number of rules
# on an ensemble that is fitted once. Suppose we need protection against an attacker who owns two
# pixels.

rules = {
    "plurality": Plurality(),
    "run-off": RunOff(),
    "tournament, margin 0": Tournament(margin=0),
    "tournament, margin 0.5": Tournament(margin=0.5),
}
needed = 2
searches = {
    n_submodels: search_rules(clf, rules.values(), X_valid, y_valid, radius=needed)
    for n_submodels, clf in fitted.items()
}
for n_submodels, search in searches.items():
    print(f"T = {n_submodels}: {search.best_score:.1%} certified at r = {needed}, by the best rule")

# %%
# On the left, the rules on the same 31 submodels. On the right, each number of submodels with the
# rule that was chosen for it. The curves cross: no number of submodels is best at every radius. All
# of it is measured on the test rows, which took no part in any choice.

_, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained", sharey=True)
draw = CertifiedAccuracyDisplay.from_certificates
for name, rule in rules.items():
    proof = search_rules(
        fitted[31], [rule], X_valid, y_valid, radius=needed
    ).best_estimator.certify(X_test)
    draw(y_test, proof, name=name, ax=left)
proofs = {n: search.best_estimator.certify(X_test) for n, search in searches.items()}
for n_submodels, proof in proofs.items():
    draw(y_test, proof, name=f"T = {n_submodels}", ax=right)
right.axvline(needed, color="gray", linestyle="--")

best = envelope(y_test, proofs)
for r, share, n_submodels in zip(*best, strict=True):
    if share > 0:
        print(f"r = {r}: best with T = {n_submodels}, {share:.1%}")

# %%
# What to do next: ``partita choose`` does this for a table in a file and prints the options to use;
# see :doc:`/guide/choosing`. With unbalanced labels compare by ``score="balanced"`` instead, or a
# model that always gives the most frequent label will look good.
