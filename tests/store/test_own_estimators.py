"""Submodels of partita's own kinds are read without skops, exactly as skops reads them."""

import io
import json
import subprocess
import sys
import zipfile

import numpy as np
import pytest
import skops.io
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.naive_bayes import GaussianNB

from partita import FeaturePartitionClassifier, FeaturePartitionRegressor, StoreError, store
from partita.ensemble import FixedVote
from partita.store._files import SCHEMA, TRUSTED, dump_estimator, load_estimator, own_estimator

X, Y = load_breast_cancer(return_X_y=True, as_frame=True)


@pytest.fixture(scope="module")
def models():
    texts = X.iloc[:, :6].assign(grade=np.where(X["mean area"] > 500, "high", "low"))
    numbers, target = load_diabetes(return_X_y=True, as_frame=True)
    return [
        (FeaturePartitionClassifier(n_submodels=3).fit(texts, Y), texts),
        (
            FeaturePartitionClassifier(n_submodels=3).fit(texts, np.where(Y == 1, "yes", "no")),
            texts,
        ),
        (FeaturePartitionRegressor(n_submodels=3).fit(numbers, target), numbers),
    ]


def test_what_is_read_is_what_skops_reads(models):
    for model, table in models:
        for t, submodel in enumerate(model.estimators_):
            content = dump_estimator("a submodel", submodel)
            own = own_estimator(content)
            theirs = skops.io.loads(content, trusted=list(TRUSTED))
            assert type(own) is type(theirs) is type(submodel)
            assert dump_estimator("it", own) == dump_estimator("it", theirs) == content
            columns = model.columns_of(t)
            predicted = [one.predict(table.iloc[:, columns]) for one in (own, submodel)]
            np.testing.assert_array_equal(*predicted)


def test_fixed_votes_are_read():
    content = dump_estimator("it", FixedVote("no finite value"))
    assert own_estimator(content).cause == "no finite value"


def changed(content, change):
    """A skops file with another schema."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    schema = json.loads(members[SCHEMA])
    change(schema)
    members[SCHEMA] = json.dumps(schema).encode()
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, member in members.items():
            archive.writestr(name, member)
    return packed.getvalue()


def test_anything_else_is_left_to_skops(models):
    content = dump_estimator("a submodel", models[0][0].estimators_[0])
    assert own_estimator(dump_estimator("it", GaussianNB().fit(X, Y))) is None

    def of_another_type(schema):
        codes = schema["content"]["content"]["codes_"]
        codes["__module__"], codes["__class__"] = "os", "system"

    def of_a_later_protocol(schema):
        schema["protocol"] = 99

    def with_another_node(schema):
        schema["content"]["content"]["codes_"]["__loader__"] = "MethodNode"

    for change in (of_another_type, of_a_later_protocol, with_another_node):
        assert own_estimator(changed(content, change)) is None
    with pytest.raises(StoreError, match="not trusted"):
        load_estimator("it", changed(content, of_another_type), ())


def test_arrays_are_read_without_pickle(models):
    content = dump_estimator("a submodel", models[0][0].estimators_[0])
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    pickled = io.BytesIO()
    np.save(pickled, np.array([print], dtype=object), allow_pickle=True)
    name = next(name for name in members if name.endswith(".npy"))
    members[name] = pickled.getvalue()
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, member in members.items():
            archive.writestr(name, member)
    with pytest.raises(ValueError, match="allow_pickle"):
        own_estimator(packed.getvalue())


def test_a_default_model_is_loaded_without_skops_and_what_fits_it(models, tmp_path):
    """A service should start quickly."""
    path = store.save(models[0][0], tmp_path / "model")
    code = (
        f"import sys; from partita import store; store.load({str(path)!r}); "
        "print({'skops', 'sklearn.ensemble', 'sklearn.linear_model'} & sys.modules.keys())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
