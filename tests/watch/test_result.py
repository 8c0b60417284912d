"""What watching found, printed, stored and drawn."""

import json

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.naive_bayes import GaussianNB

from partita import FeaturePartitionClassifier
from partita.watch import Alarm, learn_usual, watch
from partita.watch._watcher import MOST_POINTS, Trace


@pytest.fixture(scope="module")
def found():
    X, y = load_digits(return_X_y=True)
    clf = FeaturePartitionClassifier(GaussianNB(), n_submodels=9).fit(X[:800], y[:800])
    held_out = np.random.default_rng(0).permutation(X[800:])
    new = held_out[600:].copy()
    new[100:, clf.columns_of(4)] = 0
    return watch(clf, new, learn_usual(clf, held_out[:600]))


def test_it_prints_its_alarms(found):
    lines = str(found).splitlines()
    assert lines[0].startswith("397 rows, false alarms at most 1 %: ")
    assert len(lines) == 1 + len(found.alarms)
    assert "contradicts" in lines[1]


def test_an_alarm_names_row_rate_and_usual_rate():
    alarm = Alarm("all sources", 5, "2017-01-01", 0, 6, 3, 0.1, 900.0)
    assert str(alarm) == (
        "row 5 (2017-01-01): all sources: certified less than usual, not in 3 of 6 rows since row "
        "0 (50.0 %, usual 10.0 %)"
    )


def test_it_is_plain_data(found):
    content = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert content["rows"] == 397
    assert len(content["sources"]) == 10
    by_name = {one["source"]: one for one in content["sources"]}
    for alarm in content["alarms"]:
        assert by_name[alarm["source"]]["alarm"] == alarm["row"]


def test_it_is_drawn_with_a_line_per_source(found):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    ax = found.plot()
    assert len(ax.lines) == 11
    shown = [text.get_text() for text in ax.get_legend().get_texts()]
    assert len(shown) == len(found.alarms) + 1
    pyplot.close(ax.figure)
    assert found.png().startswith(b"\x89PNG")


def test_a_long_trace_is_thinned_out_evenly():
    trace = Trace(1)
    for start in range(0, 30_000, 700):
        rows = np.arange(start, start + 700)
        trace.add(rows, rows[:, None].astype(float))
    assert MOST_POINTS / 2 <= len(trace.rows) <= MOST_POINTS
    assert len(np.unique(np.diff(trace.rows))) == 1
    np.testing.assert_array_equal(trace.rows, trace.log_wealth[:, 0])
