"""What differs between labels and numbers before there is a model."""

from collections import Counter

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge

from partita import FeaturePartitionClassifier, FeaturePartitionRegressor, InputError
from partita.rules import Median, Plurality, Tournament
from partita.tables import BOOLEAN, NUMBER, TEXT, TIME
from partita.workflow._schema import LARGEST_WHOLE, MOST_LABELS, TASKS, choose_task

LABELS, NUMBERS = TASKS["classification"], TASKS["regression"]


@pytest.mark.parametrize(
    ("kind", "y", "task"),
    [
        (TEXT, ["a", "b"], "classification"),
        (BOOLEAN, [True, False], "classification"),
        (NUMBER, [1, 2], "classification"),
        (NUMBER, [1.0, 2.0], "classification"),
        (NUMBER, [0.5, 1.0], "regression"),
        (NUMBER, [1.0, np.inf], "regression"),
        (NUMBER, list(range(MOST_LABELS)), "classification"),
        (NUMBER, list(range(MOST_LABELS + 1)), "regression"),
        (TIME, [1.0, 2.0], "regression"),
    ],
)
def test_a_target_looks_like_labels_or_like_numbers(kind, y, task):
    assert choose_task("auto", kind, np.asarray(y), "y") is TASKS[task]


def test_a_task_can_be_chosen_and_texts_are_no_numbers():
    assert choose_task("regression", NUMBER, np.array([1, 2]), "y") is NUMBERS
    with pytest.raises(InputError, match="give one of auto, classification, regression"):
        choose_task("clustering", NUMBER, np.array([1, 2]), "y")
    with pytest.raises(InputError, match="the target 'y' holds texts, and regression needs"):
        choose_task("regression", TEXT, np.array(["a"]), "y")


def test_whole_floats_become_integers_and_other_floats_stay():
    whole = LABELS.as_learnt(np.array([1.0, 2.0]), NUMBER)
    assert (whole.dtype, whole.tolist()) == (np.int64, [1, 2])
    for values in ([1.0, 1.5], [1.0, 2 * LARGEST_WHOLE], [1.0, np.inf]):
        assert LABELS.as_learnt(np.array(values), NUMBER).tolist() == values
    assert LABELS.as_learnt(np.array([1.0, 2.0]), TIME).dtype == np.float64
    assert NUMBERS.as_learnt(np.array([1, 2]), NUMBER).dtype == np.float64


@pytest.mark.parametrize(
    ("task", "y", "message"),
    [
        (LABELS, [1.0, 1.5], "holds fractions, which are not labels"),
        (LABELS, [1.0, 1e300], "holds numbers too large to be labels"),
        (LABELS, [1, 1], "holds one label only, 1"),
        (NUMBERS, [1.0, np.inf], "holds an infinity in row 1"),
    ],
)
def test_a_target_that_cannot_be_learnt_is_refused(task, y, message):
    with pytest.raises(InputError, match=message):
        task.check_target("y", NUMBER, np.asarray(y))


def test_labels_are_counted_in_their_order_and_numbers_are_not():
    counts = LABELS.label_counts(np.array(["b", "a", "b"], dtype=object))
    assert list(counts.items()) == [("a", 1), ("b", 2)]
    assert NUMBERS.label_counts(np.array([1.0, 2.0])) == Counter()


def test_a_tolerance_is_for_numbers():
    LABELS.check_tolerance(None, None, needed=True)
    with pytest.raises(InputError, match="the model predicts labels: leave them out"):
        LABELS.check_tolerance(1.0, None)
    NUMBERS.check_tolerance(1.0, None, needed=True)
    NUMBERS.check_tolerance(None, None)
    with pytest.raises(InputError, match="say with tolerance or relative what counts as right"):
        NUMBERS.check_tolerance(None, None, needed=True)
    with pytest.raises(InputError, match="both given: choose one"):
        NUMBERS.check_tolerance(1.0, 0.1)
    for wrong in (-1.0, np.inf, np.nan):
        with pytest.raises(InputError, match="must be a finite number, 0 or above"):
            NUMBERS.check_tolerance(None, wrong)


def test_options_make_the_rule():
    rule = LABELS.rule(None, margin=0.5)
    assert isinstance(rule, Tournament)
    assert (rule.margin, rule.prior) == (0.5, None)
    assert isinstance(LABELS.rule("plurality"), Plurality)
    assert NUMBERS.rule(None).stretch == 1.0
    assert isinstance(NUMBERS.rule("median", stretch=1.3), Median)


@pytest.mark.parametrize(
    ("task", "name", "settings", "message"),
    [
        (LABELS, "median", {}, "rule 'median' is for numbers"),
        (LABELS, None, {"stretch": 1.2}, "stretch is for numbers"),
        (LABELS, "runoff", {"prior": 0.5}, "belong to the tournament, not to 'runoff'"),
        (NUMBERS, "plurality", {}, "rule 'plurality' is for labels"),
        (NUMBERS, None, {"offset": 1.0}, "margin, prior and offset are for labels"),
    ],
)
def test_options_of_the_other_task_are_refused(task, name, settings, message):
    with pytest.raises(InputError, match=message):
        task.rule(name, **settings)


def test_the_best_constant_is_the_commonest_label_or_the_training_median():
    truth = np.array(["a", "b", "b", "c"], dtype=object)
    assert LABELS.best_constant(truth, truth, None, None) == {
        "answer": "b",
        "accuracy": 0.5,
        "balanced": 1 / 3,
    }
    found = NUMBERS.best_constant(np.array([1.0, 2.0, 9.0]), np.array([2.5, 4.0]), 0.5, None)
    assert found == {"answer": 2.0, "accuracy": 0.5, "balanced": None}


def test_each_task_has_its_ensembles_estimators_and_settings():
    assert LABELS.ensemble is FeaturePartitionClassifier
    assert NUMBERS.ensemble is FeaturePartitionRegressor
    for name, task in TASKS.items():
        assert task.ensemble.task == name
    assert LABELS.is_estimator(LogisticRegression())
    assert not LABELS.is_estimator(Ridge())
    assert NUMBERS.is_estimator(Ridge())
