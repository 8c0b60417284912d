"""Which source contradicts the predictions more often than is usual, in /metrics.

Each worker bets on the rows that it certified itself. The product of their wealths is the wealth of
a player who makes all these bets, so logarithms are added up like everything else in the metrics,
and the stated probability of a false alarm holds for the sum, from the start of the service to its
end. A worker that died leaves what it had won or lost: without its losses the sum would be too
high, and each death would begin a new budget of false alarms. A watcher must never stand in the way
of an answer: it sees rows after they are answered for.
"""

import logging
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from ..watch import Watcher
from ..workflow import CertifiedTable
from ._metrics import Family, Metrics, Sample

ROWS = "partita_source_rows_total"
CONTRADICTIONS = "partita_source_contradictions_total"
WEALTH = "partita_source_log10_wealth"
LIMIT = Family(
    "partita_source_alarm_log10_wealth",
    "gauge",
    "A source whose wealth is above this raises an alarm.",
)
USUAL = Family(
    "partita_source_usual_ratio", "gauge", "Share of clean rows in which a source contradicts."
)

logger = logging.getLogger("partita.serve")


def source_families(sources: Sequence[str]) -> tuple[Family, ...]:
    """The metrics of these sources; none where nothing is watched."""
    if not sources:
        return ()
    values = tuple((source,) for source in sources)
    return (
        Family(ROWS, "counter", "Rows that say something about a source.", ("source",), values),
        Family(
            CONTRADICTIONS,
            "counter",
            "Rows in which a source contradicts the prediction.",
            ("source",),
            values,
        ),
        Family(
            WEALTH,
            "gauge",
            "Bets on a change of a source since the start, power of ten.",
            ("source",),
            values,
            lasting=True,
        ),
    )


class SourceWatch:
    """Tells a watcher about certified rows, and the metrics about the watcher.

    Parameters
    ----------
    watcher : Watcher
        For the model that is served.
    metrics : Metrics
        With the families of the watcher's sources.
    """

    def __init__(self, watcher: Watcher, metrics: Metrics) -> None:
        self._watcher, self._metrics = watcher, metrics
        self._shown = np.zeros((3, len(watcher.usual.sources)))
        metrics.collect(self._constants)

    def __call__(self, certified: CertifiedTable) -> None:
        """Watch rows; those in which a source is silent say nothing that can be compared."""
        try:
            silent, ballots = certified.silent_units, certified.ballots
            if silent is not None:
                ballots = replace(ballots[~silent.any(axis=1)], abstentions=None)
            self._watcher.update(ballots)
            self._show()
        except Exception:
            logger.exception("the sources of some rows could not be watched")

    def _show(self) -> None:
        found = self._watcher.result.sources
        now = np.array(
            [
                [one.counted for one in found],
                [one.contradictions for one in found],
                [one.log_wealth / np.log(10) for one in found],
            ]
        )
        for name, changes in zip((ROWS, CONTRADICTIONS, WEALTH), now - self._shown, strict=True):
            for one, change in zip(found, changes.tolist(), strict=True):
                if change:
                    self._metrics.add(name, change, (one.source,))
        self._shown = now

    def _constants(self) -> Iterable[tuple[Family, Iterable[Sample]]]:
        watcher = self._watcher
        rates = zip(watcher.usual.sources, watcher.usual.rates.tolist(), strict=True)
        return [
            (LIMIT, [Sample({}, float(watcher.log_limit / np.log(10)))]),
            (USUAL, [Sample({"source": name}, rate) for name, rate in rates if rate == rate]),
        ]
