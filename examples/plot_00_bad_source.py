"""
What can one bad source do to my model?
=======================================

You have a model that works, and its columns come from several sources. :func:`partita.stress`
answers the first question before you adopt anything: which source does how much harm when it
fails, or lies? Here the model is plain boosted trees, and the sources are twelve stations that
measure Beijing's air (UCI's multi-site air quality, S. Chen 2017). It predicts how bad the air at
one station will be in six hours.
"""

import matplotlib.pyplot as plt
import numpy as np

from partita import FeaturePartitionClassifier, stress
from partita.datasets import load_beijing_air
from partita.ensemble import TableBoostingClassifier
from partita.metrics import certified_accuracy

data, rng = load_beijing_air(station="Aotizhongxin", hours=6), np.random.default_rng(0)
train = np.sort(rng.permutation(len(data.y_train))[:1500])
test = np.sort(rng.permutation(len(data.y_test))[:1200])
X, X_test = data.X_train.iloc[train], data.X_test.iloc[test]
CLASSES = np.array(["good", "fair", "poor", "hazardous"], dtype=object)
y, y_test = (
    CLASSES[np.digitize(values, (35, 75, 150))]
    for values in (data.y_train[train], data.y_test[test])
)
mine = TableBoostingClassifier(random_state=0).fit(X, y)

# %%
# One call. It needs the model, rows to attack and their labels; ``units`` says which columns come
# from one source, and calendar columns are trusted. With the training data it also tries sources
# that lied there, and fits two ensembles to compare with. On the command line this is ``partita
# stress train.csv new.csv --target y --units units.toml``.

found = stress(
    mine, X_test, y_test, X_train=X, y_train=y, units=data.units, trusted=data.trusted, seconds=40
)
print(found)

# %%
# Every bar is what is left when one station lies, the marks what is left when it fails without
# malice. All of them were *found*: a better attacker may leave less. The dashed lines are *proven*
# for the ensembles, whatever any one station says.

_, ax = plt.subplots(figsize=(9, 4.6), layout="constrained")
found.plot(ax)

# %%
# Nothing of this is a simulation: every attack can be done again.

worst = found.findings[0]
again = found.replay(0)
print(f"{worst.kind} of {', '.join(worst.sources) or 'any stations'}: {worst.share:.0%} right")
print(f"done again: {again.right.sum()} of {len(again.right)} rows are right")

# %%
# The same rows, certified: each station is in one submodel only, so a liar has one vote.

clf = FeaturePartitionClassifier(units=data.units, trusted=data.trusted).fit(X, y)
proof = clf.certify(X_test.iloc[found.rows])
for r in range(3):
    share = certified_accuracy(y_test[found.rows], proof, radius=r)
    print(f"right whatever any {r} stations say, in training or now: {share:.0%}")

# %%
# What to do next: run it on your model, with ``partita stress`` or in Python
# (:doc:`/guide/stress`). If one source does more harm than you can accept, :doc:`/guide/choosing`
# finds the ensemble that costs least accuracy.
