"""Tables on the terminal."""

import pytest

from partita.reproduce._screen import show_list, show_table


@pytest.mark.long
def test_a_table_says_how_it_was_run_and_where_it_is(results, capsys):
    tables, out = results
    show_table(tables["4"], out)
    text = capsys.readouterr().out
    assert text.startswith("Table 4: CIFAR10, patches\n")
    assert "scikit-learn's digits stand in for the images" in text
    assert "Not run (printed by the paper, not implemented here)" in text
    assert "All of it: partita reproduce 4 --size full" in text
    assert f"Written to {out / 'smoke' / '4'}.json and .png." in " ".join(text.split())


def test_the_list_names_every_table(capsys):
    show_list()
    text = capsys.readouterr().out
    assert "Table 25: Ames" in text
    assert "figure9" in text
