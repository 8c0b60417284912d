"""
Does my image classifier survive a sticker?
===========================================

An attacker who puts a sticker on an image, or scratches the lens, owns all pixels under it, at a
place of their choice. When pixels are split among submodels, a sticker reaches only the submodels
that own a pixel under it, and the proof looks at every position.
"""

# %%
# Digits of 8 x 8 pixels. The pixels can be split in two ways: ``"patch"`` gives each submodel a
# block of neighbours, so that a sticker touches few submodels; ``"strided"`` takes every sixteenth
# pixel, so that each submodel sees a coarse version of the whole image.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import ExtraTreesClassifier

from partita import FeaturePartitionClassifier, certify_patches
from partita.datasets import load_digits
from partita.metrics import certified_accuracy
from partita.rules import Tournament

data = load_digits()
trees = ExtraTreesClassifier(50, min_samples_leaf=3)
ensembles = {
    partition: FeaturePartitionClassifier(
        trees,
        n_submodels=16,
        partition=partition,
        image_shape=data.image_shape,
        rule=Tournament(margin=1),
    ).fit(data.X_train, data.y_train)
    for partition in ("patch", "strided")
}
for name, clf in ensembles.items():
    print(f"{name}: accuracy without an attack {clf.score(data.X_test, data.y_test):.1%}")

# %%
# :func:`partita.certify_patches` asks whether a prediction survives a sticker of a given shape,
# wherever it is put. The radius is 1 where it does.

shapes = {
    "one pixel": (1, 1),
    "1 x 2": (1, 2),
    "2 x 2": (2, 2),
    "a row": (1, 8),
    "a column": (8, 1),
}
shares = {}
for name, clf in ensembles.items():
    ballots = clf.ballots(data.X_test)
    proofs = [certify_patches(ballots, clf.partition_, (8, 8), shape) for shape in shapes.values()]
    shares[name] = [certified_accuracy(data.y_test, proof, radius=1) for proof in proofs]

# %%
# On the left, which pixels each submodel owns: one colour per submodel. On the right, the share of
# images that are right and stay right. Neither partition is better against every attacker: it
# depends on what you expect them to cover.

figure, axes = plt.subplot_mosaic(
    [["patch", "shares"], ["strided", "shares"]],
    width_ratios=[1, 3],
    figsize=(8, 3.8),
    layout="constrained",
)
for name, clf in ensembles.items():
    owner = clf.partition_.incidence().argmax(axis=1)
    axes[name].imshow(owner.reshape(8, 8), cmap="tab20")
    axes[name].set(title=name, xticks=[], yticks=[])
place = np.arange(len(shapes))
for shift, (name, values) in zip((-0.2, 0.2), shares.items(), strict=True):
    axes["shares"].bar(place + shift, values, width=0.38, label=name)
axes["shares"].set(xticks=place, ylabel="certified accuracy", ylim=(0, 1))
axes["shares"].set_xticklabels(shapes)
axes["shares"].legend()

# %%
# What to do next: the networks of :mod:`partita.vision` take the place of the trees for larger
# images. They train all submodels at once, and reach CIFAR10 and MNIST on one GPU within minutes;
# :doc:`/guide/vision` has the settings and what they certify.
