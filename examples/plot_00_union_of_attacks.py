"""
What is left when the same columns lie in training and in prediction?
=====================================================================

Most defences cover one attack: changed rows, or poisoned training data. A *backdoor* is both. The
attacker plants a mark in the training data, the model learns what it stands for, and a row with the
mark then gets the label that the attacker wants. Here one is planted live, in a table and in
images, and three models meet it.
"""

# %%
# The attacker owns r columns (or pixels). In every training row they are set high if the row has
# the target label, and low otherwise. All values are within the usual range, and no label is
# touched. In the rows to predict, the mark says the opposite of the truth.

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import PercentFormatter
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

from partita import FeaturePartitionClassifier
from partita.baselines import RandomizedAblationClassifier
from partita.datasets import load_digits
from partita.metrics import certified_accuracy


def mark(X, owned, high):
    """Rows with the attacker's columns set high or low."""
    marked = X.copy()
    marked[:, owned] = np.where(high[:, None], X[:, owned].max(axis=0), X[:, owned].min(axis=0))
    return marked


def right_after_backdoor(model, data, owned, target):
    """Accuracy of a model that learnt from marked rows, on rows with the wrong mark."""
    X_train, y_train, X_test, y_test = data
    poisoned = mark(X_train, owned, y_train == target)
    triggered = mark(X_test, owned, y_test != target)
    return np.mean(clone(model).fit(poisoned, y_train).predict(triggered) == y_test)


# %%
# Two tasks: tumours as a table, where malignant ones are to pass as benign (label 1), and
# handwritten digits as images, where every digit is to be read as an 8. Three models: a forest on
# all columns; randomized ablation, which is certified against changed rows only; and partita's vote
# of 21 trees, which is certified against both attacks together.

X, y = load_breast_cancer(return_X_y=True)
digits = load_digits()
tumours = (X[::2], y[::2], X[1::2], y[1::2])
images = (digits.X_train, digits.y_train, digits.X_test[:300], digits.y_test[:300])
forest = RandomForestClassifier(20, max_features=None, min_samples_leaf=3, random_state=0)
tree = DecisionTreeClassifier(min_samples_leaf=5, random_state=0)
vote = FeaturePartitionClassifier(tree, n_submodels=21)
ablation = RandomizedAblationClassifier(n_select=200)
models = {
    "tumours": {
        "one model": forest,
        "randomized ablation": clone(ablation).set_params(keep=7, low=X.min(0), high=X.max(0)),
        "partita": vote,
    },
    "digits": {
        "one model": forest,
        "randomized ablation": clone(ablation).set_params(keep=16),
        "partita": vote,
    },
}
owned = {name: np.random.default_rng(0).permutation(size) for name, size in
         (("tumours", 30), ("digits", 64))}  # fmt: skip

# %%
# Every point below is a training run on poisoned data. One model falls to a single column. The
# defence against changed rows holds a little longer, and then falls too: its proof says nothing
# about training data. What partita proves (dotted) was known before any attack, and no attack gets
# below it; between the lines is what a cleverer attacker might still take.

radii = list(range(7))
styles = {"one model": "s-", "randomized ablation": "^-", "partita": "o-"}
figure, axes = plt.subplots(1, 2, figsize=(9.6, 4.6), sharey=True, layout="constrained")
tasks = (("tumours", tumours, 1, "columns"), ("digits", images, 8, "pixels"))
for ax, (task, data, target, counted) in zip(axes, tasks, strict=True):
    for name, model in models[task].items():
        shares = [right_after_backdoor(model, data, owned[task][:r], target) for r in radii]
        (line,) = ax.plot(radii, shares, styles[name], label=f"{name}, attacked")
        print(f"{task}, {name}, attacked:", *(f"{share:4.0%}" for share in shares))
    proof = clone(vote).fit(*data[:2]).certify(data[2])
    proven = [certified_accuracy(data[3], proof, radius=r) for r in radii]
    print(f"{task}, partita, proven:", *(f"{share:4.0%}" for share in proven))
    ax.plot(radii, proven, ":", color=line.get_color(), linewidth=2.2, label="partita, proven")
    ax.fill_between(radii, proven, shares, color=line.get_color(), alpha=0.12)
    ax.set(title=f"A backdoor in {task}", xlabel=f"{counted} that the attacker owns")
    ax.set_ylim(-0.02, 1.02)
    ax.grid(alpha=0.3)
axes[0].set_ylabel("test rows right")
axes[0].yaxis.set_major_formatter(PercentFormatter(1.0))
figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)

picture = axes[1].inset_axes([0.25, 0.06, 0.2, 0.26])
three = int(np.argmax(images[3] == 3))
marked = mark(images[2], owned["digits"][:3], images[3] != 8)[three].reshape(8, 8)
picture.imshow(marked, cmap="gray")
for pixel in owned["digits"][:3]:
    corner = (pixel % 8 - 0.5, pixel // 8 - 0.5)
    picture.add_patch(plt.Rectangle(corner, 1, 1, fill=False, color="tab:red", linewidth=2))
picture.set(xticks=[], yticks=[])
picture.set_title("a 3, three pixels marked", fontsize=8)

# %%
# What to do next: count your sources instead of columns
# (:ref:`sphx_glr_gallery_plot_02_sources_as_units.py`), and see in :doc:`/guide/alternatives` what
# the usual defences are worth under attack on your own table.
