"""Small stories: few rows, few sizes, one run for all tests of a process."""

from functools import cache
from pathlib import Path

import pytest

from partita.deployments import _air, _attack_answer, _credit, _gas, _run, load_deployment
from partita.deployments._study import make_study

NAMES = ("gas", "air", "credit")
SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"
FILES = {"gas": SHARED / "gas_drift.parquet", "air": SHARED / "beijing_air.parquet"}
SIZES = {"gas": ((3, 5), (4,)), "air": ((3, 5), (4,)), "credit": ((3,), (4,))}
ROWS = {"gas": 150, "air": 150, "credit": 300}


def needs_data(name):
    """Skip a test whose data is not on this machine."""
    file = FILES.get(name)
    if file is not None and not file.is_file():
        pytest.skip(f"{file.name} is not here")


def data_of(name):
    needs_data(name)
    return FILES.get(name)


@cache
def small_deployment(name):
    return load_deployment(name, data_of(name), ROWS[name])


@cache
def small_study(name):
    return make_study(small_deployment(name), *SIZES[name])


@cache
def small_story(name):
    """A whole story, with few attacked rows."""
    needs_data(name)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_run, "make_study", lambda *_: small_study(name))
        patch.setattr(_attack_answer, "ROWS", 20)
        patch.setattr(_attack_answer, "ATTACKS", ("evasion", "poisoning"))  # checks take long
        patch.setattr(_air, "NUMBER_SIZES", ((3,), (3,)))
        for module in (_gas, _air, _credit):
            patch.setattr(module, "TRAIN", ROWS[name])
        return _run.run_deployment(name, data=data_of(name), rows=ROWS[name])
