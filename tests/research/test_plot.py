"""Tables as pictures."""

from research.plot import _panels, _panels_across, plot_table


def cells(n_series, over="r", x=(0, 1)):
    return [
        {
            "quantity": "certified accuracy in %",
            "over": over,
            "series": f"data {k}, rule",
            "x": place,
            "paper": 1.0 + k,
            "ours": 2.0,
            "beyond": False,
        }
        for k in range(n_series)
        for place in x
    ]


def test_a_picture_of_nothing_is_a_picture_too():
    assert plot_table("title", []).startswith(b"\x89PNG")


def test_curves_have_a_panel_for_each_data_set_and_tables_one_for_each_quantity():
    assert list(_panels(cells(3))) == ["data 0", "data 1", "data 2"]
    assert list(_panels(cells(3, "T"))) == ["certified accuracy in % over T"]
    assert [_panels_across(n) for n in (0, 1, 2, 3, 4, 5, 12)] == [1, 1, 2, 3, 2, 3, 3]
    assert plot_table("dots", cells(2, "data", ("MNIST", "Ames"))).startswith(b"\x89PNG")
