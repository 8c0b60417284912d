"""Attacks that try to break certificates, and checks that look for what would void them."""

from .auditing import audit
from .checks import check_deterministic, check_pipeline
from .findings import Audit
from .replay import replay

__all__ = ["Audit", "audit", "check_deterministic", "check_pipeline", "replay"]
