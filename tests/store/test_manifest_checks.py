"""A manifest that contradicts itself is refused, and none exhausts memory or time."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.naive_bayes import GaussianNB

from partita import FeaturePartitionClassifier, StoreError, store
from partita.rules import TopK

from .models import FRAME, MODELS, X, Y, change_manifest, fitted

TAMPERED = {
    "a column in several units": lambda m: m["units"].update(
        columns=[[0]] * len(m["units"]["columns"])
    ),
    "a negative column": lambda m: m["units"]["columns"].__setitem__(0, [-1]),
    "a column that is a float": lambda m: m["units"]["columns"].__setitem__(0, [0.0]),
    "a unit without a name": lambda m: m["units"]["names"].__setitem__(0, None),
    "two units of one name": lambda m: m["units"]["names"].__setitem__(1, m["units"]["names"][0]),
    "one name too many": lambda m: m["units"]["names"].append("one more"),
    "one numeric column too many": lambda m: m["numeric"].append(True),
    "kinds of other columns": lambda m: m.update(kinds={"other": "number"}),
    "a kind that is not known": lambda m: m["kinds"].update(c0="colour"),
    "labels out of order": lambda m: m["classes"]["values"].reverse(),
    "an odd setting": lambda m: m["settings"].update(on_failure="x"),
    "a fixed vote of another label": lambda m: m.update(fixed_vote=99),
    "shifts of nothing": lambda m: m["partition"].update(shifts=[0, 99]),
    "another kind of model": lambda m: m.update(ensemble="FeaturePartitionRegressor"),
    "a large image": lambda m: m["settings"].update(image_shape=[10**6, 10**6, 1]),
    "a flat image": lambda m: m["settings"].update(image_shape=[2, 2]),
    "networks of nothing": lambda m: m.update(networks={}),
    "no versions": lambda m: m.pop("versions"),
    "no version of partita": lambda m: m.pop("partita"),
    "a version that is null": lambda m: m.update(partita=None),
    "a version with a command for a terminal": lambda m: m.update(partita="1\x1b[2J"),
    "a format of zero": lambda m: m.update(format=0),
    "a format that is a text": lambda m: m.update(format="1"),
    "about as a list": lambda m: m.update(about=[]),
    "files as a list": lambda m: m.update(files=[]),
    "files without facts": lambda m: m.update(files={name: {} for name in m["files"]}),
    "a file of another name": lambda m: m["files"].update({"submodel": m["files"].popitem()[1]}),
}


@pytest.fixture(scope="module")
def stored_frame(tmp_path_factory):
    """A model of a frame, which has names and kinds, and its manifest; tests change a copy."""
    clf = FeaturePartitionClassifier(GaussianNB(), n_submodels=3).fit(FRAME.drop(columns="text"), Y)
    path = store.save(clf, tmp_path_factory.mktemp("store") / "m")
    return path, (path / "manifest.json").read_text()


@pytest.mark.parametrize("case", TAMPERED)
def test_a_manifest_that_contradicts_itself_is_refused(case, stored_frame):
    path, honest = stored_frame
    (path / "manifest.json").write_text(honest)
    store.load(path)
    change_manifest(path, TAMPERED[case])
    with pytest.raises(StoreError):
        store.load(path)


def test_submodels_must_be_numbered_from_zero(saved):
    old = next(saved.glob("submodel-0000*"))
    new = old.rename(saved / old.name.replace("submodel-0000", "submodel-0009"))
    change_manifest(saved, lambda m: m["files"].update({new.name: m["files"].pop(old.name)}))
    with pytest.raises(StoreError, match="not numbered from 0 on"):
        store.load(saved)


# ---- numbers that would exhaust memory ----

LOAD_EACH = """
import json, resource, sys, time, warnings
from pathlib import Path
import numpy as np
from partita import PartitaError, StoreError, store

warnings.simplefilter("ignore")
numbers, folders = json.loads(sys.argv[1]), [Path(folder) for folder in sys.argv[2:]]
rows = {folder: np.load(folder.with_suffix(".npy")) for folder in folders}

def certify(folder):
    model = store.load(folder)
    about = {"labels": model.predict(rows[folder])} if type(model.rule_).__name__ == "TopK" else {}
    try:
        model.certify(rows[folder], **about)
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
    assert certify(folder) == "loaded"  # what is imported and compiled on the way does not count
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
                message = certify(folder)
            except StoreError as exc:
                message = str(exc)
            name = f"{folder.name}." + ".".join(map(str, path)) + f" = {number}"
            found[name] = (message, time.process_time() - before)
print(json.dumps(found))
"""
HUGE = [10**12, -1]
needs_proc = pytest.mark.skipif(
    not Path("/proc/self/statm").exists(), reason="memory is limited and read in Linux's way"
)


def load_with_each_number_changed(folder, models):
    """What comes of a manifest with one other integer, for each of them, in 1 GiB of memory."""
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
    return {name: message for name, (message, _) in found.items()}


@needs_proc
@pytest.mark.long
def test_no_number_in_a_manifest_exhausts_memory_or_time(tmp_path):
    models = {}
    for name, settings in {
        "image": {"image_shape": (3, 2, 1)},
        "labels": {"rule": TopK(2)},
        "units": {"units": {"a": [0, 1]}, "trusted": [5]},
    }.items():
        model, table, labels = MODELS[name]
        array = np.asarray(table)[:, : 6 if name == "image" else 8]
        models[name] = (
            clone(model).set_params(n_jobs=2, **settings).fit(array, labels),
            array[:3],
        )
    found = load_with_each_number_changed(tmp_path, models)
    for model in models:
        for number in HUGE:
            for place in ("n_features", "partition.sets.0.0", "units.columns.0.0"):
                assert found[f"{model}.{place} = {number}"].startswith("manifest.json is damaged")
    accepted = {
        tuple(place.split(" = ")[0].split(".")[:3])
        for place, message in found.items()
        if message == "loaded"
    }
    assert {place[1] for place in accepted} <= {
        "settings",
        "random_state",
        "counts",
        "classes",
        "files",
    }
    assert {place[2] for place in accepted if place[1] == "settings"} <= {"n_jobs", "verbose"}
    assert found["labels.rule.settings.k = 1000000000000"].startswith(
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
@needs_proc
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
        for place, message in found.items()
        if message == "loaded" and ".networks." in place
    }
    assert {place for place in accepted if not place.startswith("seeds")} == {
        "settings.epochs",
        "settings.batch_size",
        "settings.shift",
    }


@pytest.mark.parametrize("total", [0, 13, 2**60])
def test_a_count_of_training_labels_that_cannot_be_is_refused(total, tmp_path):
    path = store.save(fitted("labels"), tmp_path / "m")
    change_manifest(path, lambda manifest: manifest["counts"].update(total=total))
    with pytest.raises(StoreError, match=f"counts.total is {total}, with 13 units"):
        store.load(path)


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
