"""A stored model comes back with the same ballots, bit for bit, or is refused in one sentence."""

import re

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes
from sklearn.linear_model import Ridge

from partita import (
    FeaturePartitionRegressor,
    LeaveOutRegressor,
    StoreError,
    __version__,
    store,
)
from partita.rules import Median, TopK
from partita.store._files import submodel_name
from partita.store._manifest import digest, load_with_manifest, submodel_files
from partita.tables import open_table

from .models import MODELS, change_manifest, first_submodel, fitted


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("place", ["model", "model.zip"])
def test_a_loaded_model_has_the_same_ballots_and_certificates(name, place, tmp_path):
    _, table, labels = MODELS[name]
    model = fitted(name)
    loaded = store.load(store.save(model, tmp_path / "deep" / place))
    assert np.array_equal(loaded.ballots(table), model.ballots(table))
    about = {"labels": labels} if isinstance(model.rule_, TopK) else {}
    before, after = model.certify(table, **about), loaded.certify(table, **about)
    assert np.array_equal(before.prediction, after.prediction)
    assert np.array_equal(before.radius, after.radius)
    assert before.counts == after.counts
    assert loaded.classes_.dtype == model.classes_.dtype
    assert loaded.units_ == model.units_
    assert loaded.partition_ == model.partition_
    assert type(loaded.rule_) is type(model.rule_)
    for setting, value in model.rule_.get_params().items():
        np.testing.assert_equal(loaded.rule_.get_params()[setting], value)
    assert type(loaded.estimator) is type(model.estimator)


def test_a_fallback_comes_back_as_it_was(tmp_path):
    _, table, labels = MODELS["fallback"]
    model = fitted("fallback")
    loaded = store.load(store.save(model, tmp_path / "m"))
    assert (loaded.gate, type(loaded.fallback)) == (2, type(model.fallback))
    assert not hasattr(loaded.fallback, "tree_")
    rows = open_table(table)
    assert np.array_equal(loaded.fallback_scores(rows), model.fallback_scores(rows))
    assert np.array_equal(loaded.predict_proba(table), model.predict_proba(table))
    again = clone(loaded).fit(table, labels)
    assert np.array_equal(again.predict(table), model.predict(table))


def test_a_fallback_without_its_file_or_its_gate_is_refused(tmp_path):
    path = store.save(fitted("fallback"), tmp_path / "m")
    honest = (path / "manifest.json").read_text()
    fallback = next(path.glob("fallback-model-*")).name
    for change in (
        lambda m: m["files"].pop(fallback),
        lambda m: m.update(gate=None),
        lambda m: m.pop("gate"),
        lambda m: m.update(gate=-1),
        lambda m: m.update(gate=2**40),
        lambda m: m.update(gate=1.0),
        lambda m: m["rule"].update(name="RunOff", settings={}),
    ):
        change_manifest(path, change)
        with pytest.raises(StoreError):
            store.load(path)
        (path / "manifest.json").write_text(honest)
    store.load(path)


@pytest.mark.parametrize("name", ["fallback", "prior"])
def test_a_manifest_that_does_not_say_whether_there_is_a_gate_is_refused(name, tmp_path):
    """It would give the vote's answers for the fallback's."""
    path = store.save(fitted(name), tmp_path / "m")
    assert store.manifest(path)["format"] == 2
    assert (store.load(path).fallback is None) == (name == "prior")
    change_manifest(path, lambda m: m.pop("gate"))
    with pytest.raises(StoreError, match="gate is not in it"):
        store.load(path)


@pytest.mark.parametrize("name", ["default", "units", "labels", "fallback", "leave-out", "masked"])
def test_a_loaded_model_can_be_fitted_again(name, tmp_path):
    _, table, labels = MODELS[name]
    loaded = store.load(store.save(fitted(name), tmp_path / "m"))
    assert np.array_equal(loaded.fit(table, labels).ballots(table), fitted(name).ballots(table))


@pytest.mark.parametrize(
    "model",
    [
        FeaturePartitionRegressor(n_submodels=3, rule=Median(stretch=1.3)),
        FeaturePartitionRegressor(Ridge(), spread=2),
        LeaveOutRegressor(Ridge(), n_groups=5),
    ],
    ids=["default", "overlapping", "leave-out"],
)
def test_a_loaded_regressor_has_the_same_values_and_intervals(model, tmp_path):
    diabetes, y = load_diabetes(return_X_y=True)
    model = clone(model).fit(diabetes[:200], y[:200])
    loaded = store.load(store.save(model, tmp_path / "model"))
    assert np.array_equal(loaded.predict(diabetes), model.predict(diabetes))
    assert np.array_equal(loaded.interval(diabetes, 1)[0], model.interval(diabetes, 1)[0])


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


def one_file_less(manifest):
    manifest["files"].pop(sorted(manifest["files"])[-1])


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
            "is missing: the stored model is incomplete",
        ),
        (lambda folder: (folder / "manifest.json").unlink(), "manifest.json is missing"),
        (lambda folder: (folder / "manifest.json").write_text("{"), "manifest.json is damaged"),
        (lambda folder: (folder / "manifest.json").write_text("[]"), "manifest.json is damaged"),
        (lambda folder: change_manifest(folder, escape), "leads out of the stored model"),
        (lambda folder: change_manifest(folder, newer), "format 99 is newer"),
        (lambda folder: change_manifest(folder, other_partition), "manifest.json is damaged"),
        (lambda folder: change_manifest(folder, strange_rule), "manifest.json is damaged"),
        (lambda folder: change_manifest(folder, lying_size), "larger than manifest.json says"),
        (
            lambda folder: change_manifest(folder, one_file_less),
            "2 submodel files for 3 submodels",
        ),
    ],
)
def test_a_changed_model_is_refused(saved, damage, message):
    damage(saved)
    with pytest.raises(StoreError, match=message):
        store.load(saved)


def test_more_than_ten_thousand_submodels_come_back_in_their_order():
    files = {f"{submodel_name(t)}-{t:016x}.skops": {} for t in range(10_003)} | {
        "estimator-0.skops": {}
    }
    names = submodel_files(dict(sorted(files.items())), 10_003)
    assert [int(name.split("-")[1]) for name in names] == list(range(10_003))


def test_the_manifest_is_opened_once(saved):
    model, content = load_with_manifest(saved)
    assert content == store.manifest(saved)
    assert len(model.estimators_) == 3


def test_the_digest_is_of_the_files_and_not_of_the_time(saved):
    again = store.save(store.load(saved), saved.parent / "again")
    change_manifest(again, lambda manifest: manifest.update(stored="2001-01-01T00:00:00+00:00"))
    assert digest(store.manifest(again)) == digest(store.manifest(saved))
    change_manifest(again, one_file_less)
    assert digest(store.manifest(again)) != digest(store.manifest(saved))


def test_another_library_version_warns(saved):
    change_manifest(saved, lambda manifest: manifest["versions"].update({"scikit-learn": "0.1.0"}))
    with pytest.warns(UserWarning, match=r"stored with scikit-learn 0\.1\.0") as warned:
        store.load(saved)
    assert warned[0].filename == __file__  # the warning points at whoever called load


def test_a_model_of_another_version_of_partita_warns(saved):
    change_manifest(saved, lambda manifest: manifest.update(partita="0.0.9"))
    with pytest.warns(
        UserWarning,
        match=rf"stored by partita 0\.0\.9 and is loaded with {re.escape(__version__)}: see what "
        r"changed",
    ) as warned:
        store.load(saved)
    assert len(warned) == 1
