"""Models to store, and ways to damage what is stored."""

import hashlib
import io
import json
import zipfile
from functools import cache

import numpy as np
import pandas as pd
from lightgbm import LGBMClassifier
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from partita import FeaturePartitionClassifier, LeaveOutClassifier
from partita.rules import RunOff, TopK, Tournament

X, Y = load_wine(return_X_y=True)
FRAME = pd.DataFrame(X, columns=[f"c{k}" for k in range(13)]).assign(
    text=np.array(["a", "b", "c"])[Y]
)

MODELS = {
    "default": (
        FeaturePartitionClassifier(n_submodels=3),
        FRAME,
        np.array(["red", "white", "rosé"])[Y],
    ),
    "lightgbm": (
        FeaturePartitionClassifier(LGBMClassifier(n_estimators=5, min_child_samples=5, verbose=-1)),
        X,
        Y,
    ),
    "pipeline": (
        FeaturePartitionClassifier(
            make_pipeline(StandardScaler(), LogisticRegression()), rule=RunOff(exact=True)
        ),
        X,
        Y == 1,
    ),
    "prior": (
        FeaturePartitionClassifier(GaussianNB(), rule=Tournament(margin=0.5, prior=0.3)),
        X,
        Y.astype(float),
    ),
    "top-k": (
        FeaturePartitionClassifier(DecisionTreeClassifier(), rule=TopK(2), partition="strided"),
        X,
        Y,
    ),
    "units": (
        FeaturePartitionClassifier(
            GaussianNB(), units={"a": ["c0", "c1"]}, trusted=["c5"], n_submodels=3, spread=2
        ),
        FRAME.drop(columns="text"),
        Y,
    ),
    "labels": (
        FeaturePartitionClassifier(
            DecisionTreeClassifier(), n_submodels=3, label_attacks="rows", classes=[0, 1, 2]
        ),
        X,
        Y,
    ),
    "fallback": (
        FeaturePartitionClassifier(
            GaussianNB(), n_submodels=7, fallback=DecisionTreeClassifier(max_depth=2), gate=2
        ),
        X,
        Y,
    ),
    "dates": (
        FeaturePartitionClassifier(GaussianNB()),
        X,
        np.array(["2020-01-01", "2021-01-01", "2022-01-01"], dtype="datetime64[D]")[Y],
    ),
    "image": (
        FeaturePartitionClassifier(
            GaussianNB(), image_shape=(4, 3, 1), partition="patch", n_submodels=4
        ),
        X[:, :12],
        Y,
    ),
    "leave-out": (
        LeaveOutClassifier(
            GaussianNB(), units={"a": ["c0", "c1"]}, trusted=["c5"], n_groups=5, random_state=3
        ),
        FRAME.drop(columns="text"),
        np.array(["red", "white", "rosé"])[Y],
    ),
    "leave-out, decision values": (LeaveOutClassifier(RidgeClassifier(), radius=2), X[:, :6], Y),
    "masked": (
        LeaveOutClassifier(
            DecisionTreeClassifier(max_depth=3), training="trusted", n_groups=4, max_models=20
        ),
        FRAME.drop(columns="text"),
        Y,
    ),
}


@cache
def fitted(name):
    """One of the models, fitted once; a test that changes it must copy it."""
    model, table, labels = MODELS[name]
    return clone(model).fit(table, labels)


@cache
def small_model():
    """Three Gaussian submodels: quick to fit, to save and to load."""
    return FeaturePartitionClassifier(GaussianNB(), n_submodels=3).fit(X, Y)


def first_submodel(folder):
    return sorted(folder.glob("submodel-*"))[0]


def change_manifest(folder, change):
    """Change a stored model's manifest in place."""
    manifest = json.loads((folder / "manifest.json").read_text())
    change(manifest)
    (folder / "manifest.json").write_text(json.dumps(manifest))


def swap_file(folder, old, content):
    """Put another file in a submodel's place, with a manifest that vouches for it."""
    digest = hashlib.sha256(content).hexdigest()
    old.unlink()
    new = f"{'-'.join(old.name.split('-')[:2])}-{digest[:16]}.skops"
    (folder / new).write_bytes(content)

    def vouch(manifest):
        del manifest["files"][old.name]
        manifest["files"][new] = {"sha256": digest, "bytes": len(content)}

    change_manifest(folder, vouch)


def as_zip(folder, path):
    """A stored model's folder as a zip."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in folder.iterdir():
            archive.write(file, file.name)
    return path


def members_of(content):
    """The members of a zip in memory, by name."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def zip_of(members, compression=zipfile.ZIP_STORED):
    """A zip in memory."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", compression) as archive:
        for name, member in members.items():
            archive.writestr(name, member)
    return out.getvalue()
