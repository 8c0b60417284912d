"""What is proven of many rows, added up piece by piece, and what must stand beside it.

A certified accuracy alone may be a constant's. So beside it stand the accuracy of always giving the
same answer, that of one model on all columns, the recall of every class, and loud warnings."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..ensemble._empty_proofs import ENOUGH_ROWS, NEARLY_ALL
from ..ensemble._failures import FixedVote
from ..metrics import FARTHEST

MOST_CLASSES = (
    8  # classes with more than so many others are shown by their mean and the lowest alone
)
ON_TRAINING = (
    "THESE ARE THE ROWS THAT THE MODEL WAS FITTED ON. It knows their answers, so the shares of "
    "right rows say nothing about new rows: "
    "certify a table that it has not seen."
)


@dataclass
class Tally:
    """Rows by their radius, rows by the radius at which they are right, and what to compare them
    with."""

    rows: int = 0
    radii: Counter[int] = field(default_factory=Counter)
    right: Counter[int] | None = None  # -1: not right
    widths: dict[int, float] = field(default_factory=dict)
    predicted: Counter[Any] = field(default_factory=Counter)  # labels
    by_label: dict[Any, Counter[int]] = field(
        default_factory=dict
    )  # ``right``, for the rows of each true label
    constant_right: int | None = None  # of values: rows in which the constant is right
    full_right: int | None = None  # rows in which one model on all columns is right
    on_training: bool = False

    def __add__(self, other: "Tally") -> "Tally":
        return Tally(
            self.rows + other.rows,
            self.radii + other.radii,
            None if self.right is None or other.right is None else self.right + other.right,
            {
                radius: self.widths.get(radius, 0.0) + width
                for radius, width in other.widths.items()
            },
            self.predicted + other.predicted,
            {
                label: self.by_label.get(label, Counter()) + other.by_label.get(label, Counter())
                for label in {**self.by_label, **other.by_label}
            },
            _sum(self.constant_right, other.constant_right),
            _sum(self.full_right, other.full_right),
            self.on_training or other.on_training,
        )

    def constant(self, model: Any) -> dict[str, Any] | None:
        """The best constant answer to these rows, and the share of rows in which it is right; None
        where the truth is not known."""
        if self.right is None:
            return None
        if self.by_label:
            label, radii = max(self.by_label.items(), key=lambda one: one[1].total())
            return {"answer": _plain(label), "share": radii.total() / self.rows}
        if self.constant_right is None:
            return None
        return {"answer": float(model.rule_.centre), "share": self.constant_right / self.rows}

    def recall(self) -> list[dict[str, Any]]:
        """For every label the certified recall at r = 0, 1, ...: the share of its rows that are
        right and stay so."""
        length = max((len(share_at_least(radii)) for radii in self.by_label.values()), default=0)
        found = []
        for label, radii in sorted(
            self.by_label.items(), key=lambda one: (isinstance(one[0], str), one[0])
        ):
            share = share_at_least(radii)
            found.append(
                {
                    "label": _plain(label),
                    "rows": radii.total(),
                    "share": share + [0.0] * (length - len(share)),
                }
            )
        return found

    def balanced(self) -> list[float]:
        """The mean of the classes' certified recalls at r = 0, 1, ..."""
        recall = [one["share"] for one in self.recall()]
        return [sum(shares) / len(shares) for shares in zip(*recall, strict=True)]

    def warnings(self, model: Any) -> list[str]:
        """What a reader must know before the numbers."""
        found = []
        if self.on_training:
            found.append(ON_TRAINING)
        failed = failures_of(model)
        if failed:
            found.append(
                f"{failed} of {len(model.estimators_)} submodels could not be fitted and cast a "
                "fixed vote."
            )
        if self.predicted and self.rows >= ENOUGH_ROWS:
            label, count = self.predicted.most_common(1)[0]
            if count / self.rows > NEARLY_ALL:
                found.append(
                    f"{_percent(count / self.rows)} of the predictions are {_plain(label)!r}: "
                    "this model is nearly a constant, and its "
                    "proofs say little. Fewer submodels, another rule or a larger prior may help: "
                    "partita sweep --score balanced."
                )
        constant, right = (
            self.constant(model),
            None if self.right is None else share_at_least(self.right),
        )
        if constant is not None and right is not None and self.rows >= ENOUGH_ROWS:
            for radius in (0, 1):
                here = right[radius] if radius < len(right) else 0.0
                if here <= constant["share"]:
                    found.append(
                        f"At r = {radius} this model is certified right in {_percent(here)} of "
                        "rows, and always answering "
                        f"{_shown(constant['answer'])} is right in {_percent(constant['share'])}, "
                        "whatever an attacker does." + self._in_recall(radius)
                    )
                    break
        return found

    def _in_recall(self, radius: int) -> str:
        """What the classes' recalls say of a model that is behind a constant in accuracy."""
        balanced = self.balanced()
        if not balanced:
            return ""
        here, chance = balanced[radius] if radius < len(balanced) else 0.0, 1 / len(self.by_label)
        if here <= chance:
            return ""
        return (
            f" By the mean of the classes' recalls it is ahead ({_percent(here)} against "
            f"{_percent(chance)}): it gives up accuracy for the "
            "rarer labels, which a smaller prior or an offset gives back."
        )

    def quality(self, model: Any) -> dict[str, Any]:
        """What stands beside a certified accuracy."""
        return {
            "warnings": self.warnings(model),
            "constant": self.constant(model),
            "full_model": None if self.full_right is None else self.full_right / self.rows,
            "recall": self.recall(),
            "balanced": self.balanced(),
            "on_training": self.on_training,
            "failed": failures_of(model),
        }

    def summary(self, model: Any, out: Any = None) -> dict[str, Any]:
        """The certified share at every radius, what it counts, and what to compare it with."""
        counts = model.counts_
        found: dict[str, Any] = {
            "rows": self.rows,
            "counts": {"what": counts.what, "total": counts.total, "trusted": list(counts.trusted)},
            "out": None if out is None else str(out),
        }
        if self.radii:
            found["certified"] = share_at_least(self.radii)
            found["median_radius"] = _median(self.radii)
        quality = self.quality(model)
        if self.right is not None:
            found["certified_accuracy"] = share_at_least(self.right)
            found["constant_accuracy"] = (
                None if quality["constant"] is None else quality["constant"]["share"]
            )
            found["constant_answer"] = (
                None if quality["constant"] is None else quality["constant"]["answer"]
            )
            found["full_model_accuracy"] = quality["full_model"]
        if self.by_label:
            found["certified_recall"] = {
                str(one["label"]): one["share"] for one in quality["recall"]
            }
            found["certified_balanced_accuracy"] = quality["balanced"]
        return found | {
            "on_training": self.on_training,
            "failed_submodels": quality["failed"],
            "warnings": quality["warnings"],
        }

    def show(self, model: Any) -> None:
        """The same for people."""
        from .._support.terminal import fitting, say, show, warn

        found, counts = self.summary(model), model.counts_
        for warning in found["warnings"]:
            warn(warning)
        say(f"{self.rows:,} rows; a radius counts {counts}.")
        if "certified" not in found:
            say(
                "Give --tolerance or --relative to learn how many sources it takes to move a "
                "prediction further than that."
            )
            rows = [[str(r), f"{width / self.rows:.6g}"] for r, width in self.widths.items()]
            show("Where r sources can push a prediction", ["r", "mean width of the interval"], rows)
            return
        lines: dict[str, Sequence[float] | None] = {
            "certified": found["certified"],
            "certified and right": found.get("certified_accuracy"),
        }
        lines |= self._recall_lines(found)
        names = [*lines, *self._comparisons(found)]
        radii = fitting(max(len(line or []) for line in lines.values()), max(map(len, names)))
        rows = [
            [name, *(_cell(line, r) for r in radii)]
            for name, line in lines.items()
            if line is not None
        ]
        for name, share, always in self._comparisons_of(found):
            rows.append([name, *(_cell([share], 0) if r == 0 or always else "-" for r in radii)])
        show(
            f"% of rows, whatever is written into r of the {counts.total:,} {counts.what}",
            ["r =", *map(str, radii)],
            rows,
        )

    def _recall_lines(self, found: Mapping[str, Any]) -> dict[str, Sequence[float] | None]:
        recall = found.get("certified_recall") or {}
        if not recall:
            return {}
        if len(recall) > MOST_CLASSES:
            lowest = min(recall, key=lambda label: recall[label][:2])
            return {
                "mean recall": found["certified_balanced_accuracy"],
                f"lowest recall ({_short(lowest)})": recall[lowest],
            }
        return {"mean recall": found["certified_balanced_accuracy"]} | {
            f"recall of {_short(label)}": share for label, share in recall.items()
        }

    def _comparisons(self, found: Mapping[str, Any]) -> list[str]:
        return [name for name, _, _ in self._comparisons_of(found)]

    def _comparisons_of(self, found: Mapping[str, Any]) -> list[tuple[str, float, bool]]:
        """What else could answer: its name, its share of right rows, and whether that holds at
        every radius."""
        lines = []
        if found.get("constant_accuracy") is not None:
            lines.append(
                (
                    f"always {_short(_shown(found['constant_answer']))}",
                    found["constant_accuracy"],
                    True,
                )
            )
        if found.get("full_model_accuracy") is not None:
            lines.append(("one model, all columns", found["full_model_accuracy"], False))
        return lines


def failures_of(model: Any) -> int:
    """How many submodels could not be fitted and cast a fixed vote."""
    return sum(isinstance(submodel, FixedVote) for submodel in model.estimators_)


def share_at_least(radii: Counter[int]) -> list[float]:
    """The share of rows with a radius of at least r, for r = 0 and up, as far as there are any;
    ``radii`` counts rows by radius."""
    most, rows = min(max(max(radii), 0), FARTHEST), radii.total()
    return [
        sum(count for radius, count in radii.items() if radius >= r) / rows for r in range(most + 1)
    ]


def _median(radii: Counter[int]) -> float:
    ordered, below = sorted(radii.items()), 0
    middle = [(radii.total() - 1) // 2, radii.total() // 2]
    found: list[int] = []
    for radius, count in ordered:
        found += [radius] * sum(below <= place < below + count for place in middle)
        below += count
    return sum(found) / 2


def _sum(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else one + other


def _plain(label: Any) -> Any:
    label = label.item() if hasattr(label, "item") else label
    return label if isinstance(label, str | int | float | bool) else str(label)


def _cell(line: Sequence[float], r: int) -> str:
    return f"{100 * (line[r] if r < len(line) else 0):.1f}"


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _shown(answer: Any) -> str:
    return (
        repr(answer)
        if isinstance(answer, str)
        else f"{answer:.6g}"
        if isinstance(answer, float)
        else str(answer)
    )


def _short(text: Any, most: int = 16) -> str:
    whole = str(text)
    return whole if len(whole) <= most else whole[: most - 1] + "…"
