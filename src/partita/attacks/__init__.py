"""Attacks that try to break certificates, and checks that look for what would void them."""

from ._attacked_table import AttackedTable
from ._audit import audit
from ._candidates import end_of_range, trigger
from ._determinism import check_deterministic
from ._files import audit_file
from ._findings import TRUSTED_TRAINING, Audit, Line, read_audit
from ._hostile_values import MISSING, hostile_columns
from ._pipeline_checks import check_pipeline
from ._replay import replay
from ._vote_options import unless_refused

__all__ = ["Audit", "audit", "check_deterministic", "check_pipeline", "replay"]
