"""What is tried: usual numbers of submodels, and every rule with its settings."""

import pytest

from partita import (
    InputError,
)
from partita.selection._sweep_grid import Grid


def test_the_usual_settings():
    assert Grid().sizes(100) == [1, 3, 5, 11, 21, 31, 51]
    assert Grid().sizes(30) == [1, 3, 5, 11, 21, 29]
    assert Grid().sizes(4) == [1, 3]
    assert Grid().sizes(1) == [1]
    with pytest.raises(InputError, match="between 1 and 4"):
        Grid(submodels=(5,)).sizes(4)
    options = Grid().label_rules()
    assert options[:2] == [{"rule": "plurality"}, {"rule": "runoff"}]
    assert {(one["margin"], one["prior"]) for one in options[2:]} == {
        (m, p) for m in (0, 0.5, 2) for p in (0, 0.5, 0.9, 0.99, 1)
    }
    assert not any("offset" in one for one in options)
    heads = Grid.parse(None, "tournament", "0.5", "1", None, "0,0.5,1").label_rules()
    assert [one.get("offset") for one in heads] == [None, 0.5, 1.0]
    heads = Grid.parse(None, "tournament", "0.5", "1", None, "a=b=-1, yes=2").label_rules()
    assert [one.get("offset") for one in heads] == [{"a=b": -1.0}, {"yes": 2.0}]
    for wrong in ("=2", "yes=", "yes", "yes=two"):
        with pytest.raises(InputError, match="head starts such as fraud=-1,fraud=2"):
            Grid.parse(None, "tournament", "0.5", "1", None, wrong)
