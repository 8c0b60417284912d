"""The audit: attacks that really rewrite, refit and predict, at every r up to the largest radius.

It drives the attacks and checks of this package and knows none of their details.
"""

import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from .._support import Array, Progress, check_whole
from ..ensemble import Ensemble, FittedEnsemble
from ..errors import InputError, SoundnessError, SoundnessWarning
from ..workflow import Summary
from ._attack_log import AttackLog, RowTally
from ._claims import Claims
from ._evasion import Evader
from ._findings import TRUSTED_TRAINING, Audit, Check
from ._patches import SIDES, patch_attacks
from ._pipeline_checks import check_pipeline
from ._poisoning import CHOICE, Poison, Poisoner
from ._submodel_isolation import check_rows, check_unchanged
from ._table import AttackedTable
from ._training_isolation import check_training
from ._vote_options import unless_refused

ATTACKS = ("evasion", "poisoning", "patches", "checks")
ROWS = 200


def audit(
    model: FittedEnsemble,
    X: Any,
    y: Any = None,
    X_train: Any = None,
    y_train: Any = None,
    *,
    tolerance: float | None = None,
    relative: float | None = None,
    choose: Callable[[Any, Any], Any] | None = None,
    attacks: Sequence[str] = ATTACKS,
    rows: int = ROWS,
    most: int | None = None,
    random_state: int = 0,
    verbose: int = 0,
) -> Audit:
    """Attack a fitted model as its radius allows, and see whether a certified prediction changes.

    A certified prediction that changes is a bug in the proof, in the code, or in what is assumed of
    the estimator; the audit then says how to repeat it. That none changes is no proof; the proof is
    elsewhere. The distance between what is certified and what attacks reach shows how much the
    certificates give away.

    Parameters
    ----------
    model : FeaturePartitionClassifier, FeaturePartitionRegressor, leave-out ensemble or Pipeline
        Fitted; a Pipeline must end in one of them.
    X : array-like or DataFrame of shape (n_samples, n_features)
        Rows to attack.
    y : array-like of shape (n_samples,), optional
        Their labels or values. Where they are known, accuracy under attack is shown beside
        certified accuracy.
    X_train : array-like or DataFrame of shape (n_train, n_features), optional
        The training data: needed to attack it, and to see whether fitting again gives the same
        model. Without it only the rows are attacked and checked; where the model's certificates
        are about trusted training data, it is not attacked either.
    y_train : array-like of shape (n_train,), optional
        Its labels or values.
    tolerance : float, optional
        For a regressor: a prediction that moves further than this has changed.
    relative : float, optional
        For a regressor: the same as a share of the prediction's absolute value.
    choose : callable, optional
        How the model's settings were chosen: a function of the training data and its labels that
        returns the estimator to fit, such as ``lambda X, y: partita.choose(X, y, X_valid,
        y_valid).estimator``. The choice is then attacked too: one unit of the training data is
        rewritten, and the settings are chosen and the model fitted again. Proofs hold for settings
        that no attacker can move, so a choice that reads the training data may break some. Where
        the model is in a Pipeline, the function gets what the steps before it make of the data.
    attacks : sequence of {"evasion", "poisoning", "patches", "checks"}
        What to try; by default everything. Poisoning includes backdoors, and label flips where
        ``label_attacks`` covers them. With ``choose`` it may be empty: then only the choice is
        attacked.
    rows : int, default=200
        How many rows are attacked, chosen at random.
    most : int, optional
        The largest r tried; by default the largest radius.
    random_state : int, default=0
        The seed of random choices.
    verbose : int, default=0
        1 shows progress on standard error.

    Returns
    -------
    Audit
        With ``passed``, and everything that was tried.

    Raises
    ------
    InputError
        If the model is not a fitted partition ensemble, or an argument is out of range.

    See Also
    --------
    replay : Repeat an attack that broke a certificate.
    check_pipeline : Look for steps that mix columns.
    check_deterministic : Look for estimators that are not deterministic.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from partita import FeaturePartitionClassifier
    >>> from partita.attacks import audit
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> clf = FeaturePartitionClassifier(GaussianNB(), n_submodels=5).fit(X[::2], y[::2])
    >>> findings = audit(clf, X[1::2], y[1::2], X[::2], y[::2], rows=20, most=1)
    >>> findings.passed, sum(line.certified_changed for line in findings.lines)
    (True, 0)
    """
    started = time.monotonic()
    if choose is None or len(attacks):
        check_attacks(attacks)
    for name, value in (("rows", rows), ("most", 1 if most is None else most)):
        check_whole(name, value, 1)
    pipeline_checks: list[Check] = []
    on_training = X is X_train
    if isinstance(model, Pipeline):
        model, X, X_train, pipeline_checks = _behind_pipeline(model, X, X_train, y_train)
    if not isinstance(model, Ensemble):
        raise InputError(
            f"model is a {type(model).__name__}: give a FeaturePartitionClassifier or "
            "...Regressor, a LeaveOutClassifier or ...Regressor, or a Pipeline that ends in one"
        )
    check_is_fitted(model, "estimators_")
    if (X_train is None) != (y_train is None):
        raise InputError(
            "X_train and y_train are given one without the other: give both, or neither"
        )
    if choose is not None and X_train is None:
        raise InputError("X_train is missing: a choice is attacked through the training data")
    table = AttackedTable(X)
    chosen = np.sort(np.random.default_rng(random_state).permutation(table.n_rows)[:rows])
    table, y = table.take(chosen), None if y is None else np.asarray(y)[chosen]
    with warnings.catch_warnings():
        # what estimators say of an attacker's values: overflows, failures, no convergence
        warnings.simplefilter("ignore")
        claims = Claims(model, table.table(), y, tolerance, relative)
        run = _AuditRun(claims, table, chosen, most, verbose, random_state, choose)
        training = None if X_train is None else (AttackedTable(X_train), np.asarray(y_train))
        with run.progress:
            run.carry_out(attacks, training)
        doubts = Summary.of(claims.certified, on_training).warnings()
        doubts += [TRUSTED_TRAINING] if model.trusts_training else []
    return Audit(
        model.counts_.what,
        run.log.lines,
        [*pipeline_checks, *run.log.checks],
        run.log.broken,
        time.monotonic() - started,
        warnings=doubts,
    )


def check_attacks(attacks: Sequence[str]) -> None:
    """Refuse attacks that do not exist, and none at all."""
    known = ", ".join(map(repr, ATTACKS))
    if isinstance(attacks, str) or not attacks:
        raise InputError(f"attacks is {attacks!r}: give a list of some of {known}")
    if unknown := [attack for attack in attacks if attack not in ATTACKS]:
        raise InputError(f"attacks names {unknown[0]!r}: give some of {known}")


def _behind_pipeline(
    pipeline: Pipeline, X: Any, X_train: Any, y_train: Any
) -> tuple[Any, Any, Any, list[Check]]:
    """A pipeline's ensemble, the tables as it sees them, and what is wrong with the steps."""
    name, checks = "the pipeline's steps do not mix columns", []
    if X_train is not None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SoundnessWarning)
            problems = check_pipeline(pipeline, X_train, y_train)
        checks = [Check(name, problem) for problem in problems or [""]]
    before = pipeline[:-1]
    transformed = None if X_train is None else before.transform(X_train)
    return pipeline.steps[-1][1], before.transform(X), transformed, checks


def _choose_and_predict(choose: Callable[[Any, Any], Any], poison: Poison) -> Any:
    """What is predicted after settings are chosen on an attacked training table."""
    return poison.fit(choose(poison.training, poison.y)).predict(poison.table)


class _AuditRun:
    """The attacks and checks of one audit, and how far it is."""

    def __init__(
        self,
        claims: Claims,
        table: AttackedTable,
        positions: Array,
        most: int | None,
        verbose: int,
        seed: int,
        choose: Callable[[Any, Any], Any] | None = None,
    ) -> None:
        self.claims, self.table, self.seed = claims, table, seed
        self.choose = choose
        self.log = AttackLog(claims, positions)
        largest = int(min(claims.radius.max(initial=0), len(claims.model.partition_)))
        self.radii = range(1, (largest if most is None else min(largest, most)) + 1)
        self.progress = Progress("audited", len(ATTACKS), "parts", enabled=bool(verbose))
        self._parts_done = 0

    def carry_out(
        self, attacks: Sequence[str], training: tuple[AttackedTable, Array] | None
    ) -> None:
        """All requested attacks and checks; the model must be the same after them."""
        claims, table, seed = self.claims, self.table, self.seed
        if "evasion" in attacks or "patches" in attacks:
            evader = Evader(claims, table, seed)
            if "evasion" in attacks:
                self._evasion(evader)
            self._part_done()
            if "patches" in attacks and claims.model.image_shape is not None:
                self._patches(evader)
        if "checks" in attacks:
            self._check(check_rows(claims, table, seed))
        self._part_done()
        if training is not None:
            if "poisoning" in attacks and not claims.model.trusts_training:
                self._poisoning(Poisoner(claims, table, *training, seed))
            self._part_done()
            if self.choose is not None and not claims.model.trusts_training:
                self._choice(self.choose, Poisoner(claims, table, *training, seed))
            self._part_done()
            if "checks" in attacks:
                self._check(check_training(claims, table, *training, seed))
        if "checks" in attacks:
            self._check([check_unchanged(claims, table)])
        self.progress.update(len(ATTACKS), note="done")

    def _evasion(self, evader: Evader) -> None:
        tally, radius = RowTally(self.claims), self.claims.radius
        for r in self.radii:
            n_attacks = 0
            for attack in evader.attacks(r):
                self._note(f"evasion, r = {r}")
                prediction = self._predict(self.claims.model, attack.table)
                if prediction is not None:
                    self.log.record(
                        "evasion", r, prediction, tally, radius, attack.table, attack.units
                    )
                    n_attacks += 1
            self.log.add_line(
                "evasion", r, n_attacks, tally, radius, self.log.certified_accuracy(r)
            )

    def _patches(self, evader: Evader) -> None:
        for side in SIDES:
            certified = patch_attacks(evader, side)
            if certified is None:
                break
            survives, attacks = certified
            name, tally = f"patch of {side} x {side}", RowTally(self.claims)
            accuracy = None
            if tally.right is not None:
                accuracy = float(np.mean(tally.right & (survives >= 1)))
            for attack in attacks:
                self._note(name)
                prediction = self._predict(self.claims.model, attack.table)
                if prediction is not None:
                    self.log.record(
                        name, 1, prediction, tally, survives, attack.table, attack.units
                    )
            self.log.add_line(name, 1, len(attacks), tally, survives, accuracy)

    def _poisoning(self, poisoner: Poisoner) -> None:
        """Hostile values are tried with one unit and with the most: more of them add little."""
        tallies: dict[str, RowTally] = {}
        radius = self.claims.radius
        for r in self.radii:
            n_attacks: dict[str, int] = {}
            last: Poison | None = None
            for poison in poisoner.attacks(r, hostile=r in (1, self.radii[-1])):
                self._note(f"{poison.kind}, r = {r}")
                if last is None or poison.training is not last.training or poison.y is not last.y:
                    fitted = self._refit(poison, r)
                last = poison
                prediction = None if fitted is None else self._predict(fitted, poison.table)
                if prediction is None:
                    continue
                tally = tallies.setdefault(poison.kind, RowTally(self.claims))
                units = [poison.units] * len(self.claims)
                self.log.record(
                    poison.kind, r, prediction, tally, radius, poison.table, units, poison
                )
                n_attacks[poison.kind] = n_attacks.get(poison.kind, 0) + 1
            for kind, n in n_attacks.items():
                accuracy = self.log.certified_accuracy(r)
                self.log.add_line(kind, r, n, tallies[kind], radius, accuracy)

    def _choice(self, choose: Callable[[Any, Any], Any], poisoner: Poisoner) -> None:
        """Rewrite one unit in training, choose the settings again and fit them."""
        claims, radius = self.claims, self.claims.radius
        honest = clone(choose(poisoner.training.table(), poisoner.y))
        honest.fit(poisoner.training.table(), poisoner.y)
        if claims.broken(honest.predict(self.table.table())).any():
            raise InputError(
                "choose leads to another model than the one that is audited: give the procedure "
                "that its settings were chosen by, and a model fitted on X_train with what it chose"
            )
        tally, n_attacks = RowTally(claims), 0
        for poison in poisoner.attacks_on_choice():
            self._note(f"{poison.kind}, unit {n_attacks}")
            prediction = unless_refused(_choose_and_predict, choose, poison)
            if prediction is not None:
                units = [poison.units] * len(claims)
                self.log.record(
                    poison.kind, 1, prediction, tally, radius, poison.table, units, poison
                )
                n_attacks += 1
        self.log.add_line(CHOICE, 1, n_attacks, tally, radius, self.log.certified_accuracy(1))

    def _refit(self, poison: Poison, r: int) -> Any:
        """The model, fitted on the poisoned table; None where a submodel refuses that.

        A model that is found unsound is a failed check.
        """
        try:
            return unless_refused(poison.fit, self.claims.model)
        except SoundnessError as exc:
            problem = f"it fails: {type(exc).__name__}: {exc}"
            self.log.checks.append(Check(f"fitted again after {poison.kind}, r = {r}", problem))
            return None

    @staticmethod
    def _predict(model: FittedEnsemble, table: Any) -> Any:
        """Predictions after an attack; None where a submodel refuses the rows.

        An error is not a changed prediction.
        """
        return unless_refused(model.predict, table)

    def _check(self, checks: Iterable[Check]) -> None:
        for check in checks:
            self._note(check.name)
            self.log.checks.append(check)

    def _note(self, what: str) -> None:
        self.progress.update(self._parts_done, note=what)

    def _part_done(self) -> None:
        self._parts_done += 1
