"""The list of tables."""

import pytest

from partita import InputError
from partita.reproduce._tables import TITLES, names_of, table


def test_names_are_recognised_as_people_write_them():
    assert names_of(["Table 25", "FIGURE3"]) == ["25", "figure3"]
    assert names_of(["all"]) == list(TITLES)
    assert table("Table 25").title == TITLES["25"]


def test_an_unknown_table_is_refused():
    with pytest.raises(InputError, match="table is '6': give one of 1, 2, 3"):
        table("6")
    with pytest.raises(InputError, match="no table is given"):
        names_of([])


@pytest.mark.parametrize("name", TITLES)
def test_every_table_has_cells_with_one_place_each(name):
    cells = table(name).cells
    places = {(cell.quantity, cell.series, cell.x, cell.beyond) for cell in cells}
    assert len(places) == len(cells) > 0
