"""The audit: attacks that really rewrite, refit and predict, at every r up to the largest radius.

It drives the attacks and checks of this package, counts what changed, and repeats what broke a
certificate.
"""

import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from .._support import Array, Estimator, PathLike, Progress, TableLike, check_whole
from ..ensemble import Ensemble, FittedEnsemble
from ..errors import InputError, SoundnessError, SoundnessWarning
from ..tables import CsvOptions, sha256_of
from ..workflow import TRAINING_ROWS, Summary, open_model, open_prediction_table
from ._attacked_table import AttackedTable, Changes, unless_refused
from ._claims import Attack, Claims
from ._evasion import SIDES, Evader
from ._findings import TRUSTED_TRAINING, Audit, BrokenCertificate, Check, Line
from ._isolation import check_rows, check_training, check_unchanged
from ._poisoning import CHOICE, Poisoner
from ._soundness_checks import check_pipeline

ATTACKS = ("evasion", "poisoning", "patches", "checks")
ROWS = 200
# JSON has these as texts; in columns that hold anything a NaN is a missing value
NON_FINITE = {"nan": None, "inf": np.inf, "-inf": -np.inf}

Choose = Callable[[TableLike, Array], Estimator]


def audit(
    model: FittedEnsemble,
    X: TableLike,
    y: TableLike = None,
    X_train: TableLike = None,
    y_train: TableLike = None,
    *,
    tolerance: float | None = None,
    relative: float | None = None,
    choose: Choose | None = None,
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
        run = AuditRun(claims, chosen, most, choose, verbose)
        training = None if X_train is None else (AttackedTable(X_train), np.asarray(y_train))
        with run.progress:
            run.carry_out(attacks, table, training, random_state)
        doubts = Summary.of(claims.certified, on_training).warnings()
        doubts += [TRUSTED_TRAINING] if model.trusts_training else []
    return Audit(
        model.counts_.what,
        run.lines,
        [*pipeline_checks, *run.checks],
        run.broken,
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
    pipeline: Pipeline, X: TableLike, X_train: TableLike, y_train: TableLike
) -> tuple[FittedEnsemble, TableLike, TableLike, list[Check]]:
    """Return a pipeline's ensemble, the tables as it sees them, and checks of the steps."""
    name, checks = "the pipeline's steps do not mix columns", []
    if X_train is not None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SoundnessWarning)
            problems = check_pipeline(pipeline, X_train, y_train)
        checks = [Check(name, problem) for problem in problems or [""]]
    before = pipeline[:-1]
    transformed = None if X_train is None else before.transform(X_train)
    return pipeline.steps[-1][1], before.transform(X), transformed, checks


class Tally:
    """Which rows attacks of one kind have changed so far, and which are still right."""

    def __init__(self, claims: Claims) -> None:
        self.changed, self.broken = np.zeros((2, len(claims)), dtype=bool)
        self.right = None if claims.truth is None else claims.correct(claims.prediction)


class AuditRun:
    """The attacks and checks of one audit, what came of them, and how far it is.

    Parameters
    ----------
    claims : Claims
        What is certified of the rows.
    positions : int array
        The rows' positions in the user's table.
    most : int, optional
        The largest r.
    choose : callable, optional
        How settings were chosen.
    verbose : int
        1: progress.
    """

    def __init__(
        self,
        claims: Claims,
        positions: Array,
        most: int | None = None,
        choose: Choose | None = None,
        verbose: int = 0,
    ) -> None:
        self.claims, self.positions, self.choose = claims, positions, choose
        self.lines: list[Line] = []
        self.checks: list[Check] = []
        self.broken: list[BrokenCertificate] = []
        largest = int(min(claims.radius.max(initial=0), len(claims.model.partition_)))
        self.radii = range(1, (largest if most is None else min(largest, most)) + 1)
        self.progress = Progress("audited", len(ATTACKS), "parts", enabled=bool(verbose))
        self._parts_done = 0
        self._fitted: tuple[Attack, Estimator] | None = None  # after the last poisoning

    def carry_out(
        self,
        attacks: Sequence[str],
        table: AttackedTable,
        training: tuple[AttackedTable, Array] | None,
        seed: int,
    ) -> None:
        """Carry out all requested attacks and checks; the model must be the same after them."""
        claims, model = self.claims, self.claims.model
        if "evasion" in attacks or "patches" in attacks:
            evader, tallies = Evader(claims, table, seed), {"evasion": Tally(claims)}
            for r in self.radii if "evasion" in attacks else ():
                self.attack(evader.attacks(r), r, tallies, at_least=["evasion"])
            self._parts_done += 1
            if "patches" in attacks and model.image_shape is not None:
                self._patches(evader)
        if "checks" in attacks:
            self._check(check_rows(claims, table, seed))
        self._parts_done += 1
        if training is not None:
            if "poisoning" in attacks and not model.trusts_training:
                poisoner, tallies = Poisoner(claims, table, *training, seed), {}
                for r in self.radii:  # more of hostile values than one unit and the most add little
                    self.attack(poisoner.attacks(r, r in (1, self.radii[-1])), r, tallies)
            self._parts_done += 1
            if self.choose is not None and not model.trusts_training:
                self._attack_choice(self.choose, Poisoner(claims, table, *training, seed))
            self._parts_done += 1
            if "checks" in attacks:
                self._check(check_training(claims, table, *training, seed))
        if "checks" in attacks:
            self._check([check_unchanged(claims, table)])
        self.progress.update(len(ATTACKS), note="done")

    def _patches(self, evader: Evader) -> None:
        for side in SIDES:
            found = evader.patches(side)
            if found is None:
                break
            radius, attacks = found
            now = self.claims.correct_radius
            right = None if now is None else np.where(now >= 0, radius, -np.inf)
            self.attack(attacks, 1, {}, radius, right)

    def _attack_choice(self, choose: Choose, poisoner: Poisoner) -> None:
        """Rewrite one unit in training, choose the settings again and fit them."""
        honest = clone(choose(poisoner.training.table(), poisoner.y))
        honest.fit(poisoner.training.table(), poisoner.y)
        if self.claims.broken(honest.predict(poisoner.rows.table())).any():
            raise InputError(
                "choose leads to another model than the one that is audited: give the procedure "
                "that its settings were chosen by, and a model fitted on X_train with what it chose"
            )
        self.attack(
            poisoner.attacks_on_choice(), 1, {CHOICE: Tally(self.claims)}, at_least=[CHOICE]
        )

    def attack(
        self,
        attacks: Iterable[Attack],
        r: int,
        tallies: dict[str, Tally],
        radius: Array | None = None,
        correct_radius: Array | None = None,
        at_least: Sequence[str] = (),
    ) -> None:
        """Carry out attacks with at most r units, and sum up each kind in a line.

        Tallies go on from smaller r. ``radius`` and ``correct_radius`` are the claims' own, where
        an attack has none of its own kind. Kinds of ``at_least`` get a line though none was tried.
        """
        claims = self.claims
        if radius is None:
            radius, correct_radius = claims.radius, claims.correct_radius
        n_attacks = dict.fromkeys(at_least, 0)
        for attack in attacks:
            self._note(f"{attack.kind}, r = {r}")
            model = self._attacked_model(attack, r)
            prediction = None if model is None else unless_refused(model.predict, attack.table)
            if prediction is not None:  # an error is not a changed prediction
                tally = tallies.setdefault(attack.kind, Tally(claims))
                self.record(attack, r, prediction, tally, radius)
                n_attacks[attack.kind] = n_attacks.get(attack.kind, 0) + 1
        certified = radius >= r
        right = None if correct_radius is None else float(np.mean(correct_radius >= r))
        for kind, n in n_attacks.items():
            tally = tallies[kind]
            self.lines.append(
                Line(
                    kind,
                    r,
                    n,
                    len(claims),
                    int(tally.changed.sum()),
                    int(certified.sum()),
                    int((tally.broken & certified).sum()),
                    None if tally.right is None else float(tally.right.mean()),
                    right,
                )
            )

    def record(
        self, attack: Attack, r: int, prediction: Array, tally: Tally, radius: Array
    ) -> None:
        """Count what one attack changed, and keep every certified prediction that changed."""
        claims = self.claims
        now = claims.broken(prediction)
        tally.changed |= now
        if tally.right is not None:
            tally.right &= claims.correct(prediction)
        certified = now & (radius >= r)
        tally.broken |= certified
        if not certified.any():
            return
        attacked = AttackedTable(attack.table)
        training = None if attack.training is None else AttackedTable(attack.training)
        for row in np.flatnonzero(certified).tolist():
            columns = claims.columns_of(attack.units[row])
            training_values: dict[str, TableLike] = {}
            if training is not None:
                training_values = {training.names[c]: training.columns[c] for c in columns}
                if attack.labels:
                    training_values["y"] = attack.y
            self.broken.append(
                BrokenCertificate(
                    attack.kind,
                    r,
                    int(self.positions[row]),
                    int(radius[row]),
                    tuple(claims.model.units_.names[unit] for unit in attack.units[row]),
                    tuple(attack.labels),
                    claims.prediction[row],
                    prediction[row],
                    {attacked.names[c]: attacked.columns[c][row] for c in columns},
                    training_values,
                )
            )

    def _attacked_model(self, attack: Attack, r: int) -> Estimator:
        """Return the model, fitted again if training is poisoned; None where it refuses that.

        A model that is found unsound is a failed check.
        """
        if attack.training is None:
            return self.claims.model
        if self._fitted is not None:
            last, model = self._fitted
            if attack.training is last.training and attack.y is last.y:
                return model
        model = None
        try:
            model = unless_refused(self._refit, attack)
        except SoundnessError as exc:
            problem = f"it fails: {type(exc).__name__}: {exc}"
            self.checks.append(Check(f"fitted again after {attack.kind}, r = {r}", problem))
        self._fitted = attack, model
        return model

    def _refit(self, attack: Attack) -> Estimator:
        model: Estimator = self.claims.model
        if attack.kind == CHOICE and self.choose is not None:
            model = self.choose(attack.training, attack.y)
        return clone(model).fit(attack.training, attack.y)

    def _check(self, checks: Iterable[Check]) -> None:
        for check in checks:
            self._note(check.name)
            self.checks.append(check)

    def _note(self, what: str) -> None:
        self.progress.update(self._parts_done, note=what)


def audit_file(
    model: PathLike,
    data: PathLike,
    training: PathLike | None = None,
    *,
    trusted: Sequence[str] = (),
    jobs: int | None = None,
    csv: CsvOptions | None = None,
    **settings: Any,
) -> Audit:
    """Audit a stored model on a table in a file; further settings go to :func:`audit`.

    ``training`` is the table that the model was fitted on; ``data`` serves as such where its
    content is the same.
    """
    check_attacks(settings.get("attacks", ATTACKS))  # before the work begins
    stored = open_model(model, trusted, jobs)
    source = open_prediction_table(stored, data, csv=csv)
    known = stored.about.get("data") or {}
    if training is None and stored.is_training_table(data):
        training = data
    if training is not None and known and not stored.is_training_table(training):
        raise InputError(
            f"training {str(training)!r} is not the table that the model was fitted on "
            f"({known.get('name')}): give that one"
        )
    learnt = (None, None) if training is None else stored.training_rows(training)
    rows = source.file.table(stored.schema.kinds).take_all()
    findings = audit(stored.model, rows, source.truth(source.file), *learnt, **settings)
    doubts = [TRAINING_ROWS] if source.on_training else []
    of = {"model": stored.digest, "data": sha256_of(data)}
    return replace(findings, warnings=[*doubts, *findings.warnings], of=of)


def replay(
    broken: Mapping[str, Any],
    model: FittedEnsemble,
    X: TableLike,
    X_train: TableLike = None,
    y_train: TableLike = None,
    *,
    choose: Choose | None = None,
) -> Any:
    """Repeat an attack, and return what the model predicts for the row after it.

    Parameters
    ----------
    broken : mapping
        One of the entries under "broken" in an audit's JSON.
    model : FeaturePartitionClassifier or FeaturePartitionRegressor
        The fitted ensemble.
    X : array-like or DataFrame of shape (n_samples, n_features)
        The table whose row was attacked.
    X_train : array-like or DataFrame of shape (n_train, n_features), optional
        The training data, for attacks that rewrote it.
    y_train : array-like of shape (n_train,), optional
        Its labels or values.
    choose : callable, optional
        How settings were chosen, as :func:`audit` takes it; for attacks on the choice.

    Returns
    -------
    label or float
        The prediction after the attack; it was certified to be ``broken["before"]``, or within the
        tolerance of it.

    Raises
    ------
    InputError
        If the training data or ``choose`` is needed and missing, or a column is not in the table.

    See Also
    --------
    audit : Finds what can be repeated.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from partita import FeaturePartitionClassifier
    >>> from partita.attacks import replay
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = FeaturePartitionClassifier(GaussianNB(), n_submodels=3).fit(X, y)
    >>> attack = {"row": 0, "labels": [], "row_values": {"2": 6.0}, "training_values": {}}
    >>> int(replay(attack, clf, X))
    0
    """
    rewrites_training = broken["training_values"] or broken["labels"]
    if rewrites_training and X_train is None:
        raise InputError("X_train is missing: this attack rewrote the training data")
    is_choice = broken.get("attack") == CHOICE
    if is_choice and choose is None:
        raise InputError("choose is missing: after this attack, settings were chosen again")
    row = AttackedTable(X).take(np.array([int(broken["row"])]))
    if rewrites_training:
        training, changes = AttackedTable(X_train), dict(broken["training_values"])
        y = np.asarray(changes.pop("y", y_train))
        attacked = training.table(_columns(training, changes))
        if is_choice and choose is not None:
            model = choose(attacked, y)
        model = clone(model).fit(attacked, y)
    values = {name: [value] for name, value in broken["row_values"].items()}
    return model.predict(row.table(_columns(row, values)))[0]


def _columns(table: AttackedTable, changes: Mapping[str, Any]) -> Changes:
    """Return values as JSON gave them, in the types of their columns."""
    columns: Changes = {}
    for name, values in changes.items():
        if name not in table.names:
            raise InputError(
                f"X lacks the column {name!r} that the attack rewrote: give the table that was "
                "audited"
            )
        column = table.names.index(name)
        cells = [NON_FINITE.get(cell, cell) if isinstance(cell, str) else cell for cell in values]
        dtype: type = object
        if table.is_bytes(column):
            dtype = np.uint8
        elif table.is_numeric(column) and not any(isinstance(cell, str) for cell in cells):
            dtype = np.float64  # a missing value is a NaN
        columns[column] = np.empty(len(cells), dtype=dtype)
        columns[column][:] = cells
    return columns
