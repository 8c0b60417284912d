"""The list of tables."""

from collections import Counter

import pytest

from partita import InputError
from research.paper import paper_table, parse_number
from research.runs import Setting
from research.tables import (
    CERTIFIED,
    DETAILED,
    FIGURES,
    OVERLAPS,
    TITLES,
    best_count,
    best_settings,
    fpa,
    names_of,
    ra,
    rule_of,
    rules_beyond,
    table,
)


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


def test_images_are_strided_and_tables_random():
    assert fpa("mnist", 25).partition == "strided"
    assert fpa("ames", 25).partition == "random"
    assert fpa("mnist", 25, partition="random", spread=4).partition == "random"
    assert ra("ames", 15).method == "ablation"


def test_values_have_one_rule_of_the_paper():
    assert (rule_of("mnist"), rule_of("mnist", "run-off"), rule_of("ames")) == (
        "plurality",
        "run-off",
        "median",
    )
    assert "tournament" in rules_beyond("cifar10")
    assert "median" not in rules_beyond("ames")


def test_every_table_is_there():
    for name in (*CERTIFIED.values(), *(f"{name}a" for name in DETAILED.values())):
        assert paper_table(name)
    for number in OVERLAPS:
        assert "radius" in paper_table(f"table{number:02d}")[0]


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


@pytest.mark.parametrize(
    ("name", "sources"),
    [
        ("25", ("table25a", "table25b")),
        ("22", ("table22a", "table22b")),
        ("27", ("table27",)),
        ("12", ("table12",)),
        ("21", ("table21",)),
    ],
)
def test_every_number_of_a_table_has_one_cell(name, sources):
    keys = {"T", "e", "T_or_e", "radius", "method", "certificate", "dataset"}
    texts = [
        text
        for source in sources
        for line in paper_table(source)
        for column, text in line.items()
        if column not in keys
    ]
    assert Counter(map(parse_number, texts)) == Counter(
        cell.paper for cell in table(name).cells if not cell.beyond
    )


def test_the_first_tables_use_the_paper_s_best_settings():
    assert best_settings("cifar10")["run-off"].count == 115
    assert best_settings("mnist")["Jia'22b"] == Setting("mnist", "ablation", 25)
    assert [
        cell.measurements[0].setting.count
        for cell in table("2").cells
        if cell.paper == 84.6 and not cell.beyond
    ] == [5]  # Ames at RA's median
