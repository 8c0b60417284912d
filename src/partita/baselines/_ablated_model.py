"""One model on rows of which most columns are ablated: its training, and what it says about many
random ablations of a row.

A column enters as two numbers, ``(x, 1 - x)`` with x scaled to [0, 1], an ablated one as ``(0,
0)``, which no value of x gives."""

import sys
import time
from collections.abc import Callable, Iterator
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from .._support.types import Array
from ..certificates import Counts
from ..errors import InputError
from ..partition._units import choose_units
from ..tables._table import Table, open_table
from ._ablation_bounds import check_level

TRAINING, CHOOSING, CERTIFYING = range(
    3
)  # what draws are for: no two of these share a random number
DRAWS_AT_ONCE = (
    2048  # drawn from one seed; not a setting, so that results do not depend on batch_size
)


def kept_units(rng: np.random.Generator, n_draws: int, d: int, keep: int) -> Array:
    """Sets of ``keep`` of ``d`` units, all sets equally likely: bool (n_draws, d).

    The first steps of a shuffle, in all draws at once. Sorting random floats would do but for ties;
    whole numbers have no such bias."""
    fewer = min(keep, d - keep)  # choosing what is ablated is choosing what is kept
    order = np.tile(np.arange(d, dtype=np.int32), (n_draws, 1))
    draw = np.arange(n_draws)
    for k in range(fewer):
        other = rng.integers(k, d, size=n_draws)
        order[draw, other], order[:, k] = order[:, k].copy(), order[draw, other]
    chosen = np.zeros((n_draws, d), dtype=bool)
    chosen[draw[:, None], order[:, :fewer]] = True
    return chosen if fewer == keep else ~chosen


def ablate(scaled: Array, kept: Array) -> Array:
    """The doubled encoding, float32 (..., 2 d), of rows in [0, 1] of which the columns ``kept`` are
    seen; the two are broadcast."""
    d = kept.shape[-1]
    rows = np.empty((*np.broadcast_shapes(scaled.shape, kept.shape)[:-1], 2 * d), dtype=np.float32)
    np.multiply(scaled, kept, out=rows[..., :d])
    np.multiply(1 - scaled, kept, out=rows[..., d:])
    return rows


class AblatedModel(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """What the classifier and the regressor share: settings, training on ablated rows, and answers
    about ablated rows."""

    _default_estimator: ClassVar[Callable[[], Any]]

    def __init__(
        self,
        estimator: Any = None,
        keep: Any = "auto",
        units: Any = None,
        low: Any = None,
        high: Any = None,
        epochs: int = 20,
        n_select: int = 1000,
        n_certify: int = 100_000,
        alpha: float = 1e-4,
        batch_size: int = 4096,
        random_state: Any = 0,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.keep = keep
        self.units = units
        self.low = low
        self.high = high
        self.epochs = epochs
        self.n_select = n_select
        self.n_certify = n_certify
        self.alpha = alpha
        self.batch_size = batch_size
        self.random_state = random_state
        self.verbose = verbose

    def _read(self, X: Any) -> Array:
        """The rows to train on, scaled, and the settings that depend on them."""
        self.__dict__.pop(
            "estimator_", None
        )  # a fit that fails leaves an unfitted model behind, not half a new one
        self._check_settings()
        array, _ = self._array(X, reset=True)
        names = [str(name) for name in getattr(self, "feature_names_in_", range(array.shape[1]))]
        self.units_ = choose_units(self.units, names, (), None)
        self.keep_ = self._check_keep(len(self.units_))
        self.low_, self.high_ = self._bounds_of_columns(X, array.shape[1])
        self.seed_ = (
            int(self.random_state)
            if isinstance(self.random_state, Integral)
            else int(_drawn_seed(self.random_state))
        )
        return self._scaled(array)

    def _train(self, scaled: Array, target: Array, **fixed: Any) -> Self:
        """Train a clone of the estimator, every epoch on fresh ablations; ``fixed`` goes to every
        ``partial_fit``."""
        if len(scaled) != len(target):
            raise InputError(f"y has {len(target)} values for {len(scaled)} rows: give one a row")
        model, batch = self._fresh(), int(self.batch_size)
        for epoch in self._told(range(int(self.epochs)), int(self.epochs), "epochs of training"):
            rng = self._rng(TRAINING, epoch)
            order = rng.permutation(len(scaled))
            for first in range(0, len(order), batch):
                rows = order[first : first + batch]
                model.partial_fit(
                    ablate(scaled[rows], self._kept(rng, len(rows))), target[rows], **fixed
                )
        self.estimator_ = model
        return self

    def _fresh(self) -> Any:
        """A clone of the estimator, with a seed."""
        model = type(self)._default_estimator() if self.estimator is None else clone(self.estimator)
        if not callable(getattr(model, "partial_fit", None)) or not callable(
            getattr(model, "predict", None)
        ):
            raise InputError(
                f"estimator {type(model).__name__} has no partial_fit and predict, which training "
                "on fresh ablations needs: give one "
                "that has, such as SGDClassifier or MLPClassifier"
            )
        names = sorted(
            name for name in model.get_params() if name.split("__")[-1] == "random_state"
        )
        return model.set_params(**dict.fromkeys(names, self.seed_ % 2**32)) if names else model

    def _answers(
        self, scaled: Array, n_draws: int, purpose: int
    ) -> Iterator[tuple[slice, slice, Array]]:
        """What the model says: (rows, draws, answers of shape (rows, draws)), at most
        ``batch_size`` ablated rows at a time.

        All rows are asked about the same ablations, so what is said about a row does not depend on
        the rows beside it."""
        blocks = range(0, n_draws, DRAWS_AT_ONCE)
        for first in self._told(
            blocks, len(blocks), f"blocks of {DRAWS_AT_ONCE} ablations of {len(scaled)} rows"
        ):
            rng = self._rng(purpose, first // DRAWS_AT_ONCE)
            kept = self._kept(rng, min(DRAWS_AT_ONCE, n_draws - first))
            for start in range(0, len(kept), int(self.batch_size)):
                some = kept[start : start + int(self.batch_size)]
                at_once = max(1, int(self.batch_size) // len(some))
                for row in range(0, len(scaled), at_once):
                    said = self._said(scaled[row : row + at_once], some)
                    yield (
                        slice(row, row + at_once),
                        slice(first + start, first + start + len(some)),
                        said,
                    )

    def _said(self, scaled: Array, kept: Array) -> Array:
        """What the model says about each of these rows with each of these sets of columns kept:
        (rows, draws).

        A model that has ``predict_ablated`` makes the ablated rows itself, where it computes: on a
        GPU they are too many to be sent."""
        by_itself = getattr(self.estimator_, "predict_ablated", None)
        if by_itself is not None:
            return np.asarray(by_itself(scaled, kept))
        block = ablate(scaled[:, None], kept)
        return np.asarray(self.estimator_.predict(block.reshape(-1, block.shape[-1]))).reshape(
            block.shape[:2]
        )

    def _kept(self, rng: np.random.Generator, n_draws: int) -> Array:
        """Which columns are seen in so many draws: those of the units kept, all of a unit or none,
        and trusted ones in every draw."""
        units = self.units_
        unit_of = np.full(int(self.n_features_in_), len(units))
        for unit, columns in enumerate(units.columns):
            unit_of[list(columns)] = unit
        kept = kept_units(rng, n_draws, len(units), self.keep_)
        return np.concatenate([kept, np.ones((n_draws, 1), dtype=bool)], axis=1)[:, unit_of]

    def _rng(self, purpose: int, block: int) -> np.random.Generator:
        return np.random.default_rng(np.random.SeedSequence(self.seed_, spawn_key=(purpose, block)))

    def _asked(self, X: Any) -> tuple[Array, Table]:
        """Rows to predict, scaled, and the table they came in."""
        check_is_fitted(self, "estimator_")
        array, table = self._array(X, reset=False)
        return self._scaled(array), table

    def _array(self, X: Any, reset: bool) -> tuple[Array, Table]:
        table = open_table(X)
        return np.asarray(validate_data(self, X, reset=reset, dtype=np.float64)), table

    def _scaled(self, array: Array) -> Array:
        """Every value to [0, 1] by constants of its column: what is beyond them is as far as it
        goes, and no value reaches another."""
        return np.asarray(
            np.clip((array - self.low_) / (self.high_ - self.low_), 0, 1), dtype=np.float32
        )

    def _counts(self) -> Counts:
        names = getattr(self, "feature_names_in_", range(int(self.n_features_in_)))
        return Counts(
            self.units_.kind,
            len(self.units_),
            tuple(str(names[column]) for column in self.units_.trusted),
        )

    def _check_settings(self) -> None:
        for name in ("epochs", "n_select", "n_certify", "batch_size"):
            number = getattr(self, name)
            if not isinstance(number, Integral) or isinstance(number, bool) or number < 1:
                raise InputError(f"{name} is {number!r}: it must be a whole number, 1 or above")
        check_level(self.alpha)

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

    def _bounds_of_columns(self, X: Any, d: int) -> tuple[Array, Array]:
        bytes_only = getattr(X, "dtype", None) == np.uint8
        bounds = []
        for name, given, usual in (("low", self.low, 0), ("high", self.high, 255)):
            if given is None and not bytes_only:
                raise InputError(
                    f"{name} is missing: unless X is an array of bytes (uint8), give the "
                    f"{name}est value of every column, a constant that "
                    "nobody can move by writing into the data"
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
        if not np.all(bounds[1] > bounds[0]):
            column = int(np.argmin(bounds[1] > bounds[0]))
            raise InputError(
                f"high is not above low in column {column} ({bounds[1][column]} and "
                f"{bounds[0][column]}): raise it"
            )
        return bounds[0], bounds[1]

    def _told(self, steps: range, total: int, what: str) -> Iterator[int]:
        """Go through the steps and say on standard error how far the work is, at most every two
        seconds."""
        started = told = time.monotonic()
        for done, step in enumerate(steps, start=1):
            yield step
            now = time.monotonic()
            if self.verbose and (now - told >= 2 or done == total):
                told = now
                left = (now - started) / done * (total - done)
                print(
                    f"partita: {done} of {total} {what}, {now - started:.0f} s so far, about "
                    f"{left:.0f} s left",
                    file=sys.stderr,
                )


def _drawn_seed(random_state: Any) -> Any:
    return check_random_state(random_state).randint(2**31 - 1)
