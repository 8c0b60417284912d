"""The paper's settings by data set."""

from partita.reproduce._paper import paper_table
from partita.reproduce._table_settings import (
    CERTIFIED,
    DETAILED,
    OVERLAPS,
    fpa,
    ra,
    rule_of,
    rules_beyond,
)


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
