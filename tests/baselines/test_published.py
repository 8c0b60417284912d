"""Published numbers of other defences."""

import csv
from pathlib import Path

import pytest

from partita import InputError
from partita.baselines._comparison import published_numbers


def test_published_numbers_are_the_papers():
    paper = Path(__file__).parents[3] / "shared" / "paper-tables" / "table04_patch.csv"
    if not paper.exists():
        pytest.skip("the paper's tables are not here")
    with paper.open(newline="") as file:
        printed = {row["method"]: row for row in csv.DictReader(file)}
    ours = {one.method: 100 * one.certified for one in published_numbers("cifar10", (5, 5))}
    for method, name in (
        ("De-randomized smoothing", "(De)Random. Smoothing [LF20a]"),
        ("BagCert", "BagCert [MY21]"),
        ("Patch IBP", "Patch IBP [Chi+20b]"),
    ):
        assert ours[method] == pytest.approx(float(printed[name]["square5x5"]))


def test_only_published_settings_have_numbers():
    with pytest.raises(InputError, match="published is 'mnist': there are numbers for 'cifar10'"):
        published_numbers("mnist", (5, 5))
    with pytest.raises(InputError, match=r"patch is \(3, 3\): published numbers are for \(5, 5\)"):
        published_numbers("cifar10", (3, 3))
    names = [one.method for one in published_numbers("cifar10", (2, 12))]
    assert names == ["De-randomized smoothing", "BagCert"]  # Patch IBP has no number for those
