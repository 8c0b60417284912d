"""The air story: years in order, stations hijacked, the same forecast as a number."""

import numpy as np
import pytest

from partita.deployments import _air

from .small import ROWS, data_of, small_deployment, small_story


def test_years_are_in_order_and_the_calendar_is_trusted():
    own = small_deployment("air")
    assert own.X_train.index.max() < own.X_valid.index.min()
    assert own.X_valid.index.max() < own.X_test.index.min()
    assert own.trusted == ("hour", "month")


def test_classes_are_those_of_the_numbers():
    classes = small_deployment("air")
    numbers = _air.build(data_of("air"), ROWS["air"], as_number=True)
    assert numbers.X_test.equals(classes.X_test)
    assert numbers.tolerance == 25
    assert set(classes.y_test[numbers.y_test >= 150]) <= {"hazardous"}
    assert set(classes.y_test[numbers.y_test < 35]) <= {"good"}


def test_the_station_of_the_forecast_is_hijacked_first():
    order = _air.nearest_stations(small_deployment("air"))
    assert order[0] == _air.STATION
    assert len(set(order)) == 12


@pytest.mark.long
def test_hijacked_stations_break_no_proof():
    answers = small_story("air").answers
    for line in answers["hijacked"].numbers["lines"]:
        assert line["certified_changed"] == 0
        assert line["ensemble"] >= line["proven"]
    shares = answers["number"].numbers["curves"]
    assert all(np.all(np.diff(line) <= 0) for line in shares.values())
    assert answers["number"].numbers["median_width"] >= 0
