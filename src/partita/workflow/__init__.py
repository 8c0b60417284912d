"""From tables in files to certificates: what command line, report and service share.

The walk of one table: ``_training_table`` (what ``partita fit`` reads) or ``_stored_model`` and
``_prediction_table`` (what ``partita certify`` opens), ``_certified_table`` (every row certified
once), ``_summary`` (what is said about all rows). ``_fit_parquet``, ``_submodel_task`` and
``_cluster`` fit on large tables and many machines.
"""

from typing import TYPE_CHECKING

from .._support.lazy import lazy_names

if TYPE_CHECKING:
    from ._certified_table import CertifiedTable
    from ._certify_file import CertifiedFile, certify_file, certify_parquet, certify_pieces
    from ._cluster import library_versions
    from ._estimators import chosen_name, code_hash, code_of, named_estimator, named_fallback
    from ._fit_parquet import fit_parquet, fit_training
    from ._prediction_table import PredictionTable, open_prediction_table
    from ._stored_model import StoredModel, known_kinds, open_model
    from ._summary import TRAINING_ROWS, Summary
    from ._tasks import TASKS, Task
    from ._training_table import TrainingTable, open_training
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
    "certify_parquet",
    "fit_parquet",
]

__getattr__, __dir__ = lazy_names(__name__)
