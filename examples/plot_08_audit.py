"""
Does the proof hold under real attacks?
=======================================

A proof is about a model of the world: deterministic training, no hidden path from one column to
another submodel. The audit attacks the real thing. It rewrites cells, trains again, predicts, and
looks for a certified prediction that changed.
"""

# %%
# The scaler and the logistic regression are fitted inside every submodel, so the audit should find
# nothing.

import warnings

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from partita import FeaturePartitionClassifier
from partita.attacks import audit, check_pipeline

X, y = load_breast_cancer(return_X_y=True)
X_train, y_train, X_test, y_test = X[::2], y[::2], X[1::2], y[1::2]
logistic = make_pipeline(StandardScaler(), LogisticRegression())
clf = FeaturePartitionClassifier(logistic, n_submodels=9).fit(X_train, y_train)

found = audit(clf, X_test, y_test, X_train=X_train, y_train=y_train, rows=60, most=3)
print("passed:", found.passed)
print(f"{len(found.lines)} kinds of attack and radius, {len(found.checks)} checks")

# %%
# For every attack and every r: the accuracy under the strongest attack that was found, beside the
# accuracy that is certified against all attacks. A gap between the two means that the certificate
# is conservative, or that no attack tried so far is strong enough. It can never be negative.

_, ax = plt.subplots(figsize=(6.4, 4), layout="constrained")
attacks = dict.fromkeys(line.attack for line in found.lines)
for attack in attacks:
    lines = [line for line in found.lines if line.attack == attack]
    ax.plot([line.r for line in lines], [line.accuracy for line in lines], "o--", label=attack)
certified = {line.r: line.certified_accuracy for line in found.lines}
ax.plot(list(certified), list(certified.values()), "k-", lw=2, label="certified")
ax.set(xlabel="columns the attacker owns", ylabel="share of rows that stay right")
ax.set_xticks(list(certified))
ax.legend(fontsize=8)

# %%
# The most common mistake is a step that was fitted on the whole table before the ensemble.
# :func:`partita.attacks.check_pipeline` finds it and names the step.

mixed = make_pipeline(StandardScaler(), PCA(10), FeaturePartitionClassifier(n_submodels=5))
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    print(check_pipeline(mixed, X_train, y_train))

# %%
# What to do next: run ``partita audit`` on your stored model before anybody relies on its radii. If
# a certified prediction changes, do not rely on them, and tell us; :doc:`/guide/audit` says how.
