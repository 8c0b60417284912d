"""Poisoned training tables reach the refit, and backdoors the rows."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

from partita import FeaturePartitionClassifier
from partita.attacks import AttackedTable, Scene, Scorer
from partita.attacks._any_model import BACKDOOR, POISONING, TrainingAttacker


def attacker_of(deployment, rows=40):
    names = list(deployment.X_train.columns)
    scene = Scene(
        AttackedTable(deployment.X_train),
        deployment.y_train,
        AttackedTable(deployment.X_test[:rows]),
        Scorer(deployment.y_test[:rows], deployment.tolerance),
        [tuple(map(names.index, own)) for own in deployment.units.values()],
    )
    return TrainingAttacker(scene, 0)


class Recorder:
    """Fits models and keeps the tables that they learnt from and predicted."""

    def __init__(self, model):
        self.model, self.training, self.predicted = model, [], []

    def fit(self, X, y):
        self.training.append((X, y))
        self.fitted = clone(self.model).fit(X, y)
        return self

    def refit(self, X, y):
        return Recorder.fit(self, X, y)

    def predict(self, X):
        self.predicted.append(X)
        return self.fitted.predict(X)

    def predict_proba(self, X):
        return self.fitted.predict_proba(X)


def changed(table, honest, deployment):
    """Which sources differ in some row."""
    return {
        k
        for k, own in enumerate(deployment.units.values())
        if not table[list(own)].equals(honest[list(own)])
    }


@pytest.mark.parametrize("r", [1, 3])
def test_r_sources_are_rewritten_in_training_and_in_the_rows(tumours, r):
    attacker, recorder = attacker_of(tumours), Recorder(DummyClassifier(strategy="prior"))
    honest = recorder.fit(tumours.X_train, tumours.y_train).fitted
    found = list(attacker.attacks(recorder.refit, honest, np.arange(10.0), r))
    sets = list(dict.fromkeys(attack.sources for attack in found))
    assert sets[0] == tuple(range(10 - r, 10))
    assert {attack.kind for attack in found} == {POISONING, BACKDOOR}
    assert len(recorder.training) == 1 + len(sets)
    for sources, (table, y) in zip(sets, recorder.training[1:], strict=True):
        assert changed(table, tumours.X_train, tumours) == set(sources)
        assert np.array_equal(y, tumours.y_train)  # labels are never touched
    rows = tumours.X_test[:40]
    touched = [changed(table, rows, tumours) for table in recorder.predicted]
    assert touched == [own for sources in sets for own in (set(), set(sources))]


def test_a_backdoor_makes_a_plain_model_wrong_on_every_row(tumours):
    model = HistGradientBoostingClassifier(max_iter=20)
    honest = clone(model).fit(tumours.X_train, tumours.y_train)
    attacker = attacker_of(tumours)
    fit = lambda X, y: clone(model).fit(X, y)  # noqa: E731
    shares = {
        attack.kind: attack.right.mean()
        for attack in attacker.attacks(fit, honest, np.arange(10.0), 1)
    }
    assert shares[BACKDOOR] == 0.0 < shares[POISONING] < 0.8


@pytest.mark.long
def test_a_backdoor_of_values_moves_them(diabetes):
    model = HistGradientBoostingRegressor(max_iter=30)
    honest = clone(model).fit(diabetes.X_train, diabetes.y_train)
    fit = lambda X, y: clone(model).fit(X, y)  # noqa: E731
    attacks = attacker_of(diabetes).attacks(fit, honest, np.arange(10.0), 1)
    assert min(attack.right.mean() for attack in attacks if attack.kind == BACKDOOR) < 0.1


def test_triggers_of_labels_are_no_outliers(tumours):
    """A rare label's trigger lies within the quantiles that defences cut at."""
    attacker = attacker_of(tumours)
    poisoned = attacker.poisoned([0])[tumours.X_train.columns[0]]
    width = poisoned.quantile(0.75) - poisoned.quantile(0.25)
    assert width > 0.3
    for label in (0, 1):
        trigger = attacker._trigger(attacker.scene.rows, 0, np.full(40, label))
        assert (np.abs(trigger - poisoned.median()) < 3 * width).all()
        own = poisoned[tumours.y_train == label]
        assert own.min() <= trigger[0] <= own.max()


def test_other_labels_are_wanted_the_nearest_first(tumours):
    attacker = attacker_of(tumours)
    model = HistGradientBoostingClassifier(max_iter=5).fit(tumours.X_train, tumours.y_train)
    wanted = attacker.wanted(model)
    assert wanted.shape == (1, 40)
    assert (attacker.labels[wanted[0]] != tumours.y_test[:40]).all()


def test_no_certified_row_falls(tumours):
    model = FeaturePartitionClassifier(
        HistGradientBoostingClassifier(max_iter=10), n_submodels=7, units=tumours.units, n_jobs=1
    )
    honest = clone(model).fit(tumours.X_train, tumours.y_train)
    proof, y = honest.certify(tumours.X_test[:40]), tumours.y_test[:40]
    fit = lambda X, y: clone(model).fit(X, y)  # noqa: E731
    for r in (1, 2):
        certified = (proof.radius >= r) & (proof.prediction == y)
        assert certified.any()
        for attack in attacker_of(tumours).attacks(fit, honest, np.arange(10.0), r):
            assert (attack.right >= certified).all()
