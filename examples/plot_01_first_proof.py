"""
How many columns can an attacker own before a prediction changes?
=================================================================

A model that is right today may be wrong tomorrow because one of its columns is rewritten: in
the training data, in the row to predict, or in both. Here we train a classifier whose predictions
come with a number, the *certified radius*: as long as the attacker owns at most that many columns,
the prediction provably stays the same.
"""

# %%
# The data are 569 tumours, each described by 30 measured columns. Any scikit-learn classifier can
# be used for the submodels; without one, partita uses boosted and randomized trees.

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from partita import CertifiedAccuracyDisplay, FeaturePartitionClassifier
from partita.metrics import certified_accuracy

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)

clf = FeaturePartitionClassifier(n_submodels=11).fit(X_train, y_train)
print(clf.partition_)

# %%
# The columns were split at random among eleven submodels. Each was trained on its own columns
# only, so a rewritten column can change one of the eleven votes and no more. Counting votes gives
# the proof: :meth:`~partita.FeaturePartitionClassifier.certify` returns a prediction, its radius
# and the runner-up for every row.

proof = clf.certify(X_test)
proof.to_frame().head()

# %%
# *Certified accuracy* at radius r is the share of rows that are right now and stay right whatever
# is written into any r columns. At r = 0 it is plain accuracy.

for radius in range(4):
    share = certified_accuracy(y_test, proof, radius=radius)
    print(f"right, whatever happens to any {radius} columns: {share:.1%}")

# %%
# A proof is only worth something if it beats a model that cannot be attacked because it always
# gives the same answer. That constant is the dashed line.

_, ax = plt.subplots(figsize=(6.4, 4), layout="constrained")
CertifiedAccuracyDisplay.from_certificates(y_test, proof, name="11 submodels", ax=ax)
constant = y_test.value_counts(normalize=True).max()
ax.axhline(constant, color="gray", linestyle="--", label="always the most frequent label")
ax.legend()

# %%
# What to do next: if several of your columns come from one device or vendor, an attacker gets them
# all at once. :ref:`sphx_glr_gallery_plot_02_sources_as_units.py` counts such sources instead of
# columns.
