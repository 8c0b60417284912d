"""What ``partita sweep`` prints."""

import re

from partita.cli._sweep_screen import show_sweep


def printed(found, monkeypatch, capsys, width=80):
    monkeypatch.setenv("COLUMNS", str(width))
    capsys.readouterr()
    show_sweep(found, "s", ["partita", "fit", "t.csv"])
    return capsys.readouterr().out


def test_the_table_fits_a_terminal_of_80_columns(swept_rare, monkeypatch, capsys):
    entry = swept_rare["best"][0] | {
        "radius": 12,
        "fit": "--submodels 101 --margin 0.5 --prior 0.99 --offset 0.125",
    }
    found = swept_rare | {
        "best": [entry],
        "score": "recall:yes",
        "constant": swept_rare["constant"] | {"answer": "a label " * 9},
    }
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
    text = printed(swept_rare, monkeypatch, capsys)
    constant, full = swept_rare["constant"], swept_rare["full_model"]
    assert "Best mean certified recall at each radius r" in text
    assert re.search(
        rf"^  any +50\.0 +0\.0 +{100 * constant['accuracy']:.1f}  always answering 'no'",
        text,
        re.MULTILINE,
    )
    assert re.search(
        rf"^  0 +{100 * full['balanced']:.1f} +{100 * full['lowest']:.1f} "
        rf"+{100 * full['accuracy']:.1f}  one model on all columns, no proof",
        text,
        re.M,
    )
    for at in swept_rare["best"]:
        assert re.search(
            rf"^  {at['radius']} +{100 * at['balanced']:.1f} +{100 * at['lowest']:.1f} "
            rf"+{100 * at['accuracy']:.1f}  {at['fit']}",
            text,
            re.MULTILINE,
        )
    listed = len(swept_rare["best"])
    assert (
        f"Not listed, from r = {listed} on: always answering 'no' scores as much or more (50.0 %)"
        in text
    )
    assert f"Left out as nearly constant: {swept_rare['nearly_constant']} settings" in text
    assert swept_rare["tuned"] in text
    assert "200 held-out rows: 25 % of the rows, drawn at random." in text
