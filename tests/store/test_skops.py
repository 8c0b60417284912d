"""skops files: reproducible, of trusted types only, and laid out as ``_files.py`` believes."""

import json
import re
import zipfile

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from partita import FeaturePartitionClassifier, StoreError, store
from partita.store._files import _skops_io, dump_estimator, load_estimator, reproducible

from .models import X, Y, first_submodel, members_of, swap_file, zip_of

SCALED = X / X.max(axis=0)


def nodes_of(tree):
    """Every object of a skops schema."""
    if isinstance(tree, dict):
        yield tree
    for inner in (
        tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ()
    ):
        yield from nodes_of(inner)


def test_skops_still_writes_what_this_module_knows():
    """Fails when a version of skops changes its files: then ``_files.py`` must follow."""
    members = members_of(_skops_io().dumps(LogisticRegression().fit(SCALED, Y)))
    nodes = list(nodes_of(json.loads(members.pop("schema.json"))))
    objects = [node for node in nodes if "__loader__" in node]
    assert objects
    assert all(isinstance(node["__id__"], int) for node in objects)
    values = [node for node in objects if node["__loader__"] == "JsonNode"]
    assert {json.loads(node["content"]) for node in values} >= {"lbfgs", 1.0, None}
    files = [node["file"] for node in nodes if "file" in node]
    assert sorted(files) == sorted(members)
    assert all(re.fullmatch(r"\w+\.\w+", name) for name in files)


def test_what_skops_makes_twice_differs_and_the_reproducible_form_does_not():
    one, other = (_skops_io().dumps(LogisticRegression().fit(SCALED, Y)) for _ in range(2))
    assert one != other
    assert reproducible(one) == reproducible(other)
    assert reproducible(reproducible(one)) == reproducible(one)


def test_equal_texts_are_one_value_whether_one_object_or_two():
    """An estimator that went through another process holds copies of its texts."""
    word = "balanced"
    copies = ["".join(word), "".join(list(word))]
    assert copies[0] is not copies[1]
    one, two = (
        dump_estimator("part", make_pipeline(*steps))
        for steps in (
            (LogisticRegression(class_weight=word), LogisticRegression(class_weight=word)),
            [LogisticRegression(class_weight=copy) for copy in copies],
        )
    )
    assert one == two


def test_a_reproducible_file_is_the_same_estimator():
    fitted = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, Y)
    again = load_estimator("part", dump_estimator("part", fitted), ())
    assert np.array_equal(again.predict_proba(X), fitted.predict_proba(X))


class Own(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        self.classes_, self.middle_ = np.unique(y), float(np.median(X))
        return self

    def predict(self, X):
        return self.classes_[(X[:, 0] > self.middle_).astype(int)]


def test_types_outside_the_list_are_refused_by_name(tmp_path):
    clf = FeaturePartitionClassifier(Own(), n_submodels=3, rule="plurality").fit(X, Y)
    path = store.save(clf, tmp_path / "model")
    own = f"{Own.__module__}.Own"
    with pytest.raises(StoreError, match=f"holds the type {re.escape(own)}, which is not trusted"):
        store.load(path)
    assert np.array_equal(store.load(path, trusted=[own]).predict(X), clf.predict(X))


def test_a_submodel_that_unpacks_to_more_than_its_size_is_refused(saved):
    file = first_submodel(saved)
    members = members_of(file.read_bytes()) | {"9.npy": b"0" * 10**7}
    swap_file(saved, file, zip_of(members, zipfile.ZIP_DEFLATED))
    with pytest.raises(StoreError, match="unpacks to more than its"):
        store.load(saved)


def test_a_submodel_that_reads_one_array_many_times_is_refused(saved):
    file = first_submodel(saved)
    members = members_of(file.read_bytes())
    schema = json.loads(members["schema.json"])
    content = schema["content"]["content"]
    array = next(node for node in content.values() if isinstance(node, dict) and "file" in node)
    content.update({f"more_{k}_": array | {"__id__": 10**6 + k} for k in range(50)})
    members["schema.json"] = json.dumps(schema).encode()
    swap_file(saved, file, zip_of(members))
    with pytest.raises(StoreError, match="reads one array more than once"):
        store.load(saved)


def test_a_file_that_is_no_skops_file_is_one_error():
    with pytest.raises(StoreError, match=r"part cannot be loaded \(BadZipFile"):
        load_estimator("part", b"no zip", ())
