"""What watching found: rates, wealth and alarms, to print, to store and to draw."""

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import numpy as np

from .._support import Array, JsonObject, json_value, percent, probability, require, shortened
from ..plot import figure_png
from ._evidence import ALL_SOURCES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.legend import Legend

MOST_POINTS = 2000  # of a line in the picture
LONGEST_LEGEND = 32
MOST_LINES = 12  # in the legend


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
        found: JsonObject = json_value(asdict(self))
        return found

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
        plain: JsonObject = json_value(found)
        return plain


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
