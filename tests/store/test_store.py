"""A stored model comes back with the same ballots, bit for bit; whatever was changed in between is
refused in one sentence."""

import hashlib
import io
import json
import re
import subprocess
import sys
import zipfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from lightgbm import LGBMClassifier
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_diabetes, load_wine
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from partita import (
    FeaturePartitionClassifier,
    FeaturePartitionRegressor,
    InputError,
    StoreError,
    SubmodelWarning,
    __version__,
    store,
)
from partita.rules import Median, RunOff, TopK, Tournament
from partita.store import _store

X, Y = load_wine(return_X_y=True)
FRAME = pd.DataFrame(X, columns=[f"c{k}" for k in range(13)]).assign(
    text=np.array(["a", "b", "c"])[Y]
)

MODELS = {
    "default": (
        FeaturePartitionClassifier(n_submodels=5),
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
    "sources": (
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
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("place", ["model", "model.zip"])
def test_same_ballots(name, place, tmp_path):
    model, table, labels = MODELS[name]
    model.fit(table, labels)
    path = store.save(model, tmp_path / "deep" / place)
    loaded = store.load(path)
    assert np.array_equal(loaded.ballots(table), model.ballots(table))
    asked = [labels] if isinstance(model.rule, TopK) else []
    before, after = model.certify(table, *asked), loaded.certify(table, *asked)
    assert np.array_equal(before.prediction, after.prediction)
    assert np.array_equal(before.radius, after.radius)
    assert before.counts == after.counts
    assert loaded.classes_.dtype == model.classes_.dtype
    assert loaded.units_ == model.units_
    assert loaded.partition_ == model.partition_
    assert type(loaded.rule_) is type(model.rule_)
    settings = [
        {name: np.asarray(value).tolist() for name, value in rule.get_params().items()}
        for rule in (loaded.rule_, model.rule_)
    ]
    assert settings[0] == settings[1]
    assert type(loaded.estimator) is type(model.estimator)
    assert np.array_equal(loaded.fit(table, labels).ballots(table), model.ballots(table))


def test_regression(tmp_path):
    diabetes, y = load_diabetes(return_X_y=True)
    for model in (
        FeaturePartitionRegressor(n_submodels=3, rule=Median(stretch=1.3)),
        FeaturePartitionRegressor(Ridge(), spread=2),
    ):
        model.fit(diabetes, y)
        loaded = store.load(store.save(model, tmp_path / "model"))
        assert np.array_equal(loaded.predict(diabetes), model.predict(diabetes))
        assert np.array_equal(loaded.interval(diabetes, 1)[0], model.interval(diabetes, 1)[0])


def test_a_submodel_that_failed_is_stored_too(tmp_path):
    broken = X.copy()
    broken[0, 0] = np.nan
    with pytest.warns(SubmodelWarning):
        model = FeaturePartitionClassifier(GaussianNB(), on_failure="vote").fit(broken, Y)
    assert np.array_equal(
        store.load(store.save(model, tmp_path / "m")).ballots(X), model.ballots(X)
    )


@pytest.fixture
def saved(tmp_path):
    return store.save(
        FeaturePartitionClassifier(GaussianNB(), n_submodels=3).fit(X, Y), tmp_path / "model"
    )


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
        (
            lambda folder: first_submodel(folder).write_bytes(
                first_submodel(folder).read_bytes()[:-1] + b"x"
            ),
            "sha256 differs",
        ),
        (
            lambda folder: first_submodel(folder).unlink(),
            "is missing: the stored model is not whole",
        ),
        (lambda folder: (folder / "manifest.json").unlink(), "manifest.json is missing"),
        (lambda folder: (folder / "manifest.json").write_text("{"), "manifest.json is damaged"),
        (lambda folder: (folder / "manifest.json").write_text("[]"), "manifest.json is damaged"),
        (lambda folder: change_manifest(folder, escape), "leads out of the stored model's folder"),
        (lambda folder: change_manifest(folder, newer), "format 99 is newer"),
        (lambda folder: change_manifest(folder, other_partition), "manifest.json is damaged"),
        (lambda folder: change_manifest(folder, strange_rule), "manifest.json is damaged"),
        (lambda folder: change_manifest(folder, lying_size), "larger than it says"),
        (
            lambda folder: change_manifest(
                folder, lambda manifest: manifest["files"].pop(sorted(manifest["files"])[-1])
            ),
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
        self.classes_, self.middle_ = np.unique(y), float(np.median(X))
        return self

    def predict(self, X):
        return self.classes_[(X[:, 0] > self.middle_).astype(int)]


def test_types_outside_the_list_are_refused_by_name(tmp_path):
    clf = FeaturePartitionClassifier(Own(), rule="plurality").fit(X, Y)
    path = store.save(clf, tmp_path / "model")
    own = f"{Own.__module__}.Own"
    with pytest.raises(StoreError, match=f"holds the type {re.escape(own)}, which is not trusted"):
        store.load(path)
    assert np.array_equal(store.load(path, trusted=[own]).predict(X), clf.predict(X))


def test_saving_again_replaces_and_a_crash_does_not(saved, monkeypatch):
    model = store.load(saved)
    other = FeaturePartitionClassifier(GaussianNB(), n_submodels=5).fit(X, Y)

    def fails(*arguments, **settings):
        raise OSError("disk full")

    whole = _store.write_whole
    monkeypatch.setattr(
        _store,
        "write_whole",
        lambda file, content: fails() if file.name == "manifest.json" else whole(file, content),
    )
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
    "a column in several units": lambda m: m["units"].update(
        columns=[[0]] * len(m["units"]["columns"])
    ),
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
    "numbers missing": lambda m: m.update(
        files={k.replace("submodel-0000", "submodel-0009"): v for k, v in m["files"].items()}
    ),
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
    assert np.array_equal(
        store.load(store.save(clf, tmp_path / "m")).ballots(pd.DataFrame(X)),
        clf.ballots(pd.DataFrame(X)),
    )


def test_storing_imports_no_torch():
    """It is imported by whoever imports all of scikit-learn, as skops does."""
    pytest.importorskip("torch")
    code = "import sys; from partita.store import _store; _store._skops(); assert 'torch' not in sys.modules; import torch; torch.zeros(1)"
    subprocess.run([sys.executable, "-c", code], check=True)


# ---- numbers and archives that would exhaust memory ----

LOAD_EACH = """
import json, resource, sys, time, warnings
from pathlib import Path
import numpy as np
from partita import PartitaError, StoreError, store
from partita.store import _store

warnings.simplefilter("ignore")
numbers, folders = json.loads(sys.argv[1]), [Path(folder) for folder in sys.argv[2:]]
rows = {folder: np.load(folder.with_suffix(".npy")) for folder in folders}

def certify(folder):
    model = store.load(folder)
    asked = [model.predict(rows[folder])] if type(model.rule_).__name__ == "TopK" else []
    try:
        model.certify(rows[folder], *asked)
    except PartitaError as exc:
        return f"certify: {exc}"
    return "loaded"

def integers(node, path=()):
    for key, inner in (node.items() if isinstance(node, dict) else enumerate(node)):
        if type(inner) is int:
            yield (*path, key)
        elif isinstance(inner, dict | list):
            yield from integers(inner, (*path, key))

found = {}
for folder in folders:
    assert certify(folder) == "loaded"  # what is imported and compiled on the way counts for nothing
vast = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize() + 2**30
resource.setrlimit(resource.RLIMIT_AS, (vast, vast))
for folder in folders:
    honest = (folder / "manifest.json").read_text()
    for path in integers(json.loads(honest)):
        for number in numbers:
            manifest = json.loads(honest)
            place = manifest
            for key in path[:-1]:
                place = place[key]
            place[path[-1]] = number
            (folder / "manifest.json").write_text(json.dumps(manifest))
            before = time.process_time()
            try:
                told = certify(folder)
            except StoreError as exc:
                told = str(exc)
            name = f"{folder.name}." + ".".join(map(str, path)) + f" = {number}"
            found[name] = (told, time.process_time() - before)
print(json.dumps(found))
"""
HUGE = [10**12, -1]


def load_with_each_number_changed(folder, models):
    """What comes of a manifest in which one integer is another, for every integer, with 1 GiB of
    memory to do it in."""
    for name, (model, rows) in models.items():
        np.save(folder / f"{name}.npy", rows)
        store.save(model, folder / name)
    arguments = [json.dumps(HUGE), *(str(folder / name) for name in models)]
    done = subprocess.run(
        [sys.executable, "-c", LOAD_EACH, *arguments], capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(done.stdout)
    assert max(seconds for _, seconds in found.values()) < 2, max(
        found.items(), key=lambda one: one[1][1]
    )
    return {name: told for name, (told, _) in found.items()}


@pytest.mark.skipif(
    not Path("/proc/self/statm").exists(), reason="memory is limited and read in Linux's way"
)
def test_no_number_in_a_manifest_exhausts_memory_or_time(tmp_path):
    models = {}
    for name in ("image", "labels", "top-k", "sources"):
        model, table, labels = MODELS[name]
        settings = {"units": {"a": [0, 1]}, "trusted": [5]} if name == "sources" else {}
        models[name] = (
            clone(model).set_params(n_jobs=2, **settings).fit(np.asarray(table), labels),
            np.asarray(table)[:3],
        )
    found = load_with_each_number_changed(tmp_path, models)
    for model in models:
        for number in HUGE:
            for place in ("n_features", "partition.sets.0.0", "units.columns.0.0"):
                assert found[f"{model}.{place} = {number}"].startswith("manifest.json is damaged")
    accepted = {
        tuple(place.split(" = ")[0].split(".")[:3])
        for place, told in found.items()
        if told == "loaded"
    }
    assert {place[1] for place in accepted} <= {
        "settings",
        "random_state",
        "counts",
        "classes",
        "files",
    }
    assert {place[2] for place in accepted if place[1] == "settings"} <= {"n_jobs", "verbose"}
    assert found["top-k.rule.settings.k = 1000000000000"].startswith(
        "manifest.json is damaged: k is"
    )
    assert found["labels.counts.total = -1"].startswith(
        "manifest.json is damaged: counts.total is -1"
    )
    assert found["image.settings.image_shape.0 = 1000000000000"].startswith(
        "manifest.json is damaged: image_shape"
    )


@pytest.fixture(scope="module")
def networks():
    pytest.importorskip("torch")
    from partita.vision import PixelSetClassifier

    images = np.random.default_rng(0).integers(256, size=(40, 12), dtype=np.uint8)
    net = PixelSetClassifier(
        (2, 3, 2), width=8, blocks=1, heads=2, epochs=1, batch_size=32, device="cpu", verbose=0
    )
    return FeaturePartitionClassifier(net, n_submodels=3, image_shape=(2, 3, 2)).fit(
        images, np.arange(40) % 3
    ), images


def test_networks_of_another_size_than_their_settings_are_refused(networks, tmp_path):
    path = store.save(networks[0], tmp_path / "m")
    honest = (path / "manifest.json").read_text()
    assert len(store.load(path).estimators_) == 3
    for change in (
        {"settings": {"width": 16}},
        {"settings": {"blocks": 2}},
        {"settings": {"members": 2}},
        {"settings": {"expand": 3}},
        {"image_shape": [2, 3, 4]},
        {"seeds": [1, 2]},
        {"classes": [0, 1]},
        {"classes": [0, 1, 3]},
        {"classes": [0, 1, -1]},
    ):
        facts = json.loads(honest)["networks"]
        other = facts | {
            name: facts[name] | value if isinstance(value, dict) else value
            for name, value in change.items()
        }
        (path / "manifest.json").write_text(json.dumps(json.loads(honest) | {"networks": other}))
        with pytest.raises(StoreError, match="the networks cannot be loaded"):
            store.load(path)


@pytest.mark.long
@pytest.mark.skipif(
    not Path("/proc/self/statm").exists(), reason="memory is limited and read in Linux's way"
)
def test_no_number_in_the_manifest_of_networks_exhausts_memory_or_time(networks, tmp_path):
    clf, images = networks
    found = load_with_each_number_changed(tmp_path, {"networks": (clf, images[:3])})
    for name in ("width", "blocks", "heads", "expand", "members"):
        for number in HUGE:
            assert found[f"networks.networks.settings.{name} = {number}"].startswith(
                "the networks cannot be loaded"
            )
    accepted = {
        place.split(" = ")[0].split(".", 2)[2]
        for place, told in found.items()
        if told == "loaded" and ".networks." in place
    }
    assert {place for place in accepted if not place.startswith("seeds")} == {
        "settings.epochs",
        "settings.batch_size",
        "settings.shift",
    }


@pytest.mark.parametrize("total", [0, 13, 2**60])
def test_a_count_of_training_labels_that_cannot_be_is_refused(total, tmp_path):
    model, table, labels = MODELS["labels"]
    path = store.save(model.fit(table, labels), tmp_path / "m")
    change_manifest(path, lambda manifest: manifest["counts"].update(total=total))
    with pytest.raises(StoreError, match=f"counts.total is {total}, with 13 units"):
        store.load(path)


def test_no_more_threads_are_asked_for_than_there_are_submodels(saved):
    change_manifest(saved, lambda manifest: manifest["settings"].update(n_jobs=10**12))
    assert store.load(saved).n_jobs == 3
    change_manifest(saved, lambda manifest: manifest["settings"].update(n_jobs=-2))
    assert store.load(saved).n_jobs == -2


def test_a_number_that_numpy_cannot_hold_is_refused(saved):
    change_manifest(saved, lambda manifest: manifest["rule"]["settings"].update(margin=10**400))
    with pytest.raises(StoreError, match=r"the number 10+ is too large"):
        store.load(saved)


@pytest.mark.parametrize(
    "dtype",
    ["<U500000000", "(9999,9999)f8", "V99999999", "f8,f8", "c16", "", 8, None, [["a", "f8"]]],
)
def test_labels_of_a_strange_type_are_refused(dtype, saved):
    change_manifest(saved, lambda manifest: manifest["classes"].update(dtype=dtype))
    with pytest.raises(StoreError, match=r"manifest\.json is damaged"):
        store.load(saved)


def test_labels_that_could_not_be_loaded_are_not_stored(tmp_path):
    clf = FeaturePartitionClassifier(GaussianNB(), n_submodels=3).fit(X, Y)
    clf.classes_ = np.array(["a", "b", "c"], dtype="<U8000000")
    with pytest.raises(StoreError, match="labels of 96000000 bytes cannot be stored"):
        store.save(clf, tmp_path / "m")


def test_a_file_of_negative_size_is_not_read(saved, tmp_path):
    """A zip's reader would take -1 for all that there is."""
    name = first_submodel(saved).name
    change_manifest(saved, lambda manifest: manifest["files"][name].update(bytes=-2))
    with zipfile.ZipFile(tmp_path / "m.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for file in saved.iterdir():
            archive.write(file, file.name)
    with pytest.raises(StoreError, match="a file has -2 bytes"):
        store.load(tmp_path / "m.zip")


def swap_file(folder, old, content):
    """Another submodel, and a manifest that vouches for it."""
    digest = hashlib.sha256(content).hexdigest()
    old.unlink()
    new = f"{'-'.join(old.name.split('-')[:2])}-{digest[:16]}.skops"
    (folder / new).write_bytes(content)

    def vouch(manifest):
        del manifest["files"][old.name]
        manifest["files"][new] = {"sha256": digest, "bytes": len(content)}

    change_manifest(folder, vouch)


def as_zip(folder, path):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in folder.iterdir():
            archive.write(file, file.name)
    return path


def test_an_archive_whose_manifest_tells_of_a_bomb(saved, tmp_path):
    """A few hundred kilobytes that say that they are 300 MB, and are."""
    swap_file(saved, first_submodel(saved), b"0" * (300 * 10**6))
    path = as_zip(saved, tmp_path / "bomb.zip")
    assert path.stat().st_size < 2**20
    with pytest.raises(StoreError, match=r"unpacks to 3\d{8}: the model was changed"):
        store.load(path)


def rewritten(content, change, pack=zipfile.ZIP_STORED):
    """A skops file with other members."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    change(members)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", pack) as archive:
        for name, member in members.items():
            archive.writestr(name, member)
    return out.getvalue()


def test_a_submodel_that_unpacks_to_more_than_its_size(saved):
    file = first_submodel(saved)
    swap_file(
        saved,
        file,
        rewritten(
            file.read_bytes(),
            lambda members: members.update({"9.npy": b"0" * 10**7}),
            zipfile.ZIP_DEFLATED,
        ),
    )
    with pytest.raises(StoreError, match="unpacks to more than its"):
        store.load(saved)


def test_a_submodel_that_reads_one_array_many_times(saved):
    def repeat(members):
        schema = json.loads(members["schema.json"])
        content = schema["content"]["content"]
        array = next(node for node in content.values() if isinstance(node, dict) and "file" in node)
        content.update({f"more_{k}_": array | {"__id__": 10**6 + k} for k in range(50)})
        members["schema.json"] = json.dumps(schema).encode()

    file = first_submodel(saved)
    swap_file(saved, file, rewritten(file.read_bytes(), repeat))
    with pytest.raises(StoreError, match="reads one array more than once"):
        store.load(saved)


def test_more_than_ten_thousand_submodels_come_back_in_their_order(tmp_path):
    files = {f"{_store.submodel_name(t)}-{t:016x}.skops": {} for t in range(10_003)} | {
        "estimator-0.skops": {}
    }
    names = _store._submodels(dict(sorted(files.items())), 10_003)
    assert [int(name.split("-")[1]) for name in names] == list(range(10_003))


@pytest.mark.parametrize(
    "change",
    [
        lambda manifest: manifest["files"].update({"submodel": manifest["files"].popitem()[1]}),
        lambda manifest: manifest.update(about=[]),
        lambda manifest: manifest.update(format=0),
        lambda manifest: manifest.update(format="1"),
        lambda manifest: manifest.update(partita=None),
        lambda manifest: manifest.update(partita="1\x1b[2J"),
        lambda manifest: manifest.pop("partita"),
        lambda manifest: manifest.update(networks={}),
        lambda manifest: manifest["units"]["names"].append("one more"),
        lambda manifest: manifest["numeric"].append(True),
        lambda manifest: manifest["units"]["columns"].__setitem__(0, [0.0]),
        lambda manifest: manifest["settings"].update(image_shape=[10**6, 10**6, 1]),
        lambda manifest: manifest["settings"].update(image_shape=[2, 2]),
    ],
)
def test_other_manifests_are_refused(change, saved):
    change_manifest(saved, change)
    with pytest.raises(StoreError):
        store.load(saved)


# ---- who stored it, and when ----


def test_a_model_of_another_version_of_partita_warns(saved):
    change_manifest(saved, lambda manifest: manifest.update(partita="0.0.9"))
    with pytest.warns(
        UserWarning,
        match=rf"stored by partita 0\.0\.9 and is loaded with {re.escape(__version__)}: see what "
        r"changed",
    ) as told:
        store.load(saved)
    assert len(told) == 1


def test_a_model_says_when_it_was_stored(saved):
    stored = datetime.fromisoformat(store.manifest(saved)["stored"])
    assert stored.utcoffset() == timedelta(0)
    assert timedelta(0) <= datetime.now(UTC) - stored < timedelta(minutes=5)
    again = store.save(store.load(saved), saved.parent / "again")
    assert _store.digest(store.manifest(again)) == _store.digest(
        store.manifest(saved)
    )  # the time is not part of what the model is
