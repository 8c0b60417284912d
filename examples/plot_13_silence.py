"""
How many sources may fall silent before my prediction changes?
==============================================================

Sensors fall silent far more often than they lie: a feed is late, a station is off, a file comes
without some columns. A source that is *known* to be missing is no attacker. Its submodels abstain,
and the others decide.

Breast cancer, where each of ten measurements of a cell nucleus (three columns each) is a source:
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from partita import FeaturePartitionClassifier

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
names = [name.removeprefix("mean ") for name in X.columns[:10]]
sources = {name: list(X.columns[k::10]) for k, name in enumerate(names)}
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.4, random_state=0, stratify=y)
clf = FeaturePartitionClassifier(n_submodels=9, units=sources).fit(X_train, y_train)

proof = clf.certify(X_test)
print(f"median row: {np.median(proof.radius):g} sources may lie,", end=" ")
print(f"or {np.median(proof.silence_radius):g} may fall silent")

# %%
# A lying source casts its vote against the prediction, a silent one only takes its own vote back.
# So about twice as many may fall silent as may lie. The two can be mixed: ``proof.survives(r, m)``
# says which rows survive any r liars and any m other sources that are silent, and
# ``proof.survival()`` the share of rows for all r and m.
shares = proof.survival()
figure, axes = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
image = axes.imshow(100 * shares, cmap="Blues", vmin=0, vmax=100, aspect="auto")
for (r, m), share in np.ndenumerate(shares):
    colour = "white" if share > 0.6 else "black"
    axes.text(m, r, f"{100 * share:.0f}", ha="center", va="center", color=colour)
axes.set(xlabel="silent sources", ylabel="lying sources", title="% of predictions that stay")
plt.show()

# %%
# When it has happened
# --------------------
#
# The instrument that measures texture is off in the first 60 rows. ``silent="detect"`` finds that
# out: a source is silent in a row if all of its columns are missing there.
broken = X_test.copy()
broken.loc[broken.index[:60], sources["texture"]] = np.nan
quiet = clf.certify(broken, silent="detect")
print(quiet.silence)
print(f"right with the gap: {(quiet.prediction == y_test).mean():.1%}, without: ", end="")
print(f"{(proof.prediction == y_test).mean():.1%}")

# %%
# What was promised is kept: whichever source falls silent, no row changes that survives one.
for columns in sources.values():
    gone = X_test.copy()
    gone[columns] = np.nan
    changed = clf.predict(gone, silent="detect") != proof.prediction
    assert not (changed & proof.survives(0, 1)).any()

# %%
# If you know who is silent, say so: ``silent=["texture"]``. Then the columns need not be there, and
# nobody can use them against you. Silence that is *detected* can be faked, or broken, by the
# owner of the source. The radius counts that in.
there = X_test.drop(columns=sources["texture"])
print(clf.certify(there, silent=["texture"]))

# %%
# What to do next: :doc:`/guide/silence` says how a whole file without a source is certified
# (``partita certify --silent detect``), how a service answers without one, and what happens to
# submodels that several sources share.
