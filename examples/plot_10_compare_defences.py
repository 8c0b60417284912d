"""
Which certified defence fits my attacker?
=========================================

Several defences come with proofs, against different attackers: some rewrite columns, some add
training rows, some only touch the row being predicted. :func:`partita.compare` trains several
methods on the same rows and puts what they prove into one table.
"""

# %%
# Five methods, with the same logistic regression where they can use one.

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from partita import FeaturePartitionClassifier, LeaveOutClassifier, compare
from partita.baselines import (
    ConstantClassifier,
    RandomizedAblationClassifier,
    RowPartitionClassifier,
)

X, y = load_breast_cancer(return_X_y=True)
X_train, y_train, X_test, y_test = X[::2], y[::2], X[1::2], y[1::2]
logistic = make_pipeline(StandardScaler(), LogisticRegression())
methods = {
    "one model": logistic,
    "column partition": FeaturePartitionClassifier(logistic, n_submodels=9),
    "leave-out": LeaveOutClassifier(logistic, radius=2, n_groups=9),
    "row partition": RowPartitionClassifier(logistic, n_submodels=25, classes=[0, 1]),
    "randomized ablation": RandomizedAblationClassifier(
        low=X_train.min(axis=0), high=X_train.max(axis=0), keep=6, n_certify=1000, alpha=1e-3
    ),
    "constant": ConstantClassifier(),
}

# %%
# A radius counts different things for different methods, so the table says what it counts and which
# attacks it covers. A larger radius is not a better one unless both agree.

radii = list(range(1, 7))
table = compare(methods, X_train, y_train, X_test, y_test, radii=radii).to_frame()
table[["accuracy", "r counts", "covers", "proof"]]

# %%
# The three methods that count columns can be compared directly. The ablation's proof is about the
# row being predicted only and holds with high probability; the others also cover the training data
# and are deterministic. Leaving columns out keeps more accuracy, up to the radius it is made for.

_, ax = plt.subplots(figsize=(6.4, 4), layout="constrained")
for name, line in table.iterrows():
    style = "-" if name in ("column partition", "leave-out", "randomized ablation") else ":"
    label = f"{name} ({line['r counts']})"
    shares = [line["accuracy"], *line[[f"r = {r}" for r in radii]]]
    ax.step([0, *radii], shares, style, where="post", label=label)
ax.set(xlabel="radius", ylabel="certified accuracy", ylim=(0, 1.02))
ax.legend(fontsize=8)

# %%
# What to do next: write down what your attacker can touch, then read :doc:`/guide/baselines` for
# what each method assumes, and for the same comparison on MNIST and CIFAR10.
