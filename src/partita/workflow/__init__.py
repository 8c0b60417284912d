"""From tables in files to certificates: what command line, report and service share.

The walk of one table: ``_training_table`` (what ``partita fit`` reads) or ``_stored_model`` (what
``partita certify`` opens), both by a ``_schema``; ``_certified_table`` (every row certified once,
and what stands beside the shares of all rows). ``_fit_parquet`` and ``_cluster`` fit on large
tables and many machines.
"""

from typing import TYPE_CHECKING

from .._support.lazy import lazy_names

if TYPE_CHECKING:
    from ._certified_table import (
        TRAINING_ROWS,
        CertifiedTable,
        Summary,
        check_label_sets,
        choose_command,
    )
    from ._cluster import library_versions
    from ._estimators import (
        AUTO,
        chosen_name,
        code_hash,
        code_of,
        named_estimator,
        named_fallback,
        ordinary_estimators,
    )
    from ._fit_parquet import fit_parquet, fit_training
    from ._foreign_models import foreign_model
    from ._schema import MOST_LABELS, TASKS, Task
    from ._stored_model import (
        BEFOREHAND,
        CHOSEN,
        ON_REFERENCE,
        ON_TRAINING,
        CertifiedFile,
        PredictionTable,
        StoredModel,
        certify_file,
        certify_parquet,
        certify_pieces,
        known_kinds,
        open_model,
        open_prediction_table,
    )
    from ._training_table import TrainingTable, open_training

__all__ = ["certify_parquet", "fit_parquet"]

__getattr__, __dir__ = lazy_names(__name__)
