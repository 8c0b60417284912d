"""From tables in files to certificates: what command line, report and service share.

The walk of one table: ``_training_table`` (what ``partita fit`` reads) or ``_stored_model`` and
``_prediction_table`` (what ``partita certify`` opens), ``_certified_table`` (every row certified
once), ``_summary`` (what is said about all rows). ``_sweep``, ``_rule_search`` and
``_offset_search`` try many settings; ``_fit_parquet``, ``_submodel_task`` and ``_cluster`` fit on
large tables and many machines. ``_evidence``, ``_usual`` and ``_watch`` watch the sources.
"""

from typing import TYPE_CHECKING

from .._support.lazy import lazy_names

if TYPE_CHECKING:
    from ._certify_file import certify_parquet
    from ._choice import Choice
    from ._choose import choose
    from ._fit_parquet import fit_parquet
    from ._offset_search import search_offsets
    from ._rule_search import search_rules
    from ._sweep import sweep
    from ._usual import ReferenceRates, learn_usual
    from ._watch import Watcher, watch
    from ._watch_result import Alarm, WatchResult

__all__ = [
    "Alarm",
    "Choice",
    "ReferenceRates",
    "WatchResult",
    "Watcher",
    "certify_parquet",
    "choose",
    "fit_parquet",
    "learn_usual",
    "search_offsets",
    "search_rules",
    "sweep",
    "watch",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "Alarm": "_watch_result",
        "Choice": "_choice",
        "ReferenceRates": "_usual",
        "WatchResult": "_watch_result",
        "Watcher": "_watch",
        "certify_parquet": "_certify_file",
        "choose": "_choose",
        "fit_parquet": "_fit_parquet",
        "learn_usual": "_usual",
        "search_offsets": "_offset_search",
        "search_rules": "_rule_search",
        "sweep": "_sweep",
        "watch": "_watch",
    },
)
