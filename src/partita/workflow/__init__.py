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
    from ._certified_table import CertifiedTable
    from ._certify_file import CertifiedFile, certify_file, certify_parquet, certify_pieces
    from ._choice import Choice, Evaluation
    from ._choose import choose
    from ._choose_file import Objective, choose_file
    from ._disagreement import Disagreement
    from ._estimators import chosen_name, named_fallback
    from ._evidence import evidence, source_names, source_units
    from ._fit_parquet import fit_parquet, fit_training
    from ._offset_search import search_offsets
    from ._prediction_table import open_prediction_table
    from ._recommend import best
    from ._rule_search import search_rules
    from ._stored_model import StoredModel, known_kinds, open_model
    from ._summary import TRAINING_ROWS, Summary
    from ._sweep import sweep
    from ._sweep_file import read_sweep, sweep_file
    from ._sweep_grid import Grid, Trial, parse_list
    from ._tasks import TASKS
    from ._training_table import open_training
    from ._usual import ReferenceRates, learn_usual
    from ._watch import Watcher, watch
    from ._watch_file import learn_usual_file, watch_files
    from ._watch_result import Alarm, WatchResult
    from ._wording import (
        BEFOREHAND,
        CHOSEN,
        ON_REFERENCE,
        ON_TRAINING,
        answer_text,
        percent,
        probability,
        shortened,
    )

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

__getattr__, __dir__ = lazy_names(__name__)
