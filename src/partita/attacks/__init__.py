"""Attacks on anything that predicts, and the audit, which tries to break certificates.

``under_attack`` attacks any models by evasion, poisoning and backdoors, ``worst_fault`` by faults.
``audit`` attacks a certified model as its own radius allows; ``check_pipeline`` and
``check_deterministic`` look for what would void its proofs.
"""

from ._any_model import (
    Fault,
    Scene,
    Scorer,
    apply_fault,
    backdoor,
    evade,
    owned_columns,
    worst_fault,
)
from ._attacked_table import AttackedTable
from ._audit import audit, audit_file, replay
from ._findings import TRUSTED_TRAINING, Audit, read_audit
from ._soundness_checks import check_deterministic, check_pipeline
from ._under_attack import AttackTable, under_attack

__all__ = [
    "AttackTable",
    "Audit",
    "Fault",
    "apply_fault",
    "audit",
    "backdoor",
    "check_deterministic",
    "check_pipeline",
    "replay",
    "under_attack",
    "worst_fault",
]
