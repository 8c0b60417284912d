"""Attacks that try to break certificates, and checks that look for what would void them."""

from ._audit import audit
from ._determinism import check_deterministic
from ._findings import Audit
from ._pipeline_checks import check_pipeline
from ._replay import replay

__all__ = ["Audit", "audit", "check_deterministic", "check_pipeline", "replay"]
