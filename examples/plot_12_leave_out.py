"""
How much accuracy does a proof against one bad source cost?
===========================================================

Most users fear one or two bad sources, not ten. A partition vote pays for its large radii with
accuracy, because every submodel sees few columns. :class:`partita.LeaveOutClassifier` asks models
that see nearly everything, each without some of the sources, and proves what they agree on.

Handwritten digits, where an attacker owns any pixels, in all training images and in the test image:
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.model_selection import train_test_split
from sklearn.svm import SVC

from partita import FeaturePartitionClassifier, LeaveOutClassifier, choose
from partita.metrics import certified_accuracy

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.4, random_state=0, stratify=y)
estimator = SVC(C=10, gamma=0.001)

for name, model in {
    "one model": None,
    "partition, 5 submodels": FeaturePartitionClassifier(estimator, n_submodels=5),
    "leave-out, 1 pixel": LeaveOutClassifier(estimator, radius=1, n_groups=12),
    "leave-out, 2 pixels": LeaveOutClassifier(estimator, radius=2, n_groups=12),
}.items():
    if model is None:
        print(f"{name:24} right {estimator.fit(X_train, y_train).score(X_test, y_test):.1%}")
        continue
    proof = model.fit(X_train, y_train).certify(X_test)
    shares = [certified_accuracy(y_test, proof, radius=r) for r in (0, 1, 2)]
    print(
        f"{name:24} right {shares[0]:.1%}, whatever 1 pixel says {shares[1]:.1%}, 2 {shares[2]:.1%}"
    )

# %%
# The radius never exceeds the one that was asked for: a leave-out ensemble for r = 1 says nothing
# about two bad sources.
#
# Which method, and how many?
# ---------------------------
#
# :func:`partita.choose` fits both methods in several sizes and judges them on validation rows. Here
# the ten measurements of a cell nucleus are the sources, with three columns each.
X, y = load_breast_cancer(return_X_y=True, as_frame=True)
sources = [column % 10 for column in range(X.shape[1])]
X_fit, X_valid, y_fit, y_valid = train_test_split(X, y, test_size=0.3, random_state=0, stratify=y)
found = choose(X_fit, y_fit, X_valid, y_valid, radius=1, units=sources)
print(found.to_frame()[["accuracy", "certified", "fit"]].head(6).to_string(index=False))
print(found.best.fit_options, "-", found.reason)

# %%
# The picture shows every setting and the frontier of both methods, beside one model on all columns.
found.plot(plt.figure(figsize=(6.4, 4.6), layout="constrained").add_subplot())
plt.show()

# %%
# What to do next: fit ``found.estimator``, the recommended one, and report what it certifies on
# rows that took no part in the choice. :doc:`/guide/leaving-out` says what the settings do, and
# ``partita choose --radius 1`` makes the same comparison for a table in a file.

model = found.estimator.fit(X_fit, y_fit)
print(model.certify(X_valid))
