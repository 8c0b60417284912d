"""Tables 26 to 29 and the figures."""

from partita.reproduce._curves import FIGURES, best_count
from partita.reproduce._runs import Setting
from partita.reproduce._table_settings import CERTIFIED
from partita.reproduce._tables import table


def test_a_number_of_the_paper_stands_beside_its_own_setting():
    of = {(cell.quantity, cell.series, cell.x): cell for cell in table("29").cells}
    cell = of["certified accuracy in %", "FPA, median, T = 21", 3]
    assert cell.paper == 50.17
    assert cell.measurements[0].setting == Setting("ames", "partition", 21, "random")
    assert (cell.measurements[0].what, cell.measurements[0].rule, cell.measurements[0].at) == (
        "certified",
        "median",
        3,
    )
    assert of["certified accuracy in %", "RA (Jia'22b), e = 15", 5].paper == 35.49
    assert (
        of["certified accuracy in %", "T = 21, median, stretch 1.3", 2].paper == 54.95
    )  # the paper's best, beside what goes beyond


def test_the_best_count_is_where_the_paper_s_number_is_highest():
    assert best_count(CERTIFIED["cifar10"], "ra", "(Jia'22b)", "r26") == 7


def test_every_figure_has_curves():
    for _, cells in FIGURES.values():
        assert {cell.over for cell in cells()} == {"r"}
