"""Cells: the paper's number, ours, and why there is none."""

from research.cells import CellSpec, Measurement, as_number, fill_cell
from research.layout import missing_settings
from research.plot import plot_table
from research.runs import Run, Setting
from research.tables import table

from .smoke import smoke_run


def test_the_best_of_fewer_settings_than_the_paper_s_says_so():
    """In the cell, in the text and in the picture."""
    spec = next(
        cell
        for cell in table("figure2").cells
        if cell.series == "CIFAR10, FPA, plurality" and cell.x == 13
    )
    runs = {one.setting: smoke_run(one.setting) for one in spec.measurements}
    counts = [setting.count for setting in runs]
    done = {"radii": {"plurality": [[-1, 1], [20, 3]]}}
    # stand-ins have too few columns for these settings
    runs = {setting: Run(setting, run.details, 0) for setting, run in runs.items()}
    results = {
        run.name: done if setting.count in counts[1:3] else "no GPU"
        for setting, run in runs.items()
    }
    cell = fill_cell(spec, lambda setting: [runs[setting]], results)
    rest = ", ".join(str(count) for count in (counts[0], *counts[3:]))
    assert (cell["ours"], cell["without"]) == (75.0, f"T = {rest}")
    assert missing_settings([cell]) == [f"CIFAR10, FPA, plurality: without T = {rest}"]
    whole = fill_cell(spec, lambda setting: [runs[setting]], dict.fromkeys(results, done))
    assert "without" not in whole
    assert missing_settings([whole]) == []
    assert plot_table("title", [cell]) != plot_table("title", [whole])


def test_two_numbers_become_a_gain_or_a_ratio():
    run = smoke_run(Setting("ames", "partition", 5))
    results = {run.name: {"radii": {"median": [[-1, 1], [0, 1], [2, 2]]}, "fit_seconds": 4.0}}
    measurements = (
        Measurement(run.setting, "certified", "median", 0),
        Measurement(run.setting, "certified", "median", 1),
    )

    def ours(combine, paper=20.0):
        spec = CellSpec("q", "r", "s", 1, paper, measurements, combine)
        return fill_cell(spec, lambda _: [run], results)

    assert (ours("gain")["ours"], ours("gain")["difference"]) == (25.0, 5.0)
    assert ours("ratio")["ours"] == 1.5
    assert ours("best", float("-inf"))["paper"] == "-inf"
    assert ours("best", float("-inf"))["difference"] is None
    assert as_number("-inf") == float("-inf")
