"""What people see on standard output."""

import pytest

from partita._support import print_line, print_table, print_warning, radii_that_fit


def test_names_from_a_table_are_no_markup(capsys):
    print_line("[red]column[/red] x[1]")
    print_warning("[bold]w[0]")
    print_table("[i]title", ["[a]", "[b]"], [["[c]", "[d]"]])
    out, err = capsys.readouterr()
    assert err == ""
    for text in ("[red]column[/red] x[1]", "[bold]w[0]", "[i]title", "[a]", "[b]", "[c]", "[d]"):
        assert text in out


def test_a_long_line_is_not_broken(capsys):
    print_line("word " * 100)
    assert capsys.readouterr().out.rstrip() == ("word " * 100).rstrip()


def test_numbers_are_aligned_right_and_text_left(capsys):
    print_table("T", ["name", "n", "note"], [["a", 1, "x"], ["bb", 22, "yy"]], first_text=2)
    assert [line.rstrip() for line in capsys.readouterr().out.splitlines()] == [
        "T",
        "  name   n  note",
        "  a      1  x",
        "  bb    22  yy",
    ]


@pytest.mark.parametrize("width", [30, 80, 200])
@pytest.mark.parametrize("n_radii", [1, 5, 40])
def test_radii_begin_with_the_first_end_with_the_last_and_fit(width, n_radii, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(width))
    radii = radii_that_fit(n_radii, label_width=10)
    assert radii == sorted(set(radii))
    assert (radii[0], radii[-1]) == (0, n_radii - 1)
    assert len(radii) <= max(3, (width - 14) // 7)
    assert radii[: min(2, n_radii)] == list(range(min(2, n_radii)))
