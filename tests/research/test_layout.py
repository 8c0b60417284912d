"""Cells as lines and columns."""

import pytest

from research.layout import Block, blocks, cell_text, not_run


@pytest.mark.long
def test_what_is_not_implemented_is_listed_as_printed_only(results):
    missing = dict(not_run(results[0]["4"]["cells"]))
    assert "BagCert" in missing["printed by the paper, not implemented here"]
    assert "FPA" not in missing["printed by the paper, not implemented here"]


def test_a_block_is_cut_into_parts_that_fit():
    block = Block(
        "title",
        [f"x = {k}" for k in range(9)],
        [["series", *("1.0 / 2.0 (+1.0)" for _ in range(9))]],
    )
    parts = list(block.split(60))
    assert [column for part in parts for column in part.columns] == block.columns
    assert len(parts) > 1
    assert all(len(part.columns) + 1 == len(row) for part in parts for row in part.rows)
    assert list(block.split(1000)) == [block]
    sparse = Block(
        "title",
        ["x = 0", "x = 1"],
        [["early", "1.0 / 2.0 (+1.0)", ""], ["late", "", "1.0 / 2.0 (+1.0)"]],
    )
    assert [[row[0] for row in part.rows] for part in sparse.split(30)] == [
        ["early"],
        ["late"],
    ]  # no lines of nothing


@pytest.mark.long
def test_numbers_are_shown_side_by_side(results):
    (block,) = [block for block in blocks(results[0]["13"]["cells"]) if "beyond" not in block.title]
    assert block.columns == ["r = 1", "r = 3", "r = 6", "r = 9", "r = 12"]
    assert [row[0] for row in block.rows] == ["random", "spread 3"]
    assert block.rows[0][1].startswith("61.9 / ")


def test_series_that_miss_the_same_settings_are_named_together():
    cells = [
        {
            "quantity": "q",
            "over": "T",
            "series": series,
            "x": x,
            "paper": 1.0,
            "beyond": False,
            "not_run": "no",
        }
        for series in "ab"
        for x in (5, 10)
    ]
    assert not_run([*cells, {**cells[0], "series": "c", "beyond": True}]) == [
        ("no", "a; b at T = 5, 10")
    ]
    assert not_run([{**cells[0], "over": "r"}]) == [("no", "a")]
    assert not_run([{**cells[0], "over": "data", "x": "MNIST"}]) == [("no", "a (MNIST)")]


def test_digits_follow_the_quantity():
    cell = {"paper": 0.123, "ours": 0.456, "difference": 0.333}
    assert cell_text(None) == ""
    assert cell_text({"quantity": "accuracy in %", **cell}) == "0.1 / 0.5 (+0.3)"
    assert cell_text({"quantity": "seconds to train", **cell}) == "0.12 / 0.46 (+0.33)"
    assert cell_text({"quantity": "median r", "paper": "-inf", "ours": 2, "difference": None}) == (
        "-inf / 2"
    )
    assert cell_text({"quantity": "q", **cell, "deviation": 1.25}) == "0.1 / 0.5 ± 1.2 (+0.3)"
