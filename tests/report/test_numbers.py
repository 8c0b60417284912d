"""Every number is about one statement, as found by trying every attack."""

import itertools

import numpy as np
import pytest

from partita.report import gather, render
from partita.workflow import CertifiedTable


@pytest.mark.parametrize("width", [{"relative": 0.4}, {"tolerance": 40.0}])
def test_with_the_truth_every_number_of_values_is_about_the_truth(diabetes, width):
    """Radii, sources and the collective table: as found by trying every choice, up and down."""
    reg, X, truth = diabetes
    certified = CertifiedTable.of(reg, X, **width, truth=truth)
    facts = gather(certified, title="Diabetes")
    proof, reach = reg.certify(X, around=truth, **width), np.asarray(reg.partition_.incidence())
    assert np.array_equal(certified.against_truth.proof.radius, proof.radius)
    allowed = width.get("tolerance", width.get("relative", 0) * np.abs(truth))
    right = np.abs(reg.predict(X) - truth) <= allowed
    assert 0 < facts["right_now"] == right.sum() < len(truth)
    for row in facts["rows"]:
        assert row["radius"] == (proof.radius[row["row"]] if right[row["row"]] else None)

    votes = reg.ballots(X)

    def broken_by(units):
        fallen = np.zeros(len(truth), bool)
        for pushed in (-1e300, 1e300):
            attacked = np.where(reach[list(units)].any(axis=0), pushed, votes)
            fallen |= np.abs(reg.rule_.decide(attacked) - truth) > allowed
        return fallen & right

    alone = {name: broken_by([unit]) for unit, name in enumerate(reg.units_.names)}
    assert {unit["name"]: unit["critical"] for unit in facts["units"]} == {
        name: fallen.sum() for name, fallen in alone.items()
    }
    for row in facts["rows"]:
        assert row["critical_units"] == [
            name for name, fallen in alone.items() if fallen[row["row"]]
        ]
    for one in facts["collective"][:2]:
        assert one["changed"] == max(
            broken_by(units).sum()
            for units in itertools.combinations(range(len(reach)), one["radius"])
        )
        assert one["pointwise"] == np.sum(right & (proof.radius < one["radius"]))
    near = (np.abs(votes - truth[:, None]) <= np.broadcast_to(allowed, truth.shape)[:, None]).mean(
        axis=0
    )
    for unit in facts["units"]:
        assert unit["agreement"] == pytest.approx(near[unit["submodels"]].mean())


def test_a_column_of_huge_values_breaks_no_more_right_predictions_than_the_table_says(diabetes):
    reg, X, truth = diabetes
    facts = gather(CertifiedTable.of(reg, X, relative=0.4, truth=truth), title="Diabetes")
    right = np.abs(reg.predict(X) - truth) <= 0.4 * truth
    for column in X:
        pushed = reg.predict(X.assign(**{column: 1e6}))
        broken = right & (np.abs(pushed - truth) > 0.4 * truth)
        assert broken.sum() <= facts["collective"][0]["changed"]
        assert broken.sum() <= next(
            unit["critical"] for unit in facts["units"] if unit["name"] == column
        )


def test_without_the_truth_every_number_of_values_is_about_the_prediction(diabetes):
    reg, X, _ = diabetes
    facts, proof = (
        gather(CertifiedTable.of(reg, X, tolerance=40), title="Diabetes"),
        reg.certify(X, tolerance=40),
    )
    assert [row["radius"] for row in facts["rows"]] == np.sort(proof.radius).tolist()
    assert facts["collective"][0]["pointwise"] == np.sum(proof.radius < 1)
    assert facts["right_now"] is None


def test_where_no_value_is_right_nothing_is_certified(visit, diabetes):
    reg, X, truth = diabetes
    facts = gather(CertifiedTable.of(reg, X, tolerance=1.0, truth=truth + 1000), title="Diabetes")
    assert facts["right_now"] == 0
    assert facts["curves"][0]["share"] == [0.0, 0.0]
    assert [one["changed"] for one in facts["collective"]] == [0] * 5
    assert visit(render(facts)).locator("#share").inner_text() == "0.0 %"
