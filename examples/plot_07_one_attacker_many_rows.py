"""
How many of my predictions can one attacker change at once?
===========================================================

A radius is about one row, as if every row had an attacker of its own. But an attacker with two
sources has the same two in every row, so they cannot break all rows that fall to *some* two
sources. A batch has a better certificate than its rows one by one.
"""

# %%
# Each of the ten properties of a tumour in this table (mean, error and worst value) is a source.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from partita import FeaturePartitionClassifier, certify_collective, criticality

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
properties = [name.removeprefix("mean ") for name in X if name.startswith("mean ")]
sources = {name: [f"mean {name}", f"{name} error", f"worst {name}"] for name in properties}

clf = FeaturePartitionClassifier(n_submodels=9, units=sources).fit(X_train, y_train)
ballots, reach = clf.ballots(X_test), clf.partition_.incidence()

# %%
# :func:`partita.certify_collective` finds the largest number of predictions that one choice of r
# sources can change, and which choice that is.

radii = range(1, 6)
found = [certify_collective(ballots, r, reach=reach) for r in radii]
for batch in found:
    worst = ", ".join(str(clf.units_.names[unit]) for unit in batch.units)
    print(f"{batch}: {worst}")

# %%
# With one source, the same question tells which sources to guard first. :func:`partita.criticality`
# marks the predictions that a single source could change.

critical = criticality(ballots, reach=reach).sum(axis=1)
order = np.argsort(critical)

_, (left, right) = plt.subplots(1, 2, figsize=(8, 3.6), layout="constrained")
left.plot(radii, [batch.pointwise for batch in found], "o--", label="an attacker for each row")
left.plot(radii, [batch.changed for batch in found], "o-", label="one attacker for all rows")
left.set(
    xlabel="sources owned",
    ylabel=f"predictions that can change, of {len(X_test)}",
    xticks=list(radii),
    ylim=(0, None),
)
left.legend()
right.barh([str(clf.units_.names[unit]) for unit in order], critical[order])
right.set(xlabel="predictions it can change alone")

# %%
# What to do next: the report of ``partita report`` shows both for your own table
# (:doc:`/guide/report`), and :doc:`/theory/collective` says why the number holds.
