"""Tables as users have them: what a cell is does not depend on the cells beside it."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.naive_bayes import GaussianNB

from partita import FeaturePartitionClassifier, InputError

CANCER, TUMOUR = load_breast_cancer(return_X_y=True)


def test_a_row_of_texts_does_not_change_the_others():
    """Kinds are settled at fit, and cells are converted one by one: one hostile row is missing
    values, and that row's affair."""
    clf = FeaturePartitionClassifier(n_submodels=7).fit(CANCER[::2].tolist(), TUMOUR[::2])
    rows = [[f"{cell!r}" for cell in row] for row in CANCER[1::2].tolist()]
    before = clf.certify(rows)
    assert np.array_equal(before.radius, clf.certify(CANCER[1::2]).radius)
    with_more = clf.certify([*rows, ["n/a"] * 30])
    assert np.array_equal(with_more.prediction[:-1], before.prediction)
    assert np.array_equal(with_more.radius[:-1], before.radius)
    assert np.array_equal(
        clf.ballots([*rows, ["n/a"] * 30])[-1:], clf.ballots(np.full((1, 30), np.nan))
    )


def test_a_text_in_one_column_of_the_training_rows_moves_its_submodel_alone():
    rows = CANCER.tolist()
    clf = FeaturePartitionClassifier(n_submodels=7)
    before = clf.fit(rows, TUMOUR).ballots(CANCER)
    hostile = [list(row) for row in rows]
    column = clf.partition_[2][0]
    hostile[5][column] = "n/a"
    after = clone(clf).fit(hostile, TUMOUR).ballots(CANCER.tolist())
    assert np.flatnonzero((after != before).any(axis=(0, 2))).tolist() == [2]


def test_codes_with_leading_zeros_are_texts():
    rows = [[f"{k % 7:05d}", k % 3, f"{k / 10}"] for k in range(90)]
    clf = FeaturePartitionClassifier(n_submodels=3).fit(rows, [k % 3 for k in range(90)])
    assert clf.numeric_ == [False, True, True]


FRAME = pd.DataFrame(CANCER).drop(columns=[0, 3, 7])  # 27 columns, labelled 1, 2, 4, 5, 6, 8, ...


def test_a_whole_number_names_a_column_by_its_label():
    clf = FeaturePartitionClassifier(
        GaussianNB(), n_submodels=5, trusted=[22], units={"pair": [28, 29]}
    ).fit(FRAME, TUMOUR)
    assert clf.counts_.trusted == ("22",)
    assert clf.units_.trusted == (FRAME.columns.get_loc(22),)
    pair = clf.units_.columns[clf.units_.names.index("pair")]
    assert [FRAME.columns[position] for position in pair] == [28, 29]
    for wrong in ({"trusted": [3]}, {"units": {"a": [0]}}, {"partition": [[0, 1], [2]]}):
        with pytest.raises(InputError, match="which the table does not have"):
            FeaturePartitionClassifier(GaussianNB(), **wrong).fit(FRAME, TUMOUR)


def test_trusting_a_label_survives_an_attack_on_what_is_not_trusted():
    """The guarantee: whatever happens to one column that is not named in trusted, certified
    predictions stay."""
    clf = FeaturePartitionClassifier(n_submodels=9, trusted=[22])
    before = clf.fit(FRAME[::2], TUMOUR[::2]).certify(FRAME[1::2])
    safe = before.radius >= 1
    assert safe.sum() > 100
    for column in (23, 24, 26):  # 26 is what position 22 holds
        train, test = FRAME[::2].copy(), FRAME[1::2].copy()
        train[column], test[column] = TUMOUR[::2].astype(float), 1.0 - TUMOUR[1::2]
        after = clone(clf).fit(train, TUMOUR[::2]).certify(test)
        assert np.array_equal(after.prediction[safe], before.prediction[safe])


def test_labels_in_another_order_are_refused():
    clf = FeaturePartitionClassifier(GaussianNB(), n_submodels=5).fit(FRAME, TUMOUR)
    with pytest.raises(InputError, match="other column labels than in fit, or in another order"):
        clf.predict(FRAME[FRAME.columns[::-1]])
    assert np.array_equal(clf.predict(FRAME.to_numpy()), clf.predict(FRAME))


@pytest.mark.parametrize("separator", ["_", "="])
def test_one_hot_columns_stay_with_their_raw_column(separator):
    from partita import families

    names = [
        f"job{separator}blue_collar",
        f"job{separator}retired",
        f"job{separator}self{separator}employed",
        "age",
    ]
    assert [families(separator)(name) for name in names] == ["job", "job", "job", "age"]


def test_raw_names_decide_where_they_are_given():
    from partita import families

    unit = families(names=["capital_gain", "marital_status", "job"])
    columns = [
        "capital_gain",
        "marital_status_single",
        "job_blue_collar",
        "capital_loss",
        "jobless",
    ]
    assert [unit(column) for column in columns] == [
        "capital_gain",
        "marital_status",
        "job",
        "capital_loss",
        "jobless",
    ]
    with pytest.raises(InputError, match="names has 'job' and 'job_type'"):
        families(names=["job", "job_type"])


def test_one_hot_units_survive_a_refit_on_a_corrupted_raw_column():
    """Whoever owns the raw column owns all its one-hot columns: with one of them elsewhere,
    certified rows fell."""
    from partita import families

    rng = np.random.default_rng(0)
    job = rng.choice(["blue_collar", "retired", "self_employed", "services"], size=800)
    y = np.isin(job, ["retired", "blue_collar"]).astype(int)
    y = np.where(rng.random(800) < 0.15, 1 - y, y)
    others = pd.DataFrame({f"c{k}": y + rng.normal(scale=1.6, size=800) for k in range(8)})

    def table(raw):
        return pd.concat(
            [
                pd.get_dummies(pd.Series(raw, name="job"), prefix="job")
                .reindex(columns=columns, fill_value=0)
                .astype(float),
                others,
            ],
            axis=1,
        )

    columns = [f"job_{name}" for name in np.unique(job)]
    clf = FeaturePartitionClassifier(GaussianNB(), units=families(), n_submodels=7)
    honest = table(job)
    before = clf.fit(honest[:500], y[:500]).certify(honest[500:])
    assert "job" in clf.units_.names
    assert len(clf.units_) == 9
    lie = np.where(y == 1, "services", "blue_collar")
    attacked = table(
        np.where(np.arange(800) < 500, lie, np.where(y == 1, "blue_collar", "services"))
    )
    after = clone(clf).fit(attacked[:500], y[:500]).certify(attacked[500:])
    safe = before.radius >= 1
    assert safe.sum() > 50
    assert np.array_equal(after.prediction[safe], before.prediction[safe])
