"""
If two sources are bad, what else could the answer be?
======================================================

Where an attack may change a prediction, its radius does not say to what. But not every label is
possible: two bad sources may turn a 9 into an 8 and into nothing else. The labels that r bad
sources could bring about are a *label set*, and "8 or 9" is often enough to act on.
"""

# %%
# Handwritten digits again. Every one of the 64 pixels may lie, and 21 submodels see three or four
# pixels each. The three rules decide from the same submodels.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from partita import FeaturePartitionClassifier
from partita.metrics import certified_accuracy, label_set_curve

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.4, random_state=0, stratify=y)
models = {
    rule: FeaturePartitionClassifier(n_submodels=21, rule=rule).fit(X_train, y_train)
    for rule in ("tournament", "runoff", "plurality")
}

# %%
# The set of a row that is certified at r is its prediction alone. So look at rows whose radius is
# below 2. A radius is a lower bound, so even there a set may hold one label:

clf = models["tournament"]
proof, sets = clf.certify(X_test), clf.prediction_set(X_test, radius=2)
open_rows = np.flatnonzero(proof.radius < 2)
for row in open_rows[:5]:
    possible = " or ".join(map(str, clf.classes_[sets[row]]))
    print(f"row {row}: predicted {proof.prediction[row]}, with two bad pixels {possible}")

# %%
# Two numbers say what such sets are worth: in how many rows the true label is one of the set (the
# coverage), and how many labels it holds. The coverage rises with r only because the sets grow, so
# neither means much without the other, nor without certified accuracy: the rows that are right and
# proven to stay so.

radii = range(7)
curves = {}
for rule, model in models.items():
    at_radii = [model.prediction_set(X_test, radius) for radius in radii]
    curves[rule] = label_set_curve(y_test, at_radii, model.classes_)
    certified = model.certify(X_test)
    print(rule)
    for r in (0, 1, 2, 3):
        print(
            f"  r = {r}: truth in the set {curves[rule].coverage[r]:.1%}, "
            f"{curves[rule].size[r]:.2f} labels; "
            f"certified right {certified_accuracy(y_test, certified, r):.1%}"
        )

# %%
# A good rule is high on the left and low on the right.

fig, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
for rule, curve in curves.items():
    left.plot(radii, 100 * curve.coverage, marker="o", label=rule)
    right.plot(radii, curve.size, marker="o", label=rule)
left.set(xlabel="bad pixels, r", ylabel="true label is in the set, % of rows")
right.set(xlabel="bad pixels, r", ylabel="labels in a set, on average", ylim=(0, 10.3))
right.axhline(1, color="grey", linestyle=":")
right.legend()

# %%
# Which labels stay possible together? Of the sets of two labels at r = 2, the commonest pairs:

pairs = sets[sets.sum(axis=1) == 2]
of_two, counts = np.unique([clf.classes_[own] for own in pairs], axis=0, return_counts=True)
for k in np.argsort(-counts)[:4]:
    print(f"{of_two[k][0]} or {of_two[k][1]}: {counts[k]} rows")

# %%
# These sets are not those of conformal prediction: they promise nothing about how often the truth
# is inside, and hold what an attack can bring about, not what is likely. What they do promise holds
# for every attack on r pixels, in the training images, in the row or in both.
#
# What to do next: ``partita certify model new.csv --label-sets 2 --out certified.csv`` writes the
# sets of your own rows, and a report shows each at the slider's radius. Where sets of two labels
# are of use, count the rows that have them on validation rows, beside those certified. What each
# rule's sets are is in :doc:`/guide/rules`, and why no attack leaves them in
# :doc:`/theory/label-sets`.
