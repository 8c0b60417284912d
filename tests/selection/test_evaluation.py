"""Shares are means over the splits of a trusted sample; a curve is 0 beyond its end."""

from partita.selection._evaluation import mean, mean_evaluation

from .sweeps import setting


def test_means_over_splits():
    assert mean([0.5, 1.0]) == 0.75
    assert mean([0.5, None]) is None


def test_one_setting_over_several_splits():
    share = {"label": "no", "share": 0.5}
    same = [
        setting(3, [1.0, 0.5], [0.5], recall={"a": [1.0]}, precision={"a": [0.0]}, predicted=share)
        for _ in range(2)
    ]
    same.append(
        setting(
            *(3, [0.25], [0.5, 0.5]),
            recall={"a": [0.25, 0.25]},
            precision={"a": [0.75]},
            predicted={"label": "yes", "share": 0.8},
            nearly_constant=True,
            warnings=["one failed"],
        )
    )
    found = mean_evaluation(same)
    assert found.curve == [0.75, 1 / 3]
    assert found.balanced_curve == [0.5, 1 / 6]
    assert (found.recall, found.precision) == ({"a": [0.75, 0.25 / 3]}, {"a": [0.25]})
    assert found.predicted["share"] == (0.5 + 0.5 + 0.8) / 3
    assert not found.nearly_constant  # at least half of the splits must say so
    assert mean_evaluation(same[1:]).nearly_constant
    assert found.warnings == ["one failed"]
