"""How many rows of a table are certified and right, and what must be read beside those shares.

A certified accuracy alone may be a constant's. So beside it stand the accuracy of always giving the
same answer, that of one model on all columns, the recall of every class, and loud warnings.
Summaries of pieces of a table add up; nothing here prints.
"""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .._support import json_value
from ..certificates import Counts
from ..ensemble import CURE, ENOUGH_ROWS, failure_banner, is_nearly_constant
from ..metrics import correct_radius, shares_at_radii
from ._certified_table import CertifiedTable
from ._class_counts import (
    Pairs,
    add_pairs,
    class_numbers,
    count_pairs,
    kept_predictions,
    minority_summary,
)
from ._silence_counts import SilenceCounts
from ._tasks import TASKS
from ._wording import answer_text, percent

TRAINING_ROWS = (
    "THESE ARE THE ROWS THAT THE MODEL WAS FITTED ON. It knows their answers, so the shares of "
    "right rows say nothing about new rows: certify a table that it has not seen."
)
FEW = 0.05  # of the rows of other labels, certified: nearly nothing is proven of them
MANY = 0.25  # of all rows, certified with the commonest label: something is proven of that one
LOOKED_AT = 3  # the largest radius at which that is looked at


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
    right_by_label : dict
        The same for the rows of each true label.
    widths : dict
        For values without a radius: the sum of the intervals' widths, by r.
    predicted : Counter
        Predicted labels.
    constant : float, optional
        For values: the constant that a radius is compared with.
    constant_right, full_model_right : int, optional
        Rows in which the constant, and one model on all columns, are right.
    on_training : bool
        Whether these are the rows that the model was fitted on.
    by_fallback : int, optional
        Rows that the full model behind the vote answers; None where there is no such model.
    pairs : dict
        For labels: rows by radius, by their true label (None: not known) and their predicted one.
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
    radii: "Counter[int]"
    right: "Counter[int] | None" = None
    right_by_label: "dict[Any, Counter[int]]" = field(default_factory=dict)
    widths: dict[int, float] = field(default_factory=dict)
    predicted: "Counter[Any]" = field(default_factory=Counter)
    constant: float | None = None
    constant_right: int | None = None
    full_model_right: int | None = None
    on_training: bool = False
    by_fallback: int | None = None
    pairs: Pairs = field(default_factory=dict)
    common: float = 0.0
    cure: str = CURE
    silence: SilenceCounts | None = None

    @classmethod
    def of(cls, certified: CertifiedTable, on_training: bool = False) -> "Summary":
        """Count the rows of a certified table."""
        model, proof, truth = certified.model, certified.proof, certified.truth
        task = TASKS[model.task]
        intervals = {} if proof is not None else certified.intervals
        summary = cls(
            counts=model.counts_,
            n_submodels=len(model.estimators_),
            n_failed=len(model.failures_),
            rows=len(certified),
            radii=Counter() if proof is None else Counter(proof.radius.tolist()),
            widths={r: float(np.sum(high - low)) for r, (low, high) in intervals.items()},
            predicted=task.label_counts(certified.prediction),
            on_training=on_training,
            by_fallback=int(certified.by_fallback.sum()) if certified.gate else None,
            cure=model.constant_cure,
            silence=SilenceCounts.of(certified),
        )
        if proof is not None and summary.predicted:
            summary.pairs = count_pairs(truth, certified.prediction, proof.radius)
            shares_known = getattr(certified.rule, "shares", None)
            summary.common = 0.0 if shares_known is None else float(np.max(shares_known))
        if truth is None or proof is None:
            return summary
        summary.right, summary.right_by_label = _right(certified, truth)
        summary.constant = model.usual_value
        if summary.constant is not None:
            always = np.full(len(truth), summary.constant)
            summary.constant_right = int(np.count_nonzero(certified.correct(always)))
        full = certified.full_model_prediction
        if full is not None:
            summary.full_model_right = int(np.count_nonzero(certified.correct(full)))
        return summary

    def __add__(self, other: "Summary") -> "Summary":
        labels = {**self.right_by_label, **other.right_by_label}
        return Summary(
            self.counts,
            self.n_submodels,
            self.n_failed,
            self.rows + other.rows,
            self.radii + other.radii,
            None if self.right is None or other.right is None else self.right + other.right,
            {
                label: self.right_by_label.get(label, Counter())
                + other.right_by_label.get(label, Counter())
                for label in labels
            },
            {r: self.widths.get(r, 0.0) + width for r, width in other.widths.items()},
            self.predicted + other.predicted,
            self.constant,
            _sum(self.constant_right, other.constant_right),
            _sum(self.full_model_right, other.full_model_right),
            self.on_training or other.on_training,
            _sum(self.by_fallback, other.by_fallback),
            add_pairs(self.pairs, other.pairs),
            self.common,
            self.cure,
            None if self.silence is None or other.silence is None else self.silence + other.silence,
        )

    def constant_answer(self) -> dict[str, Any] | None:
        """The best constant ``answer`` and the ``share`` of rows in which it is right."""
        if self.right is None:
            return None
        if self.right_by_label:
            label, radii = max(self.right_by_label.items(), key=lambda one: one[1].total())
            return {"answer": json_value(label), "share": radii.total() / self.rows}
        if self.constant_right is None:
            return None
        return {"answer": self.constant, "share": self.constant_right / self.rows}

    def recall(self) -> list[dict[str, Any]]:
        """For every true label its certified recall and precision (:func:`class_numbers`)."""
        length = max((len(shares(radii)) for radii in self.right_by_label.values()), default=0)
        return class_numbers(self.pairs, length)

    def balanced(self) -> list[float]:
        """The mean of the classes' certified recalls at r = 0, 1, ..."""
        recall = [one["share"] for one in self.recall()]
        return [sum(at) / len(at) for at in zip(*recall, strict=True)]

    def warnings(self) -> list[str]:
        """What a reader must know before the numbers."""
        found = [TRAINING_ROWS] if self.on_training else []
        found += [f"{text}." for text in failure_banner(self.n_failed, self.n_submodels)]
        if self.rows >= ENOUGH_ROWS:
            found += self._constant_warnings() or self._majority_warnings()
            found += self._beaten_warnings()
        return found

    def _constant_warnings(self) -> list[str]:
        """Whether nearly all predictions are one label, more than rows have it."""
        if not self.predicted:
            return []
        label, count = self.predicted.most_common(1)[0]
        constant = self.constant_answer()
        common = self.common if constant is None else constant["share"]
        if not is_nearly_constant(count / self.rows, common):
            return []
        return [
            f"{percent(count / self.rows)} of the predictions are {json_value(label)!r}: this "
            f"model is nearly a constant, and its proofs say little. {self._help()}"
        ]

    def _help(self) -> str:
        """What may help a model that is nearly a constant, as a sentence."""
        return f"{self.cure[0].upper()}{self.cure[1:]} may help: partita sweep --score balanced."

    def _majority_warnings(self) -> list[str]:
        """Whether nearly all that is certified at a small radius is one label."""
        found = minority_summary(self.pairs, LOOKED_AT + 1)
        if found is None:
            return []
        for radius in range(1, LOOKED_AT + 1):
            if found["certified"][radius] <= FEW * found["rows"]:
                break
        certified = found["certified"][radius]
        if certified > FEW * found["rows"] or found["kept"][radius] < MANY * self.rows:
            return []
        label, rows = json_value(found["label"]), f"{found['rows']:,}"
        others = (
            f"of the {rows} rows that are predicted otherwise, {certified:,} are certified"
            if self.right is None
            else f"of the {rows} rows that have another label, {certified:,} are right and "
            "certified"
        )
        return [
            f"FROM r = {radius} ON, NEARLY ALL THAT IS CERTIFIED IS {label!r}: {others} there. "
            f"{self._help()}"
        ]

    def _beaten_warnings(self) -> list[str]:
        """Whether a constant answer does as well, at r = 0 or 1."""
        constant = self.constant_answer()
        if constant is None or self.right is None:
            return []
        right = shares(self.right, 2)
        for radius in (0, 1):
            if right[radius] <= constant["share"]:
                return [
                    f"At r = {radius} this model is certified right in {percent(right[radius])} of "
                    f"rows, and always answering {answer_text(constant['answer'])} is right in "
                    f"{percent(constant['share'])}, whatever an attacker does."
                    + self._ahead_in_recall(radius)
                ]
        return []

    def _ahead_in_recall(self, radius: int) -> str:
        """What to add for a model that is behind a constant in accuracy, but not in mean recall."""
        balanced = self.balanced()
        if not balanced:
            return ""
        here = balanced[radius] if radius < len(balanced) else 0.0
        chance = 1 / len(self.right_by_label)
        if here <= chance:
            return ""
        return (
            f" By the mean of the classes' recalls it is ahead ({percent(here)} against "
            f"{percent(chance)}): it gives up accuracy for the rarer labels, which a smaller prior "
            "or an offset gives back."
        )

    def quality(self) -> dict[str, Any]:
        """What must stand beside a certified accuracy."""
        full = self.full_model_right
        return {
            "warnings": self.warnings(),
            "constant": self.constant_answer(),
            "full_model": None if full is None else full / self.rows,
            "recall": self.recall(),
            "balanced": self.balanced(),
            "on_training": self.on_training,
            "failed": self.n_failed,
            "by_fallback": self.by_fallback,
        }

    def to_dict(self, out: Any = None) -> dict[str, Any]:
        """Plain data, as ``partita certify --json`` prints it; ``out``: where proofs went."""
        found: dict[str, Any] = {
            "rows": self.rows,
            "counts": {
                "what": self.counts.what,
                "total": self.counts.total,
                "trusted": list(self.counts.trusted),
            },
            "out": None if out is None else str(out),
        }
        if self.radii:
            found["certified"] = shares(self.radii)
            found["median_radius"] = _median(self.radii)
        quality = self.quality()
        if self.right is not None:
            constant = quality["constant"] or {"answer": None, "share": None}
            found["certified_accuracy"] = shares(self.right)
            found["constant_accuracy"] = constant["share"]
            found["constant_answer"] = constant["answer"]
            found["full_model_accuracy"] = quality["full_model"]
        if self.right_by_label:
            for name, key in (("certified_recall", "share"), ("worst_case_precision", "precision")):
                found[name] = {str(one["label"]): one[key] for one in quality["recall"]}
            found["certified_balanced_accuracy"] = quality["balanced"]
        if self.pairs:
            kept = kept_predictions(self.pairs).items()
            found["kept_predictions"] = {str(json_value(label)): rows for label, rows in kept}
        if self.by_fallback is not None:
            found["fallback_rows"] = self.by_fallback
        if self.silence is not None:
            found["silence"] = self.silence.to_dict()
        return found | {
            "on_training": self.on_training,
            "failed_submodels": quality["failed"],
            "warnings": quality["warnings"],
        }


def _right(
    certified: CertifiedTable, truth: Any
) -> tuple["Counter[int]", "dict[Any, Counter[int]]"]:
    """Rows by the radius up to which they stay right, in all and by true label."""
    proof = certified.against_truth.proof
    assert proof is not None
    radii = np.maximum(correct_radius(truth, proof), -1).astype(np.int64)
    labels = TASKS[certified.model.task].label_counts(truth)
    by_label = {label: Counter(radii[truth == label].tolist()) for label in labels}
    return Counter(radii.tolist()), by_label


def shares(radii: "Counter[int]", length: int | None = None) -> list[float]:
    """The share of rows with a radius of at least r, for r = 0, 1, ..."""
    curve: list[float] = shares_at_radii(list(radii), list(radii.values()), length).tolist()
    return curve


def _median(radii: "Counter[int]") -> float:
    """The median radius, from counts."""
    ordered, below = sorted(radii.items()), 0
    middle = [(radii.total() - 1) // 2, radii.total() // 2]
    found: list[int] = []
    for radius, count in ordered:
        found += [radius] * sum(below <= place < below + count for place in middle)
        below += count
    return sum(found) / 2


def _sum(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else one + other
