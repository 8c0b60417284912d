"""Randomized ablation: a vote, or a median, over many random ablations of the row to predict.

This is the defence the paper compares with. It withstands changes of that row alone (the training
data is trusted), and its certificates hold with a probability below 1.

A column enters as two numbers, ``(x, 1 - x)`` with x scaled to [0, 1]; an ablated column enters as
``(0, 0)``, which no value of x gives. The draws that choose a prediction and the draws that certify
it never share a random number: a label chosen on the draws of its own proof would void the
confidence.
"""

from collections.abc import Callable, Iterator
from dataclasses import KW_ONLY, dataclass
from numbers import Integral
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.linear_model import SGDClassifier, SGDRegressor
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from .._support import (
    Array,
    Estimator,
    JsonObject,
    Progress,
    TableLike,
    check_alpha,
    check_whole,
    clopper_pearson,
)
from ..certificates import TRAINING_TABLE, Certificates, Counts
from ..ensemble import classes_of, numeric_target, target_array
from ..errors import InputError
from ..partition import choose_units
from ..rules import bounds_around
from ..tables import Table, open_table
from ._ablation_bounds import ablation_radius, certify_votes, check_method


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

    _default_estimator: ClassVar[Callable[[], Estimator]]
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
        array = self._array(X, reset=True)
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
        table = open_table(X)
        return self._scale(self._array(X, reset=False)), table

    def _array(self, X: TableLike, reset: bool) -> Array:
        kinds = (np.float64, np.uint8)  # bytes stay bytes: images are many
        return np.asarray(validate_data(self, X, reset=reset, dtype=kinds))

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
                    f"{name}est value of every column, a constant that no attacker can move by "
                    "writing into the data"
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


def abstentions(proof: Certificates) -> Array:
    """The rows on which randomized ablation abstains.

    Too few draws, or too close a vote, to be sure of the prediction itself: ``prediction`` holds
    the label that would have been predicted, the radius is -1, and no metric counts the row as
    certified.
    """
    return np.asarray(proof.radius < 0)


def _linear_classifier() -> Estimator:
    # every epoch brings fresh ablations, so the steps must not shrink; averaging removes their
    # noise
    return SGDClassifier(
        loss="log_loss", alpha=1e-5, learning_rate="constant", eta0=0.1, average=True
    )


@dataclass(eq=False, repr=False)
class RandomizedAblationClassifier(ClassifierMixin, AblatedModel):  # type: ignore[misc]  # scikit-learn has no types
    """A classifier with a probabilistic certificate against rewritten columns of the row.

    One model is trained on rows of which a few random columns are kept. The *smoothed* classifier
    predicts the label that most ablations of a row get, over all sets of ``keep`` columns. These
    are too many, so draws stand for them. Each row's radius is right with probability
    ``1 - alpha``; it is about the smoothed classifier, and about this row: one in ``1 / alpha``
    rows may be wrong. The label is chosen on ``n_select`` draws, and certified on ``n_certify``
    others.

    The certificate is void if the author of the row knew the draws (that is, the seed), or if the
    model does not always predict the same for a row. Training data is trusted.

    Parameters
    ----------
    estimator : classifier with ``partial_fit``, optional
        Trained on ablated rows of twice as many columns (float32, in [0, 1]) and labels 0, 1, 2,
        ...; by default a linear model. See Notes.
    keep : int or "auto", default="auto"
        How many units an ablation keeps. Fewer units give larger radii and a lower accuracy. "auto"
        keeps a tenth, for radii up to about 6. With e of d kept, no radius is above ``0.7 d / e``.
    units : optional
        What is kept or ablated as a whole, and what the radius counts: None for each column,
        ``pixels(image_shape)`` for images, or a mapping from names to columns.
    low : float or array-like of shape (n_features,), optional
        The least value of each column: a constant, whatever the data holds; lower values count as
        this. By default 0 if X is uint8.
    high : float or array-like of shape (n_features,), optional
        The greatest value of each column, likewise. By default 255 if X is uint8.
    method : {"jia", "levine-feizi"}, default="jia"
        "levine-feizi" certifies that the label keeps more than half of the ablations, "jia" that it
        keeps more than any other label.
    epochs : int, default=20
        Passes over the training rows, each with fresh ablations.
    n_select : int, default=1000
        How many draws choose the label.
    n_certify : int, default=100_000
        How many draws certify it.
    alpha : float, default=1e-4
        The probability with which a row's certificate may be wrong.
    batch_size : int, default=4096
        How many ablated rows the model gets at once, in training and prediction. Predictions do not
        depend on it except through training.
    random_state : int, RandomState or None, default=0
        The seed of training and of all draws.
    verbose : int, default=0
        1 shows progress on standard error.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels.
    estimator_ : classifier
        The fitted model.
    keep_ : int
        How many units are kept.
    units_ : Units
        The units.
    n_features_in_ : int
        Number of columns seen in fit.
    feature_names_in_ : array of shape (`n_features_in_`,)
        Their names, where X had names.

    See Also
    --------
    RandomizedAblationRegressor : The same for numbers.
    ablation_radius : The certificate from shares of the vote.
    partita.FeaturePartitionClassifier : Deterministic, and covers training data too.

    Notes
    -----
    For images, ``partita.vision.AblatedImageClassifier`` is a ready network, on a GPU where there
    is one. An estimator of your own needs ``partial_fit(rows, labels, classes=...)`` and
    ``predict(rows)`` only. A PyTorch network::

        class Network(BaseEstimator):
            def partial_fit(self, rows, labels, classes=None):
                if not hasattr(self, "net_"):
                    self.net_ = nn.Sequential(
                        nn.Linear(rows.shape[1], 256), nn.ReLU(), nn.Linear(256, len(classes))
                    )
                    self.adam_ = torch.optim.Adam(self.net_.parameters())
                for some in torch.randperm(len(rows)).split(128):
                    self.adam_.zero_grad()
                    scores = self.net_(torch.from_numpy(rows[some]))
                    F.cross_entropy(scores, torch.from_numpy(labels[some])).backward()
                    self.adam_.step()
                return self

            @torch.no_grad()
            def predict(self, rows):
                return self.net_(torch.from_numpy(rows)).argmax(dim=1).numpy()

    References
    ----------
    Theory, section 8. Levine and Feizi, *Robustness Certificates for Sparse Adversarial Attacks by
    Randomized Ablation*, AAAI 2020; Jia, Wang, Cao, Liu and Gong, *Almost Tight L0-norm Certified
    Robustness of Top-k Predictions against Adversarial Perturbations*, ICLR 2022.

    Examples
    --------
    >>> from partita.baselines import RandomizedAblationClassifier
    >>> from partita.datasets import load_digits
    >>> data = load_digits()  # bytes, so low and high are known
    >>> clf = RandomizedAblationClassifier(keep=16, n_select=100, n_certify=1000, alpha=0.01)
    >>> proof = clf.fit(data.X_train, data.y_train).certify(data.X_test[:100])
    >>> proof.counts.what, proof.counts.total, bool((proof.radius >= 1).mean() > 0.4)
    ('columns', 64, True)
    """

    _default_estimator: ClassVar[Callable[[], Estimator]] = staticmethod(_linear_classifier)
    _takes_votes = True

    method: str = "jia"

    def fit(self, X: TableLike, y: ArrayLike) -> Self:
        """Train on random ablations of the rows.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
            Rows of numbers, without missing values.
        y : array-like of shape (n_samples,)
            Labels of any type.

        Returns
        -------
        self
            The fitted classifier.
        """
        scaled = self._training_rows(X)
        labels = target_array(self, y)
        classes = classes_of(labels)
        codes = np.searchsorted(classes, labels)
        if len(classes) < 2:
            raise InputError(
                f"y holds one class, {classes.tolist()[0]!r}: give rows of at least two classes"
            )
        self.classes_ = classes
        return self._train(scaled, codes, classes=np.arange(len(self.classes_)))

    def _check_settings(self) -> None:
        super()._check_settings()
        check_method(self.method)

    def predict(self, X: TableLike) -> Array:
        """Predict the label that most of ``n_select`` ablations get.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
            Rows to predict.

        Returns
        -------
        array of shape (n_samples,)
            Labels, as given to fit. :meth:`certify` may abstain on some of them.
        """
        votes = self._votes(self._rows_to_predict(X)[0], self.n_select, SELECTION)
        return np.asarray(self.classes_[votes.argmax(axis=1)])

    def votes(self, X: TableLike) -> Array:
        """Count the votes of the ``n_certify`` ablations for each label.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
            Rows to predict.

        Returns
        -------
        int array of shape (n_samples, n_classes)
            How many ablations of a row are predicted to have each label.
        """
        return self._votes(self._rows_to_predict(X)[0], self.n_certify, CERTIFICATION)

    def certify(self, X: TableLike) -> Certificates:
        """Predict each row and bound how many of its units must be rewritten to change it.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
            Rows to certify.

        Returns
        -------
        Certificates
            Prediction, radius and runner-up for each row; a radius of -1 is an abstention: the
            draws do not even establish the prediction. Each radius is right with probability
            ``1 - alpha``.
        """
        self._check_settings()
        scaled, table = self._rows_to_predict(X)
        label = self._votes(scaled, self.n_select, SELECTION).argmax(axis=1)
        votes = self._votes(scaled, self.n_certify, CERTIFICATION)
        radius, runner_up = certify_votes(
            votes, label, len(self.units_), self.keep_, self.alpha, self.method
        )
        return Certificates(
            self.classes_[label],
            radius,
            self.classes_[runner_up],
            self._counts(),
            frame=table.frame,
            index=table.index,
        )

    def _votes(self, scaled: Array, n_draws: int, purpose: int) -> Array:
        if self._draws_itself(self.estimator_):
            drawn = self._ablations(purpose)
            return np.asarray(self.estimator_.ablated_votes(scaled, n_draws=n_draws, **drawn))
        votes = np.zeros((len(scaled), len(self.classes_)), dtype=np.int64)
        for rows, _, predictions in self._predict_draws(scaled, n_draws, purpose):
            for label in range(len(self.classes_)):
                votes[rows, label] += np.count_nonzero(predictions == label, axis=1)
        if np.any(votes.sum(axis=1) != n_draws):  # shares of the rest would be too large
            raise InputError(
                f"estimator predicts something other than the labels 0 to {len(self.classes_) - 1} "
                "that it was given: correct its predict"
            )
        return votes


def _linear_regressor() -> Estimator:
    # huber: a step is bounded however many columns are kept; otherwise as in the classifier
    return SGDRegressor(
        loss="huber", epsilon=1.0, alpha=1e-5, learning_rate="constant", eta0=0.03, average=True
    )


class RandomizedAblationRegressor(RegressorMixin, AblatedModel):  # type: ignore[misc]  # scikit-learn has no types
    """A regressor with a probabilistic certificate against rewritten columns of the row.

    The smoothed prediction is the median of the model's values over all ablations of the row. It
    reduces to votes: every ablation votes on "my value is at most upper". If more than half of all
    ablations say yes, so does the middle one: the median is at most upper, whichever of two middle
    values is taken. Rewriting rho columns changes only the ablations that keep one of them, a share
    Delta, so the share of yes falls by at most Delta: the median stays at most upper while that
    share less Delta is above a half, which is Levine and Feizi's condition for a label. The same
    holds for "my value is at least lower". Both shares are bounded from draws, each at level
    ``alpha / 2``, so that both bounds are right with probability ``1 - alpha``, and the radius is
    the smaller of the two. An infinite bound always holds.

    ``predict`` returns the median over ``n_select`` draws, so bounds around the prediction are
    fixed before the ``n_certify`` draws of the certificate are made.

    Parameters
    ----------
    estimator : regressor with ``partial_fit``, optional
        Trained on ablated rows of twice as many columns (float32, in [0, 1]) and on targets shifted
        and scaled to mean 0 and deviation 1; by default a linear model.
    keep : int or "auto", default="auto"
        How many units an ablation keeps. Fewer units give larger radii and a lower accuracy. "auto"
        keeps a tenth.
    units : optional
        What is kept or ablated as a whole, and what the radius counts: None for each column, or a
        mapping from names to columns.
    low : float or array-like of shape (n_features,), optional
        The least value of each column: a constant, whatever the data holds; lower values count as
        this. By default 0 if X is uint8.
    high : float or array-like of shape (n_features,), optional
        The greatest value of each column, likewise. By default 255 if X is uint8.
    epochs : int, default=20
        Passes over the training rows, each with fresh ablations.
    n_select : int, default=1000
        How many draws make the prediction.
    n_certify : int, default=100_000
        How many draws certify it.
    alpha : float, default=1e-4
        The probability with which a row's certificate may be wrong.
    batch_size : int, default=4096
        How many ablated rows the model gets at once, in training and prediction. Predictions do not
        depend on it except through training.
    random_state : int, RandomState or None, default=0
        The seed of training and of all draws.
    verbose : int, default=0
        1 shows progress on standard error.

    Attributes
    ----------
    estimator_ : regressor
        The fitted model.
    keep_ : int
        How many units are kept.
    units_ : Units
        The units.
    n_features_in_ : int
        Number of columns seen in fit.
    feature_names_in_ : array of shape (`n_features_in_`,)
        Their names, where X had names.

    See Also
    --------
    RandomizedAblationClassifier : The same for labels.
    partita.FeaturePartitionRegressor : Deterministic, and covers training data too.

    References
    ----------
    Theory, section 8. Levine and Feizi, *Robustness Certificates for Sparse Adversarial Attacks by
    Randomized Ablation*, AAAI 2020.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from partita.baselines import RandomizedAblationRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> reg = RandomizedAblationRegressor(
    ...     keep=3, low=-0.2, high=0.2, n_select=100, n_certify=1000, alpha=0.01
    ... )
    >>> proof = reg.fit(X, y).certify(X[:20], tolerance=100)
    >>> proof.of_values, proof.counts.total
    (True, 10)
    """

    _default_estimator: ClassVar[Callable[[], Estimator]] = staticmethod(_linear_regressor)

    def fit(self, X: TableLike, y: ArrayLike) -> Self:
        """Train on random ablations of the rows.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
            Rows of numbers, without missing values.
        y : array-like of shape (n_samples,)
            Numbers.

        Returns
        -------
        self
            The fitted regressor.
        """
        scaled = self._training_rows(X)
        target = numeric_target(self, y, "RandomizedAblationClassifier")
        self.centre_, self.scale_ = float(target.mean()), float(target.std()) or 1.0
        return self._train(scaled, (target - self.centre_) / self.scale_)

    def predict(self, X: TableLike) -> Array:
        """Predict the lower median of the model's values over ``n_select`` ablations.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
            Rows to predict.

        Returns
        -------
        array of shape (n_samples,)
            Predicted values.
        """
        return self._medians(self._rows_to_predict(X)[0])

    def _medians(self, scaled: Array) -> Array:
        values = np.empty((len(scaled), int(self.n_select)))
        for rows, draws, own in self._values(scaled, int(self.n_select), SELECTION):
            values[rows, draws] = own
        middle = (values.shape[1] + 1) // 2 - 1
        return np.asarray(np.partition(values, middle, axis=1)[:, middle])

    def _values(
        self, scaled: Array, n_draws: int, purpose: int
    ) -> Iterator[tuple[slice, slice, Array]]:
        """Predictions under random ablations on the target's own scale."""
        for rows, draws, predictions in self._predict_draws(scaled, n_draws, purpose):
            values = self.centre_ + self.scale_ * predictions.astype(np.float64)
            if not np.all(np.isfinite(values)):
                raise InputError(
                    "estimator predicts a NaN or an infinity: lower its learning rate, or give "
                    "another one"
                )
            yield rows, draws, values

    def certify(
        self,
        X: TableLike,
        *,
        lower: ArrayLike | None = None,
        upper: ArrayLike | None = None,
        tolerance: ArrayLike | None = None,
        relative: ArrayLike | None = None,
        around: ArrayLike | None = None,
    ) -> Certificates:
        """Bound how many units must be rewritten to move a prediction out of its bounds.

        Give the bounds in one of three ways: ``lower`` and ``upper``, ``tolerance``, or
        ``relative``.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
            Rows to certify.
        lower : float or array-like of shape (n_samples,), optional
            The lower bound itself; -inf leaves this side open.
        upper : float or array-like of shape (n_samples,), optional
            The upper bound itself; inf leaves this side open.
        tolerance : float or array-like of shape (n_samples,), optional
            The bounds lie this far from the middle.
        relative : float or array-like of shape (n_samples,), optional
            The bounds lie this share of the middle's absolute value from it; 0.15 is 15 %.
        around : array-like of shape (n_samples,), optional
            The middle, with ``tolerance`` or ``relative``: by default the prediction; ``y`` for the
            truth, which certified accuracy is about.

        Returns
        -------
        Certificates
            Prediction and radius for each row; a radius of -1 is an abstention. Each radius is
            right with probability ``1 - alpha``.
        """
        self._check_settings()
        scaled, table = self._rows_to_predict(X)
        prediction = self._medians(scaled)
        low, high, truth = bounds_around(prediction, lower, upper, tolerance, relative, around)
        inside = np.zeros((2, len(scaled)), dtype=np.int64)
        for rows, _, values in self._values(scaled, int(self.n_certify), CERTIFICATION):
            inside[0, rows] += np.count_nonzero(values >= low[rows, None], axis=1)
            inside[1, rows] += np.count_nonzero(values <= high[rows, None], axis=1)
        d = len(self.units_)
        shares, _ = clopper_pearson(inside, int(self.n_certify), self.alpha / 2)
        radii = ablation_radius(shares, None, d, self.keep_, "levine-feizi")
        sides = np.where(np.isinf([low, high]), d, radii)
        return Certificates(
            prediction,
            sides.min(axis=0),
            None,
            self._counts(),
            truth,
            of_values=True,
            frame=table.frame,
            index=table.index,
        )
