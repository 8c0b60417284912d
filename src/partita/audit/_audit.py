"""The audit: attacks that really rewrite, refit and predict, at every r up to the largest
radius."""

import sys
import time
import warnings
from collections.abc import Iterable, Sequence
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from .._support.types import Array
from ..ensemble._base import FeaturePartitionEnsemble
from ..errors import InputError, SoundnessError, SoundnessWarning
from ._attacked_table import Cells
from ._checks import check_pipeline
from ._claims import Question
from ._empty_proofs import emptiness
from ._evasion import Evader
from ._findings import Audit, Broken, Check, Line
from ._isolation import checks_of_rows, checks_of_training, same_as_before
from ._patches import PATCHES, patch_attacks
from ._poisoning import Poison, Poisoner
from ._vote_options import unless_refused

ATTACKS = ("evasion", "poisoning", "patches", "checks")
ROWS = 200


def audit(
    model: Any,
    X: Any,
    y: Any = None,
    X_train: Any = None,
    y_train: Any = None,
    *,
    tolerance: float | None = None,
    relative: float | None = None,
    attacks: Sequence[str] = ATTACKS,
    rows: int = ROWS,
    most: int | None = None,
    random_state: int = 0,
    verbose: int = 0,
) -> Audit:
    """Attack a fitted model as its radius says an attacker may, and see whether a certified
    prediction changes.

    A certified prediction that changes is a bug in the proof, the code or what you assume of the
    estimator; the audit then says how to do it again. That none changes is no proof; the proof is
    elsewhere. The distance between what is certified and what attacks reach shows how much the
    proof gives away.

    Parameters
    ----------
    model : a fitted FeaturePartitionClassifier or FeaturePartitionRegressor, or a Pipeline that
    ends in one X : the rows to attack y : their labels or values, default=None
        Where they are known, accuracy under attack is told beside certified accuracy.
    X_train, y_train : the training data, default=None
        Needed to attack it, and to see whether fitting again gives the same model. Without it the
        rows alone are attacked and checked.
    tolerance, relative : float
        For values: how far a prediction may move, as in ``certify``.
    attacks : some of "evasion", "poisoning" (with backdoors, and label flips where
    ``label_attacks`` promises), "patches", "checks" rows : int, default=200
        How many rows are attacked, chosen at random.
    most : int, default=None
        The largest r tried; None: the largest radius.
    random_state : int, default=0
    verbose : int, default=0
        1: progress on standard error.

    Returns
    -------
    Audit

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from partita import FeaturePartitionClassifier
    >>> from partita.audit import audit
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> clf = FeaturePartitionClassifier(GaussianNB(), n_submodels=9).fit(X[::2], y[::2])
    >>> found = audit(clf, X[1::2], y[1::2], X[::2], y[::2], rows=50, most=2)
    >>> found.passed, sum(line.certified_changed for line in found.lines)
    (True, 0)
    """
    started = time.monotonic()
    check_attacks(attacks)
    for name, value in (("rows", rows), ("most", 1 if most is None else most)):
        if isinstance(value, bool) or not isinstance(value, Integral) or value < 1:
            raise InputError(f"{name} is {value!r}: it must be a whole number, 1 or above")
    found: list[Check] = []
    on_training = X is X_train
    if isinstance(model, Pipeline):
        model, X, X_train, found = _through(model, X, X_train, y_train)
    if not isinstance(model, FeaturePartitionEnsemble):
        raise InputError(
            f"model is a {type(model).__name__}: give a FeaturePartitionClassifier or "
            "...Regressor, or a Pipeline that ends in one"
        )
    check_is_fitted(model, "estimators_")
    if (X_train is None) != (y_train is None):
        raise InputError(
            "X_train and y_train are given one without the other: give both, or neither"
        )
    cells = Cells(X)
    chosen = np.sort(np.random.default_rng(random_state).permutation(cells.n_rows)[:rows])
    cells, y = cells.rows(chosen), None if y is None else np.asarray(y)[chosen]
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore"
        )  # what estimators say of an attacker's values: overflows, failures, no convergence
        question = Question(model, cells.table(), y, tolerance, relative)
        tally = _Tally(question, cells, chosen, most, verbose, started)
        if "evasion" in attacks or "patches" in attacks:
            evader = Evader(question, cells, random_state)
            if "evasion" in attacks:
                tally.evasion(evader)
            if "patches" in attacks and model.image_shape is not None:
                tally.patches(evader)
        if "checks" in attacks:
            tally.check(checks_of_rows(question, cells, random_state))
        if X_train is not None:
            training = Cells(X_train)
            if "poisoning" in attacks:
                tally.poisoning(
                    Poisoner(question, cells, training, np.asarray(y_train), random_state)
                )
            if "checks" in attacks:
                tally.check(
                    checks_of_training(question, cells, training, np.asarray(y_train), random_state)
                )
        if "checks" in attacks:
            tally.check([same_as_before(question, cells)])
        doubts = emptiness(question, on_training)
    return Audit(
        model.counts_.what,
        tally.lines,
        [*found, *tally.checks],
        tally.broken,
        time.monotonic() - started,
        warnings=doubts,
    )


def check_attacks(attacks: Sequence[str]) -> None:
    """Refuse attacks that there are not, and none at all."""
    known = ", ".join(map(repr, ATTACKS))
    if isinstance(attacks, str) or not attacks:
        raise InputError(f"attacks is {attacks!r}: give a list of some of {known}")
    if unknown := [attack for attack in attacks if attack not in ATTACKS]:
        raise InputError(f"attacks names {unknown[0]!r}: give some of {known}")


def _through(
    pipeline: Pipeline, X: Any, X_train: Any, y_train: Any
) -> tuple[Any, Any, Any, list[Check]]:
    """A pipeline's steps are checked for columns that reach several submodels; then its ensemble is
    attacked behind them."""
    found = []
    if X_train is not None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SoundnessWarning)
            found = [
                Check("the pipeline's steps keep columns apart", message)
                for message in check_pipeline(pipeline, X_train, y_train)
            ]
        found = found or [Check("the pipeline's steps keep columns apart", "")]
    before = pipeline[:-1]
    transformed = None if X_train is None else before.transform(X_train)
    return pipeline.steps[-1][1], before.transform(X), transformed, found


class _Tally:
    """Counts, attack by attack."""

    def __init__(
        self,
        question: Question,
        cells: Cells,
        chosen: Array,
        most: int | None,
        verbose: int,
        started: float,
    ) -> None:
        self.question, self.cells, self.chosen = question, cells, chosen
        self.lines: list[Line] = []
        self.checks: list[Check] = []
        self.broken: list[Broken] = []
        self.verbose, self.started, self.told = verbose, started, started
        largest = int(min(question.radius.max(initial=0), len(question.model.estimators_)))
        self.radii = range(1, (largest if most is None else min(largest, most)) + 1)

    def evasion(self, evader: Evader) -> None:
        changed, right = self._fresh()
        for r in self.radii:
            tried = 0
            for _, attack in evader.attacks(r):
                prediction = self._predicted(self.question.model, attack.table)
                if prediction is None:
                    continue
                self._after(
                    "evasion",
                    r,
                    prediction,
                    changed,
                    right,
                    self.question.radius,
                    attack.table,
                    attack.units,
                )
                tried += 1
            self._line("evasion", r, tried, changed, right)

    def patches(self, evader: Evader) -> None:
        for side in PATCHES:
            changed, right = self._fresh()
            found = patch_attacks(evader, side)
            if found is None:
                break
            survives, attacks = found
            name = f"patch of {side} x {side}"
            for attack in attacks:
                prediction = self._predicted(self.question.model, attack.table)
                if prediction is None:
                    continue
                self._after(
                    name, 1, prediction, changed, right, survives, attack.table, attack.units
                )
            certified_right = (
                None
                if self.question.truth is None
                else float(np.mean(self._start_right() & (survives >= 1)))
            )
            self._line(name, 1, len(attacks), changed, right, survives, certified_right)

    def poisoning(self, poisoner: Poisoner) -> None:
        """Hostile values are tried with one unit and with as many as there may be: what they do
        hardly depends on how many hold them."""
        tallies: dict[str, tuple[Array, Array | None]] = {}
        for r in self.radii:
            tried: dict[str, int] = {}
            last: Poison | None = None
            for poison in poisoner.attacks(r, hostile=r in (1, self.radii[-1])):
                self.tell(f"{poison.kind}, r = {r}")
                if last is None or poison.training is not last.training or poison.y is not last.y:
                    fitted = self._fitted(poison, r)
                last = poison
                prediction = None if fitted is None else self._predicted(fitted, poison.table)
                if prediction is None:
                    continue
                changed, right = tallies.setdefault(poison.kind, self._fresh())
                units = [poison.units] * len(self.question)
                self._after(
                    poison.kind,
                    r,
                    prediction,
                    changed,
                    right,
                    self.question.radius,
                    poison.table,
                    units,
                    poison,
                )
                tried[poison.kind] = tried.get(poison.kind, 0) + 1
            for kind, n in tried.items():
                self._line(kind, r, n, *tallies[kind])

    def _fitted(self, poison: Poison, r: int) -> Any:
        """The model, fitted on the poisoned table; None where a submodel refuses that. One that is
        not sound is told of."""
        try:
            return unless_refused(poison.fitted, self.question.model)
        except SoundnessError as exc:
            self.checks.append(
                Check(
                    f"fitted again after {poison.kind}, r = {r}",
                    f"it fails: {type(exc).__name__}: {exc}",
                )
            )
            return None

    @staticmethod
    def _predicted(model: Any, table: Any) -> Any:
        """What the model says of the rows after an attack; None where a submodel refuses them: an
        error is no changed prediction."""
        return unless_refused(model.predict, table)

    def check(self, checks: Iterable[Check]) -> None:
        for check in checks:
            self.tell(check.name)
            self.checks.append(check)

    def tell(self, doing: str) -> None:
        now = time.monotonic()
        if self.verbose and now - self.told >= 2:
            self.told = now
            print(
                f"partita: {now - self.started:.0f} s so far, now {doing}",
                file=sys.stderr,
                flush=True,
            )

    def _start_right(self) -> Array:
        return self.question.right(self.question.prediction)

    def _fresh(self) -> tuple[Array, Array | None]:
        """Which rows have changed so far, and which are still right."""
        return np.zeros(
            len(self.question), dtype=bool
        ), None if self.question.truth is None else self._start_right()

    def _after(
        self,
        attack: str,
        r: int,
        prediction: Array,
        changed: Array,
        right: Array | None,
        radius: Array,
        table: Any,
        units: list[list[int]],
        poison: Poison | None = None,
    ) -> None:
        """Count what an attack changed; keep what it takes to do it again where a certified
        prediction fell."""
        now = self.question.broken(prediction)
        changed |= now
        if right is not None:
            right &= self.question.right(prediction)
        fell = np.flatnonzero(now & (radius >= r))
        if not len(fell):
            return
        asked, rewritten = Cells(table), None if poison is None else Cells(poison.training)
        for row in fell:
            self.broken.append(
                self._reproducer(
                    attack,
                    r,
                    int(row),
                    prediction[row],
                    int(radius[row]),
                    asked,
                    units[row],
                    poison,
                    rewritten,
                )
            )

    def _reproducer(
        self,
        attack: str,
        r: int,
        row: int,
        after: Any,
        radius: int,
        asked: Cells,
        units: list[int],
        poison: Poison | None,
        rewritten: Cells | None,
    ) -> Broken:
        model = self.question.model
        columns = [column for unit in units for column in model.units_.columns[unit]]
        training: dict[str, Any] = {}
        if poison is not None and rewritten is not None:
            training = {rewritten.names[column]: rewritten.columns[column] for column in columns}
            if poison.labels:
                training["y"] = poison.y
        return Broken(
            attack,
            r,
            int(self.chosen[row]),
            radius,
            tuple(model.units_.names[unit] for unit in units),
            tuple(poison.labels) if poison is not None else (),
            self.question.prediction[row],
            after,
            {asked.names[column]: asked.columns[column][row] for column in columns},
            training,
        )

    def _line(
        self,
        attack: str,
        r: int,
        tried: int,
        changed: Array,
        right: Array | None,
        radius: Array | None = None,
        certified_accuracy: float | None = None,
    ) -> None:
        proven = self.question.radius if radius is None else radius
        fell = {one.row for one in self.broken if one.attack == attack and one.r <= r}
        truth = self.question.radius_of_truth
        if truth is not None and radius is None:
            certified_accuracy = float(np.mean(truth >= r))
        self.lines.append(
            Line(
                attack,
                r,
                tried,
                len(changed),
                int(changed.sum()),
                int((proven >= r).sum()),
                len(fell & set(self.chosen[proven >= r].tolist())),
                None if right is None else float(right.mean()),
                certified_accuracy,
            )
        )
