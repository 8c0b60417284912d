"""Every number of the paper stands in its table once, beside the runs that it is about."""

from collections import Counter

import pytest

from partita.reproduce._paper import paper_table, parse_number
from partita.reproduce._paper_tables import best_settings
from partita.reproduce._runs import Setting
from partita.reproduce._tables import table


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
