"""Runs of partition ensembles certify what the ensemble itself certifies."""

from dataclasses import replace

import pytest

from partita.reproduce._baseline_runs import correct_radii
from partita.reproduce._data import load_run_data
from partita.reproduce._partition_runs import new_ensemble, run_partition
from partita.reproduce._rules import LABEL_RULES, VALUE_RULES
from partita.reproduce._runs import Setting, radius_counts

from .smoke import smoke_run


def test_the_stretch_is_chosen_without_the_rows_to_certify(tmp_path):
    run = smoke_run(Setting("ames_raw", "partition", 5))
    data = load_run_data(run, None)
    result = run_partition(run, data, tmp_path)
    blind = replace(data, X_test=data.X_train[:20], y_test=data.y_train[:20] * 0)
    assert run_partition(run, blind, tmp_path)["chosen_stretch"] == result["chosen_stretch"]


@pytest.mark.parametrize("name", ["mnist", "weather"])
@pytest.mark.parametrize("spread", [1, 2])
def test_a_run_certifies_what_the_model_itself_does(name, spread, tmp_path):
    """Under every rule, and counting columns where sets overlap: one column may turn two."""
    run = smoke_run(Setting(name, "partition", 9, spread=spread))
    assert run.setting.spread == spread
    data = load_run_data(run, None)
    radii = run_partition(run, data, tmp_path)["radii"]
    bounds = {}
    if data.bounds is not None:
        bounds = dict(zip(("lower", "upper"), data.bounds(data.y_test), strict=True))
    for rule_name, rule in (LABEL_RULES if data.bounds is None else VALUE_RULES).items():
        model = new_ensemble(run, data, tmp_path).set_params(rule=rule)
        proof = model.fit(data.X_train, data.y_train).certify(data.X_test, **bounds)
        assert model.spread == spread
        assert radii[rule_name] == radius_counts(correct_radii(proof, data)), rule_name
