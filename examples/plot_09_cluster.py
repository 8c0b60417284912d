"""
What if my table is larger than my machine?
===========================================

Submodels are independent, and each owns its columns. So a table in Parquet, which is stored column
by column, can be trained on a cluster: every task reads the columns of one submodel and nothing
else. Here the cluster is two workers inside this process; the code is the same for a hundred
machines.
"""

# %%
# The table is a Parquet file that all workers can see.

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
from distributed import Client, LocalCluster
from sklearn.datasets import load_breast_cancer
from sklearn.naive_bayes import GaussianNB

from partita import FeaturePartitionClassifier, certify_parquet, fit_parquet, store

folder = Path(tempfile.mkdtemp())
frame = load_breast_cancer(as_frame=True).frame
frame["part"] = ["train" if row % 4 else "test" for row in range(len(frame))]
frame.to_parquet(folder / "table.parquet", index=False)

# %%
# :func:`partita.fit_parquet` sends one task per submodel to the Dask scheduler. Each task writes
# its submodel into the store, so a fit that is interrupted goes on where it stopped.

clf = FeaturePartitionClassifier(GaussianNB(), n_submodels=15)
options = {"ignore": ["part"], "split": ("part", "train")}
cluster = LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None)
with cluster, Client(cluster) as client:
    client.get_task_stream()  # start recording which worker does what
    model = fit_parquet(
        clf, folder / "table.parquet", "target", folder / "model", cluster=client, **options
    )
    tasks = client.get_task_stream()

# %%
# The stored model is the one that ``fit`` gives in memory, to the last bit.

train = frame[frame["part"] == "train"]
X, y = train.drop(columns=["target", "part"]), train["target"]
in_memory = FeaturePartitionClassifier(GaussianNB(), n_submodels=15).fit(X, y)
print("same ballots:", (store.load(model).ballots(X) == in_memory.ballots(X)).all())

# %%
# Certifying reads the table piece by piece, too, and writes a table of predictions and radii.

found = certify_parquet(
    model, folder / "table.parquet", folder / "certified.parquet", split=("part", "test")
)
print("certified accuracy at r = 0, 1, 2:", [round(s, 3) for s in found["certified_accuracy"][:3]])

# %%
# Which worker did what, and when.

_, ax = plt.subplots(figsize=(6.4, 2.6), layout="constrained")
spans = [
    (task["worker"], part["start"], part["stop"])
    for task in tasks
    for part in task["startstops"]
    if part["action"] == "compute"
]
begin = min(start for _, start, _ in spans)
workers = sorted({worker for worker, _, _ in spans})
for worker, start, stop in spans:
    ax.barh(workers.index(worker), stop - start, left=start - begin, height=0.6, edgecolor="white")
ax.set(xlabel="seconds", yticks=range(len(workers)))
ax.set_yticklabels([f"worker {number + 1}" for number in range(len(workers))])

# %%
# What to do next: start ``dask scheduler`` and ``dask worker`` on your machines and give their
# address to ``partita fit --cluster``; :doc:`/guide/cluster` has the commands, what happens when a
# machine dies, and measurements.
