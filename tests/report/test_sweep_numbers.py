"""What a sweep found."""

from dataclasses import replace

import pytest
from sklearn.datasets import load_breast_cancer

from partita.report import gather, render
from partita.selection import Grid, Trial, choose_file, read_choice
from partita.workflow._training_table import open_training


@pytest.mark.long
def test_a_sweep_recommends_what_beats_a_constant(visit, cancer, tmp_path):
    frame = load_breast_cancer(as_frame=True).frame
    frame.to_csv(tmp_path / "train.csv", index=False)
    grid = Grid(submodels=(1, 3, 5), rules=("plurality",))
    choose_file(
        open_training(tmp_path / "train.csv", "target"),
        grid,
        tmp_path / "sweep",
        Trial(estimator="sklearn.naive_bayes:GaussianNB"),
    )
    swept = read_choice(tmp_path / "sweep")
    certified = cancer[0]
    page = visit(render(gather(certified, title="Cancer", sweep=swept)))
    best = swept.as_dict()["by_radius"]
    assert len(best) > 1
    for line, one in zip(page.locator("#recommended tbody tr").all(), best, strict=True):
        assert f"{100 * one['score']:.1f} %" in line.inner_text()
        assert one["fit"] in line.inner_text()
    names = ["one model on all columns", "3 submodels", "5 submodels", "recommended"]
    assert page.locator("#envelope-legend li").all_inner_texts() == names
    assert page.locator("#envelope .wide .reference-name").all_text_contents() == [
        "constant answer 62.9 %"
    ]
    perfect = replace(swept, constant=swept.constant | {"balanced": 1.0})
    none = gather(certified, title="Cancer", sweep=perfect)
    assert "none beats a constant answer" in visit(render(none)).locator("body").inner_text()
