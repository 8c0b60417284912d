"""Certificates: what ``certify`` returns, and what it states about each row.

Plain arrays, one entry per row, and what the radius counts. A statement is a label, or the bounds
of a value. Bounds are given, or a distance from the prediction or the truth; they are checked here,
once, computed in float64 and used as they are: nothing may round them outwards.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from html import escape
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ._support import Array, array_of, check_whole, require
from .errors import InputError

__all__ = ["Certificates", "Counts", "Silence"]

# what a proof may trust besides columns
TRAINING_TABLE, TRAINING_IMAGES = "the training table", "the training images"
SHOWN_UNITS = 5  # silent units that are listed
SHOWN_ROWS = 5  # in a notebook
SHOWN_RADII = 12  # bars in a notebook; larger radii share the last one


@dataclass(frozen=True)
class Counts:
    """What a radius counts.

    Attributes
    ----------
    what : str
        The kind of thing an attacker owns, such as ``"columns"`` or ``"sources"``.
    total : int
        How many of them there are.
    trusted : tuple of str
        What no attacker can touch: columns, or a whole table, such as ``"the training table"`` if a
        proof covers changed rows only.

    See Also
    --------
    Certificates : Radii, and what they count.

    Examples
    --------
    >>> from partita.certificates import Counts
    >>> print(Counts("sensors", 12, trusted=("hour",)))
    sensors (12 in all, out of reach: hour)
    """

    what: str
    total: int
    trusted: tuple[str, ...] = ()

    def __str__(self) -> str:
        reach = f", out of reach: {', '.join(self.trusted)}" if self.trusted else ""
        return f"{self.what} ({self.total} in all{reach})"


@dataclass(frozen=True, eq=False)
class Silence:
    """What was silent when rows were certified, and what it cost.

    Attributes
    ----------
    units : array of bool, shape (n_samples, n_units)
        Which units were silent in which rows.
    names : tuple of str
        The units' names.
    abstained : array of int, shape (n_samples,)
        How many submodels abstained.
    n_submodels : int
        How many there are.
    radius : array of int, shape (n_samples,)
        The certified radius, with the silence.
    without : array of int, shape (n_samples,)
        The radius if the submodels that abstained had sided with the prediction: what the silence
        cost is at most the difference.
    detected : bool
        Whether silence was read from the values, which the owner of a unit can fake: such silence
        may be lifted by an attacker, and the radius takes that into account.

    See Also
    --------
    partita.Certificates : Holds one as ``silence``.

    Examples
    --------
    >>> import numpy as np
    >>> from partita.certificates import Silence
    >>> radius, without = np.array([1, 2]), np.array([2, 2])
    >>> silence = Silence(np.array([[True], [False]]), ("A",), np.array([1, 0]), 5, radius, without)
    >>> for sentence in str(silence).split(". "):
    ...     print(sentence)
    Silent: A in 1 row; 1 of 2 rows lack a source
    In these 1 of 5 submodels abstain, and the median radius is 1 (at best 2 without the silence)
    """

    units: Array
    names: tuple[str, ...]
    abstained: Array
    n_submodels: int
    radius: Array
    without: Array
    detected: bool = False

    def __str__(self) -> str:
        rows = np.asarray(self.units.any(axis=1))
        if not rows.any():
            return f"No source is silent in any of {len(rows)} rows"
        counts = self.units.sum(axis=0)
        listed = [
            f"{self.names[unit]} in {counts[unit]} row{'' if counts[unit] == 1 else 's'}"
            for unit in np.flatnonzero(counts)
        ]
        if len(listed) > SHOWN_UNITS:
            listed = [*listed[:SHOWN_UNITS], f"{len(listed) - SHOWN_UNITS} more"]
        least, most = self.abstained[rows].min(), self.abstained[rows].max()
        abstain = f"{least}" if least == most else f"{least} to {most}"
        return (
            f"Silent: {', '.join(listed)}; {rows.sum()} of {len(rows)} rows lack a source. In "
            f"these {abstain} of {self.n_submodels} submodels abstain, and the median radius is "
            f"{np.median(self.radius[rows]):g} (at best "
            f"{np.median(self.without[rows]):g} without the silence)"
        )


@dataclass(frozen=True, eq=False, repr=False)
class Certificates:
    """A prediction and its certified radius for every row.

    However an attacker rewrites at most ``radius`` of the things counted, in the training data, in
    the row or in both, the statement about the row stays true: its label is the prediction, its
    value stays within the bounds, or its given label stays among the top k.

    Attributes
    ----------
    prediction : array of shape (n_samples,)
        Predicted labels or values; with ``TopK``, the labels to certify.
    radius : array of int, shape (n_samples,)
        The certified radius. -1: the statement is not even true now (a value outside its bounds, a
        label outside the top k).
    runner_up : array of shape (n_samples,) or None
        The label nearest to taking over; None where there is no such label (regression, top-k, a
        single class).
    counts : Counts
        What the radius counts.
    truth : array of shape (n_samples,) or None
        The true values that the statements are about (``certify(X, around=y)``, or ``TopK`` with
        ``labels=y``), if they are.
    of_values : bool
        Whether predictions are values that stay within bounds (regression), not labels.
    frame : str
        The frame library that :meth:`to_frame` uses: the one X came from, or pandas.
    index : Any
        The pandas index of X, if it had one.
    frontier : callable or None
        Computes how many of the things counted may lie while others are silent, when
        :meth:`survives` or :attr:`silence_radius` is first asked for; None where nothing is proven
        about silence. It keeps the ballots in memory.
    silence : Silence or None
        What was silent when the rows were certified, and what that cost; None without ``silent``.
    note : str
        What must be known beside the numbers: that another rule than the model's decided.

    See Also
    --------
    certify : Makes certificates from ballots.
    FeaturePartitionClassifier.certify : Makes them from a table.
    partita.metrics.certified_accuracy : How many rows are right and certified.

    References
    ----------
    Theory, section 1.

    Examples
    --------
    >>> import numpy as np
    >>> from partita import certify
    >>> proof = certify(np.eye(2)[[[0, 0, 0, 0, 0], [1, 1, 1, 0, 0]]], rule="plurality")
    >>> proof
    Certificates(2 rows, radius 0 to 2, median 1; counts submodels (5 in all))
    >>> proof.prediction.tolist(), proof.radius.tolist(), proof.runner_up.tolist()
    ([0, 1], [2, 0], [1, 0])
    >>> proof[proof.radius > 0]
    Certificates(1 row, radius 2 to 2, median 2; counts submodels (5 in all))
    """

    prediction: Array
    radius: Array
    runner_up: Any  # an array or None; Any, so that users may index it without asking
    counts: Counts
    truth: Array | None = None
    of_values: bool = False
    frame: str = "pandas"
    index: Any = None
    frontier: Callable[[], Array] | None = None
    silence: Silence | None = None
    note: str = ""
    # what radius and frontier were computed for; `replace` passes it on
    _counted: Counts | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        if self._counted is None:
            object.__setattr__(self, "_counted", self.counts)
        elif self._counted != self.counts:
            raise ValueError(
                f"counts would become {self.counts}, but radius and frontier count "
                f"{self._counted}: use recounted, which changes them together"
            )

    def __len__(self) -> int:
        return len(self.radius)

    def __getitem__(self, rows: Any) -> "Certificates":
        """Return the certificates of some rows: one, a slice, positions, or a mask."""
        chosen = np.arange(len(self))[rows].reshape(-1)
        silence, frontier = self.silence, self.frontier
        if silence is not None:
            names = ("units", "abstained", "radius", "without")
            silence = replace(silence, **{name: getattr(silence, name)[chosen] for name in names})
        return replace(
            self,
            prediction=self.prediction[chosen],
            radius=self.radius[chosen],
            runner_up=None if self.runner_up is None else self.runner_up[chosen],
            truth=None if self.truth is None else self.truth[chosen],
            index=None if self.index is None else self.index[chosen],
            frontier=None if frontier is None else partial(_frontier_of_rows, frontier, chosen),
            silence=silence,
        )

    def __array__(self, *_: object, **__: object) -> Array:
        raise InputError(
            "certificates are not an array: give one of theirs, such as proof.radius or "
            "proof.prediction"
        )

    def __repr__(self) -> str:
        note = f"; {self.note}" if self.note else ""
        return f"Certificates({self._summary()}; counts {self.counts}{note})"

    def _summary(self) -> str:
        rows = f"{len(self)} row{'' if len(self) == 1 else 's'}"
        if not len(self):
            return rows
        median = np.median(self.radius)
        return f"{rows}, radius {self.radius.min()} to {self.radius.max()}, median {median:g}"

    def _repr_html_(self) -> str:
        """Return a compact table for notebooks."""
        parts = [
            f"<strong>Certificates</strong>: {escape(self._summary())}<br>"
            f"<small>the radius counts {escape(str(self.counts))}"
            f"{'; ' if self.note else ''}{escape(self.note)}</small>"
        ]
        if len(self):
            parts += [_radius_bars(self.radius), self._first_rows()]
        return f"<div>{''.join(parts)}</div>"

    def _first_rows(self) -> str:
        """Return the first rows as an HTML table."""
        columns = self._columns()
        head = "".join(f"<th>{name}</th>" for name in ("row", *columns))
        labels = range(len(self)) if self.index is None else self.index
        lines = []
        for i in range(min(SHOWN_ROWS, len(self))):
            cells = [labels[i], *(values[i] for values in columns.values())]
            lines.append("".join(f"<td>{escape(str(cell))}</td>" for cell in cells))
        more = len(self) - len(lines)
        rest = f"<tr><td colspan={len(columns) + 1}>… {more} more</td></tr>" if more > 0 else ""
        body = "".join(f"<tr>{line}</tr>" for line in lines)
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}{rest}</tbody></table>"

    # ---- silence ----

    @property
    def silence_radius(self) -> Any:
        """How many of the things counted may fall silent, none of them lying, in each row.

        An array of int, shape (n_samples,): any so many may abstain and the statement about the row
        stays true. At least ``radius``, often twice as many. None where nothing is proven about
        silence (certificates that count patches or training rows, or that come from another
        method).
        """
        if self.frontier is None:
            return None
        silent = (self._radii >= 0).sum(axis=1) - 1
        return np.where(self.radius >= self.counts.total, self.counts.total, silent)

    def survives(self, lying: int, silent: int = 0) -> Array:
        """Tell which rows survive liars and silent sources together.

        Parameters
        ----------
        lying : int
            How many of the things counted an attacker owns.
        silent : int, default=0
            How many others fall silent, whichever they are.

        Returns
        -------
        array of bool, shape (n_samples,)
            Whether the statement about the row stays true in every such case.

        Raises
        ------
        InputError
            If a number is negative, or if nothing is proven about silence here.

        Examples
        --------
        >>> import numpy as np
        >>> from partita import certify
        >>> proof = certify(np.eye(2)[[[0, 0, 0, 0, 0], [1, 1, 1, 1, 0]]], rule="plurality")
        >>> proof.silence_radius.tolist(), proof.survives(1, 1).tolist()
        ([4, 2], [True, False])
        """
        check_whole("lying", lying, 0)
        check_whole("silent", silent, 0)
        if silent == 0:
            return np.asarray(self.radius >= lying)
        if self.frontier is None:
            raise InputError(
                f"silent is {silent}, but these certificates count {self.counts.what}, and nothing "
                "is proven of any that fall silent: use silent=0"
            )
        unbreakable = self.radius >= self.counts.total
        if silent >= self._radii.shape[1]:
            return np.asarray(unbreakable)
        return np.asarray(unbreakable | (self._radii[:, silent] >= lying))

    def survival(self) -> Array:
        """Compute the share of rows that survive each number of liars and silent sources.

        Returns
        -------
        array of float, shape (n_lying, n_silent)
            Entry (r, m) is the share of rows that survive any r that lie and any m others that are
            silent. It ends where no row survives; the first row and column are always there.

        Examples
        --------
        >>> import numpy as np
        >>> from partita import certify
        >>> certify(np.eye(2)[[[0, 0, 0, 0, 0], [1, 1, 1, 1, 0]]], rule="plurality").survival()
        array([[1. , 1. , 1. , 0.5, 0.5],
               [1. , 0.5, 0.5, 0.5, 0. ],
               [0.5, 0.5, 0. , 0. , 0. ]])
        """
        most = self.counts.total
        n_silent = int(np.max(self.silence_radius, initial=0)) if self.frontier is not None else 0
        n_lying = max(0, int(np.max(self.radius, initial=0)))
        n_silent, n_lying = (min(number, most) for number in (n_silent, n_lying))
        rows = max(1, len(self))
        return np.array(
            [
                [self.survives(r, m).sum() / rows for m in range(n_silent + 1)]
                for r in range(n_lying + 1)
            ]
        )

    @cached_property
    def _radii(self) -> Array:
        """How many may lie while m others are silent: (rows, m), -1 where silence alone breaks."""
        assert self.frontier is not None
        own, most = np.asarray(self.radius), self.counts.total
        radii = np.minimum(self.frontier(), most)
        # silence does no more than a lie could
        radii = np.maximum(radii, own[:, None] - np.arange(radii.shape[1]))
        radii[:, 0] = own
        radii = np.minimum.accumulate(np.maximum(radii, -1), axis=1)  # at most m are silent
        return np.where(own[:, None] < 0, -1, radii)

    def correct(self, y: Any) -> Array:
        """Compare the certificates with the truth.

        Parameters
        ----------
        y : array-like of shape (n_samples,)
            True labels or values.

        Returns
        -------
        array of bool, shape (n_samples,)
            Which rows are right now. Those that also have a radius of at least r are certified
            correct at r.

        Raises
        ------
        InputError
            If ``y`` has the wrong length, if it differs from the values that the certificates were
            made around, or if the certificates are about values near the prediction, not near the
            truth.

        Examples
        --------
        >>> import numpy as np
        >>> from partita import certify
        >>> certify(np.eye(2)[[[0, 0, 0], [0, 1, 1]]], rule="plurality").correct([0, 0])
        array([ True, False])
        """
        y = array_of("y", y)
        if y.shape != self.radius.shape:
            raise InputError(
                f"y has shape {y.shape}, but the certificates cover {len(self)} rows: expected "
                "one true value per row"
            )
        if self.truth is not None:
            if not np.array_equal(y, self.truth):
                raise InputError(
                    "y differs from the values these certificates were made around: certify again "
                    "with this y"
                )
            return np.asarray(self.radius >= 0)
        if self.of_values:
            raise InputError(
                "y cannot be compared with certificates made around the prediction: certify(X, "
                "around=y, tolerance=...) certifies that the prediction stays near the truth"
            )
        given, learnt = _type_of(y), _type_of(self.prediction)
        if len(y) and {given, learnt} == {"texts", "numbers"}:
            raise InputError(
                f"y holds {given}, but the predictions are {learnt}, so no row could be right: "
                "give the labels as the model was fitted with them"
            )
        return np.asarray(self.prediction == y)

    def to_frame(self, silence: bool = False) -> Any:
        """Return the certificates as a frame.

        Parameters
        ----------
        silence : bool, default=False
            Whether to add a column ``silence_radius``.

        Returns
        -------
        DataFrame
            Of the library that X came from, pandas where it was an array; columns ``prediction``,
            ``radius`` and, if there is one, ``runner_up``; on request ``silence_radius``.

        Raises
        ------
        MissingExtraError
            If pandas is needed and not installed.

        Examples
        --------
        >>> import numpy as np
        >>> from partita import certify
        >>> certify(np.eye(2)[[[0, 0, 0], [0, 1, 1]]], rule="plurality").to_frame()
           prediction  radius  runner_up
        0           0       1          1
        1           1       0          0
        """
        columns: Any = self._columns()
        if silence and self.frontier is not None:
            columns["silence_radius"] = self.silence_radius
        if self.frame == "pandas":
            pandas = require("pandas", "to_frame() for arrays")
            return pandas.DataFrame(columns, index=self.index)
        import narwhals

        backend: Any = self.frame
        return narwhals.from_dict(columns, backend=backend).to_native()

    def _columns(self) -> dict[str, Array]:
        columns = {"prediction": self.prediction, "radius": self.radius}
        return columns if self.runner_up is None else columns | {"runner_up": self.runner_up}


def _frontier_of_rows(frontier: Callable[[], Array], rows: Array) -> Array:
    return np.asarray(frontier()[rows])


def recounted(
    proof: Certificates, radius: Array, counts: Counts, frontier: Callable[[], Array] | None
) -> Certificates:
    """Return certificates of the same statements that count other things.

    ``frontier`` must hold for the new things as ``radius`` does; None: nothing is proven about
    their silence.
    """
    return replace(
        proof, radius=radius, counts=counts, frontier=frontier, silence=None, _counted=None
    )


def _type_of(labels: Array) -> str:
    """Return "texts", "numbers", or another name where an array may hold either."""
    return {"U": "texts", "S": "texts"}.get(
        labels.dtype.kind, "numbers" if labels.dtype.kind in "iufb" else "objects"
    )


def _radius_bars(radius: Array) -> str:
    """Return how many rows have each radius, as an HTML table with bars."""
    values, counts = np.unique(radius, return_counts=True)
    names = [str(value) for value in values.tolist()]
    if len(names) > SHOWN_RADII:
        names = [*names[: SHOWN_RADII - 1], f"{names[SHOWN_RADII - 1]} and more"]
        counts = np.append(counts[: SHOWN_RADII - 1], counts[SHOWN_RADII - 1 :].sum())
    lines = []
    for name, count in zip(names, counts.tolist(), strict=True):
        width = max(1, round(120 * count / int(counts.max())))
        bar = f"width:{width}px;height:0.7em;background:currentColor;opacity:0.5"
        lines.append(
            f'<tr><td>{name}</td><td style="text-align:left"><div style="{bar}"></div></td>'
            f"<td>{count} ({count / len(radius):.0%})</td></tr>"
        )
    return (
        "<table><thead><tr><th>radius</th><th></th><th>rows</th></tr></thead>"
        f"<tbody>{''.join(lines)}</tbody></table>"
    )


# ---- statements: what is certified about each row ----


@dataclass(frozen=True, eq=False)
class LabelStatement:
    """The prediction of each row is this label."""

    labels: Array

    def __len__(self) -> int:
        return len(self.labels)

    def holds(self, predictions: Array) -> Array:
        """Return which predictions, of shape (rows,) or (rows, ...), make the statement true."""
        return np.asarray(predictions == _as_column(self.labels, predictions))

    def take(self, rows: slice | Array | list[int]) -> "LabelStatement":
        """Return the statement about some of the rows."""
        return LabelStatement(self.labels[rows])

    @property
    def bounds(self) -> dict[str, Array]:
        """No keyword arguments: a rule certifies the label it predicts."""
        return {}


@dataclass(frozen=True, eq=False)
class BoundStatement:
    """The prediction of each row lies in [lower, upper]; ``truth`` if they lie around the truth."""

    lower: Array
    upper: Array
    truth: Array | None = None

    def __len__(self) -> int:
        return len(self.lower)

    def holds(self, predictions: Array) -> Array:
        """Return which predictions, of shape (rows,) or (rows, ...), make the statement true."""
        lower, upper = (_as_column(bound, predictions) for bound in (self.lower, self.upper))
        return np.asarray((predictions >= lower) & (predictions <= upper))

    def take(self, rows: slice | Array | list[int]) -> "BoundStatement":
        """Return the statement about some of the rows."""
        truth = None if self.truth is None else self.truth[rows]
        return BoundStatement(self.lower[rows], self.upper[rows], truth)

    @property
    def bounds(self) -> dict[str, Array]:
        """The keyword arguments of ``Median.certify``, ``certify_collective`` and the like."""
        return {"lower": self.lower, "upper": self.upper}


Statement = LabelStatement | BoundStatement


def _as_column(values: Array, predictions: Array) -> Array:
    """One value per row, shaped to be compared with predictions of any shape (rows, ...)."""
    return values.reshape(-1, *[1] * (np.ndim(predictions) - 1))


def bounds_around(
    prediction: Array,
    lower: ArrayLike | None = None,
    upper: ArrayLike | None = None,
    tolerance: ArrayLike | None = None,
    relative: ArrayLike | None = None,
    around: ArrayLike | None = None,
) -> tuple[Array, Array, Array | None]:
    """Return each row's lowest and highest allowed value, and the truth if ``around`` gave one."""
    by_bounds = lower is not None or upper is not None
    if sum([by_bounds, tolerance is not None, relative is not None]) != 1:
        raise InputError(
            "certify needs to know what must hold: lower and upper, or tolerance, or relative, "
            "and only one of the three"
        )
    n_rows = len(prediction)
    if by_bounds:
        if around is not None:
            raise InputError(
                "around goes with tolerance or relative: lower and upper say where the bounds are"
            )
        low = row_bound("lower", -np.inf if lower is None else lower, n_rows)
        high = row_bound("upper", np.inf if upper is None else upper, n_rows)
        check_order(low, high)
        return low, high, None
    name, given = ("relative", relative) if tolerance is None else ("tolerance", tolerance)
    width = array_of(name, given, np.float64)
    if width.shape not in ((), (n_rows,)) or not np.all(width >= 0):
        raise InputError(
            f"{name} must be a number, 0 or above, or one for each of the {n_rows} rows"
        )
    middle = prediction if around is None else array_of("around", around, np.float64)
    if middle.shape != (n_rows,) or not np.all(np.isfinite(middle)):
        raise InputError(f"around must hold one finite number for each of the {n_rows} rows")
    if relative is not None:
        width = width * np.abs(middle)
    return middle - width, middle + width, None if around is None else middle


def row_bound(name: str, given: ArrayLike, n_rows: int) -> Array:
    """Return one bound per row, from one number or one per row."""
    array = array_of(name, given, np.float64)
    if array.shape not in ((), (n_rows,)) or np.isnan(array).any():
        raise InputError(
            f"{name} must be one number or one for each of the {n_rows} rows, without NaN; its "
            f"shape is {array.shape}"
        )
    return np.ascontiguousarray(np.broadcast_to(array, (n_rows,)))


def check_row_bounds(
    lower: ArrayLike | None, upper: ArrayLike | None, n_rows: int
) -> tuple[Array, Array]:
    """Return the bounds of each row, both of them needed and in order."""
    if lower is None or upper is None:
        raise InputError("lower and upper are both needed: -inf or inf leaves a side open")
    low, high = row_bound("lower", lower, n_rows), row_bound("upper", upper, n_rows)
    check_order(low, high)
    return low, high


def check_order(low: Array, high: Array) -> None:
    """Raise if a lower bound is above its upper bound."""
    if np.any(low > high):
        row = int(np.argmax(low > high))
        raise InputError(f"lower is above upper in row {row} ({low[row]} > {high[row]}): swap them")
