"""Watching sources: which of them contradict the predictions more often than is usual.

``_evidence`` compares each source with the outcome of each row, ``_rates`` learns what is usual on
clean rows, ``_watcher`` bets on a change row after row, prints and draws what it found, and
``_files`` does all of it for a stored model and tables in files.
"""

from typing import TYPE_CHECKING

from .._support.lazy import lazy_names

if TYPE_CHECKING:
    from ._evidence import Disagreement, evidence, source_names, source_units
    from ._files import learn_usual_file, stored_rates, watch_files
    from ._rates import ReferenceRates, learn_usual
    from ._watcher import Alarm, SourceRate, Watcher, WatchResult, watch

__all__ = ["Alarm", "ReferenceRates", "WatchResult", "Watcher", "learn_usual", "watch"]

__getattr__, __dir__ = lazy_names(__name__)
