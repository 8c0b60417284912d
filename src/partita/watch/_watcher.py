"""Watching rows as they come: which source contradicts the outcome more often than is usual.

The test may be looked at after every row, since it bets against "nothing has changed". It starts
with a wealth of 1 and bets, before every row, on a contradiction. If contradictions have a
probability of at most p0, given the past, no bet is favourable, so the wealth is a nonnegative
supermartingale, and it ever reaches 1/a with a probability of at most a (Ville's inequality),
whenever and however often one looks.

One bet with factor f multiplies the wealth by f / (1 + (f - 1) p0) at a contradiction and by
1 / (1 + (f - 1) p0) otherwise: (1 + (f - 1) p) / (1 + (f - 1) p0) <= 1 on average for p <= p0. The
wealth is a mixture over several factors, and over the row at which betting begins: row n gets the
share 1 / (n (n + 1)), and 1 / (n + 1) is not at stake yet. So a change after many quiet rows is
found nearly as soon as one at the start, and nothing ever starts anew.

The probability of a false alarm that is stated holds for one watcher and those that go on from its
state, over all sources together, if the clean rows are independent, and if while nothing changes no
past makes a contradiction more likely than it is among clean rows. An alarm is about a source, and
no certificate: nothing that is proven depends on it.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import numpy as np

from .._support import (
    Array,
    JsonObject,
    TableLike,
    check_alpha,
    check_whole,
    json_value,
    percent,
    probability,
    require,
    shortened,
)
from ..ballots import Ballots
from ..ensemble import FittedEnsemble
from ..errors import InputError
from ..plot import figure_png
from ._evidence import ALL_SOURCES, evidence
from ._rates import ReferenceRates, fingerprint

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.legend import Legend

# The odds of a contradiction, against the usual odds. A few do: the best of them is nearly as good
# as the right one, and the mixture loses a factor of at most their number.
FACTORS = np.array([1.25, 1.5, 2.0, 3.0, 5.0, 10.0, 30.0, 200.0])
ROUNDING = 1e-6  # by which a logarithm of wealth must be above its limit; far above any rounding
AT_ONCE = 4096  # rows, to bound memory
FORMAT = 1  # of a state
KEPT = ("log_wealth", "lowest", "counted", "contradictions", "quiet")  # arrays in a state
ANEW = "or begin anew without a state, and with a new budget of false alarms"
MOST_POINTS = 2000  # of a line in the picture
LONGEST_LEGEND = 32
MOST_LINES = 12  # in the legend


# ---- what was found ----


@dataclass(frozen=True)
class Alarm:
    """A source that contradicts the outcome more often than chance explains, or a false alarm.

    Attributes
    ----------
    source : str
        The source, or ``"all sources"``.
    row : int
        The row, counted from 0 over the whole stream, at which the wealth crossed its limit.
    time : object
        When that row came, if it is known.
    since : int
        The row after which the wealth rose from its lowest: about when the change began.
    counted, contradictions : int
        Rows since then that say something about the source, and how many contradict the outcome.
    usual : float
        The share of contradictions on clean rows.
    wealth : float
        What the bets have made of 1.

    See Also
    --------
    watch : Raises alarms.

    Examples
    --------
    >>> from partita.watch import Alarm
    >>> print(Alarm("sensor 3", 812, None, 752, 58, 41, 0.031, 5120.0))
    row 812: sensor 3 contradicts 41 of 58 rows since row 752 (70.7 %, usual 3.1 %)
    """

    source: str
    row: int
    time: object
    since: int
    counted: int
    contradictions: int
    usual: float
    wealth: float

    def to_dict(self) -> JsonObject:
        """Return plain data, as JSON holds it.

        Returns
        -------
        dict
            The attributes by name.
        """
        return dict(json_value(asdict(self)))

    def __str__(self) -> str:
        when = f"row {self.row:,}" + ("" if self.time is None else f" ({self.time})")
        what = (
            f"{self.source}: certified less than usual, not in"
            if self.source == ALL_SOURCES
            else f"{self.source} contradicts"
        )
        rate = percent(self.contradictions / max(self.counted, 1))
        return (
            f"{when}: {what} {self.contradictions:,} of {self.counted:,} rows since row "
            f"{self.since:,} ({rate}, usual {percent(self.usual)})"
        )


@dataclass(frozen=True)
class SourceRate:
    """How often one source contradicts the outcome, and what is usual."""

    source: str
    units: tuple[str, ...]
    usual: float
    usual_at_most: float  # what the test takes for usual
    counted: int
    contradictions: int
    log_wealth: float
    alarm: Alarm | None

    @property
    def rate(self) -> float:
        """Return the share of counted rows in which the source contradicts; NaN without any."""
        return self.contradictions / self.counted if self.counted else float("nan")

    def to_dict(self) -> JsonObject:
        """Return plain data, as JSON holds it; the wealth as its decimal logarithm."""
        found = {name: value for name, value in vars(self).items() if name != "log_wealth"}
        found |= {"rate": self.rate, "log10_wealth": self.log_wealth / np.log(10)}
        found["alarm"] = None if self.alarm is None else self.alarm.row
        return dict(json_value(found))


class Trace:
    """The wealth of every test over the rows, at a bounded number of points."""

    def __init__(self, n_tests: int) -> None:
        self.rows = np.empty(0, dtype=np.int64)
        self.log_wealth = np.empty((0, n_tests))
        self._stride, self._seen = 1, 0

    def add(self, rows: Array, log_wealth: Array) -> None:
        """Add further rows; one entry each of ``rows``."""
        start = -self._seen % self._stride
        self._seen += len(rows)
        if start >= len(rows):  # a service adds row by row
            return
        self.rows = np.concatenate([self.rows, rows[start :: self._stride]])
        self.log_wealth = np.concatenate([self.log_wealth, log_wealth[start :: self._stride]])
        while len(self.rows) > MOST_POINTS:
            self.rows, self.log_wealth = self.rows[::2], self.log_wealth[::2]
            self._stride *= 2


@dataclass(frozen=True, eq=False)
class WatchResult:
    """What :func:`watch` found.

    Attributes
    ----------
    rows : int
        How many rows came.
    every : int
        Every n-th of them was used.
    false_alarms : float
        The probability of any false alarm at all in these rows, if they do not depend on one
        another: for one stream, and not for several together.
    sources : tuple
        For every source, the last being all together: ``source``, ``units``, ``usual``, ``rate``,
        ``counted``, ``contradictions``, ``log_wealth`` and ``alarm``.
    alarms : tuple of Alarm
        In their order; a source raises one.
    log_limit : float
        The logarithm of the wealth that raises an alarm.
    trace : Trace
        The ``log_wealth`` of every source at some ``rows``, for :meth:`plot`.

    See Also
    --------
    watch : Makes one.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from partita import FeaturePartitionClassifier
    >>> from partita.watch import learn_usual, watch
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> clf = FeaturePartitionClassifier(GaussianNB(), n_submodels=5).fit(X[::3], y[::3])
    >>> found = watch(clf, X[2::3], learn_usual(clf, X[1::3]))
    >>> found.rows, found.alarms
    (59, ())
    """

    rows: int
    every: int
    false_alarms: float
    sources: tuple[SourceRate, ...]
    alarms: tuple[Alarm, ...]
    log_limit: float
    trace: Trace

    def to_dict(self) -> JsonObject:
        """Return plain data, as JSON holds it.

        Returns
        -------
        dict
            ``rows``, ``every``, ``false_alarms``, ``alarms`` and ``sources``.
        """
        return {
            "rows": self.rows,
            "every": self.every,
            "false_alarms": self.false_alarms,
            "alarms": [alarm.to_dict() for alarm in self.alarms],
            "sources": [source.to_dict() for source in self.sources],
        }

    def __str__(self) -> str:
        head = f"{self.rows:,} rows, false alarms at most {probability(self.false_alarms)}: "
        if not self.alarms:
            return head + "no alarm"
        plural = "" if len(self.alarms) == 1 else "s"
        return "\n".join([f"{head}{len(self.alarms)} alarm{plural}", *map(str, self.alarms)])

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Draw the wealth of every source over the rows, those with an alarm in colour.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default on a new figure.

        Returns
        -------
        matplotlib Axes
            With one line per source, and the limit.
        """
        if ax is None:
            plt = require("matplotlib.pyplot", "a plot", "partita[plot]")
            ax = plt.subplots(layout="constrained")[1]
        self._draw(ax)
        return ax

    def png(self) -> bytes:
        """Return the picture as a PNG, made without a window.

        Returns
        -------
        bytes
            The content of a file.
        """
        return figure_png(self._draw_beside_legend, (8.6, 4.6))

    def _draw_beside_legend(self, ax: "Axes") -> None:
        self._draw(ax).remove()
        ax.figure.legend(loc="outside right upper", frameon=False, fontsize="small")

    def _draw(self, ax: "Axes") -> "Legend":
        rows, wealth = self.trace.rows, self.trace.log_wealth / np.log(10)
        limit = self.log_limit / np.log(10)
        rank = {alarm.source: k for k, alarm in enumerate(self.alarms)}
        for t, source in enumerate(self.sources):
            k = rank.get(source.source)
            if k is None:
                ax.plot(rows, wealth[:, t], color="0.75", linewidth=0.9, zorder=1)
                continue
            name = shortened(source.source, LONGEST_LEGEND).replace("$", r"\$")
            label = f"{name}, row {self.alarms[k].row:,}" if k < MOST_LINES else "_"
            dashes = "-" if k < 10 else "--"
            ax.plot(rows, wealth[:, t], dashes, color=f"C{k % 10}", label=label, lw=1.8, zorder=3)
        ax.axhline(limit, color="black", linestyle="--", linewidth=1.1, label="alarm")
        top = max(limit * 3, 1.0)
        ax.set(
            xlabel="row",
            ylabel="wealth of the bets on a change (power of ten)",
            ylim=(min(-1.0, float(wealth.min(initial=0))), top),
        )
        return ax.legend(frameon=False, fontsize="small")


# ---- the test ----


class Bets:
    """The wealth of several tests, one for each source, row after row.

    Parameters
    ----------
    p0 : array of shape (n_tests,)
        What the probability of a contradiction is at most, if nothing has changed.
    """

    def __init__(self, p0: Array) -> None:
        excess = np.log1p((FACTORS - 1) * np.asarray(p0, dtype=np.float64)[:, None])
        self._lose = -excess
        self._win = np.log(FACTORS) - excess
        self.n_rows = 0
        self.log_stakes: Array = np.full(excess.shape, -np.inf)  # (tests, factors); all is idle

    def update(self, contradicts: Array, counted: Array) -> Array:
        """Bet on further rows, each array bool (rows, tests).

        Returns
        -------
        array of shape (n_rows, n_tests)
            The logarithm of each test's wealth after each row.
        """
        if not len(contradicts):
            return np.empty(contradicts.shape)
        step = np.where(contradicts[:, :, None], self._win, self._lose)
        growth = np.cumsum(np.where(counted[:, :, None], step, 0.0), axis=0)
        n = self.n_rows + np.arange(1, len(contradicts) + 1, dtype=np.float64)
        # a stake that begins before row k grows by everything from row k on
        begins = -np.log(n * (n + 1))[:, None, None] - (
            np.concatenate([np.zeros((1, *growth.shape[1:])), growth[:-1]])
        )
        stakes = np.logaddexp.accumulate(np.concatenate([self.log_stakes[None], begins]), axis=0)
        log_stakes = stakes[1:] + growth
        self.n_rows += len(contradicts)
        self.log_stakes = log_stakes[-1]
        staked = np.logaddexp.reduce(log_stakes, axis=2) - np.log(len(FACTORS))
        return np.asarray(np.logaddexp(staked, -np.log(n + 1)[:, None]))


class Watcher:
    """Test rows against what is usual, batch after batch.

    Parameters
    ----------
    model : FeaturePartitionClassifier, FeaturePartitionRegressor or leave-out ensemble
        Fitted.
    usual : ReferenceRates
        What :func:`learn_usual` found with this model.
    false_alarms : float, default=0.01
        The probability of any false alarm at all, over all sources, however many rows come to this
        watcher and to those that go on from its state. Another watcher without a state has as much
        again.
    every : int, optional
        Use only every n-th row; by default as ``usual`` was learnt.
    state : mapping, optional
        What :meth:`state` returned earlier, to go on from there.

    See Also
    --------
    watch : All rows at once.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from partita import FeaturePartitionClassifier
    >>> from partita.watch import Watcher, learn_usual
    >>> X, y = load_digits(return_X_y=True)
    >>> clf = FeaturePartitionClassifier(GaussianNB(), n_submodels=9).fit(X[:900], y[:900])
    >>> watcher = Watcher(clf, learn_usual(clf, X[900:1400]))
    >>> watcher.update(clf.ballots(X[1400:1600]))
    []
    >>> Watcher(clf, watcher.usual, state=watcher.state()).rows
    200
    """

    def __init__(
        self,
        model: FittedEnsemble,
        usual: ReferenceRates,
        *,
        false_alarms: float = 0.01,
        every: int | None = None,
        state: JsonObject | None = None,
    ) -> None:
        check_alpha(false_alarms, "false_alarms", 0.01)
        usual.check_model(model)
        self.model, self.usual = model, usual
        self.every = usual.every if every is None else every
        check_whole("every", self.every, 1)
        self.false_alarms = float(false_alarms)
        n_tests = len(usual.sources)
        # one half is for usual rates that are taken too low, one for luck with the bets
        level = self.false_alarms / (2 * n_tests)
        self.at_most = usual.at_most(level)
        self.log_limit = -np.log(level)
        self.rows = 0
        self.alarms: list[Alarm] = []
        self._bets = Bets(self.at_most)
        self._log_wealth = np.zeros(n_tests)
        self._counted, self._contradictions = np.zeros((2, n_tests), dtype=np.int64)
        # each test's lowest wealth, and when that was last: the next row, counted, contradictions
        self._lowest = np.zeros(n_tests)
        self._quiet = np.zeros((3, n_tests), dtype=np.int64)
        self._trace = Trace(n_tests)
        if state is not None:
            self._restore(state)

    def update(
        self, ballots: Ballots | Array, times: Sequence[object] | None = None
    ) -> list[Alarm]:
        """Test further rows.

        Parameters
        ----------
        ballots : Ballots or array
            What the submodels say about them (``model.ballots(X)``), in the order in which the
            rows came.
        times : sequence, optional
            When each row came, or another name of it, for messages.

        Returns
        -------
        list of Alarm
            The alarms that these rows raised; a source raises one.
        """
        if not isinstance(ballots, Ballots):
            ballots = self.model.ballots_from(np.asarray(ballots))
        if times is not None and len(times) != len(ballots):
            raise InputError(
                f"times has {len(times)} entries for {len(ballots)} rows: expected one per row"
            )
        before = len(self.alarms)
        kept = np.arange(-self.rows % self.every, len(ballots), self.every)
        for start in range(0, len(kept), AT_ONCE):
            own = kept[start : start + AT_ONCE]
            names = None if times is None else [times[k] for k in own.tolist()]
            self._test(ballots[own], self.rows + own, names)
        self.rows += len(ballots)
        return self.alarms[before:]

    def _test(self, ballots: Ballots, rows: Array, times: list[object] | None) -> None:
        """Bet on rows with these numbers, and note what happened."""
        found = evidence(self.model, ballots)
        contradicts = found.contradicts(self.usual.thresholds)
        log_wealth = self._bets.update(contradicts, found.counted)
        counted = self._counted + np.cumsum(found.counted, axis=0)
        contradictions = self._contradictions + np.cumsum(contradicts, axis=0)
        lowest = np.minimum.accumulate(np.vstack([self._lowest, log_wealth]), axis=0)[1:]
        low = log_wealth <= lowest + ROUNDING
        self._trace.add(rows, log_wealth)
        known = {alarm.source for alarm in self.alarms}
        above = log_wealth >= self.log_limit + ROUNDING
        new = [
            (int(np.argmax(above[:, t])), t)
            for t in np.flatnonzero(above.any(axis=0)).tolist()
            if self.usual.sources[t] not in known
        ]
        for k, t in sorted(new):
            since = self._quiet_at(t, rows, low[: k + 1], counted, contradictions)
            self.alarms.append(
                Alarm(
                    source=self.usual.sources[t],
                    row=int(rows[k]),
                    time=None if times is None else times[k],
                    since=int(since[0]),
                    counted=int(counted[k, t] - since[1]),
                    contradictions=int(contradictions[k, t] - since[2]),
                    usual=float(self.usual.rates[t]),
                    wealth=float(np.exp(log_wealth[k, t])),
                )
            )
        for t in range(len(self._counted)):
            self._quiet[:, t] = self._quiet_at(t, rows, low, counted, contradictions)
        self._log_wealth, self._lowest = log_wealth[-1], lowest[-1]
        self._counted, self._contradictions = counted[-1], contradictions[-1]

    def _quiet_at(
        self, t: int, rows: Array, low: Array, counted: Array, contradictions: Array
    ) -> Array:
        """Return the row after a test's wealth was last lowest, and the counts up to there."""
        found = np.flatnonzero(low[:, t])
        if not len(found):
            return np.asarray(self._quiet[:, t])
        last = found[-1]
        return np.array([rows[last] + 1, counted[last, t], contradictions[last, t]])

    @property
    def result(self) -> WatchResult:
        """Return what was found so far."""
        usual, alarms = self.usual, {alarm.source: alarm for alarm in self.alarms}
        numbers = [usual.rates, self.at_most, self._counted, self._contradictions, self._log_wealth]
        columns = [column.tolist() for column in numbers]
        own = [alarms.get(name) for name in usual.sources]
        sources = zip(usual.sources, usual.units, *columns, own, strict=True)
        return WatchResult(
            self.rows,
            self.every,
            self.false_alarms,
            tuple(SourceRate(*one) for one in sources),
            tuple(self.alarms),
            float(self.log_limit),
            copy(self._trace),
        )

    def state(self) -> JsonObject:
        """Return all that a later :class:`Watcher` needs to go on, as JSON holds it.

        Returns
        -------
        dict
            A few numbers for each source, however many rows have come.
        """
        stakes = self._bets.log_stakes
        state = self._settings() | {
            "format": FORMAT,
            "rows": self.rows,
            "used": self._bets.n_rows,
            # null: nothing is at stake yet
            "log_stakes": [[None if np.isinf(x) else x for x in own] for own in stakes.tolist()],
            "alarms": [alarm.to_dict() for alarm in self.alarms],
            **{name: getattr(self, f"_{name}").tolist() for name in KEPT},
        }
        return state | {"sha256": _hash(state)}

    def _settings(self) -> JsonObject:
        """Return what a state's next watcher must have in common with this one."""
        return {
            "usual": fingerprint(self.usual),
            "false_alarms": self.false_alarms,
            "every": self.every,
        }

    def _restore(self, state: JsonObject) -> None:
        """Go on from a state with the same settings."""
        if not isinstance(state, Mapping):
            raise InputError("state is no state of a watcher: give what state() returned")
        if state.get("format") != FORMAT:
            raise InputError(
                f"state was not made by this version of partita: give what state() returned, {ANEW}"
            )
        for name, value in self._settings().items():
            if state.get(name) != value:
                raise InputError(
                    f"state was made with another {name}: go on with the same settings, {ANEW}"
                )
        if state.get("sha256") != _hash(state):
            raise InputError(
                f"state is damaged (its checksum does not match its content): restore it, {ANEW}"
            )
        try:
            stakes = [
                [-np.inf if x is None else float(x) for x in own] for own in state["log_stakes"]
            ]
            self._bets.log_stakes = np.array(stakes).reshape(self._bets.log_stakes.shape)
            self._bets.n_rows, self.rows = int(state["used"]), int(state["rows"])
            for name in KEPT:
                own = getattr(self, f"_{name}")
                setattr(self, f"_{name}", np.array(state[name], own.dtype).reshape(own.shape))
            self.alarms = [Alarm(**alarm) for alarm in state["alarms"]]
        except (KeyError, TypeError, ValueError, OverflowError) as exc:
            raise InputError(f"state is damaged ({exc!r}): restore it, {ANEW}") from exc


def _hash(state: JsonObject) -> str:
    """Return the checksum of a state, which JSON does not change."""
    content = {name: value for name, value in state.items() if name != "sha256"}
    return hashlib.sha256(json.dumps(content, sort_keys=True, default=str).encode()).hexdigest()


def watch(
    model: FittedEnsemble,
    X: TableLike,
    usual: ReferenceRates,
    *,
    false_alarms: float = 0.01,
    every: int | None = None,
    times: Sequence[object] | None = None,
) -> WatchResult:
    """Test whether a source contradicts the outcome more often than is usual.

    Rows are tested in their order, as if they came one by one. With a probability of at least
    ``1 - false_alarms`` this call raises no alarm at all while nothing has changed, if rows do not
    depend on one another. Rows that repeat one another, such as neighbouring hours, raise many more
    alarms than stated: use each ``every``-th row. Every call has a probability of its own; rows
    that come day by day share one in a :class:`Watcher`.

    Parameters
    ----------
    model : FeaturePartitionClassifier, FeaturePartitionRegressor or leave-out ensemble
        Fitted.
    X : array-like or DataFrame of shape (n_samples, n_features)
        New rows, in the order in which they came.
    usual : ReferenceRates
        What :func:`learn_usual` found with this model.
    false_alarms : float, default=0.01
        The probability of any false alarm at all in this call, over all sources.
    every : int, optional
        Use only every n-th row; by default as ``usual`` was learnt.
    times : sequence, optional
        When each row came, or another name of it, for messages.

    Returns
    -------
    WatchResult
        Rates and wealth of every source, and the alarms; print it, or plot it.

    Raises
    ------
    InputError
        If ``usual`` belongs to another model, or a setting is not valid.

    See Also
    --------
    learn_usual : What is usual on clean rows.
    Watcher : The same, batch after batch.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from partita import FeaturePartitionClassifier
    >>> from partita.watch import learn_usual, watch
    >>> X, y = load_digits(return_X_y=True)
    >>> clf = FeaturePartitionClassifier(GaussianNB(), n_submodels=9).fit(X[:900], y[:900])
    >>> usual = learn_usual(clf, X[900:1400])
    >>> new = X[1400:].copy()
    >>> new[100:, [unit for unit in clf.partition_[3]]] = 0
    >>> [alarm.source == usual.sources[3] for alarm in watch(clf, new, usual).alarms]
    [True]
    """
    watcher = Watcher(model, usual, false_alarms=false_alarms, every=every)
    watcher.update(model.ballots(X), times)
    return watcher.result
