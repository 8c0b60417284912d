"""Watching files: what Python finds in memory, piece by piece and table by table."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_digits
from sklearn.naive_bayes import GaussianNB

from partita import FeaturePartitionClassifier, InputError, store
from partita.watch import _files as module
from partita.watch import learn_usual, watch
from partita.watch._files import learn_usual_file, stored_rates, watch_files
from partita.watch._rates import fingerprint
from partita.workflow._stored_model import open_model


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    folder = tmp_path_factory.mktemp("watch")
    X, y = load_digits(return_X_y=True)
    frame = pd.DataFrame(X, columns=[f"p{k}" for k in range(64)])
    clf = FeaturePartitionClassifier(GaussianNB(), n_submodels=9).fit(frame[:800], y[:800])
    store.save(clf, folder / "model")
    held_out = frame[800:].sample(frac=1, random_state=0, ignore_index=True)
    new = held_out[600:].reset_index(drop=True)
    new.iloc[50:, clf.columns_of(4)] = 0.0
    held_out[:600].to_parquet(folder / "clean.parquet", index=False)
    new[:150].to_csv(folder / "new1.csv", index=False)
    new[150:].to_parquet(folder / "new2.parquet", index=False)
    return folder, clf, held_out[:600], new


def test_files_are_watched_as_rows_in_memory_are(tables, monkeypatch):
    folder, clf, clean, new = tables
    monkeypatch.setattr(module, "AT_ONCE", 64)
    stored = open_model(folder / "model")
    assert stored_rates(stored) is None
    usual = learn_usual_file(stored, folder / "clean.parquet", verbose=0)
    assert fingerprint(usual) == fingerprint(learn_usual(clf, clean))
    again = open_model(folder / "model")
    assert fingerprint(stored_rates(again)) == fingerprint(usual)
    files = [folder / "new1.csv", folder / "new2.parquet"]
    found = watch_files(again, files, usual, verbose=0)
    expected = watch(clf, new, usual)
    assert found.to_dict()["alarms"] == [
        one.to_dict() | {"wealth": pytest.approx(one.wealth)} for one in expected.alarms
    ]
    assert len(found.alarms) >= 1
    state = folder / "state.json"
    for file in files:
        later = watch_files(again, [file], usual, state=state, time="p0", verbose=0)
    assert later.rows == len(new)
    assert [one.row for one in later.alarms] == [one.row for one in expected.alarms]
    row = later.alarms[0].row
    assert later.alarms[0].time == new["p0"][row]


def test_bad_input(tables):
    folder, _, clean, _ = tables
    stored = open_model(folder / "model")
    usual = learn_usual(stored.model, clean)
    with pytest.raises(InputError, match="time names the column 'when'"):
        watch_files(stored, [folder / "new1.csv"], usual, time="when", verbose=0)
    (folder / "bad.json").write_text("{")
    with pytest.raises(InputError, match="not valid JSON"):
        watch_files(stored, [folder / "new1.csv"], usual, state=folder / "bad.json", verbose=0)
    clean[:0].to_parquet(folder / "empty.parquet", index=False)
    with pytest.raises(InputError, match="has no rows"):
        watch_files(stored, [folder / "empty.parquet"], usual, verbose=0)


def test_the_clean_rows_have_the_usual_rates(tables):
    folder, clf, clean, _ = tables
    usual = learn_usual(clf, clean)
    stored = open_model(folder / "model")
    found = watch_files(stored, [folder / "clean.parquet"], usual, verbose=0)
    np.testing.assert_array_equal([one.counted for one in found.sources], usual.counted)
    np.testing.assert_array_equal(
        [one.contradictions for one in found.sources], usual.contradictions
    )


def test_the_state_of_another_model_is_refused_even_with_the_same_usual_rates(tables):
    folder, clf, clean, _ = tables
    usual, (X, y) = learn_usual(clf, clean), load_digits(return_X_y=True)
    frame = pd.DataFrame(X, columns=list(clean))
    other = FeaturePartitionClassifier(GaussianNB(), n_submodels=9).fit(frame[:700], y[:700])
    store.save(other, folder / "other")
    state = folder / "of the first.json"
    new = [folder / "new1.csv"]
    watch_files(open_model(folder / "model"), new, usual, state=state, verbose=0)
    before = state.read_bytes()
    with pytest.raises(InputError, match="belongs to another model"):
        watch_files(open_model(folder / "other"), new, usual, state=state, verbose=0)
    with pytest.raises(InputError, match="another false_alarms"):
        watch_files(open_model(folder / "model"), new, usual, 0.02, state=state, verbose=0)
    assert state.read_bytes() == before
