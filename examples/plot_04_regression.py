"""
How far can an attacker move a predicted price?
===============================================

A regressor predicts a number, so the proof is about an interval: whatever is written into any r of
the columns, the prediction stays between two bounds that are known beforehand.
"""

# %%
# House prices in Ames, Iowa: 79 columns of numbers and text, with missing values. The target is the
# logarithm of the price. The data come with partita's loaders, which check what they read.

import matplotlib.pyplot as plt
import numpy as np

from partita import FeaturePartitionRegressor
from partita.datasets import load_ames
from partita.rules import Median

data = load_ames()
print(f"{len(data.X_train)} houses to learn from, {len(data.X_test)} to certify")

# %%
# The prediction is the median of the submodels' values. A submodel with four columns stays close to
# the mean price, so the values are stretched away from it by a constant factor first.

reg = FeaturePartitionRegressor(n_submodels=21, rule=Median(stretch=1.3))
reg = reg.fit(data.X_train, data.y_train)

# %%
# :meth:`~partita.FeaturePartitionRegressor.interval` needs no true price. It says how far r
# corrupted columns can push each prediction, at most.

prediction = np.expm1(reg.predict(data.X_test))
bounds = {r: [np.expm1(end) for end in reg.interval(data.X_test, radius=r)] for r in (1, 3)}
for r, (low, high) in bounds.items():
    width = np.median((high - low) / prediction)
    print(f"r = {r}: the median interval is {width:.0%} of the predicted price wide")

# %%
# Where the truth is known, ask how often the prediction is right and stays right. Right means
# within 15 % of the price.

lower, upper = data.bounds(data.y_test)
proof = reg.certify(data.X_test, lower=lower, upper=upper)
for r in range(5):
    print(f"within 15 % whatever happens to any {r} columns: {np.mean(proof.radius >= r):.1%}")

# %%
# The figure shows every tenth house, sorted by price: the prediction, and where one or three
# columns can push it.

shown = np.argsort(prediction)[::10]
position = np.arange(len(shown))
_, ax = plt.subplots(figsize=(6.4, 4), layout="constrained")
for (r, (low, high)), width in zip(bounds.items(), (5, 2), strict=True):
    ax.vlines(position, low[shown] / 1e3, high[shown] / 1e3, color="C0", lw=width, alpha=0.4)
    ax.plot([], [], color="C0", lw=width, alpha=0.4, label=f"any {r} column{'s'[: r - 1]}")
ax.plot(position, prediction[shown] / 1e3, "k.", label="prediction")
ax.plot(position, np.expm1(data.y_test[shown]) / 1e3, "x", color="C1", label="price paid")
ax.set(xlabel="house", ylabel="price in 1,000 dollars", xticks=[])
ax.legend()

# %%
# What to do next: choose the number of submodels and the stretch on held-out rows with ``partita
# choose --relative 0.15``, and read :doc:`/theory/regression` for why the interval cannot be left.
