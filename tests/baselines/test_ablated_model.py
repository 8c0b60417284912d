"""What both kinds of randomized ablation share: draws, scaling, settings."""

import math

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

from partita import InputError
from partita.baselines import RandomizedAblationClassifier

from .exact_ablation import fitted


def test_a_row_s_votes_do_not_depend_on_other_rows_or_the_batch_size(ablated_digits):
    data, clf = ablated_digits
    X = data.X_test[:12]
    whole = clf.votes(X)
    assert (whole.sum(axis=1) == 1000).all()
    assert np.array_equal(whole[3:4], clf.votes(X[3:4]))
    for batch_size in (1, 300, 5000, 100_000):
        clf.set_params(batch_size=batch_size)
        assert np.array_equal(
            clf.votes(X[:2] if batch_size == 1 else X), whole[:2] if batch_size == 1 else whole
        )
    clf.set_params(batch_size=4096)
    assert np.array_equal(clone(clf).fit(data.X_train, data.y_train).votes(X), whole)
    assert not np.array_equal(
        clone(clf).set_params(random_state=1).fit(data.X_train, data.y_train).votes(X), whole
    )


def test_no_block_of_draws_comes_twice():
    """More draws than one block holds: no block is drawn twice, and none is missing."""
    clf = fitted(
        lambda kept, values: kept.argmax(axis=1), 40, 40, keep=1, n_select=5000, n_certify=5000
    )
    votes = clf.votes(np.zeros((1, 40)))
    assert votes.sum() == 5000
    spread = ((votes - 125) ** 2 / 125).sum()
    assert (
        39 - 4 * math.sqrt(78) < spread < 39 + 5 * math.sqrt(78)
    )  # draws that come twice spread twice as much
    other = clf.set_params(n_certify=2048).votes(np.zeros((1, 40)))
    last = clf.set_params(n_certify=4096).votes(np.zeros((1, 40))) - other
    assert not np.array_equal(last, other)


def test_values_beyond_the_bounds_count_as_the_bounds(ablated_digits):
    data, clf = ablated_digits
    assert (clf.low_.tolist(), clf.high_.tolist()) == ([0] * 64, [255] * 64)
    X = data.X_test[:5].astype(float)
    beyond = np.where(X == 0, -1e9, X)
    assert np.array_equal(clf.votes(X), clf.votes(beyond))
    a_column = clone(clf).set_params(low=np.zeros(64), high=np.full(64, 255))
    assert np.array_equal(
        a_column.fit(data.X_train.astype(float), data.y_train).votes(X), clf.votes(X)
    )


def test_progress_shows_epochs(small_problem, capsys):
    X, total = small_problem
    clf = RandomizedAblationClassifier(
        keep=1, low=0, high=1, epochs=3, n_select=10, n_certify=10, verbose=1
    )
    clf.fit(X, total > 3)
    assert "partita: trained 3 of 3 epochs" in capsys.readouterr().err
    clf.set_params(verbose=0).predict(X[:2])
    assert capsys.readouterr().err == ""


def test_auto_keeps_a_tenth_of_the_units(small_problem):
    X, total = small_problem
    wide = np.hstack([X, X])
    settings = {"low": 0, "high": 1, "epochs": 1}
    assert RandomizedAblationClassifier(**settings).fit(X, total > 3).keep_ == 1
    assert RandomizedAblationClassifier(**settings).fit(wide, total > 3).keep_ == 2


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"keep": 7}, "keep is 7, but X has 6 columns"),
        ({"keep": 3, "units": [0, 0, 0, 1, 1, 1]}, "keep is 3, but X has 2 units"),
        ({"units": [0, 0]}, "units has 2 ids, but X has 6 columns"),
        ({"keep": 0}, "keep is 0"),
        ({"keep": "all"}, "keep is 'all'"),
        ({"low": None}, "low is missing"),
        ({"high": None}, "high is missing: .* the highest value"),
        ({"high": 0}, "high is not above low in column 0"),
        (
            {"high": [1, 1, 1]},
            r"high must be .* one for each of the 6 columns; its shape is \(3,\)",
        ),
        ({"low": "x"}, "low is 'x'"),
        ({"low": np.nan}, "low must be one finite number"),
        ({"method": "magic"}, "method is 'magic'"),
        ({"alpha": 0}, "alpha is 0"),
        ({"epochs": 0}, "epochs is 0"),
        ({"n_select": 1.5}, "n_select is 1.5"),
        ({"n_certify": 0}, "n_certify is 0"),
        ({"batch_size": True}, "batch_size is True"),
        ({"estimator": LogisticRegression()}, "LogisticRegression has no partial_fit"),
    ],
)
def test_bad_settings_are_named(small_problem, settings, message):
    X, total = small_problem
    clf = RandomizedAblationClassifier(**{"keep": 2, "low": 0, "high": 1, **settings})
    with pytest.raises(InputError, match=message):
        clf.fit(X, total > 3)
    for method in (clf.predict, clf.votes, clf.certify):
        clf.set_params(
            **{
                name: value
                for name, value in RandomizedAblationClassifier().get_params().items()
                if name in settings
            }
        )
        with pytest.raises(NotFittedError):
            method(X)
