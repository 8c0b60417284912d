"""The rows of a table, with a prediction and a certificate each, and how many are right.

Every row is certified once, from one set of ballots: results are computed when first used, and a
change of rule or of the statement makes a new object without results.

A certified accuracy alone may be a constant's. So a summary has beside it the accuracy of always
giving the same answer, that of one model on all columns, what is certified of every label, what
silent sources cost, and loud warnings. Summaries of pieces of a table add up.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self, TypeAlias, TypeVar

import numpy as np

from .._support import (
    Array,
    JsonObject,
    TableLike,
    answer_text,
    check_whole,
    json_value,
    percent,
)
from ..ballots import Ballots
from ..certificates import Certificates, Counts
from ..collective import Collective, certify_collective, criticality
from ..ensemble import (
    CURE,
    ENOUGH_ROWS,
    FittedEnsemble,
    failure_banner,
    full_predictions,
    is_nearly_constant,
)
from ..errors import InputError
from ..metrics import class_curve, correct_radius, rows_at_radii, shares_at_radii
from ..rules import Gated, PooledRule, Rule, Statement
from ..tables import Table
from ._schema import TASKS


@dataclass(frozen=True, eq=False)
class CertifiedTable:
    """Predictions and certificates for the rows of a table.

    Make one with :meth:`of`. Without a tolerance, a regressor's rows have intervals and no radius.

    Attributes
    ----------
    model : FeaturePartitionClassifier or FeaturePartitionRegressor
        Fitted.
    table : Table
        The rows.
    ballots : Ballots
        What the submodels say about them, and the rule; everything else is computed from these.
    tolerance, relative : float, optional
        For a regressor: how far a prediction may move and still count as unchanged.
    truth : array, optional
        The right labels or values, where they are known.
    by_truth : bool
        Whether a value must stay near the truth, not near the prediction (:attr:`against_truth`).
    label_sets : int
        For a classifier: up to how many bad units label sets are wanted for.
    """

    model: FittedEnsemble
    table: Table
    ballots: Ballots
    tolerance: float | None = None
    relative: float | None = None
    truth: Array | None = None
    by_truth: bool = False
    label_sets: int = 0

    @classmethod
    def of(
        cls,
        model: FittedEnsemble,
        X: TableLike,
        tolerance: float | None = None,
        relative: float | None = None,
        truth: Array | None = None,
        silent: object = None,
        **more: Any,
    ) -> Self:
        """Cast the ballots for the rows of X; ``silent``: as ``certify`` takes it."""
        TASKS[model.task].check_tolerance(tolerance, relative)
        of_labels = model.task == "classification"
        check_label_sets(more.get("label_sets", 0), of_labels, model.counts_)
        table = model.read(X, silent)
        return cls(model, table, model.ballots(table, silent), tolerance, relative, truth, **more)

    def under(self, rule: Rule) -> Self:
        """Decide and certify the same ballots by another rule, behind the same gate."""
        decides = Gated(rule, self.gate) if self.gate else rule
        return replace(self, ballots=replace(self.ballots, rule=decides))

    def __len__(self) -> int:
        return len(self.ballots)

    @property
    def rule(self) -> Rule:
        """Return the rule of the vote."""
        rule = self.ballots.own_rule
        return rule.rule if isinstance(rule, Gated) else rule

    @property
    def gate(self) -> int:
        """Return the least radius at which the vote decides; 0: it always does."""
        rule = self.ballots.rule
        return int(rule.gate) if isinstance(rule, Gated) else 0

    @property
    def silent_units(self) -> Array | None:
        """Return which sources are silent, bool (rows, units); None if not covered."""
        silence = self.ballots.abstentions
        return None if silence is None else silence.units

    @cached_property
    def prediction(self) -> Array:
        """Return one label or value per row."""
        return np.asarray(self.model.decide(self.ballots))

    @cached_property
    def by_fallback(self) -> Array:
        """Return the rows, bool, that the full model behind the vote answers, unproven."""
        rule = self.ballots.rule
        if isinstance(rule, Gated):
            return rule.by_fallback(self.ballots)
        return np.zeros(len(self), dtype=bool)

    @cached_property
    def statement(self) -> Statement | None:
        """Return what is certified of each row; None for a regressor without a tolerance."""
        around = self.truth if self.by_truth else None
        return self.model.statement(self.prediction, self.tolerance, self.relative, around)

    @cached_property
    def proof(self) -> Certificates | None:
        """Return the certificates of the statement; None where nothing is stated."""
        if self.statement is None:
            return None
        return self.model.certificates(self.ballots, self.statement, self.table)

    @cached_property
    def against_truth(self) -> Self:
        """State of the same ballots that a value stays within the tolerance of the truth.

        Certified accuracy is about these certificates. A value that is outside now has radius -1,
        and counts as one that any attacker can change. For labels, and for values without a
        tolerance, this is the table itself.
        """
        if self.by_truth or self.statement is None or not self.statement.bounds:
            return self
        assert self.truth is not None
        return replace(self, by_truth=True)

    def correct(self, predictions: Array) -> Array:
        """Return which of these predictions, one per row, are right; the truth must be known."""
        assert self.truth is not None
        return np.asarray(
            self.model.correct(predictions, self.truth, self.tolerance, self.relative)
        )

    @cached_property
    def critical_units(self) -> Array | None:
        """Return which units could, each alone, break a row's statement, bool (units, rows)."""
        if self.statement is None:
            return None
        return criticality(self.ballots, None, self._incidence, **self.statement.bounds)

    def collective(
        self, radius: int, time_limit: float = 10.0, rows: Array | None = None
    ) -> Collective | None:
        """Return what one attacker can break who owns the same ``radius`` units in every row.

        ``rows``: a mask of the rows to count, where it is not all of them.
        """
        if self.statement is None:
            return None
        ballots, statement = self.ballots, self.statement
        if rows is not None:
            ballots, statement = ballots[rows], statement.take(rows)
        return certify_collective(
            ballots, radius, None, self._incidence, **statement.bounds, time_limit=time_limit
        )

    @cached_property
    def intervals(self) -> dict[int, tuple[Array, Array]]:
        """Return the lowest and highest value that r units can bring about, by r."""
        return dict(self.model.intervals(self.ballots))

    @cached_property
    def possible_labels(self) -> dict[int, Array]:
        """Return the labels that r units can bring about, bool (rows, labels), by r."""
        ballots = self.ballots
        radii = range(1, self.label_sets + 1)
        return {r: ballots.own_rule.prediction_set(ballots, r) for r in radii}

    def agreement(self) -> Array:
        """Return each submodel's share of rows in which its own vote fulfils the statement."""
        if self.statement is None:
            return np.full(self.ballots.shape[1], np.nan)
        holds = self.statement.holds(self.model.votes(self.ballots))
        if self.ballots.abstentions is None:
            return np.asarray(holds.mean(axis=0))
        voted = ~self.ballots.abstentions.submodels
        with np.errstate(invalid="ignore"):  # nothing is known of one that never votes
            return np.asarray((holds & voted).sum(axis=0) / voted.sum(axis=0))

    @property
    def _incidence(self) -> Array:
        return np.asarray(self.model.partition_.incidence())

    @cached_property
    def full_model_prediction(self) -> Array | None:
        """Return what one model on all columns predicts; None without one, or where it fails."""
        return full_predictions(self.model, self.table)


def check_label_sets(radius: int, of_labels: bool, counts: Counts) -> None:
    """Refuse a largest radius of label sets that is no use."""
    check_whole("label_sets", radius, 0)
    if radius and not of_labels:
        raise InputError(
            "label_sets is for labels, and the predictions are numbers, which have intervals "
            "without it: leave it out"
        )
    if radius > counts.total:
        raise InputError(
            f"label_sets is {radius}, and there are {counts.total} {counts.what}: give at most that"
        )


# ---- how many rows are certified and right ----

TRAINING_ROWS = (
    "THESE ARE THE ROWS THAT THE MODEL WAS FITTED ON. It knows their answers, so the shares of "
    "right rows say nothing about new rows: certify a table that it has not seen."
)
FEW = 0.05  # of the rows of other labels, certified: nearly nothing is proven of them
MANY = 0.25  # of all rows, certified with the commonest label: something is proven of that one
LARGEST_CHECKED = 3  # the largest radius at which that is checked
SHOWN_UNITS = 5  # silent units that are named

Label: TypeAlias = str | float
Radii = Counter[int]  # rows by radius
Pairs = Counter[tuple[Label, Label, int]]  # rows by true label (None: unknown), prediction, radius


def choose_command(radius: int, more: str = "") -> str:
    """Return the command that compares both methods, for a reader of a warning."""
    return " ".join(
        f"partita choose DATA --target COLUMN --radius {radius} {more} --out choice".split()
    )


def count_pairs(truth: Array | None, prediction: Array, radius: Array) -> Pairs:
    """Count rows by their labels and radius."""
    predicted, of_predicted = np.unique(prediction, return_inverse=True)
    true, of_true = np.array([None]), np.zeros(len(prediction), dtype=np.int64)
    if truth is not None:
        true, of_true = np.unique(truth, return_inverse=True)
    keys = np.stack([of_true.reshape(-1), of_predicted.reshape(-1), radius])
    distinct, counts = np.unique(keys, axis=1, return_counts=True)
    true_labels, predicted_labels = true.tolist(), predicted.tolist()
    return Counter(
        {
            (true_labels[i], predicted_labels[j], r): n
            for (i, j, r), n in zip(distinct.T.tolist(), counts.tolist(), strict=True)
        }
    )


def class_numbers(pairs: Pairs, length: int) -> list[JsonObject]:
    """Return what is certified of every true label at r = 0, 1, ..., in the order of the labels.

    Returns
    -------
    list of dict
        ``label``; ``rows`` and ``predicted``: how many have it and are predicted as it; ``share``:
        its certified recall; ``precision``: the least an attacker leaves of its precision;
        ``kept``: how many of the rows predicted as it stay so.
    """
    labels = _sorted(true for true, _, _ in pairs if true is not None)
    if not labels:
        return []
    true, predicted, radius = (np.array(column, object) for column in zip(*pairs, strict=True))
    rows = np.array(list(pairs.values()))
    curves = [class_curve(label, true, predicted, radius, length, rows) for label in labels]
    return [
        {
            "label": json_value(label),
            "rows": one.rows,
            "predicted": one.predicted,
            "share": one.recall.tolist(),
            "precision": one.precision.tolist(),
            "kept": one.kept.tolist(),
        }
        for label, one in zip(labels, curves, strict=True)
    ]


def kept_predictions(pairs: Pairs, length: int | None = None) -> dict[Label, list[int]]:
    """Return for every predicted label how many of its rows stay so at r = 0, 1, ..."""
    if length is None:
        length = max((radius for _, _, radius in pairs), default=0) + 1
    by_label: dict[Label, Radii] = {}
    for (_, predicted, radius), n in pairs.items():
        by_label.setdefault(predicted, Counter())[radius] += n
    return {label: _at(by_label[label], length).tolist() for label in _sorted(by_label)}


def minority_summary(pairs: Pairs, length: int) -> JsonObject | None:
    """Return what is certified at r = 0, 1, ... of labels other than the most predicted one.

    ``label``: that one, and ``kept`` how many of its predictions stay. ``rows``: rows of other
    labels, by the truth where it is known, otherwise by prediction; ``certified``: how many of them
    stay what they are, and right. None where there are no such rows.
    """
    kept = kept_predictions(pairs, length)
    if not kept:
        return None
    label = max(kept, key=lambda one: kept[one][0])
    rows = _radii(pairs, lambda true, predicted: label != (predicted if true is None else true))
    certified = _radii(
        pairs, lambda true, predicted: predicted != label and true in (None, predicted)
    )
    if not rows:
        return None
    return {
        "label": label,
        "kept": kept[label],
        "rows": rows.total(),
        "certified": _at(certified, length).tolist(),
    }


def _radii(pairs: Pairs, chosen: Callable[[Label, Label], bool]) -> Radii:
    """Count by radius the rows whose true and predicted labels are chosen."""
    radii = Radii()
    for (true, predicted, radius), n in pairs.items():
        if chosen(true, predicted):
            radii[radius] += n
    return radii


def _rows_by(pairs: Pairs, place: int) -> Counter[Label]:
    """Count the rows by their true (0) or predicted (1) label."""
    rows = Counter[Label]()
    for pair, n in pairs.items():
        rows[pair[place]] += n
    return rows


def _at(radii: Radii, length: int | None = None) -> Array:
    """Count the rows with a radius of at least r, for r = 0, 1, ..."""
    return rows_at_radii(list(radii), list(radii.values()), length)


def _sorted(labels: Iterable[Label]) -> list[Label]:
    return sorted(set(labels), key=lambda label: (isinstance(label, str), label))


def _shares(radii: Radii, length: int | None = None) -> list[float]:
    """Return the share of rows with a radius of at least r, for r = 0, 1, ..."""
    curve: list[float] = shares_at_radii(list(radii), list(radii.values()), length).tolist()
    return curve


def _median(radii: Radii) -> float:
    """Return the median radius, from counts."""
    ordered = sorted(radii.items())
    below = np.cumsum([count for _, count in ordered])
    middle = [(radii.total() - 1) // 2, radii.total() // 2]
    return sum(int(ordered[place][0]) for place in np.searchsorted(below, middle, side="right")) / 2


@dataclass
class SilenceCounts:
    """Counts over rows in which sources may be silent.

    Attributes
    ----------
    rows : int
        Rows in which a source is silent.
    units : Counter
        Rows by silent unit.
    abstained : int
        The most submodels that abstain in a row.
    radii, without : Counter
        Rows with silence by their radius, and by what it would be at best without the silence;
        empty where nothing is stated about rows.
    made_for : int
        How many sources a leave-out ensemble was made for; 0 for a partition.
    """

    rows: int = 0
    units: Counter[str] = field(default_factory=Counter)
    abstained: int = 0
    radii: Radii = field(default_factory=Counter)
    without: Radii = field(default_factory=Counter)
    made_for: int = 0

    @classmethod
    def of(cls, certified: CertifiedTable) -> "SilenceCounts | None":
        """Count the rows of a certified table; None where silence is not covered."""
        abstentions = certified.ballots.abstentions
        if abstentions is None or abstentions.units is None:
            return None
        rows = np.asarray(abstentions.units.any(axis=1))
        per_unit = abstentions.units.sum(axis=0).tolist()
        names, rule = certified.model.units_.names, certified.rule
        found = cls(
            int(rows.sum()),
            Counter({name: n for name, n in zip(names, per_unit, strict=True) if n}),
            int(abstentions.submodels.sum(axis=1).max(initial=0)),
            made_for=rule.radius if isinstance(rule, PooledRule) else 0,
        )
        silence = None if certified.proof is None else certified.proof.silence
        if silence is not None:
            found.radii = Counter(silence.radius[rows].tolist())
            found.without = Counter(silence.without[rows].tolist())
        return found

    def __add__(self, other: "SilenceCounts") -> "SilenceCounts":
        return SilenceCounts(
            self.rows + other.rows,
            self.units + other.units,
            max(self.abstained, other.abstained),
            self.radii + other.radii,
            self.without + other.without,
            self.made_for,
        )

    def sentence(self, n_rows: int) -> str:
        """Describe what was silent and what it cost."""
        if not self.rows:
            return "No source is silent in any row."
        listed = [f"{name} ({count:,})" for name, count in self.units.most_common(SHOWN_UNITS)]
        if len(self.units) > SHOWN_UNITS:
            listed.append(f"{len(self.units) - SHOWN_UNITS} more")
        submodels = (
            "1 submodel abstains" if self.abstained == 1 else f"{self.abstained} submodels abstain"
        )
        cost = advice = ""
        if self.radii:
            cost = (
                f"; the median radius there is {_median(self.radii):g}, at best "
                f"{_median(self.without):g} without the silence"
            )
        if self.made_for and max(self.radii, default=1) <= 0:
            advice = (
                f" A leave-out ensemble made for r = {self.made_for} has no proof left there: fit "
                "it with a larger --radius, or use a partition."
            )
        return (
            f"Silent in {self.rows:,} of {n_rows:,} rows: {', '.join(listed)}. Up to {submodels}"
            f"{cost}.{advice}"
        )

    def to_dict(self) -> JsonObject:
        """Return the same as plain data."""
        found: JsonObject = {"rows": self.rows, "units": dict(self.units)}
        if self.radii:
            found["median_radius"] = _median(self.radii)
            found["median_radius_at_best_without"] = _median(self.without)
        return found


Summand = TypeVar("Summand", int, Radii, SilenceCounts)


@dataclass
class Summary:
    """Rows counted by their radius, and what to compare the shares with.

    Attributes
    ----------
    counts : Counts
        What a radius counts.
    n_submodels, n_failed : int
        Submodels, and how many of them could not be fitted.
    rows : int
        How many rows were certified.
    radii : Counter
        Rows by radius; empty where there is none.
    right : Counter, optional
        Rows by the radius up to which they stay right, -1 for those that are wrong; None where the
        truth is not known.
    pairs : Counter
        For labels: rows by true label (None: not known), predicted label and radius.
    widths : dict
        For values without a radius: the sum of the intervals' widths, by r.
    set_sizes : Counter
        The sum of the label sets' sizes, by r.
    covered : Counter, optional
        Rows whose true label is in the set, by r; None where the truth is not known.
    constant : float, optional
        For values: the constant that a radius is compared with.
    constant_right, full_model_right : int, optional
        Rows in which the constant, and one model on all columns, are right.
    on_training : bool
        Whether these are the rows that the model was fitted on.
    by_fallback : int, optional
        Rows that the full model behind the vote answers; None where there is no such model.
    common : float
        The share of the most common label among the training rows, 0 where it is not known.
    cure : str
        What may help a model that is nearly a constant.
    silence : SilenceCounts, optional
        What was silent, where sources may be.
    """

    counts: Counts
    n_submodels: int
    n_failed: int
    rows: int
    radii: Radii
    right: Radii | None = None
    pairs: Pairs = field(default_factory=Counter)
    widths: dict[int, float] = field(default_factory=dict)
    set_sizes: Counter[int] = field(default_factory=Counter)
    covered: Counter[int] | None = None
    constant: float | None = None
    constant_right: int | None = None
    full_model_right: int | None = None
    on_training: bool = False
    by_fallback: int | None = None
    common: float = 0.0
    cure: str = CURE
    silence: SilenceCounts | None = None

    @classmethod
    def of(cls, certified: CertifiedTable, on_training: bool = False) -> "Summary":
        """Count the rows of a certified table."""
        model, proof, truth = certified.model, certified.proof, certified.truth
        intervals = {} if proof is not None else certified.intervals
        summary = cls(
            counts=model.counts_,
            n_submodels=len(model.estimators_),
            n_failed=len(model.failures_),
            rows=len(certified),
            radii=Counter() if proof is None else Counter(proof.radius.tolist()),
            widths={r: float(np.sum(high - low)) for r, (low, high) in intervals.items()},
            on_training=on_training,
            by_fallback=int(certified.by_fallback.sum()) if certified.gate else None,
            cure=model.constant_cure,
            silence=SilenceCounts.of(certified),
        )
        if proof is None:
            return summary
        if model.task == "classification":
            summary.pairs = count_pairs(truth, certified.prediction, proof.radius)
            shares = getattr(certified.rule, "shares", None)
            summary.common = 0.0 if shares is None else float(np.max(shares))
            sets = certified.possible_labels
            summary.set_sizes = Counter({r: int(one.sum()) for r, one in sets.items()})
        if truth is None:
            return summary
        if summary.set_sizes:
            true = truth[:, None] == model.classes_
            summary.covered = Counter({r: int((one & true).sum()) for r, one in sets.items()})
        stated = certified.against_truth.proof
        assert stated is not None
        summary.right = Counter(np.maximum(correct_radius(truth, stated), -1).astype(int).tolist())
        summary.constant = model.usual_value
        if summary.constant is not None:
            always = np.full(len(truth), summary.constant)
            summary.constant_right = int(np.count_nonzero(certified.correct(always)))
        full = certified.full_model_prediction
        if full is not None:
            summary.full_model_right = int(np.count_nonzero(certified.correct(full)))
        return summary

    def __add__(self, other: "Summary") -> "Summary":
        return replace(
            self,
            rows=self.rows + other.rows,
            radii=self.radii + other.radii,
            right=_sum(self.right, other.right),
            pairs=self.pairs + other.pairs,
            widths={r: self.widths.get(r, 0.0) + width for r, width in other.widths.items()},
            set_sizes=self.set_sizes + other.set_sizes,
            covered=_sum(self.covered, other.covered),
            constant_right=_sum(self.constant_right, other.constant_right),
            full_model_right=_sum(self.full_model_right, other.full_model_right),
            on_training=self.on_training or other.on_training,
            by_fallback=_sum(self.by_fallback, other.by_fallback),
            silence=_sum(self.silence, other.silence),
        )

    def constant_answer(self) -> JsonObject | None:
        """Return the best constant ``answer`` and the ``share`` of rows in which it is right."""
        if self.right is None:
            return None
        answer: Label | None = self.constant
        rows = self.constant_right
        if self.pairs:
            ((answer, rows),) = _rows_by(self.pairs, 0).most_common(1)
        return None if rows is None else {"answer": json_value(answer), "share": rows / self.rows}

    def label_sets(self) -> JsonObject | None:
        """Return the label sets' mean ``size`` and, if known, their ``coverage`` at r = 0, 1, ...

        None without label sets. At r = 0 a set is the prediction.
        """
        if not self.set_sizes:
            return None
        radii = sorted(self.set_sizes)
        found: JsonObject = {"size": [1.0, *(self.set_sizes[r] / self.rows for r in radii)]}
        if self.right is not None and self.covered is not None:
            shares = [self.covered[r] / self.rows for r in radii]
            found["coverage"] = [_shares(self.right)[0], *shares]
        return found

    def recall(self) -> list[JsonObject]:
        """Return for every true label its certified recall and precision (class_numbers)."""
        right = _radii(self.pairs, lambda true, predicted: true == predicted)
        return class_numbers(self.pairs, len(_at(right)))

    def balanced(self) -> list[float]:
        """Return the mean of the classes' certified recalls at r = 0, 1, ..."""
        recall = [one["share"] for one in self.recall()]
        return [sum(at) / len(at) for at in zip(*recall, strict=True)]

    def warnings(self, radius: int = 1) -> list[str]:
        """Return what a reader must know before the numbers; a proof is wanted at this radius."""
        found = [TRAINING_ROWS] if self.on_training else []
        found += [f"{text}." for text in failure_banner(self.n_failed, self.n_submodels)]
        if self.rows >= ENOUGH_ROWS:
            found += self._constant_warnings(radius) or self._majority_warnings()
            found += self._beaten_warnings(radius)
        return found

    def _constant_warnings(self, wanted: int) -> list[str]:
        """Warn where nearly all predictions are one label, more than rows have it."""
        if not self.pairs:
            return []
        ((label, count),) = _rows_by(self.pairs, 1).most_common(1)
        constant = self.constant_answer()
        common = self.common if constant is None else constant["share"]
        if not is_nearly_constant(count / self.rows, common):
            return []
        return [
            f"{percent(count / self.rows)} of the predictions are {json_value(label)!r}: this "
            f"model is nearly a constant, and its proofs say little. {self._help(wanted)}"
        ]

    def _help(self, radius: int) -> str:
        """Return what may help a model that is nearly a constant."""
        cure = f"{self.cure[0].upper()}{self.cure[1:]} may help"
        return f"{cure}: {choose_command(radius, '--want balanced')}."

    def _majority_warnings(self) -> list[str]:
        """Warn where nearly all that is certified at a small radius is one label."""
        found = minority_summary(self.pairs, LARGEST_CHECKED + 1)
        if found is None:
            return []
        most = FEW * found["rows"]
        radius = next(
            (r for r in range(1, LARGEST_CHECKED + 1) if found["certified"][r] <= most), None
        )
        if radius is None or found["kept"][radius] < MANY * self.rows:
            return []
        label, rows = json_value(found["label"]), f"{found['rows']:,}"
        certified = f"{found['certified'][radius]:,}"
        others = (
            f"of the {rows} rows that are predicted otherwise, {certified} are certified"
            if self.right is None
            else f"of the {rows} rows that have another label, {certified} are right and certified"
        )
        return [
            f"FROM r = {radius} ON, NEARLY ALL THAT IS CERTIFIED IS {label!r}: {others} there. "
            f"{self._help(radius)}"
        ]

    def _beaten_warnings(self, wanted: int) -> list[str]:
        """Warn where a constant answer does as well, at r = 0 or at the radius that is wanted."""
        constant = self.constant_answer()
        if constant is None or self.right is None:
            return []
        shares = _shares(self.right, wanted + 1)
        for radius, right in ((0, shares[0]), (wanted, shares[wanted])):
            if right <= constant["share"]:
                return [
                    f"At r = {radius} this model is certified right in {percent(right)} of rows, "
                    f"and always answering {answer_text(constant['answer'])} is right in "
                    f"{percent(constant['share'])}, whatever an attacker does."
                    + self._ahead_in_recall(radius)
                    + f" Other settings: {choose_command(max(1, radius))}."
                ]
        return []

    def _ahead_in_recall(self, radius: int) -> str:
        """Describe a model that is behind a constant in accuracy, but not in mean recall."""
        recall, balanced = self.recall(), self.balanced()
        here = balanced[radius] if radius < len(balanced) else 0.0
        chance = 1 / len(recall) if recall else 1.0
        if here <= chance:
            return ""
        return (
            f" By the mean of the classes' recalls it is ahead ({percent(here)} against "
            f"{percent(chance)}): it gives up accuracy for the rarer labels, which a smaller prior "
            "or an offset gives back."
        )

    def quality(self) -> JsonObject:
        """Return what must stand beside a certified accuracy."""
        full = self.full_model_right
        return {
            "warnings": self.warnings(),
            "constant": self.constant_answer(),
            "full_model": None if full is None else full / self.rows,
            "recall": self.recall(),
            "balanced": self.balanced(),
            "on_training": self.on_training,
        }

    def to_dict(self, out: object = None) -> JsonObject:
        """Return what ``partita certify --json`` prints; ``out``: where proofs went."""
        found: JsonObject = {
            "rows": self.rows,
            "counts": json_value(vars(self.counts)),
            "out": None if out is None else str(out),
        }
        if self.radii:
            found["certified"] = _shares(self.radii)
            found["median_radius"] = _median(self.radii)
        quality = self.quality()
        if self.right is not None:
            constant = quality["constant"] or {"answer": None, "share": None}
            found["certified_accuracy"] = _shares(self.right)
            found["constant_accuracy"] = constant["share"]
            found["constant_answer"] = constant["answer"]
            found["full_model_accuracy"] = quality["full_model"]
        if quality["recall"]:
            for name, key in (("certified_recall", "share"), ("worst_case_precision", "precision")):
                found[name] = {str(one["label"]): one[key] for one in quality["recall"]}
            found["certified_balanced_accuracy"] = quality["balanced"]
        if self.pairs:
            kept = kept_predictions(self.pairs).items()
            found["kept_predictions"] = {str(json_value(label)): rows for label, rows in kept}
        if sets := self.label_sets():
            found["label_sets"] = sets
        if self.by_fallback is not None:
            found["fallback_rows"] = self.by_fallback
        if self.silence is not None:
            found["silence"] = self.silence.to_dict()
        return found | {
            "on_training": self.on_training,
            "failed_submodels": self.n_failed,
            "warnings": quality["warnings"],
        }


def _sum(one: Summand | None, other: Summand | None) -> Summand | None:
    """Add counts of two pieces of a table; None where one of them is not known."""
    return None if one is None or other is None else one + other
