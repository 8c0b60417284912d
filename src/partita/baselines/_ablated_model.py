"""One model on ablated rows: its settings, its training, and its predictions under many draws.

A column enters as two numbers, ``(x, 1 - x)`` with x scaled to [0, 1]; an ablated column enters as
``(0, 0)``, which no value of x gives. The draws that choose a prediction and the draws that certify
it never share a random number: a label chosen on the draws of its own proof would void the
confidence.
"""

from collections.abc import Callable, Iterator
from dataclasses import KW_ONLY, dataclass
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from .._support import Array, Estimator, JsonObject, Progress, TableLike, check_alpha, check_whole
from ..certificates import TRAINING_TABLE, Counts
from ..errors import InputError
from ..partition import choose_units
from ..tables import Table, open_table


def random_masks(rng: np.random.Generator, n_draws: int, d: int, keep: int) -> Array:
    """Sets of ``keep`` of ``d`` units, all sets equally likely, as bool (n_draws, d).

    The first steps of a shuffle, in all draws at once. Sorting random floats would do but for ties;
    whole numbers have no such bias.
    """
    fewer = min(keep, d - keep)  # choosing what is ablated is choosing what is kept
    order = np.tile(np.arange(d, dtype=np.int32), (n_draws, 1))
    draw = np.arange(n_draws)
    for k in range(fewer):
        partner = rng.integers(k, d, size=n_draws)
        order[draw, partner], order[:, k] = order[:, k].copy(), order[draw, partner]
    chosen = np.zeros((n_draws, d), dtype=bool)
    chosen[draw[:, None], order[:, :fewer]] = True
    return chosen if fewer == keep else ~chosen


def ablate(scaled: Array, masks: Array) -> Array:
    """The doubled encoding, float32 (..., 2 d), of rows in [0, 1]; a mask is True where kept.

    Rows and masks are broadcast against each other.
    """
    d = masks.shape[-1]
    shape = np.broadcast_shapes(scaled.shape, masks.shape)[:-1]
    rows = np.empty((*shape, 2 * d), dtype=np.float32)
    np.multiply(scaled, masks, out=rows[..., :d])
    np.multiply(1 - scaled, masks, out=rows[..., d:])
    return rows


TRAINING, SELECTION, CERTIFICATION = range(3)  # purposes of draws; each has its own random numbers
# drawn from one seed; not a setting, so that results do not depend on batch_size
DRAWS_PER_BLOCK = 2048


@dataclass(eq=False, repr=False)
class AblatedModel(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """What the classifier and the regressor of randomized ablation share."""

    _default_estimator: ClassVar[Callable[[], Any]]
    # whether an estimator may draw ablations and count votes itself
    _takes_votes: ClassVar[bool] = False

    estimator: Estimator = None
    keep: object = "auto"
    units: object = None
    low: ArrayLike | None = None
    high: ArrayLike | None = None
    _: KW_ONLY
    epochs: int = 20
    n_select: int = 1000
    n_certify: int = 100_000
    alpha: float = 1e-4
    batch_size: int = 4096
    random_state: object = 0
    verbose: int = 0

    def _training_rows(self, X: TableLike) -> Array:
        """The rows to train on, scaled; sets what follows from the settings and their shape."""
        self.__dict__.pop("estimator_", None)  # a fit that fails leaves no half-fitted model
        self._check_settings()
        array, _ = self._array(X, reset=True)
        names = [str(name) for name in getattr(self, "feature_names_in_", range(array.shape[1]))]
        self.units_ = choose_units(self.units, names, (), None)
        self.keep_ = self._check_keep(len(self.units_))
        self.low_, self.high_ = self._column_bounds(X, array.shape[1])
        self.seed_ = (
            int(self.random_state)
            if isinstance(self.random_state, Integral)
            else int(check_random_state(self.random_state).randint(2**31 - 1))
        )
        return self._scale(array)

    def _train(self, scaled: Array, target: Array, **fixed: object) -> Self:
        """Train a clone of the estimator, every epoch on fresh ablations.

        ``fixed`` goes to every ``partial_fit``.
        """
        if len(scaled) != len(target):
            raise InputError(
                f"y has {len(target)} values for {len(scaled)} rows: expected one per row"
            )
        model, batch, epochs = self._new_estimator(), int(self.batch_size), int(self.epochs)
        if self._draws_itself(model):
            self.estimator_ = model.fit_ablations(
                scaled, target, epochs=epochs, **self._ablations(TRAINING)
            )
            return self
        for epoch in self._progress("trained", epochs, "epochs").over(range(epochs)):
            rng = self._rng(TRAINING, epoch)
            order = rng.permutation(len(scaled))
            for first in range(0, len(order), batch):
                rows = order[first : first + batch]
                masks = self._draw_masks(rng, len(rows))
                model.partial_fit(ablate(scaled[rows], masks), target[rows], **fixed)
        self.estimator_ = model
        return self

    def _ablations(self, purpose: int) -> JsonObject:
        """What an estimator needs that draws ablations itself, where it computes."""
        return {
            "unit_of": self._unit_of(trusted=-1),
            "keep": self.keep_,
            "seed": np.random.SeedSequence(self.seed_, spawn_key=(purpose,)),
            "verbose": bool(self.verbose),
        }

    def _draws_itself(self, model: Estimator) -> bool:
        return self._takes_votes and hasattr(model, "fit_ablations")

    def _new_estimator(self) -> Estimator:
        """A clone of the estimator, with a seed."""
        model = type(self)._default_estimator() if self.estimator is None else clone(self.estimator)
        if not self._draws_itself(model) and not (
            callable(getattr(model, "partial_fit", None))
            and callable(getattr(model, "predict", None))
        ):
            raise InputError(
                f"estimator {type(model).__name__} has no partial_fit and predict, which training "
                "on fresh ablations needs: give one that has, such as SGDClassifier or "
                "MLPClassifier"
            )
        names = sorted(
            name for name in model.get_params() if name.split("__")[-1] == "random_state"
        )
        return model.set_params(**dict.fromkeys(names, self.seed_ % 2**32)) if names else model

    def _predict_draws(
        self, scaled: Array, n_draws: int, purpose: int
    ) -> Iterator[tuple[slice, slice, Array]]:
        """Predictions under random ablations, as (rows, draws, predictions (rows, draws)).

        At most ``batch_size`` ablated rows are predicted at a time. All rows get the same
        ablations, so a row's predictions do not depend on the other rows in the batch.
        """
        starts = range(0, n_draws, DRAWS_PER_BLOCK)
        what = f"blocks of {DRAWS_PER_BLOCK} ablations of {len(scaled)} rows"
        for first in self._progress("predicted", len(starts), what).over(starts):
            rng = self._rng(purpose, first // DRAWS_PER_BLOCK)
            masks = self._draw_masks(rng, min(DRAWS_PER_BLOCK, n_draws - first))
            for start in range(0, len(masks), int(self.batch_size)):
                some = masks[start : start + int(self.batch_size)]
                draws = slice(first + start, first + start + len(some))
                rows_per_batch = max(1, int(self.batch_size) // len(some))
                for row in range(0, len(scaled), rows_per_batch):
                    rows = slice(row, row + rows_per_batch)
                    yield rows, draws, self._predict_masked(scaled[rows], some)

    def _predict_masked(self, scaled: Array, masks: Array) -> Array:
        """Predictions of each row under each mask: (rows, draws).

        A model that has ``predict_ablated`` needs no ablated rows.
        """
        predict_ablated = getattr(self.estimator_, "predict_ablated", None)
        if predict_ablated is not None:
            return np.asarray(predict_ablated(scaled, masks))
        block = ablate(scaled[:, None], masks)
        predictions = self.estimator_.predict(block.reshape(-1, block.shape[-1]))
        return np.asarray(predictions).reshape(block.shape[:2])

    def _draw_masks(self, rng: np.random.Generator, n_draws: int) -> Array:
        """Which columns each draw keeps: all of a unit or none; trusted ones in every draw."""
        masks = random_masks(rng, n_draws, len(self.units_), self.keep_)
        unit_of = self._unit_of(trusted=len(self.units_))
        return np.concatenate([masks, np.ones((n_draws, 1), dtype=bool)], axis=1)[:, unit_of]

    def _unit_of(self, trusted: int) -> Array:
        """The unit of every column."""
        unit_of = np.full(int(self.n_features_in_), trusted)
        for unit, columns in enumerate(self.units_.columns):
            unit_of[list(columns)] = unit
        return unit_of

    def _rng(self, purpose: int, block: int) -> np.random.Generator:
        return np.random.default_rng(np.random.SeedSequence(self.seed_, spawn_key=(purpose, block)))

    def _progress(self, doing: str, total: int, what: str) -> Progress:
        return Progress(doing, total, what, enabled=bool(self.verbose))

    def _rows_to_predict(self, X: TableLike) -> tuple[Array, Table]:
        """Rows, scaled, and the table they came in."""
        check_is_fitted(self, "estimator_")
        array, table = self._array(X, reset=False)
        return self._scale(array), table

    def _array(self, X: TableLike, reset: bool) -> tuple[Array, Table]:
        table = open_table(X)
        kinds = (np.float64, np.uint8)  # bytes stay bytes: images are many
        return np.asarray(validate_data(self, X, reset=reset, dtype=kinds)), table

    def _scale(self, array: Array) -> Array:
        """Every value to [0, 1] by constants of its column; values beyond them are clipped."""
        low, high = self.low_, self.high_
        if array.dtype == np.uint8 and np.all(low == low[0]) and np.all(high == high[0]):
            every_byte = (np.arange(256.0) - low[0]) / (high[0] - low[0])
            return np.asarray(np.clip(every_byte, 0, 1), dtype=np.float32)[array]
        return np.asarray(np.clip((array - low) / (high - low), 0, 1), dtype=np.float32)

    def _counts(self) -> Counts:
        names = getattr(self, "feature_names_in_", range(int(self.n_features_in_)))
        return Counts(
            self.units_.kind,
            len(self.units_),
            (*(str(names[column]) for column in self.units_.trusted), TRAINING_TABLE),
        )

    def _check_settings(self) -> None:
        for name in ("epochs", "n_select", "n_certify", "batch_size"):
            check_whole(name, getattr(self, name), 1)
        check_alpha(self.alpha)

    def _check_keep(self, d: int) -> int:
        if isinstance(self.keep, str) and self.keep == "auto":
            return -(-d // 10)
        if (
            not isinstance(self.keep, int | np.integer)
            or isinstance(self.keep, bool)
            or not 1 <= self.keep <= d
        ):
            raise InputError(
                f"keep is {self.keep!r}, but X has {d} {self.units_.kind}: give a whole number "
                f"from 1 to {d}, or 'auto'"
            )
        return int(self.keep)

    def _column_bounds(self, X: TableLike, d: int) -> tuple[Array, Array]:
        """The least and the greatest value of every column."""
        is_bytes = getattr(X, "dtype", None) == np.uint8
        bounds = []
        for name, given, usual in (("low", self.low, 0), ("high", self.high, 255)):
            if given is None and not is_bytes:
                raise InputError(
                    f"{name} is missing: unless X is an array of bytes (uint8), give the "
                    f"{name}est value of every column, a constant that nobody can move by writing "
                    "into the data"
                )
            try:
                bound = np.asarray(usual if given is None else given, dtype=np.float64)
            except (TypeError, ValueError) as exc:
                raise InputError(
                    f"{name} is {given!r}: give one number, or one for each of the {d} columns"
                ) from exc
            if bound.shape not in ((), (d,)) or not np.all(np.isfinite(bound)):
                raise InputError(
                    f"{name} must be one finite number, or one for each of the {d} columns; its "
                    f"shape is {bound.shape}"
                )
            bounds.append(np.broadcast_to(bound, (d,)))
        low, high = bounds
        if not np.all(high > low):
            column = int(np.argmin(high > low))
            raise InputError(
                f"high is not above low in column {column} ({high[column]} and {low[column]}): "
                "raise it"
            )
        return low, high
