"""What ``partita choose`` prints without a radius."""

import re
from dataclasses import replace

from partita.cli._choose import show_choice
from partita.selection import Objective
from tests.selection.sweeps import lines


def printed(found, monkeypatch, capsys, width=80):
    monkeypatch.setenv("COLUMNS", str(width))
    capsys.readouterr()
    show_choice(found, "s", ["partita", "fit", "t.csv"])
    return capsys.readouterr().out


def test_the_table_fits_a_terminal_of_80_columns(swept_rare, monkeypatch, capsys):
    one = swept_rare.by_radius[0]
    options = {"submodels": 101, "margin": 0.5, "prior": 0.99, "offset": 0.125}
    one = replace(one, options=options, curve=[one.accuracy] * 13)
    objective = Objective("recall:yes")
    entry = objective.entry(one, 0)
    constant = swept_rare.constant | {"answer": "a label " * 9}
    found = replace(swept_rare, settings=[one], objective=objective, constant=constant)
    text = printed(found, monkeypatch, capsys)
    table = text.split("in %\n")[1].split("Measured on")[0]
    assert max(map(len, table.splitlines())) <= 80
    for number in (
        "101",
        "0.5",
        "0.99",
        "0.125",
        f"{100 * entry['score']:.1f}",
        f"{100 * entry['accuracy']:.1f}",
    ):
        assert re.search(rf"(?<![\d.]){re.escape(number)}(?![\d.])", table), number
    assert table.splitlines()[0].split() == [
        "r",
        "recall",
        "precision",
        "accuracy",
        "mean",
        "recall",
        "options",
        "of",
        "partita",
        "fit",
    ]


def test_what_to_compare_with_stands_in_the_table(swept_rare, monkeypatch, capsys):
    text = printed(swept_rare, monkeypatch, capsys, width=120)
    constant, full = swept_rare.constant, swept_rare.one_model
    assert "Best mean certified recall at each radius r" in text
    assert re.search(
        rf"^  any +50\.0 +0\.0 +{100 * constant['accuracy']:.1f}  always answering 'no'",
        text,
        re.MULTILINE,
    )
    assert re.search(
        rf"^  0 +{100 * full['balanced']:.1f} +{100 * full['lowest']:.1f} "
        rf"+{100 * full['accuracy']:.1f}  one model on all columns: {full['name']}",
        text,
        re.M,
    )
    listed = lines(swept_rare)
    for at in listed:
        assert re.search(
            rf"^  {at['radius']} +{100 * at['balanced']:.1f} +{100 * at['lowest']:.1f} "
            rf"+{100 * at['accuracy']:.1f}  {at['fit']}",
            text,
            re.MULTILINE,
        )
    ends = f"Not listed, from r = {len(listed)} on: always answering 'no' scores as much or more"
    assert f"{ends} (50.0 %)" in text
    assert f"Left out as nearly constant: {swept_rare.nearly_constant} settings" in text
    assert swept_rare.depends in text
    assert "200 held-out rows: 25 % of the rows, drawn at random." in text
