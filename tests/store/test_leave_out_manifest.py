"""Models that leave units out come back from the store, or are refused in one sentence."""

import json
import time
from itertools import combinations

import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import GaussianNB

from partita import LeaveOutClassifier, LeaveOutRegressor, StoreError, store

from .models import FRAME, MODELS, X, Y, change_manifest, first_submodel, fitted
from .test_manifest_checks import HUGE, load_with_each_number_changed, needs_proc


@pytest.fixture
def saved(tmp_path):
    """Five groups, ten members and one on all columns, in a folder."""
    return store.save(fitted("leave-out"), tmp_path / "m")


@pytest.mark.parametrize("name", ["leave-out", "masked"])
def test_sets_and_settings_come_back(name, tmp_path):
    model = fitted(name)
    loaded = store.load(store.save(model, tmp_path / "m"))
    assert loaded.partition_ == model.partition_
    assert loaded.rule_.fallback == len(model.partition_) - 1
    for setting in ("radius", "max_models", "leave_out", "training", "on_failure"):
        assert getattr(loaded, setting) == getattr(model, setting)
    assert [loaded.describe(t) for t in range(len(loaded.partition_))] == [
        model.describe(t) for t in range(len(model.partition_))
    ]


def test_a_model_of_trusted_training_has_one_file_and_says_what_it_trusts(tmp_path):
    path = store.save(fitted("masked"), tmp_path / "m")
    assert len(list(path.glob("submodel-*"))) == 1
    loaded = store.load(path)
    assert loaded.counts_.trusted == ("the training table",)
    assert loaded.trusts_training


@pytest.mark.parametrize("name", ["leave-out", "masked"])
def test_what_was_fitted_is_stored_and_not_what_was_set_since(name, tmp_path):
    _, table, labels = MODELS[name]
    other = {"leave-out": "trusted", "masked": "attackable"}[name]
    model = LeaveOutClassifier(**fitted(name).get_params(deep=False)).fit(table, labels)
    proof = model.certify(table)
    model.set_params(radius=2, training=other)
    loaded = store.load(store.save(model, tmp_path / "m"))
    assert np.array_equal(loaded.certify(table).radius, proof.radius)
    assert loaded.counts_ == proof.counts


def test_values_come_back(tmp_path):
    diabetes, y = load_diabetes(return_X_y=True)
    model = LeaveOutRegressor(Ridge(), radius=2, n_groups=6).fit(diabetes[:200], y[:200])
    loaded = store.load(store.save(model, tmp_path / "m.zip"))
    rows = diabetes[200:]
    for before, after in zip(model.interval(rows, 2), loaded.interval(rows, 2), strict=True):
        assert np.array_equal(before, after)
    proofs = [one.certify(rows, tolerance=30.0) for one in (model, loaded)]
    assert np.array_equal(proofs[0].radius, proofs[1].radius)


def test_an_older_partita_refuses_it(saved):
    """It would read members as submodels that share no column."""
    assert store.manifest(saved)["format"] == 2


# ---- manifests that lie ----


def leave_out(manifest, **changes):
    manifest["leave_out"].update(changes)


def other_member(manifest, t, groups):
    manifest["leave_out"]["left_out"][t] = groups


HOSTILE = {
    "a radius of zero": lambda m: leave_out(m, radius=0),
    "a radius that the members do not reach": lambda m: leave_out(m, radius=2),
    "a radius for more groups": lambda m: leave_out(m, radius=3),
    "a huge radius": lambda m: leave_out(m, radius=2**63),
    "a radius that is a float": lambda m: leave_out(m, radius=1.0),
    "a radius that is true": lambda m: leave_out(m, radius=True),
    "a radius that is a text": lambda m: leave_out(m, radius="1"),
    "no radius": lambda m: m["leave_out"].pop("radius"),
    "no members": lambda m: leave_out(m, left_out=[]),
    "members as a text": lambda m: leave_out(m, left_out="01"),
    "members as numbers": lambda m: leave_out(m, left_out=[0, 1]),
    "members as an object": lambda m: leave_out(m, left_out={"0": [0, 1]}),
    "a member that leaves out everything": lambda m: other_member(m, 0, [0, 1, 2, 3, 4]),
    "a member that leaves out nothing": lambda m: other_member(m, 0, []),
    "a member less than a set needs": lambda m: m["leave_out"]["left_out"].pop(0),
    "a set that no member leaves out": lambda m: leave_out(
        m, left_out=[*([0, 1] for _ in range(10)), []]
    ),
    "a group twice in a member": lambda m: other_member(m, 0, [0, 0]),
    "groups in another order": lambda m: other_member(m, 0, [1, 0]),
    "a group that is not there": lambda m: other_member(m, 0, [0, 5]),
    "a huge group": lambda m: other_member(m, 0, [0, 2**63]),
    "a negative group": lambda m: other_member(m, 0, [-1, 0]),
    "a group that is a float": lambda m: other_member(m, 0, [0.0, 1.0]),
    "a group that is true": lambda m: other_member(m, 0, [False, True]),
    "the model on all columns is not the last": lambda m: m["leave_out"]["left_out"].reverse(),
    "no model on all columns": lambda m: m["leave_out"]["left_out"].pop(),
    "two models on all columns": lambda m: m["leave_out"]["left_out"].append([]),
    "groups that share a unit": lambda m: m["partition"]["sets"][0].append(
        m["partition"]["sets"][1][0]
    ),
    "one group twice": lambda m: m["partition"]["sets"].append(m["partition"]["sets"][0]),
    "an empty group": lambda m: m["partition"]["sets"].append([]),
    "one group less": lambda m: m["partition"]["sets"].pop(),
    "training that is neither": lambda m: leave_out(m, training="half"),
    "training trusted, with all members' files": lambda m: leave_out(m, training="trusted"),
    "probabilities as a number": lambda m: leave_out(m, probabilities=1),
    "probabilities as null": lambda m: leave_out(m, probabilities=None),
    "fits as a text": lambda m: leave_out(m, max_models="many"),
    "fewer fits than three": lambda m: leave_out(m, max_models=2),
    "leaving out one": lambda m: leave_out(m, leave_out=1),
    "nothing of what is left out": lambda m: m.update(leave_out=None),
    "no word of what is left out": lambda m: m.pop("leave_out"),
    "a list of what is left out": lambda m: m.update(leave_out=[]),
    "a gate": lambda m: m.update(gate=1),
    "networks": lambda m: m.update(networks={}),
    "a partition's class": lambda m: m.update(ensemble="FeaturePartitionClassifier"),
    "a model of numbers": lambda m: m.update(ensemble="LeaveOutRegressor"),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_a_manifest_whose_sets_prove_nothing_is_refused(case, saved):
    change_manifest(saved, HOSTILE[case])
    with pytest.raises(StoreError) as refused:
        store.load(saved)
    assert len(str(refused.value)) < 300


def test_one_model_cannot_pose_as_all_members(tmp_path):
    path = store.save(fitted("masked"), tmp_path / "m")
    change_manifest(path, lambda m: leave_out(m, training="attackable"))
    with pytest.raises(StoreError, match="its counts are not those of its units"):
        store.load(path)
    change_manifest(path, lambda m: m["counts"].update(trusted=[]))
    with pytest.raises(StoreError, match="1 submodel files for"):
        store.load(path)
    path = store.save(fitted("leave-out"), tmp_path / "all")
    first_submodel(path).unlink()
    with pytest.raises(StoreError):
        store.load(path)


def test_a_smaller_radius_is_certified_with_the_models_that_it_asks_for(tmp_path):
    """What radius 2 leaves out covers all sets of radius 1, so the claim is true and smaller."""
    model = LeaveOutClassifier(GaussianNB(), radius=2, n_groups=6).fit(X, Y)
    path = store.save(model, tmp_path / "m")
    change_manifest(path, lambda m: leave_out(m, radius=1))
    loaded = store.load(path)
    starts, members = loaded.rule_.pools
    for k, chosen in enumerate(combinations(range(6), 2)):
        for t in members[starts[k] : starts[k + 1]]:
            assert set(chosen) <= set(loaded.partition_.left_out[t])
    assert loaded.certify(X).radius.max() == 1


@pytest.mark.parametrize(
    ("n_groups", "radius", "n_members"),
    [(200_000, 50_000, 3), (4_999, 2_499, 3), (41, 20, 3), (300, 1, 3), (100, 1, 10_000)],
)
def test_a_manifest_of_many_groups_or_members_is_refused_at_once(
    n_groups, radius, n_members, tmp_path
):
    """Nothing is enumerated before its size is known."""
    manifest = store.manifest(store.save(fitted("leave-out"), tmp_path / "m"))
    manifest["n_features"] = n_groups
    manifest["feature_names"] = manifest["kinds"] = None
    manifest["numeric"] = [True] * n_groups
    manifest["units"] = {
        "columns": [[k] for k in range(n_groups)],
        "names": [f"c{k}" for k in range(n_groups)],
        "kind": "columns",
        "trusted": [],
    }
    manifest["partition"]["sets"] = [[k] for k in range(n_groups)]
    manifest["leave_out"].update(radius=radius, left_out=[[0, 1]] * n_members + [[]])
    (tmp_path / "m" / "manifest.json").write_text(json.dumps(manifest))
    started = time.process_time()
    with pytest.raises(StoreError, match=r"too many sets of groups|members: 5,001 are the most"):
        store.load(tmp_path / "m")
    assert time.process_time() - started < 5


@needs_proc
@pytest.mark.long
def test_no_number_in_a_manifest_exhausts_memory_or_time(tmp_path):
    table = FRAME.drop(columns="text").to_numpy()[:, :6]
    models = {
        "leave-out": LeaveOutClassifier(GaussianNB(), n_groups=4, n_jobs=2).fit(table, Y),
        "masked": LeaveOutClassifier(
            MODELS["masked"][0].estimator, n_groups=3, training="trusted"
        ).fit(table, Y),
    }
    found = load_with_each_number_changed(
        tmp_path, {name: (model, table[:3]) for name, model in models.items()}
    )
    for name in models:
        for number in HUGE:
            for place in ("radius", "left_out.0.0"):
                message = found[f"{name}.leave_out.{place} = {number}"]
                assert message.startswith("manifest.json is damaged")
    accepted = {
        place.split(" = ")[0].split(".", 1)[1]
        for place, message in found.items()
        if message == "loaded" and ".leave_out." in place
    }
    assert accepted == {"leave_out.max_models"}
