"""Attacks on anything that predicts, and the audit, which tries to break certificates.

``stress`` attacks any model by faults, evasion, poisoning and backdoors.
``audit`` attacks a certified model as its own radius allows; ``check_pipeline`` and
``check_deterministic`` look for what would void its proofs.
"""

from ._any_model import (
    FAULTS,
    Fault,
    Scene,
    Scorer,
    apply_fault,
    backdoor,
    owned_columns,
    worst_fault,
)
from ._attack_table import AttackTable, measure
from ._attacked_table import AttackedTable
from ._audit import audit, audit_file, replay
from ._findings import TRUSTED_TRAINING, Audit, read_audit
from ._search import Budget, evade
from ._soundness_checks import check_deterministic, check_pipeline
from ._stress import Finding, Replay, StressTest, stress

__all__ = [
    "AttackTable",
    "Audit",
    "Fault",
    "Finding",
    "Replay",
    "StressTest",
    "apply_fault",
    "audit",
    "backdoor",
    "check_deterministic",
    "check_pipeline",
    "replay",
    "stress",
    "worst_fault",
]
