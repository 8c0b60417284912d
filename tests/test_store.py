"""A stored model comes back with the same ballots, bit for bit; whatever was changed in between is refused in one sentence."""

import json
import re
import subprocess
import sys
import zipfile

import numpy as np
import pandas as pd
import pytest
from lightgbm import LGBMClassifier
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_diabetes, load_wine
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from partita import FeaturePartitionClassifier, FeaturePartitionRegressor, InputError, StoreError, SubmodelWarning, store
from partita.rules import Median, RunOff, TopK, Tournament

X, Y = load_wine(return_X_y=True)
FRAME = pd.DataFrame(X, columns=[f"c{k}" for k in range(13)]).assign(text=np.array(["a", "b", "c"])[Y])

MODELS = {
    "default": (FeaturePartitionClassifier(n_submodels=5), FRAME, np.array(["red", "white", "rosé"])[Y]),
    "lightgbm": (FeaturePartitionClassifier(LGBMClassifier(n_estimators=5, min_child_samples=5, verbose=-1)), X, Y),
    "pipeline": (FeaturePartitionClassifier(make_pipeline(StandardScaler(), LogisticRegression()), rule=RunOff(exact=True)), X, Y == 1),
    "prior": (FeaturePartitionClassifier(GaussianNB(), rule=Tournament(margin=0.5, prior=0.3)), X, Y.astype(float)),
    "top-k": (FeaturePartitionClassifier(DecisionTreeClassifier(), rule=TopK(2), partition="strided"), X, Y),
    "sources": (
        FeaturePartitionClassifier(GaussianNB(), units={"a": ["c0", "c1"]}, trusted=["c5"], n_submodels=3, spread=2),
        FRAME.drop(columns="text"),
        Y,
    ),
    "labels": (FeaturePartitionClassifier(DecisionTreeClassifier(), n_submodels=3, label_attacks="rows", classes=[0, 1, 2]), X, Y),
    "dates": (FeaturePartitionClassifier(GaussianNB()), X, np.array(["2020-01-01", "2021-01-01", "2022-01-01"], dtype="datetime64[D]")[Y]),
    "image": (FeaturePartitionClassifier(GaussianNB(), image_shape=(4, 3, 1), partition="patch", n_submodels=4), X[:, :12], Y),
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("place", ["model", "model.zip"])
def test_same_ballots(name, place, tmp_path):
    model, table, labels = MODELS[name]
    model.fit(table, labels)
    path = store.save(model, tmp_path / "deep" / place)
    loaded = store.load(path)
    assert np.array_equal(loaded.ballots(table), model.ballots(table))
    before, after = model.certify(table), loaded.certify(table)
    assert np.array_equal(before.prediction, after.prediction)
    assert np.array_equal(before.radius, after.radius)
    assert before.counts == after.counts
    assert loaded.classes_.dtype == model.classes_.dtype
    assert loaded.units_ == model.units_
    assert loaded.partition_ == model.partition_
    assert repr(loaded.rule_) == repr(model.rule_) or name == "prior"
    assert type(loaded.estimator) is type(model.estimator)
    assert np.array_equal(loaded.fit(table, labels).ballots(table), model.ballots(table))


def test_regression(tmp_path):
    diabetes, y = load_diabetes(return_X_y=True)
    for model in (FeaturePartitionRegressor(n_submodels=3, rule=Median(stretch=1.3)), FeaturePartitionRegressor(Ridge(), spread=2)):
        model.fit(diabetes, y)
        loaded = store.load(store.save(model, tmp_path / "model"))
        assert np.array_equal(loaded.predict(diabetes), model.predict(diabetes))
        assert np.array_equal(loaded.interval(diabetes, 1)[0], model.interval(diabetes, 1)[0])


def test_a_submodel_that_failed_is_stored_too(tmp_path):
    broken = X.copy()
    broken[0, 0] = np.nan
    with pytest.warns(SubmodelWarning):
        model = FeaturePartitionClassifier(GaussianNB(), on_failure="vote").fit(broken, Y)
    assert np.array_equal(store.load(store.save(model, tmp_path / "m")).ballots(X), model.ballots(X))


@pytest.fixture
def saved(tmp_path):
    return store.save(FeaturePartitionClassifier(GaussianNB(), n_submodels=3).fit(X, Y), tmp_path / "model")


def first_submodel(folder):
    return sorted(folder.glob("submodel-*"))[0]


def change_manifest(folder, change):
    manifest = json.loads((folder / "manifest.json").read_text())
    change(manifest)
    (folder / "manifest.json").write_text(json.dumps(manifest))


def escape(manifest):
    name = sorted(manifest["files"])[0]
    manifest["files"]["../" + name] = manifest["files"].pop(name)


def newer(manifest):
    manifest["format"] = 99


def other_partition(manifest):
    manifest["partition"]["sets"].pop()


def strange_rule(manifest):
    manifest["rule"]["name"] = "os.system"


def lying_size(manifest):
    manifest["files"][sorted(manifest["files"])[0]]["bytes"] = 10


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda folder: first_submodel(folder).write_bytes(first_submodel(folder).read_bytes()[:-1] + b"x"), "sha256 differs"),
        (lambda folder: first_submodel(folder).unlink(), "is missing: the stored model is not whole"),
        (lambda folder: (folder / "manifest.json").unlink(), "manifest.json is missing"),
        (lambda folder: (folder / "manifest.json").write_text("{"), "manifest.json is damaged"),
        (lambda folder: (folder / "manifest.json").write_text("[]"), "manifest.json is damaged"),
        (lambda folder: change_manifest(folder, escape), "leads out of the stored model's folder"),
        (lambda folder: change_manifest(folder, newer), "format 99 is newer"),
        (lambda folder: change_manifest(folder, other_partition), "manifest.json is damaged"),
        (lambda folder: change_manifest(folder, strange_rule), "manifest.json is damaged"),
        (lambda folder: change_manifest(folder, lying_size), "larger than it says"),
        (
            lambda folder: change_manifest(folder, lambda manifest: manifest["files"].pop(sorted(manifest["files"])[-1])),
            "2 submodel files for 3 submodels",
        ),
    ],
)
def test_what_was_changed_is_refused(saved, damage, message):
    damage(saved)
    with pytest.raises(StoreError, match=message):
        store.load(saved)


def test_a_link_out_of_the_folder(saved, tmp_path):
    file = first_submodel(saved)
    outside = tmp_path / "outside"
    file.rename(outside)
    file.symlink_to(outside)
    with pytest.raises(StoreError, match="leads out of"):
        store.load(saved)


def test_an_archive_that_unpacks_to_more_than_it_says(saved, tmp_path):
    name = first_submodel(saved).name
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for file in saved.iterdir():
            archive.writestr(file.name, b"0" * 10**8 if file.name == name else file.read_bytes())
    with pytest.raises(StoreError, match="larger than it says"):
        store.load(tmp_path / "bomb.zip")
    (tmp_path / "text.zip").write_text("no archive")
    with pytest.raises(StoreError, match="neither a folder nor a zip"):
        store.load(tmp_path / "text.zip")


class Own(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


def test_types_outside_the_list_are_refused_by_name(tmp_path):
    path = store.save(FeaturePartitionClassifier(Own(), rule="plurality").fit(X, Y), tmp_path / "model")
    own = f"{Own.__module__}.Own"
    with pytest.raises(StoreError, match=f"holds the type {re.escape(own)}, which is not trusted"):
        store.load(path)
    assert store.load(path, trusted=[own]).predict(X)[0] == 0


def test_saving_again_replaces_and_a_crash_does_not(saved, monkeypatch):
    model = store.load(saved)
    other = FeaturePartitionClassifier(GaussianNB(), n_submodels=5).fit(X, Y)

    def fails(*arguments, **settings):
        raise OSError("disk full")

    whole = store.write_whole
    monkeypatch.setattr(store, "write_whole", lambda file, content: fails() if file.name == "manifest.json" else whole(file, content))
    with pytest.raises(OSError, match="disk full"):
        store.save(other, saved)
    assert np.array_equal(store.load(saved).ballots(X), model.ballots(X))
    assert len(list(saved.iterdir())) == 5  # manifest, estimator, three submodels
    with pytest.raises(OSError, match="disk full"):
        store.save(other, saved.parent / "new")
    assert not (saved.parent / "new").exists()
    monkeypatch.undo()
    store.save(other, saved)
    assert np.array_equal(store.load(saved).ballots(X), other.ballots(X))
    assert len(list(saved.iterdir())) == 7


def test_another_library_version_warns(saved):
    change_manifest(saved, lambda manifest: manifest["versions"].update({"scikit-learn": "0.1.0"}))
    with pytest.warns(UserWarning, match=r"stored with scikit-learn 0\.1\.0"):
        store.load(saved)


def test_wrong_places_are_named(tmp_path):
    model = FeaturePartitionClassifier(GaussianNB()).fit(X, Y)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "letter.txt").write_text("dear")
    with pytest.raises(InputError, match="holds no stored model"):
        store.save(model, tmp_path / "full")
    with pytest.raises(InputError, match="does not exist"):
        store.load(tmp_path / "nowhere")
    with pytest.raises(InputError, match="model is a GaussianNB"):
        store.save(GaussianNB(), tmp_path / "m")


# ---- a manifest that contradicts itself ----


TAMPERED = {
    "a column in several units": lambda m: m["units"].update(columns=[[0]] * len(m["units"]["columns"])),
    "a negative column": lambda m: m["units"]["columns"].__setitem__(0, [-1]),
    "a unit without a name": lambda m: m["units"]["names"].__setitem__(0, None),
    "two units of one name": lambda m: m["units"]["names"].__setitem__(1, m["units"]["names"][0]),
    "labels out of order": lambda m: m["classes"]["values"].reverse(),
    "an odd setting": lambda m: m["settings"].update(on_failure="x"),
    "a fixed vote of another size": lambda m: m.update(fixed_ballot=[0.0]),
    "shifts of nothing": lambda m: m["partition"].update(shifts=[0, 99]),
    "another kind of model": lambda m: m.update(ensemble="FeaturePartitionRegressor"),
    "no versions": lambda m: m.pop("versions"),
    "files as a list": lambda m: m.update(files=[]),
    "files without facts": lambda m: m.update(files={name: {} for name in m["files"]}),
    "numbers missing": lambda m: m.update(files={k.replace("submodel-0000", "submodel-0009"): v for k, v in m["files"].items()}),
}


@pytest.mark.parametrize("case", TAMPERED)
def test_a_manifest_that_contradicts_itself_is_refused(case, tmp_path):
    X, y = load_wine(return_X_y=True, as_frame=True)
    path = store.save(FeaturePartitionClassifier(n_submodels=5).fit(X, y), tmp_path / "m")
    manifest = json.loads((path / "manifest.json").read_text())
    TAMPERED[case](manifest)
    if case == "numbers missing":
        old = next(path.glob("submodel-0000*"))
        old.rename(path / old.name.replace("submodel-0000", "submodel-0009"))
    (path / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(StoreError):
        store.load(path)


def test_what_a_radius_counts_is_not_taken_from_the_file(tmp_path):
    X, y = load_wine(return_X_y=True, as_frame=True)
    path = store.save(FeaturePartitionClassifier(n_submodels=5).fit(X, y), tmp_path / "m")
    manifest = json.loads((path / "manifest.json").read_text())
    manifest["counts"] = {"what": "galaxies", "total": 1000, "trusted": []}
    (path / "manifest.json").write_text(json.dumps(manifest))
    assert str(store.load(path).counts_) == "columns (13 in all)"


def test_columns_named_by_numbers(tmp_path):
    X, y = load_wine(return_X_y=True)
    clf = FeaturePartitionClassifier(n_submodels=5).fit(pd.DataFrame(X), y)
    assert np.array_equal(store.load(store.save(clf, tmp_path / "m")).ballots(pd.DataFrame(X)), clf.ballots(pd.DataFrame(X)))


def test_storing_imports_no_torch():
    """It is imported by whoever imports all of scikit-learn, as skops does."""
    pytest.importorskip("torch")
    code = "import sys; from partita import store; store._skops(); assert 'torch' not in sys.modules; import torch; torch.zeros(1)"
    subprocess.run([sys.executable, "-c", code], check=True)
