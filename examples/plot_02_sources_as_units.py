"""
What if one attacker owns several of my columns?
================================================

Columns rarely come alone. A sensor reports a value, its variance and its maximum; a vendor sells a
feed of fifty columns. Taking over the sensor or the vendor means owning all of its columns at once.
A radius that counts columns then says too little, or worse, is read as if it counted sensors.
partita calls whatever falls as a whole a *unit*.
"""

# %%
# Each of the ten properties of a tumour in this table was measured as a mean, an error and a worst
# value. We treat the three columns of one property as one source.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from partita import CertifiedAccuracyDisplay, FeaturePartitionClassifier, certify
from partita.metrics import certified_accuracy

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)

properties = [name.removeprefix("mean ") for name in X if name.startswith("mean ")]
sources = {name: [f"mean {name}", f"{name} error", f"worst {name}"] for name in properties}

# %%
# With ``units=sources`` a source goes to one submodel as a whole, and the radius counts sources.

by_source = FeaturePartitionClassifier(n_submodels=9, units=sources).fit(X_train, y_train)
proof = by_source.certify(X_test)
print(proof.counts)

# %%
# Suppose we had ignored the sources, and split single columns. A source then reaches up to
# three submodels. The honest certificate for that model comes from :func:`partita.certify`, which
# is told which source reaches which submodel.

by_column = FeaturePartitionClassifier(n_submodels=9).fit(X_train, y_train)
column_reach = by_column.partition_.incidence()  # one line per column, one entry per submodel
reach = np.array([column_reach[X.columns.get_indexer(own)].any(axis=0) for own in sources.values()])
print("submodels that each source reaches:", reach.sum(axis=1))

ballots = by_column.ballots(X_test)
naive = certify(ballots)  # counts columns
honest = certify(ballots, reach=reach)  # counts sources
labels = by_column.classes_.searchsorted(y_test)  # ballots know classes by their position

# %%
# The figure shows what an attacker with r sources leaves of each model. Reading column radii as if
# they counted sources promises too much; declaring the sources gives the best proof that is true.

_, ax = plt.subplots(figsize=(6.4, 4), layout="constrained")
draw = CertifiedAccuracyDisplay.from_certificates
draw(labels, naive, name="split by column, read as sources: wrong", ax=ax, linestyle=":")
draw(labels, honest, name="split by column, sources counted", ax=ax)
draw(y_test, proof, name="split by source (units=sources)", ax=ax)
ax.set_xlabel("radius: sources an attacker may own")

print(f"sources counted, r = 1: {certified_accuracy(labels, honest, radius=1):.1%}")
print(f"sources dealt out, r = 1: {certified_accuracy(y_test, proof, radius=1):.1%}")

# %%
# What to do next: write down who could change what in your own table; the guide has a :doc:`check
# list </guide/sources>`. On the command line the same goes into a ``units.toml``.
