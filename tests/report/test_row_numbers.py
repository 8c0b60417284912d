"""The table of rows: the smallest radius first, intervals rounded outward."""

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_digits
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import GaussianNB

from partita import FeaturePartitionClassifier, FeaturePartitionRegressor
from partita.metrics import certified_accuracy
from partita.report import gather, render
from partita.report._numbers import outward
from partita.workflow import CertifiedTable

from .pages import cells


def test_every_radius_and_runner_up_is_the_models(cancer):
    certified, truth, facts = cancer
    assert len(facts["rows"]) == len(truth)
    for row in facts["rows"]:
        i = row["row"]
        assert (row["prediction"], row["radius"], row["runner_up"]) == (
            certified.prediction[i],
            certified.proof.radius[i],
            certified.proof.runner_up[i],
        )
        assert (len(row["critical_units"]) > 0) == (row["radius"] == 0)
    for radius, share in enumerate(facts["curves"][0]["share"]):
        assert share == certified_accuracy(truth, certified.proof, radius)
    critical = [unit["critical"] for unit in facts["units"]]
    assert critical == sorted(critical, reverse=True)
    assert {unit["name"] for unit in facts["units"]} == set(certified.model.units_.names)


def test_rows_beyond_the_limit_are_those_with_the_largest_radius():
    X, y = load_digits(return_X_y=True)
    clf = FeaturePartitionClassifier(GaussianNB(), n_submodels=7).fit(X[:600], y[:600])
    facts = gather(CertifiedTable.of(clf, X[600:900]), title="Digits", most_rows=50)
    kept = [row["radius"] for row in facts["rows"]]
    assert kept == np.sort(clf.certify(X[600:900]).radius)[:50].tolist()
    assert facts["n_rows"] == 300
    assert "The 50 rows with the smallest radius, of 300" in render(facts)


@pytest.mark.parametrize(
    "end", [0.0, 1.23456789, -1.23456789, 123456.5, -0.0012345678, 1e300, 999999.9]
)
def test_an_interval_is_rounded_outward(end):
    assert outward(end, -1, 6) <= end <= outward(end, 1, 6)


def test_values_with_a_tolerance_show_their_intervals(visit):
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    reg = FeaturePartitionRegressor(Ridge(), n_submodels=5).fit(X[::2], y[::2])
    truth = y[1::2].to_numpy()
    certified = CertifiedTable.of(reg, X[1::2], tolerance=60, truth=truth)
    page = visit(render(gather(certified, title="Diabetes")))
    proof = reg.certify(X[1::2], around=truth, tolerance=60)
    assert (
        page.locator("#share").inner_text() == f"{100 * certified_accuracy(truth, proof, 1):.1f} %"
    )
    low, high = reg.interval(X[1::2], 1)
    shown = {
        int(row): list(map(float, cell.split(" … ")))
        for row, cell in zip(cells(page, "row"), cells(page, "interval"), strict=True)
    }
    for row, (left, right) in shown.items():
        lowest, highest = low[row], high[row]
        assert left <= lowest
        assert highest <= right
        assert right - left <= (highest - lowest) * 1.001 + 0.01


def test_values_without_a_tolerance_show_widths(visit):
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    reg = FeaturePartitionRegressor(Ridge(), n_submodels=5).fit(X[::2], y[::2])
    page = visit(render(gather(CertifiedTable.of(reg, X[1::2]), title="Diabetes")))
    low, high = reg.interval(X[1::2], 1)
    assert float(page.locator("#share").inner_text()) == pytest.approx(
        np.median(high - low), rel=1e-4
    )
    page.locator("#radius").focus()
    page.keyboard.press("ArrowRight")
    assert "interval at r = 2" in page.locator("#rows thead").inner_text()
