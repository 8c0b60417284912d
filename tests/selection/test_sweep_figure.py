"""The picture of a sweep shows the constant and one model on all columns."""

from dataclasses import replace

from partita.selection import Objective


def test_the_picture_shows_the_constant_and_one_model(swept_rare):
    ax = swept_rare.plot()
    drawn = {line.get_label().split("\n")[0]: line for line in ax.get_lines()}
    assert set(drawn) == {
        "3 submodels",
        "15 submodels",
        "one model on all columns",
        "always answering 'no'",
    }
    assert set(drawn["always answering 'no'"].get_ydata()) == {0.5}
    assert drawn["one model on all columns"].get_ydata().tolist() == [swept_rare.one_model["score"]]
    assert ax.get_ylabel() == "mean certified recall"
    about = swept_rare.about | {"target": "$a_{"}  # no mathematics
    ax = replace(swept_rare, objective=Objective("recall:yes"), about=about).plot()
    ax.figure.canvas.draw()
    assert "certified recall of 'yes'" in ax.get_ylabel()
