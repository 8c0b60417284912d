"""Watching rows as they come: which source contradicts the outcome more often than is usual.

The probability of a false alarm that is stated holds for one watcher and those that go on from its
state, over all sources together, if the clean rows are independent, and if while nothing changes no
past makes a contradiction more likely than it is among clean rows: the theory of _betting needs
just that. An alarm is about a source, and no certificate: nothing that is proven depends on it.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .._support import Array, check_alpha, check_whole
from ..ballots import Ballots
from ..ensemble import FittedEnsemble
from ..errors import InputError
from ._betting import FACTORS, ROUNDING, Bets
from ._evidence import evidence
from ._usual import ReferenceRates, fingerprint
from ._watch_result import Alarm, SourceRate, Trace, WatchResult

AT_ONCE = 4096  # rows, to bound memory
FORMAT = 1  # of a state
ANEW = "or begin anew without a state, and with a new budget of false alarms"


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
    >>> from partita.workflow import Watcher, learn_usual
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
        state: Mapping[str, Any] | None = None,
    ) -> None:
        try:
            check_alpha(false_alarms)
        except InputError as exc:
            raise InputError(
                f"false_alarms is {false_alarms!r}: it must be a probability above 0 and below 1, "
                "such as 0.01"
            ) from exc
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

    def update(self, ballots: Any, times: Sequence[Any] | None = None) -> list[Alarm]:
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
        given = ballots
        if not isinstance(given, Ballots):
            given = self.model.ballots_from(np.asarray(ballots))
        if times is not None and len(times) != len(given):
            raise InputError(
                f"times has {len(times)} entries for {len(given)} rows: expected one per row"
            )
        before = len(self.alarms)
        kept = np.arange(-self.rows % self.every, len(given), self.every)
        for start in range(0, len(kept), AT_ONCE):
            own = kept[start : start + AT_ONCE]
            names = None if times is None else [times[k] for k in own.tolist()]
            self._test(given[own], self.rows + own, names)
        self.rows += len(given)
        return self.alarms[before:]

    def _test(self, ballots: Ballots, rows: Array, times: list[Any] | None) -> None:
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
    ) -> tuple[int, int, int]:
        """The row after a test's wealth was last at its lowest, and the counts up to there."""
        found = np.flatnonzero(low[:, t])
        if not len(found):
            row, n, k = self._quiet[:, t].tolist()
            return row, n, k
        last = found[-1]
        return int(rows[last]) + 1, int(counted[last, t]), int(contradictions[last, t])

    @property
    def result(self) -> WatchResult:
        """What was found so far."""
        alarms = {alarm.source: alarm for alarm in self.alarms}
        rates, at_most = self.usual.rates.tolist(), self.at_most.tolist()
        sources = [
            SourceRate(
                name,
                self.usual.units[t],
                rates[t],
                at_most[t],
                int(self._counted[t]),
                int(self._contradictions[t]),
                float(self._log_wealth[t]),
                alarms.get(name),
            )
            for t, name in enumerate(self.usual.sources)
        ]
        return WatchResult(
            self.rows,
            self.every,
            self.false_alarms,
            tuple(sources),
            tuple(self.alarms),
            float(self.log_limit),
            self._trace.copy(),
        )

    def state(self) -> dict[str, Any]:
        """Return all that a later :class:`Watcher` needs to go on, as JSON holds it.

        Returns
        -------
        dict
            A few numbers for each source, however many rows have come.
        """
        stakes = self._bets.log_stakes
        state = {
            "format": FORMAT,
            "usual": fingerprint(self.usual),
            "false_alarms": self.false_alarms,
            "every": self.every,
            "rows": self.rows,
            "used": self._bets.n_rows,
            # null: nothing is at stake yet
            "log_stakes": [[None if np.isinf(x) else x for x in own] for own in stakes.tolist()],
            "log_wealth": self._log_wealth.tolist(),
            "lowest": self._lowest.tolist(),
            "counted": self._counted.tolist(),
            "contradictions": self._contradictions.tolist(),
            "quiet": self._quiet.tolist(),
            "alarms": [alarm.to_dict() for alarm in self.alarms],
        }
        return state | {"sha256": _hash(state)}

    def _restore(self, state: Mapping[str, Any]) -> None:
        """Go on from a state; its settings must be these."""
        own = {
            "usual": fingerprint(self.usual),
            "false_alarms": self.false_alarms,
            "every": self.every,
        }
        if not isinstance(state, Mapping):
            raise InputError("state is no state of a watcher: give what state() returned")
        if state.get("format") != FORMAT:
            raise InputError(
                f"state was not made by this version of partita: give what state() returned, {ANEW}"
            )
        for name, value in own.items():
            if state.get(name) != value:
                raise InputError(
                    f"state was made with another {name}: go on with the same settings, {ANEW}"
                )
        if state.get("sha256") != _hash(state):
            raise InputError(
                f"state is damaged (its checksum does not match its content): restore it, {ANEW}"
            )
        n_tests = len(self._counted)
        try:
            stakes = [
                [-np.inf if x is None else float(x) for x in own] for own in state["log_stakes"]
            ]
            self._bets.log_stakes = np.array(stakes).reshape(n_tests, len(FACTORS))
            self._bets.n_rows, self.rows = int(state["used"]), int(state["rows"])
            self._log_wealth = np.array(state["log_wealth"], float).reshape(n_tests)
            self._lowest = np.array(state["lowest"], float).reshape(n_tests)
            self._counted = np.array(state["counted"], np.int64).reshape(n_tests)
            self._contradictions = np.array(state["contradictions"], np.int64).reshape(n_tests)
            self._quiet = np.array(state["quiet"], np.int64).reshape(3, n_tests)
            self.alarms = [Alarm(**alarm) for alarm in state["alarms"]]
        except (KeyError, TypeError, ValueError, OverflowError) as exc:
            raise InputError(f"state is damaged ({exc!r}): restore it, {ANEW}") from exc


def _hash(state: Mapping[str, Any]) -> str:
    """Return the checksum of a state, which JSON does not change."""
    content = {name: value for name, value in state.items() if name != "sha256"}
    return hashlib.sha256(json.dumps(content, sort_keys=True, default=str).encode()).hexdigest()


def watch(
    model: FittedEnsemble,
    X: Any,
    usual: ReferenceRates,
    *,
    false_alarms: float = 0.01,
    every: int | None = None,
    times: Sequence[Any] | None = None,
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
    >>> from partita.workflow import learn_usual, watch
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
