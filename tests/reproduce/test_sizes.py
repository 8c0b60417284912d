"""What a size runs, and how long that is expected to take."""

import pytest

from partita import InputError
from partita.reproduce._runs import Setting
from partita.reproduce._sizes import PLANS, SIZES, check_size, plan_for


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
