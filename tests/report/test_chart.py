"""Curves as coordinates."""

import re

import pytest

from partita.report._page import chart, charts, references_of


@pytest.mark.parametrize(
    ("constant", "full_model"), [(0.5, 0.51), (0.95, 0.96), (0.01, 0.02), (0.0, 1.0), (0.6, 0.6)]
)
@pytest.mark.parametrize("width", [360, 600])
def test_names_of_reference_lines_do_not_meet(constant, full_model, width):
    shares = sorted([constant, full_model], reverse=True)
    drawn = chart(
        [{"share": [0.7, 0.5, 0]}],
        "columns",
        width,
        references=[{"share": share, "name": "x"} for share in shares],
    )
    first, second = drawn["references"]
    assert abs(first["text_y"] - second["text_y"]) >= 12 or first["anchor"] != second["anchor"]
    assert all(10 < one["text_y"] < drawn["height"] for one in (first, second))


def test_a_curve_is_steps_from_one_share_to_the_next():
    drawn = chart([{"share": [1.0, 0.5, 0.0]}], "columns", 600, marked=True)
    left, end, top, bottom = (drawn[name] for name in ("left", "end", "top", "bottom"))
    middle, half = (left + end) / 2, (top + bottom) / 2
    path = drawn["lines"][0]["path"]
    assert [float(number) for number in re.findall(r"[\d.]+", path)] == pytest.approx(
        [left, top, middle, half, end, bottom], abs=0.1
    )
    assert [mark["x"] for mark in drawn["marks"]] == pytest.approx([left, middle, end], abs=0.1)
    assert [mark["y"] for mark in drawn["marks"]] == pytest.approx([top, half, bottom], abs=0.1)
    assert drawn["axis"] == "radius: columns an attacker owns"


def test_the_first_curve_is_drawn_last_so_that_it_is_on_top():
    drawn = chart([{"share": [1.0, 0.0]}, {"share": [0.5, 0.0]}], "columns", 360, marked=True)
    assert [line["main"] for line in drawn["lines"]] == [False, True]
    assert [line["colour"] for line in drawn["lines"]] == [1, 0]


def test_there_is_a_drawing_for_wide_and_for_narrow_windows():
    drawings = charts([{"share": [1.0, 0.0]}], "columns")
    assert [(one["name"], one["width"]) for one in drawings] == [("wide", 600), ("narrow", 360)]


def test_references_are_the_constant_and_one_model_the_largest_first():
    constant = {"answer": 1, "share": 0.4}
    assert references_of({"constant": None, "full_model": None}) == []
    found = references_of({"constant": constant, "full_model": 0.9})
    assert [(one["share"], one["name"]) for one in found] == [
        (0.9, "one model on all columns"),
        (0.4, "constant answer"),
    ]
