"""Every method is run as the full size runs it."""

import pytest

from partita.reproduce._data import load_run_data
from partita.reproduce._measure import machine, measure
from partita.reproduce._runs import Run, Setting
from partita.reproduce._table_settings import rules_beyond


@pytest.mark.long
@pytest.mark.parametrize(
    ("setting", "details"),
    [
        (
            Setting("mnist", "partition", 8, "strided", patches=True),
            {
                "submodel": "network",
                "settings": {
                    "width": 8,
                    "blocks": 1,
                    "epochs": 1,
                    "flip": False,
                    "shift": 0,
                    "verbose": 0,
                },
            },
        ),
        (
            Setting("mnist", "partition", 1, "strided"),
            {
                "submodel": "network",
                "settings": {"network": "network_in_network", "epochs": 1, "verbose": 0},
            },
        ),
        (
            Setting("mnist", "partition", 3, "strided"),
            {
                "submodel": "network",
                "settings": {"network": "network_in_network", "epochs": 1, "verbose": 0},
            },
        ),
        (
            Setting("mnist", "ablation", 16),
            {
                "model": "network",
                "draws": 50,
                "settings": {"network": "network_in_network", "epochs": 1},
            },
        ),
        (
            Setting("mnist", "smoothing", 4),
            {
                "model": "network",
                "draws": 50,
                "settings": {"network": "network_in_network", "epochs": 1},
            },
        ),
    ],
    ids=["sets of pixels", "one network", "few networks", "ablation", "smoothing"],
)
def test_networks_are_run_as_the_full_size_does(setting, details, tmp_path):
    run = Run(setting, {"stand_in": "digits", "train_rows": 60, "test_rows": 10, **details}, 0)
    found = measure(run, load_run_data(run, None), tmp_path / "unfinished")
    assert found["rows"] == {"train": 60, "test": 10}
    assert all(sum(count for _, count in radii) == 10 for radii in found["radii"].values())
    assert (
        set(found["radii"])
        == {
            "partition": {"plurality", "run-off", *rules_beyond("mnist")},
            "ablation": {"LF'20b", "Jia'22b"},
            "smoothing": set(),
        }[setting.method]
    )
    for shares in found.get("patches", {}).values():
        assert 0 <= shares["worst"] <= shares["best"] <= 100


def test_a_result_says_on_how_many_rows_and_where_it_was_found(tmp_path):
    setting = Setting("mnist", "constant")
    run = Run(setting, {"stand_in": "digits", "train_rows": 60, "test_rows": 10}, 0)
    result = measure(run, load_run_data(run, None), tmp_path)
    assert result["rows"] == {"train": 60, "test": 10}
    assert result["machine"] == machine()
    assert "cores" in machine()
    assert sum(count for _, count in result["radii"]["always"]) == 10
