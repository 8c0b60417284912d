"""What a unit can make its submodels say."""

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

from partita import FeaturePartitionClassifier, SoundnessError, SubmodelWarning
from partita.attacks._attacked_table import AttackedTable
from partita.attacks._evasion import (
    _disjoint_groups,
    disjoint_first,
    find_options,
    unless_refused,
)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # overflows
@pytest.mark.parametrize("on_failure", ["raise", "vote"])
def test_a_refused_value_is_no_changed_prediction(small, on_failure):
    """GaussianNB refuses gaps and infinities: an error, or the fixed vote."""
    X, y, X_test, _ = small
    X, X_test = np.nan_to_num(X), np.nan_to_num(X_test)[:20]
    model = FeaturePartitionClassifier(GaussianNB(), n_submodels=5, on_failure=on_failure).fit(X, y)
    options = find_options(model, AttackedTable(X_test), np.random.default_rng(0))
    for unit, own in enumerate(options):
        refused = [option for option in own if option.refused]
        assert [option.family for option in refused] == (
            ["infinities", "infinities", "missing values"] if on_failure == "vote" else []
        )
        assert {option.family for option in own} >= {
            "other rows",
            "ends",
            "large numbers",
            "extremes",
        }
        for option in refused if unit == 0 else ():
            table = AttackedTable(X_test).table(option.changes)
            with pytest.warns(SubmodelWarning):
                ballots = model.ballots(table)
            assert np.array_equal(
                ballots[:, np.asarray(model.partition_.incidence())[unit]], option.ballots
            )


def test_groups_share_no_submodel():
    reach = np.array([[1, 0, 0], [1, 0, 0], [0, 1, 0], [0, 1, 1], [0, 0, 1]], dtype=bool)
    groups = _disjoint_groups(reach)
    assert sorted(unit for group in groups for unit in group) == list(range(5))
    for group in groups:
        assert (reach[group].sum(axis=0) <= 1).all()


def test_disjoint_units_come_first():
    reach = np.array([[1, 0], [1, 0], [0, 1]], dtype=bool)
    assert disjoint_first(np.array([0, 1, 2]), reach, 2) == [0, 2]
    assert disjoint_first(np.array([0, 1, 2]), reach, 3) == [0, 2, 1]


def test_a_refusal_is_none_but_unsoundness_and_lack_of_memory_are_raised():
    def fails(error):
        raise error

    assert unless_refused(fails, ValueError("no")) is None
    for error in (SoundnessError("unsound"), MemoryError()):
        with pytest.raises(type(error)):
            unless_refused(fails, error)
