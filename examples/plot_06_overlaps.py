"""
Should submodels share columns?
===============================

With few columns per submodel, accuracy drops. Submodels can share columns instead: with
``spread=3`` every column is seen by three submodels, and there are three times as many submodels.
The vote is then less noisy, but a corrupted column reaches three votes instead of one. Is that a
good trade?
"""

# %%
# Handwritten digits: 64 pixels, ten classes, and a quick classifier.

import time

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB

from partita import CertifiedAccuracyDisplay, FeaturePartitionClassifier

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
bayes = GaussianNB(var_smoothing=0.05)

separate = FeaturePartitionClassifier(bayes, n_submodels=10).fit(X_train, y_train)
shared = FeaturePartitionClassifier(bayes, n_submodels=10, spread=3).fit(X_train, y_train)
for name, clf in {"separate": separate, "shared": shared}.items():
    owns = clf.partition_.incidence()  # one line per pixel, one column per submodel
    print(f"{name}: {owns.shape[1]} submodels of {owns.sum(0).min()} to {owns.sum(0).max()} pixels")

# %%
# Counting is harder with shared columns: two columns may reach the same submodel, which then counts
# once. ``cover="bound"`` (the default) adds up what each column can cost, which is fast and never
# too large. ``cover="exact"`` solves an integer program for each row that the bound leaves
# undecided.

proofs = {"each pixel in one submodel": separate.certify(X_test)}
for cover in ("bound", "exact"):
    start = time.perf_counter()
    proofs[f"each pixel in three, {cover}"] = shared.certify(X_test, cover=cover)
    print(f'cover="{cover}": {time.perf_counter() - start:.2f} s for {len(X_test)} rows')

bound, exact = (proofs[f"each pixel in three, {cover}"].radius for cover in ("bound", "exact"))
print(f"rows whose radius the integer program raises: {(exact > bound).sum()}")

# %%
# If sharing wins, its curve is above the other one at the radius that you need.

_, ax = plt.subplots(figsize=(6.4, 4), layout="constrained")
for (name, proof), style in zip(proofs.items(), ("-", "--", ":"), strict=True):
    CertifiedAccuracyDisplay.from_certificates(y_test, proof, name=name, ax=ax, linestyle=style)

# %%
# What to do next: if your submodels are too weak, try ``spread=2`` or ``3`` in the same search as
# the number of submodels. Overlaps that partita did not make, such as an ensemble of your own, are
# certified from ballots with ``reach``; see :doc:`/guide/units`.
