"""What a size runs, and how long that is expected to take."""

from pathlib import Path

import pytest

from partita import InputError
from research.runs import Setting
from research.sizes import (
    FEW_SUBMODELS,
    NETWORKS,
    PLANS,
    SIZES,
    ablation_settings,
    check_size,
    plan_for,
    submodel_settings,
)
from research.submodels import ablated_network, network


def test_overlapping_sets_are_expected_to_take_longer():
    """Measured: every column is learnt from as often as there are overlaps, and the time follows
    that, not the number of submodels."""
    laptop = plan_for("laptop", "mnist")
    (plain,), (overlapping,) = (
        laptop.runs(Setting("mnist", "partition", 60, spread=spread)) for spread in (1, 6)
    )
    assert laptop.estimate(overlapping) == 6 * laptop.estimate(plain)


def test_a_size_leaves_out_what_takes_too_long():
    assert plan_for("laptop", "mnist").runs(Setting("mnist", "ablation", 45)) == []
    assert plan_for("laptop", "mnist").runs(Setting("mnist", "partition", 45)) == []
    assert len(plan_for("full", "ames").runs(Setting("ames", "partition", 21))) == 10
    assert len(plan_for("full", "mnist").runs(Setting("mnist", "partition", 21, "strided"))) == 1


def test_ablation_certifies_fewer_rows_at_full_size():
    (ablation,), (own,) = (
        plan_for("full", "mnist").runs(Setting("mnist", method, 25))
        for method in ("ablation", "partition")
    )
    assert (ablation.details["test_rows"], own.details["test_rows"]) == (500, None)


def test_stand_ins_have_fewer_columns():
    (run,) = plan_for("smoke", "mnist").runs(Setting("mnist", "partition", 60, spread=9))
    assert (run.setting.count, run.setting.spread) == (9, 2)


def test_every_size_has_a_plan_for_every_data_set():
    assert tuple(PLANS) == SIZES
    assert len({tuple(plans) for plans in PLANS.values()}) == 1
    with pytest.raises(InputError, match="size is 'huge'"):
        check_size("huge")


def test_few_submodels_get_the_paper_s_networks():
    assert submodel_settings("cifar10", "network", FEW_SUBMODELS) == {"network": "resnet9"}
    assert submodel_settings("cifar10", "network", FEW_SUBMODELS + 1) == NETWORKS["cifar10"]


@pytest.mark.parametrize("data", NETWORKS)
def test_an_ablated_network_has_all_of_its_settings(data):
    settings = ablation_settings(data, "network")
    given = ablated_network(settings, (28, 28, 1), Path("checkpoint")).get_params()
    assert {name: given[name] for name in settings if name != "epochs"} == {
        name: value for name, value in settings.items() if name != "epochs"
    }


@pytest.mark.parametrize("count", [FEW_SUBMODELS, FEW_SUBMODELS + 1])
@pytest.mark.parametrize("data", NETWORKS)
def test_a_network_has_all_of_its_settings(data, count):
    settings = submodel_settings(data, "network", count)
    estimator = network(settings, (28, 28, 1), count, Path("checkpoint"))
    assert settings
    assert {name: estimator.get_params()[name] for name in settings} == settings


def test_raw_columns_have_the_settings_of_their_table():
    for kind in ("lightgbm", "linear"):
        assert submodel_settings("ames_raw", kind, 21) == submodel_settings("ames", kind, 21)
    assert submodel_settings("ames", "lightgbm", 21)["objective"] == "mae"
