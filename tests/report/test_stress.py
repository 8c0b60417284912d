"""The page of a stress test ranks the sources, and tells found from proven."""

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

from partita import FeaturePartitionClassifier, stress
from partita.report import write_stress_report

from .pages import CONTRAST, HOSTILE


@pytest.fixture(scope="module")
def found():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(240, len(HOSTILE))), columns=list(HOSTILE))
    y = np.where(X.sum(axis=1) > 0, HOSTILE[0], "plain")
    tree = DecisionTreeClassifier(max_depth=4, random_state=0)
    vote = FeaturePartitionClassifier(tree, n_submodels=5, n_jobs=1)
    return stress(
        tree.fit(X[:120], y[:120]), X[120:], y[120:], X_train=X[:120], y_train=y[:120], rows=40,
        radius=2, compare={"a vote": vote},
    )  # fmt: skip


def test_the_first_screen_ranks_the_sources(found, tmp_path, visit):
    page = visit(write_stress_report(found, tmp_path / "stress.html").read_text("utf-8"))
    names = page.locator("#sources tbody th").all_inner_texts()
    assert [" ".join(name.split()) for name in names] == [
        " ".join(one["source"].split()) for one in found.sources
    ]
    assert page.locator("#sources tbody th").first.bounding_box()["y"] < 600
    assert page.locator(".big").inner_text() == f"{100 * found.shares[1]:.1f} %"


def test_found_and_proven_are_two_words_and_two_colours(found, tmp_path, visit):
    page = visit(write_stress_report(found, tmp_path / "stress.html").read_text("utf-8"))
    colour = "(name) => getComputedStyle(document.querySelector(name)).color"
    assert page.evaluate(colour, ".big.found") != page.evaluate(colour, "dd.proven")
    for place in (".big.found", "dd.proven"):
        assert page.evaluate(CONTRAST, place) >= 4.5
    assert "a vote, one lying source, proven" in page.locator(".beside").inner_text()
    assert page.locator("#models tbody tr").count() == 2


def test_names_of_columns_cannot_run_code(found, tmp_path, visit):
    page = visit(write_stress_report(found, tmp_path / "stress.html").read_text("utf-8"))
    assert page.evaluate("window.hacked === undefined")
    assert page.locator("script").count() == 0
    assert "{{ 7 * 7 }}" in page.locator("#faults").inner_text()
