"""Silence: what is proven beforehand holds, and real outages are replayed row by row."""

import numpy as np
import pytest

from partita.deployments import _air
from partita.deployments._silence_answer import _replay, silence, with_blanks

from .small import small_study


def test_what_is_proven_beforehand_holds_whichever_source_is_silent():
    study = small_study("credit")
    own, main = study.deployment, study.main
    stays = main.right & main.proof.survives(0, 1)
    for name in own.units:
        assert (main.model.predict(own.X_test, silent=[name])[stays] == own.y_test[stays]).all()
    lines = silence(study).numbers["by_number"]
    assert lines[1]["proven"] == stays.mean()
    assert all(line["ensemble"] >= line["certified"] for line in lines)
    assert lines[0]["ensemble"] == main.right.mean()


@pytest.mark.long
def test_real_outages_are_hours_without_pollutants():
    study = small_study("air")
    own = study.deployment
    outages = _air.outages(own)
    assert outages.shape == (len(own.y_test), 12)
    for row, station in np.argwhere(outages):
        name = list(own.units)[station]
        values = own.X_test.iloc[row][[f"{name} {one}" for one in _air.POLLUTANTS]]
        assert values.isna().all()
    mask = np.zeros_like(outages)
    mask[:7, list(own.units).index("Dongsi")] = True
    found = _replay(study, mask)
    expected = study.main.model.predict(own.X_test.iloc[:7], silent=["Dongsi"])
    assert found["rows"] == 7
    assert found["ensemble"] == pytest.approx((expected == own.y_test[:7]).mean())
    assert _replay(study, np.zeros_like(mask)) == {"rows": 0}


def test_blanks_are_missing_values_of_numbers_and_texts():
    own = small_study("credit").deployment
    blank = with_blanks(own.X_test, ["emp_length", "annual_inc"])
    assert blank[["emp_length", "annual_inc"]].isna().all(axis=None)
    assert own.X_test[["emp_length", "annual_inc"]].notna().all(axis=None)
