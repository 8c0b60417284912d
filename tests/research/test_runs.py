"""Runs and their results."""

import numpy as np
import pytest

from partita.certificates import Certificates, Counts
from partita.metrics import certified_accuracy, median_radius
from partita.rules import Median
from research.runs import (
    LABEL_RULES,
    PAPER_RULES,
    TUNED_STRETCH,
    VALUE_RULES,
    Run,
    SeedPool,
    Setting,
    radius_counts,
    read_result,
    write_result,
)

from .smoke import smoke_run


def test_a_pool_agrees_with_the_metrics_over_all_rows():
    rng = np.random.default_rng(0)
    y, radii = rng.integers(0, 3, size=(2, 50)), rng.integers(0, 9, size=(2, 50))
    proofs = [
        Certificates(np.zeros(50, dtype=int), radius, None, Counts("columns", 9))
        for radius in radii
    ]
    results = [
        {"radii": {"rule": radius_counts(np.where(own == 0, radius, -1))}}
        for own, radius in zip(y, radii, strict=True)
    ]
    both = Certificates(np.zeros(100, dtype=int), radii.ravel(), None, Counts("columns", 9))
    pool = SeedPool(results)
    assert pool.certified("rule", 3) == pytest.approx(100 * certified_accuracy(y.ravel(), both, 3))
    assert pool.deviation("rule", 3) == pytest.approx(
        100
        * np.std(
            [certified_accuracy(own, proof, 3) for own, proof in zip(y, proofs, strict=True)],
            ddof=1,
        )
    )
    assert pool.median("rule") == median_radius(y.ravel(), both) == -np.inf
    right = Certificates(np.zeros(50, dtype=int), radii[0], None, Counts("columns", 9))
    assert SeedPool([{"radii": {"rule": radius_counts(radii[0])}}]).median("rule") == median_radius(
        np.zeros(50, dtype=int), right
    )


def test_a_stored_result_counts_only_for_the_same_request(tmp_path):
    run = smoke_run(Setting("ames", "partition", 5))
    write_result(tmp_path, run, {"radii": {}})
    assert read_result(tmp_path, run)["radii"] == {}
    other = Run(run.setting, {**run.details, "train_rows": 7}, run.seed)
    assert read_result(tmp_path, other) is None
    (tmp_path / f"{run.name}.json").write_text("{half")
    assert read_result(tmp_path, run) is None


def test_runs_that_differ_have_different_files():
    settings = [
        Setting("mnist", "partition", 5),
        Setting("mnist", "partition", 7),
        Setting("mnist", "partition", 5, "strided"),
        Setting("mnist", "partition", 5, spread=2),
        Setting("mnist", "partition", 5, patches=True),
        Setting("mnist", "ablation", 5),
        Setting("mnist", "constant"),
    ]
    names = {Run(setting, {"submodel": "network"}, 0).name for setting in settings}
    assert len(names) == len(settings)
    assert Run(settings[0], {"submodel": "network"}, 1).name not in names


def test_the_paper_s_rules_are_among_them_and_names_do_not_clash():
    assert {*PAPER_RULES} <= {*LABEL_RULES, *VALUE_RULES}
    assert not {*LABEL_RULES} & {*VALUE_RULES}
    assert TUNED_STRETCH not in VALUE_RULES
    assert all(isinstance(rule, Median) for rule in VALUE_RULES.values())


def test_every_rule_can_be_used():
    for rule in (*LABEL_RULES.values(), *VALUE_RULES.values()):
        rule.check()
