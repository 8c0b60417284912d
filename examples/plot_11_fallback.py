"""
What if the vote proves little about a row?
===========================================

A vote of many submodels pays for its proofs with accuracy: each of them sees few columns. Where the
vote is close, nothing is proven anyway, and one model on all columns would more often be right. Can
it answer there, without taking the proofs from the other rows?
"""

# %%
# Handwritten digits, 15 submodels of four or five pixels each, and a forest on all 64 pixels behind
# them. ``gate=1``: the vote decides where its radius is at least 1, the forest everywhere else.

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.model_selection import train_test_split

from partita import CertifiedAccuracyDisplay, FeaturePartitionClassifier
from partita.metrics import certified_accuracy

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.4, random_state=0, stratify=y)
clf = FeaturePartitionClassifier(n_submodels=15, fallback=ExtraTreesClassifier(), gate=1)
clf.fit(X_train, y_train)

# %%
# The gate does not touch the submodels, so one fit shows several gates; 0 is the vote alone. An
# attacker who owns one pixel can make the forest say anything, but lowers the vote's radius by one
# at most. So a row that the vote decides is certified up to its own radius less the gate.

proofs = {gate: clf.set_params(gate=gate).certify(X_test) for gate in (0, 1, 2)}
forest = clf.fallback_model_.score(X_test, y_test)
print(f"one forest on all pixels: {forest:.1%} right, and nothing proven")
for gate, proof in proofs.items():
    shares = [f"{certified_accuracy(y_test, proof, r):.1%}" for r in range(5)]
    print(f"gate {gate}: right and certified at r = 0 to 4: {', '.join(shares)}")

# %%
# The curve is the vote's, moved by the gate to the left, with the forest's answers at r = 0.

_, ax = plt.subplots(figsize=(6.4, 4), layout="constrained")
for gate, proof in proofs.items():
    name = f"gate {gate}" if gate else "the vote alone"
    CertifiedAccuracyDisplay.from_certificates(y_test, proof, name=name, ax=ax)
ax.axhline(forest, color="grey", linestyle=":", label="one forest, nothing proven")
ax.legend()

# %%
# What to do next: use a gate if you need the accuracy of one model and a proof for as many rows as
# possible, and count on losing one from every radius. If your radius matters more, fewer submodels
# may be the better trade: compare both on validation rows, see :doc:`/guide/choosing`. Why this is
# sound is shown in :doc:`/theory/fallback`.
