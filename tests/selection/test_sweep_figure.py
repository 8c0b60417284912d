"""The picture of a sweep shows the constant and one model on all columns."""

from partita.selection._sweep_figure import sweep_figure


def test_the_picture_shows_the_constant_and_one_model(swept_rare):
    figure = sweep_figure(swept_rare)
    (ax,) = figure.axes
    lines = {line.get_label().split("\n")[0]: line for line in ax.get_lines()}
    assert set(lines) == {
        "3 submodels",
        "15 submodels",
        "one model on all columns",
        "always answering 'no'",
    }
    assert set(lines["always answering 'no'"].get_ydata()) == {0.5}
    assert lines["one model on all columns"].get_ydata().tolist() == [
        swept_rare["full_model"]["score"]
    ]
    assert ax.get_ylabel() == "mean certified recall"
    by_name = sweep_figure(swept_rare | {"target": "$a_{", "score": "recall:yes"})  # no mathematics
    by_name.canvas.draw()
    assert "certified recall of 'yes'" in by_name.axes[0].get_ylabel()
