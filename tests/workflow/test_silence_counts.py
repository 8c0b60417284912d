"""What was silent, added up over the pieces of a table."""

from collections import Counter

from sklearn.datasets import load_diabetes, load_wine
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import GaussianNB

from partita import FeaturePartitionRegressor, LeaveOutClassifier
from partita.workflow import CertifiedTable
from partita.workflow._certified_table import SilenceCounts


def test_pieces_add_up():
    first = SilenceCounts(1, Counter({"A": 1}), 1, Counter({3: 1}), Counter({4: 1}))
    second = SilenceCounts(1, Counter({"A": 1, "B": 1}), 2, Counter({1: 1}), Counter({4: 1}))
    both = first + second
    assert both.sentence(3) == (
        "Silent in 2 of 3 rows: A (2), B (1). Up to 2 submodels abstain; the median radius there "
        "is 2, at best 4 without the silence."
    )
    assert both.to_dict() == {
        "rows": 2,
        "units": {"A": 2, "B": 1},
        "median_radius": 2.0,
        "median_radius_at_best_without": 4.0,
    }


def test_a_long_list_and_no_silence():
    many = SilenceCounts(1, Counter({f"station {k}": 1 for k in range(7)}), 1)
    assert many.sentence(1).endswith("2 more. Up to 1 submodel abstains.")
    assert SilenceCounts().sentence(2) == "No source is silent in any row."
    assert SilenceCounts().to_dict() == {"rows": 0, "units": {}}


def test_rows_are_counted_with_and_without_a_tolerance():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    reg = FeaturePartitionRegressor(Ridge(), n_submodels=5).fit(X, y)
    plain, stated = (
        SilenceCounts.of(CertifiedTable.of(reg, X, tolerance, silent=["bmi"]))
        for tolerance in (None, 30.0)
    )
    assert plain.rows == stated.rows == len(X)
    assert plain.units == stated.units == {"bmi": len(X)}
    assert plain.abstained == 1
    assert not plain.radii
    assert stated.radii.total() == stated.without.total() == len(X)
    assert SilenceCounts.of(CertifiedTable.of(reg, X)) is None


def test_a_leave_out_ensemble_without_a_proof_left_says_what_to_do():
    X, y = load_wine(return_X_y=True, as_frame=True)
    for radius in (1, 2):
        model = LeaveOutClassifier(GaussianNB(), radius=radius, n_groups=6).fit(X, y)
        certified = CertifiedTable.of(model, X, silent=["ash"])
        sentence = SilenceCounts.of(certified).sentence(len(X))
        nothing = certified.proof.radius.max() == 0
        assert nothing == ("has no proof left there: fit it with a larger --radius" in sentence)
        assert nothing == (radius == 1)
