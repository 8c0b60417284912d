"""
How much accuracy does a proof against stickers cost?
=====================================================

Little, if a sticker is all you fear. :class:`partita.vision.LeaveOutImageClassifier` lays windows
over the image so that a sticker lies inside one of them wherever it is, and asks a network about
the image without every pair of windows. Where all answers agree, no sticker can change them: the
answers without its window never saw it.
"""

# %%
# Digits of 8 x 8 pixels, and stickers of 2 x 2. Nine windows make 36 pairs. Training is trusted
# here, so one network stands in for all models; it has learnt to do without any two windows.

import json
from importlib.resources import files
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from partita.datasets import load_digits
from partita.metrics import certified_accuracy
from partita.vision import LeaveOutImageClassifier

data = load_digits()
clf = LeaveOutImageClassifier(
    data.image_shape,
    patches=(2, 2),
    windows=9,
    network="network_in_network",
    epochs=12,
    batch_size=64,
    learning_rate=0.002,
    verbose=0,
)
clf.fit(data.X_train, data.y_train)
proof = clf.certify(data.X_test)
print(f"{certified_accuracy(data.y_test, proof, radius=0):.1%} right")
print(f"{certified_accuracy(data.y_test, proof, radius=1):.1%} right whatever the sticker shows")
print(f"{clf.evaluations_per_image_:.0f} of {len(clf.left_out_)} models evaluated per image")

# %%
# One test image with a sticker, as four of the 36 models see it. A model whose windows (orange)
# cover the sticker answers as if there were none:

image = data.X_test[0].reshape(8, 8).astype(float)
image[3:5, 3:5] = [[255, 0], [0, 255]]
hidden = np.array([clf.windows_[pair].any(axis=0) for pair in clf.left_out_])
covered = hidden[:, 3:5, 3:5].all(axis=(1, 2))
figure, axes = plt.subplots(1, 4, figsize=(8, 2.4), layout="constrained")
models = [*np.flatnonzero(covered)[[0, -1]], *np.flatnonzero(~covered)[[0, -1]]]
for ax, model in zip(axes, models, strict=True):
    ax.imshow(np.where(hidden[model], np.nan, image), cmap="gray_r", vmin=0, vmax=255)
    ax.set(facecolor="tab:orange", xticks=[], yticks=[])
    ax.set_title("does not see it" if covered[model] else "sees the sticker", fontsize="medium")

# %%
# The same on CIFAR10, with stickers of 5 x 5 pixels on the images to predict and 49 windows, three
# ResNet9 from scratch and about ten minutes on one GPU, which learn from trusted images: the share
# of test images that are proven right, beside the published shares of other defences. These numbers
# come from the files of the benchmark.

table = pd.read_csv(files("partita.baselines") / "published.csv")
shares = dict(zip(table["method"], table["square_5x5"], strict=True))
results = Path("../benchmarks/results/patches")
for file in sorted(results.glob("cifar10-5x5-*-test.json")):
    found = json.loads(file.read_text())
    kind = "training attackable too" if found["training"] == "attackable" else "training trusted"
    shares[f"windows left out, {kind}"] = found["certified"][0]
    print(f"{kind}: {found['certified'][0]} % proven, {found['accuracy']} % right")
ordered = dict(sorted(shares.items(), key=lambda one: one[1]))
figure, ax = plt.subplots(figsize=(8, 2.4), layout="constrained")
colours = ["tab:blue" if name.startswith("windows") else "tab:gray" for name in ordered]
ax.bar_label(ax.barh(list(ordered), list(ordered.values()), color=colours), fmt="%.1f", padding=3)
ax.set(xlabel="% of CIFAR10 test images proven right, any 5 x 5 patch", xlim=(0, 100))

# %%
# What to do next: if training images may carry stickers too, ``training="attackable"`` trains one
# network for every pair of windows. :doc:`/guide/vision` says what both cost and certify, and
# :doc:`plot_05_images` what a partition of the pixels proves against single pixels as well.
